// SPDX-License-Identifier: Apache-2.0
// Sums of bags of rows against plain loops, on teams of every size.
#include "warren/sparse/lookup.hpp"

#include <random>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/partition.hpp"

#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

using testing_support::on_device;
using testing_support::random_dense;
using testing_support::strided;

template <class T>
void check(team::Team& team, std::uint64_t rows, std::uint64_t k, memory::Placement placement) {
  SCOPED_TRACE(std::to_string(team.size()) + " ranks, k " + std::to_string(k));
  const exec::Stream stream(team.device());
  const auto cuts = graph::dealt_cuts(rows, team.size());
  const auto values = random_dense(rows * k, 3);
  memory::GlobalArray<T> table(team, cuts, k, placement);
  const auto all = strided<T>(values, k, k);
  const auto mine = placement == memory::Placement::replicated
                        ? std::span<const T>(all)
                        : std::span<const T>(all).subspan(table.view().first() * k,
                                                          table.view().local_rows() * k);
  table.buffer().upload(stream, mine);
  std::mt19937_64 random(static_cast<std::uint64_t>(team.rank()) + 1);
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> indices;
  std::uint64_t remote = 0;
  for (const std::uint64_t length : {3, 0, 1, 40, 2000, 7}) {
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto row = static_cast<Vertex>(random() % rows);
      const bool is_own =
          row >= table.view().first() && row < table.view().first() + table.view().local_rows();
      remote += is_own || placement == memory::Placement::replicated ? 0 : 1;
      indices.push_back(row);
    }
    offsets.push_back(indices.size());
  }
  const auto index_buffer = on_device(stream, indices);
  memory::Buffer<T> out(team.device(), (offsets.size() - 1) * k);
  memory::Buffer<std::uint64_t> moved(team.device(), 1);
  exec::fill_bytes(stream, moved.data(), 0, sizeof(std::uint64_t));
  stream.synchronize();
  team.barrier();
  const BagLookup lookup(stream, offsets);
  EXPECT_EQ(lookup.bags(), 6u);
  lookup.run(stream, table.view(), index_buffer.data(), out.data(), moved.data());
  const std::vector<T> found = out.to_host(stream);
  EXPECT_EQ(moved.to_host(stream)[0], remote);
  reference::Product expected;
  for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
    for (std::uint64_t c = 0; c < k; ++c) {
      double sum = 0.0;
      double size = 0.0;
      for (EdgeOffset i = offsets[bag]; i < offsets[bag + 1]; ++i) {
        sum += values[indices[i] * k + c];
        size += std::abs(values[indices[i] * k + c]);
      }
      expected.sum.push_back(sum);
      expected.size.push_back(size);
    }
  }
  EXPECT_TRUE(testing_support::near(found, k, expected, k));
  team.barrier();
}

void check_team(const team::TeamOptions& options) {
  team::run_team(options, [](team::Team& team) {
    for (const std::uint64_t k : {1, 5, 16, 33, 64}) {
      check<float>(team, 500, k, memory::Placement::device);
      check<Half>(team, 500, k, memory::Placement::device);
      check<BFloat16>(team, 100, k, memory::Placement::replicated);
    }
  });
}

TEST(BagLookup, MatchesReferenceOnEveryTeam) {
  for (const auto& options : fixtures::cpu_teams()) check_team(options);
}

TEST(BagLookup, RefusesOffsetsThatDoNotAscend) {
  const exec::Stream stream(exec::Device::cpu(1));
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{}), UsageError);
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{1, 2}), UsageError);
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{0, 3, 2}), UsageError);
}

TEST(BagLookupCuda, MatchesReferenceOnEveryTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams()) check_team(options);
}

}  // namespace
}  // namespace warren::sparse
