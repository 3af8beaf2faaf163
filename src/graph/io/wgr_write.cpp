// SPDX-License-Identifier: Apache-2.0
// Writing .wgr files, with plain or compressed neighbour lists.
#include <algorithm>
#include <atomic>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/checksum.hpp"
#include "warren/graph/compressed.hpp"

#include "graph/io/wgr_layout.hpp"
#include "graph/io/write.hpp"

namespace warren::graph {
namespace io {
namespace {

constexpr std::uint64_t kWgrGrain = std::uint64_t{1} << 16;

// A section of a .wgr file and the array it comes from.
struct Part {
  wgr::Section section{};
  const char* data = nullptr;
};

template <class T>
Part make_part(std::string_view name, wgr::SectionKind kind, const T* data, std::uint64_t size) {
  Part part;
  std::copy(name.begin(), name.end(), part.section.name.begin());
  part.section.kind = static_cast<std::uint32_t>(kind);
  part.section.required = 1;
  part.section.bytes = size * sizeof(T);
  part.data = reinterpret_cast<const char*>(data);
  return part;
}

template <class T>
Part make_part(std::string_view name, wgr::SectionKind kind, const memory::HostArray<T>& array) {
  return make_part(name, kind, array.data(), array.size());
}

// What both kinds of graphs have besides neighbour lists.
template <class AnyGraph>
void add_common_parts(const AnyGraph& graph, std::vector<Part>& parts) {
  using wgr::SectionKind;
  if (graph.weight_type == WeightType::int32) {
    parts.push_back(make_part("weights", SectionKind::weights_int, graph.weights_int));
  }
  if (graph.weight_type == WeightType::float32) {
    parts.push_back(make_part("weights", SectionKind::weights_float, graph.weights_float));
  }
  if (!graph.original_ids.empty()) {
    parts.push_back(make_part("original_ids", SectionKind::original_ids, graph.original_ids));
  }
}

template <class AnyGraph>
wgr::Header make_header(const AnyGraph& graph, std::uint32_t version, std::uint32_t flags) {
  wgr::Header header{};
  header.magic = wgr::kMagic;
  header.byte_order = wgr::kByteOrder;
  header.version = version;
  header.vertices = graph.vertices;
  header.edges = graph.edges();
  header.weight_type = static_cast<std::uint32_t>(graph.weight_type);
  header.symmetry = static_cast<std::uint32_t>(graph.symmetry);
  header.flags = flags;
  header.block_bytes = wgr::kBlockBytes;
  return header;
}

std::uint32_t row_flags(const Graph& graph, exec::ThreadPool& pool) {
  std::atomic<bool> unsorted{false}, parallel{false}, loops{false};
  pool.parallel_for(0, graph.vertices, kWgrGrain, [&](std::uint64_t begin, std::uint64_t end) {
    bool has_loop = false;
    for (std::uint64_t v = begin; v < end; ++v) {
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        has_loop |= graph.targets[e] == v;
        if (e == graph.offsets[v]) continue;
        if (graph.targets[e] < graph.targets[e - 1]) unsorted = true;
        if (graph.targets[e] == graph.targets[e - 1]) parallel = true;
      }
    }
    if (has_loop) loops = true;
  });
  return (unsorted ? 0u : wgr::rows_sorted) | (unsorted || parallel ? 0u : wgr::no_parallel_edges) |
         (loops ? 0u : wgr::no_self_loops);
}

// Places the sections, sums them up, and writes all.
void write_parts(wgr::Header header, std::vector<Part> parts, OutputFile& file,
                 exec::ThreadPool& pool) {
  std::uint64_t checksum_count = 0;
  for (Part& part : parts) {
    part.section.first_checksum = checksum_count;
    checksum_count += wgr::blocks(part.section.bytes);
  }
  header.sections = static_cast<std::uint32_t>(parts.size());
  header.checksums_offset = sizeof(wgr::Header) + parts.size() * sizeof(wgr::Section);
  header.checksums_bytes = checksum_count * sizeof(std::uint32_t);
  std::uint64_t offset = header.checksums_offset + header.checksums_bytes;
  for (Part& part : parts) {
    offset = part.section.offset = wgr::aligned(offset);
    offset += part.section.bytes;
  }
  header.file_bytes = offset;

  std::vector<std::uint32_t> checksums(checksum_count);
  std::vector<wgr::Section> table;
  for (const Part& part : parts) {
    table.push_back(part.section);
    const std::uint64_t blocks = wgr::blocks(part.section.bytes);
    pool.parallel_for(0, blocks, 1, [&](std::uint64_t block, std::uint64_t) {
      const std::uint64_t begin = block * wgr::kBlockBytes;
      checksums[part.section.first_checksum + block] = files::crc32_of(
          part.data + begin, std::min<std::uint64_t>(wgr::kBlockBytes, part.section.bytes - begin));
    });
  }
  header.checksums_crc = files::crc32_of(checksums.data(), header.checksums_bytes);
  header.header_crc = files::crc32_of(table.data(), table.size() * sizeof(wgr::Section),
                                      files::crc32_of(&header, offsetof(wgr::Header, header_crc)));

  file.write(&header, sizeof(header));
  file.write(table.data(), table.size() * sizeof(wgr::Section));
  file.write(checksums.data(), header.checksums_bytes);
  for (const Part& part : parts) {
    file.fill_up_to(part.section.offset);
    file.write(part.data, part.section.bytes);
  }
  file.fill_up_to(header.file_bytes);
}

}  // namespace

void write_warren(const WriteRequest& request, OutputFile& file) {
  using wgr::SectionKind;
  const Graph& graph = request.graph;
  std::vector<Part> parts;
  parts.push_back(make_part("offsets", SectionKind::offsets, graph.offsets));
  parts.push_back(make_part("targets", SectionKind::targets, graph.targets));
  add_common_parts(graph, parts);
  write_parts(make_header(graph, wgr::kVersion, row_flags(graph, request.pool)), std::move(parts),
              file, request.pool);
}

}  // namespace io

std::uint64_t write_compressed(const CompressedGraph& graph, const std::string& path,
                               exec::ThreadPool& pool) {
  namespace wgr = io::wgr;
  using wgr::SectionKind;
  if (io::required_kind(path).format != io::FileFormat::warren) {
    throw UsageError(path + ": only a .wgr file holds compressed neighbour lists; name one");
  }
  if (graph.vertices == 0) {
    throw InputError(path + ": the graph has no vertices; a file holds at least one");
  }
  wgr::CompressedParameters parameters{};
  parameters.block = kCompressedBlock;
  parameters.group = kCompressedGroup;
  parameters.smallest_gap = graph.smallest_gap;
  parameters.widths = graph.widths;
  std::vector<io::Part> parts;
  parts.push_back(
      io::make_part("compressed_parameters", SectionKind::compressed_parameters, &parameters, 1));
  parts.push_back(io::make_part("compressed_groups", SectionKind::compressed_groups, graph.groups));
  parts.push_back(io::make_part("compressed_fields", SectionKind::compressed_fields, graph.fields));
  parts.push_back(io::make_part("compressed_lists", SectionKind::compressed_lists, graph.stream));
  io::add_common_parts(graph, parts);
  const std::uint32_t flags =
      wgr::rows_sorted | (graph.smallest_gap == 0 ? 0u : wgr::no_parallel_edges);
  OutputFile file(path);
  io::write_parts(io::make_header(graph, wgr::kCompressedVersion, flags), std::move(parts), file,
                  pool);
  return file.commit();
}

}  // namespace warren::graph
