// SPDX-License-Identifier: Apache-2.0
// CUDA peer access, opened once for each ordered pair of GPUs.
#include "team/peer_access.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "warren/exec/cuda_check.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

namespace {

/// Whether kernels of one reach the other's memory, atomic operations included.
bool reaches([[maybe_unused]] const exec::Device& from, [[maybe_unused]] const exec::Device& to) {
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
    return has_atomics != 0;
  }
#endif
  return false;
}

int count_connected(int present) {
  for (int count = 1; count < present; ++count) {
    for (int i = 0; i < count; ++i) {
      const exec::Device last = exec::Device::cuda(count), other = exec::Device::cuda(i);
      if (!reaches(last, other) || !reaches(other, last)) return count;
    }
  }
  return present;
}

}  // namespace

int connected_cuda_devices() {
  const int present = exec::cuda_device_count();
  if (present <= 1) return present;
  // Each pair is asked about once: every call that chooses its devices wants to know.
  static const int connected = count_connected(present);
  return connected;
}

bool can_access(const exec::Device& from, const exec::Device& to) {
  return from == to || reaches(from, to);
}

GpuIdentity identity_of([[maybe_unused]] const exec::Device& device) {
  GpuIdentity identity{};
#if WARREN_HAS_CUDA
  cudaDeviceProp properties{};
  exec::cuda_check(cudaGetDeviceProperties(&properties, device.index()), "cudaGetDeviceProperties");
  std::copy_n(properties.uuid.bytes, identity.size(), identity.begin());
#endif
  return identity;
}

bool enable_access(const exec::Device& from, const exec::Device& to) {
  if (from == to) return true;
#if WARREN_HAS_CUDA
  if (reaches(from, to)) {
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
