// SPDX-License-Identifier: Apache-2.0
// What the checks of several searches say together.
#pragma once

#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "files.hpp"
#include "vertex_names.hpp"

namespace warren::app {

/// not_verified, with a line on standard error, for the first of the outcomes whose verdict is that
/// it is wrong; those without a verdict pass.
template <class Outcome>
[[nodiscard]] ExitStatus verification_status(const std::vector<Outcome>& outcomes,
                                             const VertexNames& names) {
  for (const Outcome& outcome : outcomes) {
    if (!outcome.verdict || outcome.verdict->correct) continue;
    print_error(fmt::format("the search from {} is wrong: {}", names.id_text(outcome.source),
                            outcome.verdict->message));
    return ExitStatus::not_verified;
  }
  return ExitStatus::done;
}

}  // namespace warren::app
