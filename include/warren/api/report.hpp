// SPDX-License-Identifier: Apache-2.0
// Reports of what calls found: the JSON object that the command line writes (docs/command-line.md
// has the fields), in one line, and the lines that it prints for people. A report looks at a
// result's arrays, in host memory, only for what its figures do not tell. Of a result without
// arrays and figures these fields are left out. Throws MemoryError, and DeviceError where arrays
// cannot be copied to the host.
#pragma once

#include <span>
#include <string>

#include "warren/api/partition.hpp"
#include "warren/api/statistics.hpp"
#include "warren/api/traverse.hpp"
#include "warren/api/vertex_names.hpp"

namespace warren {

/// "device", "host", "compressed-host" or "file".
[[nodiscard]] const char* name_of(Edges edges);
/// What a call ran on, for people: "cpu, 2 ranks, 4 threads", "NVIDIA H200, 4 ranks".
[[nodiscard]] std::string place_of(const RunInfo& info);

/// What is known of a run before it has found anything: where it runs, and which program of which
/// machine made it when.
[[nodiscard]] std::string to_json(const std::string& command, const RunInfo& info);

[[nodiscard]] std::string to_json(const VertexNames& names, const BfsOptions& options,
                                  const BfsResult& result);
/// Of searches one after another, which differ in their sources alone: the fields of the first one,
/// and `sources`, an object each. None are no report: throws UsageError.
[[nodiscard]] std::string to_json(const VertexNames& names, const BfsOptions& options,
                                  std::span<const BfsResult> results);
[[nodiscard]] std::string to_text(const VertexNames& names, const BfsOptions& options,
                                  const BfsResult& result);
/// A table, with a line for each search.
[[nodiscard]] std::string to_text(const VertexNames& names, const BfsOptions& options,
                                  std::span<const BfsResult> results);

[[nodiscard]] std::string to_json(const VertexNames& names, const BfsTogetherResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const BfsTogetherResult& result);

/// Distances are in the units of the weights' file (SsspResult::scale). A sum of integers past 64
/// bits is text, in a field of its own.
[[nodiscard]] std::string to_json(const VertexNames& names, const SsspOptions& options,
                                  const SsspResult& result);
[[nodiscard]] std::string to_json(const VertexNames& names, const SsspOptions& options,
                                  std::span<const SsspResult> results);
[[nodiscard]] std::string to_text(const VertexNames& names, const SsspOptions& options,
                                  const SsspResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const SsspOptions& options,
                                  std::span<const SsspResult> results);

[[nodiscard]] std::string to_json(const VertexNames& names, const ComponentsResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const ComponentsResult& result);

/// `top` has PageRankResult::top, or the ten largest ranks where that is empty.
[[nodiscard]] std::string to_json(const VertexNames& names, const PageRankOptions& options,
                                  const PageRankResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const PageRankResult& result);

[[nodiscard]] std::string to_json(const VertexNames& names, const BetweennessOptions& options,
                                  const BetweennessResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const BetweennessResult& result);

[[nodiscard]] std::string to_json(const VertexNames& names, const CoreNumbersResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const CoreNumbersResult& result);

[[nodiscard]] std::string to_json(const VertexNames& names, const TrianglesResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const TrianglesResult& result);

[[nodiscard]] std::string to_json(const VertexNames& names, const StatisticsResult& result);
[[nodiscard]] std::string to_text(const VertexNames& names, const StatisticsResult& result);

/// `parts`, `method` and `workgroup` are the options'.
[[nodiscard]] std::string to_json(const Graph& graph, const PartitionOptions& options,
                                  const PartitionResult& result);
[[nodiscard]] std::string to_text(const Graph& graph, const PartitionOptions& options,
                                  const PartitionResult& result);

/// `order` is the options'.
[[nodiscard]] std::string to_json(const Graph& graph, const ReorderOptions& options,
                                  const ReorderResult& result);
[[nodiscard]] std::string to_text(const Graph& graph, const ReorderOptions& options,
                                  const ReorderResult& result);

/// `path`: the file that a graph was saved as.
[[nodiscard]] std::string to_json(const std::string& path, const SaveResult& result);
[[nodiscard]] std::string to_text(const std::string& path, const SaveResult& result);

/// Writes a line for every vertex: its id and its values, as the command line's --output does. Of
/// searches depth and parent, or the distance, and -1 where a vertex was not reached; else the
/// label, rank, score or count. As write_vertex_lines().
void save(const VertexNames& names, const BfsResult& result, const std::string& path);
void save(const VertexNames& names, const SsspResult& result, const std::string& path);
void save(const VertexNames& names, const ComponentsResult& result, const std::string& path);
void save(const VertexNames& names, const PageRankResult& result, const std::string& path);
void save(const VertexNames& names, const BetweennessResult& result, const std::string& path);
void save(const VertexNames& names, const CoreNumbersResult& result, const std::string& path);
void save(const VertexNames& names, const TrianglesResult& result, const std::string& path);

}  // namespace warren
