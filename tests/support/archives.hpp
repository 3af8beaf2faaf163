// SPDX-License-Identifier: Apache-2.0
// Archives of NumPy arrays, put together member by member.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "warren/files/checksum.hpp"
#include "warren/files/npy.hpp"

namespace warren::testing_support {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::string vector_npy(const std::string& type, const std::vector<T>& values) {
  return files::npy_header(type, fmt::format("({},)", values.size())) + bytes_of(values);
}

inline std::string deflated(const std::string& bytes, int level = 9) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::logic_error("zlib does not begin");
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(out.size() - stream.avail_out);
  (void)deflateEnd(&stream);
  if (!is_done) throw std::logic_error("zlib does not end");
  return out;
}

inline std::string gzipped(const std::string& text, int level = 9) {
  const std::string stream = deflated(text, level);
  const std::uint32_t tail[] = {files::crc32_of(text.data(), text.size()),
                                static_cast<std::uint32_t>(text.size())};
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) + stream +
         std::string(reinterpret_cast<const char*>(tail), sizeof(tail));
}

// An archive without ZIP64; `claimed` adds to the sizes that the directory says.
inline std::string archive(const std::map<std::string, std::string>& members,
                           std::uint16_t method = 0, std::uint32_t claimed = 0) {
  const auto put = [](std::string& text, auto... values) {
    const auto one = [&](auto value) {
      text.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    (one(values), ...);
  };
  using U2 = std::uint16_t;
  using U4 = std::uint32_t;
  std::string text, directory;
  for (const auto& [name, bytes] : members) {
    const std::string data = method == 8 ? deflated(bytes) : bytes;
    const auto offset = static_cast<U4>(text.size()),
               crc = files::crc32_of(bytes.data(), bytes.size());
    const auto stored = static_cast<U4>(data.size());
    const auto size = static_cast<U4>(bytes.size()) + claimed;
    const auto length = static_cast<U2>(name.size());
    put(text, U4{0x04034b50}, U2{20}, U2{0}, method, U4{0}, crc, stored, size, length, U2{0});
    text += name + data;
    put(directory, U4{0x02014b50}, U2{20}, U2{20}, U2{0}, method, U4{0}, crc, stored, size, length,
        U2{0}, U2{0}, U2{0}, U2{0}, U4{0}, offset);
    directory += name;
  }
  const auto begin = static_cast<U4>(text.size()), bytes = static_cast<U4>(directory.size());
  const auto count = static_cast<U2>(members.size());
  text += directory;
  put(text, U4{0x06054b50}, U2{0}, U2{0}, count, count, bytes, begin, U2{0});
  return text;
}

}  // namespace warren::testing_support
