// SPDX-License-Identifier: Apache-2.0
// Random numbers that depend on a counter alone: the same for any team, device and order of work.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"

namespace warren::learn {

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
WARREN_HD inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// What all keys of an epoch are made of.
WARREN_HD inline std::uint64_t epoch_key(std::uint64_t seed, std::uint64_t epoch) {
  return mix(mix(seed) ^ epoch);
}
/// Key of what is drawn for a purpose (a layer's number) in an epoch.
WARREN_HD inline std::uint64_t random_key(std::uint64_t seed, std::uint64_t epoch,
                                          std::uint64_t purpose) {
  return mix(epoch_key(seed, epoch) ^ purpose);
}

/// In [0, 1), from 24 bits.
WARREN_HD inline float uniform(std::uint64_t key, std::uint64_t index) {
  return static_cast<float>(mix(key + index) >> 40) * 0x1p-24f;
}

}  // namespace warren::learn
