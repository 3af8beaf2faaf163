// SPDX-License-Identifier: Apache-2.0
// Reports: what the JSON and the text of a result say, by its figures and by its arrays.
#include "warren/api/report.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "warren/api/search_each.hpp"
#include "warren/core/error.hpp"

namespace warren {
namespace {

using Json = nlohmann::ordered_json;

/// 0 - 1 - 2 - 3, and 4 alone.
Graph path() {
  const std::vector<Vertex> from = {0, 1, 2}, to = {1, 2, 3};
  const std::vector<std::int32_t> weights = {1, 2, 3};
  return from_edges(from, to, weights, 5, {.symmetrize = true});
}

template <class Options>
Options on_cpu() {
  Options options;
  options.device = DeviceKind::cpu;
  return options;
}

TEST(Report, ASearchIsTheSameByFiguresAndByArrays) {
  const VertexNames names(path());
  auto options = on_cpu<BfsOptions>();
  const Json by_arrays = Json::parse(to_json(names, options, bfs(names.graph(), options)));
  EXPECT_EQ(by_arrays["command"], "bfs");
  EXPECT_EQ(by_arrays["device"], "cpu");
  EXPECT_EQ(by_arrays["vertices"], 5);
  EXPECT_EQ(by_arrays["edges"], 6);
  EXPECT_EQ(by_arrays["source"], 0);
  EXPECT_EQ(by_arrays["reached"], 4);
  EXPECT_EQ(by_arrays["sum_depth"], 6);
  EXPECT_EQ(by_arrays["levels"], Json({1, 1, 1, 1}));
  EXPECT_FALSE(by_arrays.contains("teps"));
  EXPECT_TRUE(by_arrays["warren"].contains("commit"));

  options.figures = options.levels = true;
  options.run = {.repeat = 2, .verify = true, .arrays = ResultArrays::none};
  const Json by_figures = Json::parse(to_json(names, options, bfs(names.graph(), options)));
  for (const char* field : {"reached", "max_depth", "sum_depth", "levels"})
    EXPECT_EQ(by_figures[field], by_arrays[field]);
  EXPECT_EQ(by_figures["traversed_edges"], 3);
  EXPECT_EQ(by_figures["seconds"].size(), 2);
  EXPECT_EQ(by_figures["verified"], true);
}

TEST(Report, SeveralSearchesAreToldOneByOne) {
  const VertexNames names(path());
  auto options = on_cpu<BfsOptions>();
  options.figures = true;
  options.targets = {2};
  std::vector<BfsResult> results;
  for (const Vertex source : {0, 3}) {
    options.source = source;
    results.push_back(bfs(names.graph(), options));
  }
  const Json json = Json::parse(to_json(names, options, results));
  EXPECT_EQ(json["source"], 0);
  EXPECT_EQ(json["targets"], Json({2}));
  ASSERT_EQ(json["sources"].size(), 2);
  EXPECT_EQ(json["sources"][1]["source"], 3);
  EXPECT_EQ(json["seconds"].size(), 2);
  EXPECT_THROW((void)to_json(names, options, std::vector<BfsResult>{}), UsageError);
}

TEST(Report, SearchesFromEachSourceHaveRowsOfOneArray) {
  const VertexNames names(path());
  const Graph& graph = names.graph();
  const std::vector<Vertex> sources = {0, 3, 4};
  const auto options = on_cpu<BfsOptions>();
  const BfsSearches found = bfs_from_each(graph, sources, options);
  ASSERT_EQ(found.each.size(), 3u);
  ASSERT_EQ(found.depth.size(), 15u);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const BfsResult alone = bfs(graph, {.source = sources[s], .device = DeviceKind::cpu});
    EXPECT_EQ(found.each[s].depth, alone.depth.to_vector());
    EXPECT_EQ(found.each[s].depth.data(), found.depth.data() + 5 * s);
    EXPECT_EQ(found.each[s].parent.data(), found.parent.data() + 5 * s);
    EXPECT_EQ(found.each[s].reached, alone.reached);
  }
  const Json json = Json::parse(to_json(names, options, found.each));
  EXPECT_EQ(json["sources"][1]["levels"], Json({1, 1, 1, 1}));
  EXPECT_EQ(json["sources"][2]["reached"], 1);
  // Without figures there is no rate.
  EXPECT_EQ(to_text(names, options, found.each).find("edges/s"), std::string::npos);

  const auto distances = sssp_from_each(graph, sources, on_cpu<SsspOptions>());
  EXPECT_EQ(distances.distance.to_vector(),
            (std::vector<std::int64_t>{0, 1, 3, 6, -1, 6, 5, 3, 0, -1, -1, -1, -1, -1, 0}));
  EXPECT_TRUE(distances.real_distance.empty());
  EXPECT_NE(to_text(names, on_cpu<SsspOptions>(), distances.each).find("  6  "), std::string::npos);

  EXPECT_THROW((void)bfs_from_each(graph, {}, options), UsageError);
  EXPECT_THROW((void)bfs_from_each(graph, std::vector<Vertex>{0, 5}, options), VertexError);
  EXPECT_THROW((void)bfs_from_each(graph, sources, {.source = 1}), UsageError);
  EXPECT_THROW((void)bfs_from_each(graph, sources, {.run = {.arrays = ResultArrays::none}}),
               UsageError);
}

TEST(Report, OfPartsAndOrdersWhateverRunsAreTimed) {
  const Graph graph = path();
  PartitionOptions options{.parts = 2, .workgroup = 1};
  const PartitionResult once = partition(graph, options);
  const Json json = Json::parse(to_json(graph, options, once));
  EXPECT_EQ(json["seconds"], Json({once.seconds}));
  EXPECT_EQ(json["workgroup"], 1);
  options.repeat = 2;
  EXPECT_EQ(Json::parse(to_json(graph, options, partition(graph, options)))["seconds"].size(), 2u);
  const ReorderOptions by_degree{.order = "degree"};
  const Json order = Json::parse(to_json(graph, by_degree, reorder(graph, by_degree)));
  EXPECT_EQ(order["command"], "reorder");
  EXPECT_EQ(order["order"], "degree");
  EXPECT_EQ(order["vertices"], 5);
}

TEST(Report, DistancesAreSummedExactlyAndInTheFilesUnits) {
  const VertexNames names(path());
  auto options = on_cpu<SsspOptions>();
  SsspResult result = sssp(names.graph(), options);
  Json json = Json::parse(to_json(names, options, result));
  EXPECT_EQ(json["max_distance"], 6);
  EXPECT_EQ(json["sum_distance"], 10);
  EXPECT_NE(to_text(names, options, result).find("mean distance 2.5, largest 6"),
            std::string::npos);
  result.scale = 10;
  json = Json::parse(to_json(names, options, result));
  EXPECT_EQ(json["max_distance"], 0.6);

  options.figures = true;
  result = sssp(names.graph(), options);
  result.figures.sum_distance_high = 1;
  result.figures.sum_distance = 5;
  json = Json::parse(to_json(names, options, result));
  EXPECT_TRUE(json["sum_distance"].is_null());
  EXPECT_EQ(json["sum_distance_text"], "18446744073709551621");
}

TEST(Report, RanksComponentsAndCounts) {
  const VertexNames names(path());
  const auto ranks = pagerank(names.graph(), on_cpu<PageRankOptions>());
  EXPECT_EQ(Json::parse(to_json(names, PageRankOptions{}, ranks))["top"].size(), 5);
  const auto parts = connected_components(names.graph(), on_cpu<ComponentsOptions>());
  EXPECT_EQ(Json::parse(to_json(names, parts))["components"], 2);
  EXPECT_NE(to_text(names, parts).find("2, the largest of 4 vertices"), std::string::npos);
  const auto cores = core_numbers(names.graph(), on_cpu<CoreNumbersOptions>());
  const Json json = Json::parse(to_json(names, cores));
  EXPECT_EQ(json["largest_core"], 1);
  EXPECT_EQ(json["top"][0], Json({0, 1}));
}

TEST(Report, AResultIsSavedALineAVertex) {
  const VertexNames names(path());
  const std::string file =
      (std::filesystem::temp_directory_path() / "warren_report_test.txt").string();
  save(names, sssp(names.graph(), on_cpu<SsspOptions>()), file);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_EQ(text.str(), "0 0\n1 1\n2 3\n3 6\n4 -1\n");
}

TEST(Report, VerticesAreFoundById) {
  const VertexNames names(path());
  EXPECT_EQ(names.find("3", "--source"), 3);
  try {
    (void)names.find("9", "--target");
    ADD_FAILURE() << "9 was found";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--target 9: there is no such vertex; ids go from 0 to 4");
  }
}

}  // namespace
}  // namespace warren
