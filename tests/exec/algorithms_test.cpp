// SPDX-License-Identifier: Apache-2.0
// Sorting, scanning and compacting against the standard library.
#include "warren/exec/algorithms.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "support/on_device.hpp"

namespace warren::exec {
namespace {

using testing_support::on_device;

constexpr std::uint64_t kSizes[] = {0, 1, 2, 31, 257, 2048, 70001};

template <class T>
std::vector<T> random_values(std::uint64_t size, T below, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(draw() % below);
  return values;
}

void check_pairs(const Stream& stream, std::uint64_t count, std::uint32_t below, int bits) {
  SCOPED_TRACE(std::to_string(count) + " pairs of keys below " + std::to_string(below) + ", " +
               std::to_string(bits) + " bits");
  const auto keys = random_values<std::uint32_t>(count, below, count);
  const auto values = random_values<std::uint32_t>(count, 1u << 31, count + 1);
  const auto keys_there = on_device(stream, keys), values_there = on_device(stream, values);
  memory::Buffer<std::uint32_t> sorted_keys(stream.device(), count);
  memory::Buffer<std::uint32_t> sorted_values(stream.device(), count);
  memory::Buffer<std::byte> scratch(stream.device(), sort_pairs_scratch(stream, count, bits));
  sort_pairs(stream, keys_there.data(), sorted_keys.data(), values_there.data(),
             sorted_values.data(), count, bits, scratch.data(), scratch.size());
  const std::uint32_t mask = bits >= 32 ? ~0u : (1u << bits) - 1;
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return (keys[a] & mask) < (keys[b] & mask);
  });
  const auto found_keys = sorted_keys.to_host(stream), found_values = sorted_values.to_host(stream);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(found_keys[i], keys[order[i]]) << "place " << i;
    ASSERT_EQ(found_values[i], values[order[i]]) << "place " << i;
  }
  EXPECT_EQ(keys_there.to_host(stream), keys);
  EXPECT_EQ(values_there.to_host(stream), values);
}

void check_keys(const Stream& stream, std::uint64_t count) {
  auto keys = random_values<std::uint64_t>(count, 1000, count);
  const auto there = on_device(stream, keys);
  memory::Buffer<std::uint64_t> spare(stream.device(), count);
  const std::uint64_t* sorted = sort_keys(stream, there.data(), spare.data(), count, 64);
  auto* unique = sorted == there.data() ? spare.data() : there.data();
  const std::uint64_t runs = unique_keys(stream, sorted, unique, count);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  ASSERT_EQ(runs, keys.size());
  auto found = (unique == there.data() ? there : spare).to_host(stream);
  found.resize(runs);
  EXPECT_EQ(found, keys);
}

void check_sums(const Stream& stream, std::uint64_t count) {
  const auto values = random_values<std::uint32_t>(count, 4294967295u, count);
  const auto there = on_device(stream, values);
  memory::Buffer<std::uint64_t> sums(stream.device(), count + 1);
  exclusive_sum(stream, there.data(), sums.data(), count);
  std::vector<std::uint64_t> expected(count + 1, 0);
  for (std::uint64_t i = 0; i < count; ++i) expected[i + 1] = expected[i] + values[i];
  EXPECT_EQ(sums.to_host(stream), expected);
}

void check_clearing(const Stream& stream) {
  // Words of every other range stay, also those next to a range's ends.
  std::vector<memory::Buffer<std::uint64_t>> buffers;
  std::vector<WordRange> ranges{{nullptr, 0}};
  for (const std::uint64_t count : kSizes) {
    buffers.push_back(on_device(stream, std::vector<std::uint64_t>(count + 2, 7)));
    ranges.push_back({buffers.back().data() + 1, count});
  }
  clear_words(stream, ranges);
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    std::vector<std::uint64_t> expected(kSizes[i] + 2, 0);
    expected.front() = expected.back() = 7;
    EXPECT_EQ(buffers[i].to_host(stream), expected) << kSizes[i];
  }
  clear_words(stream, {});
  EXPECT_THROW(clear_words(stream, std::vector<WordRange>(kMostRanges + 1)), UsageError);
}

void check_all(const Device& device) {
  const Stream stream(device);
  check_clearing(stream);
  for (const std::uint64_t count : kSizes) {
    for (const int bits : {1, 8, 11, 12, 22, 31, 32}) {
      check_pairs(stream, count, 4294967295u, bits);
      check_pairs(stream, count, 7, bits);
    }
    check_keys(stream, count);
    check_sums(stream, count);
  }
}

TEST(Algorithms, MatchTheStandardLibrary) { check_all(Device::cpu(2)); }

TEST(AlgorithmsCuda, MatchTheStandardLibrary) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_all(Device::cuda(0));
}

}  // namespace
}  // namespace warren::exec
