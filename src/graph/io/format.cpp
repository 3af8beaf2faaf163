// SPDX-License-Identifier: Apache-2.0
// From file names to formats, and from formats to readers.
#include "graph/io/format.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"

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
    {".csv", FileFormat::csv, true},
    {".gr", FileFormat::dimacs, true},
    {".graph", FileFormat::metis, true},
    {".sg", FileFormat::gap, false},
    {".wsg", FileFormat::gap_weighted, false},
    {".npz", FileFormat::scipy, false},
    {".npy", FileFormat::edge_index, false},
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

namespace {

Graph read_as(const ReadRequest& request) {
  switch (request.kind.format) {
    case FileFormat::edge_list:
    case FileFormat::weighted_edge_list:
    case FileFormat::snap:
    case FileFormat::csv:
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
    case FileFormat::edge_index:
      return read_edge_index(request);
    case FileFormat::warren:
      return read_warren(request);
  }
  throw UsageError("no such graph format");
}

}  // namespace

Graph read_file(const ReadRequest& request) {
  try {
    return read_as(request);
  } catch (const InputError& error) {
    // What is wrong with edges in general does not know whose they are.
    const std::string message = error.what();
    if (message.starts_with(request.path)) throw;
    throw InputError(request.path + ": " + message);
  }
}

FileKind named_kind(const std::string& format) {
  std::vector<std::string> known;
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text.substr(1) == format) return {suffix.format, Compression::from_content};
    known.emplace_back(suffix.text.substr(1));
  }
  throw UsageError(fmt::format("--format \"{}\" is unknown{}; there is: {}", format,
                               did_you_mean(format, known), fmt::join(known, ", ")));
}

FileKind required_kind(const std::string& path, const std::string& otherwise) {
  const std::optional<FileKind> kind = file_kind(path);
  if (!kind) {
    throw InputError(path +
                     ": the name does not say which format this is; graph files end in .mtx, .el, "
                     ".wel, .txt, .tsv, .csv, .gr, .graph (these "
                     "also with .gz or .zst), .sg, .wsg, .npz, .npy or .wgr" +
                     otherwise);
  }
  return *kind;
}

}  // namespace io

const std::string kStandardInput = "/dev/stdin";

bool is_graph_file_name(const std::string& path) { return io::file_kind(path).has_value(); }

void check_format(const std::string& format) { (void)io::named_kind(format); }

Graph read_graph(const std::string& path, const ReadOptions& options, exec::ThreadPool& pool) {
  const std::string& file = path == "-" ? kStandardInput : path;
  const io::FileKind kind = options.format.empty()
                                ? io::required_kind(path, "; or say it with --format")
                                : io::named_kind(options.format);
  return io::read_file({file, kind, options, pool});
}

}  // namespace warren::graph
