// SPDX-License-Identifier: Apache-2.0
// What dense products on a GPU hold.
#pragma once

#include <cstdint>

namespace warren::exec {

/// cuBLASLt's workspace, in bytes.
inline constexpr std::uint64_t kBlasWorkspace = std::uint64_t{32} << 20;

}  // namespace warren::exec
