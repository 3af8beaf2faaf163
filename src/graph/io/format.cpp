// SPDX-License-Identifier: Apache-2.0
// From file names to formats, and from formats to readers.
#include "graph/io/format.hpp"

#include <string_view>
#include <utility>

#include "warren/core/error.hpp"

namespace warren::graph {
namespace io {
namespace {

struct Suffix {
  std::string_view text;
  FileFormat format;
  bool is_text;
};

constexpr Suffix kSuffixes[] = {
    {".mtx", FileFormat::matrix_market, true},
    {".el", FileFormat::edge_list, true},
    {".wel", FileFormat::weighted_edge_list, true},
    {".txt", FileFormat::snap, true},
    {".tsv", FileFormat::snap, true},
    {".gr", FileFormat::dimacs, true},
    {".graph", FileFormat::metis, true},
    {".sg", FileFormat::gap, false},
    {".wsg", FileFormat::gap_weighted, false},
    {".npz", FileFormat::scipy, false},
    {".wgr", FileFormat::warren, false},
};

}  // namespace

std::optional<FileKind> file_kind(const std::string& path) {
  std::string_view name = path;
  Compression compression = Compression::none;
  if (name.ends_with(".gz")) {
    compression = Compression::gzip;
    name.remove_suffix(3);
  } else if (name.ends_with(".zst")) {
    compression = Compression::zstd;
    name.remove_suffix(4);
  }
  for (const Suffix& suffix : kSuffixes) {
    if (name.ends_with(suffix.text) && (suffix.is_text || compression == Compression::none)) {
      return FileKind{suffix.format, compression};
    }
  }
  return std::nullopt;
}

Graph read_file(const ReadRequest& request) {
  switch (request.kind.format) {
    case FileFormat::edge_list:
    case FileFormat::weighted_edge_list:
    case FileFormat::snap:
      return read_edge_list(request);
    case FileFormat::matrix_market:
      return read_matrix_market(request);
    case FileFormat::dimacs:
      return read_dimacs(request);
    case FileFormat::metis:
      return read_metis(request);
    case FileFormat::gap:
    case FileFormat::gap_weighted:
      return read_gap(request);
    case FileFormat::scipy:
      return read_scipy(request);
    case FileFormat::warren:
      return read_warren(request);
  }
  throw UsageError("no such graph format");
}

FileKind required_kind(const std::string& path) {
  const std::optional<FileKind> kind = file_kind(path);
  if (!kind) {
    throw InputError(path +
                     ": the name does not say which format this is; graph files end in .mtx, .el, "
                     ".wel, .txt, .tsv, .gr, .graph (these "
                     "also with .gz or .zst), .sg, .wsg, .npz or .wgr");
  }
  return *kind;
}

}  // namespace io

bool is_graph_file_name(const std::string& path) { return io::file_kind(path).has_value(); }

Graph read_graph(const std::string& path, const ReadOptions& options, exec::ThreadPool& pool) {
  return io::read_file({path, io::required_kind(path), options, pool});
}

}  // namespace warren::graph
