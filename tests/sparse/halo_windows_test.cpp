// SPDX-License-Identifier: Apache-2.0
// Halos of ranks on several hosts: the rows that come, and that no other row goes between hosts,
// nor any row twice.
#include "sparse/halo_windows.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "warren/sparse/blocks.hpp"
#include "warren/sparse/distributed.hpp"

#include "support/pretend_hosts.hpp"

namespace warren::sparse {
namespace {

using testing_support::run_on_hosts;

/// A matrix whose rows name few columns, some of them often.
struct Matrix {
  explicit Matrix(std::uint64_t ranks) : cuts(ranks + 1) {
    // A rank without rows, where there are enough of them.
    for (std::uint64_t q = 0; q < ranks; ++q) cuts[q + 1] = cuts[q] + (q == 2 ? 0 : 20 + 7 * q);
    std::mt19937 random(7);
    columns.resize(cuts.back());
    for (auto& row : columns) {
      std::set<Vertex> chosen;
      for (auto i = random() % 6; i > 0; --i) {
        const auto column = random() % cuts.back();
        chosen.insert(static_cast<Vertex>(random() % 3 == 0 ? column % 11 : column));
      }
      row.assign(chosen.begin(), chosen.end());
    }
  }
  [[nodiscard]] std::size_t owner(std::uint64_t row) const {
    std::size_t q = 0;
    while (row >= cuts[q + 1]) ++q;
    return q;
  }
  [[nodiscard]] Rows rows_of(std::size_t rank) const {
    Rows rows;
    rows.cuts = cuts;
    rows.first = cuts[rank];
    rows.count = cuts[rank + 1] - cuts[rank];
    rows.offsets = memory::HostArray<EdgeOffset>(rows.count + 1);
    rows.offsets[0] = 0;
    std::vector<Vertex> all;
    for (std::uint64_t r = 0; r < rows.count; ++r) {
      const auto& row = columns[rows.first + r];
      all.insert(all.end(), row.begin(), row.end());
      rows.offsets[r + 1] = all.size();
    }
    rows.columns = memory::HostArray<Vertex>(all.size());
    std::ranges::copy(all, rows.columns.data());
    return rows;
  }
  /// Pairs of a host and a row that one of its ranks needs and none of them has.
  [[nodiscard]] std::uint64_t necessary(int hosts) const {
    std::set<std::pair<std::size_t, Vertex>> needed;
    for (std::uint64_t r = 0; r < columns.size(); ++r) {
      const std::size_t host = owner(r) % static_cast<std::size_t>(hosts);
      for (const Vertex v : columns[r])
        if (owner(v) % static_cast<std::size_t>(hosts) != host) needed.insert({host, v});
    }
    return needed.size();
  }

  std::vector<std::uint64_t> cuts;
  std::vector<std::vector<Vertex>> columns;
};

std::uint64_t sent_by_all(team::Team& team) {
  std::uint64_t sent[] = {team.bytes_between_hosts()};
  team.sum(sent);
  return sent[0];
}

/// Of column c of a row, in round n.
float value_of(Vertex row, std::uint64_t c, int round) {
  return static_cast<float>(row * 100 + c) + static_cast<float>(round) * 0.25f;
}

TEST(HaloWindows, RowsAndBytes) {
  for (const auto& [ranks, hosts] :
       {std::pair(4, 2), std::pair(6, 2), std::pair(5, 3), std::pair(3, 3), std::pair(2, 2)}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks on " + std::to_string(hosts) + " hosts");
    const Matrix matrix(static_cast<std::uint64_t>(ranks));
    run_on_hosts(ranks, hosts, [&, hosts = hosts](team::Team& team) {
      const exec::Stream stream(team.device());
      const Rows rows = matrix.rows_of(static_cast<std::size_t>(team.rank()));
      const Exchange exchange(team, rows);
      HaloWindows windows(team, stream, rows.cuts, exchange);
      int round = 0;
      // Wider and narrower by turns; several of one width, which take turns in memory.
      for (const std::uint64_t width : {1, 4, 4, 4, 2, 9, 9, 3}) {
        std::vector<float> own(rows.count * width);
        for (std::uint64_t i = 0; i < own.size(); ++i)
          own[i] = value_of(static_cast<Vertex>(rows.first + i / width), i % width, round);
        memory::Buffer<float> x = to_device(stream, own);
        memory::Buffer<float> halo(team.device(), exchange.halo().size() * width);
        const std::uint64_t before = sent_by_all(team);
        windows.receive(stream, x.data(), width * sizeof(float), halo.data());
        x.upload(stream, std::vector<float>(own.size(), -1.0f));  // As it may be from here on.
        const std::vector<float> found = halo.to_host(stream);
        for (std::uint64_t i = 0; i < found.size(); ++i)
          ASSERT_EQ(found[i], value_of(exchange.halo()[i / width], i % width, round));
        EXPECT_EQ(sent_by_all(team) - before, matrix.necessary(hosts) * width * sizeof(float));
        ++round;
      }
    });
  }
}

/// Rows of elements of 2 bytes, of an odd number of them.
TEST(HaloWindows, NarrowElements) {
  const Matrix matrix(4);
  run_on_hosts(4, 2, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const Rows rows = matrix.rows_of(static_cast<std::size_t>(team.rank()));
    const Exchange exchange(team, rows);
    HaloWindows windows(team, stream, rows.cuts, exchange);
    std::vector<std::uint16_t> own;
    for (std::uint64_t i = 0; i < rows.count * 3; ++i)
      own.push_back(static_cast<std::uint16_t>((rows.first + i / 3) * 3 + i % 3));
    const memory::Buffer<std::uint16_t> x = to_device(stream, own);
    memory::Buffer<std::uint16_t> halo(team.device(), exchange.halo().size() * 3);
    windows.receive(stream, x.data(), 3 * sizeof(std::uint16_t), halo.data());
    const std::vector<std::uint16_t> found = halo.to_host(stream);
    for (std::uint64_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], exchange.halo()[i / 3] * 3 + i % 3);
    team.barrier();
  });
}

/// One after the other, without a meeting between them: ranks that are ahead pack what comes next
/// while others still read.
TEST(HaloWindows, InTurn) {
  constexpr int kRounds = 300;
  const Matrix matrix(6);
  run_on_hosts(6, 2, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const Rows rows = matrix.rows_of(static_cast<std::size_t>(team.rank()));
    const Exchange exchange(team, rows);
    HaloWindows windows(team, stream, rows.cuts, exchange);
    memory::Buffer<float> halo(team.device(), exchange.halo().size());
    std::vector<std::vector<float>> found;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<float> own;
      for (std::uint64_t r = 0; r < rows.count; ++r)
        own.push_back(value_of(static_cast<Vertex>(rows.first + r), 0, round));
      windows.receive(stream, to_device(stream, own).data(), sizeof(float), halo.data());
      found.push_back(halo.to_host(stream));
    }
    team.barrier();
    for (int round = 0; round < kRounds; ++round) {
      for (std::uint64_t i = 0; i < exchange.halo().size(); ++i)
        ASSERT_EQ(found[static_cast<std::size_t>(round)][i],
                  value_of(exchange.halo()[i], 0, round));
    }
  });
}

/// Both ways that products have, one after the other, and what they send.
TEST(HaloWindows, Products) {
  constexpr std::uint64_t kWidth = 5;
  const Matrix matrix(5);
  const std::uint64_t n = matrix.cuts.back();
  for (const Strategy strategy : {Strategy::staged, Strategy::broadcast}) {
    run_on_hosts(5, 2, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const Rows rows = matrix.rows_of(static_cast<std::size_t>(team.rank()));
      DistributedSpmm<float> product(team, rows, kWidth, {.strategy = strategy});
      memory::GlobalArray<float> b(team, rows.cuts, kWidth, memory::Placement::device,
                                   memory::Reach::moved);
      memory::Buffer<float> c(team.device(), rows.count * kWidth);
      for (int round = 0; round < 3; ++round) {
        std::vector<float> own(rows.count * kWidth);
        for (std::uint64_t i = 0; i < own.size(); ++i)
          own[i] = value_of(static_cast<Vertex>(rows.first + i / kWidth), i % kWidth, round);
        b.buffer().upload(stream, own);
        stream.synchronize();
        const std::uint64_t before = sent_by_all(team);
        product.run(b, c.data());
        // 3 ranks on one host and 2 on the other: to each all rows of the other.
        const std::uint64_t expected = strategy == Strategy::staged ? matrix.necessary(2) : n;
        EXPECT_EQ(sent_by_all(team) - before, expected * kWidth * sizeof(float));
        const std::vector<float> found = c.to_host(stream);
        for (std::uint64_t i = 0; i < found.size(); ++i) {
          float sum = 0.0f;
          for (const Vertex v : matrix.columns[rows.first + i / kWidth])
            sum += value_of(v, i % kWidth, round);
          ASSERT_FLOAT_EQ(found[i], sum);
        }
      }
    });
  }
}

TEST(HaloWindows, OtherStrategiesAreRefused) {
  const Matrix matrix(4);
  for (const Strategy strategy : all_strategies()) {
    if (strategy == Strategy::staged || strategy == Strategy::broadcast) continue;
    EXPECT_THROW(
        run_on_hosts(4, 2,
                     [&](team::Team& team) {
                       const Rows rows = matrix.rows_of(static_cast<std::size_t>(team.rank()));
                       const DistributedSpmm<float> product(team, rows, 4, {.strategy = strategy});
                     }),
        UsageError)
        << name_of(strategy);
  }
}

}  // namespace
}  // namespace warren::sparse
