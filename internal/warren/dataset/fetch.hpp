// SPDX-License-Identifier: Apache-2.0
// Public datasets by name, brought from the addresses of their authors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warren::learn {

/// Names of the sets that fetch_dataset() knows.
[[nodiscard]] std::vector<std::string> public_datasets();
/// Where they are kept: $WARREN_DATA, else ~/.cache/warren. Throws InputError where there is
/// neither.
[[nodiscard]] std::string dataset_root();

struct FetchOptions {
  std::string from;    ///< An address to take the files from instead of the authors'.
  bool again = false;  ///< Also where they are there already.
};
struct FetchResult {
  std::string folder;
  std::uint64_t bytes = 0;  ///< Brought; 0 where all was there.
  std::uint64_t files = 0;  ///< That the folder has.
  bool was_there = false;
  bool is_pinned =
      false;  ///< All sums were known beforehand; else they are trusted the first time.
};

/// Brings a set into its folder: by the program curl, its archive unpacked. The folder appears
/// whole or not at all, with SHA256SUMS of its files and SOURCE (a line for each file brought: its
/// sum, name and address). A file whose sum is not the one known, or the one recorded when it was
/// first brought, is refused; what was there stays. Where the set is there its files are checked
/// instead. Throws UsageError for an unknown name, InputError that says what to do by hand where
/// there is no network, where the folder cannot be written, and for files that have changed.
[[nodiscard]] FetchResult fetch_dataset(const std::string& name, const FetchOptions& options = {});

}  // namespace warren::learn
