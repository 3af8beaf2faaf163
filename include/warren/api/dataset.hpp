// SPDX-License-Identifier: Apache-2.0
// Datasets as programs hold them: a graph, what is known of its vertices, and which of them models
// learn from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/learn/settings.hpp"

namespace warren {

/// A graph of n vertices with features, and perhaps labels and vertices for training, validation
/// and test, in host memory, in the order of the graph's vertices. Immutable; copies share it.
class Dataset {
 public:
  /// For the parts of the library; programs call read_dataset() and make_dataset().
  struct Parts {
    Graph graph;
    learn::Dataset content;
    std::string name;           ///< What it was read by; empty of arrays.
    bool is_generated = false;  ///< Features are drawn as they are meant to be.
    learn::Settings made_by;    ///< How it was read, which checkpoints keep.
  };
  explicit Dataset(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}

  [[nodiscard]] const Graph& graph() const { return parts_->graph; }
  /// The arrays, not to be written.
  [[nodiscard]] const learn::Dataset& content() const { return parts_->content; }
  [[nodiscard]] std::uint64_t vertices() const { return parts_->content.vertices; }
  [[nodiscard]] std::uint64_t features() const { return parts_->content.width; }
  /// Classes, or labels of which a vertex has any number; 0 without labels.
  [[nodiscard]] std::uint64_t classes() const { return is_labelled() ? content().classes : 0; }
  /// Whether there are labels, and vertices to learn them from.
  [[nodiscard]] bool is_labelled() const { return parts_->content.counts[0] != 0; }
  [[nodiscard]] const std::string& name() const { return parts_->name; }
  [[nodiscard]] bool is_generated() const { return parts_->is_generated; }
  [[nodiscard]] const learn::Settings& made_by() const { return parts_->made_by; }

 private:
  std::shared_ptr<const Parts> parts_;
};

/// As the options of the command line (`warren train --help`).
struct DatasetOptions {
  ReadOptions graph{};
  std::uint64_t features = 0;  ///< Of a generator: columns of features, which are drawn.
  /// Of a generator: classes; 0: none, and features are those of 16.
  std::uint64_t classes = 0;
  /// Of labels in several columns: "classes" (a row has one 1, or none), "several" (any number a
  /// vertex), "auto": classes where every row has one 1.
  std::string labels = "auto";
};

/// The dataset that `name` is (docs/training.md): a folder with graph.*, features.* and perhaps
/// labels.* and splits; one of the Open Graph Benchmark, Planetoid's or the Deep Graph Library's; a
/// dataset's name; or a generator ("community:10000,10") with `features`. Throws InputError, whose
/// message names the file and what would be right; UsageError; MemoryError.
[[nodiscard]] Dataset read_dataset(const std::string& name, const DatasetOptions& options = {});

/// What is known of a graph's n vertices, in memory that is read during the call alone.
struct DatasetArrays {
  std::span<const float> features;  ///< n x f, row-major, finite.
  /// n classes from 0, -1 for none. Or nothing.
  std::span<const std::int32_t> labels{};
  /// In place of `labels`: n x c of 0 and 1, any number of labels a vertex.
  std::span<const std::uint8_t> label_rows{};
  /// Vertices with a label, each in one of the three at most. None without labels.
  std::span<const Vertex> train{}, validation{}, test{};
};

/// A dataset of arrays, which are copied. Throws UsageError, naming the argument and the entry, for
/// other sizes, features that are not finite, labels out of range, and vertices that are in two
/// lists or have no label; VertexError for vertices that the graph does not have; MemoryError.
[[nodiscard]] Dataset make_dataset(const Graph& graph, const DatasetArrays& arrays);

}  // namespace warren
