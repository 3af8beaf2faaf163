// SPDX-License-Identifier: Apache-2.0
// Neighbour sampling as its description says, one target after the other: whole lists are copied
// and shuffled, vertices are numbered through a map. The generator is written out a second time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::reference {

/// Philox4x32-10, by the round function of its paper.
inline std::vector<std::uint32_t> philox(std::vector<std::uint32_t> c, std::uint32_t k0,
                                         std::uint32_t k1) {
  for (std::uint32_t round = 0; round < 10; ++round) {
    const std::uint32_t key0 = k0 + round * 0x9E3779B9u;
    const std::uint32_t key1 = k1 + round * 0xBB67AE85u;
    const std::uint64_t first = 0xD2511F53ull * c[0];
    const std::uint64_t second = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ key0,
         static_cast<std::uint32_t>(second & 0xffffffffu),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ key1,
         static_cast<std::uint32_t>(first & 0xffffffffu)};
  }
  return c;
}

struct SampleOptions {
  std::vector<std::int64_t> fanouts;
  bool replace = false;
  bool weighted = false;
  bool labor = false;
  bool layer_dependency = false;
  bool temporal_last = false;
  bool disjoint = false;
  bool once = false;
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;
  std::vector<std::int64_t> edge_times;  ///< Of every edge of the graph, or empty.
  std::vector<std::int64_t> seed_times;
};

struct SampledHop {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<Vertex> columns;
  std::vector<std::uint64_t> edges;
  std::vector<std::uint32_t> duplicates;
};
struct Sample {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> trees;
  std::vector<SampledHop> hops;
};

class Sampler {
 public:
  Sampler(const graph::Graph& graph, SampleOptions options)
      : graph_(graph), options_(std::move(options)) {}

  Sample run(const std::vector<Vertex>& seeds) const {
    Sample sample;
    sample.vertices = seeds;
    std::map<Vertex, std::uint32_t> number;
    for (std::uint32_t i = 0; i < seeds.size(); ++i) {
      number.emplace(seeds[i], i);
      sample.trees.push_back(i);
    }
    std::size_t before = 0;  // Targets of the hops before, which have drawn.
    for (std::uint32_t hop = 0; hop < options_.fanouts.size(); ++hop) {
      SampledHop out;
      const std::size_t targets = sample.vertices.size();
      if (options_.once) out.offsets.resize(before + 1, 0);
      for (auto i = static_cast<std::uint32_t>(options_.once ? before : 0); i < targets; ++i) {
        for (const std::uint64_t edge :
             choose(sample.vertices[i], sample.trees.at(options_.disjoint ? i : 0), hop, i)) {
          const Vertex end = graph_.targets[edge];
          auto id = static_cast<std::uint32_t>(sample.vertices.size());
          bool is_new = true;
          if (!options_.disjoint) {
            const auto [at, inserted] = number.emplace(end, id);
            id = at->second;
            is_new = inserted;
          }
          if (is_new) {
            sample.vertices.push_back(end);
            if (options_.disjoint) sample.trees.push_back(sample.trees[i]);
          }
          out.columns.push_back(id);
          out.edges.push_back(edge);
        }
        out.offsets.push_back(out.columns.size());
      }
      out.duplicates.assign(sample.vertices.size(), 0);
      for (const Vertex column : out.columns) ++out.duplicates[column];
      sample.hops.push_back(std::move(out));
      before = targets;
    }
    return sample;
  }

 private:
  struct Draws {
    std::uint64_t seed, batch;
    std::uint32_t hop, position;
    std::vector<std::uint32_t> words(std::uint32_t block, std::uint32_t attempt) const {
      return philox({block, position, static_cast<std::uint32_t>(batch),
                     hop << 24 | attempt << 16 | static_cast<std::uint32_t>(batch >> 32)},
                    static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    }
    /// Multiples of `bound` fill [0, 2^32) up to a rest, at which the draw is repeated.
    std::uint32_t below(std::uint32_t bound, std::uint32_t slot) const {
      const std::uint64_t rest = (std::uint64_t{1} << 32) % bound;
      for (std::uint32_t attempt = 0;; ++attempt) {
        const std::uint64_t product = std::uint64_t{words(slot / 4, attempt)[slot % 4]} * bound;
        if ((product & 0xffffffffu) >= rest) return static_cast<std::uint32_t>(product >> 32);
      }
    }
    std::uint64_t bits(std::uint32_t slot) const {
      const auto drawn = words(slot / 2, 0);
      return std::uint64_t{drawn[slot % 2 * 2 + 1]} << 32 | drawn[slot % 2 * 2];
    }
  };

  double weight(std::uint64_t edge) const {
    if (!graph_.weights_int.empty()) return graph_.weights_int[edge];
    return graph_.weights_float.empty() ? 1.0 : static_cast<double>(graph_.weights_float[edge]);
  }

  std::vector<std::uint64_t> choose(Vertex target, std::uint32_t tree, std::uint32_t hop,
                                    std::uint32_t position) const {
    std::vector<std::uint64_t> edges;
    for (std::uint64_t e = graph_.offsets[target]; e < graph_.offsets[target + 1]; ++e) {
      if (options_.edge_times.empty() || options_.edge_times[e] <= options_.seed_times[tree])
        edges.push_back(e);
    }
    if (!options_.edge_times.empty()) {
      std::stable_sort(edges.begin(), edges.end(), [&](std::uint64_t a, std::uint64_t b) {
        return options_.edge_times[a] < options_.edge_times[b];
      });
    }
    const Draws draws{options_.seed, options_.batch, hop, position};
    const std::int64_t fanout = options_.fanouts[hop];
    if (options_.labor) return by_shared_numbers(edges, hop, fanout);
    if (options_.temporal_last && fanout > 0) {
      while (edges.size() > static_cast<std::size_t>(fanout)) edges.erase(edges.begin());
      return edges;
    }
    if (options_.weighted && !(options_.replace && fanout > 0))
      return by_keys(edges, draws, fanout);
    if (edges.empty()) return {};
    std::vector<std::uint64_t> chosen;
    if (options_.replace && fanout > 0) {
      for (std::uint32_t i = 0; i < fanout; ++i) {
        if (options_.weighted) {
          if (const auto place = by_sums(edges, draws.bits(i)); place < edges.size())
            chosen.push_back(edges[place]);
        } else {
          chosen.push_back(edges[draws.below(static_cast<std::uint32_t>(edges.size()), i)]);
        }
      }
      return chosen;
    }
    if (fanout < 0 || edges.size() <= static_cast<std::size_t>(fanout)) return edges;
    for (std::uint32_t i = 0; i < fanout; ++i) {
      const std::uint32_t place = draws.below(static_cast<std::uint32_t>(edges.size()), i);
      chosen.push_back(edges[place]);
      edges[place] = edges.back();
      edges.pop_back();
    }
    return chosen;
  }

  std::vector<std::uint64_t> by_keys(const std::vector<std::uint64_t>& edges, const Draws& draws,
                                     std::int64_t fanout) const {
    std::vector<std::pair<long double, std::uint64_t>> keys;
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      if (weight(edges[i]) == 0.0) continue;
      const auto odd = static_cast<long double>((draws.bits(i) >> 12) * 2 + 1);
      keys.emplace_back(-std::log(odd / 0x1p53L) / static_cast<long double>(weight(edges[i])),
                        edges[i]);
    }
    const bool takes_all = fanout < 0 || edges.size() <= static_cast<std::size_t>(fanout);
    if (!takes_all) std::sort(keys.begin(), keys.end());
    std::vector<std::uint64_t> chosen;
    for (const auto& [key, edge] : keys) {
      if (takes_all || chosen.size() < static_cast<std::size_t>(fanout)) chosen.push_back(edge);
    }
    return chosen;
  }

  /// The number of a neighbour is that of the vertex, whichever list it is in.
  long double shared_number(Vertex neighbour, std::uint32_t hop) const {
    const Draws draws{options_.seed, options_.batch, options_.layer_dependency ? 254 : 128 + hop,
                      0};
    return static_cast<long double>((draws.bits(neighbour) >> 12) * 2 + 1) / 0x1p53L;
  }

  /// Takes the smallest one, again and again.
  std::vector<std::uint64_t> by_shared_numbers(std::vector<std::uint64_t> edges, std::uint32_t hop,
                                               std::int64_t fanout) const {
    const bool takes_all = fanout < 0 || edges.size() <= static_cast<std::size_t>(fanout);
    if (options_.weighted) std::erase_if(edges, [&](auto edge) { return weight(edge) == 0.0; });
    if (takes_all) return edges;
    std::multimap<long double, std::uint64_t> by_number;  // Of equal ones the first comes first.
    for (const std::uint64_t edge : edges) {
      const long double number = shared_number(graph_.targets[edge], hop);
      by_number.emplace(
          options_.weighted ? number / static_cast<long double>(weight(edge)) : number, edge);
    }
    std::vector<std::uint64_t> chosen;
    for (const auto& [number, edge] : by_number) {
      if (chosen.size() < static_cast<std::size_t>(fanout)) chosen.push_back(edge);
    }
    return chosen;
  }

  std::size_t by_sums(const std::vector<std::uint64_t>& edges, std::uint64_t bits) const {
    double total = 0.0;
    for (const std::uint64_t edge : edges) total += weight(edge);
    const double drawn = static_cast<double>(bits >> 11) * 0x1p-53 * total;
    double sum = 0.0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      sum += weight(edges[i]);
      if (sum > drawn) return i;
    }
    return edges.size();
  }

  const graph::Graph& graph_;
  SampleOptions options_;
};

}  // namespace warren::reference
