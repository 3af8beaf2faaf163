// SPDX-License-Identifier: Apache-2.0
// Convolutions, forward and backward, on blocks of sampled batches, against double precision and
// differences: fewer targets than sources, rows of some of a target's neighbours, sources that
// several rows name, seeds that come twice, and edges that count their weights.
#include <algorithm>
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "warren/learn/block.hpp"
#include "warren/sample/sampler.hpp"

#include "learn/convolution_cases.hpp"
#include "sparse/graphs.hpp"
#include "support/on_device.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Case;
using reference::Values;

/// A hop of a batch in host memory.
struct HostBlock {
  std::uint64_t targets = 0;
  reference::Edges edges;       ///< Of all sources; rows of targets have entries.
  std::vector<double> degrees;  ///< Of the sources, in the whole graph.
  /// Of the sources, likewise: 1 + the weights of their edges, or the number of these.
  std::vector<double> totals;

  /// What Block::make() says of its rows, of x of k columns.
  [[nodiscard]] Values sums(Weighting weighting, const Values& x, std::uint64_t k) const {
    std::vector<double> sampled(targets, 0.0);
    for (const auto& edge : edges.list) sampled[edge.first] += 1.0;
    Values y(targets * k, 0.0);
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      const auto [i, j] = edges.list[e];
      double factor = (weighting == Weighting::mean ? 1.0 : degrees[i]) / sampled[i];
      if (!edges.weights.empty()) factor *= edges.weights[e];
      if (weighting == Weighting::symmetric) factor *= root(i) * root(j);
      for (std::uint64_t c = 0; c < k; ++c) y[i * k + c] += factor * x[j * k + c];
    }
    for (std::uint64_t i = 0; weighting == Weighting::symmetric && i < targets; ++i) {
      for (std::uint64_t c = 0; c < k; ++c) y[i * k + c] += x[i * k + c] * root(i) * root(i);
    }
    return y;
  }

  [[nodiscard]] double mean_weight(std::uint64_t i) const {
    double sum = 0.0, count = 0.0;
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      if (edges.list[e].first != i) continue;
      sum += edges.weights[e];
      count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
  }
  [[nodiscard]] double root(std::uint64_t i) const {
    return totals[i] > 0.0 ? 1.0 / std::sqrt(totals[i]) : 0.0;
  }
};

/// The convolution of the block, from what its paper makes of neighbours' sums or of edges.
Values expected_of(const Case& test, const HostBlock& block, const Values& x,
                   const std::vector<Values>& p) {
  const std::uint64_t n = block.targets;
  if (!test.weighting) {
    Values y = test.reference(block.edges, x, p, test.in, test.out);
    y.resize(n * test.out);
    return y;
  }
  Values sums = block.sums(*test.weighting, x, test.in);
  if (*test.weighting == Weighting::symmetric)
    return reference::product(sums, p[0], n, test.in, test.out);
  Values own = x;
  own.resize(n * test.in);
  if (std::string(test.name) == "sage")
    return reference::sum_of(reference::product(own, p[0], n, test.in, test.out),
                             reference::product(sums, p[1], n, test.in, test.out));
  // GIN: rows without neighbours that are what it makes of these, times 1 + epsilon.
  for (std::size_t i = 0; i < sums.size(); ++i) own[i] += sums[i] / (1.0 + p[0][0]);
  return test.reference({n, {}}, own, p, test.in, test.out);
}

/// What one pass over the block leaves.
struct Found {
  std::vector<float> y, dx, gradients;
};

Found run_on(Context& context, const Case& test, const Block& block, const Values& x,
             const Values& dy, std::vector<Parameter>& list, std::vector<Values>& values) {
  const exec::Stream& stream = context.stream();
  const std::uint64_t targets = block.size().targets, sources = block.size().sources;
  const auto out = std::make_shared<Neighbours>(), in = std::make_shared<Neighbours>();
  const Neighbourhood neighbourhood(out, in);
  const auto aggregation = test.weighting ? std::make_shared<Aggregation>(neighbourhood) : nullptr;
  Parameters parameters;
  const auto convolution = test.on(parameters,
                                   {.name = "c",
                                    .in = test.in,
                                    .out = test.out,
                                    .needs_input_gradient = test.has_input_gradient()},
                                   neighbourhood, aggregation);
  parameters.allocate(stream, 7);
  list = parameters.list();
  auto all = parameters.values().to_host(stream);
  for (const Parameter& p : list) {
    Values one;
    for (std::uint64_t i = 0; i < p.size(); ++i) {
      // Zeros would hide mistakes.
      if (all[p.offset + i] == 0.0f) all[p.offset + i] = 0.25f;
      one.push_back(static_cast<double>(all[p.offset + i]));
    }
    exec::copy(stream, parameters.value(values.size()), all.data() + p.offset,
               p.size() * sizeof(float));
    values.push_back(one);
  }
  out->set(block.out());
  in->set(block.in());
  if (aggregation != nullptr) aggregation->set(block.weights());
  const auto narrow = [](const Values& wide) {
    return std::vector<float>(wide.begin(), wide.end());
  };
  const auto x_there = fixtures::stored(stream, narrow(x), NumberType::float32);
  const auto dy_there = fixtures::stored(stream, narrow(dy), NumberType::float32);
  const NumberBuffer y(stream.device(), NumberType::float32, targets * test.out);
  const NumberBuffer dx(stream.device(), NumberType::float32, sources * test.in);
  const Operand operand = Operand::of(sources, x_there.data(), test.in);
  // The second time as after the first, with rows of dy scaled for those that want them so.
  for (int pass = 0; pass < 2; ++pass) {
    parameters.clear_gradients(stream);
    context.begin(1, 1, true);
    convolution->forward(context, operand, y.data());
    const float* scale = convolution->gradient_scale(context);
    const bool is_scaled = scale != nullptr && pass == 1;
    if (is_scaled)
      scale_rows(stream, targets, test.out, test.out, scale, dy_there.data(), dx.data());
    convolution->backward(context, operand, dy_there.data(),
                          test.has_input_gradient() ? dx.data() : Numbers(),
                          {.is_spent = false, .is_scaled = is_scaled});
  }
  parameters.reduce_gradients(context);
  return {fixtures::fetched(stream, y), fixtures::fetched(stream, dx),
          parameters.gradients().to_host(stream)};
}

void check_block_of(Context& context, const Case& test, const Block& block, const HostBlock& host) {
  SCOPED_TRACE(std::string(test.name) + " " + std::to_string(test.in) + " -> " +
               std::to_string(test.out));
  Values x = fixtures::random_values(block.size().sources * test.in, 1);
  const Values dy = fixtures::random_values(block.size().targets * test.out, 2);
  std::vector<Parameter> list;
  std::vector<Values> values;
  const Found found = run_on(context, test, block, x, dy, list, values);
  const auto near = [](float number, double expected, double tolerance) {
    return std::abs(static_cast<double>(number) - expected) <=
           tolerance * (1.0 + std::abs(expected));
  };
  const Values expected = expected_of(test, host, x, values);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(near(found.y[i], expected[i], 4e-5)) << "y " << i;
  const auto objective = [&] {
    const Values y = expected_of(test, host, x, values);
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  };
  const std::size_t few = testing_support::step_under_threads(7);
  const std::size_t step = (1 + x.size() / 60) * few;
  for (std::size_t i = 0; test.has_input_gradient() && i < x.size(); i += step) {
    const double slope = reference::derivative(objective, x[i]);
    ASSERT_TRUE(near(found.dx[i], slope, 1e-4))
        << "dx " << i << ": " << found.dx[i] << ", not " << slope;
  }
  for (std::size_t p = 0; p < list.size(); ++p) {
    for (std::size_t i = 0; i < values[p].size(); i += few) {
      const double slope = reference::derivative(objective, values[p][i]);
      const float gradient = found.gradients[list[p].offset + i];
      ASSERT_TRUE(near(gradient, slope, 3e-4))
          << list[p].name << " " << i << ": " << gradient << ", not " << slope;
    }
  }
}

/// Those that blocks have: of dense features, and not of a layer that looks at no block.
std::vector<Case> cases_of(bool is_weighted) {
  std::vector<Case> all;
  for (const Case& test : fixtures::cases()) {
    const std::string name = test.name;
    if (test.is_sparse || name == "linear") continue;
    if (!is_weighted || (test.weighting && name != "gin")) all.push_back(test);
  }
  if (!is_weighted) return all;
  using fixtures::Loops;
  for (const auto& [in, heads, width] :
       {std::array<std::uint64_t, 3>{3, 2, 3}, {2, 2, 4}, {1, 4, 16}, {2, 1, 66}, {1, 2, 68}}) {
    all.push_back(fixtures::weighted_gat(in, heads, width, false, Loops::given));
    all.push_back(fixtures::weighted_gatv2(in, heads, width, false, Loops::given));
  }
  return all;
}

/// Both hops of a batch: four seeds, of which two are one vertex. With the graph's weights where it
/// has some.
void check_blocks(const team::TeamOptions& options, const fixtures::Named& named,
                  const std::vector<Vertex>& seeds) {
  SCOPED_TRACE(named.name);
  const bool is_weighted = named.graph.weight_type != graph::WeightType::none;
  const GraphPair graphs = fixtures::pair_of(named.graph, 1);
  team::run_team(options, [&](team::Team& team) {
    Context context(team, {.allow_tf32 = false});
    context.set_in_batches();
    const exec::Stream& stream = context.stream();
    const graph::Shard shard = graph::make_shard(team, {graphs.out, nullptr, graphs.cuts});
    const sample::GraphStore store(team, shard, {.edge_weights = is_weighted});
    sample::NeighbourSampler sampler(
        team.device(), store,
        {.fanouts = {3, 2}, .batch = seeds.size(), .edge_ids = true, .edge_weights = is_weighted});
    const auto weights = fixtures::edges_of(named.graph).weights;
    std::vector<float> totals;
    for (Vertex v = 0; v < named.graph.vertices; ++v)
      totals.push_back(is_weighted ? static_cast<float>(1.0 + weighted_degree(named.graph, v))
                                   : static_cast<float>(named.graph.degree(v) + 1));
    memory::GlobalArray<float> degrees(team, graphs.cuts, 1, memory::Placement::device);
    degrees.buffer().upload(stream, totals);
    const auto there = testing_support::on_device(stream, seeds);
    sampler.run(stream, there.data(), seeds.size(), 5);
    const sample::BatchCounts counts = sampler.counts(stream)[0];
    const sample::SampledBatch batch = sampler.batch(0);
    const auto fetch = [&]<class T>(const T* from, std::uint64_t count) {
      std::vector<T> values(count);
      exec::copy(stream, values.data(), from, count * sizeof(T));
      stream.synchronize();
      return values;
    };
    const auto vertices = fetch(batch.vertices, counts.vertices[2]);
    for (std::uint32_t hop = 0; hop < 2; ++hop) {
      SCOPED_TRACE("hop " + std::to_string(hop));
      const BlockSize size{counts.vertices[hop], counts.vertices[hop + 1], counts.edges[hop]};
      ASSERT_LT(size.targets, size.sources);
      const auto duplicates = fetch(batch.hops[hop].duplicates, size.sources);
      ASSERT_GT(*std::max_element(duplicates.begin(), duplicates.end()), 1u);
      const auto offsets = fetch(batch.hops[hop].row_offsets, size.targets + 1);
      const auto columns = fetch(batch.hops[hop].columns, size.edges);
      const auto edge_ids = fetch(batch.hops[hop].edge_ids, size.edges);
      HostBlock host;
      host.targets = size.targets;
      host.edges.n = size.sources;
      bool is_partial = false;
      for (std::uint64_t j = 0; j < size.sources; ++j) {
        host.degrees.push_back(static_cast<double>(named.graph.degree(vertices[j])));
        host.totals.push_back(static_cast<double>(totals[vertices[j]]));
      }
      for (std::uint64_t i = 0; i < size.targets; ++i) {
        for (EdgeOffset e = offsets[i]; e < offsets[i + 1]; ++e) {
          host.edges.list.emplace_back(i, columns[e]);
          if (is_weighted) host.edges.weights.push_back(weights[edge_ids[e]]);
        }
        is_partial |= static_cast<double>(offsets[i + 1] - offsets[i]) < host.degrees[i];
      }
      ASSERT_TRUE(is_partial);
      for (const Case& test : cases_of(is_weighted)) {
        Block block;
        BlockOptions made{test.weighting.value_or(Weighting::sum), test.weighting.has_value(),
                          test.loops, true};
        made.edge_weights = is_weighted;
        made.weighted_degrees = degrees.view();
        block.make(stream, store.view(), batch.vertices, batch.vertices, batch.hops[hop], size,
                   made);
        HostBlock looped = host;
        for (std::uint64_t i = 0; test.loops && i < size.targets; ++i) {
          looped.edges.list.emplace_back(i, i);
          // The mean of the row's sampled edges.
          if (is_weighted) looped.edges.weights.push_back(host.mean_weight(i));
        }
        context.set_rows(size.targets, batch.vertices);
        check_block_of(context, test, block, looped);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

/// From -1 to 2, so that some vertices' weights add up to -1 or less.
float some_weight(EdgeOffset e) { return static_cast<float>(e * 5 % 13) / 4.0f - 1.0f; }

void check_all(const team::TeamOptions& options) {
  check_blocks(options, {"random", fixtures::random_graph(40, 300, 5, false)}, {7, 3, 7, 21});
  const fixtures::Named weighted{
      "random, weighted",
      fixtures::with_weights(fixtures::random_graph(40, 300, 5, false), some_weight)};
  check_blocks(options, weighted, {7, 3, 7, 21});
  if (testing_support::is_small()) return;
  check_blocks(options, {"symmetric", fixtures::random_graph(30, 160, 6, true)}, {0, 29, 12, 12});
  check_blocks(options, {"hubs", fixtures::generated("kron:6", true)}, {0, 1, 0, 33});
  check_blocks(
      options,
      {"hubs, integer weights", fixtures::weighted(fixtures::generated("kron:6", true), 3)},
      {0, 1, 0, 33});
}

TEST(BlockConvolutions, EqualDifferences) { check_all({exec::DeviceKind::cpu, 1, 2}); }
TEST(BlockConvolutionsCuda, EqualDifferences) {
  if (fixtures::cuda_teams().empty()) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_team(1));
}

}  // namespace
}  // namespace warren::learn
