// SPDX-License-Identifier: Apache-2.0
#include "search_input.hpp"

#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/traverse/sources.hpp"

#include "option_rules.hpp"

namespace warren::app {

void add_search_options(CLI::App& command, SearchOptions& options) {
  auto* source = command
                     .add_option("--source", options.source,
                                 "Where to start: an id, or a name of the dataset's "
                                 "(default: the vertex with the most out-edges)")
                     ->type_name("V");
  add_number(command, "--sources", options.sources, "N random ones with out-edges, by --seed", "N",
             1, kMaxVertices)
      ->excludes(source);
  command
      .add_option("--target", options.targets,
                  "End once this vertex is settled; may be given several times")
      ->type_name("V")
      ->expected(1)
      ->take_all();
}

void check_search(const SearchOptions& options, const std::string& mode, const char* limit,
                  const VertexNames& names) {
  if (!options.targets.empty() && limit == nullptr) limit = "--target";
  require(mode != "async" || limit == nullptr,
          fmt::format("{}: --mode async searches the whole graph; give --mode sync",
                      limit == nullptr ? "" : limit));
  if (options.source) (void)names.find(*options.source);
  (void)find_targets(options, names);
}

std::vector<Vertex> find_sources(team::Team& team, const graph::Shard& shard,
                                 const TraversalInput& input, const SearchOptions& options,
                                 std::uint64_t seed) {
  if (options.source) return {input.names().find(*options.source)};
  if (options.takes_busiest()) {
    return {traverse::busiest_vertex(team, shard, [&](Vertex v) { return input.to_user(v); })};
  }
  return traverse::random_sources(
      team, shard, options.sources, seed, [&](Vertex v) { return input.to_shard(v); }, "--sources");
}

std::vector<Vertex> find_targets(const SearchOptions& options, const VertexNames& names) {
  std::vector<Vertex> targets;
  for (const std::string& target : options.targets) targets.push_back(names.find(target));
  return targets;
}

std::vector<Vertex> in_shard_order(const TraversalInput& input, std::vector<Vertex> vertices) {
  for (Vertex& v : vertices) v = input.to_shard(v);
  return vertices;
}

void set_targets(Json& json, const SearchOptions& options, const VertexNames& names) {
  if (options.targets.empty()) return;
  json["targets"] = Json::array();
  for (const Vertex target : find_targets(options, names))
    json["targets"].push_back(names.json_id(target));
}

}  // namespace warren::app
