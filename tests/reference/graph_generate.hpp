// SPDX-License-Identifier: Apache-2.0
// The generators once more, from their description: a counter-based stream of uniform numbers per
// edge, and what each generator makes of them. In floating point throughout, where the library
// compares integers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "reference/graph_source.hpp"

namespace warren::reference {

inline std::uint64_t murmur_finaliser(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 18397679294719823053ull;
  h = (h ^ (h >> 33)) * 14181476777654086739ull;
  return h ^ (h >> 33);
}

/// SplitMix's walk with Murmur's finaliser; starts at the hash of 7919 k + salt.
struct UniformNumbers {
  std::uint64_t position;
  UniformNumbers(std::uint64_t k, std::uint64_t salt)
      : position(murmur_finaliser(7919 * k + salt)) {}
  double next() {
    position += 11400714819323198485ull;
    return std::ldexp(static_cast<double>(murmur_finaliser(position) / 2048), -53);
  }
};

inline Vertex hide(std::uint64_t id, int scale) {
  for (int round = 0; round < 3; ++round) {
    id = (id * 11400714819323198485ull + 12345) % (1ull << scale);
    id = id ^ (id >> (scale / 2));
  }
  return static_cast<Vertex>(id);
}

/// Seed 1 of kron:scale,degree.
inline EdgeList kronecker(int scale, std::uint64_t degree) {
  EdgeList list;
  list.vertices = 1ull << scale;
  for (std::uint64_t k = 0; k < list.vertices * degree; ++k) {
    UniformNumbers numbers(k, static_cast<std::uint64_t>(scale));
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    for (int level = 0; level < scale; ++level) {
      const double r = numbers.next();
      // Quadrants: upper left 0.57, upper right 0.19, lower left 0.19, lower right 0.05.
      const bool upper_left = r < 0.57;
      const bool upper_right = !upper_left && r < 0.76;
      const bool lower_left = !upper_left && !upper_right && r < 0.95;
      row = 2 * row + (upper_left || upper_right ? 0 : 1);
      column = 2 * column + (upper_left || lower_left ? 0 : 1);
    }
    list.edges.push_back({hide(row, scale), hide(column, scale)});
  }
  return list;
}

/// Seed 1 of urand:scale,degree.
inline EdgeList uniform(int scale, std::uint64_t degree) {
  EdgeList list;
  list.vertices = 1ull << scale;
  for (std::uint64_t k = 0; k < list.vertices * degree; ++k) {
    UniformNumbers numbers(k, static_cast<std::uint64_t>(scale));
    const double source = std::floor(std::ldexp(numbers.next(), scale));
    const double target = std::floor(std::ldexp(numbers.next(), scale));
    list.edges.push_back({static_cast<Vertex>(source), static_cast<Vertex>(target)});
  }
  return list;
}

/// grid:width x height, both directions left to symmetrising.
inline EdgeList grid(Vertex width, Vertex height) {
  EdgeList list;
  list.vertices = std::uint64_t{width} * height;
  for (Vertex y = 0; y < height; ++y) {
    for (Vertex x = 0; x < width; ++x) {
      if (x + 1 < width) list.edges.push_back({y * width + x, y * width + x + 1});
      if (y + 1 < height) list.edges.push_back({y * width + x, (y + 1) * width + x});
    }
  }
  return list;
}

/// Seed 1 of community:n with `draws` edges.
inline EdgeList community(std::uint64_t n, std::uint64_t draws) {
  EdgeList list;
  list.vertices = n;
  for (std::uint64_t k = 0; k < draws; ++k) {
    UniformNumbers numbers(k, 1);
    const double kind = numbers.next();
    const std::uint64_t home =
        200 * static_cast<std::uint64_t>(
                  std::floor(numbers.next() * std::floor(static_cast<double>(n) / 200.0)));
    const double a = numbers.next();
    const double b = numbers.next();
    const std::uint64_t source = home + static_cast<std::uint64_t>(a * a * 200.0);
    std::uint64_t target = home + static_cast<std::uint64_t>(b * b * 200.0);
    if (kind >= 0.75 && kind < 0.95) {
      const auto shift = static_cast<long long>(std::trunc((b - 0.5) * 20000.0));
      target = static_cast<std::uint64_t>(std::llabs(static_cast<long long>(source) + shift)) % n;
    } else if (kind >= 0.95) {
      target = static_cast<std::uint64_t>(std::pow(b, 3.0) * static_cast<double>(n));
    }
    list.edges.push_back({static_cast<Vertex>(std::min(source, n - 1)),
                          static_cast<Vertex>(std::min(target, n - 1))});
  }
  return list;
}

/// Seed 1 of the weights 1 .. 64.
inline std::int32_t benchmark_weight(Vertex u, Vertex v) {
  const std::uint64_t pair = std::uint64_t{std::min(u, v)} * 1000003 + std::max(u, v);
  return static_cast<std::int32_t>(murmur_finaliser(pair) % 64) + 1;
}

}  // namespace warren::reference
