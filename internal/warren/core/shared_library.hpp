// SPDX-License-Identifier: Apache-2.0
// A shared library that is loaded when it is first asked for, so that warren starts where there is
// none.
#pragma once

#include <initializer_list>
#include <string>

namespace warren {

/// Stays loaded until the program ends.
class SharedLibrary {
 public:
  /// Loads the first of `names` (or paths) that there is. Never throws for its absence.
  explicit SharedLibrary(std::initializer_list<std::string> names);

  /// Why it cannot be used; empty where it can, and all that was looked for was found.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// Sets `function` to what the library has under this name, nullptr where it has nothing.
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const char* name);

  std::string name_;
  std::string reason_;
  void* handle_ = nullptr;
};

}  // namespace warren
