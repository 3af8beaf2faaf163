// SPDX-License-Identifier: Apache-2.0
// Opening a .wgr file: the header is checked against the file, every block against its checksum,
// and the arrays for being a graph. The graph's arrays are then windows of the mapping.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/checksum.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/files/number.hpp"
#include "warren/graph/compressed_decode.hpp"

#include "graph/io/csr.hpp"
#include "graph/io/csr_words.hpp"
#include "graph/io/format.hpp"
#include "graph/io/wgr_table.hpp"

namespace warren::graph::io {
namespace {

using wgr::Header;
using wgr::name_of;
using wgr::Section;
using wgr::SectionKind;

void check_blocks(const MappedFile& file, const Header& header,
                  const std::vector<Section>& sections, exec::ThreadPool& pool) {
  const char* checksums = file.data() + header.checksums_offset;
  for (const Section& section : sections) {
    pool.parallel_for(0, wgr::blocks(section.bytes), 1, [&](std::uint64_t block, std::uint64_t) {
      const std::uint64_t begin = block * wgr::kBlockBytes;
      const std::uint64_t bytes = std::min<std::uint64_t>(wgr::kBlockBytes, section.bytes - begin);
      std::uint32_t expected;
      std::memcpy(&expected, checksums + (section.first_checksum + block) * 4, sizeof(expected));
      if (files::crc32_of(file.data() + section.offset + begin, bytes) != expected) {
        file.fail(section.offset + begin, fmt::format("the {} bytes from here, of section {}, "
                                                      "are damaged: their checksum does not match; "
                                                      "get the file anew",
                                                      bytes, name_of(section)));
      }
    });
  }
}

class Sections {
 public:
  Sections(std::shared_ptr<MappedFile> file, std::vector<Section> sections)
      : file_(std::move(file)), sections_(std::move(sections)) {
    wgr::refuse_unknown(file_->path(), sections_);
  }

  /// The array of a section, which must have `wanted` elements where that is said; nothing if there
  /// is no such section.
  template <class T>
  std::optional<memory::HostArray<T>> find(SectionKind kind,
                                           std::optional<std::uint64_t> wanted) const {
    const Section* const section = wgr::find_section(sections_, kind);
    if (section == nullptr) return std::nullopt;
    const std::uint64_t count = wanted.value_or(section->bytes / sizeof(T));
    wgr::check_size(*file_, *section, count, sizeof(T));
    // The mapping is read-only; so are the windows of it, by HostArray's rule.
    auto* data = reinterpret_cast<T*>(const_cast<char*>(file_->data() + section->offset));
    return memory::HostArray<T>(data, count, file_);
  }
  template <class T>
  memory::HostArray<T> need(SectionKind kind, std::optional<std::uint64_t> wanted,
                            const char* name) const {
    auto array = find<T>(kind, wanted);
    if (!array)
      throw InputError(
          fmt::format("{}: there is no section '{}'; get the file anew", file_->path(), name));
    return *array;
  }
  [[nodiscard]] std::uint64_t place(SectionKind kind) const {
    const Section* const section = wgr::find_section(sections_, kind);
    return section == nullptr ? 0 : section->offset;
  }

 private:
  std::shared_ptr<MappedFile> file_;
  std::vector<Section> sections_;
};

// A file whose header and checksums are right.
struct CheckedFile {
  Header header;
  Sections sections;
};

CheckedFile open_checked(const std::string& path, std::uint64_t max_vertices,
                         exec::ThreadPool& pool,
                         MappedFile::Pipes pipes = MappedFile::Pipes::refused) {
  auto file = std::make_shared<MappedFile>(path, pipes);
  const Header header = wgr::read_header(*file, max_vertices);
  std::vector<Section> table = wgr::read_sections(*file, header);
  check_blocks(*file, header, table, pool);
  return {header, Sections(std::move(file), std::move(table))};
}

// What both kinds of graphs have besides neighbour lists.
template <class AnyGraph>
void read_common(const CheckedFile& file, bool read_weights, const std::string& path,
                 AnyGraph& graph) {
  const Header& header = file.header;
  graph.vertices = static_cast<Vertex>(header.vertices);
  graph.symmetry = static_cast<Symmetry>(header.symmetry);
  const auto weights = static_cast<WeightType>(header.weight_type);
  if (read_weights && weights != WeightType::none) {
    graph.weight_type = weights;
    if (weights == WeightType::int32) {
      graph.weights_int =
          file.sections.need<std::int32_t>(SectionKind::weights_int, header.edges, "weights");
    } else {
      graph.weights_float =
          file.sections.need<float>(SectionKind::weights_float, header.edges, "weights");
    }
  }
  if (auto ids = file.sections.find<std::uint64_t>(SectionKind::original_ids, header.vertices))
    graph.original_ids = *ids;
  AscendingIds(path).look(graph.original_ids.span());
}

CompressedGraph compressed_graph(const CheckedFile& file, bool read_weights,
                                 const std::string& path, exec::ThreadPool& pool) {
  const auto parameters = file.sections.need<wgr::CompressedParameters>(
      SectionKind::compressed_parameters, 1, "compressed_parameters")[0];
  if (parameters.block != kCompressedBlock || parameters.group != kCompressedGroup) {
    throw InputError(
        fmt::format("{}: byte {}: compressed lists in blocks of {} and groups of {}; this program "
                    "reads blocks of {} and groups of {}",
                    path, file.sections.place(SectionKind::compressed_parameters), parameters.block,
                    parameters.group, kCompressedBlock, kCompressedGroup));
  }
  CompressedGraph graph;
  graph.edge_count = file.header.edges;
  graph.smallest_gap = parameters.smallest_gap;
  graph.widths = parameters.widths;
  graph.groups = file.sections.need<CompressedGroup>(SectionKind::compressed_groups, std::nullopt,
                                                     "compressed_groups");
  graph.fields = file.sections.need<std::uint32_t>(SectionKind::compressed_fields, std::nullopt,
                                                   "compressed_fields");
  graph.stream = file.sections.need<std::uint32_t>(SectionKind::compressed_lists, std::nullopt,
                                                   "compressed_lists");
  read_common(file, read_weights, path, graph);
  validate(graph, path, pool);
  return graph;
}

}  // namespace

Graph read_warren(const ReadRequest& request) {
  const CheckedFile file =
      open_checked(request.path, request.max_vertices, request.pool, pipes_of(request.kind));
  if (static_cast<WeightType>(file.header.weight_type) != WeightType::none) note_weights(request);
  const Sections& sections = file.sections;
  if (file.header.version == wgr::kCompressedVersion) {
    Graph graph =
        decompress(compressed_graph(file, request.options.read_weights, request.path, request.pool),
                   request.pool);
    const CsrPlaces places{[](std::uint64_t i) { return fmt::format("vertex {}", i); },
                           [](std::uint64_t i) { return fmt::format("edge {}", i); }};
    return finish_csr(std::move(graph), request.path, places, request.options.build, request.pool);
  }
  Graph graph;
  graph.offsets =
      sections.need<EdgeOffset>(SectionKind::offsets, file.header.vertices + 1, "offsets");
  graph.targets = sections.need<Vertex>(SectionKind::targets, file.header.edges, "targets");
  read_common(file, request.options.read_weights, request.path, graph);
  const CsrPlaces places{
      [&](std::uint64_t i) {
        return fmt::format("byte {}",
                           sections.place(SectionKind::offsets) + i * sizeof(EdgeOffset));
      },
      [&](std::uint64_t i) {
        return fmt::format("byte {}", sections.place(SectionKind::targets) + i * sizeof(Vertex));
      }};
  return finish_csr(std::move(graph), request.path, places, request.options.build, request.pool);
}

}  // namespace warren::graph::io

namespace warren::graph {

std::optional<CompressedGraph> read_compressed(const std::string& path, bool read_weights,
                                               exec::ThreadPool& pool) {
  if (io::required_kind(path).format != io::FileFormat::warren) return std::nullopt;
  if (io::wgr::read_header(files::MappedFile(path), kMaxVertices).version !=
      io::wgr::kCompressedVersion)
    return std::nullopt;
  return io::compressed_graph(io::open_checked(path, kMaxVertices, pool), read_weights, path, pool);
}

}  // namespace warren::graph
