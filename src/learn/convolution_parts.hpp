// SPDX-License-Identifier: Apache-2.0
// What convolutions have in common.
#pragma once

#include "warren/learn/convolution.hpp"

namespace warren::learn {

/// Room for `size` elements at least.
template <class T>
void keep(Context& context, memory::Buffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() >= size) return;
  buffer.reset();
  buffer = memory::Buffer<T>(context.team().device(), size);
}

/// A layer's weight: in x out, drawn by Glorot's rule.
inline std::size_t add_weight(Parameters& parameters, const ConvolutionShape& shape) {
  return parameters.add({.name = shape.name + ".weight",
                         .rows = shape.in,
                         .columns = shape.out,
                         .initial = Initial::glorot,
                         .decays = shape.decays});
}

/// One of GraphSAGE's: in x out, drawn by the size of the input.
inline std::size_t add_sage_weight(Parameters& parameters, const ConvolutionShape& shape,
                                   const char* name) {
  return parameters.add({.name = shape.name + name,
                         .rows = shape.in,
                         .columns = shape.out,
                         .initial = Initial::fan_in,
                         .fan_in = shape.in,
                         .decays = shape.decays});
}

}  // namespace warren::learn
