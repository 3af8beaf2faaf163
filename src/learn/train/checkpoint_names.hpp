// SPDX-License-Identifier: Apache-2.0
// The files of a checkpoint.
#pragma once

namespace warren::learn {

inline constexpr const char* kModel = "model.safetensors";  ///< The best epoch's parameters.
inline constexpr const char* kState = "state.safetensors";  ///< All that a training goes on from.

}  // namespace warren::learn
