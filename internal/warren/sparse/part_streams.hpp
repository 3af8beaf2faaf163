// SPDX-License-Identifier: Apache-2.0
// Streams for kernels that follow each other in parts.
#pragma once

#include "warren/exec/stream.hpp"

namespace warren::sparse {

/// A main stream and another one on which parts take turns, so that one part's first blocks have
/// the processors that the last blocks of the part before leave idle.
class PartStreams {
 public:
  explicit PartStreams(const exec::Device& device)
      : other_(device), begun_(device), ended_(device) {}

  /// Parts begin where `main` is.
  void begin(const exec::Stream& main) {
    begun_.record(main);
    other_.wait(begun_);
  }
  [[nodiscard]] const exec::Stream& of(const exec::Stream& main, std::size_t part) const {
    return part % 2 == 0 ? main : other_;
  }
  /// Later work on `main` follows all parts.
  void end(const exec::Stream& main) {
    ended_.record(other_);
    main.wait(ended_);
  }

 private:
  exec::Stream other_;
  exec::Event begun_, ended_;
};

}  // namespace warren::sparse
