// SPDX-License-Identifier: Apache-2.0
// Mirrors of other ranks' arrays, for ranks of one process whose devices do not reach each other's
// memory. A rank posts what it shows; after a barrier each rank copies what is for it to its own
// device, by the copy engines, which go over the host where there is no other path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "warren/exec/stream.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// What a rank shows, as the others find it.
struct Posted {
  int to = -1;               ///< As in Shown.
  std::uint64_t window = 0;  ///< The same number on all ranks: they share windows in one order.
  std::uint64_t first = 0;   ///< Byte of the window.
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// One rank's mirrors.
class Mirrors {
 public:
  static constexpr const char* kNoWindow =
      "what is published must lie in an array that Team::share_windows() was given";

  Mirrors(const exec::Device& device, int rank) : device_(device), rank_(rank) {}

  /// `bytes`: of each rank's array. The mirrors go with the last copy of what is returned. Throws
  /// MemoryError.
  Windows add(const Window& window, std::span<const std::uint64_t> bytes);
  /// Throws UsageError for what lies in no window.
  [[nodiscard]] Posted post(const Shown& shown) const;
  /// Starts the copies of what rank q has posted for this one. Throws UsageError for bytes that the
  /// window does not have here.
  void fetch(int q, std::span<const Posted> posted);
  /// Waits for the copies.
  void finish();

 private:
  /// Of an array of another rank, or its place in the own one.
  struct Mirror {
    std::byte* base = nullptr;  ///< Of byte 0, which need not be there.
    std::uint64_t first = 0, end = 0;
  };
  struct Entry {
    std::uint64_t number = 0;
    const std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    std::vector<Mirror> mirrors;  ///< By rank.
    std::shared_ptr<void> memory;
  };
  using Entries = std::vector<Entry>;

  exec::Device device_;
  int rank_;
  std::uint64_t added_ = 0;
  /// Kept by who holds windows, too, since these may outlive the team.
  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
  std::optional<exec::Stream> stream_;  ///< Made by the first fetch().
};

}  // namespace warren::team
