// SPDX-License-Identifier: Apache-2.0
// Row sorting. An entry's key is its target, with its weight in the lower half where there are
// weights, mapped so that unsigned order is the weights' order.
#include "graph/build_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace warren::graph::detail {
namespace {

constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint64_t kRank = 40;       // Longest row sorted by rank.
constexpr std::uint64_t kInsertion = 32;  // Longest run of 64-bit keys sorted by insertion.

std::uint32_t encode(std::int32_t weight) { return static_cast<std::uint32_t>(weight) ^ kSign; }
std::uint32_t encode(float weight) {
  const auto bits = std::bit_cast<std::uint32_t>(weight);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
template <class Weight>
Weight decode(std::uint32_t code) {
  if constexpr (std::is_same_v<Weight, float>) {
    return std::bit_cast<float>((code & kSign) != 0 ? code ^ kSign : ~code);
  } else {
    return static_cast<std::int32_t>(code ^ kSign);
  }
}

template <class Weight>
std::uint64_t key_of(const Columns<Weight>& columns, std::uint64_t i) {
  const std::uint64_t target = std::uint64_t{columns.targets[i]} << 32;
  if constexpr (std::is_same_v<Weight, NoWeight>) {
    return target;
  } else {
    return target | encode(columns.weights[i]);
  }
}

template <class Key>
void insertion_sort(Key* keys, std::uint64_t count) {
  for (std::uint64_t i = 1; i < count; ++i) {
    const Key key = keys[i];
    std::uint64_t hole = i;
    for (; hole > 0 && keys[hole - 1] > key; --hole) keys[hole] = keys[hole - 1];
    keys[hole] = key;
  }
}

// Every entry goes where the number of entries before it says: quadratic, but without an
// unpredictable branch, and the inner loop is vectorised. Entries count as signed to match the
// vector compare that every machine has.
void rank_sort(std::uint32_t* keys, std::uint64_t count) {
  std::array<std::int32_t, kRank> values;
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(keys[i] ^ kSign);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int32_t value = values[i];
    std::int32_t before = 0;
    for (std::uint64_t j = 0; j < i; ++j) before += values[j] <= value ? 1 : 0;
    for (std::uint64_t j = i + 1; j < count; ++j) before += values[j] < value ? 1 : 0;
    keys[before] = static_cast<std::uint32_t>(value) ^ kSign;
  }
}

// Sorts by bytes first_byte .. last_byte - 1, least significant first. Bytes that all keys share
// cost no pass.
template <class Key>
void radix_sort(Key* keys, Key* spare, std::uint64_t count, int first_byte, int last_byte) {
  std::array<std::array<std::uint32_t, 256>, sizeof(Key)> histogram{};
  for (std::uint64_t i = 0; i < count; ++i) {
    for (int b = first_byte; b < last_byte; ++b)
      ++histogram[static_cast<std::size_t>(b)][(keys[i] >> (8 * b)) & 255];
  }
  Key* from = keys;
  Key* to = spare;
  for (int b = first_byte; b < last_byte; ++b) {
    auto& start = histogram[static_cast<std::size_t>(b)];
    if (start[(from[0] >> (8 * b)) & 255] == count) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& s : start) sum += std::exchange(s, sum);
    for (std::uint64_t i = 0; i < count; ++i) to[start[(from[i] >> (8 * b)) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::memcpy(keys, from, count * sizeof(Key));
}

}  // namespace

template <class Weight>
RowSorter<Weight>::RowSorter(std::uint64_t vertices)
    : key_bytes_(vertices <= 1 ? 1 : (static_cast<int>(std::bit_width(vertices - 1)) + 7) / 8),
      scratch_(2 * kLocal) {}

template <class Weight>
void RowSorter<Weight>::sort(Columns<Weight> columns, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t count = end - begin;
  if (count < 2) return;
  if (count <= kLocal) {
    sort_local(columns, begin, count);
  } else {
    split(columns, begin, end, 32 + 8 * (key_bytes_ - 1));
  }
}

template <class Weight>
void RowSorter<Weight>::sort_local(Columns<Weight> columns, std::uint64_t begin,
                                   std::uint64_t count) {
  if constexpr (std::is_same_v<Weight, NoWeight>) {
    Vertex* row = columns.targets + begin;
    if (count <= kRank) {
      rank_sort(row, count);
    } else {
      radix_sort(row, reinterpret_cast<Vertex*>(scratch_.data()), count, 0, key_bytes_);
    }
  } else {
    Key* keys = scratch_.data();
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = key_of(columns, begin + i);
    if (count <= kInsertion) {
      insertion_sort(keys, count);
    } else {
      radix_sort(keys, keys + kLocal, count, 0, 4 + key_bytes_);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      columns.targets[begin + i] = static_cast<Vertex>(keys[i] >> 32);
      columns.weights[begin + i] = decode<Weight>(static_cast<std::uint32_t>(keys[i]));
    }
  }
}

template <class Weight>
void RowSorter<Weight>::split(Columns<Weight> columns, std::uint64_t begin, std::uint64_t end,
                              int shift) {
  const auto digit = [&](std::uint64_t i) { return (key_of(columns, i) >> shift) & 255; };
  std::array<std::uint64_t, 256> bound{};  // First the sizes, then the ends of the buckets.
  std::array<std::uint64_t, 256> next{};
  for (std::uint64_t i = begin; i < end; ++i) ++bound[digit(i)];
  std::uint64_t sum = begin;
  for (std::size_t d = 0; d < 256; ++d) {
    next[d] = sum;
    sum += bound[d];
    bound[d] = sum;
  }
  for (std::size_t d = 0; d < 256; ++d) {
    while (next[d] < bound[d]) {
      const std::uint64_t i = next[d];
      const std::uint64_t home = digit(i);
      if (home == d) {
        ++next[d];
        continue;
      }
      const std::uint64_t j = next[home]++;
      std::swap(columns.targets[i], columns.targets[j]);
      if constexpr (!std::is_same_v<Weight, NoWeight>)
        std::swap(columns.weights[i], columns.weights[j]);
    }
  }
  constexpr int kLastShift = std::is_same_v<Weight, NoWeight> ? 32 : 0;
  if (shift == kLastShift) return;
  for (std::size_t d = 0; d < 256; ++d) {
    const std::uint64_t first = d == 0 ? begin : bound[d - 1];
    const std::uint64_t count = bound[d] - first;
    if (count < 2) continue;
    if (count <= kLocal) {
      sort_local(columns, first, count);
    } else {
      split(columns, first, bound[d], shift - 8);
    }
  }
}

template class RowSorter<NoWeight>;
template class RowSorter<std::int32_t>;
template class RowSorter<float>;

}  // namespace warren::graph::detail
