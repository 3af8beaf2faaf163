// SPDX-License-Identifier: Apache-2.0
// What a rank was started as, as ranks tell it to each other before they work together: by sockets
// on one host, by MPI between several.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "team/fixed_text.hpp"

namespace warren::team {

struct StartedAs {
  std::uint64_t command_hash = 0;  ///< Of all of it.
  FixedText<128> program;          ///< With its version.
  FixedText<400> command;
};

/// Why rank `rank` is no rank of a team with rank `first`; empty where it is one.
[[nodiscard]] inline std::string difference(int first, const StartedAs& mine, int rank,
                                            const StartedAs& other) {
  if (other.program.get() != mine.program.get())
    return fmt::format("rank {} is {}, and rank {} is {}: start the same program in all ranks",
                       rank, other.program.get(), first, mine.program.get());
  if (other.command_hash != mine.command_hash)
    return fmt::format(
        "rank {} was started with '{}', and rank {} with '{}': give all ranks the same command",
        rank, other.command.get(), first, mine.command.get());
  return {};
}

}  // namespace warren::team
