// SPDX-License-Identifier: Apache-2.0
// Compressed lists turned back into plain ones, and the check that they can be.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/compressed_decode.hpp"

#include "graph/compressed_size.hpp"
#include "graph/selector_widths.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kDecompressGrain = 64;  // Groups that a thread takes at a time.

/// Checks a graph of which nothing is believed; whatever is read was checked before.
class Checker {
 public:
  Checker(const CompressedGraph& graph, const std::string& name) : graph_(graph), name_(name) {}

  void check(exec::ThreadPool& pool) const {
    check_sizes();
    pool.parallel_for(0, graph_.groups.size(), kDecompressGrain,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        for (std::uint64_t g = begin; g < end; ++g) check_group(g);
                      });
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError(name_ + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  void check_sizes() const {
    const std::uint64_t n = graph_.vertices;
    const std::uint64_t groups = n / kCompressedGroup + (n % kCompressedGroup != 0 ? 1 : 0);
    if (graph_.groups.size() != groups) {
      fail("{} records in the index of the compressed lists of {} vertices; there should be {}",
           graph_.groups.size(), n, groups);
    }
    if (graph_.fields.size() < kPaddingWords || graph_.stream.size() < kPaddingWords)
      fail("the compressed lists or their index end before the two words that close them");
    if (graph_.smallest_gap > 1)
      fail("the smallest gap is {}; 0 or 1 would be right", graph_.smallest_gap);
    for (const SelectorWidths widths : graph_.widths) {
      for (std::uint32_t s = 0; s < kSelectors; ++s) {
        if (selected_width(widths, s) > 32)
          fail("a width of {} bits; there are 32 at most", selected_width(widths, s));
      }
    }
    const CompressedGroup first = groups == 0 ? CompressedGroup{} : graph_.groups[0];
    if (first.edges() != 0 || first.bytes() != 0 || first.word() != 0)
      fail("the index of the compressed lists does not begin with edge, byte and word 0");
    if (groups == 0 && graph_.edge_count != 0) fail("edges without vertices");
    const std::uint64_t m = graph_.edge_count;
    const std::uint64_t ints = graph_.weight_type == WeightType::int32 ? m : 0;
    const std::uint64_t floats = graph_.weight_type == WeightType::float32 ? m : 0;
    if (graph_.weights_int.size() != ints || graph_.weights_float.size() != floats)
      fail("not as many weights as edges");
    if (!graph_.original_ids.empty() && graph_.original_ids.size() != n)
      fail("{} original ids for {} vertices", graph_.original_ids.size(), n);
  }

  void check_group(std::uint64_t index) const {
    const CompressedGroup group = graph_.groups[index];
    const std::uint64_t first = index * kCompressedGroup;
    const std::uint64_t last = std::min<std::uint64_t>(first + kCompressedGroup, graph_.vertices);
    const std::uint64_t words = graph_.fields.size() - kPaddingWords;
    if (group.edge_width() > 40 || group.word() > words ||
        field_words(group) > words - group.word()) {
      fail("the index of vertices {} to {} lies outside its section", first, last - 1);
    }
    const std::uint32_t* packed = graph_.fields.data() + group.word();
    std::uint64_t place = 0, edges = 0, bits = 0;
    for (std::uint64_t v = first; v < last; ++v) {
      const std::uint64_t edge_end = read_wide_bits(packed, place, group.edge_width());
      place += group.edge_width();
      const std::uint64_t bit_end = read_wide_bits(packed, place, group.bit_width());
      place += group.bit_width();
      // 2^43 bits are what the bytes of a group can be, so that sums stay in 64 bits.
      if (edge_end < edges || bit_end < bits || bit_end >> 43 != 0)
        fail("the edges or the list of vertex {} end before those of the vertex before", v);
      check_list(v, group.bytes() * 8 + bits, bit_end - bits, edge_end - edges);
      edges = edge_end;
      bits = bit_end;
    }
    check_next(index, last,
               {group.edges() + edges, group.bytes() + bytes_of_bits(bits),
                group.word() + field_words(group)});
  }

  struct Ends {
    std::uint64_t edges, bytes, words;
  };
  /// What follows a group begins where the group ends.
  void check_next(std::uint64_t index, std::uint64_t vertex, const Ends& ends) const {
    if (index + 1 < graph_.groups.size()) {
      const CompressedGroup next = graph_.groups[index + 1];
      if (next.edges() != ends.edges || next.bytes() != ends.bytes || next.word() != ends.words) {
        fail(
            "vertex {} begins with edge {}, byte {} and word {} of its sections; {}, {} and {} "
            "would be right",
            vertex, next.edges(), next.bytes(), next.word(), ends.edges, ends.bytes, ends.words);
      }
    } else if (ends.edges != graph_.edge_count ||
               stream_words(ends.bytes) != graph_.stream.size() ||
               ends.words + kPaddingWords != graph_.fields.size()) {
      fail(
          "the compressed lists end with edge {}, byte {} and word {} of their index; {} edges, "
          "{} and {} words would be right",
          ends.edges, ends.bytes, ends.words, graph_.edge_count, graph_.stream.size(),
          graph_.fields.size());
    }
  }

  [[noreturn]] void fail_list(std::uint64_t vertex, std::uint64_t begin) const {
    fail("the list of vertex {}, at byte {} of the compressed lists, is damaged", vertex,
         begin / 8);
  }

  /// The list of bits [begin, begin + size) holds `degree` neighbours below n, and nothing else.
  void check_list(std::uint64_t vertex, std::uint64_t begin, std::uint64_t size,
                  std::uint64_t degree) const {
    const std::uint64_t words = graph_.stream.size() - kPaddingWords;
    // Two bits for each neighbour at least: products stay small.
    if (begin > words * 32 || size > words * 32 - begin || degree > size / 2 + 1)
      fail_list(vertex, begin);
    if (degree == 0) {
      if (size != 0) fail_list(vertex, begin);
      return;
    }
    const std::uint64_t blocks = compressed_blocks(degree);
    std::uint64_t place = (blocks - 1) * kBlockPlaceBits;
    if (place > size) fail_list(vertex, begin);
    std::uint64_t last = 0;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      if (b > 0 && read_wide_bits(graph_.stream.data(), begin + (b - 1) * kBlockPlaceBits,
                                  kBlockPlaceBits) != place) {
        fail_list(vertex, begin);
      }
      const auto count = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(degree - b * kCompressedBlock, kCompressedBlock));
      const CompressedBlock block{begin + place, begin + size, count, static_cast<Vertex>(vertex),
                                  graph_.widths[degree_class(degree)]};
      const std::uint64_t bits = block_bits(block, size - place);
      if (bits > size - place || !ascends(block, last, b > 0)) fail_list(vertex, begin);
      place += bits;
    }
    if (place != size) fail_list(vertex, begin);
  }

  /// Bits of a block whose selectors fit into `room`; more than `room` where they do not.
  [[nodiscard]] std::uint64_t block_bits(const CompressedBlock& block, std::uint64_t room) const {
    std::uint64_t bits = std::uint64_t{2} * block.count;
    if (bits > room) return room + 1;
    for (std::uint32_t k = 0; k < block.count; ++k) {
      bits += selected_width(block.widths,
                             read_bits(graph_.stream.data(), block.bits + std::uint64_t{2} * k, 2));
    }
    return bits;
  }

  /// The block's neighbours are below n and ascend from `last` on, which becomes its last.
  [[nodiscard]] bool ascends(const CompressedBlock& block, std::uint64_t& last,
                             bool has_before) const {
    CompressedView view;
    view.stream = graph_.stream.data();
    view.smallest_gap = graph_.smallest_gap;
    CompressedCursor cursor(view, block);
    for (std::uint32_t k = 0; k < block.count; ++k) {
      // A gap that wraps around 2^32 comes out smaller, or as none where the smallest is 1.
      const std::uint64_t target = cursor.next();
      const bool first = k == 0 && !has_before;
      if (target >= graph_.vertices || (!first && target < last + graph_.smallest_gap))
        return false;
      last = target;
    }
    return true;
  }

  const CompressedGraph& graph_;
  const std::string& name_;
};

}  // namespace

CompressedView CompressedGraph::view() const {
  CompressedView view;
  view.groups = groups.data();
  view.fields = fields.data();
  view.stream = stream.data();
  view.weights_int = weights_int.empty() ? nullptr : weights_int.data();
  view.weights_float = weights_float.empty() ? nullptr : weights_float.data();
  view.first = 0;
  view.count = vertices;
  view.smallest_gap = smallest_gap;
  std::copy(widths.begin(), widths.end(), view.widths);
  return view;
}

Graph decompress(const CompressedGraph& graph, exec::ThreadPool& pool) {
  Graph result;
  result.vertices = graph.vertices;
  result.offsets = memory::HostArray<EdgeOffset>(std::uint64_t{graph.vertices} + 1);
  result.targets = memory::HostArray<Vertex>(graph.edges());
  result.weight_type = graph.weight_type;
  result.weights_int = graph.weights_int;
  result.weights_float = graph.weights_float;
  result.symmetry = graph.symmetry;
  result.original_ids = graph.original_ids;
  result.offsets[graph.vertices] = graph.edges();
  const CompressedView view = graph.view();
  pool.parallel_for(0, graph.vertices, kDecompressGrain * kCompressedGroup,
                    [&](std::uint64_t begin, std::uint64_t end) {
                      for (std::uint64_t v = begin; v < end; ++v) {
                        const CompressedRow row = view.row(static_cast<Vertex>(v));
                        result.offsets[v] = row.edge;
                        Vertex* out = result.targets.data() + row.edge;
                        for (std::uint64_t b = 0; b < compressed_blocks(row.degree); ++b) {
                          const CompressedBlock block = view.block(row, b);
                          CompressedCursor cursor(view, block);
                          for (std::uint32_t k = 0; k < block.count; ++k) *out++ = cursor.next();
                        }
                      }
                    });
  return result;
}

void validate(const CompressedGraph& graph, const std::string& name, exec::ThreadPool& pool) {
  Checker(graph, name).check(pool);
}

}  // namespace warren::graph
