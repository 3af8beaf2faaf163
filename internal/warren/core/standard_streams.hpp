// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error of the process, as programs are handed them: they may be closed,
// full, or pipes that nobody reads any more.
#pragma once

#include <string_view>

#include "warren/core/error.hpp"

namespace warren {

/// Opens those of descriptors 0 to 2 that are closed, so that no file that the program opens takes
/// their place. What is opened refuses to be read or written: results that nobody takes are an
/// error.
void open_standard_streams() noexcept;

/// Never throws: what cannot be said is left unsaid.
void write_standard_error(std::string_view text) noexcept;

/// Standard output is a pipe whose reader has gone: it wants no more.
class ClosedPipeError : public InputError {
 public:
  using InputError::InputError;
};

/// Throws InputError when it takes no more.
void write_standard_output(std::string_view text);

}  // namespace warren
