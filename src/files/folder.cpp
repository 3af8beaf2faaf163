// SPDX-License-Identifier: Apache-2.0
#include "warren/files/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include <dirent.h>

namespace warren::files {

std::vector<std::string> names_in(const std::string& folder) {
  struct Close {
    void operator()(DIR* open) const { (void)closedir(open); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  if (open == nullptr) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return names;
  }
  while (const dirent* entry = readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace warren::files
