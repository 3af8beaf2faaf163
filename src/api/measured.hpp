// SPDX-License-Identifier: Apache-2.0
// What timed runs have in common: clocks of the slowest rank, storage types by name, and how far
// results may be from exact ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "warren/api/run.hpp"
#include "warren/api/session.hpp"
#include "warren/core/error.hpp"
#include "warren/core/quantity.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/half.hpp"
#include "warren/team/team.hpp"

#include "api/call.hpp"
#include "api/teams.hpp"

namespace warren::api {

/// Of a table, of a batch and of what is gathered.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// Throws UsageError for a power of a uniform number by which rows are not drawn.
inline void check_skew(double skew) {
  constexpr double kMost = 100.0;
  require(skew >= 0.0 && skew <= kMost, fmt::format("--skew {}: expected 0 to {}", skew, kMost));
}

/// The largest of the ranks' values; NaN wins. Collective.
[[nodiscard]] inline double largest(team::Team& team, double value) {
  return team.all_reduce(value, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
  });
}

/// `amount` a second, where `seconds` could be measured.
[[nodiscard]] inline double rate(double amount, double seconds) {
  return seconds > 0.0 ? amount / seconds : 0.0;
}

/// Seconds of work() on the slowest rank. Collective.
template <class Work>
[[nodiscard]] double timed(team::Team& team, const char* name, Work&& work) {
  team.barrier();
  const double begin = now_seconds();
  work();
  const double end = now_seconds();
  trace_span(name, team.rank(), begin, end);
  return end - begin;
}
/// The same, once to warm up, then `repeat` times; what the ranks took is compared at the end.
template <class Work>
[[nodiscard]] std::vector<double> timed_repeatedly(team::Team& team, int repeat, const char* name,
                                                   Work&& work) {
  std::vector<double> seconds;
  for (int run = 0; run <= repeat; ++run) {
    const double time = timed(team, name, work);
    if (run > 0) seconds.push_back(time);
  }
  for (double& time : seconds) time = largest(team, time);
  return seconds;
}
/// make(), with the seconds that it took on the slowest rank. Collective.
template <class Make>
auto timed_setup(team::Team& team, double& seconds, Make&& make) {
  team.barrier();
  const double begin = now_seconds();
  auto made = make();
  seconds = slowest(team, now_seconds() - begin);
  return made;
}

/// Calls f(T{}) with the storage type of the name.
template <class F>
decltype(auto) with_element(const std::string& type, F&& f) {
  if (type == "float16") return f(Half{});
  if (type == "bfloat16") return f(BFloat16{});
  return f(float{});
}
/// How far a sum of a type may be from the exact one, in units of its terms' sizes, where passes
/// over parts of it round to the type: at most one for each rank and two.
[[nodiscard]] inline double sum_tolerance(const std::string& type, int ranks) {
  if (type == "float16") return (ranks + 2) * 0x1p-11;
  if (type == "bfloat16") return (ranks + 2) * 0x1p-8;
  return 1e-5;
}
/// The worst of errors, each in units of its result's size; NaN is the worst.
inline void keep_worst(double& worst, double error) {
  if (!(error <= worst)) worst = error;
}
inline void keep_worst(double& worst, double found, double expected, double size) {
  const double off = std::abs(found - expected);
  keep_worst(worst, off == 0.0 ? 0.0 : off / size);
}

/// The ranks of a session, for work that is no call on a graph.
struct SessionRanks {
  std::shared_ptr<Teams> teams;
  std::uint64_t owner = next_owner();
  RunInfo info;
  Place place;

  /// `has_hosts`: as of place_of().
  SessionRanks(const std::optional<Session>& session, const std::optional<DeviceKind>& device,
               int devices, bool has_hosts = false)
      : teams(session_of(session).teams()),
        place(place_of(*teams, device, devices, info, -1, has_hosts)) {}
  /// Runs `work` on every rank. What all of them sent to other hosts, as in RunInfo.
  template <class Work>
  std::uint64_t run(Work&& work) const {
    std::uint64_t bytes = 0;
    teams->run(place, owner, [&](team::Team& team, RankStore& /*store*/) {
      const std::uint64_t before = team.bytes_between_hosts();
      work(team);
      if (team.spans_hosts()) bytes = bytes_between_hosts(team, before);
    });
    return bytes;
  }
};

}  // namespace warren::api
