// SPDX-License-Identifier: Apache-2.0
// Matrices as NumPy reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace warren::learn {

/// rows x columns of float32, row by row, as a .npy file, which appears whole or not at all. Throws
/// InputError where it cannot be written.
void write_npy(const std::string& path, std::uint64_t rows, std::uint64_t columns,
               std::span<const float> values);

}  // namespace warren::learn
