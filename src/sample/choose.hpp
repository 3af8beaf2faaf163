// SPDX-License-Identifier: Apache-2.0
// Choosing m of n places, each by one worker. All ways to choose uniformly without replacement give
// the sample of the same sequential process: draw i takes the element at a random place r(i) of the
// n - i that are left, and the last of them moves to its place. So the lanes of a GPU, path
// doubling and a plain loop agree.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warren/exec/atomic.hpp"
#include "warren/exec/worker.hpp"
#include "warren/sample/random.hpp"

#include "sample/places.hpp"

namespace warren::sample::detail {

template <class W>
inline constexpr bool kIsSerial = std::is_base_of_v<exec::Serial, W>;

inline constexpr std::uint32_t kNowhere = 0xffffffffu;
/// Up to this many draws a warp's lanes hold one each.
inline constexpr std::uint32_t kFewDraws = 32;

WARREN_HD constexpr std::uint32_t next_power_of_two(std::uint32_t value) {
  std::uint32_t power = 1;
  while (power < value) power *= 2;
  return power;
}

/// Sorts `count` (a power of two) elements by is_less(a, b), the places a and b being exchanged by
/// exchange(a, b). Bitonic: no data-dependent order of accesses.
template <class W, class Less, class Exchange>
WARREN_HD void sort_in_place(const W& worker, std::uint32_t count, Less&& is_less,
                             Exchange&& exchange) {
  for (std::uint32_t run = 2; run <= count; run *= 2) {
    for (std::uint32_t apart = run / 2; apart > 0; apart /= 2) {
      worker.sync();
      worker.for_each(count / 2, [&](std::uint64_t pair) {
        const auto t = static_cast<std::uint32_t>(pair);
        const std::uint32_t a = (t & ~(apart - 1)) << 1 | (t & (apart - 1));
        const std::uint32_t b = a + apart;
        const bool is_ascending = (a & run) == 0;
        if (is_ascending ? is_less(b, a) : is_less(a, b)) exchange(a, b);
      });
    }
  }
  worker.sync();
}

/// The parallel algorithm of WholeGraph (algorithm 1; Rajan, Ghosh and Gupta 1989) for any 1 <= m <
/// n, by any worker. `scratch` holds path_doubling_bytes(m). Calls emit(i, place) once for every
/// draw i.
WARREN_HD constexpr std::uint64_t path_doubling_bytes(std::uint32_t m) {
  return std::uint64_t{next_power_of_two(m)} * 8 + (std::uint64_t{m} * 4 + 7) / 8 * 8;
}
template <class W, class Emit>
WARREN_HD void choose_by_path_doubling(const W& worker, const TargetDraws& draws, std::uint32_t n,
                                       std::uint32_t m, std::uint64_t* scratch, Emit&& emit) {
  const std::uint32_t sorted = next_power_of_two(m);
  std::uint64_t* const keys = scratch;  // The place drawn, and by which draw.
  auto* const chain = reinterpret_cast<std::uint32_t*>(scratch + sorted);
  worker.sync();
  worker.for_each(sorted, [&](std::uint64_t at) {
    const auto i = static_cast<std::uint32_t>(at);
    keys[i] = i < m ? std::uint64_t{draws.below(n - i, i)} << 32 | i : ~std::uint64_t{0};
    if (i < m) chain[i] = i;
  });
  sort_in_place(
      worker, sorted, [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; },
      [&](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t key = keys[a];
        keys[a] = keys[b];
        keys[b] = key;
      });
  const auto place_at = [&](std::uint32_t t) { return static_cast<std::uint32_t>(keys[t] >> 32); };
  const auto draw_at = [&](std::uint32_t t) { return static_cast<std::uint32_t>(keys[t]); };
  // Place n - 1 - j is the last one at draw j: what stands there is what the last draw of that
  // place moved to it.
  worker.for_each(m, [&](std::uint64_t at) {
    const auto t = static_cast<std::uint32_t>(at);
    const std::uint32_t place = place_at(t);
    if ((t + 1 == m || place != place_at(t + 1)) && place >= n - m)
      chain[n - 1 - place] = draw_at(t);
  });
  worker.sync();
  for (std::uint32_t step = 1; step < m; step *= 2) {
    // What others have written by now is farther along the same path: that does no harm.
    worker.for_each(m, [&](std::uint64_t i) {
      const std::uint32_t next = exec::atomic_load(chain[exec::atomic_load(chain[i])]);
      exec::atomic_store(chain[i], next);
    });
    worker.sync();
  }
  worker.for_each(m, [&](std::uint64_t at) {
    const auto t = static_cast<std::uint32_t>(at);
    const bool is_first = t == 0 || place_at(t) != place_at(t - 1);
    emit(draw_at(t), is_first ? place_at(t) : n - 1 - chain[draw_at(t - 1)]);
  });
}

/// The same for m up to the worker's size, a draw in each lane's registers: the sort is replaced by
/// looking at all draws in turn.
template <class W, class Emit>
WARREN_HD void choose_by_lanes(const W& worker, const TargetDraws& draws, std::uint32_t n,
                               std::uint32_t m, Emit&& emit) {
  const std::uint32_t i = worker.lane();
  const std::uint32_t drawn = i < m ? draws.below(n - i, i) : kNowhere;
  std::uint32_t same = kNowhere;  // The last draw before this one of this one's place.
  std::uint32_t chain = i;        // The last draw before this one of the last place.
  for (std::uint32_t j = 0; j < m; ++j) {
    const std::uint32_t other = worker.broadcast(drawn, j);
    if (j < i && other == drawn) same = j;
    if (j < i && other == n - 1 - i) chain = j;
  }
  for (std::uint32_t step = 1; step < m; step *= 2) chain = worker.broadcast(chain, chain);
  const std::uint32_t moved = worker.broadcast(n - 1 - chain, same == kNowhere ? i : same);
  if (i < m) emit(i, same == kNowhere ? drawn : moved);
}

/// The draws' words, four at a time, in order.
template <class F>
WARREN_HD void for_each_word(const TargetDraws& draws, std::uint32_t m, F&& f) {
  for (std::uint32_t block = 0; block * 4 < m; ++block) {
    const RandomWords words = draws.words(block);
    const std::uint32_t here = m - block * 4 < 4 ? m - block * 4 : 4;
    for (std::uint32_t k = 0; k < here; ++k) f(block * 4 + k, words.word[k]);
  }
}

/// The process as it is described, for one thread and short lists.
inline constexpr std::uint32_t kListedPlaces = 4096;
template <class Emit>
WARREN_HD void choose_from_list(const TargetDraws& draws, std::uint32_t n, std::uint32_t m,
                                Emit&& emit) {
  std::uint16_t places[kListedPlaces];
  for (std::uint32_t place = 0; place < n; ++place)
    places[place] = static_cast<std::uint16_t>(place);
  for_each_word(draws, m, [&](std::uint32_t i, std::uint32_t word) {
    const std::uint32_t drawn = draws.below(n - i, i, word);
    emit(i, places[drawn]);
    places[drawn] = places[n - 1 - i];
  });
}

/// The same for one thread, few draws and long lists, of which only what moved is kept.
template <class Emit>
WARREN_HD void choose_few(const TargetDraws& draws, std::uint32_t n, std::uint32_t m, Emit&& emit) {
  std::uint32_t drawn[kFewDraws];
  std::uint32_t moved[kFewDraws];  // What draw j moved to the place that it drew.
  for_each_word(draws, m, [&](std::uint32_t i, std::uint32_t word) {
    const std::uint32_t place = draws.below(n - i, i, word);
    const std::uint32_t last = n - 1 - i;
    std::uint32_t at_place = place;
    std::uint32_t at_last = last;
    for (std::uint32_t j = 0; j < i; ++j) {
      at_place = drawn[j] == place ? moved[j] : at_place;
      at_last = drawn[j] == last ? moved[j] : at_last;
    }
    drawn[i] = place;
    moved[i] = at_last;
    emit(i, at_place);
  });
}

/// min(n, m) different places below n: all in order where n <= m, else m of them, every m-tuple
/// with the same probability. `scratch`: path_doubling_bytes(m) where m is above kFewDraws. A
/// worker of several lanes has at least min(m, kFewDraws) of them, or any number and m above that.
template <class W, class Emit>
WARREN_HD void choose_uniformly(const W& worker, const TargetDraws& draws, std::uint32_t n,
                                std::uint32_t m, std::uint64_t* scratch, Emit&& emit) {
  if (n <= m) {
    worker.for_each(n, [&](std::uint64_t i) {
      emit(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i));
    });
    return;
  }
  if constexpr (kIsSerial<W>) {
    constexpr std::uint32_t kWorthListing = 16;  // Places for each draw.
    if (n <= kListedPlaces && n / kWorthListing <= m) return choose_from_list(draws, n, m, emit);
    if (m <= kFewDraws) return choose_few(draws, n, m, emit);
  } else {
    if (m <= kFewDraws) return choose_by_lanes(worker, draws, n, m, emit);
  }
  choose_by_path_doubling(worker, draws, n, m, scratch, emit);
}

/// m draws of all n places, each for itself.
template <class W, class Emit>
WARREN_HD void choose_with_replacement(const W& worker, const TargetDraws& draws, std::uint32_t n,
                                       std::uint32_t m, Emit&& emit) {
  if constexpr (kIsSerial<W>) {
    for_each_word(draws, m,
                  [&](std::uint32_t i, std::uint32_t word) { emit(i, draws.below(n, i, word)); });
  } else {
    worker.for_each(m, [&](std::uint64_t at) {
      const auto i = static_cast<std::uint32_t>(at);
      emit(i, draws.below(n, i));
    });
  }
}

/// Weighted draws with replacement by the sums of the weights up to each place: the first place
/// whose sum is above a uniform number of [0, the last sum), which must be above 0.
template <class W, class Emit>
WARREN_HD void choose_by_sums(const W& worker, const TargetDraws& draws, const double* sums,
                              std::uint32_t n, std::uint32_t m, Emit&& emit) {
  worker.for_each(m, [&](std::uint64_t at) {
    const auto i = static_cast<std::uint32_t>(at);
    emit(i, place_by_sums(sums, n, uniform(draws.bits(i))));
  });
}

/// A place that is never taken.
inline constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
/// Of a draw by weights: an exponential variate over the weight. The places with the smallest keys
/// are successive draws in proportion to the weights (Efraimidis and Spirakis, "Weighted random
/// sampling with a reservoir", 2006). Positive doubles are ordered as their bits are.
WARREN_HD inline std::uint64_t weighted_key(const TargetDraws& draws, std::uint32_t place,
                                            double weight) {
  return weight > 0.0 ? bits_of(exponential(draws.bits(place)) / weight) : kNoKey;
}
/// Of a draw that targets share: the neighbour's number over the weight.
WARREN_HD inline std::uint64_t shared_key(const NeighbourDraws& draws, Vertex neighbour,
                                          double weight) {
  return weight > 0.0 ? bits_of(draws.uniform(neighbour) / weight) : kNoKey;
}

/// The m places below n with the smallest key_of(place), of equal ones the first; fewer where not
/// so many have a key. Calls emit(i, place) in the order of the keys. `scratch` holds
/// keyed_bytes(m, lanes).
WARREN_HD constexpr std::uint32_t keyed_capacity(std::uint32_t m, std::uint32_t lanes) {
  return next_power_of_two(2 * (m > lanes ? m : lanes));
}
WARREN_HD constexpr std::uint64_t keyed_bytes(std::uint32_t m, std::uint32_t lanes) {
  return std::uint64_t{keyed_capacity(m, lanes)} * 12;
}
template <class W, class KeyOf, class Emit>
WARREN_HD void choose_by_keys(const W& worker, std::uint32_t n, std::uint32_t m,
                              std::uint64_t* scratch, KeyOf&& key_of, Emit&& emit) {
  const std::uint32_t lanes = worker.size();
  const std::uint32_t capacity = keyed_capacity(m, lanes);
  std::uint64_t* const keys = scratch;
  auto* const places = reinterpret_cast<std::uint32_t*>(scratch + capacity);
  std::uint32_t held = 0;
  std::uint64_t limit = kNoKey;  // Keys from here on cannot be among the smallest.
  const auto sort = [&] {
    const std::uint32_t sorted = next_power_of_two(held);
    worker.sync();
    worker.for_each(sorted - held, [&](std::uint64_t i) {
      keys[held + i] = kNoKey;
      places[held + i] = kNowhere;
    });
    sort_in_place(
        worker, sorted,
        [&](std::uint32_t a, std::uint32_t b) {
          return keys[a] < keys[b] || (keys[a] == keys[b] && places[a] < places[b]);
        },
        [&](std::uint32_t a, std::uint32_t b) {
          const std::uint64_t key = keys[a];
          const std::uint32_t place = places[a];
          keys[a] = keys[b];
          places[a] = places[b];
          keys[b] = key;
          places[b] = place;
        });
  };
  for (std::uint32_t base = 0; base < n; base += lanes) {
    if (held + lanes > capacity) {
      sort();
      held = m < held ? m : held;
      limit = keys[held - 1];
      worker.sync();
    }
    const std::uint32_t place = base + worker.lane();
    const std::uint64_t key = place < n && place >= base ? key_of(place) : kNoKey;
    const bool is_taken = key < limit;
    const std::uint32_t before = worker.exclusive_scan(is_taken ? 1u : 0u);
    if (is_taken) {
      keys[held + before] = key;
      places[held + before] = place;
    }
    held += worker.count(is_taken);
    if (n - base <= lanes) break;  // Before base can run over.
  }
  sort();
  const std::uint32_t chosen = held < m ? held : m;
  worker.for_each(chosen, [&](std::uint64_t i) { emit(static_cast<std::uint32_t>(i), places[i]); });
  worker.sync();
}

}  // namespace warren::sample::detail
