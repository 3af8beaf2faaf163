// SPDX-License-Identifier: Apache-2.0
// Graph files: every format of the command line, read and written. The format follows from the
// file's name, or is named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/compressed.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph {

/// What a reader tells of the weights in a file.
struct WeightReport {
  bool are_unread = false;  ///< There are some, and `read_weights` is false.
  /// Set by who asks: numbers with a few decimals may come out as int32 weights, each so many times
  /// as large as `scale` says, if that holds all of the file's exactly.
  bool takes_decimals = false;
  std::int32_t scale = 1;
  /// The first weight that float32 does not hold exactly, and its place: "line 3: 0.1 ..."; empty
  /// where there is none, or weights are integers.
  std::string first_rounded;
  /// The same of numbers with more than six digits, which float32 does not give back.
  std::string first_lost;
  /// The largest |w - float32(w)| / |w| of the file's weights w; 0 where there is none, or weights
  /// are integers. Sums of non-negative weights are off by that much at most.
  double rounding = 0.0;
};

struct ReadOptions {
  BuildOptions build;
  /// The format, as names of files end: "el". Then `path` may be a pipe, and "-" is standard input;
  /// text may be compressed. Empty: the name says it.
  std::string format;
  bool one_based = false;  ///< Edge lists number from 1.
  bool compact = false;    ///< Edge lists: only ids that occur are vertices.
  /// Of .npy, which cannot say how many vertices there are: so many at least.
  std::uint64_t least_vertices = 0;
  /// Edge lists whose ids are words: takes the words, one a vertex. Without it they are refused.
  std::vector<std::string>* words = nullptr;
  bool are_words = false;            ///< Edge lists: all ids are words, numbers too.
  std::optional<bool> has_headings;  ///< Edge lists: whether the first line is one of headings;
                                     ///< else the first two lines tell.
  bool read_weights = true;          ///< false: weights in the file are ignored.
  bool no_negative_weights = false;  ///< Of text: the first line with one is refused.
  WeightReport* weights = nullptr;   ///< Where given: is told of the file's weights.
};

/// True if `path` ends as one of the formats does: .mtx .el .wel .txt .tsv .csv .gr .graph .sg .wsg
/// .npz .npy .wgr, the text ones also with .gz or .zst.
[[nodiscard]] bool is_graph_file_name(const std::string& path);

/// Throws UsageError unless `format` is one that ReadOptions takes.
void check_format(const std::string& format);

/// Reads a graph with `pool`'s threads; the result does not depend on how many there are. Edge
/// lists keep the file's ids as original_ids where those differ from the vertices' (compact,
/// one_based); their columns may stand between blanks, tabs, commas or semicolons, in quotes, and
/// under a line of headings, and their ids may be words, which become vertices in the order in
/// which they are first named. Other formats that number from 1 come out numbered from 0. Formats
/// that say they are undirected come out symmetric, and are refused if they are not. .npy is an
/// array of integers, 2 x edges (sources above targets) or edges x 2 (2 x 2: the former), without
/// weights. Weights are int32 where every token is an integer, else float32 (a weight past the
/// range of either is refused). .wgr is memory mapped and its arrays must not be written. Throws
/// InputError whose message names file, line or byte, and what would be right; MemoryError.
[[nodiscard]] Graph read_graph(const std::string& path, const ReadOptions& options,
                               exec::ThreadPool& pool);

/// Writes `graph` in the format that `path` names and returns the bytes written. The file appears
/// whole or not at all: it is written beside its place and renamed. Edge lists get original_ids,
/// and a "# Nodes:" comment where the number of vertices would be lost without. .el and .sg leave
/// weights out, with a warning; .wel, .wsg and .gr write 1 where there are none, with a warning.
/// .npz data of booleans is a graph without weights. Throws InputError when the file cannot be
/// written, for .npy, and when the format cannot hold the graph: .graph directed graphs and
/// self-loops; .gr, .graph and .wsg weights that are no integers.
std::uint64_t write_graph(const Graph& graph, const std::string& path, exec::ThreadPool& pool);

/// The graph of a .wgr file with compressed neighbour lists, memory mapped, its arrays not to be
/// written; nothing if `path` names another format or a .wgr file with plain lists. Lists are as
/// they stand in the file: parallel edges are not merged. Everything is checked as by read_graph(),
/// which reads such files too, and decompresses them. Throws InputError, MemoryError.
[[nodiscard]] std::optional<CompressedGraph> read_compressed(const std::string& path,
                                                             bool read_weights,
                                                             exec::ThreadPool& pool);

/// Writes a .wgr file with compressed neighbour lists and returns the bytes written. The file
/// appears whole or not at all. Throws UsageError for a name of another format, InputError when the
/// file cannot be written.
std::uint64_t write_compressed(const CompressedGraph& graph, const std::string& path,
                               exec::ThreadPool& pool);

}  // namespace warren::graph
