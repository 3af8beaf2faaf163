// SPDX-License-Identifier: Apache-2.0
// Calls whose parts name options as the command line does.
#pragma once

#include <utility>

#include "warren/api/checks.hpp"
#include "warren/api/graph.hpp"
#include "warren/core/error.hpp"

namespace warren::api {

/// What `call` returns. UsageError and InputError are told in the library's words.
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
  }
}

}  // namespace warren::api
