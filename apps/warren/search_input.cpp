// SPDX-License-Identifier: Apache-2.0
#include "search_input.hpp"

#include "warren/core/error.hpp"

#include "option_rules.hpp"

namespace warren::app {

void add_search_options(CLI::App& command, SearchOptions& options) {
  auto* source = add_text(command, "--source", options.source,
                          "Where to start: an id, or a name of the dataset's "
                          "(default: the vertex with the most out-edges)",
                          "V");
  add_number(command, "--sources", options.sources, "N random ones with out-edges, by --seed", "N",
             1, kMaxVertices)
      ->excludes(source);
  add_text(command, "--target", options.targets,
           "End once this vertex is settled; may be given several times", "V")
      ->expected(1)
      ->take_all();
}

void check_search(const SearchOptions& options, const std::string& mode, const char* limit,
                  const VertexNames& names) {
  if (!options.targets.empty() && limit == nullptr) limit = "--target";
  require(mode != "async" || limit == nullptr,
          fmt::format("{}: --mode async searches the whole graph; give --mode sync",
                      limit == nullptr ? "" : limit));
  if (options.source) (void)names.find(*options.source, "--source");
  (void)find_targets(options, names);
}

std::vector<Vertex> find_sources(const TraversalGraph& input, const SearchOptions& options,
                                 std::uint64_t seed) {
  if (options.source) return {input.names().find(*options.source, "--source")};
  if (options.takes_busiest()) return {busiest_vertex(input.graph(), input.where())};
  return random_sources(input.graph(), options.sources, seed, input.where(), "--sources");
}

std::vector<Vertex> find_targets(const SearchOptions& options, const VertexNames& names) {
  std::vector<Vertex> targets;
  for (const std::string& target : options.targets)
    targets.push_back(names.find(target, "--target"));
  return targets;
}

}  // namespace warren::app
