// SPDX-License-Identifier: Apache-2.0
// Random and regular graphs from a seed: the same graph on every device and team size. The k-th
// draw depends on the seed and k alone. The draw functions compile for the host and for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "warren/graph/builder.hpp"

namespace warren::graph {

enum class GeneratorKind : std::uint32_t { kronecker, uniform, grid, community };

/// A generator with its parameters, as `kron:SCALE[,DEGREE]`, `urand:SCALE[,DEGREE]`,
/// `grid:WIDTHxHEIGHT`, `community:VERTICES,DEGREE`.
struct GeneratorSpec {
  GeneratorKind kind = GeneratorKind::kronecker;
  int scale = 0;               ///< kron, urand.
  std::uint64_t vertices = 0;  ///< All kinds.
  std::uint64_t width = 0;     ///< grid.
  std::uint64_t draws = 0;     ///< Directed edges drawn (for a grid: two a vertex, right and down).
  std::uint64_t seed = 1;
  /// grid and community are undirected and without self-loops by definition.
  [[nodiscard]] bool undirected() const {
    return kind == GeneratorKind::grid || kind == GeneratorKind::community;
  }
};

/// Integer weights low + (a hash of the unordered pair of ends and the seed) mod (high - low + 1),
/// int32, equal in both directions. The ends are the generator's, or the file's, vertices, however
/// they were numbered afterwards.
struct UniformWeights {
  std::int64_t low = 1;
  std::int64_t high = 64;  ///< 0 <= low <= high <= 2^31 - 1.
  std::uint64_t seed = 1;
  /// Whether an unsigned byte holds every one.
  [[nodiscard]] bool fit_a_byte() const { return high <= 255; }
};

/// Throws UsageError for bounds that are none, as UniformWeights has them.
void check_uniform_weights(const UniformWeights& weights);

/// Parses a GRAPH argument; nothing if `text` does not name a generator. Throws UsageError if it
/// does but is not well formed, or asks for more than kMaxVertices.
[[nodiscard]] std::optional<GeneratorSpec> parse_generator(const std::string& text,
                                                           std::uint64_t seed);

/// The generator as a source of edges for build(). grid and community want BuildOptions with
/// symmetrize and drop_self_loops set: see effective_options().
[[nodiscard]] std::unique_ptr<EdgeSource> make_source(const GeneratorSpec& spec);

/// `options` with what the generator is by definition.
[[nodiscard]] BuildOptions effective_options(const GeneratorSpec& spec, BuildOptions options);

}  // namespace warren::graph
