// SPDX-License-Identifier: Apache-2.0
// Rows of 16 bits: passes, norms and layers against the same on rows of float32 that hold the same
// numbers.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "warren/learn/norm.hpp"

#include "learn/convolution_cases.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Case;
using fixtures::fetched;
using fixtures::Named;
using fixtures::rounding_of;
using fixtures::stored;
using reference::Values;

constexpr NumberType kHalves[] = {NumberType::float16, NumberType::bfloat16};

/// What numbers of the type hold of random ones.
std::vector<float> representable(std::uint64_t size, std::uint64_t seed, NumberType type) {
  const exec::Stream stream(exec::Device::cpu(1));
  const Values values = fixtures::random_values(size, seed);
  return fetched(stream, stored(stream, {values.begin(), values.end()}, type));
}
Values wide(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// Each is the other one, rounded: `units` roundings.
void expect_rounded(const std::vector<float>& found, const std::vector<float>& expected,
                    NumberType type, double units, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]),
                units * rounding_of(type) * (1e-3 + std::abs(static_cast<double>(expected[i]))))
        << what << " " << i << " of " << name_of(type);
}

struct Size {
  std::uint64_t n, k;
};
constexpr Size kSizes[] = {{1, 1}, {3, 4}, {64, 47}, {150, 8}, {1000, 100}, {300, 256}};

/// An epilogue forward and backward with its bias' gradient, and the sums of its products.
struct Passed {
  std::vector<float> y, dy, plain, bias_gradient, sums, scaled, with_self, dropped;
};
Passed pass(const exec::Stream& stream, const Size& size, Activation activation, NumberType of,
            NumberType stored_as) {
  const std::uint64_t n = size.n, k = size.k;
  const auto matrix = [&](std::uint64_t seed) {
    return stored(stream, representable(n * k, seed, of), stored_as);
  };
  const auto floats = [&](std::uint64_t count, std::uint64_t seed) {
    return stored(stream, representable(count, seed, NumberType::float32), NumberType::float32);
  };
  const auto zeros = [&](std::uint64_t count) {
    return stored(stream, std::vector<float>(count, 0.0f), NumberType::float32);
  };
  const auto bias = floats(k, 2), scale = floats(n, 6);
  const auto y = matrix(1), residual = matrix(3), dy = matrix(4), plain = matrix(4), x = matrix(5);
  const auto self = matrix(7), dropped = matrix(8);
  Epilogue epilogue{.bias = bias.data().as<float>(),
                    .residual = residual.data(),
                    .activation = activation,
                    .slope = 0.1f};
  epilogue.dropout = {random_key(1, 2, 3), 0.4f, nullptr};
  const auto bias_gradient = zeros(k), sums = zeros(k);
  // Masks that a ReLU leaves come from y: the same numbers in all types.
  const auto seen = stored(stream, representable(n * k, 9, of), stored_as);
  apply(stream, epilogue, n, k, y.data());
  ColumnSums adder;
  adder.apply_backward(stream, epilogue, n, k, seen.data(), dy.data(),
                       bias_gradient.data().as<float>());
  apply_backward(stream, epilogue, n, k, seen.data(), plain.data());
  adder.add(stream, {.k = k, .a = x.data(), .b = seen.data()}, n, sums.data().as<float>());
  const std::uint64_t stride = padded(k, stored_as);
  const NumberBuffer laid(stream.device(), stored_as, n * stride);
  scale_rows(stream, n, k, stride, scale.data().as<float>(), x.data(), laid.data());
  add_self(stream, n, k, nullptr, x.data(), self.data());
  drop(stream, epilogue.dropout, n, k, x.data(), dropped.data());
  Passed found{fetched(stream, y),     fetched(stream, dy),
               fetched(stream, plain), fetched(stream, bias_gradient),
               fetched(stream, sums),  {},
               fetched(stream, self),  fetched(stream, dropped)};
  const auto all = fetched(stream, laid);
  for (std::uint64_t i = 0; i < n * stride; ++i) {
    if (i % stride < k) {
      found.scaled.push_back(all[i]);
    } else {
      EXPECT_EQ(all[i], 0.0f);
    }
  }
  return found;
}

void check_passes(const exec::Device& device) {
  const exec::Stream stream(device);
  for (const NumberType type : kHalves) {
    for (const Size& size : kSizes) {
      SCOPED_TRACE(std::to_string(size.n) + " x " + std::to_string(size.k));
      for (const Activation activation :
           {Activation::none, Activation::relu, Activation::elu, Activation::leaky_relu}) {
        const Passed found = pass(stream, size, activation, type, type);
        const Passed expected = pass(stream, size, activation, type, NumberType::float32);
        expect_rounded(found.y, expected.y, type, 1.1, "y");
        expect_rounded(found.dy, expected.dy, type, 1.1, "dy");
        EXPECT_EQ(found.dy, found.plain);
        expect_rounded(found.scaled, expected.scaled, type, 1.1, "scaled");
        expect_rounded(found.with_self, expected.with_self, type, 1.1, "with itself");
        expect_rounded(found.dropped, expected.dropped, type, 1.1, "dropped");
        // Sums are of float32 with every type.
        for (std::size_t c = 0; c < size.k; ++c) {
          ASSERT_NEAR(found.sums[c], expected.sums[c], 1e-3);
          ASSERT_NEAR(found.bias_gradient[c], expected.bias_gradient[c], 1e-3);
        }
      }
    }
  }
}

TEST(HalfPasses, AreThoseOfFloat32Rounded) { check_passes(exec::Device::cpu(2)); }
TEST(HalfPassesCuda, AreThoseOfFloat32Rounded) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_passes(exec::Device::cuda(0));
}

TEST(HalfPasses, RefuseToMixTypes) {
  const exec::Stream stream(exec::Device::cpu(1));
  const NumberBuffer half(stream.device(), NumberType::float16, 8);
  const NumberBuffer brain(stream.device(), NumberType::bfloat16, 8);
  EXPECT_THROW(add_self(stream, 2, 4, nullptr, half.data(), brain.data()), UsageError);
  EXPECT_THROW(scale_rows(stream, 2, 4, 4, nullptr, half.data(), brain.data()), UsageError);
  EXPECT_THROW((void)half.data().as<float>(), UsageError);
}

void check_conversions(const exec::Device& device) {
  const exec::Stream stream(device);
  for (const NumberType type : kHalves) {
    for (const Size& size : kSizes) {
      const auto values = representable(size.n * size.k, 1, type);
      const NumberBuffer narrow(device, type, values.size());
      const NumberBuffer back(device, NumberType::float32, values.size());
      scale_rows(stream, size.n, size.k, size.k, nullptr,
                 stored(stream, values, NumberType::float32).data(), narrow.data());
      scale_rows(stream, size.n, size.k, size.k, nullptr, narrow.data(), back.data());
      EXPECT_EQ(fetched(stream, back), values);
      // Rows of an odd number of 16 bits move, too.
      const std::vector<Vertex> rows = {static_cast<Vertex>(size.n - 1), 0};
      const NumberBuffer gathered(device, type, 2 * size.k);
      gather_rows(stream, 2, size.k * size_of(type),
                  testing_support::on_device(stream, rows).data(), narrow.data().raw(),
                  gathered.data().raw());
      std::vector<float> expected(values.end() - static_cast<std::ptrdiff_t>(size.k), values.end());
      expected.insert(expected.end(), values.begin(),
                      values.begin() + static_cast<std::ptrdiff_t>(size.k));
      EXPECT_EQ(fetched(stream, gathered), expected);
    }
  }
}

TEST(HalfPasses, KeepWhatTheyConvert) { check_conversions(exec::Device::cpu(2)); }
TEST(HalfPassesCuda, KeepWhatTheyConvert) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_conversions(exec::Device::cuda(0));
}

/// A norm forward and backward on one rank: y, dy, and the parameters' gradients.
std::array<std::vector<float>, 3> norm_of(exec::DeviceKind kind, NormKind norm_kind, NumberType of,
                                          NumberType stored_as) {
  const std::uint64_t n = 300, k = 12;
  std::array<std::vector<float>, 3> found;
  team::run_team({kind, 1, 1}, [&](team::Team& team) {
    Context context(team, {}, stored_as);
    const exec::Stream& stream = context.stream();
    context.set_rows(n, nullptr);
    Parameters parameters;
    Norm norm(parameters, norm_kind, "n", k);
    parameters.allocate(stream, 1);
    context.begin(1, 1, true);
    const auto x = stored(stream, representable(n * k, 1, of), stored_as);
    const auto dy = stored(stream, representable(n * k, 2, of), stored_as);
    const NumberBuffer y(team.device(), stored_as, n * k);
    const auto bias = testing_support::on_device(stream, std::vector<float>(k, 0.0f));
    exec::copy(stream, norm.input(context, n, y.data()).raw(), x.data().raw(), x.bytes());
    norm.forward(context, {}, n, y.data());
    norm.backward(context, {}, n, y.data(), dy.data(), bias.data());
    found = {fetched(stream, y), fetched(stream, dy), parameters.gradients().to_host(stream)};
  });
  return found;
}

void check_norms(exec::DeviceKind kind) {
  for (const NormKind norm : {NormKind::batch, NormKind::layer}) {
    for (const NumberType type : kHalves) {
      const auto found = norm_of(kind, norm, type, type);
      const auto expected = norm_of(kind, norm, type, NumberType::float32);
      for (std::size_t what = 0; what < found.size(); ++what) {
        for (std::size_t i = 0; i < found.at(what).size(); ++i)
          ASSERT_NEAR(found.at(what)[i], expected.at(what)[i],
                      rounding_of(type) * (what == 2 ? 100.0 : 8.0))
              << static_cast<int>(norm) << ", " << name_of(type) << ", " << what << ", " << i;
      }
    }
  }
}

TEST(HalfNorms, AreThoseOfFloat32Rounded) { check_norms(exec::DeviceKind::cpu); }
TEST(HalfNormsCuda, AreThoseOfFloat32Rounded) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_norms(exec::DeviceKind::cuda);
}

double length(const Values& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// The difference is some roundings long.
void expect_close(const Values& found, const Values& expected, double floor, double tolerance,
                  const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  Values difference;
  for (std::size_t i = 0; i < found.size(); ++i) difference.push_back(found[i] - expected[i]);
  EXPECT_LE(length(difference), tolerance * (length(expected) + floor)) << what;
}

void check_layer(const Case& test, const Named& named, const team::TeamOptions& options,
                 NumberType type, bool tensor_sums = false) {
  SCOPED_TRACE(std::string(test.name) + " " + std::to_string(test.in) + " -> " +
               std::to_string(test.out) + " on " + named.name + ", " + name_of(type) + ", " +
               testing_support::name_of(options) + (tensor_sums ? ", tensor cores" : ""));
  const GraphPair graphs = fixtures::pair_of(named.graph, options.ranks);
  const std::uint64_t n = named.graph.vertices;
  std::vector<float> x = representable(n * test.in, 1, type);
  if (test.is_sparse) {
    for (std::size_t i = 0; i < x.size(); i += 2) x[i] = 0.0f;
  }
  const Values dy = wide(representable(n * test.out, 2, type));
  std::vector<Parameter> list;
  std::vector<Values> values;
  // Gains of 1: others bring more of GIN's rows near its ReLU, of which below.
  const auto found =
      fixtures::run(test, graphs, options, wide(x), dy, list, values, type, tensor_sums, false);
  list.clear();
  values.clear();
  const auto expected = fixtures::run(test, graphs, options, wide(x), dy, list, values,
                                      NumberType::float32, false, false);
  const double floor = std::sqrt(static_cast<double>(named.graph.edges() + n));
  expect_close(found.y, expected.y, floor, 6.0 * rounding_of(type), "y");
  // Rounding takes what comes to GIN's ReLU from one side to the other, where it is nearly 0. What
  // a hub's thousands of neighbours get of its gradient is below float16's normal numbers in GAT:
  // that is what losses are scaled for.
  const std::string layer = test.name;
  const double slack = (layer == "gin" ? 32.0 : layer == "gat" ? 9.0 : 6.0) * rounding_of(type);
  if (test.has_input_gradient()) expect_close(found.dx, expected.dx, floor, slack, "dx");
  for (const Parameter& p : list) {
    const auto part = [&](const std::vector<float>& all) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(p.offset);
      return Values(from, from + static_cast<std::ptrdiff_t>(p.size()));
    };
    expect_close(part(found.gradients), part(expected.gradients), floor, slack, p.name.c_str());
  }
}

/// Those of which tensor cores do more on GPUs: spans of 64 columns of a head, part of one,
/// several; narrow rows in all numbers of blocks, four and eight heads together.
std::vector<Case> wide_cases() {
  return {fixtures::gat(2, 1, 47, false),
          fixtures::gat(2, 2, 128, false, 0.4f),
          fixtures::gat(3, 1, 200, false),
          fixtures::gat_first(28, 4, 14),
          fixtures::gat_first(92, 8, 46),
          fixtures::gat_first(100, 4, 64),
          fixtures::gcn(64, 64, false),
          fixtures::sage(40, 128, false, Weighting::sum),
          fixtures::sage(256, 64, false, Weighting::mean)};
}

TEST(HalfConvolutions, AreThoseOfFloat32NearlyWhereWide) {
  const auto graphs = fixtures::small_graphs();
  for (const NumberType type : kHalves) {
    for (const Case& test : wide_cases())
      check_layer(test, graphs.back(), {exec::DeviceKind::cpu, 2, 2}, type);
  }
}
TEST(HalfConvolutions, AreThoseOfFloat32Nearly) {
  const auto graphs = fixtures::small_graphs();
  const std::size_t step = testing_support::is_small() ? 2 : 1;
  std::size_t first = 0;
  for (const NumberType type : kHalves) {
    for (const Case& test : fixtures::cases()) {
      for (std::size_t i = first++ % step; i < graphs.size(); i += step) {
        const int ranks = 1 + static_cast<int>(i % 4);
        check_layer(test, graphs[i], {exec::DeviceKind::cpu, ranks, ranks}, type);
      }
      check_layer(test, {"long star", fixtures::star(2600, true)}, {exec::DeviceKind::cpu, 1, 1},
                  type);
    }
  }
}

void check_on_gpus(const std::vector<Case>& cases, bool tensor_sums) {
  const auto graphs = fixtures::small_graphs();
  for (const NumberType type : kHalves) {
    for (const Case& test : cases) {
      for (const Named& named : graphs)
        check_layer(test, named, {exec::DeviceKind::cuda, 1, 1}, type, tensor_sums);
      check_layer(test, graphs.back(), fixtures::cuda_team(2), type, tensor_sums);
      check_layer(test, {"long star", fixtures::star(2600, true)}, {exec::DeviceKind::cuda, 1, 1},
                  type, tensor_sums);
    }
  }
}
TEST(HalfConvolutionsCuda, AreThoseOfFloat32Nearly) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_on_gpus(fixtures::cases(), false);
  check_on_gpus(wide_cases(), false);
}
TEST(HalfConvolutionsCuda, AreThoseOfFloat32NearlyOnTensorCores) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_on_gpus(fixtures::cases(), true);
  check_on_gpus(wide_cases(), true);
}

}  // namespace
}  // namespace warren::learn
