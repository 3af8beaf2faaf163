// SPDX-License-Identifier: Apache-2.0
// Compressing neighbour lists: the gaps are counted by their number of bits, the widths chosen, the
// sizes of all lists added up, and the lists written, each group of vertices from a byte of its own
// on so that threads never share one.
#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/compressed_decode.hpp"

#include "graph/compressed_size.hpp"
#include "graph/selector_widths.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kGrain = 64;  // Groups that a thread takes at a time.

std::uint32_t to_zigzag(std::uint32_t value) { return value << 1 ^ (0u - (value >> 31)); }

std::uint64_t groups_of(std::uint64_t vertices) {
  return (vertices + kCompressedGroup - 1) / kCompressedGroup;
}

struct GroupRange {
  std::uint64_t begin, end;  // Vertices.
};
GroupRange vertices_of(const Graph& graph, std::uint64_t group) {
  return {group * kCompressedGroup,
          std::min<std::uint64_t>((group + 1) * kCompressedGroup, graph.vertices)};
}

/// Writes bits from the first of a byte on.
class BitWriter {
 public:
  explicit BitWriter(unsigned char* at) : begin_(at), at_(at) {}
  void put(std::uint32_t value, std::uint32_t width) {
    held_ |= std::uint64_t{value} << held_bits_;
    held_bits_ += width;
    if (held_bits_ < 32) return;
    std::memcpy(at_, &held_, 4);
    at_ += 4;
    held_ >>= 32;
    held_bits_ -= 32;
  }
  void put_wide(std::uint64_t value, std::uint32_t width) {
    if (width > 32) {
      put(static_cast<std::uint32_t>(value), 32);
      value >>= 32;
      width -= 32;
    }
    put(static_cast<std::uint32_t>(value), width);
  }
  /// Bits written.
  [[nodiscard]] std::uint64_t bits() const {
    return static_cast<std::uint64_t>(at_ - begin_) * 8 + held_bits_;
  }
  /// Writes what is held, its last byte filled up with zeros.
  void finish() { std::memcpy(at_, &held_, bytes_of_bits(held_bits_)); }

 private:
  unsigned char* begin_;
  unsigned char* at_;
  std::uint64_t held_ = 0;
  std::uint32_t held_bits_ = 0;
};

/// The code of one graph.
class Encoder {
 public:
  Encoder(const Graph& graph, const std::array<SelectorWidths, kDegreeClasses>& widths,
          std::uint32_t smallest_gap)
      : graph_(graph), smallest_gap_(smallest_gap) {
    for (std::uint32_t c = 0; c < kDegreeClasses; ++c) choices_[c] = SelectorChoice(widths[c]);
  }

  /// Bits of a vertex's list.
  [[nodiscard]] std::uint64_t list_bits(Vertex vertex) const {
    const std::span<const Vertex> list = graph_.neighbours(vertex);
    if (list.empty()) return 0;
    std::uint64_t bits = (compressed_blocks(list.size()) - 1) * kBlockPlaceBits;
    for (std::uint64_t begin = 0; begin < list.size(); begin += kCompressedBlock)
      bits += block_bits(vertex, list, begin);
    return bits;
  }

  void write(Vertex vertex, BitWriter& out) const {
    const std::span<const Vertex> list = graph_.neighbours(vertex);
    if (list.empty()) return;
    std::uint64_t place = (compressed_blocks(list.size()) - 1) * kBlockPlaceBits;
    for (std::uint64_t begin = 0; begin + kCompressedBlock < list.size();
         begin += kCompressedBlock) {
      place += block_bits(vertex, list, begin);
      out.put_wide(place, kBlockPlaceBits);
    }
    for (std::uint64_t begin = 0; begin < list.size(); begin += kCompressedBlock)
      write_block(vertex, list, begin, out);
  }

 private:
  [[nodiscard]] std::uint32_t number(Vertex vertex, std::span<const Vertex> list,
                                     std::uint64_t i) const {
    return i % kCompressedBlock == 0 ? to_zigzag(list[i] - vertex)
                                     : list[i] - list[i - 1] - smallest_gap_;
  }
  [[nodiscard]] std::uint64_t block_bits(Vertex vertex, std::span<const Vertex> list,
                                         std::uint64_t begin) const {
    const SelectorChoice& choice = choices_[degree_class(list.size())];
    const std::uint64_t end = std::min<std::uint64_t>(begin + kCompressedBlock, list.size());
    std::uint64_t bits = 2 * (end - begin);
    for (std::uint64_t i = begin; i < end; ++i) bits += choice.width_for(number(vertex, list, i));
    return bits;
  }
  void write_block(Vertex vertex, std::span<const Vertex> list, std::uint64_t begin,
                   BitWriter& out) const {
    const SelectorChoice& choice = choices_[degree_class(list.size())];
    const std::uint64_t end = std::min<std::uint64_t>(begin + kCompressedBlock, list.size());
    for (std::uint64_t i = begin; i < end; ++i)
      out.put(choice.selector_for(number(vertex, list, i)), 2);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t value = number(vertex, list, i);
      out.put(value, choice.width_for(value));
    }
  }

  const Graph& graph_;
  std::uint32_t smallest_gap_;
  std::array<SelectorChoice, kDegreeClasses> choices_;
};

/// Numbers by class of degree and bit length, with gaps as they are and less 1.
struct GapCounts {
  GapHistogram as_is{};
  GapHistogram less_one{};
  bool has_equal = false;
};

GapCounts count_gaps(const Graph& graph, exec::ThreadPool& pool) {
  GapCounts total;
  std::uint64_t first_unsorted = graph.vertices;
  std::mutex mutex;
  pool.parallel_for(
      0, groups_of(graph.vertices), kGrain * 16, [&](std::uint64_t begin, std::uint64_t end) {
        GapCounts mine;
        std::uint64_t unsorted = graph.vertices;
        for (std::uint64_t v = vertices_of(graph, begin).begin; v < vertices_of(graph, end - 1).end;
             ++v) {
          const std::span<const Vertex> list = graph.neighbours(static_cast<Vertex>(v));
          auto& as_is = mine.as_is[degree_class(list.size())];
          auto& less_one = mine.less_one[degree_class(list.size())];
          for (std::uint64_t i = 0; i < list.size(); ++i) {
            if (i % kCompressedBlock == 0) {
              const auto bits = std::bit_width(to_zigzag(list[i] - static_cast<Vertex>(v)));
              ++as_is[static_cast<std::size_t>(bits)];
              ++less_one[static_cast<std::size_t>(bits)];
            }
            if (i == 0) continue;
            if (list[i] < list[i - 1]) {
              unsorted = std::min(unsorted, v);
              break;
            }
            const std::uint32_t gap = list[i] - list[i - 1];
            mine.has_equal |= gap == 0;
            if (i % kCompressedBlock == 0) continue;
            ++as_is[static_cast<std::size_t>(std::bit_width(gap))];
            ++less_one[static_cast<std::size_t>(std::bit_width(gap - (gap > 0 ? 1 : 0)))];
          }
        }
        const std::scoped_lock lock(mutex);
        add(total.as_is, mine.as_is);
        add(total.less_one, mine.less_one);
        total.has_equal |= mine.has_equal;
        first_unsorted = std::min(first_unsorted, unsorted);
      });
  if (first_unsorted < graph.vertices) {
    throw UsageError(
        fmt::format("compress: the neighbours of vertex {} do not ascend; sort the lists first",
                    first_unsorted));
  }
  return total;
}

/// Sizes of the groups, then where each begins.
struct GroupSizes {
  std::uint64_t bytes = 0, words = 0;
};
GroupSizes place_groups(const Graph& graph, const Encoder& encoder, CompressedGraph& result,
                        exec::ThreadPool& pool) {
  const std::uint64_t groups = groups_of(graph.vertices);
  pool.parallel_for(0, groups, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t g = begin; g < end; ++g) {
      const GroupRange range = vertices_of(graph, g);
      std::uint64_t bits = 0;
      for (std::uint64_t v = range.begin; v < range.end; ++v)
        bits += encoder.list_bits(static_cast<Vertex>(v));
      const std::uint64_t edges = graph.offsets[range.end] - graph.offsets[range.begin];
      const std::uint64_t bytes = bytes_of_bits(bits);
      if (bytes > CompressedGroup::kMostBytes) {
        throw UsageError(
            fmt::format("compress: the lists of vertices {} to {} take {} bytes; {} "
                        "would fit",
                        range.begin, range.end - 1, bytes, CompressedGroup::kMostBytes));
      }
      result.groups[g] =
          CompressedGroup::make(0, bytes, 0, static_cast<std::uint32_t>(std::bit_width(edges)),
                                static_cast<std::uint32_t>(std::bit_width(bits)));
    }
  });
  GroupSizes total;
  for (std::uint64_t g = 0; g < groups; ++g) {
    const CompressedGroup size = result.groups[g];
    result.groups[g] = CompressedGroup::make(graph.offsets[g * kCompressedGroup], total.bytes,
                                             total.words, size.edge_width(), size.bit_width());
    total.bytes += size.bytes();
    total.words += field_words(size);
    if (total.bytes > CompressedGroup::kMostBytes || total.words > CompressedGroup::kMostWords) {
      throw UsageError(
          fmt::format("compress: the lists take more than {} bytes, or their index "
                      "more than {} words",
                      CompressedGroup::kMostBytes, CompressedGroup::kMostWords));
    }
  }
  return total;
}

void write_group(const Graph& graph, const Encoder& encoder, std::uint64_t index,
                 CompressedGraph& result) {
  const CompressedGroup group = result.groups[index];
  const GroupRange range = vertices_of(graph, index);
  BitWriter fields(reinterpret_cast<unsigned char*>(result.fields.data() + group.word()));
  BitWriter stream(reinterpret_cast<unsigned char*>(result.stream.data()) + group.bytes());
  for (std::uint64_t v = range.begin; v < range.end; ++v) {
    encoder.write(static_cast<Vertex>(v), stream);
    fields.put_wide(graph.offsets[v + 1] - graph.offsets[range.begin], group.edge_width());
    fields.put_wide(stream.bits(), group.bit_width());
  }
  fields.finish();
  stream.finish();
}

}  // namespace

CompressedGraph compress(const Graph& graph, exec::ThreadPool& pool) {
  if (graph.edges() > CompressedGroup::kMostEdges) {
    throw UsageError(fmt::format("compress: {} edges; {} would fit", graph.edges(),
                                 CompressedGroup::kMostEdges));
  }
  CompressedGraph result;
  result.vertices = graph.vertices;
  result.edge_count = graph.edges();
  result.weight_type = graph.weight_type;
  result.weights_int = graph.weights_int;
  result.weights_float = graph.weights_float;
  result.symmetry = graph.symmetry;
  result.original_ids = graph.original_ids;

  const GapCounts gaps = count_gaps(graph, pool);
  result.smallest_gap = gaps.has_equal ? 0 : 1;
  result.widths = choose_widths(gaps.has_equal ? gaps.as_is : gaps.less_one);

  const Encoder encoder(graph, result.widths, result.smallest_gap);
  result.groups = memory::HostArray<CompressedGroup>(groups_of(graph.vertices));
  const GroupSizes sizes = place_groups(graph, encoder, result, pool);
  result.fields = memory::HostArray<std::uint32_t>(sizes.words + kPaddingWords);
  result.stream = memory::HostArray<std::uint32_t>(stream_words(sizes.bytes));
  // What no group writes: padding, the tail of the last word, the ends of vertices past the last.
  std::fill(result.stream.data() + sizes.bytes / 4, result.stream.end(), 0u);
  const std::uint64_t last_word = result.groups.empty() ? 0 : result.groups.end()[-1].word();
  std::fill(result.fields.data() + last_word, result.fields.end(), 0u);
  pool.parallel_for(0, result.groups.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t g = begin; g < end; ++g) write_group(graph, encoder, g, result);
  });
  return result;
}

}  // namespace warren::graph
