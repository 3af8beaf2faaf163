// SPDX-License-Identifier: Apache-2.0
// The entry points of NCCL, taken from the shared library when first asked for.
#pragma once

#if WARREN_HAS_NCCL
#include <string>

#include <nccl.h>

namespace warren::team {

struct NcclLibrary {
  decltype(&::ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&::ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&::ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&::ncclCommFinalize) comm_finalize = nullptr;
  decltype(&::ncclCommDestroy) comm_destroy = nullptr;
  decltype(&::ncclCommAbort) comm_abort = nullptr;
  decltype(&::ncclAllGather) all_gather = nullptr;
  decltype(&::ncclAllReduce) all_reduce = nullptr;
  decltype(&::ncclSend) send = nullptr;
  decltype(&::ncclRecv) receive = nullptr;
  decltype(&::ncclGroupStart) group_start = nullptr;
  decltype(&::ncclGroupEnd) group_end = nullptr;
  decltype(&::ncclGetErrorString) get_error_string = nullptr;
  /// Why the library cannot be used; empty when it can.
  std::string reason;
};

/// Loads NCCL at the first call, in any thread. Never throws for its absence.
const NcclLibrary& nccl_library();

}  // namespace warren::team
#endif
