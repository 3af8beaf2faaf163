// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program of compressed lists.
#include "fuzz/compressed_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warren::graph::read_compressed_input(data, size);
  return 0;
}
