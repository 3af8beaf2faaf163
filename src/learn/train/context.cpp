// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/context.hpp"

#include <algorithm>
#include <vector>

#include "learn/rows/set_kernel.hpp"

namespace warren::learn {

void Context::begin(std::uint64_t seed, std::uint64_t epoch, bool is_training) {
  is_training_ = is_training;
  if (is_training) detail::set_value(stream_, epoch_key(seed, epoch), epoch_key_.data());
}

void Context::add_seconds(std::size_t i, std::array<double, kParts>& seconds) const {
  const Span& outer = spans_[i];
  struct Within {
    double begin, end;
    std::size_t part;
  };
  std::vector<Within> all;
  for (std::size_t s = i + 1; s <= i + outer.inner; ++s)
    all.push_back({spans_[s].begin.seconds_since(outer.begin),
                   spans_[s].end.seconds_since(outer.begin),
                   static_cast<std::size_t>(spans_[s].part)});
  std::sort(all.begin(), all.end(),
            [](const Within& a, const Within& b) { return a.begin < b.begin; });
  double covered = 0.0;
  double reached = 0.0;  // What goes on at the same time counts once.
  for (const Within& span : all) {
    const double more = std::max(0.0, span.end - std::max(span.begin, reached));
    seconds.at(span.part) += more;
    covered += more;
    reached = std::max(reached, span.end);
  }
  seconds.at(static_cast<std::size_t>(outer.part)) +=
      std::max(0.0, outer.end.seconds_since(outer.begin) - covered);
}

}  // namespace warren::learn
