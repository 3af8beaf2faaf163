// SPDX-License-Identifier: Apache-2.0
// What the latency benchmark runs on a device: writing a cycle through all words of a memory, and
// one thread that follows it.
//
// Word i holds (kMultiplier i + kIncrement) mod n, the place of the next word to read. For n a
// power of two this is one cycle through all n words (Hull and Dobell 1962: the increment is odd,
// and the multiplier one more than a multiple of four), whose next step spans all of the memory; so
// words are written in parallel, and the walk's end is known without it.
#pragma once

#include <cstdint>

#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::bench {

constexpr std::uint64_t kMultiplier = 6364136223846793005u;  // Knuth's, of MMIX.
constexpr std::uint64_t kIncrement = 1442695040888963407u;

/// The word after word `i` of `n`, a power of two.
WARREN_HD constexpr std::uint64_t next_word(std::uint64_t i, std::uint64_t n) {
  return (kMultiplier * i + kIncrement) & (n - 1);
}

/// words[i] = next_word(first + i).
struct WriteCycle {
  std::uint64_t* words;
  std::uint64_t first;
  std::uint64_t n;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    words[i] = next_word(first + i, n);
  }
};

/// Reads `steps` words, each of which says where the next one is, of any rank's memory.
struct FollowShared {
  memory::GlobalView<std::uint64_t> words;
  std::uint64_t steps;
  std::uint64_t* place;  ///< Of the first word to read; after the walk, of the next one.
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t) const {
    std::uint64_t at = *place;
    for (std::uint64_t step = 0; step < steps; ++step) at = words.at(at);
    *place = at;
  }
};

/// The same of memory with one address.
struct FollowManaged {
  const std::uint64_t* words;
  std::uint64_t steps;
  std::uint64_t* place;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t) const {
    std::uint64_t at = *place;
    for (std::uint64_t step = 0; step < steps; ++step) at = words[at];
    *place = at;
  }
};

template <class Backend>
void write_cycle(const exec::Stream& stream, std::uint64_t count, const WriteCycle& kernel) {
  exec::launch<Backend, exec::Thread>(stream, count, kernel);
}
template <class Backend>
void follow(const exec::Stream& stream, const FollowShared& kernel) {
  exec::launch<Backend, exec::Thread>(stream, 1, kernel);
}
template <class Backend>
void follow(const exec::Stream& stream, const FollowManaged& kernel) {
  exec::launch<Backend, exec::Thread>(stream, 1, kernel);
}

#if WARREN_HAS_CUDA
extern template void write_cycle<exec::Cuda>(const exec::Stream&, std::uint64_t, const WriteCycle&);
extern template void follow<exec::Cuda>(const exec::Stream&, const FollowShared&);
extern template void follow<exec::Cuda>(const exec::Stream&, const FollowManaged&);
#endif

}  // namespace warren::bench
