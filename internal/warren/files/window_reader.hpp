// SPDX-License-Identifier: Apache-2.0
// Reading a file in windows, several at a time: threads of positioned reads fill a ring of buffers
// ahead of the one thread that takes them, in the order in which they were asked for.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "warren/files/positioned_file.hpp"

namespace warren::files {

/// Two places of the file, which a window holds side by side. The second may be empty.
struct WindowPlaces {
  static constexpr std::size_t kCount = 2;
  std::array<std::uint64_t, kCount> offset{};
  std::array<std::uint64_t, kCount> bytes{};
};

/// A window that was read.
struct Window {
  std::uint64_t number = 0;  ///< Of those that were asked for.
  std::uint32_t slot = 0;    ///< Of the ring.
  std::array<const char*, WindowPlaces::kCount> data{};
};

class WindowReader {
 public:
  /// Looks at what was read, on the thread that read it; throws what next() is to throw. Called by
  /// several threads.
  using Check = std::function<void(const Window&)>;
  /// Which places window `number` holds. Called by several threads.
  using Plan = std::function<WindowPlaces(std::uint64_t number)>;

  /// Bytes of one slot, for windows of at most so many bytes of either place.
  [[nodiscard]] static constexpr std::uint64_t slot_bytes(std::uint64_t first,
                                                          std::uint64_t second) {
    return PositionedFile::buffer_bytes(first) + PositionedFile::buffer_bytes(second);
  }

  /// `memory` has `slots` times slot_bytes(first, second), aligned to PositionedFile::kAlignment;
  /// it and `file` outlive this. Starts `threads` threads. Throws ThreadError.
  WindowReader(const PositionedFile& file, char* memory, std::uint32_t slots, std::uint64_t first,
               std::uint64_t second, int threads);
  /// Waits for the reads that are under way.
  ~WindowReader();
  WindowReader(const WindowReader&) = delete;
  WindowReader& operator=(const WindowReader&) = delete;

  /// Begins to read windows 0 .. count - 1. Whatever of an earlier call is still to come is
  /// dropped, and all windows go back.
  void start(std::uint64_t count, Plan plan, Check check = {});
  /// The next window, waiting for it; nothing behind the last one. The window's memory is the
  /// caller's until release(). At most slots() windows may be held. Throws what a read or a check
  /// of it threw.
  [[nodiscard]] std::optional<Window> next();
  /// Gives the longest held window back.
  void release();

  [[nodiscard]] std::uint32_t slots() const noexcept {
    return static_cast<std::uint32_t>(states_.size());
  }
  /// Asked of the disk since this was made, by windows that next() has told of.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// Seconds that next() has waited.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_; }

 private:
  struct SlotState {
    bool is_ready = false;
    Window window;
    std::uint64_t bytes = 0;
    std::exception_ptr error;
  };

  void serve();
  /// Without the lock.
  void fill(SlotState& state, std::uint64_t number, const Plan& plan, const Check& check) const;
  /// With the lock: waits until no thread reads.
  void settle(std::unique_lock<std::mutex>& lock);

  const PositionedFile& file_;
  char* const memory_;
  const std::uint64_t first_room_, slot_room_;
  std::vector<SlotState> states_;
  std::mutex mutex_;
  std::condition_variable work_, ready_;
  Plan plan_;
  Check check_;
  std::uint64_t count_ = 0;     ///< Windows of this round.
  std::uint64_t begun_ = 0;     ///< That a thread has taken.
  std::uint64_t told_ = 0;      ///< That next() has given.
  std::uint64_t released_ = 0;  ///< That came back.
  int reading_ = 0;
  bool is_over_ = false;
  std::uint64_t bytes_read_ = 0;
  double waited_ = 0.0;
  std::vector<std::thread> threads_;
};

}  // namespace warren::files
