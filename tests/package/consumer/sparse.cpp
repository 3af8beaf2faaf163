// SPDX-License-Identifier: Apache-2.0
// The matrix of a path of eight vertices times a column of ones: all rows but two have two entries.
#include "warren/sparse.hpp"

#include <cstdlib>
#include <iostream>
#include <vector>

#include "warren/graph.hpp"

using namespace warren;

int main() {
  const exec::Device device = exec::Device::cpu(2);
  const exec::Stream stream(device);
  const auto spec = graph::parse_generator("grid:8x1", 1);
  const graph::Graph path =
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), device.pool());
  const sparse::Matrix matrix(stream, path);
  const sparse::SpmmPlan plan(stream, matrix.offsets());
  const std::vector<float> ones(8, 1.0f);
  std::vector<float> product(8);
  sparse::spmm(stream, matrix.view(), plan, sparse::RowTable<float>(ones.data(), 1), product.data(),
               1, 1);
  stream.synchronize();
  float sum = 0.0f;
  for (const float value : product) sum += value;
  std::cout << "the product adds up to " << sum << "\n";
  return sum == 14.0f ? EXIT_SUCCESS : EXIT_FAILURE;
}
