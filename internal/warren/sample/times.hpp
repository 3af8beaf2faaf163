// SPDX-License-Identifier: Apache-2.0
// Times of edges and of seeds in files, for temporal sampling.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::sample {

/// A time for every edge of `graph`, in its order. From a .npy file with that many integers; or
/// from text with lines "source target time" (ids as the program prints them, `words` of vertices
/// where there are some; between blanks, tabs, commas or semicolons, perhaps in quotes; # and %
/// begin comments; a first line may name the columns): of a pair's several lines the earliest time
/// counts, and an edge (u, v) that has no line takes that of (v, u), be that an edge or not. Throws
/// InputError naming the file and what would be right: an edge without a time, a line that is none
/// or whose vertices are no edge in either direction, parallel edges with times in text.
[[nodiscard]] std::vector<std::int64_t> read_edge_times(const std::string& path,
                                                        const graph::Graph& graph,
                                                        std::span<const std::string> words = {});

/// A time for every vertex that becomes a seed: the same for all, where `text` is an integer; else
/// from a file, .npy or text with one integer a line, with a time for each vertex. Throws
/// UsageError, InputError.
[[nodiscard]] std::vector<std::int64_t> read_seed_times(const std::string& text,
                                                        std::uint64_t vertices);

}  // namespace warren::sample
