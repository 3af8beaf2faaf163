// SPDX-License-Identifier: Apache-2.0
#include "team/process_transport.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "warren/exec/memory.hpp"

namespace warren::team {
namespace {

/// Staging memory of more than this is given back after the exchange.
constexpr std::uint64_t kKept = std::uint64_t{1} << 20;

exec::Device host() { return exec::Device::cpu(1); }

}  // namespace

ProcessTransport::ProcessTransport(ProcessControl& control, const SharedSegment& segment, int rank,
                                   std::shared_ptr<DeferredFree> deferred_free,
                                   std::optional<OnGpu> on_gpu)
    : control_(control),
      segment_(segment),
      rank_(rank),
      deferred_free_(std::move(deferred_free)),
      on_gpu_(std::move(on_gpu)) {}

ProcessTransport::~ProcessTransport() { free_staging(); }

void ProcessTransport::abort(const std::string& message) noexcept {
  try {
    control_.end(rank_, fmt::format("rank {} failed: {}", rank_, message));
  } catch (const std::exception&) {
    control_.end(rank_, {});
  }
}

void ProcessTransport::barrier() {
  if (on_gpu_) on_gpu_->gpus->tend();
  control_.barrier(rank_);
}

std::byte* ProcessTransport::staging(std::uint64_t bytes) {
  if (bytes <= staging_bytes_) return staging_;
  free_staging();
  const std::uint64_t taken = std::max(bytes, std::uint64_t{1} << 16);
  staging_ = static_cast<std::byte*>(exec::allocate(host(), exec::MemoryKind::device, taken));
  staging_bytes_ = taken;
  return staging_;
}

void ProcessTransport::free_staging() noexcept {
  if (staging_bytes_ == 0) return;
  exec::deallocate(host(), exec::MemoryKind::device, staging_, staging_bytes_);
  staging_ = nullptr;
  staging_bytes_ = 0;
}

std::vector<std::vector<std::byte>> ProcessTransport::exchange(
    const std::vector<std::span<const std::byte>>& outgoing) {
  try {
    ProcessControl::Slot& mine = control_.of(rank_);
    // What is for all ranks lies there once.
    const auto is_next_same = [&](std::size_t q) {
      return q > 0 && outgoing[q].data() == outgoing[q - 1].data() &&
             outgoing[q].size() == outgoing[q - 1].size();
    };
    std::uint64_t bytes = 0;
    for (std::size_t q = 0; q < outgoing.size(); ++q) {
      mine.first[q] = is_next_same(q) ? mine.first[q - 1] : bytes;
      mine.bytes[q] = outgoing[q].size();
      if (!is_next_same(q)) bytes += outgoing[q].size();
    }
    std::byte* const there = staging(bytes);
    mine.staging = there;
    for (std::size_t q = 0; q < outgoing.size(); ++q) {
      if (!is_next_same(q) && !outgoing[q].empty())
        std::memcpy(there + mine.first[q], outgoing[q].data(), outgoing[q].size());
    }
    barrier();
    std::vector<std::vector<std::byte>> incoming;
    const auto me = static_cast<std::size_t>(rank_);
    for (int q = 0; q < size(); ++q) {
      const ProcessControl::Slot& slot = control_.of(q);
      const std::byte* const from = slot.staging + slot.first[me];
      incoming.emplace_back(from, from + slot.bytes[me]);
    }
    barrier();
    if (staging_bytes_ > kKept) free_staging();
    return incoming;
  } catch (const std::exception& error) {
    abort(error.what());
    throw;
  }
}

void ProcessTransport::sum(std::span<std::uint64_t> values) {
  while (!values.empty()) {
    const auto part = values.first(std::min(values.size(), ProcessControl::kSumsAtOnce));
    values = values.subspan(part.size());
    // A rank comes to write here again after the next barrier, when all have read.
    const std::size_t parity = sums_++ % 2;
    std::ranges::copy(part, control_.of(rank_).sums[parity]);
    barrier();
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = 0;
      for (int q = 0; q < size(); ++q) part[i] += control_.of(q).sums[parity][i];
    }
  }
}

void* ProcessTransport::reached(int rank) {
  const ProcessControl::Slot& slot = control_.of(rank);
  auto* const pointer = const_cast<void*>(slot.pointer);
  if (rank == rank_ || pointer == nullptr) return pointer;
  // Arenas are by the numbers among the ranks of all hosts.
  if (!on_gpu_) return segment_.is_of(slot.rank, pointer) ? pointer : nullptr;
  const bool is_there =
      slot.shown.host != nullptr || on_gpu_->reaches[static_cast<std::size_t>(rank)];
  if (slot.shown.number == 0 || !is_there) return nullptr;
  return on_gpu_->gpus->open(on_gpu_->device, rank, slot.shown);
}

std::vector<void*> ProcessTransport::share(void* pointer) {
  try {
    ProcessControl::Slot& mine = control_.of(rank_);
    mine.pointer = pointer;
    if (on_gpu_) mine.shown = pointer == nullptr ? ShownBlock{} : on_gpu_->gpus->show(pointer);
    barrier();
    std::vector<void*> table;
    table.reserve(static_cast<std::size_t>(size()));
    for (int q = 0; q < size(); ++q) table.push_back(reached(q));
    barrier();
    return table;
  } catch (const std::exception& error) {
    abort(error.what());
    throw;
  }
}

}  // namespace warren::team
