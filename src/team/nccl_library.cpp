// SPDX-License-Identifier: Apache-2.0
// Loading NCCL.
#include "team/nccl_library.hpp"

#if WARREN_HAS_NCCL
#include <cstdlib>

#include "warren/core/shared_library.hpp"

namespace warren::team {
namespace {

NcclLibrary load() {
  NcclLibrary library;
  const char* chosen = std::getenv("WARREN_NCCL");
  if (chosen != nullptr && std::string(chosen) == "off") {
    library.reason = "WARREN_NCCL is off";
    return library;
  }
  // NVLink multicast programs the switches of the whole host: on shared machines a failure there
  // takes the GPUs of others down with it. It must be chosen by whoever owns the host, and is read
  // when the library starts.
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  SharedLibrary shared({chosen != nullptr ? chosen : "libnccl.so.2"});
  shared.find(library.get_unique_id, "ncclGetUniqueId");
  shared.find(library.comm_init_rank_config, "ncclCommInitRankConfig");
  shared.find(library.comm_get_async_error, "ncclCommGetAsyncError");
  shared.find(library.comm_finalize, "ncclCommFinalize");
  shared.find(library.comm_destroy, "ncclCommDestroy");
  shared.find(library.comm_abort, "ncclCommAbort");
  shared.find(library.all_gather, "ncclAllGather");
  shared.find(library.all_reduce, "ncclAllReduce");
  shared.find(library.send, "ncclSend");
  shared.find(library.receive, "ncclRecv");
  shared.find(library.group_start, "ncclGroupStart");
  shared.find(library.group_end, "ncclGroupEnd");
  shared.find(library.get_error_string, "ncclGetErrorString");
  library.reason = shared.reason();
  return library;
}

}  // namespace

const NcclLibrary& nccl_library() {
  static const NcclLibrary library = load();
  return library;
}

}  // namespace warren::team
#endif
