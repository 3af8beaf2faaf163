// SPDX-License-Identifier: Apache-2.0
#include "team/process_gpus.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/page.hpp"
#include "warren/exec/cuda_check.hpp"

#include "team/peer_access.hpp"

namespace warren::team {
namespace {

using Identities = std::vector<GpuIdentity>;

template <class T>
std::vector<std::vector<T>> gather(Transport& transport, std::span<const T> mine) {
  const std::vector<std::span<const std::byte>> outgoing(static_cast<std::size_t>(transport.size()),
                                                         std::as_bytes(mine));
  std::vector<std::vector<T>> all;
  for (const auto& part : transport.exchange(outgoing)) {
    all.emplace_back(part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(all.back().data(), part.data(), part.size());
  }
  return all;
}

Identities visible_gpus() {
  Identities found;
  for (int i = 0; i < exec::cuda_device_count(); ++i)
    found.push_back(identity_of(exec::Device::cuda(i)));
  return found;
}

/// Which of the GPUs that it sees each rank takes.
std::vector<std::size_t> choose(const std::vector<Identities>& seen, const TeamOptions& options) {
  const auto first = static_cast<std::size_t>(options.first_gpu);
  const bool are_same = std::ranges::all_of(seen, [&](const auto& one) { return one == seen[0]; });
  std::vector<std::size_t> chosen;
  for (std::size_t q = 0; q < seen.size(); ++q) {
    require(!seen[q].empty(), fmt::format("rank {} of {} sees no GPU, which the others run on: "
                                          "look at its CUDA_VISIBLE_DEVICES",
                                          q, seen.size()));
    require(first < seen[q].size(),
            fmt::format("GPU {} was asked for, but rank {} of {} sees {}, numbered from 0", first,
                        q, seen.size(), seen[q].size()));
    chosen.push_back(are_same ? (first + q) % seen[q].size() : first);
  }
  return chosen;
}

}  // namespace

GpuPlace place_on_gpu(Transport& transport, const TeamOptions& options) {
  require(options.sharing != Sharing::side_by_side,
          "ranks that are processes share a GPU in turns, not side by side: share devices");
  const Identities mine = visible_gpus();
  const std::vector<Identities> seen = gather<GpuIdentity>(transport, mine);
  const std::vector<std::size_t> chosen = choose(seen, options);
  const auto ranks = seen.size();
  const auto gpu_of = [&](std::size_t q) { return seen[q][chosen[q]]; };
  bool is_alone = true;
  for (std::size_t q = 0; q < ranks; ++q) {
    for (std::size_t other = q + 1; other < ranks; ++other) {
      if (gpu_of(q) != gpu_of(other)) continue;
      is_alone = false;
      require(options.sharing == Sharing::turns,
              fmt::format("ranks {} and {} of {} would have one GPU: start as many ranks as there "
                          "are GPUs, let ranks share them (share devices), or choose the CPU "
                          "(device cpu)",
                          q, other, ranks));
    }
  }
  const auto me = static_cast<std::size_t>(transport.rank());
  GpuPlace place{exec::Device::cuda(static_cast<int>(chosen[me])), false, {}};
  for (std::size_t q = 0; q < ranks; ++q) {
    const auto other = std::ranges::find(mine, gpu_of(q));
    place.reaches.push_back(
        other != mine.end() &&
        can_access(place.device, exec::Device::cuda(static_cast<int>(other - mine.begin()))));
  }
  const std::uint8_t reaches_all = std::ranges::all_of(place.reaches, [](bool it) { return it; });
  bool do_all = true;
  for (const auto& one : gather<std::uint8_t>(transport, {&reaches_all, 1}))
    do_all = do_all && one.front() != 0;
  place.kernels_may_wait = is_alone && do_all;
  return place;
}

#if WARREN_HAS_CUDA

namespace {

/// The page in which kernels look whether the team has ended.
std::pair<void*, std::size_t> page_of(const void* word) {
  const std::uintptr_t page = bytes_of_page();
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  return {reinterpret_cast<void*>(address / page * page), page};
}

}  // namespace

#endif

ProcessGpus::ProcessGpus(ProcessControl& control, int rank, std::shared_ptr<ProcessArena> host)
    : control_(control),
      rank_(rank),
      arena_(std::make_shared<GpuArena>(std::move(host), &control.has_ended)) {
#if WARREN_HAS_CUDA
  const auto [page, bytes] = page_of(&control_.has_ended);
  exec::cuda_check(cudaHostRegister(page, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
                   "cudaHostRegister");
  void* seen = nullptr;
  exec::cuda_check(cudaHostGetDevicePointer(&seen, page, 0), "cudaHostGetDevicePointer");
  if (seen != page) {
    (void)cudaHostUnregister(page);
    throw DeviceError(
        "this system's GPUs see host memory at other addresses than its processes, which ranks "
        "that are processes cannot: let the ranks be threads of one process");
  }
#endif
  exec::set_memory_resource(exec::DeviceKind::cuda, arena_);
}

ProcessGpus::~ProcessGpus() {
  exec::set_memory_resource(exec::DeviceKind::cuda, nullptr);
#if WARREN_HAS_CUDA
  (void)cudaHostUnregister(page_of(&control_.has_ended).first);
#endif
}

void ProcessGpus::tend() noexcept {
  if (control_.is_over()) return;
  ProcessControl::Slot& mine = control_.of(rank_);
  const auto me = static_cast<std::size_t>(rank_);
  std::uint64_t told = mine.gone_count.load(std::memory_order_relaxed);
  std::uint64_t closed = told;
  for (int q = 0; q < control_.ranks; ++q) {
    if (q == rank_) continue;
    ProcessControl::Slot& other = control_.of(q);
    const std::uint64_t gone = other.gone_count.load(std::memory_order_acquire);
    std::uint64_t done = other.closed[me].load(std::memory_order_relaxed);
    if (done < gone) {
      for (; done < gone; ++done) opened_.close(q, other.gone[done % ProcessControl::kGone]);
      other.closed[me].store(done, std::memory_order_release);
    }
    closed =
        std::min(closed, mine.closed[static_cast<std::size_t>(q)].load(std::memory_order_acquire));
  }
  for (; freed_ < closed; ++freed_) arena_->free_gone(mine.gone[freed_ % ProcessControl::kGone]);
  while (told - freed_ < ProcessControl::kGone) {
    const std::uint64_t number = arena_->next_gone();
    if (number == 0) break;
    mine.gone[told++ % ProcessControl::kGone] = number;
    mine.gone_count.store(told, std::memory_order_release);
  }
}

}  // namespace warren::team
