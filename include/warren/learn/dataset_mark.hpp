// SPDX-License-Identifier: Apache-2.0
// What tells one dataset from another: sizes, and hashes of a sample of it.
#pragma once

#include <cstdint>
#include <string>

#include "warren/dataset/dataset.hpp"
#include "warren/learn/neighbours.hpp"

namespace warren::learn {

struct DatasetMark {
  std::uint64_t vertices = 0, edges = 0, features = 0, classes = 0;
  std::uint64_t graph_hash = 0, weights_hash = 0, features_hash = 0, labels_hash = 0;
  bool operator==(const DatasetMark&) const = default;
};

/// The mark of a dataset as a trainer sees it: whatever was done to features and edges before is in
/// it; the order of the vertices, the partition, and whether features are stored sparse are not.
/// Hashes are of the rows, lists and labels of all vertices, of more than 65,536 of about as many
/// that are chosen by their ids: O(n) and what those have. Deterministic.
[[nodiscard]] DatasetMark mark_of(const GraphPair& graphs, const Dataset& dataset);

/// Whether both are of one graph with the same features, whatever their labels, and whatever
/// weights steer what batches draw.
[[nodiscard]] bool has_same_inputs(const DatasetMark& a, const DatasetMark& b);

/// How `given` differs from `stored`, for a message; empty where they are the same.
[[nodiscard]] std::string difference(const DatasetMark& stored, const DatasetMark& given);

}  // namespace warren::learn
