// SPDX-License-Identifier: Apache-2.0
// What the name of a dataset means, and what is read of it: for faces that read graphs their own
// way.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/learn/settings.hpp"

namespace warren {
struct DatasetOptions;
}

namespace warren::api {

/// Who laid a dataset's files out.
enum class DatasetForm : std::uint8_t {
  generator,  ///< Nobody: it is drawn.
  folder,     ///< The user: a graph file with arrays beside it.
  ogb,        ///< The Open Graph Benchmark.
  planetoid,
  dgl  ///< The Deep Graph Library.
};

struct DatasetPlace {
  DatasetForm form = DatasetForm::folder;
  std::string folder;  ///< Empty of a generator.
  /// Its files have one form, and its vertices are numbered.
  [[nodiscard]] bool is_public() const {
    return form != DatasetForm::generator && form != DatasetForm::folder;
  }
};

/// Throws InputError for what is no dataset, UsageError.
[[nodiscard]] DatasetPlace find_dataset(const std::string& name);
/// Whether it has labels.
[[nodiscard]] bool has_labels(const DatasetPlace& place);
/// The graph of a public one. Throws InputError, MemoryError.
[[nodiscard]] graph::Graph read_public_graph(const DatasetPlace& place,
                                             const graph::BuildOptions& build,
                                             exec::ThreadPool& pool);
/// What is known of the graph's vertices; not of a generator. Throws InputError, MemoryError.
[[nodiscard]] learn::Dataset read_contents(const DatasetPlace& place, std::uint64_t vertices,
                                           learn::Contents contents, learn::LabelForm form);
/// The same, drawn for a generator's graph. Of features alone `classes` may be 0. Throws
/// UsageError.
[[nodiscard]] learn::Dataset draw_contents(std::uint64_t vertices, std::uint64_t features,
                                           std::uint64_t classes, std::uint64_t seed,
                                           learn::Contents contents, exec::ThreadPool& pool);
/// "auto", "classes" or "several". Throws UsageError.
[[nodiscard]] learn::LabelForm label_form(const std::string& name);

/// A line of names.txt for each vertex of a folder that has one; else nothing. Throws InputError.
[[nodiscard]] std::vector<std::string> vertex_names(const std::string& name);

/// Row i of the features belongs to vertex i. Ids of `path` that are words are numbered in the
/// order in which it names them first: throws InputError unless names.txt (`names`; empty: none)
/// says that the rows are in that order, too.
void check_order_of_words(const std::string& path, const std::string& names,
                          std::span<const std::string> words);

/// How a dataset is made, for learn::TrainOptions::inputs.
[[nodiscard]] learn::Settings input_settings(const std::string& name,
                                             const DatasetOptions& options);

}  // namespace warren::api
