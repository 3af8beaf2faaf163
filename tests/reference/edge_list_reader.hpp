// SPDX-License-Identifier: Apache-2.0
// Edge lists read line by line with the standard library: what the fast reader must come to.
#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reference/graph_source.hpp"

namespace warren::reference {

struct ReadEdgeList {
  EdgeList list;                   ///< Vertices numbered from 0 without gaps where `compact`.
  std::vector<std::uint64_t> ids;  ///< Of the vertices, as in the file.
};

/// Reads "source target [weight]" lines; all weights as integers if every token is one, as floats
/// otherwise.
inline ReadEdgeList read_edge_list(const std::string& path, std::uint64_t base, bool compact) {
  std::ifstream in(path);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  std::vector<std::string> weights;
  std::set<std::uint64_t> occurring;
  std::uint64_t announced = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) continue;
    if (first[0] == '#' || first[0] == '%') {
      std::string key;
      std::uint64_t count = 0;
      if (words >> key >> count && key == "Nodes:" && !compact) announced = count;
      continue;
    }
    std::uint64_t target = 0;
    words >> target;
    edges.emplace_back(std::stoull(first), target);
    occurring.insert({edges.back().first, target});
    if (std::string weight; words >> weight) weights.push_back(weight);
  }
  ReadEdgeList result;
  if (compact) {
    result.ids.assign(occurring.begin(), occurring.end());
  } else {
    const std::uint64_t largest = occurring.empty() ? 0 : *occurring.rbegin() + 1 - base;
    for (std::uint64_t v = 0; v < std::max(largest, announced); ++v) result.ids.push_back(v + base);
  }
  const auto vertex = [&](std::uint64_t id) {
    return static_cast<Vertex>(std::lower_bound(result.ids.begin(), result.ids.end(), id) -
                               result.ids.begin());
  };
  result.list.vertices = result.ids.size();
  for (const auto& [source, target] : edges)
    result.list.edges.push_back({vertex(source), vertex(target)});
  const bool integers = std::all_of(weights.begin(), weights.end(), [](const std::string& w) {
    return w.find_first_not_of("+-0123456789") == std::string::npos;
  });
  for (const std::string& weight : weights) {
    if (integers) {
      result.list.weights_int.push_back(std::stoi(weight));
    } else {
      result.list.weights_float.push_back(std::stof(weight));
    }
  }
  return result;
}

}  // namespace warren::reference
