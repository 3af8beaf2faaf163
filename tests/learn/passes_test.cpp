// SPDX-License-Identifier: Apache-2.0
// Passes over the rows of matrices, of widths that 16 bytes divide and others, and of more rows
// than a tile has, against double precision.
#include <gtest/gtest.h>

#include "warren/learn/norm.hpp"

#include "learn/fixtures.hpp"

namespace warren::learn {
namespace {

using reference::Values;

struct Size {
  std::uint64_t n, k;
};
constexpr Size kSizes[] = {{1, 1}, {3, 4}, {64, 47}, {150, 8}, {1000, 100}, {300, 256}, {70, 1028}};

std::vector<float> narrow(const Values& v) { return {v.begin(), v.end()}; }

memory::Buffer<float> device(const exec::Stream& stream, const Values& v) {
  return testing_support::on_device(stream, narrow(v));
}

memory::Buffer<float> zeros(const exec::Stream& stream, std::uint64_t size) {
  return testing_support::on_device(stream, std::vector<float>(size, 0.0f));
}

void expect_near(const std::vector<float>& found, const Values& expected, double tolerance,
                 const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i],
                tolerance * (1.0 + std::abs(expected[i])))
        << what << " " << i;
}

void check_sums(const exec::Stream& stream, const Size& size) {
  const auto [n, k] = size;
  const Values a = fixtures::random_values(n * k, 1);
  const Values b = fixtures::random_values(n * k, 2);
  Values sums(k, 1.0), products(k, 0.0);
  double all = 0.0;
  for (std::uint64_t i = 0; i < n * k; ++i) {
    sums[i % k] += a[i];
    products[i % k] += a[i] * b[i];
    all += a[i] * b[i];
  }
  const auto a_there = device(stream, a);
  const auto b_there = device(stream, b);
  ColumnSums adder;
  // They are added to what is there.
  auto out = testing_support::on_device(stream, std::vector<float>(k, 1.0f));
  adder.add(stream, {.k = k, .a = a_there.data()}, n, out.data());
  expect_near(out.to_host(stream), sums, 1e-4, "sum");
  out = zeros(stream, k);
  adder.add(stream, {.k = k, .a = a_there.data(), .b = b_there.data()}, n, out.data());
  expect_near(out.to_host(stream), products, 1e-4, "sum of products");
  out = zeros(stream, 1);
  adder.add_all(stream, {.k = k, .a = a_there.data(), .b = b_there.data()}, n, out.data());
  expect_near(out.to_host(stream), {all}, 1e-3, "sum of all");

  const std::uint64_t heads = k % 4 == 0 ? 4 : 1;
  const Values first = fixtures::random_values(n * heads, 3);
  const Values second = fixtures::random_values(n * heads, 4);
  Values first_sums(k, 0.0), second_sums(k, 0.0);
  for (std::uint64_t i = 0; i < n * k; ++i) {
    const std::uint64_t h = i / k * heads + i % k / (k / heads);
    first_sums[i % k] += a[i] * first[h];
    second_sums[i % k] += a[i] * second[h];
  }
  const auto first_out = zeros(stream, k);
  const auto second_out = zeros(stream, k);
  adder.add_heads(stream, n, heads, k / heads, k, a_there.data(), device(stream, first).data(),
                  device(stream, second).data(), first_out.data(), second_out.data());
  expect_near(first_out.to_host(stream), first_sums, 1e-4, "sum of the first scales");
  expect_near(second_out.to_host(stream), second_sums, 1e-4, "sum of the second scales");
}

/// An epilogue with all parts, and the gradient of its bias.
void check_epilogue(const exec::Stream& stream, const Size& size, Activation activation) {
  const auto [n, k] = size;
  const Values x = fixtures::random_values(n * k, 1);
  const Values bias = fixtures::random_values(k, 2);
  const Values residual = fixtures::random_values(n * k, 3);
  const Values dy = fixtures::random_values(n * k, 4);
  const auto bias_there = device(stream, bias);
  const auto residual_there = device(stream, residual);
  for (const float p : {0.0f, 0.4f}) {
    Epilogue epilogue{.bias = bias_there.data(),
                      .residual = residual_there.data(),
                      .activation = activation,
                      .slope = 0.1f};
    epilogue.dropout = {random_key(1, 2, 3), p, nullptr};
    Values y(n * k), dx(n * k), sums(k, 0.0);
    for (std::uint64_t i = 0; i < n * k; ++i) {
      const double factor = p == 0.0f ? 1.0
                                      : static_cast<double>(epilogue.dropout.factor(
                                            epilogue.dropout.row_key(i / k), i % k));
      const double s = x[i] + bias[i % k] + residual[i];
      double value = s, slope = 1.0;
      if (s <= 0.0 && activation == Activation::relu) value = slope = 0.0;
      if (s <= 0.0 && activation == Activation::elu) value = (slope = std::exp(s)) - 1.0;
      if (s <= 0.0 && activation == Activation::leaky_relu) value = s * (slope = 0.1);
      y[i] = value * factor;
      dx[i] = dy[i] * slope * factor;
      sums[i % k] += dx[i];
    }
    const auto found = device(stream, x);
    auto gradient = device(stream, dy);
    const auto plain = device(stream, dy);
    const auto bias_gradient = zeros(stream, k);
    apply(stream, epilogue, n, k, found.data());
    expect_near(found.to_host(stream), y, 1e-5, "y");
    ColumnSums adder;
    adder.apply_backward(stream, epilogue, n, k, found.data(), gradient.data(),
                         bias_gradient.data());
    expect_near(gradient.to_host(stream), dx, 1e-5, "dx");
    expect_near(bias_gradient.to_host(stream), sums, 1e-4, "gradient of the bias");
    apply_backward(stream, epilogue, n, k, found.data(), plain.data());
    EXPECT_EQ(plain.to_host(stream), gradient.to_host(stream));
    // Repeats bit for bit.
    const auto again = zeros(stream, k);
    gradient = device(stream, dy);
    adder.apply_backward(stream, epilogue, n, k, found.data(), gradient.data(), again.data());
    EXPECT_EQ(again.to_host(stream), bias_gradient.to_host(stream));
    // Its rows scaled, in y's place, with those that are not and without.
    const Values scale = fixtures::random_values(n, 5);
    const auto scale_there = device(stream, scale);
    for (const bool keeps : {true, false}) {
      const auto rows = testing_support::on_device(stream, found.to_host(stream));
      gradient = device(stream, dy);
      adder.apply_backward(stream, epilogue, n, k, rows.data(), gradient.data(), again.data(),
                           {scale_there.data(), rows.data(), keeps});
      Values scaled(n * k);
      for (std::uint64_t i = 0; i < n * k; ++i) scaled[i] = scale[i / k] * dx[i];
      expect_near(rows.to_host(stream), scaled, 1e-5, "scaled rows");
      const bool changes = activation != Activation::none || p != 0.0f;
      expect_near(gradient.to_host(stream), keeps || !changes ? dx : dy, 1e-5, "dx beside them");
    }
  }
}

void check_rows(const exec::Stream& stream, const Size& size) {
  const auto [n, k] = size;
  const Values x = fixtures::random_values(n * k, 1);
  const Values scale = fixtures::random_values(n, 2);
  const std::uint64_t stride = (k + 3) / 4 * 4;
  Values scaled(n * stride, 0.0), twice(x), dropped(x);
  const Dropout dropout{random_key(1, 1, 1), 0.5f, nullptr};
  for (std::uint64_t i = 0; i < n * k; ++i) {
    scaled[i / k * stride + i % k] = x[i] * scale[i / k];
    twice[i] *= 2.0;
    dropped[i] *= static_cast<double>(dropout.factor(dropout.row_key(i / k), i % k));
  }
  const auto x_there = device(stream, x);
  const auto padded = testing_support::on_device(stream, std::vector<float>(n * stride, 9.0f));
  scale_rows(stream, n, k, stride, device(stream, scale).data(), x_there.data(), padded.data());
  expect_near(padded.to_host(stream), scaled, 1e-6, "scaled");
  const auto y = device(stream, x);
  add_self(stream, n, k, nullptr, x_there.data(), y.data());
  expect_near(y.to_host(stream), twice, 1e-6, "with itself");
  drop(stream, dropout, n, k, x_there.data(), y.data());
  expect_near(y.to_host(stream), dropped, 1e-6, "dropped");
}

/// Columns of large means, and one row far from all others: squares must not lose the variance.
void check_batch_norm(const team::TeamOptions& options) {
  const std::uint64_t n = 700, k = 12;
  Values x = fixtures::random_values(n * k, 1);
  for (std::uint64_t i = 0; i < n * k; ++i)
    x[i] = static_cast<double>(static_cast<float>(x[i] + 300.0 * static_cast<double>(i % k)));
  for (std::uint64_t c = 0; c < 3; ++c) x[c] = 2e4;
  const Values dy = fixtures::random_values(n * k, 2);
  Values mean(k, 0.0), variance(k, 0.0), sums(k, 0.0), products(k, 0.0);
  for (std::uint64_t i = 0; i < n * k; ++i) mean[i % k] += x[i] / static_cast<double>(n);
  for (std::uint64_t i = 0; i < n * k; ++i)
    variance[i % k] += (x[i] - mean[i % k]) * (x[i] - mean[i % k]) / static_cast<double>(n);
  Values normal(n * k), y(n * k), dx(n * k);
  for (std::uint64_t i = 0; i < n * k; ++i) {
    normal[i] = (x[i] - mean[i % k]) / std::sqrt(variance[i % k] + 1e-5);
    sums[i % k] += dy[i];
    products[i % k] += dy[i] * normal[i];
  }
  std::vector<float> gains;
  for (std::uint64_t c = 0; c < k; ++c) gains.push_back(fixtures::gain(c));
  for (std::uint64_t i = 0; i < n * k; ++i) {
    const auto gain = static_cast<double>(gains[i % k]);
    y[i] = gain * normal[i];
    dx[i] = gain * (dy[i] - (sums[i % k] + normal[i] * products[i % k]) / static_cast<double>(n)) /
            std::sqrt(variance[i % k] + 1e-5);
  }
  std::vector<float> y_found, dx_found, residual_found, bias_found, gain_found;
  team::run_team(options, [&](team::Team& team) {
    Context context(team);
    const auto r = static_cast<std::uint64_t>(team.rank());
    const auto size = static_cast<std::uint64_t>(team.size());
    const std::uint64_t first = n * r / size;
    const std::uint64_t rows = n * (r + 1) / size - first;
    context.set_rows(rows, nullptr);
    Parameters parameters;
    Norm norm(parameters, NormKind::batch, "n", k);
    parameters.allocate(context.stream(), 1);
    exec::copy(context.stream(), parameters.value(0), gains.data(), k * sizeof(float));
    context.stream().synchronize();
    context.begin(1, 1, true);
    const auto part = [&](const Values& v) {
      const auto from = v.begin() + static_cast<std::ptrdiff_t>(first * k);
      return Values(from, from + static_cast<std::ptrdiff_t>(rows * k));
    };
    const auto y_there = zeros(context.stream(), rows * k);
    const auto residual = zeros(context.stream(), rows * k);
    const auto x_there = device(context.stream(), part(x));
    const auto dy_there = device(context.stream(), part(dy));
    const auto bias = zeros(context.stream(), k);
    exec::copy(context.stream(), norm.input(context, rows, y_there.data()).raw(), x_there.data(),
               x_there.bytes());
    norm.forward(context, {}, rows, y_there.data());
    norm.backward(context, {}, rows, y_there.data(), dy_there.data(), bias.data(), residual.data());
    parameters.reduce_gradients(context);
    const auto gradients = parameters.gradients().to_host(context.stream());
    const auto gather = [&](const memory::Buffer<float>& buffer, std::vector<float>& to) {
      const auto local = buffer.to_host(context.stream());
      for (const auto& one : team.all_gather_v(std::span<const float>(local))) {
        if (team.rank() == 0) to.insert(to.end(), one.begin(), one.end());
      }
    };
    gather(y_there, y_found);
    gather(residual, residual_found);
    if (team.rank() == 0)
      gain_found.assign(gradients.begin(), gradients.begin() + static_cast<std::ptrdiff_t>(k));
    gather(dy_there, dx_found);
    gather(bias, bias_found);
  });
  expect_near(y_found, y, 2e-3, "y");
  // With nothing to activate, a residual's gradient is dy.
  expect_near(residual_found, dy, 0.0, "residual");
  expect_near(gain_found, products, 1e-2, "gradient of the gain");
  expect_near(dx_found, dx, 2e-3, "dx");
  for (int q = 1; q < options.ranks; ++q) {
    for (std::uint64_t c = 0; c < k; ++c)
      bias_found[c] += bias_found[static_cast<std::uint64_t>(q) * k + c];
  }
  bias_found.resize(k);
  expect_near(bias_found, sums, 1e-4, "gradient of the bias");
}

void check_all(const exec::Device& where) {
  const exec::Stream stream(where);
  for (const Size& size : kSizes) {
    SCOPED_TRACE(std::to_string(size.n) + " x " + std::to_string(size.k));
    check_sums(stream, size);
    check_rows(stream, size);
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::elu, Activation::leaky_relu})
      check_epilogue(stream, size, activation);
  }
}

TEST(Passes, AreTheirFormulas) { check_all(exec::Device::cpu(2)); }

TEST(Passes, OfBatchNormKeepTheVariance) {
  for (const int ranks : {1, 2, 3}) check_batch_norm({exec::DeviceKind::cpu, ranks, ranks});
}

TEST(PassesCuda, AreTheirFormulas) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_all(exec::Device::cuda(0));
}

TEST(PassesCuda, OfBatchNormKeepTheVariance) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const int ranks : {1, 2}) check_batch_norm(fixtures::cuda_team(ranks));
}

}  // namespace
}  // namespace warren::learn
