// SPDX-License-Identifier: Apache-2.0
// The file of chosen ways of one machine:
//   {"format": 1, "machine": "MACHINE", "plans": {"KEY": {"strategy": "staged", "chunks": 2, ...,
//    "candidates": [{"strategy": ..., "predicted_seconds": 1e-3, ...}, ...]}}}
#pragma once

#include <optional>
#include <string>

#include "warren/sparse/tuner.hpp"

namespace warren::sparse {

/// Names the hardware that a team runs on, whatever its size.
[[nodiscard]] std::string machine_of(const team::Team& team);
/// A way that was chosen, and what it was chosen from.
struct KnownPlan {
  DistributedOptions best;
  std::vector<Candidate> candidates;
};
/// The entry of `key`; nothing where there is none. Warns once where the file cannot be used.
[[nodiscard]] std::optional<KnownPlan> read_plan(const std::string& path,
                                                 const std::string& machine,
                                                 const std::string& key);
/// Adds an entry, or replaces a file that cannot be used. A file that cannot be written is no
/// error.
void write_plan(const std::string& path, const std::string& machine, const std::string& key,
                const KnownPlan& plan) noexcept;

}  // namespace warren::sparse
