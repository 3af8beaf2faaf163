// SPDX-License-Identifier: Apache-2.0
// Lines about vertices, and the line on an error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "warren/core/types.hpp"

namespace warren::app {

/// Writes a line, or several, for each of `count` vertices: line(text, v) appends them. The file is
/// whole or not there. Of several processes the first one writes.
void write_lines(const std::string& path, std::uint64_t count,
                 const std::function<void(std::string&, Vertex)>& line);

/// "warren: error: " and the message, on a line of standard error. Of several processes the first
/// one prints it: they all found the same.
void print_error(const std::string& message) noexcept;
/// The same of why the process ends, with this exit status: of several one prints it, whichever
/// comes first.
void print_last_error(const std::string& message, int status) noexcept;

}  // namespace warren::app
