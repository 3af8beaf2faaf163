// SPDX-License-Identifier: Apache-2.0
// A rank without the others, for dry runs.
#pragma once

#include <memory>

#include "warren/team/team.hpp"

namespace warren::team {

/// Rank 0 of a team of `ranks` on `device` that is there alone, for runs that are dry
/// (exec::DryRun): the others are taken to have sent what this one sends them, to have the same
/// memory, and to be there whenever they are waited for.
[[nodiscard]] std::unique_ptr<Team> dry_team(const exec::Device& device, int ranks);

}  // namespace warren::team
