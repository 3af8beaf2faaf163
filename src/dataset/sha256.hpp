// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), to tell whether a file is the one that was meant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace warren::learn {

class Sha256 {
 public:
  void add(std::string_view bytes);
  /// 64 hexadecimal digits. Nothing can be added afterwards.
  [[nodiscard]] std::string digest();

 private:
  void take_block(const char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;
  std::uint64_t bytes_ = 0;
};

/// Of a file. Throws InputError where it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

}  // namespace warren::learn
