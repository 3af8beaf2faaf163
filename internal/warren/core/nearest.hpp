// SPDX-License-Identifier: Apache-2.0
// The name that a mistyped one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warren {

/// Insertions, deletions, replacements and swaps of neighbours that make one word of the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// `; did you mean "NAME"?` with the name of `names` that is nearest to `word`: one that begins
/// with it, or that few edits make of it, one and another for every four characters. Empty where
/// there is none.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& names);

}  // namespace warren
