// SPDX-License-Identifier: Apache-2.0
// What warren asks of a library of MPI: the functions of its plug-in (mpi/plugin.cpp), which alone
// is compiled against one. All but start(), split() and finish() return at once; none is called
// while another one is.
#pragma once

#include <cstdint>

namespace warren::team {

/// Room for a request of any library of MPI.
struct MpiRequest {
  alignas(8) unsigned char handle[8] = {};
};

/// Messages of the two never meet.
enum class MpiChannel : std::int32_t { data, control };

/// What functions return: 0, or a code that describe() knows.
using MpiCode = int;

struct MpiFunctions {
  static constexpr std::uint32_t kVersion = 1;
  /// The name of the one function that the plug-in exports.
  static constexpr const char* kSymbol = "warren_mpi_functions";

  std::uint32_t version;
  /// Name and version of the library of MPI.
  const char* (*library)();
  void (*describe)(MpiCode code, char* text, int bytes);
  /// Collective. `is_enough`: whether several threads may call, one at a time.
  MpiCode (*start)(int* rank, int* size, int* is_enough);
  /// Collective. The first rank of those with the same `host` (-1: on one machine, as the library
  /// sees it).
  MpiCode (*split)(int host, int* first);
  /// Collective; not where start() found the library started by somebody else.
  MpiCode (*finish)();

  MpiCode (*barrier)(MpiRequest* request);
  MpiCode (*sum)(const std::uint64_t* values, std::uint64_t* sums, int count, MpiRequest* request);
  MpiCode (*send)(MpiChannel channel, const void* data, int bytes, int to, MpiRequest* request);
  MpiCode (*receive)(MpiChannel channel, void* data, int bytes, int from, MpiRequest* request);
  MpiCode (*test)(MpiRequest* request, int* is_done);
  /// `from`: who has sent a message that nobody has received yet; -1: nobody.
  MpiCode (*probe)(MpiChannel channel, int* from);
};

using MpiFunctionsGetter = const MpiFunctions* (*)();

}  // namespace warren::team
