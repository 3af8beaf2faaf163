// SPDX-License-Identifier: Apache-2.0
// NumPy arrays as numbers, whatever type they were saved in.
#pragma once

#include <cstdint>
#include <string>

#include "warren/core/error.hpp"
#include "warren/exec/half.hpp"
#include "warren/files/npy.hpp"

namespace warren::learn {

/// Calls f(read) where read(i) is element i as a double. Throws InputError for what is no number.
template <class F>
void with_elements(const files::NpyArray& array, const std::string& name, F&& f) {
  const std::string type = array.type();
  const auto as = [&]<class T>(T) {
    f([&](std::uint64_t i) { return static_cast<double>(array.at<T>(i)); });
  };
  if (type == "f4") return as(float{});
  if (type == "f8") return as(double{});
  if (type == "i8") return as(std::int64_t{});
  if (type == "i4") return as(std::int32_t{});
  if (type == "i2") return as(std::int16_t{});
  if (type == "i1") return as(std::int8_t{});
  if (type == "u1" || type == "b1") return as(std::uint8_t{});
  if (type == "u2") return as(std::uint16_t{});
  if (type == "u4") return as(std::uint32_t{});
  if (type == "u8") return as(std::uint64_t{});
  if (type == "f2") {
    return f([&](std::uint64_t i) {
      return static_cast<double>(to_float(Half{array.at<std::uint16_t>(i)}));
    });
  }
  throw InputError(name + ": the elements are of type " + type +
                   "; floats, integers and booleans can be read");
}

}  // namespace warren::learn
