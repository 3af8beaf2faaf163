// SPDX-License-Identifier: Apache-2.0
// Compressed text as a stream of bytes: gzip (any number of members, NUL bytes behind them) and
// zstd (any number of frames), out of a mapped file.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/files/mapped_file.hpp"

namespace warren::files {

/// `from_content`: the first bytes tell; of what may come through a pipe.
enum class Compression { none, gzip, zstd, from_content };

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Fills at most `capacity` bytes at `out` and returns how many; 0 at the end. Throws InputError,
  /// naming the byte of the compressed file, for a stream that is damaged or ends early.
  virtual std::uint64_t read(char* out, std::uint64_t capacity) = 0;
};

/// Starts at the front of `file`, which must outlive the result.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(const MappedFile& file,
                                                              Compression compression);

}  // namespace warren::files
