// SPDX-License-Identifier: Apache-2.0
// A downloaded archive's files, in a folder.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace warren::learn {

/// Writes the members of a ZIP archive into a folder, without the one folder that they may all be
/// in. Before the first is written it is known that no two members lie over each other or have one
/// name, that none claims more than its compressed bytes can hold, that none would be written
/// outside the folder or as a file of the `reserved` names, and that the disk has as much free.
/// Returns the files' names in the folder. Throws InputError, which names the archive by its last
/// part: its folder is gone when the message is read.
std::vector<std::string> unpack(const std::filesystem::path& archive,
                                const std::filesystem::path& folder,
                                const std::set<std::filesystem::path>& reserved = {});

}  // namespace warren::learn
