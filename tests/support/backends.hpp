// SPDX-License-Identifier: Apache-2.0
// The teams and devices that one test body runs on. A suite of cases is written once, templated on
// the backend, in a header; the .cpp file instantiates it for the CPU, the .cu file for GPUs.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/launch.hpp"
#include "warren/team/team.hpp"

#include "support/size.hpp"

namespace warren::testing_support {

template <class Backend>
inline constexpr bool kIsCuda = std::is_same_v<Backend, exec::Cuda>;

template <class Backend>
exec::Device some_device(int threads = 2) {
  return kIsCuda<Backend> ? exec::Device::cuda(0) : exec::Device::cpu(threads);
}

/// Base of the suites: skips the cases of GPUs where there is none.
template <class Backend>
class OnBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kIsCuda<Backend> && exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  }
};

/// Ways to set up teams of different sizes. On GPUs, exclusive ones as large as the machine allows
/// and, but in small tests, teams that share them: by turns of the GPU, and side by side.
template <class Backend>
std::vector<team::TeamOptions> teams() {
  std::vector<team::TeamOptions> all;
  if constexpr (kIsCuda<Backend>) {
    for (const int ranks : {1, 2, 3, 4, 7}) {
      if (ranks <= exec::cuda_device_count()) all.push_back({exec::DeviceKind::cuda, ranks, 1});
    }
    for (const int ranks : {2, 3, 4}) {
      if (ranks <= exec::cuda_device_count() || is_small()) continue;
      all.push_back({exec::DeviceKind::cuda, ranks, 1, team::Sharing::turns});
      all.push_back({exec::DeviceKind::cuda, ranks, 1, team::Sharing::side_by_side});
    }
  } else {
    for (const int ranks : {1, 2, 3, 4, 7}) all.push_back({exec::DeviceKind::cpu, ranks, ranks});
    all.push_back({exec::DeviceKind::cpu, 1, 4});
    all.push_back({exec::DeviceKind::cpu, 2, 5});
  }
  return all;
}

inline std::string name_of(const team::TeamOptions& options) {
  constexpr const char* kSharing[] = {"", ", GPUs by turns", ", GPUs side by side"};
  return std::to_string(options.ranks) + " ranks, " + std::to_string(options.threads) + " threads" +
         kSharing[static_cast<std::size_t>(options.sharing)];
}

}  // namespace warren::testing_support
