// SPDX-License-Identifier: Apache-2.0
// Text of a message of fixed size, cut where it is long.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warren::team {

template <std::size_t kSize>
struct FixedText {
  std::uint32_t length = 0;
  std::array<char, kSize> characters{};

  FixedText() = default;
  explicit FixedText(std::string_view text)
      : length(static_cast<std::uint32_t>(std::min(text.size(), kSize))) {
    std::copy_n(text.begin(), length, characters.begin());
  }
  [[nodiscard]] std::string get() const {
    return {characters.data(), std::min<std::size_t>(length, kSize)};
  }
};

}  // namespace warren::team
