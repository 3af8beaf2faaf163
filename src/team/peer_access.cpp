// SPDX-License-Identifier: Apache-2.0
// CUDA peer access, opened once for each ordered pair of GPUs.
#include "team/peer_access.hpp"

#include <mutex>
#include <set>
#include <utility>

#include "warren/exec/cuda_check.hpp"

namespace warren::team {

bool enable_access(const exec::Device& from, const exec::Device& to) {
  if (from == to) return true;
#if WARREN_HAS_CUDA
  if (from.is_cuda() && to.is_cuda()) {
    int reachable = 0;
    exec::cuda_check(cudaDeviceCanAccessPeer(&reachable, from.index(), to.index()),
                     "cudaDeviceCanAccessPeer");
    if (reachable == 0) return false;
    // Ranks subtract from and add to the same words; over plain PCIe such updates lose each other.
    int has_atomics = 0;
    exec::cuda_check(cudaDeviceGetP2PAttribute(&has_atomics, cudaDevP2PAttrNativeAtomicSupported,
                                               from.index(), to.index()),
                     "cudaDeviceGetP2PAttribute");
    if (has_atomics == 0) return false;
    static std::mutex mutex;
    static std::set<std::pair<int, int>> open;
    const std::scoped_lock lock(mutex);
    if (!open.insert({from.index(), to.index()}).second) return true;
    from.activate();
    const cudaError_t status = cudaDeviceEnablePeerAccess(to.index(), 0);
    // Somebody else in this process may have opened the path before.
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      (void)cudaGetLastError();
    } else {
      exec::cuda_check(status, "cudaDeviceEnablePeerAccess");
    }
    return true;
  }
#endif
  return false;
}

}  // namespace warren::team
