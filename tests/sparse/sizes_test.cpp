// SPDX-License-Identifier: Apache-2.0
// Sizes whose products pass 2^32 and 2^40: rows at such places are read and written in address
// space of which only the pages that are touched have memory; and what cannot be had is refused.
#include <cmath>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/exec/row_address.hpp"
#include "warren/memory/gather.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/lookup.hpp"
#include "warren/sparse/sddmm.hpp"

#include "sparse/graphs.hpp"
#include "sparse/lookup_kernels.hpp"
#include "sparse/row_table.hpp"
#include "sparse/spmm_kernels.hpp"

namespace warren::sparse {
namespace {

/// Zeros, of which there may be more than memory.
template <class T>
class Vast {
 public:
  explicit Vast(std::uint64_t elements) : bytes_(elements * sizeof(T)) {
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Vast() {
    if (is_there()) ::munmap(data_, bytes_);
  }
  Vast(const Vast&) = delete;
  Vast& operator=(const Vast&) = delete;
  [[nodiscard]] bool is_there() const { return data_ != MAP_FAILED; }
  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  T& operator[](std::uint64_t i) const { return data()[i]; }

 private:
  std::uint64_t bytes_;
  void* data_;
};

constexpr std::uint64_t kRows = std::uint64_t{1} << 31;
constexpr std::uint64_t kColumns = 600;  // x kRows: above 2^40 elements.
static_assert(kRows * kColumns > std::uint64_t{1} << 40);
/// About 2^32 and 2^40 elements, and at the ends.
const std::vector<Vertex> kPlaces = {0,          7158278,    7158279,
                                     1832519379, 1832519380, static_cast<Vertex>(kRows - 1)};
constexpr std::uint64_t kSeen[] = {0, 1, 129, 599};

float value_at(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(row % 1021 + 3 * (column % 7)) + 1.0f;
}

/// B has values in the columns that are looked at of the rows that are named.
void fill(const Vast<float>& b) {
  for (const Vertex row : kPlaces) {
    for (const std::uint64_t column : kSeen) b[row * kColumns + column] = value_at(row, column);
  }
}

/// The rows of kPlaces as two ranks' have them, the second from row 2^30 + 3 on.
memory::GlobalView<float> two_parts(const Vast<float>& b) {
  constexpr std::uint64_t kCut = (std::uint64_t{1} << 30) + 3;
  memory::GlobalView<float> view;
  view.width = kColumns;
  view.ranks = 2;
  view.cuts[1] = kCut;
  view.cuts[2] = kRows;
  view.base[0] = b.data();
  view.base[1] = b.data() + kCut * kColumns;
  return view;
}

#define NEEDS(vast) \
  if (!(vast).is_there()) GTEST_SKIP() << "no address space of this size"

TEST(Sizes, ProductsReadAndWriteRowsFarAway) {
  const exec::Stream stream(exec::Device::cpu(2));
  const Vast<float> b(kRows * kColumns);
  const Vast<float> c(kRows * kColumns);
  NEEDS(b);
  NEEDS(c);
  fill(b);
  // Row i of the matrix names two rows of B and is row kPlaces[i] of C.
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    columns.push_back(kPlaces[i]);
    columns.push_back(kPlaces[kPlaces.size() - 1 - i]);
    offsets.push_back(columns.size());
  }
  MatrixView a;
  a.rows = kPlaces.size();
  a.offsets = offsets.data();
  a.column_ids = columns.data();
  a.row_ids = kPlaces.data();
  for (const std::uint32_t entries : {0u, 1u}) {  // Whole rows; rows in pieces.
    const SpmmPlan plan(stream, offsets, {entries});
    spmm(stream, a, plan, RowTable<float>(b.data(), kColumns), c.data(), kColumns, kColumns);
    stream.synchronize();
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
      const Vertex other = kPlaces[kPlaces.size() - 1 - i];
      for (const std::uint64_t column : kSeen) {
        EXPECT_EQ(c[kPlaces[i] * kColumns + column],
                  value_at(kPlaces[i], column) + value_at(other, column))
            << "row " << kPlaces[i] << ", column " << column;
      }
    }
  }
  // And sampled ones: each row with itself and with the other.
  std::vector<float> dots(columns.size());
  const Vast<float> x(std::uint64_t{kPlaces.size()} * kColumns);
  NEEDS(x);
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    for (const std::uint64_t column : kSeen) x[i * kColumns + column] = 1.0f;
  }
  MatrixView sampled = a;
  sampled.row_ids = nullptr;
  sddmm<float>(stream, sampled, SpmmPlan(stream, offsets), x.data(), kColumns, b.data(), kColumns,
               kColumns, dots.data());
  stream.synchronize();
  for (std::size_t e = 0; e < columns.size(); ++e) {
    float sum = 0.0f;
    for (const std::uint64_t column : kSeen) sum += value_at(columns[e], column);
    EXPECT_EQ(dots[e], sum) << "column " << columns[e];
  }
}

/// As `pull` reads them: parts whose origins lie before their memory.
TEST(Sizes, TablesOfPartsAddressRowsFarAway) {
  const auto base = [](int q) {
    return reinterpret_cast<const float*>((std::uintptr_t{1} << 44) * static_cast<unsigned>(q + 1));
  };
  memory::GlobalView<float> view;
  view.width = kColumns;
  view.ranks = 3;
  const std::uint64_t cuts[] = {0, 5, kRows / 2 + 1, kRows};
  for (int q = 0; q <= 3; ++q) view.cuts[q] = cuts[q];
  for (int q = 0; q < 3; ++q) view.base[q] = const_cast<float*>(base(q));
  const RowTable<float> table = table_of(view);
  detail::SpmmJob<float> job;
  job.b = table;
  const detail::SpmmLane<float, 4> lane{job, {}};
  for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{5}, kRows / 2,
                                  kRows / 2 + 1, kRows - 1}) {
    const int q = row < cuts[1] ? 0 : row < cuts[2] ? 1 : 2;
    const auto expected =
        reinterpret_cast<std::uintptr_t>(base(q)) + (row - cuts[q]) * kColumns * sizeof(float);
    EXPECT_EQ(table.part(row), q);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lane.address(row)), expected) << row;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.row(row)), expected) << row;
  }
  const unsigned char* const first = reinterpret_cast<const unsigned char*>(base(0));
  EXPECT_EQ(static_cast<std::uint64_t>(exec::row_address(first, 0xfffffffeu, 0x10004u) - first),
            std::uint64_t{0xfffffffe} * 0x10004u);
}

/// Sums of a long row's pieces, of which there are up to 2^32.
TEST(Sizes, SumsOfPiecesLieFarAway) {
  constexpr std::uint64_t kStride = 304;
  constexpr std::uint64_t kWide = 300;
  constexpr std::uint32_t kLast = 0xfffffffe;  // Above 2^40 elements.
  const Vast<float> partials((std::uint64_t{kLast} + 1) * kStride);
  NEEDS(partials);
  const exec::Stream stream(exec::Device::cpu(1));
  const std::vector<float> b(2 * kWide, 1.5f);
  std::vector<float> c(kWide);
  const std::vector<EdgeOffset> offsets{0, 2};
  const std::vector<Vertex> columns{0, 1};
  const std::vector<SpmmTask> tasks{{0, 1, 0, 1, kLast - 1, 0}, {1, 2, 0, 1, kLast, 0}};
  const std::vector<SplitRow> splits{{0, kLast - 1, 2}};
  detail::SpmmJob<float> job;
  job.a.rows = 1;
  job.a.offsets = offsets.data();
  job.a.column_ids = columns.data();
  job.b = RowTable<float>(b.data(), kWide);
  job.c = c.data();
  job.c_stride = job.k = kWide;
  job.tasks = tasks.data();
  job.task_count = tasks.size();
  job.splits = splits.data();
  job.split_count = 1;
  job.partials = partials.data();
  job.partial_stride = kStride;
  detail::run_spmm<exec::Cpu, float>(stream, job, {});
  stream.synchronize();
  for (const std::uint64_t i : {std::uint64_t{0}, kWide / 2, kWide - 1}) {
    EXPECT_EQ(partials[(kLast - 1ull) * kStride + i], 1.5f);
    EXPECT_EQ(partials[std::uint64_t{kLast} * kStride + i], 1.5f);
    EXPECT_EQ(c[i], 3.0f);
  }
}

TEST(Sizes, LookupsReadRowsFarAway) {
  const exec::Stream stream(exec::Device::cpu(2));
  const Vast<float> b(kRows * kColumns);
  NEEDS(b);
  fill(b);
  const memory::GlobalView<float> table = two_parts(b);
  std::vector<EdgeOffset> offsets{0, 2, 4, 6};
  ASSERT_EQ(offsets.back(), kPlaces.size());
  std::vector<float> out(3 * kColumns);
  std::vector<std::uint64_t> moved{0};
  const BagLookup lookup(stream, offsets);
  lookup.run(stream, table, kPlaces.data(), out.data(), moved.data());
  stream.synchronize();
  EXPECT_EQ(moved[0], 3u);  // Rank 0's: those from row 2^30 + 3 on are the other's.
  for (std::size_t bag = 0; bag < 3; ++bag) {
    for (const std::uint64_t column : kSeen) {
      EXPECT_EQ(out[bag * kColumns + column],
                value_at(kPlaces[2 * bag], column) + value_at(kPlaces[2 * bag + 1], column));
    }
  }
  // Rows one by one, as `staged` brings them.
  const std::vector<std::uint64_t> rows(kPlaces.begin(), kPlaces.end());
  std::vector<float> copies(rows.size() * kColumns);
  memory::gather(stream, table, rows.data(), rows.size(), copies.data());
  stream.synchronize();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::uint64_t column : kSeen)
      EXPECT_EQ(copies[i * kColumns + column], value_at(rows[i], column));
  }
}

/// The sums of bags by owners, of which the last of many bags' are looked at.
TEST(Sizes, SumsOfBagsLieFarAway) {
  constexpr std::uint64_t kBags = (std::uint64_t{1} << 31) + 9;
  const Vast<float> sums(kBags * kColumns);
  const Vast<float> out(kBags * kColumns);
  const Vast<EdgeOffset> starts(kBags + 1);
  NEEDS(sums);
  NEEDS(out);
  NEEDS(starts);
  starts[kBags] = 1;  // The last bag has a row.
  for (const std::uint64_t column : kSeen)
    sums[(kBags - 1) * kColumns + column] = value_at(5, column);
  detail::AddSums<float> add;
  add.sums.base[0] = sums.data();
  add.starts = starts.data();
  add.k = add.stride = kColumns;
  add.out = out.data();
  const exec::Serial worker{};
  for (const std::uint64_t column : kSeen) {
    add.columns<1>(worker, kBags - 1, column);
    EXPECT_EQ(out[(kBags - 1) * kColumns + column], value_at(5, column));
  }
}

TEST(Sizes, BytesDoNotWrap) {
  EXPECT_EQ(exec::bytes_of(kRows, kColumns * 4), kRows * kColumns * 4);
  EXPECT_EQ(exec::bytes_of(std::uint64_t{1} << 40, std::uint64_t{1} << 24), ~std::uint64_t{0});
}

/// Rows x k that no machine has: MemoryError, with how much was asked for.
TEST(Sizes, WhatCannotBeIsRefused) {
  const graph::Graph graph = fixtures::generated("kron:7", true);
  team::TeamOptions options;
  options.ranks = options.threads = 2;
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  for (const std::uint64_t k : {std::uint64_t{1} << 44, std::uint64_t{1} << 62}) {
    const auto refused = [&](auto&& work) {
      try {
        team::run_team(options, [&](team::Team& team) {
          const graph::Shard shard = graph::make_shard(team, source);
          const Rows rows = make_rows(team, shard);
          work(team, rows);
        });
        ADD_FAILURE() << "not refused";
      } catch (const MemoryError& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find(" bytes asked ("), std::string::npos) << said;
      }
    };
    for (const Strategy strategy : {Strategy::broadcast, Strategy::once, Strategy::staged,
                                    Strategy::fused, Strategy::cover}) {
      DistributedOptions product;
      product.strategy = strategy;
      product.deterministic = true;
      refused([&](team::Team& team, const Rows& rows) {
        const DistributedSpmm<float> spmm(team, rows, k, product);
      });
    }
    refused([&](team::Team& team, const Rows& rows) {
      const DistributedSddmm<float> sddmm(team, rows, k);
    });
    refused([&](team::Team& team, const Rows& rows) {
      const memory::GlobalArray<float> b(team, rows.cuts, k, memory::Placement::device);
    });
  }
}

}  // namespace
}  // namespace warren::sparse
