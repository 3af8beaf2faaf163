// SPDX-License-Identifier: Apache-2.0
// How large a generator's graph is, before an edge of it is drawn.
#pragma once

#include <cstdint>
#include <string>

#include "warren/graph/generate.hpp"

namespace warren::graph {

/// Directed edges of a generator's graph, as its distribution of edges makes likely.
struct GeneratedSize {
  double entries = 0.0;   ///< With duplicates, as build() holds them where they are few.
  double distinct = 0.0;  ///< Without.
};

/// Both are at most what is expected: a few per cent less for "community", exact for "grid". A
/// large graph is off by its random draws alone, by far less than a hundredth.
[[nodiscard]] GeneratedSize generated_size(const GeneratorSpec& spec, const BuildOptions& given);

/// Bytes of host memory that build() holds at least while it makes the graph, or the graph with
/// 4-byte weights that are drawn for it afterwards. At most what it does hold.
[[nodiscard]] std::uint64_t least_bytes(const GeneratorSpec& spec, const BuildOptions& options,
                                        bool is_weighted);

/// Throws MemoryError where the host has less than that. `name`: the generator as the user gave
/// it. `cure`: what else would do, besides a smaller graph.
void check_host_memory(const GeneratorSpec& spec, const BuildOptions& options, bool is_weighted,
                       const std::string& name, const std::string& cure);

}  // namespace warren::graph
