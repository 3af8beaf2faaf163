// SPDX-License-Identifier: Apache-2.0
// How a halo comes to ranks on several hosts: by windows. Each owner packs, for each host, the rows
// that some rank of that host needs, and shows the pack to the host, so that a row goes over the
// link to a host once, however many of its ranks read it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warren/memory/buffer.hpp"
#include "warren/sparse/exchange.hpp"
#include "warren/team/team.hpp"

namespace warren::sparse {

class HaloWindows {
 public:
  /// `cuts` are the exchange's. Collective.
  HaloWindows(team::Team& team, const exec::Stream& stream, const std::vector<std::uint64_t>& cuts,
              const Exchange& exchange);

  /// Rows of x, `row_bytes` each, of which this rank has its own, come to `to` in the halo's order.
  /// x may be overwritten behind it. All ranks have met between the last call and the end of this.
  /// Collective. Throws MemoryError.
  void receive(const exec::Stream& stream, const void* x, std::uint64_t row_bytes, void* to);

 private:
  /// A pack is read until all ranks have met again, in the next call, which fills the other one.
  struct Pack {
    memory::Buffer<std::byte> rows;
    team::Windows shown;
  };
  void reserve(std::uint64_t row_bytes);
  /// Of this rank's pack, what other hosts read.
  [[nodiscard]] std::vector<team::Shown> shown(const Pack& pack, std::uint64_t row_bytes) const;

  team::Team& team_;
  std::uint64_t own_rows_;
  std::vector<std::vector<int>> ranks_of_;  // By host.
  std::vector<std::uint64_t> begin_of_;     // By host: where the rows for it begin in a pack.
  memory::Buffer<Vertex> packed_;           // Of this rank's rows, those in a pack.
  // By owner: the first row for this host in its pack, and how many rows of other owners come
  // before.
  std::vector<std::uint64_t> first_here_, cuts_here_;
  memory::Buffer<Vertex> places_;  // Of the halo's rows among those for this host.
  std::uint64_t halo_;
  std::uint64_t row_bytes_ = 0;  // Of the widest rows so far.
  std::array<Pack, 2> packs_;
  std::size_t turn_ = 0;
};

}  // namespace warren::sparse
