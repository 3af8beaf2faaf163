// SPDX-License-Identifier: Apache-2.0
// Datasets of vertex classification: a graph with features, labels, and vertices to learn from, to
// choose by, and to be tested with. In host memory, in the input's order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/dataset/labels.hpp"
#include "warren/dataset/sparse_rows.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/graph.hpp"

namespace warren::learn {

struct Dataset {
  std::uint64_t vertices = 0;
  /// Features: sparse, or `dense` (vertices x width) where that is not empty.
  std::uint64_t width = 0;
  SparseRows sparse;
  std::vector<float> dense;

  LossKind loss = LossKind::cross_entropy;
  std::uint64_t classes = 0;
  std::vector<std::int32_t> labels;  ///< vertices; -1: none (cross_entropy).
  std::vector<float> targets;        ///< vertices x classes of 0 and 1 (binary).
  std::vector<std::uint8_t> splits;  ///< vertices, of Split.
  std::array<std::uint64_t, kSplits> counts{};
  /// What is odd but can be worked with.
  std::vector<std::string> warnings;

  [[nodiscard]] bool is_sparse() const { return dense.empty(); }
};

/// What is taken of a dataset: links are learnt from features alone.
enum class Contents : std::uint8_t { all, features };

/// What several columns of labels are.
enum class LabelForm : std::uint8_t {
  automatic,  ///< Classes where every row has exactly one 1, else several labels a vertex.
  classes,    ///< A row has one 1, or none: no label.
  several     ///< A row has any number of labels.
};

/// features.npy, .npz or .csv, labels.npy or .csv, and train.txt, validation.txt and test.txt or
/// train_mask.npy, validation_mask.npy (val_mask.npy) and test_mask.npy of a folder, for a graph of
/// `vertices`. Throws InputError that names the file and what would be right: wrong
/// sizes and types, NaN and infinity (by row and column), labels out of range, vertices out of
/// range, in two splits or without a label, empty splits. Of Contents::features labels and splits
/// are neither read nor missed. Labels that were taken for classes are among the warnings.
[[nodiscard]] Dataset read_dataset(const std::string& folder, std::uint64_t vertices,
                                   Contents contents = Contents::all,
                                   LabelForm form = LabelForm::automatic);

/// Whether a folder that read_dataset() reads has labels.
[[nodiscard]] bool has_labels(const std::string& folder);

/// Of how many vertices the features of such a folder are; 0 without features. Throws InputError.
[[nodiscard]] std::uint64_t feature_rows(const std::string& folder);

/// True if a folder is a node-property dataset as the Open Graph Benchmark lays it out: raw/ with
/// .csv.gz files, or with data.npz and node-label.npz, and split/.
[[nodiscard]] bool is_ogb_folder(const std::string& folder);
/// Its edges as a graph, and the rest. Labels that are not numbers are none. Archives are read in
/// pieces: of data.npz edges of 8 bytes are held while the graph is built, and features as float32.
/// Throws as read_dataset(), and MemoryError.
[[nodiscard]] graph::Graph read_ogb_graph(const std::string& folder,
                                          const graph::BuildOptions& options,
                                          exec::ThreadPool& pool);
[[nodiscard]] Dataset read_ogb_dataset(const std::string& folder, std::uint64_t vertices,
                                       Contents contents = Contents::all,
                                       LabelForm form = LabelForm::automatic);

/// True if a folder, or raw/ in it, has Cora, Citeseer or Pubmed as Planetoid's authors publish
/// them: ind.NAME.graph and its companions.
[[nodiscard]] bool is_planetoid_folder(const std::string& folder);
/// Its edges as an undirected graph, and the rest: the published split, of the vertices after the
/// training ones 500 for validation. Vertices that no file says anything of have neither features
/// nor a label. Throws as read_dataset().
[[nodiscard]] graph::Graph read_planetoid_graph(const std::string& folder,
                                                graph::BuildOptions options,
                                                exec::ThreadPool& pool);
[[nodiscard]] Dataset read_planetoid_dataset(const std::string& folder, std::uint64_t vertices,
                                             Contents contents = Contents::all);

/// True if a folder has Reddit's posts as the Deep Graph Library publishes them (Hamilton, Ying and
/// Leskovec, "Inductive representation learning on large graphs", NIPS 2017): reddit_data.npz
/// beside reddit_graph.npz or reddit_self_loop_graph.npz.
[[nodiscard]] bool is_dgl_folder(const std::string& folder);
/// Its edges as a graph, whatever their weights, of SciPy's matrix in COO, CSR or CSC form, and the
/// rest. Read in pieces as of read_ogb_graph(). Throws likewise.
[[nodiscard]] graph::Graph read_dgl_graph(const std::string& folder,
                                          const graph::BuildOptions& options,
                                          exec::ThreadPool& pool);
[[nodiscard]] Dataset read_dgl_dataset(const std::string& folder, std::uint64_t vertices,
                                       Contents contents = Contents::all,
                                       LabelForm form = LabelForm::automatic);

/// A dataset on a generated graph: the label of a vertex is its community's (200 vertices with
/// consecutive ids) modulo `classes`; features are dense, a mean of its class in +-1 and noise in
/// +-4, of f < 64 features in +-4 sqrt(f / 64), and of n < 20,000 vertices in sqrt(n / 20,000) of
/// that, half at least; 8% of the vertices are for training, 2% for
/// validation, the others for the test. Throws UsageError for no features or classes, and of
/// Contents::all for a split without vertices.
[[nodiscard]] Dataset generate_dataset(std::uint64_t vertices, std::uint64_t features,
                                       std::uint64_t classes, std::uint64_t seed,
                                       exec::ThreadPool& pool, Contents contents = Contents::all);

/// Where the first dense feature below 0 lies, counted row by row; nothing where there is none or
/// features are sparse.
[[nodiscard]] std::optional<std::uint64_t> first_negative(const Dataset& dataset);
/// Divides each row of the features by the sum of its elements' sizes; rows of zeros stay.
void normalize_rows(Dataset& dataset);
/// Makes sparse features dense where `share` of them or more are not zero, or always.
void make_dense(Dataset& dataset, double share);

/// Of labels in several columns: makes them classes as `form` says, and notes it where that was
/// found out. Throws InputError, naming `where`, for rows of several labels that were to be
/// classes, and for a column of classes that was to be several labels.
void settle_labels(Dataset& dataset, LabelForm form, const std::string& where);

/// The highest accuracy on validation that the same answer for all vertices reaches: the share of
/// the largest class; of several labels the best F1 of a fixed set of them.
[[nodiscard]] double chance_of(const Dataset& dataset);

/// Counts the splits and notes classes that no training vertex has. Throws InputError, naming
/// `where`, for an empty split.
void finish_dataset(Dataset& dataset, const std::string& where);

}  // namespace warren::learn
