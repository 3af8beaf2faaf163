// SPDX-License-Identifier: Apache-2.0
// What is checked when: the header, its tables and original ids as the file is opened; of the rest
// what a rank is about to look at, block by block. Blocks that two ranks have some of are checked
// by both.
#include "warren/graph/row_file.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/csr_words.hpp"
#include "graph/io/wgr_table.hpp"

namespace warren::graph {
namespace {

namespace wgr = io::wgr;

constexpr std::uint64_t kCheckedRows = std::uint64_t{1} << 13;
constexpr std::uint64_t kCheckedOffsets = std::uint64_t{1} << 16;

}  // namespace

RowFile::RowFile(const std::string& path, bool reads_weights)
    : file_(std::make_shared<files::MappedFile>(path)) {
  const wgr::Header header = wgr::read_header(*file_, kMaxVertices);
  const std::vector<wgr::Section> sections = wgr::read_sections(*file_, header);
  require(header.version == wgr::kVersion,
          path + ": its neighbour lists are compressed, and are not read by ranges");
  require((header.flags & wgr::rows_sorted) != 0,
          path + ": the file does not say that the neighbours of a vertex ascend");
  wgr::refuse_unknown(path, sections);
  mark_ = {header.vertices, header.edges, header.file_bytes, header.header_crc,
           header.checksums_crc};
  may_have_self_loops_ = (header.flags & wgr::no_self_loops) == 0;
  may_have_parallel_edges_ = (header.flags & wgr::no_parallel_edges) == 0;
  has_weights_ = static_cast<WeightType>(header.weight_type) != WeightType::none;
  wgr::check_edges(*file_, header);

  auto graph = std::make_shared<Graph>();
  // The mapping is read-only; so are the windows of it, by HostArray's rule.
  const auto open = [&]<class T>(wgr::SectionKind kind, std::uint64_t count, const char* name,
                                 memory::HostArray<T>& array, Place& place) {
    const wgr::Section* const section =
        wgr::section_of(*file_, sections, kind, count, sizeof(T), name);
    if (section == nullptr) return;
    place.offset = section->offset;
    place.bytes = section->bytes;
    place.checksums = wgr::checksums_of(*file_, header, *section);
    auto* const data = reinterpret_cast<T*>(const_cast<char*>(file_->data() + section->offset));
    array = memory::HostArray<T>(data, count, file_);
  };
  using enum wgr::SectionKind;
  graph->vertices = static_cast<Vertex>(header.vertices);
  graph->symmetry = static_cast<Symmetry>(header.symmetry);
  open(offsets, header.vertices + 1, "offsets", graph->offsets, offsets_);
  open(targets, header.edges, "targets", graph->targets, targets_);
  open(original_ids, header.vertices, nullptr, graph->original_ids, ids_);
  if (reads_weights) graph->weight_type = static_cast<WeightType>(header.weight_type);
  if (graph->weight_type == WeightType::int32)
    open(weights_int, header.edges, "weights", graph->weights_int, weights_);
  if (graph->weight_type == WeightType::float32)
    open(weights_float, header.edges, "weights", graph->weights_float, weights_);
  graph_ = std::move(graph);
  check_ids();
}

void RowFile::check_blocks(const Place& place, std::uint64_t begin, std::uint64_t end,
                           exec::ThreadPool& pool) const {
  if (begin >= end) return;
  const std::uint64_t first = begin / wgr::kBlockBytes;
  const std::uint64_t last = (end - 1) / wgr::kBlockBytes;
  pool.parallel_for(first, last + 1, 1, [&](std::uint64_t block, std::uint64_t) {
    wgr::check_block(*file_, place.offset, place.bytes, place.checksums, block,
                     file_->data() + place.offset + block * wgr::kBlockBytes);
  });
}

void RowFile::check_ids() const {
  if (ids_.bytes == 0) return;
  const memory::HostArray<std::uint64_t>& ids = graph_->original_ids;
  constexpr std::uint64_t kIds = wgr::kBlockBytes / sizeof(std::uint64_t);
  exec::ThreadPool alone(1);
  io::AscendingIds looked(path());
  for (std::uint64_t begin = 0; begin < ids.size(); begin += kIds) {
    const std::uint64_t end = std::min(begin + kIds, ids.size());
    check_blocks(ids_, begin * sizeof ids[0], end * sizeof ids[0], alone);
    looked.look(ids.span().subspan(begin, end - begin));
    file_->drop(ids_.offset + begin * sizeof ids[0], (end - begin) * sizeof ids[0]);
  }
}

void RowFile::check_offsets(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const {
  const std::uint64_t begin_byte = first * sizeof(EdgeOffset);
  const std::uint64_t end_byte = (end + 1) * sizeof(EdgeOffset);
  file_->will_read(offsets_.offset + begin_byte, end_byte - begin_byte);
  check_blocks(offsets_, begin_byte, end_byte, pool);
  check_ascent(first, end, pool);
}

void RowFile::check_ascent(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const {
  const memory::HostArray<EdgeOffset>& row = graph_->offsets;
  const auto fail = [&](std::uint64_t v, const std::string& message) {
    file_->fail(offsets_.offset + v * sizeof(EdgeOffset), message);
  };
  if (first == 0 && row[0] != 0) fail(0, io::first_row_words(row[0]));
  pool.parallel_for(first, end, kCheckedOffsets, [&](std::uint64_t begin, std::uint64_t stop) {
    for (std::uint64_t v = begin; v < stop; ++v) {
      if (row[v] <= row[v + 1] && row[v + 1] <= edges()) continue;
      fail(v + 1, io::row_words(v, row[v], row[v + 1], edges()));
    }
  });
  if (end == vertices() && row[end] != edges()) fail(end, io::last_row_words(row[end], edges()));
}

void RowFile::check_rows(std::uint64_t first, std::uint64_t end, bool no_negative_weights,
                         exec::ThreadPool& pool) const {
  check_offsets(first, end, pool);
  const EdgeOffset begin_edge = graph_->offsets[first], end_edge = graph_->offsets[end];
  const auto check = [&](const Place& place, std::uint64_t width) {
    file_->will_read(place.offset + begin_edge * width, (end_edge - begin_edge) * width);
    check_blocks(place, begin_edge * width, end_edge * width, pool);
  };
  check(targets_, sizeof(Vertex));
  check_targets(first, end, pool);
  if (weight_type() == WeightType::none) return;
  check(weights_, sizeof(float));
  if (no_negative_weights) check_weights(first, end, pool);
}

void RowFile::check_targets(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const {
  const auto fail = [&](EdgeOffset e, const std::string& message) {
    file_->fail(targets_.offset + e * sizeof(Vertex), message);
  };
  pool.parallel_for(first, end, kCheckedRows, [&](std::uint64_t begin, std::uint64_t stop) {
    for (std::uint64_t v = begin; v < stop; ++v) {
      std::uint64_t next = 0;  // The least that may come.
      for (EdgeOffset e = graph_->offsets[v]; e < graph_->offsets[v + 1]; ++e) {
        const std::uint64_t target = graph_->targets[e];
        if (target >= vertices())
          fail(e, fmt::format("an edge of vertex {} leads to vertex {}; ids go from 0 to {}", v,
                              target, vertices() - 1));
        if (target < next)
          fail(e, fmt::format("neighbour {} of vertex {} stands behind {}, and the header says "
                              "that neighbours ascend{}; write the file anew (warren convert)",
                              target, v, next - (may_have_parallel_edges_ ? 0 : 1),
                              may_have_parallel_edges_ ? "" : " and none is there twice"));
        if (target == v && !may_have_self_loops_)
          fail(e, fmt::format("vertex {} has an edge to itself, and the header says that none has; "
                              "write the file anew (warren convert)",
                              v));
        next = may_have_parallel_edges_ ? target : target + 1;
      }
    }
  });
}

void RowFile::check_weights(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const {
  const bool is_integer = weight_type() == WeightType::int32;
  pool.parallel_for(first, end, kCheckedRows, [&](std::uint64_t begin, std::uint64_t stop) {
    for (std::uint64_t v = begin; v < stop; ++v) {
      for (EdgeOffset e = graph_->offsets[v]; e < graph_->offsets[v + 1]; ++e) {
        const double weight =
            is_integer ? graph_->weights_int[e] : static_cast<double>(graph_->weights_float[e]);
        if (weight >= 0.0) continue;
        throw InputError(fmt::format(
            "{}: the edge from {} to {} has the weight {}; weights of 0 and above are needed here",
            path(), graph_->original_id(static_cast<Vertex>(v)),
            graph_->original_id(graph_->targets[e]), weight));
      }
    }
  });
}

}  // namespace warren::graph
