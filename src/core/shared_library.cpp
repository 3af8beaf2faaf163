// SPDX-License-Identifier: Apache-2.0
#include "warren/core/shared_library.hpp"

#include <dlfcn.h>

namespace warren {

SharedLibrary::SharedLibrary(std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      reason_.clear();
      return;
    }
    if (!reason_.empty()) continue;  // What became of the first name says most.
    const char* error = dlerror();
    reason_ = error != nullptr ? error : name + " cannot be loaded";
  }
}

void* SharedLibrary::symbol(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr) reason_ = name_ + " has no " + name;
  return found;
}

}  // namespace warren
