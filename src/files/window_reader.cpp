// SPDX-License-Identifier: Apache-2.0
// Window `i` is read into slot i mod slots, once window i - slots has come back. Threads take the
// windows in order, so that the one that next() waits for is always under way.
#include "warren/files/window_reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/core/trace.hpp"

namespace warren::files {

WindowReader::WindowReader(const PositionedFile& file, char* memory, std::uint32_t slots,
                           std::uint64_t first, std::uint64_t second, int threads)
    : file_(file),
      memory_(memory),
      first_room_(PositionedFile::buffer_bytes(first)),
      slot_room_(slot_bytes(first, second)),
      states_(slots) {
  require(slots > 0 && threads > 0, "a reader has a window and a thread, at least");
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int t = 0; t < threads; ++t) {
      threads_.push_back(start_thread([this] { serve(); },
                                      fmt::format("reading thread {} of {}", t + 1, threads),
                                      "the process has as many threads as it may"));
    }
  } catch (...) {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    throw;
  }
}

WindowReader::~WindowReader() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WindowReader::settle(std::unique_lock<std::mutex>& lock) {
  begun_ = count_;  // Nothing more is taken.
  ready_.wait(lock, [&] { return reading_ == 0; });
}

void WindowReader::start(std::uint64_t count, Plan plan, Check check) {
  std::unique_lock lock(mutex_);
  settle(lock);
  for (SlotState& state : states_) state = {};
  plan_ = std::move(plan);
  check_ = std::move(check);
  count_ = count;
  begun_ = told_ = released_ = 0;
  lock.unlock();
  work_.notify_all();
}

std::optional<Window> WindowReader::next() {
  std::unique_lock lock(mutex_);
  if (told_ == count_) return std::nullopt;
  require(told_ - released_ < states_.size(), "all windows are held; release one");
  SlotState& state = states_[told_ % states_.size()];
  if (!state.is_ready) {
    const double begin = now_seconds();
    ready_.wait(lock, [&] { return state.is_ready; });
    waited_ += now_seconds() - begin;
  }
  if (state.error != nullptr) {
    const std::exception_ptr error = std::exchange(state.error, nullptr);
    settle(lock);
    told_ = count_;
    std::rethrow_exception(error);
  }
  ++told_;
  bytes_read_ += state.bytes;
  return state.window;
}

void WindowReader::release() {
  {
    const std::scoped_lock lock(mutex_);
    require(released_ < told_, "no window is held");
    states_[released_ % states_.size()].is_ready = false;
    ++released_;
  }
  work_.notify_one();
}

void WindowReader::fill(SlotState& state, std::uint64_t number, const Plan& plan,
                        const Check& check) const {
  try {
    const WindowPlaces places = plan(number);
    char* const slot = memory_ + state.window.slot * slot_room_;
    state.bytes = 0;
    for (std::size_t p = 0; p < WindowPlaces::kCount; ++p) {
      state.window.data[p] =
          file_.read(places.offset[p], places.bytes[p], p == 0 ? slot : slot + first_room_);
      state.bytes += PositionedFile::disk_bytes(places.offset[p], places.bytes[p]);
    }
    if (check) check(state.window);
  } catch (...) {
    state.error = std::current_exception();
  }
}

void WindowReader::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(
        lock, [&] { return is_over_ || (begun_ < count_ && begun_ < released_ + states_.size()); });
    if (is_over_) return;
    const std::uint64_t number = begun_++;
    SlotState& state = states_[number % states_.size()];
    state.window.number = number;
    state.window.slot = static_cast<std::uint32_t>(number % states_.size());
    ++reading_;
    lock.unlock();
    fill(state, number, plan_, check_);  // start() changes neither while a thread reads.
    lock.lock();
    --reading_;
    state.is_ready = true;
    ready_.notify_all();
  }
}

}  // namespace warren::files
