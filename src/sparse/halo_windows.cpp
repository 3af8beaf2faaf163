// SPDX-License-Identifier: Apache-2.0
#include "sparse/halo_windows.hpp"

#include <algorithm>

#include "warren/sparse/blocks.hpp"

#include "sparse/row_places.hpp"

namespace warren::sparse {
namespace {

using Lists = std::vector<std::vector<Vertex>>;

/// Of ascending lists, each vertex once.
std::vector<Vertex> united(const Lists& lists) {
  std::vector<Vertex> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Those below `end` and not below `begin`, of an ascending list.
std::vector<Vertex> within(const std::vector<Vertex>& list, std::uint64_t begin,
                           std::uint64_t end) {
  return {std::ranges::lower_bound(list, begin), std::ranges::lower_bound(list, end)};
}

std::vector<std::vector<int>> ranks_by_host(const team::Team& team) {
  std::vector<std::vector<int>> ranks;
  for (int q = 0; q < team.size(); ++q) {
    const auto host = static_cast<std::size_t>(team.host_of(q));
    if (host >= ranks.size()) ranks.resize(host + 1);
    ranks[host].push_back(q);
  }
  return ranks;
}

/// One of them, so that they take turns.
int in_turn(const std::vector<int>& ranks, int turn) {
  return ranks[static_cast<std::size_t>(turn) % ranks.size()];
}

}  // namespace

HaloWindows::HaloWindows(team::Team& team, const exec::Stream& stream,
                         const std::vector<std::uint64_t>& cuts, const Exchange& exchange)
    : team_(team), ranks_of_(ranks_by_host(team)), halo_(exchange.halo().size()) {
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto rank = static_cast<std::size_t>(team.rank());
  const auto host = static_cast<std::size_t>(team.host_of(team.rank()));
  own_rows_ = cuts[rank + 1] - cuts[rank];

  // What a host needs its ranks know without the link.
  Lists outgoing(ranks);
  for (const int q : ranks_of_[host]) outgoing[static_cast<std::size_t>(q)] = exchange.halo();
  const std::vector<Vertex> needed_here = united(team.all_to_all_v(outgoing));
  std::vector<Vertex> places;
  cuts_here_.assign(1, 0);
  for (std::size_t q = 0; q < ranks; ++q) {
    const std::vector<Vertex> of_owner = within(needed_here, cuts[q], cuts[q + 1]);
    for (const Vertex v : exchange.halo_of(static_cast<int>(q))) {
      const auto at = std::ranges::lower_bound(of_owner, v) - of_owner.begin();
      places.push_back(static_cast<Vertex>(cuts_here_.back() + static_cast<std::uint64_t>(at)));
    }
    cuts_here_.push_back(cuts_here_.back() + of_owner.size());
    // One rank of the host tells the owner; the host's own do not need to be told.
    const bool tells = in_turn(ranks_of_[host], static_cast<int>(q)) == team.rank() &&
                       team.host_of(static_cast<int>(q)) != static_cast<int>(host);
    outgoing[q] = tells ? of_owner : std::vector<Vertex>();
  }
  places_ = to_device(stream, places);

  const Lists told = team.all_to_all_v(outgoing);
  std::vector<Vertex> packed;
  begin_of_.assign(1, 0);
  for (std::size_t h = 0; h < ranks_of_.size(); ++h) {
    std::vector<Vertex> needed;
    if (h == host) needed = within(needed_here, cuts[rank], cuts[rank + 1]);
    for (const int q : ranks_of_[h]) {
      const auto& part = told[static_cast<std::size_t>(q)];
      if (h != host) needed.insert(needed.end(), part.begin(), part.end());
    }
    for (const Vertex v : needed) packed.push_back(static_cast<Vertex>(v - cuts[rank]));
    begin_of_.push_back(packed.size());
  }
  packed_ = to_device(stream, packed);
  for (const auto& begins : team.all_gather_v(std::span<const std::uint64_t>(begin_of_)))
    first_here_.push_back(begins.at(host));
}

void HaloWindows::reserve(std::uint64_t row_bytes) {
  if (row_bytes <= row_bytes_) return;
  team_.barrier();  // Nobody reads the narrower ones.
  for (Pack& pack : packs_) {
    pack.shown = {};
    pack.rows.reset();
    pack.rows =
        memory::Buffer<std::byte>(team_.device(), exec::bytes_of(packed_.size(), row_bytes));
    pack.shown = team_.share_windows({.data = pack.rows.data(), .bytes = pack.rows.bytes()});
  }
  row_bytes_ = row_bytes;
}

std::vector<team::Shown> HaloWindows::shown(const Pack& pack, std::uint64_t row_bytes) const {
  std::vector<team::Shown> shown;
  const int here = team_.host_of(team_.rank());
  for (std::size_t h = 0; h < ranks_of_.size(); ++h) {
    const std::uint64_t rows = begin_of_[h + 1] - begin_of_[h];
    if (static_cast<int>(h) == here || rows == 0) continue;
    shown.push_back({.to = in_turn(ranks_of_[h], team_.rank()),
                     .data = pack.rows.data() + begin_of_[h] * row_bytes,
                     .bytes = rows * row_bytes});
  }
  return shown;
}

void HaloWindows::receive(const exec::Stream& stream, const void* x, std::uint64_t row_bytes,
                          void* to) {
  reserve(row_bytes);
  const Pack& pack = packs_.at(turn_);
  turn_ = (turn_ + 1) % packs_.size();
  gather_rows(stream, {{const_cast<void*>(x)}, {0, own_rows_}, 0, row_bytes}, packed_.data(),
              packed_.size(), pack.shown.of[static_cast<std::size_t>(team_.rank())], 0);
  stream.synchronize();
  team_.publish(shown(pack, row_bytes));
  RowPlaces places{{}, cuts_here_, team_.rank(), row_bytes};
  for (std::size_t q = 0; q < first_here_.size(); ++q) {
    auto* const rows = static_cast<std::byte*>(pack.shown.of[q]);
    places.bases.push_back(rows == nullptr ? nullptr : rows + first_here_[q] * row_bytes);
  }
  gather_rows(stream, places, places_.data(), halo_, to, 0);
  stream.synchronize();
}

}  // namespace warren::sparse
