// SPDX-License-Identifier: Apache-2.0
#include "sparse/halo_pull.hpp"

#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/sparse/blocks.hpp"

#include "sparse/row_places.hpp"

namespace warren::sparse {
namespace {

/// Of a GPU, those that move rows beside a product.
constexpr std::uint32_t kProcessorsBeside = 24;

}  // namespace

HaloPull::HaloPull(team::Team& team, const std::vector<std::uint64_t>& cuts, std::uint64_t size,
                   const Vertex* ids, const PipelinedPlan& plan)
    : team_(team),
      cuts_(cuts),
      ids_(ids),
      size_(size),
      is_direct_(true),
      parts_(plan.parts().begin(), plan.parts().end()),
      barrier_(team) {
  for (std::size_t i = 0; i < parts_.size(); ++i) arrived_.emplace_back(team.device());
}

HaloPull::HaloPull(team::Team& team, const exec::Stream& stream,
                   const std::vector<std::uint64_t>& cuts, const Exchange& exchange,
                   const Vertex* ids, const PipelinedPlan& plan, bool is_direct)
    : HaloPull(team, cuts, exchange.halo().size(), ids, plan) {
  is_direct_ = is_direct;
  if (is_direct_) return;
  if (team.spans_hosts()) {
    windows_.emplace(team, stream, cuts, exchange);
    return;
  }
  // Each owner is told which of its rows are needed.
  receive_begin_ = exchange.halo_begin();
  std::vector<std::vector<Vertex>> needed;
  for (int q = 0; q < team.size(); ++q) {
    const auto part = exchange.halo_of(q);
    needed.emplace_back(part.begin(), part.end());
  }
  std::vector<Vertex> send_rows;
  send_begin_.assign(1, 0);
  const std::uint64_t first = cuts[static_cast<std::size_t>(team.rank())];
  for (const auto& part : team.all_to_all_v(needed)) {
    for (const Vertex v : part) send_rows.push_back(static_cast<Vertex>(v - first));
    send_begin_.push_back(send_rows.size());
  }
  send_rows_ = to_device(stream, send_rows);
}

const void* HaloPull::begin(const exec::Stream& stream, const void* x, std::uint64_t row_bytes,
                            std::size_t slot, bool is_beside) {
  require(!is_under_way_, "rows of other ranks are on their way already");
  is_under_way_ = true;
  row_bytes_ = std::max(row_bytes_, row_bytes);
  memory::Buffer<std::byte>& received = received_.at(slot);
  if (const std::uint64_t bytes = exec::bytes_of(size_, row_bytes); received.size() < bytes) {
    received.reset();
    received = memory::Buffer<std::byte>(team_.device(), bytes);
  }
  if (is_direct_) {
    read(stream, x, row_bytes, received.data(), is_beside ? kProcessorsBeside : 0);
  } else {
    receive(stream, x, row_bytes, received.data());
  }
  return received.data();
}

void HaloPull::read(const exec::Stream& stream, const void* x, std::uint64_t row_bytes, void* to,
                    std::uint32_t processors) {
  const RowPlaces places{team_.pointers(x), cuts_, team_.rank(), row_bytes};
  barrier_.arrive(stream);
  barrier_.wait(stream);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const PipelinedPlan::Part& part = parts_[i];
    gather_rows(stream, places, ids_ + part.first_halo_row, part.halo_rows,
                static_cast<std::byte*>(to) + part.first_halo_row * row_bytes, processors);
    arrived_[i].record(stream);
  }
  barrier_.arrive(stream);
}

void HaloPull::receive(const exec::Stream& stream, const void* x, std::uint64_t row_bytes,
                       void* to) {
  if (windows_) {
    windows_->receive(stream, x, row_bytes, to);
    for (exec::Event& event : arrived_) event.record(stream);
    return;
  }
  if (const std::uint64_t bytes = exec::bytes_of(send_rows_.size(), row_bytes);
      send_.size() < bytes) {
    send_.reset();
    send_ = memory::Buffer<std::byte>(team_.device(), bytes);
  }
  std::vector<std::uint64_t> send_bytes, receive_bytes;
  for (const std::uint64_t row : send_begin_) send_bytes.push_back(row * row_bytes);
  for (const std::uint64_t row : receive_begin_) receive_bytes.push_back(row * row_bytes);
  const auto own = static_cast<std::size_t>(team_.rank());
  gather_rows(stream, {{const_cast<void*>(x)}, {0, cuts_[own + 1] - cuts_[own]}, 0, row_bytes},
              send_rows_.data(), send_rows_.size(), send_.data(), 0);
  team_.all_to_all_v(stream, send_.data(), send_bytes, to, receive_bytes);
  for (exec::Event& event : arrived_) event.record(stream);
}

void HaloPull::end(const exec::Stream& stream) {
  require(is_under_way_, "no rows of other ranks are on their way");
  is_under_way_ = false;
  if (is_direct_) barrier_.wait(stream);
}

}  // namespace warren::sparse
