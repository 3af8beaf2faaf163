// SPDX-License-Identifier: Apache-2.0
// Numbers of rows as callers have them, looked at on the device where they are.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/exec/stream.hpp"

namespace warren::memory {

/// `count` integers on a stream's device.
struct RowNumbers {
  const void* data = nullptr;  ///< Aligned to `width` bytes.
  std::uint64_t count = 0;
  std::uint32_t width = 8;  ///< Bytes of each: 4 or 8.
  bool is_signed = false;
};

/// Where check_rows() writes, all on the stream's device.
struct CheckedRows {
  /// The first place whose number is no row, ~0 where there is none. Set before by the caller.
  std::uint64_t* first_bad = nullptr;
  std::uint64_t* wide = nullptr;  ///< The numbers in 64 bits; may be nullptr.
  Vertex* narrow = nullptr;       ///< The numbers in 32 bits, 0 for what is no row; likewise.
};

/// Looks for numbers that are not 0 .. rows - 1, and copies all. Asynchronous; deterministic.
/// Throws UsageError for a width that is neither, DeviceError when the launch fails.
void check_rows(const exec::Stream& stream, const RowNumbers& numbers, std::uint64_t rows,
                const CheckedRows& to);

}  // namespace warren::memory
