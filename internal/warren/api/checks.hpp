// SPDX-License-Identifier: Apache-2.0
// What faces ask of the options that they are given. Messages name options as the command line does
// ("--weight-decay").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "warren/api/run.hpp"

namespace warren::api {

/// Of a process that a launcher started, which is one rank: throws UsageError for options of a
/// session that want other ranks, and for GPUs of several hosts.
void check_processes(const SessionOptions& options, DeviceKind kind);

/// Throws UsageError, with the name that was meant, unless `value` is one of `available`.
void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& available);
/// Throws UsageError unless a graph can be cut by `method`.
void check_method(const std::string& method);
/// Throws UsageError where lists that lie there do not go with the mode, the method or the cache.
void check_lists(Mode mode, Edges edges, const PlacementOptions& placement);
/// What has no effect in the strategy of an exchange: parameters on one rank, which exchanges
/// nothing, and "copy" without a GPU, whose processors it counts. Empty where nothing is unused.
[[nodiscard]] std::string strategy_warning(const std::string& strategy, int ranks, bool on_gpu);
/// Throws UsageError for a number of timed runs below 0.
void check_repeat(int repeat);
/// Throws UsageError for fanouts that are neither 1 or more nor -1, for none and for too many.
void check_fanouts(const std::vector<std::int64_t>& fanouts);

/// A message with the options as the library, and Python's arguments, are named: "--weight-decay 1"
/// becomes "weight_decay 1", and "--checkpoint DIR" "checkpoint". Commands in quotes, as
/// 'warren convert A B --symmetrize', are left as they are.
[[nodiscard]] std::string in_library_words(std::string_view message);

}  // namespace warren::api
