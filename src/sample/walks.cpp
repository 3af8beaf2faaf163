// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/walks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "sample/walk_kernels.hpp"

namespace warren::sample {

namespace {

/// On the CPU few walks, which may be long, are work for all threads.
std::uint64_t walks_of_a_task(const exec::Device& device, std::uint64_t count) {
  constexpr std::uint64_t kMost = detail::WalkKernel::kMostWalks, kTasksOfThread = 8;
  if (device.is_cuda()) return kMost;
  const std::uint64_t tasks = kTasksOfThread * static_cast<std::uint64_t>(device.pool().size());
  return std::clamp<std::uint64_t>(count / tasks, 1, kMost);
}

}  // namespace

void check(const WalkOptions& options) {
  constexpr double kLeast = 1e-100, kMost = 1e100;
  require(options.length <= kMostWalkSteps,
          fmt::format("length: got {}, expected up to {} steps", options.length, kMostWalkSteps));
  for (const auto& [name, value] : {std::pair("p", options.p), std::pair("q", options.q)})
    require(
        value >= kLeast && value <= kMost,
        fmt::format("{}: got {}, expected a number above 0, from 1e-100 to 1e100", name, value));
  require(options.batch < TargetDraws::kMostBatches,
          fmt::format("batch: got {}, expected a number below 2^48", options.batch));
}

void random_walks(const exec::Stream& stream, const GraphStore& store, const Vertex* starts,
                  std::uint64_t count, const WalkOptions& options, Vertex* walks) {
  check(options);
  constexpr std::uint64_t kMostWalks = std::uint64_t{1} << 32;
  require(count <= kMostWalks && options.first <= kMostWalks - count,
          "starts: got more than 2^32, expected fewer");
  require(!options.weighted || store.has_cumulative(),
          "weighted: the store keeps no sums of weights");
  if (count == 0) return;
  const double back = 1.0 / options.p, far = 1.0 / options.q;
  const double most = std::max({back, 1.0, far});
  const detail::WalkKernel kernel{store.view(),
                                  starts,
                                  count,
                                  walks_of_a_task(stream.device(), count),
                                  options.length,
                                  options.weighted,
                                  options.p != 1.0 || options.q != 1.0,
                                  back / most,
                                  1.0 / most,
                                  far / most,
                                  options.seed,
                                  options.batch,
                                  options.first,
                                  options.stop,
                                  walks};
  exec::with_backend(stream.device(),
                     [&](auto backend) { detail::walk<decltype(backend)>(stream, kernel); });
}

}  // namespace warren::sample
