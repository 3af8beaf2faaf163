// SPDX-License-Identifier: Apache-2.0
// The writers of all formats. Each writes the whole graph into a file that its caller commits;
// InputError where the format cannot hold the graph, or the file cannot be written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/files/text_output.hpp"
#include "warren/graph/graph.hpp"

#include "graph/io/format.hpp"

namespace warren::graph::io {

struct WriteRequest {
  const Graph& graph;
  const std::string& path;
  FileKind kind;
  exec::ThreadPool& pool;
};

void write_edge_list(const WriteRequest& request, OutputFile& file);
void write_matrix_market(const WriteRequest& request, OutputFile& file);
void write_dimacs(const WriteRequest& request, OutputFile& file);
void write_metis(const WriteRequest& request, OutputFile& file);
void write_gap(const WriteRequest& request, OutputFile& file);
void write_scipy(const WriteRequest& request, OutputFile& file);
void write_warren(const WriteRequest& request, OutputFile& file);

/// Weights as formats hold them that know integers only: those of the graph, floats that are
/// integers as such, and 1 where there are none. Throws InputError for a float that is no integer
/// of 32 bits.
[[nodiscard]] memory::HostArray<std::int32_t> integer_weights(const WriteRequest& request);

/// True if the graph is known to be symmetric, or is found to be.
[[nodiscard]] bool is_undirected(const WriteRequest& request);

}  // namespace warren::graph::io
