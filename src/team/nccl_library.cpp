// SPDX-License-Identifier: Apache-2.0
// Loading NCCL.
#include "team/nccl_library.hpp"

#if WARREN_HAS_NCCL
#include <cstdlib>

#include <dlfcn.h>

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
  void* handle = dlopen(chosen != nullptr ? chosen : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    library.reason = error != nullptr ? error : "libnccl.so.2 cannot be loaded";
    return library;
  }
  const auto find = [&](auto& function, const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) library.reason = std::string("the NCCL that was found has no ") + name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(library.get_unique_id, "ncclGetUniqueId");
  find(library.comm_init_rank_config, "ncclCommInitRankConfig");
  find(library.comm_get_async_error, "ncclCommGetAsyncError");
  find(library.comm_finalize, "ncclCommFinalize");
  find(library.comm_destroy, "ncclCommDestroy");
  find(library.comm_abort, "ncclCommAbort");
  find(library.all_gather, "ncclAllGather");
  find(library.all_reduce, "ncclAllReduce");
  find(library.send, "ncclSend");
  find(library.receive, "ncclRecv");
  find(library.group_start, "ncclGroupStart");
  find(library.group_end, "ncclGroupEnd");
  find(library.get_error_string, "ncclGetErrorString");
  return library;
}

}  // namespace

const NcclLibrary& nccl_library() {
  static const NcclLibrary library = load();
  return library;
}

}  // namespace warren::team
#endif
