// SPDX-License-Identifier: Apache-2.0
// What the name of a graph means: a generator, a file, a dataset's folder or a dataset's name; and
// what a choice of weights does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"

namespace warren::api {

struct GraphPlace {
  std::optional<graph::GeneratorSpec> generator;
  std::string path;                  ///< The file; empty for a generator.
  std::string names;                 ///< A dataset's names.txt, or empty.
  std::vector<std::string> files;    ///< All that a dataset's folder has for its readers.
  std::uint64_t least_vertices = 0;  ///< Of a dataset's .npy: graph::ReadOptions.

  /// True if the file's lines are edges, whose ids are the user's. With `format` it is one of that.
  [[nodiscard]] bool is_edge_list(const std::string& format) const;
  /// True if the file holds a matrix (.mtx, .npz, .wgr), whose values are meant to be multiplied.
  [[nodiscard]] bool is_matrix() const;
};

/// What `name` names, in the order above. With `format`, a file, a pipe or standard input ("-"),
/// whatever it is called. Throws UsageError, InputError.
[[nodiscard]] GraphPlace find_graph(const std::string& name, const std::string& format,
                                    std::uint64_t seed);

/// read() of what `name` was found to name. Messages name options as the command line does.
[[nodiscard]] Graph read_place(const GraphPlace& place, const std::string& name,
                               const ReadOptions& options);

/// The weights of "uniform:LO:HI"; nothing for "file" and no weights at all. Throws UsageError,
/// which calls the choice `option`.
[[nodiscard]] std::optional<graph::UniformWeights> parse_weights(const std::string& text,
                                                                 const std::string& option,
                                                                 std::uint64_t seed = 1);

/// Draws weights where `text` says so. Throws InputError where it says "file", and the graph, which
/// `name` names, has none.
void set_weights(graph::Graph& graph, const std::string& name, const std::string& text,
                 const std::string& option, std::uint64_t seed, exec::ThreadPool& pool);

}  // namespace warren::api
