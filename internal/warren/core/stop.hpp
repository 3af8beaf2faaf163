// SPDX-License-Identifier: Apache-2.0
// The end of the work before its time, which a signal asks for: teams end as if a rank had failed,
// downloads stop, and files that are not finished are removed.
#pragma once

#include <stop_token>

namespace warren {

/// Asks all work of this process to end; for good. May be called by any thread, but by no signal
/// handler: it runs the callbacks that wait for it (std::stop_callback on stop_token()).
void request_stop(int signal);
[[nodiscard]] std::stop_token stop_token();
/// The signal that asked for the end; 0: none did.
[[nodiscard]] int stop_signal() noexcept;
/// "SIGINT".
[[nodiscard]] const char* signal_name(int signal) noexcept;
/// Throws Error, naming the signal, where the end was asked for.
void check_stop();

}  // namespace warren
