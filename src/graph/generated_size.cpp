// SPDX-License-Identifier: Apache-2.0
// Of m draws, each of which is the pair c with the probability p(c), the expected number of
// different pairs is the sum over all c of 1 - (1 - p(c))^m. Pairs of equal probability are counted
// together: a Kronecker graph of scale s has (s + 1)(s + 2) / 2 kinds of them.
#include "warren/graph/generated_size.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

#include "graph/build_bands.hpp"

namespace warren::graph {
namespace {

/// Where scramble() is a permutation of the ids.
constexpr int kLeastScale = 2;

/// Of `draws` draws, the probability that one of them is a pair of this probability.
double occurs(double probability, double draws) {
  return draws == 0.0 ? 0.0 : -std::expm1(draws * std::log1p(-probability));
}

/// Different pairs of ends that differ, and different self-loops, that are edges in the end.
struct Counted {
  double pairs = 0.0, loops = 0.0;
  [[nodiscard]] double all(const BuildOptions& options) const {
    return pairs + (options.drop_self_loops ? 0.0 : loops);
  }
};

/// That a draw makes the pair an edge; `one`: that it is the pair.
double probability_of_pair(double one, const BuildOptions& options) {
  return options.symmetrize ? 2.0 * one : one;
}

GeneratedSize size_of(double draws, double loops, const Counted& distinct,
                      const BuildOptions& options) {
  const double kept_loops = options.drop_self_loops ? 0.0 : draws * loops;
  return {(options.symmetrize ? 2.0 : 1.0) * draws * (1.0 - loops) + kept_loops,
          distinct.all(options)};
}

GeneratedSize kronecker_size(const GeneratorSpec& spec, const BuildOptions& options) {
  // Of the four quadrants, of which the second and the third are each other's reverse.
  constexpr double kFirst = 0.57, kMixed = 0.19, kLast = 0.05;
  const int s = spec.scale;
  if (s < kLeastScale) return {};
  const auto draws = static_cast<double>(spec.draws);
  Counted distinct;
  for (int first = 0; first <= s; ++first) {
    for (int mixed = 0; first + mixed <= s; ++mixed) {
      const int last = s - first - mixed;
      const double logarithm = std::lgamma(s + 1.0) - std::lgamma(first + 1.0) -
                               std::lgamma(mixed + 1.0) - std::lgamma(last + 1.0);
      const double cells = std::exp(logarithm + mixed * std::log(2.0));
      const double one = std::pow(kFirst, first) * std::pow(kMixed, mixed) * std::pow(kLast, last);
      if (mixed == 0)
        distinct.loops += cells * occurs(one, draws);
      else
        distinct.pairs += cells * occurs(probability_of_pair(one, options), draws);
    }
  }
  return size_of(draws, std::pow(kFirst + kLast, s), distinct, options);
}

GeneratedSize uniform_size(const GeneratorSpec& spec, const BuildOptions& options) {
  const auto n = static_cast<double>(spec.vertices), draws = static_cast<double>(spec.draws);
  if (spec.scale < kLeastScale) return {};
  const double one = 1.0 / (n * n);
  const Counted distinct{n * (n - 1.0) * occurs(probability_of_pair(one, options), draws),
                         n * occurs(one, draws)};
  return size_of(draws, 1.0 / n, distinct, options);
}

GeneratedSize grid_size(const GeneratorSpec& spec) {
  const auto width = static_cast<double>(spec.width);
  const double height = static_cast<double>(spec.vertices) / width;
  const double edges = 2.0 * ((width - 1.0) * height + width * (height - 1.0));
  return {edges, edges};
}

/// Of the edges within communities and of those to near ids, which make 95 of 100 draws.
GeneratedSize community_size(const GeneratorSpec& spec) {
  constexpr int kSize = 200;
  constexpr double kWithin = 0.75, kNear = 0.2, kNeighbours = 20000.0;
  const std::uint64_t whole = spec.vertices / kSize;
  if (whole == 0) return {};
  const auto communities = static_cast<double>(whole);
  const double draws = static_cast<double>(spec.draws) / communities;
  const auto share = [](int i) {
    return std::sqrt((i + 1.0) / kSize) - std::sqrt(static_cast<double>(i) / kSize);
  };
  double within = 0.0, near = 0.0, loops = 0.0;
  for (int i = 0; i < kSize; ++i) {
    loops += share(i) * share(i);
    for (int j = 0; j < i; ++j) within += occurs(2.0 * share(i) * share(j), kWithin * draws);
    near += std::min(kNeighbours, static_cast<double>(spec.vertices)) *
            occurs(share(i) / kNeighbours, kNear * draws);
  }
  // Of the near ones one in a hundred is within, too, and one and its reverse are the same pair.
  constexpr double kApart = 0.98, kBoth = 2.0;
  return {2.0 * communities * draws * (kWithin * (1.0 - loops) + kNear * kApart),
          2.0 * communities * (within + near * kApart / kBoth)};
}

}  // namespace

GeneratedSize generated_size(const GeneratorSpec& spec, const BuildOptions& given) {
  const BuildOptions options = effective_options(spec, given);
  switch (spec.kind) {
    case GeneratorKind::kronecker:
      return kronecker_size(spec, options);
    case GeneratorKind::uniform:
      return uniform_size(spec, options);
    case GeneratorKind::grid:
      return grid_size(spec);
    case GeneratorKind::community:
      return community_size(spec);
  }
  return {};
}

std::uint64_t least_bytes(const GeneratorSpec& spec, const BuildOptions& options,
                          bool is_weighted) {
  constexpr double kMargin = 0.98;  // The draws are random, and so is the sample of a plan.
  const GeneratedSize size = generated_size(spec, options);
  const double distinct = kMargin * size.distinct, entries = kMargin * size.entries;
  double final = options.keep_duplicates ? entries : distinct;
  const bool are_few = size.entries <= kMargin * (1.0 + detail::kMostDuplicates) * size.distinct;
  const double filled = options.keep_duplicates || are_few ? entries : distinct;
  // Weights are drawn when what the duplicates took has been given back.
  if (is_weighted) final *= 2.0;
  return (spec.vertices + 1) * sizeof(EdgeOffset) +
         static_cast<std::uint64_t>(std::max(filled, final)) * sizeof(Vertex);
}

void check_host_memory(const GeneratorSpec& spec, const BuildOptions& options, bool is_weighted,
                       const std::string& name, const std::string& cure) {
  const std::uint64_t bytes = least_bytes(spec, options, is_weighted);
  const std::uint64_t free = exec::free_memory(exec::Device::cpu(1));
  if (free == 0 || bytes <= free) return;
  throw MemoryError(
      "the host", bytes, free,
      fmt::format("{} holds at least that while it is drawn: draw a smaller one, or {}", name,
                  cure));
}

}  // namespace warren::graph
