// SPDX-License-Identifier: Apache-2.0
// Products of all pairs of a sample's rows against plain loops in double precision.
#include "warren/sparse/interact.hpp"

#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "sparse/dense.hpp"
#include "support/size.hpp"

namespace warren::sparse {
namespace {

using testing_support::on_device;
using testing_support::random_dense;
using testing_support::strided;

template <class T>
void check(const exec::Stream& stream, std::uint64_t samples, std::uint64_t features,
           std::uint64_t k) {
  SCOPED_TRACE(std::to_string(features) + " features, k " + std::to_string(k));
  const auto values = random_dense(samples * features * k, features + k);
  const auto x = on_device(stream, strided<T>(values, k, k));
  const std::uint64_t pairs = pairs_of(features);
  memory::Buffer<float> out(stream.device(), samples * pairs);
  interact(stream, x.data(), samples, features, k, out.data());
  reference::Product expected;
  for (std::uint64_t b = 0; b < samples; ++b) {
    for (std::uint64_t i = 0; i < features; ++i) {
      for (std::uint64_t j = 0; j < i; ++j) {
        double sum = 0.0;
        double size = 0.0;
        for (std::uint64_t c = 0; c < k; ++c) {
          const double term =
              values[(b * features + i) * k + c] * values[(b * features + j) * k + c];
          sum += term;
          size += std::abs(term);
        }
        expected.sum.push_back(sum);
        expected.size.push_back(size);
      }
    }
  }
  if (pairs == 0) return;
  EXPECT_TRUE(testing_support::near(out.to_host(stream), pairs, expected, pairs));
}

void check_device(const exec::Device& device) {
  const exec::Stream stream(device);
  for (const std::uint64_t features : {0, 1, 2, 3, 27, 90}) {
    if (testing_support::is_tiny() && features != 3 && features != 27) continue;
    for (const std::uint64_t k : {1, 7, 64, 300}) {
      if (testing_support::is_tiny() && k == 300) continue;
      check<float>(stream, 5, features, k);
      check<Half>(stream, 2, features, k);
      check<BFloat16>(stream, 1, features, k);
    }
  }
  check<float>(stream, 0, 3, 4);
  if (!testing_support::is_tiny()) check<float>(stream, 1, kMostFeatures, 3);
}

TEST(Interact, MatchesReference) { check_device(exec::Device::cpu(3)); }

TEST(Interact, RefusesWhatItCannotDo) {
  const exec::Stream stream(exec::Device::cpu(1));
  const float* const none = nullptr;
  EXPECT_THROW(interact(stream, none, 0, 3, 0, nullptr), UsageError);
  EXPECT_THROW(interact(stream, none, 0, kMostFeatures + 1, 4, nullptr), UsageError);
}

TEST(InteractCuda, MatchesReference) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_device(exec::Device::cuda(0));
}

}  // namespace
}  // namespace warren::sparse
