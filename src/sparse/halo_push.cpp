// SPDX-License-Identifier: Apache-2.0
#include "sparse/halo_push.hpp"

#include <algorithm>
#include <numeric>

#include "sparse/row_places.hpp"

namespace warren::sparse {
namespace {

/// Rows of ones: row r of the block sums what was received of own row r, in the order in which it
/// stands. `rows[i]`: the own row that received row i is of.
HostBlock sums_of(std::span<const Vertex> rows, std::uint64_t count) {
  HostBlock block;
  block.offsets.assign(count + 1, 0);
  for (const Vertex row : rows) ++block.offsets[row + std::uint64_t{1}];
  for (std::uint64_t r = 0; r < count; ++r) block.offsets[r + 1] += block.offsets[r];
  block.columns.resize(rows.size());
  std::vector<EdgeOffset> next(block.offsets.begin(), block.offsets.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    block.columns[next[rows[i]]++] = static_cast<Vertex>(i);
  return block;
}

std::vector<std::uint64_t> bytes_of_rows(const std::vector<std::uint64_t>& rows, std::uint64_t k) {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(rows.size());
  for (const std::uint64_t row : rows) bytes.push_back(row * k * sizeof(float));
  return bytes;
}

}  // namespace

HaloPush::HaloPush(team::Team& team, const exec::Stream& stream,
                   std::span<const std::uint64_t> cuts, std::span<const Vertex> ids)
    : team_(team) {
  std::vector<Vertex> places(ids.size());
  std::iota(places.begin(), places.end(), Vertex{0});
  std::ranges::sort(places, {}, [&](Vertex place) { return ids[place]; });
  std::vector<std::vector<Vertex>> outgoing(static_cast<std::size_t>(team.size()));
  std::size_t at = 0;
  for (std::size_t q = 0; q < outgoing.size(); ++q) {
    send_begin_.push_back(at);
    for (; at < places.size() && ids[places[at]] < cuts[q + 1]; ++at)
      outgoing[q].push_back(static_cast<Vertex>(ids[places[at]] - cuts[q]));
  }
  send_begin_.push_back(at);
  std::vector<Vertex> rows;
  receive_begin_.push_back(0);
  for (const auto& part : team.all_to_all_v(outgoing)) {
    rows.insert(rows.end(), part.begin(), part.end());
    receive_begin_.push_back(rows.size());
  }
  const auto own = static_cast<std::size_t>(team.rank());
  places_ = to_device(stream, places);
  sums_ = DeviceBlock(stream, sums_of(rows, cuts[own + 1] - cuts[own]));
  stream.synchronize();
}

void HaloPush::run(const exec::Stream& stream, const float* halo, float* y, std::uint64_t k) {
  float* const send = memory::at_least(stream, send_, exec::bytes_of(send_begin_.back(), k));
  float* const received =
      memory::at_least(stream, received_, exec::bytes_of(receive_begin_.back(), k));
  gather_rows(stream, {{const_cast<float*>(halo)}, {0, send_begin_.back()}, 0, k * sizeof(float)},
              places_.data(), send_begin_.back(), send, 0);
  team_.all_to_all_v(stream, send, bytes_of_rows(send_begin_, k), received,
                     bytes_of_rows(receive_begin_, k));
  sums_.multiply(
      stream, MatrixOperands<float>{.x = received, .x_stride = k, .y = y, .y_stride = k, .k = k});
}

}  // namespace warren::sparse
