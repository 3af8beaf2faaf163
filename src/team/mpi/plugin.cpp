// SPDX-License-Identifier: Apache-2.0
// The plug-in that knows MPI: a table of functions over one library of it. The library is loaded
// with the plug-in, and that only where a launcher has started ranks on several hosts, so that
// programs start where there is none.
#include <array>
#include <cstring>

#include <mpi.h>

#include "team/mpi_functions.hpp"

namespace warren::team {
namespace {

MPI_Comm channels[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
bool has_started = false;

MPI_Comm of(MpiChannel channel) { return channels[static_cast<int>(channel)]; }

void keep(MpiRequest* request, MPI_Request made) {
  static_assert(sizeof(MPI_Request) <= sizeof request->handle);
  std::memcpy(request->handle, &made, sizeof(MPI_Request));
}
MPI_Request made_of(const MpiRequest* request) {
  MPI_Request made;
  std::memcpy(&made, request->handle, sizeof(MPI_Request));
  return made;
}

const char* library() {
  static std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "MPI";
  // The rest is how it was built.
  for (char& c : text)
    if (c == ',' || c == '\n') c = '\0';
  return text.data();
}

void describe(MpiCode code, char* text, int bytes) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> whole{};
  int length = 0;
  if (MPI_Error_string(code, whole.data(), &length) != MPI_SUCCESS) length = 0;
  const int kept = length < bytes ? length : bytes - 1;
  std::memcpy(text, whole.data(), static_cast<std::size_t>(kept));
  text[kept] = '\0';
}

MpiCode start(int* rank, int* size, int* is_enough) {
  int is_started = 0;
  int level = MPI_THREAD_SINGLE;
  MpiCode code = MPI_Initialized(&is_started);
  if (code != MPI_SUCCESS) return code;
  if (is_started != 0) {
    code = MPI_Query_thread(&level);
  } else {
    code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    has_started = code == MPI_SUCCESS;
  }
  if (code != MPI_SUCCESS) return code;
  *is_enough = level >= MPI_THREAD_SERIALIZED ? 1 : 0;
  for (MPI_Comm& channel : channels) {
    code = MPI_Comm_dup(MPI_COMM_WORLD, &channel);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS) return code;
  }
  code = MPI_Comm_rank(channels[0], rank);
  return code != MPI_SUCCESS ? code : MPI_Comm_size(channels[0], size);
}

MpiCode split(int host, int* first) {
  MPI_Comm part = MPI_COMM_NULL;
  MpiCode code = MPI_Comm_rank(channels[0], first);
  if (code != MPI_SUCCESS) return code;
  code = host < 0 ? MPI_Comm_split_type(channels[0], MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part)
                  : MPI_Comm_split(channels[0], host, 0, &part);
  if (code == MPI_SUCCESS) code = MPI_Bcast(first, 1, MPI_INT, 0, part);
  if (code == MPI_SUCCESS) code = MPI_Comm_free(&part);
  return code;
}

MpiCode finish() {
  for (MPI_Comm& channel : channels) {
    const MpiCode code = MPI_Comm_free(&channel);
    if (code != MPI_SUCCESS) return code;
  }
  return has_started ? MPI_Finalize() : MPI_SUCCESS;
}

MpiCode barrier(MpiRequest* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const MpiCode code = MPI_Ibarrier(channels[0], &made);
  keep(request, made);
  return code;
}

MpiCode sum(const std::uint64_t* values, std::uint64_t* sums, int count, MpiRequest* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const MpiCode code =
      MPI_Iallreduce(values, sums, count, MPI_UINT64_T, MPI_SUM, channels[0], &made);
  keep(request, made);
  return code;
}

MpiCode send(MpiChannel channel, const void* data, int bytes, int to, MpiRequest* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const MpiCode code = MPI_Isend(data, bytes, MPI_BYTE, to, 0, of(channel), &made);
  keep(request, made);
  return code;
}

MpiCode receive(MpiChannel channel, void* data, int bytes, int from, MpiRequest* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const MpiCode code = MPI_Irecv(data, bytes, MPI_BYTE, from, 0, of(channel), &made);
  keep(request, made);
  return code;
}

MpiCode test(MpiRequest* request, int* is_done) {
  MPI_Request made = made_of(request);
  const MpiCode code = MPI_Test(&made, is_done, MPI_STATUS_IGNORE);
  keep(request, made);
  return code;
}

MpiCode probe(MpiChannel channel, int* from) {
  MPI_Status status;
  int is_there = 0;
  const MpiCode code = MPI_Iprobe(MPI_ANY_SOURCE, 0, of(channel), &is_there, &status);
  *from = code == MPI_SUCCESS && is_there != 0 ? status.MPI_SOURCE : -1;
  return code;
}

static_assert(MPI_SUCCESS == 0);

}  // namespace
}  // namespace warren::team

extern "C" __attribute__((visibility("default"))) const warren::team::MpiFunctions*
warren_mpi_functions() {
  using namespace warren::team;
  static const MpiFunctions functions{MpiFunctions::kVersion,
                                      library,
                                      describe,
                                      start,
                                      split,
                                      finish,
                                      barrier,
                                      sum,
                                      send,
                                      receive,
                                      test,
                                      probe};
  return &functions;
}
