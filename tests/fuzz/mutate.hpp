// SPDX-License-Identifier: Apache-2.0
// Mutations that know the format: what stands behind lengths, checksums and compression is changed,
// and these are made right again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "fuzz/sign.hpp"
#include "support/archives.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace warren::fuzz {

/// libFuzzer's own mutations, of a text that may grow to `most` bytes.
inline std::string mutated(std::string text, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  text.resize(std::max<std::size_t>(most, 1));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  return text;
}

inline std::size_t put_back(const std::string& text, std::uint8_t* data, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}

/// The header's text, behind its length.
inline std::size_t mutate_safetensors(std::uint8_t* data, std::size_t size, std::size_t most) {
  std::uint64_t length = 0;
  if (size < sizeof length || most < 64) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(&length, data, sizeof length);
  length = std::min<std::uint64_t>(length, size - sizeof length);
  const std::string rest(data + sizeof length + length, data + size);
  const std::string header = mutated({data + sizeof length, data + sizeof length + length},
                                     most - sizeof length - std::min(rest.size(), most / 2));
  length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), sizeof length);
  return put_back(text + header + rest, data, most);
}

/// What a gzip stream holds, as far as it can be read.
inline std::string inflated(const std::uint8_t* data, std::size_t size, std::size_t most) {
  z_stream stream{};
  std::string text(most, '\0');
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(data);
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  (void)inflate(&stream, Z_FINISH);
  text.resize(text.size() - stream.avail_out);
  (void)inflateEnd(&stream);
  return text;
}

inline std::size_t mutate_gzip(std::uint8_t* data, std::size_t size, std::size_t most) {
  const std::string text = mutated(inflated(data, size, most), most);
  return put_back(testing_support::gzipped(text, 1), data, most);
}

/// How many bytes the operation at the front of a pickle has; 1 of those that are not known.
inline std::size_t operation_bytes(std::string_view pickle) {
  const auto counted = [&](std::size_t width) {
    std::uint64_t count = 0;
    if (pickle.size() <= width) return pickle.size();
    std::memcpy(&count, pickle.data() + 1, width);
    return static_cast<std::size_t>(std::min<std::uint64_t>(count, pickle.size())) + 1 + width;
  };
  const auto lines = [&](int count) {
    std::size_t at = 0;
    for (; count > 0 && at != std::string_view::npos; --count) at = pickle.find('\n', at + 1);
    return at == std::string_view::npos ? pickle.size() : at + 1;
  };
  switch (static_cast<unsigned char>(pickle.front())) {
    case 0x80:
    case 'K':
    case 'q':
    case 'h':
      return 2;
    case 'M':
      return 3;
    case 'J':
    case 'r':
    case 'j':
      return 5;
    case 0x95:
    case 'G':
      return 9;
    case 'U':
    case 'C':
    case 0x8c:
    case 0x8a:
      return counted(1);
    case 'T':
    case 'B':
    case 'X':
      return counted(4);
    case 0x8e:
      return counted(8);
    case 'I':
    case 'L':
    case 'p':
    case 'g':
      return lines(1);
    case 'c':
      return lines(2);
    default:
      return 1;
  }
}

inline std::vector<std::string> operations_of(std::string_view pickle) {
  std::vector<std::string> operations;
  while (!pickle.empty()) {
    const std::size_t bytes = std::min(operation_bytes(pickle), pickle.size());
    operations.emplace_back(pickle.substr(0, bytes));
    pickle.remove_prefix(bytes);
  }
  return operations;
}

/// Operations are left out, doubled, changed places with and put in.
inline std::string with_other_operations(std::string_view pickle, unsigned seed) {
  using namespace std::string_literals;
  static const std::vector<std::string> kMore = {"0"s,
                                                 "("s,
                                                 "t"s,
                                                 "l"s,
                                                 "d"s,
                                                 "u"s,
                                                 "e"s,
                                                 "s"s,
                                                 "a"s,
                                                 "b"s,
                                                 "R"s,
                                                 "]"s,
                                                 "}"s,
                                                 ")"s,
                                                 "N"s,
                                                 "."s,
                                                 "h\0"s,
                                                 "h\1"s,
                                                 "q\0"s,
                                                 "K\xff"s,
                                                 "\x81"s,
                                                 "\x85"s,
                                                 "\x86"s,
                                                 "\x87"s,
                                                 "\x88"s,
                                                 "\x93"s,
                                                 "\x94"s,
                                                 "J\xff\xff\xff\x7f"s,
                                                 "J\0\0\0\x80"s,
                                                 "U\1x"s,
                                                 "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s};
  std::vector<std::string> all = operations_of(pickle);
  const auto draw = [&](std::size_t below) {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<std::size_t>(seed >> 8) % below;
  };
  for (std::size_t rounds = 1 + draw(4); rounds > 0 && !all.empty(); --rounds) {
    const std::size_t i = draw(all.size()), j = draw(all.size());
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
    switch (draw(5)) {
      case 0:
        all.erase(at);
        break;
      case 1:
        all.insert(at, std::string(all[j]));
        break;
      case 2:
        std::swap(all[i], all[j]);
        break;
      case 3:
        all.insert(at, kMore[draw(kMore.size())]);
        break;
      default:
        *at = kMore[draw(kMore.size())];
        break;
    }
  }
  std::string text;
  for (const std::string& operation : all) text += operation;
  return text;
}

/// One of the parts of an input of several pickles (dataset_input.hpp).
inline std::size_t mutate_pickle(std::uint8_t* data, std::size_t size, std::size_t most,
                                 unsigned seed) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::size_t> begins;
  for (std::size_t at = input.find("@@\n"); at != std::string_view::npos;
       at = input.find("@@\n", at + 3))
    begins.push_back(at + 3);
  if (begins.empty()) return LLVMFuzzerMutate(data, size, most);
  const std::size_t begin = begins[seed / 16 % begins.size()];
  const std::size_t end = std::min(input.find("\n@@", begin), size);
  const std::string part = with_other_operations(input.substr(begin, end - begin), seed);
  return put_back(std::string(input.substr(0, begin)) + part + std::string(input.substr(end)), data,
                  most);
}

inline std::size_t mutate(std::string_view target, std::uint8_t* data, std::size_t size,
                          std::size_t most, unsigned seed) {
  constexpr unsigned kPlain = 8;  // One of so many is changed as if it were any bytes.
  if (seed % kPlain == 0) return LLVMFuzzerMutate(data, size, most);
  if (target == "safetensors") return mutate_safetensors(data, size, most);
  if (target == "csv") return mutate_gzip(data, size, most);
  if (target == "pickle" && seed % 2 == 0) return mutate_pickle(data, size, most, seed);
  const std::size_t now = LLVMFuzzerMutate(data, size, most);
  graph::sign(target, data, now);
  return now;
}

}  // namespace warren::fuzz
