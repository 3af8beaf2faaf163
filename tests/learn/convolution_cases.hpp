// SPDX-License-Identifier: Apache-2.0
// Convolutions with their references, and one forward and backward pass of them on a team.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "warren/learn/convolution.hpp"

#include "learn/fixtures.hpp"
#include "reference/learn.hpp"

namespace warren::fixtures {

using learn::Aggregation;
using learn::Context;
using learn::Convolution;
using learn::ConvolutionShape;
using learn::GraphPair;
using learn::Neighbourhood;
using learn::NormKind;
using learn::Parameter;
using learn::Parameters;
using learn::Weighting;
using reference::Values;

/// A convolution beside its reference: parameters in the order of their names below.
struct Case {
  const char* name;
  std::uint64_t in, out;
  bool is_sparse;
  std::optional<Weighting> weighting;  ///< Of its sums over neighbours; none: it looks at edges.
  bool loops;                          ///< Every vertex is a neighbour of its own.
  /// Of a matrix, and of the sums over it where they have a weighting.
  std::function<std::unique_ptr<Convolution>(Parameters&, const ConvolutionShape&,
                                             const Neighbourhood&,
                                             std::shared_ptr<const Aggregation>)>
      on;
  std::function<Values(const reference::Edges&, const Values& x, const std::vector<Values>& p,
                       std::uint64_t in, std::uint64_t out)>
      reference;
  bool is_first = false;     ///< Of a model's layers, so that the input has no gradient.
  bool is_weighted = false;  ///< Edges count the graph's weights.

  [[nodiscard]] bool has_input_gradient() const { return !is_sparse && !is_first; }
  /// Of a whole graph.
  [[nodiscard]] std::unique_ptr<Convolution> make(Context& context, Parameters& parameters,
                                                  const ConvolutionShape& shape,
                                                  const GraphPair& graphs) const {
    const auto weights = is_weighted ? learn::EdgeWeights::of_graph : learn::EdgeWeights::ones;
    const Neighbourhood neighbourhood(
        context.team(), context.stream(),
        loops ? with_self_loops(graphs, context.team().device().pool(), weights) : graphs,
        sparse::HaloBy::automatic, weights);
    return on(parameters, shape, neighbourhood,
              weighting
                  ? std::make_shared<const Aggregation>(context, neighbourhood, graphs, *weighting)
                  : nullptr);
  }
};

inline Case gcn(std::uint64_t in, std::uint64_t out, bool is_sparse) {
  return {"gcn",
          in,
          out,
          is_sparse,
          Weighting::symmetric,
          false,
          [](Parameters& p, const ConvolutionShape& s, const Neighbourhood&, auto sums) {
            return make_gcn(p, s, sums);
          },
          [](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
            return reference::gcn(e, x, p[0], in_, out_);
          }};
}

inline Case sage(std::uint64_t in, std::uint64_t out, bool is_sparse, Weighting weighting) {
  return {"sage",
          in,
          out,
          is_sparse,
          weighting,
          false,
          [](Parameters& p, const ConvolutionShape& s, const Neighbourhood&, auto sums) {
            return make_sage(p, s, sums);
          },
          [weighting](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
            const Values gathered = weighting == Weighting::sum
                                        ? reference::neighbour_sum(e, x, in_)
                                        : reference::neighbour_mean(e, x, in_);
            return reference::sum_of(reference::product(x, p[0], e.n, in_, out_),
                                     reference::product(gathered, p[1], e.n, in_, out_));
          }};
}

inline Case sage_max(std::uint64_t in, std::uint64_t out) {
  return {"sage max",
          in,
          out,
          false,
          std::nullopt,
          false,
          [](Parameters& p, const ConvolutionShape& s, const Neighbourhood& edges, const auto&) {
            return make_sage_max(p, s, edges);
          },
          [](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
            return reference::sum_of(
                reference::product(x, p[0], e.n, in_, out_),
                reference::product(reference::neighbour_max(e, x, in_), p[1], e.n, in_, out_));
          }};
}

inline Case gin(std::uint64_t in, std::uint64_t out, bool is_sparse,
                NormKind norm = NormKind::none) {
  return {"gin",
          in,
          out,
          is_sparse,
          Weighting::sum,
          false,
          [norm](Parameters& p, const ConvolutionShape& s, const Neighbourhood&, auto sums) {
            return make_gin(p, s, sums, norm);
          },
          [norm](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
            return reference::gin(e, x, p[0][0], p[1], p[2], p[3], in_, out_,
                                  static_cast<int>(norm), norm == NormKind::none ? Values{} : p[4]);
          }};
}

inline Case gat(std::uint64_t in, std::uint64_t heads, std::uint64_t width, bool is_sparse,
                float edge_dropout = 0.0f) {
  return {"gat",
          in,
          heads * width,
          is_sparse,
          std::nullopt,
          true,
          [=](Parameters& p, const ConvolutionShape& s, const Neighbourhood& edges, const auto&) {
            return make_gat(p, s, edges, {.heads = heads, .width = width}, edge_dropout);
          },
          [heads, width](const auto& e, const Values& x, const auto& p, auto in_, auto) {
            return reference::gat(e, x, p[0], p[1], p[2], in_, heads, width);
          }};
}

/// As a first layer, whose input has no gradient.
inline Case gat_first(std::uint64_t in, std::uint64_t heads, std::uint64_t width) {
  Case test = gat(in, heads, width, false);
  test.is_first = true;
  return test;
}

/// With `loops` every vertex is a neighbour of its own.
inline Case gatv2(std::uint64_t in, std::uint64_t heads, std::uint64_t width, bool is_sparse,
                  float edge_dropout = 0.0f, bool loops = true) {
  return {"gatv2",
          in,
          heads * width,
          is_sparse,
          std::nullopt,
          loops,
          [=](Parameters& p, const ConvolutionShape& s, const Neighbourhood& edges, const auto&) {
            return make_gatv2(p, s, edges, {.heads = heads, .width = width}, edge_dropout);
          },
          [=](const auto& e, const Values& x, const auto& p, auto in_, auto) {
            return reference::gatv2(loops ? reference::with_loops(e) : e, x, p[0], p[1], p[2], in_,
                                    heads, width);
          }};
}

/// The loops of a reference's edges: it adds them, or has none, or they are among those given.
enum class Loops { added, none, given };

/// Attention over edges that have weights.
inline Case weighted_gat(std::uint64_t in, std::uint64_t heads, std::uint64_t width, bool is_sparse,
                         Loops loops = Loops::added) {
  Case test = gat(in, heads, width, is_sparse);
  test.name = "gat with weights";
  test.is_weighted = true;
  test.on = [=](Parameters& p, const ConvolutionShape& s, const Neighbourhood& edges, const auto&) {
    return make_gat(p, s, edges, {.heads = heads, .width = width, .edge_weights = true}, 0.0f);
  };
  test.reference = [=](const auto& e, const Values& x, const auto& p, auto in_, auto) {
    return reference::weighted_gat(loops == Loops::added ? reference::with_mean_loops(e) : e, x,
                                   p[0], p[1], p[2], p[3], p[4], in_, heads, width);
  };
  return test;
}

inline Case weighted_gatv2(std::uint64_t in, std::uint64_t heads, std::uint64_t width,
                           bool is_sparse, Loops loops = Loops::added) {
  Case test = gatv2(in, heads, width, is_sparse, 0.0f, loops != Loops::none);
  test.name = "gatv2 with weights";
  test.is_weighted = true;
  test.on = [=](Parameters& p, const ConvolutionShape& s, const Neighbourhood& edges, const auto&) {
    return make_gatv2(p, s, edges, {.heads = heads, .width = width, .edge_weights = true}, 0.0f);
  };
  test.reference = [=](const auto& e, const Values& x, const auto& p, auto in_, auto) {
    return reference::weighted_gatv2(loops == Loops::added ? reference::with_mean_loops(e) : e, x,
                                     p[0], p[1], p[2], p[3], in_, heads, width);
  };
  return test;
}

inline Case linear(std::uint64_t in, std::uint64_t out, bool is_sparse) {
  return {"linear",
          in,
          out,
          is_sparse,
          std::nullopt,
          false,
          [](Parameters& p, const ConvolutionShape& s, const Neighbourhood&, const auto&) {
            return make_linear(p, s);
          },
          [](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
            return reference::product(x, p[0], e.n, in_, out_);
          }};
}

inline std::vector<Case> cases() {
  return {linear(5, 3, false), linear(4, 6, true), gcn(3, 5, false), gcn(5, 2, false),
          gcn(4, 3, true), sage(2, 5, false, Weighting::mean), sage(5, 2, false, Weighting::sum),
          sage(4, 3, true, Weighting::mean), sage_max(3, 2),
          // Rows of dy are scaled beforehand.
          gcn(8, 8, false), sage(9, 4, false, Weighting::mean), gin(2, 5, false), gin(5, 2, false),
          gin(3, 3, true), gin(4, 3, false, NormKind::batch), gin(2, 5, true, NormKind::batch),
          gin(3, 6, false, NormKind::layer), gat(3, 2, 3, false), gat(4, 1, 9, true),
          // Rows of 16 bytes: some lanes of a warp, all of them, and more than one tile of columns.
          gat(2, 2, 4, false), gat(1, 4, 16, false), gat(1, 2, 68, false), gat(1, 3, 64, false),
          gat_first(4, 1, 5), gat_first(8, 4, 5), gat_first(4, 2, 2), gat_first(36, 8, 18),
          // The same, and heads that fill a group of lanes, two packs of it and more than it holds.
          gatv2(3, 2, 3, false), gatv2(4, 1, 9, true), gatv2(2, 2, 4, false),
          gatv2(1, 4, 16, false), gatv2(2, 1, 66, false), gatv2(1, 2, 68, false),
          gatv2(1, 1, 276, false),
          // Rows of nothing.
          gatv2(2, 2, 4, false, 0.0f, false)};
}

/// What the ranks found, in the input's order.
struct Found {
  std::vector<double> y, dx;
  std::vector<float> gradients;
};

/// Runs the convolution on every rank with this dy, on rows stored as `type`; what its parameters
/// are goes to `list`, and to `values` where that is empty: else it has them.
/// `has_gains`: norms begin with others than 1.
inline Found run(const Case& test, const GraphPair& graphs, const team::TeamOptions& options,
                 const Values& x, const Values& dy, std::vector<Parameter>& list,
                 std::vector<Values>& values, learn::NumberType type = learn::NumberType::float32,
                 bool tensor_sums = false, bool has_gains = true) {
  Found found;
  const std::uint64_t in = test.in;
  const std::uint64_t out = test.out;
  const bool draws = values.empty();
  team::run_team(options, [&](team::Team& team) {
    Context context(team, {.allow_tf32 = false}, type);
    context.set_tensor_sums(tensor_sums ? learn::TensorCoreUse::on : learn::TensorCoreUse::off);
    const auto r = static_cast<std::size_t>(team.rank());
    const std::uint64_t first = graphs.cuts[r];
    const std::uint64_t n = graphs.cuts[r + 1] - first;
    context.set_rows(n, nullptr);
    Parameters parameters;
    auto convolution = test.make(context, parameters,
                                 {.name = "c",
                                  .in = in,
                                  .out = out,
                                  .is_sparse = test.is_sparse,
                                  .needs_input_gradient = test.has_input_gradient()},
                                 graphs);
    parameters.allocate(context.stream(), 7);
    if (team.rank() == 0) {
      list = parameters.list();
      // Zeros would hide mistakes, and so would gains of one.
      auto all = parameters.values().to_host(context.stream());
      for (const Parameter& p : list) {
        Values one;
        for (std::uint64_t i = 0; i < p.size(); ++i) {
          float& value = all[p.offset + i];
          if (value == 0.0f) value = 0.25f;
          if (has_gains && p.initial == learn::Initial::ones) value = gain(i);
          one.push_back(static_cast<double>(all[p.offset + i]));
        }
        if (draws) values.push_back(one);
      }
    }
    team.barrier();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::vector<float> narrow(values[i].begin(), values[i].end());
      exec::copy(context.stream(), parameters.value(i), narrow.data(),
                 narrow.size() * sizeof(float));
      context.stream().synchronize();
    }
    const std::vector<float> mine(x.begin() + static_cast<std::ptrdiff_t>(first * in),
                                  x.begin() + static_cast<std::ptrdiff_t>((first + n) * in));
    const auto there = stored(context.stream(), mine, type);
    const learn::SparseOperand sparse(context.stream(), sparse_rows(mine, n, in));
    const learn::Operand operand = test.is_sparse ? learn::Operand{n, nullptr, &sparse, in}
                                                  : learn::Operand::of(n, there.data(), in);
    const learn::NumberBuffer y(team.device(), type, n * out);
    const learn::NumberBuffer dx(team.device(), type, n * in);
    const std::vector<float> my_dy(dy.begin() + static_cast<std::ptrdiff_t>(first * out),
                                   dy.begin() + static_cast<std::ptrdiff_t>((first + n) * out));
    const auto dy_there = stored(context.stream(), my_dy, type);
    // Twice: what is kept between passes must not matter to the next. The second time rows of dy
    // are scaled for those that want them so.
    for (int pass = 0; pass < 2; ++pass) {
      parameters.clear_gradients(context.stream());
      context.begin(1, 1, true);
      convolution->forward(context, operand, y.data());
      const float* scale = convolution->gradient_scale(context);
      const bool is_scaled = scale != nullptr && pass == 1;
      if (is_scaled) {
        learn::scale_rows(context.stream(), n, out, out, scale, dy_there.data(), dx.data());
        if (!convolution->reads_plain_gradient())
          exec::fill_bytes(context.stream(), dy_there.data().raw(), 0xff, dy_there.bytes());
      }
      convolution->backward(context, operand, dy_there.data(),
                            test.has_input_gradient() ? dx.data() : learn::Numbers(),
                            {.is_spent = false, .is_scaled = is_scaled});
    }
    parameters.reduce_gradients(context);
    const auto collect = [&](const learn::NumberBuffer& buffer, std::vector<double>& to) {
      const auto local = fetched(context.stream(), buffer);
      for (const auto& part : team.all_gather_v(std::span<const float>(local))) {
        if (team.rank() == 0) to.insert(to.end(), part.begin(), part.end());
      }
    };
    collect(y, found.y);
    collect(dx, found.dx);
    const auto gradients = parameters.gradients().to_host(context.stream());
    for (const auto& part : team.all_gather_v(std::span<const float>(gradients)))
      EXPECT_EQ(part, gradients) << "gradients differ between ranks";
    if (team.rank() == 0) found.gradients = gradients;
  });
  return found;
}

/// What is allowed beside a relative error, for each of a graph's vertices.
struct Slack {
  double rows = 0.0;        ///< Of outputs and their gradients.
  double parameters = 0.0;  ///< Of gradients of parameters.
  std::size_t step = 1;     ///< Every so many elements are compared.
};

/// A convolution's output and gradients beside its reference and the reference's differences.
inline void check_case(const Case& test, const Named& named, const team::TeamOptions& options,
                       const Slack& slack) {
  SCOPED_TRACE(std::string(test.name) + " " + std::to_string(test.in) + " -> " +
               std::to_string(test.out) + " on " + named.name + ", " +
               testing_support::name_of(options));
  const GraphPair graphs = pair_of(named.graph, options.ranks);
  const std::uint64_t n = named.graph.vertices;
  Values x = random_values(n * test.in, 1);
  if (test.is_sparse) {
    for (std::size_t i = 0; i < x.size(); i += 2) x[i] = 0.0;
  }
  const Values dy = random_values(n * test.out, 2);
  std::vector<Parameter> list;
  std::vector<Values> values;
  const Found found = run(test, graphs, options, x, dy, list, values);
  const reference::Edges edges = edges_of(named.graph);
  const Values expected = test.reference(edges, x, values, test.in, test.out);
  const double rounding = slack.rows * static_cast<double>(n);
  ASSERT_EQ(found.y.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found.y[i], expected[i], 2e-5 * (1.0 + std::abs(expected[i])) + rounding)
        << "y " << i;
  const auto objective = [&] {
    const Values y = test.reference(edges, x, values, test.in, test.out);
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  };
  const std::size_t step = (1 + x.size() / 60) * slack.step;
  for (std::size_t i = 0; test.has_input_gradient() && i < x.size(); i += step) {
    const double slope = reference::derivative(objective, x[i]);
    ASSERT_NEAR(found.dx[i], slope, 1e-4 * (1.0 + std::abs(slope)) + rounding) << "dx " << i;
  }
  for (std::size_t p = 0; p < list.size(); ++p) {
    for (std::size_t i = 0; i < values[p].size(); i += slack.step) {
      const double slope = reference::derivative(objective, values[p][i]);
      ASSERT_NEAR(static_cast<double>(found.gradients[list[p].offset + i]), slope,
                  2e-4 * (1.0 + std::abs(slope)) + slack.parameters * static_cast<double>(n))
          << list[p].name << " " << i;
    }
  }
}

}  // namespace warren::fixtures
