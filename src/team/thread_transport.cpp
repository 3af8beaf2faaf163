// SPDX-License-Identifier: Apache-2.0
// The thread transport. Waiting ranks spin briefly, then sleep: there are often more ranks than
// cores.
#include "team/thread_transport.hpp"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "warren/core/stop.hpp"
#include "warren/exec/memory.hpp"

#include "team/peer_access.hpp"

namespace warren::team {

ThreadHub::ThreadHub(int ranks, const exec::Device* pinned_on)
    : slots(static_cast<std::size_t>(ranks)),
      ranks_(ranks),
      pinned_on_(std::make_unique<exec::Device>(pinned_on != nullptr ? *pinned_on
                                                                     : exec::Device::cpu(1))) {
  abort_flag = static_cast<std::uint32_t*>(
      exec::allocate(*pinned_on_, exec::MemoryKind::pinned, sizeof(std::uint32_t)));
  std::atomic_ref<std::uint32_t>(*abort_flag).store(0);
  on_stop_.emplace(stop_token(), [this] { stop(); });
}

ThreadHub::~ThreadHub() {
  on_stop_.reset();
  exec::deallocate(*pinned_on_, exec::MemoryKind::pinned, abort_flag, sizeof(std::uint32_t));
}

void ThreadHub::throw_aborted() const {
  const std::scoped_lock lock(mutex_);
  throw TeamError(message_.empty() ? "the team was ended" : message_);
}

void ThreadHub::barrier() {
  if (aborted_.load(std::memory_order_acquire)) throw_aborted();
  if (ranks_ == 1) return;
  const std::uint64_t generation = generation_.load(std::memory_order_acquire);
  {
    const std::scoped_lock lock(mutex_);
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      generation_.fetch_add(1, std::memory_order_acq_rel);
      passed_.notify_all();
      return;
    }
  }
  constexpr int kSpins = 500;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    std::this_thread::yield();
  }
  std::unique_lock lock(mutex_);
  passed_.wait(lock, [&] {
    return generation_.load(std::memory_order_acquire) != generation ||
           aborted_.load(std::memory_order_acquire);
  });
  const bool has_passed = generation_.load(std::memory_order_acquire) != generation;
  lock.unlock();
  if (!has_passed) throw_aborted();
}

void ThreadHub::abort(int rank, const std::string& message) noexcept {
  std::string text;
  try {
    text = fmt::format("rank {} failed: {}", rank, message);
  } catch (const std::exception&) {
    // The team ends all the same.
  }
  end(rank, std::move(text));
}

void ThreadHub::stop() noexcept {
  end(0, {});  // The program says why.
}

void ThreadHub::end(int rank, std::string message) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (failed_rank_ < 0) {
      failed_rank_ = rank;
      message_ = std::move(message);
    }
    deferred_free->end();
    aborted_.store(true, std::memory_order_release);
    std::atomic_ref<std::uint32_t>(*abort_flag).store(1, std::memory_order_release);
  }
  passed_.notify_all();
}

void ThreadHub::check() const {
  if (aborted_.load(std::memory_order_acquire)) throw_aborted();
}

int ThreadHub::failed_rank() const {
  const std::scoped_lock lock(mutex_);
  return failed_rank_;
}

void ThreadTransport::begin_access() noexcept {
  hub_->slots[static_cast<std::size_t>(rank_)].accessing.fetch_add(1);
}

void ThreadTransport::end_access(bool has_failed) noexcept {
  std::atomic<int>& mine = hub_->slots[static_cast<std::size_t>(rank_)].accessing;
  if (!has_failed) {
    mine.fetch_sub(1);
    return;
  }
  try {
    device_.synchronize();  // Kernels that wait see that the team has ended.
  } catch (const std::exception&) {
    // What failed on the device is what is being thrown, or came of it.
  }
  // Also out of the accesses around this one: the exception is on its way through them.
  mine.store(0);
  for (const auto& slot : hub_->slots) {
    while (slot.accessing.load() != 0) std::this_thread::yield();
  }
}

template <class F>
void ThreadTransport::with_access(F&& f) {
  begin_access();
  try {
    f();
  } catch (const std::exception& error) {
    abort(error.what());
    end_access(true);
    throw;
  }
  end_access(false);
}

template <class T, class Read>
void ThreadTransport::lend(const T& value, Read&& read) {
  with_access([&] {
    hub_->slots[static_cast<std::size_t>(rank_)].pointer = &value;
    hub_->barrier();
    for (const auto& slot : hub_->slots) read(*static_cast<const T*>(slot.pointer));
    hub_->barrier();
  });
}

std::vector<std::vector<std::byte>> ThreadTransport::exchange(
    const std::vector<std::span<const std::byte>>& outgoing) {
  std::vector<std::vector<std::byte>> incoming;
  lend(outgoing, [&](const std::vector<std::span<const std::byte>>& from) {
    const auto& piece = from[static_cast<std::size_t>(rank_)];
    incoming.emplace_back(piece.begin(), piece.end());
  });
  return incoming;
}

void ThreadTransport::sum(std::span<std::uint64_t> values) {
  check();
  if (size_ == 1) return;
  hub_->slots[static_cast<std::size_t>(rank_)].values.assign(values.begin(), values.end());
  hub_->barrier();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0;
    for (const auto& slot : hub_->slots) values[i] += slot.values[i];
  }
  hub_->barrier();
}

std::vector<void*> ThreadTransport::share(void* pointer) {
  struct Shared {
    void* pointer;
    exec::Device device;
    int rank;
  };
  std::vector<void*> table;
  lend(Shared{pointer, device_, rank_}, [&](const Shared& other) {
    const bool is_reached = other.rank == rank_ || reach_ != Reach::none;
    table.push_back(is_reached && enable_access(device_, other.device) ? other.pointer : nullptr);
  });
  return table;
}

Windows ThreadTransport::share_windows(const Window& window) {
  if (!needs_windows()) return Transport::share_windows(window);
  std::vector<std::uint64_t> bytes;
  lend(window.bytes, [&](std::uint64_t of_rank) { bytes.push_back(of_rank); });
  if (!mirrors_) mirrors_.emplace(device_, rank_);
  return mirrors_->add(window, bytes);
}

void ThreadTransport::publish(std::span<const Shown> shown, bool is_later) {
  check();
  if (!needs_windows()) return hub_->barrier();
  with_access([&] {
    auto& mine = hub_->slots[static_cast<std::size_t>(rank_)].posted;
    mine.clear();
    for (const Shown& one : shown) {
      if (one.bytes == 0) continue;
      require(mirrors_.has_value(), Mirrors::kNoWindow);
      mine.push_back(mirrors_->post(one));
    }
    // Of the call before, where that left some on their way: after the barrier all are there.
    if (mirrors_) mirrors_->finish();
    hub_->barrier();
    for (int q = 0; q < size_; ++q)
      if (q != rank_ && mirrors_)
        mirrors_->fetch(q, hub_->slots[static_cast<std::size_t>(q)].posted);
    if (is_later) return;
    if (mirrors_) mirrors_->finish();
    hub_->barrier();  // All have read what is shown: components change it next.
  });
}

}  // namespace warren::team
