// SPDX-License-Identifier: Apache-2.0
// How a program ends, and who of its ranks says why: what its signals (program_signals.cpp) and its
// ranks (program_ranks.cpp) share.
#pragma once

#include <string>

#include "warren/api/program.hpp"

namespace warren {

/// Ends the process at once, without the files that are not finished. One thread's claim: others
/// that come here wait for the end.
[[noreturn]] void end_process(int status);

/// Of a process that a signal ended: 128 and its number, as shells have it.
[[nodiscard]] int status_of_signal(int signal) noexcept;

/// Whether this process may say why the run ends: one of all ranks may, and once. It then calls
/// has_told_end(), for which the other ranks wait: launchers end all when the first one has failed.
/// For signal handlers, too.
[[nodiscard]] bool may_tell_end() noexcept;
void has_told_end(int status) noexcept;

/// The line of print_error() of why the process ends, with this exit status: of several processes
/// one prints it, whichever comes first.
void print_last_error(const std::string& message, int status) noexcept;

}  // namespace warren
