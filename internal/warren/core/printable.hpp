// SPDX-License-Identifier: Apache-2.0
// Text of files and of users in messages: it can neither drive a terminal nor begin a line.
#pragma once

#include <string>
#include <string_view>

namespace warren {

/// The text with every byte escaped that is no printable UTF-8: control characters (C0, DEL, C1),
/// characters that turn the direction of writing or break lines, and bytes that are no UTF-8 become
/// \n, \r, \t or \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// Likewise for each line of a text of several; its line ends and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace warren
