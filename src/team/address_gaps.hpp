// SPDX-License-Identifier: Apache-2.0
// Which parts of a range of addresses are free: blocks are cut from the first gap that is large
// enough, and join their neighbours when they come back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace warren::team {

class AddressGaps {
 public:
  explicit AddressGaps(std::uint64_t bytes) : gaps_{{0, bytes}} {}

  /// The first of `bytes` at a multiple of `unit`; nothing where no gap is large enough.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t unit);
  /// What take() gave, or a part of it, is free again.
  void give(std::uint64_t first, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t longest() const noexcept;

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  ///< First byte and size.
};

[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace warren::team
