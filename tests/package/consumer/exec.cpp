// SPDX-License-Identifier: Apache-2.0
// A kernel: the squares of some numbers, and the sum of them.
#include "warren/exec.hpp"

#include <cstdlib>
#include <iostream>
#include <vector>

#include "warren/device/worker.hpp"

using namespace warren;

struct Squares {
  const std::uint64_t* in;
  std::uint64_t* out;
  std::uint64_t* sum;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    out[i] = in[i] * in[i];
    exec::atomic_add(*sum, out[i]);
  }
};

int main() {
  const exec::Device device = exec::Device::cpu(2);
  const exec::Stream stream(device);
  std::vector<std::uint64_t> in(1000), out(in.size());
  for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = i;
  std::uint64_t sum = 0;
  exec::launch<exec::Cpu, exec::Serial>(stream, in.size(), Squares{in.data(), out.data(), &sum});
  stream.synchronize();
  std::cout << "the squares below 1000 add up to " << sum << "\n";
  return sum == 332833500 && out[999] == 998001 ? EXIT_SUCCESS : EXIT_FAILURE;
}
