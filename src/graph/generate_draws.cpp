// SPDX-License-Identifier: Apache-2.0
// Kronecker edges are some twenty hashes each, all independent: several edges are drawn side by
// side, so that the compiler keeps them in the lanes of a vector. 64-bit products in vectors came
// with AVX-512; a machine that has it runs a copy compiled for it.
#include "graph/generate_draws.hpp"

#include <array>

#include "warren/graph/draw.hpp"

namespace warren::graph::detail {
namespace {

constexpr std::size_t kLanes = 16;

[[gnu::always_inline]] inline void kronecker_lanes(const GeneratorSpec& spec, std::uint64_t first,
                                                   Edge* edges) {
  std::array<std::uint64_t, kLanes> state;
  std::array<std::uint64_t, kLanes> row{};
  std::array<std::uint64_t, kLanes> column{};
  const std::uint64_t base = static_cast<std::uint64_t>(spec.scale) + seed_stream(spec.seed);
  for (std::size_t i = 0; i < kLanes; ++i) state[i] = mix((first + i) * 7919 + base);
  for (int level = 0; level < spec.scale; ++level) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      state[i] += 0x9e3779b97f4a7c15ull;
      kronecker_level(mix(state[i]), row[i], column[i]);
    }
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    edges[i] = {static_cast<Vertex>(scramble(row[i], spec.scale)),
                static_cast<Vertex>(scramble(column[i], spec.scale))};
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] void kronecker_lanes_avx512(
    const GeneratorSpec& spec, std::uint64_t first, Edge* edges) {
  kronecker_lanes(spec, first, edges);
}

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}
#endif

void draw_lanes(const GeneratorSpec& spec, std::uint64_t first, Edge* edges) {
#if defined(__x86_64__)
  if (has_avx512()) return kronecker_lanes_avx512(spec, first, edges);
#endif
  kronecker_lanes(spec, first, edges);
}

}  // namespace

void draw_edges(const GeneratorSpec& spec, std::uint64_t first, std::span<Edge> edges) {
  std::size_t i = 0;
  if (spec.kind == GeneratorKind::kronecker) {
    for (; i + kLanes <= edges.size(); i += kLanes) draw_lanes(spec, first + i, edges.data() + i);
  }
  for (; i < edges.size(); ++i) edges[i] = draw_edge(spec, first + i);
}

}  // namespace warren::graph::detail
