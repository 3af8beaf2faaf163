// SPDX-License-Identifier: Apache-2.0
// Reports: what the JSON and the text of a result say, by its figures and by its arrays.
#include "warren/api/report.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

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

TEST_CASE("a search's JSON is the same by its figures and by its arrays") {
  const VertexNames names(path());
  auto options = on_cpu<BfsOptions>();
  const Json by_arrays = Json::parse(to_json(names, options, bfs(names.graph(), options)));
  CHECK(by_arrays["command"] == "bfs");
  CHECK(by_arrays["device"] == "cpu");
  CHECK(by_arrays["vertices"] == 5);
  CHECK(by_arrays["edges"] == 6);
  CHECK(by_arrays["source"] == 0);
  CHECK(by_arrays["reached"] == 4);
  CHECK(by_arrays["sum_depth"] == 6);
  CHECK(by_arrays["levels"] == Json({1, 1, 1, 1}));
  CHECK_FALSE(by_arrays.contains("teps"));
  CHECK(by_arrays["warren"].contains("commit"));

  options.figures = options.levels = true;
  options.run = {.repeat = 2, .verify = true, .arrays = ResultArrays::none};
  const Json by_figures = Json::parse(to_json(names, options, bfs(names.graph(), options)));
  for (const char* field : {"reached", "max_depth", "sum_depth", "levels"})
    CHECK(by_figures[field] == by_arrays[field]);
  CHECK(by_figures["traversed_edges"] == 3);
  CHECK(by_figures["seconds"].size() == 2);
  CHECK(by_figures["verified"] == true);
}

TEST_CASE("several searches are told one by one") {
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
  CHECK(json["source"] == 0);
  CHECK(json["targets"] == Json({2}));
  REQUIRE(json["sources"].size() == 2);
  CHECK(json["sources"][1]["source"] == 3);
  CHECK(json["seconds"].size() == 2);
  CHECK_THROWS_AS((void)to_json(names, options, std::vector<BfsResult>{}), UsageError);
}

TEST_CASE("distances are summed exactly, and told in the file's units") {
  const VertexNames names(path());
  auto options = on_cpu<SsspOptions>();
  SsspResult result = sssp(names.graph(), options);
  Json json = Json::parse(to_json(names, options, result));
  CHECK(json["max_distance"] == 6);
  CHECK(json["sum_distance"] == 10);
  CHECK(to_text(names, options, result).find("mean distance 2.5, largest 6") != std::string::npos);
  result.scale = 10;
  json = Json::parse(to_json(names, options, result));
  CHECK(json["max_distance"] == 0.6);

  options.figures = true;
  result = sssp(names.graph(), options);
  result.figures.sum_distance_high = 1;
  result.figures.sum_distance = 5;
  json = Json::parse(to_json(names, options, result));
  CHECK(json["sum_distance"].is_null());
  CHECK(json["sum_distance_text"] == "18446744073709551621");
}

TEST_CASE("ranks, components and counts") {
  const VertexNames names(path());
  const auto ranks = pagerank(names.graph(), on_cpu<PageRankOptions>());
  CHECK(Json::parse(to_json(names, PageRankOptions{}, ranks))["top"].size() == 5);
  const auto parts = connected_components(names.graph(), on_cpu<ComponentsOptions>());
  CHECK(Json::parse(to_json(names, parts))["components"] == 2);
  CHECK(to_text(names, parts).find("2, the largest of 4 vertices") != std::string::npos);
  const auto cores = core_numbers(names.graph(), on_cpu<CoreNumbersOptions>());
  const Json json = Json::parse(to_json(names, cores));
  CHECK(json["largest_core"] == 1);
  CHECK(json["top"][0] == Json({0, 1}));
}

TEST_CASE("a result is saved with a line for each vertex") {
  const VertexNames names(path());
  const std::string file =
      (std::filesystem::temp_directory_path() / "warren_report_test.txt").string();
  save(names, sssp(names.graph(), on_cpu<SsspOptions>()), file);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  CHECK(text.str() == "0 0\n1 1\n2 3\n3 6\n4 -1\n");
}

TEST_CASE("vertices are found by id, and messages name the option") {
  const VertexNames names(path());
  CHECK(names.find("3", "--source") == 3);
  CHECK_THROWS_WITH_AS((void)names.find("9", "--target"),
                       "--target 9: there is no such vertex; ids go from 0 to 4", UsageError);
}

}  // namespace
}  // namespace warren
