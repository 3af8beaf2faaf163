// SPDX-License-Identifier: Apache-2.0
// How far long calls have come, told while they work.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace warren {

/// `done` of `total` units: "batches" of sample_batches(), "walks" of random_walks(), "sources" of
/// betweenness() and the searches from each of several vertices, "iterations" of pagerank(), of
/// which max_iterations are the most there can be, "passes" over the graph of predict().
struct Progress {
  std::string_view unit;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// While it lives, calls of this thread call `tell`: in this thread, about twenty times a second
/// while they work, as far as anything of it is done, and once when they are done. GPUs run all
/// iterations of pagerank() at once, which are told when they are done. What `tell` throws ends the
/// call as an interrupt does, and is thrown by it. The innermost one of a thread is called.
class TellProgress {
 public:
  using Tell = std::function<void(const Progress&)>;

  explicit TellProgress(Tell tell);
  ~TellProgress();
  TellProgress(const TellProgress&) = delete;
  TellProgress& operator=(const TellProgress&) = delete;

 private:
  Tell tell_;
  const Tell* before_;
};

}  // namespace warren
