// SPDX-License-Identifier: Apache-2.0
// Calls whose parts name options as the command line does.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "warren/api/checks.hpp"
#include "warren/api/graph.hpp"
#include "warren/core/error.hpp"
#include "warren/learn/memory_plan.hpp"

namespace warren::api {

/// A MemoryError with another text.
class MemoryErrorInLibraryWords : public MemoryError {
 public:
  explicit MemoryErrorInLibraryWords(const MemoryError& error)
      : MemoryError(error), text_(in_library_words(error.what())) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// What `call` returns. UsageError, InputError and MemoryError are told in the library's words. A
/// MemoryError nests the one that was thrown, which may be of a class that knows more.
template <class Call>
auto told_in_library_words(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const VertexError&) {
    throw;
  } catch (const UsageError& error) {
    throw UsageError(in_library_words(error.what()));
  } catch (const InputError& error) {
    throw InputError(in_library_words(error.what()));
  } catch (const MemoryError& error) {
    std::throw_with_nested(MemoryErrorInLibraryWords(error));
  }
}

/// A plan, of whose words the error is made that says that there is no room.
[[nodiscard]] inline learn::MemoryPlan in_library_words(learn::MemoryPlan plan) {
  plan.otherwise = in_library_words(plan.otherwise);
  for (auto& [option, total] : plan.alternatives) option = in_library_words(option);
  return plan;
}

}  // namespace warren::api
