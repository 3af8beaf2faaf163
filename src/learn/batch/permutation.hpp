// SPDX-License-Identifier: Apache-2.0
// A random order of 0 .. n - 1 that is computed where it is asked for, so that no rank has to hold
// or shuffle a list: a Feistel network over the next power of four, walked until it is below n
// (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
#pragma once

#include <bit>
#include <cstdint>

#include "warren/learn/random.hpp"

namespace warren::learn {

class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key)
      : size_(size),
        key_(key),
        half_bits_(static_cast<int>(std::bit_width(size > 1 ? size - 1 : 1) + 1) / 2) {}

  /// What stands at place i < size.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = permuted(i);
    } while (i >= size_);
    return i;
  }

 private:
  [[nodiscard]] std::uint64_t permuted(std::uint64_t i) const {
    constexpr std::uint64_t kRounds = 6;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = i >> half_bits_, right = i & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (mix(mix(key_ + round) ^ right) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_, key_;
  int half_bits_;
};

}  // namespace warren::learn
