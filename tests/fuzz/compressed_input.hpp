// SPDX-License-Identifier: Apache-2.0
// One input of the fuzz target of compressed lists. The first byte says what the others are: the
// arrays of a CompressedGraph, which are refused or read the same in every way; or neighbour lists,
// which come back as they were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/transform.hpp"

namespace warren::graph {

/// What stands in front of the arrays of an input; the stream is what follows groups and fields.
struct CompressedInputHeader {
  std::uint32_t vertices;
  std::uint32_t edges;
  std::uint32_t smallest_gap;
  std::uint32_t field_words;
  std::array<SelectorWidths, kDegreeClasses> widths;
};

/// Elements on the heap, no more than there are: a sanitizer sees what reads past them.
template <class T>
memory::HostArray<T> exact_array(const std::uint8_t* data, std::size_t count) {
  auto elements = std::make_shared<std::vector<T>>(count);
  if (count != 0) std::memcpy(elements->data(), data, count * sizeof(T));
  T* first = elements->data();
  return memory::HostArray<T>(first, count, std::move(elements));
}

[[noreturn]] inline void fail_input(const char* message) {
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

/// All ways to read give the same lists, which are those of a graph.
inline void read_in_every_way(const CompressedGraph& packed, exec::ThreadPool& pool) {
  const Graph graph = decompress(packed, pool);
  try {
    validate(graph, "lists", pool);
  } catch (const Error&) {
    fail_input("lists of what is no graph were let pass");
  }
  const CompressedView view = packed.view();
  const exec::Serial worker;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const auto list = graph.neighbours(v);
    const CompressedRow row = view.row(v);
    if (row.degree != list.size() || !std::is_sorted(list.begin(), list.end()))
      fail_input("a list that does not ascend, or of another length");
    const EdgeOffset first = row.degree / 2;
    for_each_neighbour(worker, view, row, first, row.degree,
                       [&](bool active, EdgeOffset k, Vertex target) {
                         if (active && list[k] != target) fail_input("two ways to read differ");
                       });
    for (std::uint64_t b = 0; b < compressed_blocks(row.degree); ++b) {
      const CompressedBlock block = view.block(row, b);
      for_each_in_blocks(worker, view, block, block.count,
                         [&](bool active, std::uint32_t, std::uint32_t k, Vertex target) {
                           if (active && list[b * kCompressedBlock + k] != target)
                             fail_input("two ways to read differ");
                         });
    }
    if (!list.empty() && find_neighbour(worker, view, row, first, [&](Vertex target) {
                           return target == list[first];
                         }) != list[first]) {
      fail_input("a neighbour was not found");
    }
  }
}

inline void read_arrays(const std::uint8_t* data, std::size_t size, exec::ThreadPool& pool) {
  constexpr std::uint32_t kMostVertices = 1u << 12;  // Time and memory stay small.
  CompressedInputHeader header;
  if (size < sizeof(header)) return;
  std::memcpy(&header, data, sizeof(header));
  data += sizeof(header);
  size -= sizeof(header);
  const std::size_t groups = (std::size_t{header.vertices} + 31) / 32;
  if (header.vertices > kMostVertices || size / sizeof(CompressedGroup) < groups) return;
  const std::size_t rest = size - groups * sizeof(CompressedGroup);
  if (rest / 4 < header.field_words) return;
  CompressedGraph packed;
  packed.vertices = header.vertices;
  packed.edge_count = header.edges;
  packed.smallest_gap = header.smallest_gap;
  packed.widths = header.widths;
  packed.groups = exact_array<CompressedGroup>(data, groups);
  data += groups * sizeof(CompressedGroup);
  packed.fields = exact_array<std::uint32_t>(data, header.field_words);
  packed.stream = exact_array<std::uint32_t>(data + std::size_t{4} * header.field_words,
                                             rest / 4 - header.field_words);
  try {
    validate(packed, "input", pool);
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    if (!message.starts_with("input: ") || message.find('\n') != std::string_view::npos)
      fail_input("not a message for users");
    return;
  }
  read_in_every_way(packed, pool);
}

/// The first ten bits are the number of vertices; then each byte is a gap, shifted by its high
/// bits, that ends the list where it is 0xff.
inline void read_lists(const std::uint8_t* data, std::size_t size, exec::ThreadPool& pool) {
  if (size < 2) return;
  Graph graph;
  graph.vertices = std::uint32_t{data[0] & 3u} << 8 | data[1];
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> targets;
  std::uint64_t target = 0;
  bool fits = true;
  for (std::size_t i = 2; i < size && offsets.size() <= graph.vertices; ++i) {
    if (data[i] == 0xff) {
      offsets.push_back(targets.size());
      target = 0;
      continue;
    }
    target += std::uint64_t{data[i] & 31u} << (data[i] >> 5) * 3;
    fits = fits && target < graph.vertices;
    if (target >= kNoVertex) continue;
    targets.push_back(static_cast<Vertex>(target));
  }
  offsets.resize(std::size_t{graph.vertices} + 1, targets.size());
  offsets.back() = targets.size();
  graph.offsets = exact_array<EdgeOffset>(reinterpret_cast<const std::uint8_t*>(offsets.data()),
                                          offsets.size());
  graph.targets = exact_array<Vertex>(reinterpret_cast<const std::uint8_t*>(targets.data()),
                                      graph.vertices == 0 ? 0 : targets.size());
  if (graph.vertices == 0) graph.offsets[0] = 0;
  const CompressedGraph packed = compress(graph, pool);
  const Graph back = decompress(packed, pool);
  if (!std::ranges::equal(back.offsets.span(), graph.offsets.span()) ||
      !std::ranges::equal(back.targets.span(), graph.targets.span())) {
    fail_input("lists did not come back as they were");
  }
  if (!fits) return;
  try {
    validate(packed, "lists", pool);
  } catch (const InputError& error) {
    fail_input(error.what());
  }
  read_in_every_way(packed, pool);
}

inline void read_compressed_input(const std::uint8_t* data, std::size_t size) {
  static exec::ThreadPool pool(1);
  if (size == 0) return;
  if (data[0] % 2 == 0) {
    read_arrays(data + 1, size - 1, pool);
  } else {
    read_lists(data + 1, size - 1, pool);
  }
}

}  // namespace warren::graph
