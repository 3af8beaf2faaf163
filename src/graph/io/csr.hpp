// SPDX-License-Identifier: Apache-2.0
// What the readers of formats that hold CSR already have in common: nothing in a file is believed
// before it was checked, and what is not as a Graph must be (sorted, merged, as the options ask)
// goes through build().
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "warren/graph/builder.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph::io {

/// The edges of a graph's arrays as a source.
class CsrSource final : public EdgeSource {
 public:
  explicit CsrSource(const Graph& graph) : graph_(graph) {}
  [[nodiscard]] std::uint64_t vertices() const override { return graph_.vertices; }
  [[nodiscard]] WeightType weight_type() const override { return graph_.weight_type; }
  [[nodiscard]] std::uint64_t pieces() const override;
  void read(std::uint64_t piece, EdgeSink& sink) override;

 private:
  const Graph& graph_;
};

/// Where the elements of the arrays stand in their file, for messages: "byte 17".
struct CsrPlaces {
  std::function<std::string(std::uint64_t)> offset;
  std::function<std::string(std::uint64_t)> target;
};

/// The graph of arrays that were read from `path`: offsets and targets are checked (InputError),
/// rows are sorted, parallel edges merged and `options` applied where the arrays are not so
/// already. `original_ids` are kept.
[[nodiscard]] Graph finish_csr(Graph raw, const std::string& path, const CsrPlaces& places,
                               const BuildOptions& options, exec::ThreadPool& pool);

/// Says that parallel edges of `path`, a matrix, were merged by the smallest weight.
void warn_of_merged(const std::string& path);

/// True if every edge has its reverse, of equal weight: compares commutative 64-bit sums of a hash
/// of both, so that the answer "no" is certain, and "yes" wrong for one unsymmetric graph in 2^64.
[[nodiscard]] bool sums_symmetric(const Graph& graph, exec::ThreadPool& pool);

/// Sets the symmetry of a graph whose file says that it is undirected. Throws InputError, naming an
/// edge (numbered from `base`), if it is not.
void mark_symmetric(Graph& graph, const std::string& path, std::uint64_t base,
                    exec::ThreadPool& pool);

}  // namespace warren::graph::io
