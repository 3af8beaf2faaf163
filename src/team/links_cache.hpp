// SPDX-License-Identifier: Apache-2.0
// The file of measured links. One object per machine (its GPUs and driver), with one entry per pair
// of devices:
//   {"format": 1, "machines": {"MACHINE": {"cuda:0 cuda:1": [GB/s, us], "host cuda:0": [GB/s,
//   us]}}}
#pragma once

#include <map>
#include <string>

#include "warren/team/links.hpp"

namespace warren::team {

/// What is known about one machine: pair of names to link.
using KnownLinks = std::map<std::string, Link>;

/// Names the hardware that the figures belong to: models and identities of the GPUs, driver, CPU.
[[nodiscard]] std::string machine_name();

/// The entries of `machine` at `path`; none where there is no file. Warns once where the file
/// cannot be used, or knows other machines only.
[[nodiscard]] KnownLinks read_links(const std::string& path, const std::string& machine);

/// Replaces the entries of `machine`; those of other machines stay. Never throws: the figures can
/// be measured again.
void write_links(const std::string& path, const std::string& machine,
                 const KnownLinks& links) noexcept;

}  // namespace warren::team
