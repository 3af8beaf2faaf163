// SPDX-License-Identifier: Apache-2.0
// Files of what models say: classes, scores and embeddings of vertices, and pairs of vertices with
// how likely they are linked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/api/training.hpp"

namespace warren::api {

/// Files to write; empty: not wanted.
struct PredictionFiles {
  std::string text;        ///< A line for each vertex, or each pair.
  std::string scores;      ///< .npy: of each vertex its classes', before softmax or sigmoid.
  std::string embeddings;  ///< .npy.
};

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

/// The logit of each pair, and how many are likelier linked than not.
struct PairScores {
  std::vector<float> logits;
  std::uint64_t likely = 0;
};
/// As pair_scores() of their links.
[[nodiscard]] PairScores pair_scores(const NamedPairs& pairs, std::span<const float> embeddings,
                                     std::uint64_t width);

/// `text`: a line for each pair, its vertices, named as they were given, and the probability of a
/// link; `scores`: their logits. Throws InputError.
void write(const PredictionFiles& files, const NamedPairs& pairs, const PairScores& scores);

/// Of a model of links its embeddings. Of classes a line for each vertex in `text`, its id and its
/// class, of several labels all that it has; the scores; and the embeddings. Throws InputError.
void write(const PredictionFiles& files, const learn::Dataset& dataset,
           const learn::ModelOptions& model, bool is_of_links, const Prediction& prediction);

}  // namespace warren::api
