// SPDX-License-Identifier: Apache-2.0
// What the links between devices do, measured: bandwidth and latency of every ordered pair, and of
// the way to the host. Strategies are chosen by these figures. They are kept in a file, so that a
// machine is measured once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warren/exec/device.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// What a link is made of.
enum class LinkKind : std::uint8_t {
  unknown,        ///< Nobody has asked.
  own,            ///< A device's own memory.
  same_device,    ///< Two ranks on one GPU.
  direct,         ///< Between GPUs that reach each other's memory with atomic operations: NVLink.
  host,           ///< Between GPUs that do not: through the host, by PCIe.
  shared_memory,  ///< Between ranks of the CPU on one host.
  network         ///< Between hosts.
};
[[nodiscard]] const char* name_of(LinkKind kind) noexcept;

struct Link {
  double gigabytes_per_second = 0.0;  ///< Of one large copy, in 10^9 bytes.
  double microseconds = 0.0;          ///< Of one copy of 8 bytes among many in a row.
  LinkKind kind = LinkKind::unknown;
};

/// The links of a list of devices; an index is a place in that list (the rank, for a team).
class Links {
 public:
  /// `table` has size x size entries, row-major by the source; `host` one for each device. Throws
  /// UsageError when sizes differ.
  Links(std::vector<exec::Device> devices, std::vector<Link> table, std::vector<Link> host);

  [[nodiscard]] int size() const { return static_cast<int>(devices_.size()); }
  [[nodiscard]] const std::vector<exec::Device>& devices() const { return devices_; }
  /// From a's memory to b's; between(a, a) is a copy within a.
  [[nodiscard]] Link between(int a, int b) const;
  /// From the host's memory (pinned, for a GPU) to a's.
  [[nodiscard]] Link host(int a) const;
  /// The devices in groups of well-linked ones: within a group every pair has at least half of the
  /// best bandwidth of any pair, in both directions. Every device is in one group; groups and their
  /// members ascend. Deterministic.
  [[nodiscard]] std::vector<std::vector<int>> workgroups() const;

 private:
  std::vector<exec::Device> devices_;
  std::vector<Link> table_;
  std::vector<Link> host_;
};

/// Measures the links of `devices` now, on devices that do nothing else. Takes 64 MiB on each for
/// the time of the call. All pairs of CPU devices have the figures of one copy in the host's
/// memory. Throws MemoryError, DeviceError.
[[nodiscard]] Links measure_links(const std::vector<exec::Device>& devices);

/// Measures the links between the ranks of a team now, each of which copies from the memory of each
/// other one in turn; between hosts, and where a rank of a process does not reach another's GPU, by
/// messages. Each link's kind is known; from the host only its own rank's. Collective; the same on
/// all ranks. Takes 32 MiB on each device. Throws MemoryError, DeviceError.
[[nodiscard]] Links measure_links(Team& team);

/// The file that figures are kept in: $XDG_CACHE_HOME/warren/links.json, or
/// ~/.cache/warren/links.json; empty where neither is set.
[[nodiscard]] std::string links_cache_path();

/// As measure_links(), but taken from the file at `path` where this machine has been measured
/// before (same GPUs, same driver), and kept there otherwise. A file that cannot be used is
/// replaced, with a warning; one that cannot be written is no error.
[[nodiscard]] Links known_links(const std::vector<exec::Device>& devices,
                                const std::string& path = links_cache_path());

/// The links of a team's devices, the same on all ranks. Collective: rank 0 measures while the
/// others wait. Ranks that are processes measure them now, but for the CPU of one host.
[[nodiscard]] Links known_links(Team& team, const std::string& path = links_cache_path());

}  // namespace warren::team
