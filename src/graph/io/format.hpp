// SPDX-License-Identifier: Apache-2.0
// Which format a file's name stands for, and what the readers of all formats share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/core/types.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/files/decompressor.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/graph/io.hpp"

namespace warren::graph::io {

using files::Compression;
using files::MappedFile;

enum class FileFormat {
  edge_list,           ///< .el: two columns.
  weighted_edge_list,  ///< .wel: three columns.
  snap,                ///< .txt, .tsv: two columns or three, the same number on all lines.
  csv,                 ///< .csv: the same, perhaps under headings.
  matrix_market,       ///< .mtx
  dimacs,              ///< .gr
  metis,               ///< .graph
  gap,                 ///< .sg
  gap_weighted,        ///< .wsg
  scipy,               ///< .npz
  edge_index,          ///< .npy
  warren               ///< .wgr
};

struct FileKind {
  FileFormat format;
  Compression compression;
};

/// Nothing if the name ends as no format's does, or a binary format carries .gz or .zst.
[[nodiscard]] std::optional<FileKind> file_kind(const std::string& path);
/// Of a name as format names end, without the dot ("el"). Throws UsageError.
[[nodiscard]] FileKind named_kind(const std::string& format);
/// The same of a path; throws InputError where the name says nothing, whose text ends with
/// `otherwise`.
[[nodiscard]] FileKind required_kind(const std::string& path, const std::string& otherwise = {});

/// Whether what is read may be a pipe.
[[nodiscard]] inline MappedFile::Pipes pipes_of(const FileKind& kind) {
  return kind.compression == Compression::from_content ? MappedFile::Pipes::read
                                                       : MappedFile::Pipes::refused;
}

/// What a reader is asked for.
struct ReadRequest {
  const std::string& path;
  FileKind kind;
  const ReadOptions& options;
  exec::ThreadPool& pool;
  std::uint64_t max_vertices = kMaxVertices;  ///< Files with more are refused.
};

/// Of a file that has weights.
inline void note_weights(const ReadRequest& request) {
  const ReadOptions& options = request.options;
  if (!options.read_weights && options.weights != nullptr) options.weights->are_unread = true;
}

[[nodiscard]] Graph read_file(const ReadRequest& request);

[[nodiscard]] Graph read_edge_list(const ReadRequest& request);
[[nodiscard]] Graph read_matrix_market(const ReadRequest& request);
[[nodiscard]] Graph read_dimacs(const ReadRequest& request);
[[nodiscard]] Graph read_metis(const ReadRequest& request);
[[nodiscard]] Graph read_gap(const ReadRequest& request);
[[nodiscard]] Graph read_scipy(const ReadRequest& request);
[[nodiscard]] Graph read_edge_index(const ReadRequest& request);
[[nodiscard]] Graph read_warren(const ReadRequest& request);

}  // namespace warren::graph::io
