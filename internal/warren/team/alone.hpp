// SPDX-License-Identifier: Apache-2.0
// A rank of a team as a team of its own.
#pragma once

#include <memory>

#include "warren/team/team.hpp"

namespace warren::team {

/// This rank by itself, as a team of one on its device: for what one rank does while the others
/// wait. When either of the two ends, the other one does; `team` must outlive it.
[[nodiscard]] std::unique_ptr<Team> alone(Team& team);

}  // namespace warren::team
