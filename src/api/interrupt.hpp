// SPDX-License-Identifier: Apache-2.0
// What is asked while calls wait: set_interrupt_check() of session.hpp.
#pragma once

namespace warren::api {

[[nodiscard]] bool should_interrupt();

}  // namespace warren::api
