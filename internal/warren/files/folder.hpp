// SPDX-License-Identifier: Apache-2.0
// What is in a folder.
#pragma once

#include <string>
#include <vector>

namespace warren::files {

/// The names of what is in the folder, sorted, "." and ".." left out; none where there is no such
/// folder or it cannot be read. (The standard library's iterators end the process where memory
/// ends, or show a folder as empty.) Throws std::bad_alloc.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

}  // namespace warren::files
