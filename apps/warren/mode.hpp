// SPDX-License-Identifier: Apache-2.0
// --mode: which form of a traversal runs, and what is told about it.
#pragma once

#include <string>

#include "warren/traverse/asynchronous.hpp"

#include "session.hpp"

namespace warren::app {

/// The form that runs, and where it was chosen, why.
struct Mode {
  bool is_async = false;
  std::string reason;  ///< Empty where the user said so.
};

/// For --mode auto, from a synchronous search of `levels` steps that reached so many vertices.
/// Collective.
[[nodiscard]] Mode choose_mode(team::Team& team, const graph::Shard& shard, std::uint64_t reached,
                               std::uint64_t levels, bool is_weighted);

/// `mode`, `mode_reason`, and of an asynchronous run (`report` not nullptr) what the scheduler did.
void set_mode_fields(Json& json, const Mode& mode, const traverse::AsyncReport* report);
/// The same for people: a line or two.
[[nodiscard]] std::string mode_text(const Mode& mode, const traverse::AsyncReport* report);

}  // namespace warren::app
