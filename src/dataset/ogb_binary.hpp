// SPDX-License-Identifier: Apache-2.0
// The parts of an Open Graph Benchmark folder in binary form: raw/data.npz and raw/node-label.npz.
#pragma once

#include <string>

#include "warren/dataset/dataset.hpp"
#include "warren/graph/builder.hpp"

namespace warren::learn {

[[nodiscard]] bool is_binary_ogb(const std::string& folder);
[[nodiscard]] graph::Graph read_binary_ogb_graph(const std::string& folder,
                                                 const graph::BuildOptions& options,
                                                 exec::ThreadPool& pool);
void read_binary_ogb_features(const std::string& folder, Dataset& dataset);
void read_binary_ogb_labels(const std::string& folder, Dataset& dataset);

}  // namespace warren::learn
