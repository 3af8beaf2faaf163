// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program of every target: its own name, fuzz_TARGET, says which.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/compressed_input.hpp"
#include "fuzz/dataset_input.hpp"
#include "fuzz/mutate.hpp"
#include "fuzz/reader_input.hpp"

namespace {
std::string target;  // NOLINT: libFuzzer passes nothing of its own.
}

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string program = (*argv)[0];
  const std::size_t name = program.rfind("fuzz_");
  target = name == std::string::npos ? "" : program.substr(name + 5);
  if (target == "compressed" || warren::graph::fuzz_targets().contains(target) ||
      warren::learn::dataset_targets().contains(target))
    return 0;
  std::fprintf(stderr, "%s: there is no target of this name\n", program.c_str());
  std::exit(2);
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return warren::fuzz::mutate(target, data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (target == "compressed") {
    warren::graph::read_compressed_input(data, size);
  } else if (warren::learn::dataset_targets().contains(target)) {
    warren::learn::read_dataset_input(target, data, size);
  } else {
    warren::graph::read_input(target, data, size);
  }
  return 0;
}
