// SPDX-License-Identifier: Apache-2.0
// The libFuzzer program of one target, which WARREN_FUZZ_TARGET names. Formats with checksums get a
// mutator that makes most checksums right again: nothing behind them would ever be reached
// otherwise.
#include "fuzz/reader_input.hpp"
#include "fuzz/sign.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  constexpr unsigned kUnsigned = 8;  // One of so many stays as it is.
  const std::size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  if (seed % kUnsigned != 0) warren::graph::sign(WARREN_FUZZ_TARGET, data, mutated);
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warren::graph::read_input(WARREN_FUZZ_TARGET, data, size);
  return 0;
}
