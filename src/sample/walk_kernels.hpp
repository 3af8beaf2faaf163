// SPDX-License-Identifier: Apache-2.0
// The kernel of random walks, for both backends: a lane a walk.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sample/graph_store.hpp"
#include "warren/sample/random.hpp"

#include "sample/places.hpp"

namespace warren::sample::detail {

/// Neighbours are proposed by their weights and taken with a probability, which a biased walk has
/// for each; if none is taken in about as many tries as the list is long, one is drawn by the sums
/// over all of it. So each draw is exact, whatever p and q are.
struct WalkKernel {
  static constexpr std::uint64_t kMostWalks = 256;               ///< Of a task.
  static constexpr std::uint32_t kFewTries = 16, kTries = 1024;  ///< The last draws by the list.
  static constexpr std::uint32_t kHop = 255;  ///< Whose numbers no sampler draws.

  StoreView store;
  const Vertex* starts;
  std::uint64_t count;
  std::uint64_t each;  ///< Walks of a task.
  std::uint32_t length;
  bool weighted;
  bool biased;
  double back, near, far;  ///< Of a proposal: the probability that it is taken; the largest is 1.
  std::uint64_t seed, batch, first;
  const std::uint32_t* stop;  ///< WalkOptions::stop.
  Vertex* walks;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t begin = task * each;
    const std::uint64_t left = count - begin;
    worker.for_each(left < each ? left : each, [&](std::uint64_t i) { walk(begin + i); });
  }

 private:
  [[nodiscard]] WARREN_HD bool is_stopped() const {
    return stop != nullptr &&
           exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(*stop) != 0;
  }

  WARREN_HD void walk(std::uint64_t i) const {
    const TargetDraws draws(seed, batch, kHop, static_cast<std::uint32_t>(first + i));
    Vertex* const row = walks + i * (length + std::uint64_t{1});
    Vertex at = starts[i];
    Vertex before = at;
    row[0] = at;
    for (std::uint32_t step = 0; step < length && !is_stopped(); ++step) {
      const NeighbourList list = store.list(at);
      const Vertex next =
          can_leave(list) ? draw(draws, step, list, biased && step > 0, before) : at;
      before = at;
      at = next;
      row[step + std::uint64_t{1}] = at;
    }
  }

  [[nodiscard]] WARREN_HD bool can_leave(const NeighbourList& list) const {
    return list.degree > 0 &&
           (!weighted || store.cumulative[list.owner][list.begin + list.degree - 1] > 0.0);
  }
  [[nodiscard]] WARREN_HD Vertex target(const NeighbourList& list, std::uint32_t place) const {
    return store.targets[list.owner][list.begin + place];
  }

  [[nodiscard]] WARREN_HD Vertex draw(const TargetDraws& draws, std::uint32_t step,
                                      const NeighbourList& list, bool is_biased,
                                      Vertex before) const {
    std::uint32_t tries = list.degree < kFewTries ? kFewTries : list.degree;
    if (tries >= kTries) tries = kTries - 1;
    for (std::uint32_t attempt = 0; attempt < tries; ++attempt) {
      const std::uint32_t block = step * kTries + attempt;
      const RandomWords words = draws.words(block);
      const std::uint32_t place =
          weighted ? place_by_sums(store.cumulative[list.owner] + list.begin, list.degree,
                                   unit(words.word[3], words.word[2]))
                   : draws.below(list.degree, 4 * block, words.word[0]);
      const Vertex x = target(list, place);
      if (!is_biased) return x;
      // By words that the place does not depend on.
      const double drawn =
          weighted ? unit(words.word[1], words.word[0]) : unit(words.word[3], words.word[2]);
      if (drawn < taken(x, before)) return x;
    }
    return by_list(list, draws.words(step * kTries + kTries - 1), before);
  }

  /// Of a number's upper and lower word.
  [[nodiscard]] WARREN_HD static double unit(std::uint32_t high, std::uint32_t low) {
    return uniform(std::uint64_t{high} << 32 | low);
  }

  [[nodiscard]] WARREN_HD double taken(Vertex x, Vertex before) const {
    return x == before ? back : has_edge(before, x) ? near : far;
  }
  [[nodiscard]] WARREN_HD bool has_edge(Vertex from, Vertex to) const {
    const NeighbourList list = store.list(from);
    const std::uint32_t place =
        first_place(list.degree, [&](std::uint32_t i) { return target(list, i) >= to; });
    return place < list.degree && target(list, place) == to;
  }

  /// Of the list as it is weighted and biased.
  [[nodiscard]] WARREN_HD Vertex by_list(const NeighbourList& list, const RandomWords& words,
                                         Vertex before) const {
    const auto part_of = [&](std::uint32_t place) {
      const double weight = weighted ? store.weight(list.owner, list.begin + place) : 1.0;
      return detail::multiply(weight, taken(target(list, place), before));
    };
    double all = 0.0;
    for (std::uint32_t place = 0; place < list.degree; ++place)
      all = detail::add(all, part_of(place));
    const double wanted = detail::multiply(unit(words.word[3], words.word[2]), all);
    double sum = 0.0;
    std::uint32_t last = 0;
    for (std::uint32_t place = 0; place < list.degree; ++place) {
      const double part = part_of(place);
      if (part <= 0.0) continue;
      last = place;
      sum = detail::add(sum, part);
      if (sum > wanted) break;
    }
    return target(list, last);
  }
};

template <class Backend>
void walk(const exec::Stream& stream, const WalkKernel& kernel) {
  const std::uint64_t tasks = (kernel.count + kernel.each - 1) / kernel.each;
  exec::launch<Backend, exec::Block>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void walk<exec::Cuda>(const exec::Stream&, const WalkKernel&);
#endif

}  // namespace warren::sample::detail
