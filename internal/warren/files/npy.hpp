// SPDX-License-Identifier: Apache-2.0
// NumPy's array format: a short header in Python's notation, then the elements.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warren::files {

struct NpyArray {
  char kind = 0;            ///< NumPy's letter: b, i, u, f, S, U.
  std::uint64_t width = 0;  ///< Bytes of an element.
  std::vector<std::uint64_t> shape;
  bool first_axis_fastest = false;  ///< NumPy's Fortran order, of an array of more than one axis.
  std::uint64_t count = 1;          ///< Product of the shape.
  const char* data = nullptr;

  template <class T>
  [[nodiscard]] T at(std::uint64_t i) const {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string type() const { return kind + std::to_string(width); }
};

/// The first bytes of a .npy file say how many its header has, itself and them included.
inline constexpr std::uint64_t kNpyFirstBytes = 12;
/// How many, of a file of `size` bytes of which `data` has the first. Throws InputError with
/// messages that begin with `name`.
[[nodiscard]] std::uint64_t npy_header_bytes(const char* data, std::uint64_t size,
                                             const std::string& name);

/// Which orders of elements a reader takes: `last_fastest` is NumPy's C order.
enum class AxisOrder { last_fastest, any };

/// Parses a .npy file of `size` bytes; of `data` no more than the header is read. Throws likewise.
[[nodiscard]] NpyArray parse_npy(const char* data, std::uint64_t size, const std::string& name,
                                 AxisOrder order = AxisOrder::last_fastest);

/// The header for an array of `descr` ("<i4") and `shape` ("(3,)"), padded so that the elements
/// begin at a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(const std::string& descr, const std::string& shape);

}  // namespace warren::files
