// SPDX-License-Identifier: Apache-2.0
// Whom a call tells how far it has come: TellProgress of the thread that calls.
#pragma once

#include "warren/api/progress.hpp"
#include "warren/core/progress.hpp"

namespace warren::api {

/// What has been counted, to whom this thread's calls tell it, if anything was.
void tell_progress(const ProgressCount& count);

}  // namespace warren::api
