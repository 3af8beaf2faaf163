// SPDX-License-Identifier: Apache-2.0
// Features gathered with dropout against a gather and a pass of dropout behind it: the same bits.
// And with a factor for each row.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "learn/batch/feature_table.hpp"
#include "learn/problems.hpp"

namespace warren::learn {
namespace {

std::vector<Vertex> some(std::uint64_t count, std::uint64_t below) {
  std::mt19937_64 draw(count);
  std::vector<Vertex> vertices(count);
  for (Vertex& v : vertices) v = static_cast<Vertex>(draw() % below);
  return vertices;
}

/// Of a table of two ranks' rows, by one lane and by 32.
template <class T>
void check_kernel(std::uint64_t count, std::uint64_t width, bool is_replicated) {
  SCOPED_TRACE(std::to_string(count) + " rows of " + std::to_string(width));
  using Kernel = detail::GatherDropped<T>;
  constexpr std::uint64_t kRows = 50, kFirstOfSecond = 20;
  std::mt19937_64 draw(width);
  std::uniform_real_distribution<float> uniform(-4.0f, 4.0f);
  std::vector<T> rows(kRows * width);
  for (T& value : rows) value = from_float<T>(uniform(draw));
  const std::vector<Vertex> vertices = some(count, kRows), ids = some(count, 1000000);
  Kernel kernel{};
  auto* base = reinterpret_cast<typename Kernel::Bits*>(rows.data());
  kernel.table.base[0] = base;
  kernel.table.base[1] = is_replicated ? base : base + kFirstOfSecond * width;
  kernel.table.cuts[1] = kFirstOfSecond;
  kernel.table.cuts[2] = kRows;
  kernel.table.width = width;
  kernel.table.rank = 1;
  kernel.table.ranks = 2;
  kernel.table.is_replicated = is_replicated;
  kernel.vertices = vertices.data();
  kernel.count = count;
  kernel.dropout = {random_key(1, 2, 0), 0.4f, ids.data()};

  const exec::Stream stream(exec::Device::cpu(2));
  std::vector<T> expected(count * width), alone(count * width), together(count * width);
  for (std::uint64_t i = 0; i < count * width; ++i)
    expected[i] = rows[vertices[i / width] * width + i % width];
  drop(stream, kernel.dropout, count, width, expected.data(), expected.data());
  kernel.out = alone.data();
  detail::run_kernel<exec::Cpu>(stream, kernel.tasks(), kernel);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(alone.data(), expected.data(), expected.size() * sizeof(T)), 0);
  kernel.out = together.data();
  exec::ThreadPool pool(32);
  exec::launch_cpu_block(pool, kernel.tasks(), kernel);
  EXPECT_EQ(std::memcmp(together.data(), expected.data(), expected.size() * sizeof(T)), 0);

  std::vector<float> scale(count);
  for (float& by : scale) by = uniform(draw);
  kernel.scale = scale.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t c = 0; c < width; ++c) {
      const float dropped = to_float(rows[vertices[i] * width + c]) *
                            kernel.dropout.factor(kernel.dropout.row_key(i), c);
      expected[i * width + c] = from_float<T>(dropped * scale[i]);
    }
  }
  exec::launch_cpu_block(pool, kernel.tasks(), kernel);
  EXPECT_EQ(std::memcmp(together.data(), expected.data(), expected.size() * sizeof(T)), 0);
  kernel.out = alone.data();
  detail::run_kernel<exec::Cpu>(stream, kernel.tasks(), kernel);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(alone.data(), expected.data(), expected.size() * sizeof(T)), 0);
}

TEST(GatherDropped, IsAGatherAndAPassOfDropout) {
  check_kernel<float>(70, 100, false);
  check_kernel<float>(1, 4, false);
  check_kernel<Half>(33, 12, true);
  check_kernel<Half>(32, 128, false);
  check_kernel<BFloat16>(40, 100, true);
  check_kernel<BFloat16>(3, 300, false);
}

/// Of every placement, with rows that the kernel takes and others.
void check_tables(const team::TeamOptions& options) {
  for (const std::uint64_t width : {12u, 100u, 7u}) {
    for (const NumberType type : {NumberType::float32, NumberType::float16, NumberType::bfloat16}) {
      for (const memory::Placement placement :
           {memory::Placement::device, memory::Placement::replicated, memory::Placement::host}) {
        for (const double cached : {0.0, 0.3}) {
          if (cached != 0.0 && placement != memory::Placement::host) continue;
          SCOPED_TRACE(std::to_string(width) + " columns of " + name_of(type));
          const GraphPair graphs =
              fixtures::pair_of(fixtures::random_graph(600, 3000, 3, false), options.ranks);
          exec::ThreadPool pool(1);
          const Dataset dataset = generate_dataset(600, width, 3, 1, pool);
          SampledOptions sampled;
          sampled.features = placement;
          sampled.cached = cached;
          const std::vector<Vertex> vertices = some(333, 600), ids = some(333, 1000000);
          team::run_team(options, [&](team::Team& team) {
            Context context(team, {}, type);
            std::vector<std::uint64_t> hot;
            for (std::uint64_t row = 0; cached > 0.0 && row < 600; row += 3) hot.push_back(row);
            const Spread spread{team, graphs.cuts};
            const auto table = make_table(spread, context, graphs, dataset, hot, sampled);
            const exec::Stream& stream = context.stream();
            const auto of = testing_support::on_device(stream, vertices);
            const auto row_ids = testing_support::on_device(stream, ids);
            const Dropout dropout{random_key(3, 4, 0), 0.5f, row_ids.data()};
            const std::uint64_t count = vertices.size();
            const NumberBuffer expected(team.device(), type, count * width);
            const NumberBuffer found(team.device(), type, count * width);
            table->gather(stream, of.data(), count, {}, nullptr, expected.data());
            drop(stream, dropout, count, width, expected.data(), expected.data());
            table->gather(stream, of.data(), count, dropout, nullptr, found.data());
            std::vector<std::byte> a(expected.bytes()), b(found.bytes());
            exec::copy(stream, a.data(), expected.data().raw(), a.size());
            exec::copy(stream, b.data(), found.data().raw(), b.size());
            stream.synchronize();
            EXPECT_EQ(a, b);
            // Rounded once or twice.
            std::vector<float> scale(count);
            for (std::uint64_t i = 0; i < count; ++i)
              scale[i] = 0.1f + 0.01f * static_cast<float>(i);
            const auto scales = testing_support::on_device(stream, scale);
            table->gather(stream, of.data(), count, dropout, scales.data(), found.data());
            memory::Buffer<float> wide(team.device(), count * width);
            const auto widened = [&](const NumberBuffer& of_rows) {
              scale_rows(stream, count, width, width, nullptr, of_rows.data(),
                         {wide.data(), NumberType::float32});
              return wide.to_host(stream);
            };
            const std::vector<float> plain = widened(expected), scaled = widened(found);
            const float off = type == NumberType::float32   ? 1e-6f
                              : type == NumberType::float16 ? 2e-3f
                                                            : 1.6e-2f;
            for (std::uint64_t i = 0; i < scaled.size(); ++i)
              ASSERT_NEAR(scaled[i], plain[i] * scale[i / width],
                          off * std::abs(scaled[i]) + 1e-6f);
            team.barrier();
          });
        }
      }
    }
  }
}

TEST(GatherDropped, OfTablesIsThatOfEveryPlacement) {
  check_tables(fixtures::ranks(1));
  check_tables(fixtures::ranks(3));
}
TEST(GatherDroppedCuda, OfTablesIsThatOfEveryPlacement) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& options : gpus) check_tables(options);
}

}  // namespace
}  // namespace warren::learn
