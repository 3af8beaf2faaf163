// SPDX-License-Identifier: Apache-2.0
// What predict reads and writes as text: classes, and pairs of vertices with how likely they are
// linked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train_input.hpp"

namespace warren::app {

/// A line for each vertex: its id, and its class; of several labels all that it has.
void write_classes(const std::string& path, const learn::Dataset& dataset,
                   std::span<const float> scores);

/// Pairs of vertices from a file, and how it names them.
struct NamedPairs {
  std::vector<learn::Link> links;
  std::vector<std::string> names;  ///< Two a pair, as they stand in the file.
};

/// Two vertices a line, separated by blanks, tabs, commas or semicolons, perhaps in quotes: numbers
/// of [0, vertices), or, where the dataset has names for its vertices, names (a number is always a
/// number). Empty lines, those that begin with #, and a first one of headings (source, target) are
/// none. Throws InputError that names the line.
[[nodiscard]] NamedPairs read_pairs(const std::string& path, std::uint64_t vertices,
                                    std::span<const std::string> names);

/// A line for each pair: its vertices, named as they were given, and the probability of a link.
void write_pairs(const std::string& path, const NamedPairs& pairs, std::span<const float> scores);

}  // namespace warren::app
