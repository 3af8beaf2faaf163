// SPDX-License-Identifier: Apache-2.0
// One graph convolution of the shipped datasets' real graphs against golden checksums in float64.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "warren/dataset/dataset.hpp"
#include "warren/graph/io.hpp"
#include "warren/learn/convolution.hpp"

#include "learn/fixtures.hpp"
#include "support/folders.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

std::vector<float> layer_of(const fs::path& folder, int ranks) {
  exec::ThreadPool pool(2);
  const graph::Graph graph =
      graph::read_graph((folder / "graph.mtx.gz").string(), graph::ReadOptions{}, pool);
  Dataset data = read_dataset(folder.string(), graph.vertices);
  normalize_rows(data);
  const GraphPair graphs = fixtures::pair_of(graph, ranks);
  constexpr std::uint64_t kOut = 16;
  std::vector<float> result;
  team::run_team({exec::DeviceKind::cpu, ranks, ranks}, [&](team::Team& team) {
    Context context(team);
    const Neighbourhood neighbourhood(team, context.stream(), graphs);
    const std::uint64_t n = neighbourhood.out->rows();
    const std::uint64_t first = neighbourhood.out->first();
    context.set_rows(n, neighbourhood.out->input_ids());
    SparseRows rows;
    rows.rows = n;
    rows.columns = data.width;
    for (std::uint64_t r = first; r < first + n; ++r) {
      for (EdgeOffset e = data.sparse.offsets[r]; e < data.sparse.offsets[r + 1]; ++e) {
        rows.column_ids.push_back(data.sparse.column_ids[e]);
        rows.values.push_back(data.sparse.values[e]);
      }
      rows.offsets.push_back(rows.column_ids.size());
    }
    const SparseOperand features(context.stream(), rows);
    Parameters parameters;
    const auto gcn = make_gcn(
        parameters, {.name = "c", .in = data.width, .out = kOut, .is_sparse = true},
        std::make_shared<const Aggregation>(context, neighbourhood, graphs, Weighting::symmetric));
    parameters.allocate(context.stream(), 1);
    std::vector<float> weight(data.width * kOut);
    for (std::uint64_t i = 0; i < weight.size(); ++i)
      weight[i] =
          static_cast<float>(static_cast<int>((7 * (i / kOut) + 13 * (i % kOut)) % 17) - 8) / 8.0f;
    parameters.values().upload(context.stream(), weight);
    const memory::Buffer<float> y(team.device(), n * kOut);
    gcn->forward(context, {n, nullptr, &features, data.width}, y.data());
    const auto mine = y.to_host(context.stream());
    const auto all = team.all_gather_v(std::span<const float>(mine));
    if (team.rank() != 0) return;
    for (const auto& part : all) result.insert(result.end(), part.begin(), part.end());
  });
  return result;
}

TEST(Golden, GraphConvolutions) {
  const fs::path root = testing_support::data_folder();
  if (!fs::exists(root / "GOLDEN.json")) GTEST_SKIP() << root << " is not here";
  std::ifstream file(root / "GOLDEN.json");
  const auto golden = nlohmann::json::parse(file).at("gcn_layer");
  // Citeseer's golden numbers are of a graph with self-loops, which its folder's graph has not.
  for (const char* name : {"cora", "amazon_photo", "coauthor_cs"}) {
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(std::string(name) + " on " + std::to_string(ranks));
      const auto& expected = golden.at(name);
      const std::vector<float> z = layer_of(root / "gnn" / name, ranks);
      double sum = 0.0;
      double squares = 0.0;
      for (const float value : z) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
      }
      const double off =
          1e-5 * std::sqrt(expected.at("sumsq").get<double>() * static_cast<double>(z.size()));
      EXPECT_NEAR(sum, expected.at("sum").get<double>(), off);
      EXPECT_NEAR(squares / expected.at("sumsq").get<double>(), 1.0, 1e-5);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(static_cast<double>(z[i]), expected.at("row0").at(i).get<double>(), 1e-6);
        EXPECT_NEAR(static_cast<double>(z[z.size() - 16 + i]),
                    expected.at("last").at(i).get<double>(), 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace warren::learn
