// SPDX-License-Identifier: Apache-2.0
#include "dataset/sha256.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "warren/files/mapped_file.hpp"

namespace warren::learn {
namespace {

constexpr std::size_t kBlock = 64;

constexpr std::array<std::uint32_t, 64> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::take_block(const char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t b = 0; b < 4; ++b)
      words.at(i) = words.at(i) << 8 | static_cast<unsigned char>(block[4 * i + b]);
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t x = words.at(i - 15), y = words.at(i - 2);
    words.at(i) = words.at(i - 16) + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)) +
                  words.at(i - 7) + (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + kConstants.at(i) + words.at(i);
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state_.at(i) += added.at(i);
}

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!rest_.empty()) {
    const std::size_t part = std::min(kBlock - rest_.size(), bytes.size());
    rest_.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
    if (rest_.size() < kBlock) return;
    take_block(rest_.data());
    rest_.clear();
  }
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) take_block(bytes.data());
  rest_.assign(bytes);
}

std::string Sha256::digest() {
  const std::uint64_t bits = bytes_ * 8;
  std::string padding(1, '\x80');
  padding.resize(1 + (2 * kBlock - 9 - bytes_ % kBlock) % kBlock, '\0');
  for (int shift = 56; shift >= 0; shift -= 8)
    padding.push_back(static_cast<char>(bits >> shift & 0xff));
  add(padding);
  std::string text;
  for (const std::uint32_t word : state_) text += fmt::format("{:08x}", word);
  return text;
}

std::string sha256_of_file(const std::string& path) {
  const files::MappedFile file(path);
  file.will_read(0, file.size());
  Sha256 sum;
  sum.add({file.data(), file.size()});
  return sum.digest();
}

}  // namespace warren::learn
