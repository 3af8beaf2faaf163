// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file is a literal of Python: the three keys that matter are looked up in it.
#include "warren/files/npy.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/number.hpp"

namespace warren::files {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kBeforeHeader = 10;  // Magic, version, and two bytes of the length or all.

// What follows 'key': in the header.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  const std::size_t begin =
      colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos)
    throw InputError(
        fmt::format("{}: the array's header says no '{}'; save the array again", name, key));
  return header.substr(begin);
}

void parse_type(std::string_view text, NpyArray& array, const std::string& name) {
  const auto refuse = [&] {
    std::string_view shown = text.substr(0, text.find(','));
    if (!shown.empty()) shown.remove_prefix(1);  // Its own quotes.
    throw InputError(fmt::format(
        "{}: the array's element type {} cannot be read; plain little-endian numbers can", name,
        quoted(shown.substr(0, shown.find_first_of("'\"")))));
  };
  if (text.size() < 5 || (text[0] != '\'' && text[0] != '"')) refuse();
  const char order = text[1];
  if (order != '<' && order != '|' && order != '=') refuse();
  constexpr std::string_view kKinds = "biufcSUVmMO";  // NumPy's; what is no letter is damaged.
  if (kKinds.find(text[2]) == std::string_view::npos) refuse();
  array.kind = text[2];
  const auto [end, error] =
      std::from_chars(text.data() + 3, text.data() + text.size(), array.width);
  if (error != std::errc{} || end == text.data() + text.size() || *end != text[0]) refuse();
  if (array.kind == 'U') array.width *= 4;
  if (array.width == 0 || array.width > 4096) refuse();
}

void parse_shape(std::string_view text, NpyArray& array, const std::string& name) {
  const auto refuse = [&] {
    throw InputError(name + ": the array's shape cannot be read; save the array again");
  };
  if (text.empty() || text[0] != '(') refuse();
  const char* p = text.data() + 1;
  const char* const end = text.data() + text.size();
  for (;;) {
    while (p < end && (*p == ' ' || *p == ',')) ++p;
    if (p == end) refuse();
    if (*p == ')') return;
    std::uint64_t extent = 0;
    const auto [next, error] = std::from_chars(p, end, extent);
    if (error != std::errc{} || array.shape.size() == 8) refuse();
    array.shape.push_back(extent);
    if (__builtin_mul_overflow(array.count, extent, &array.count)) refuse();
    p = next;
  }
}

}  // namespace

std::uint64_t npy_header_bytes(const char* data, std::uint64_t size, const std::string& name) {
  if (size < 12 || std::string_view(data, kMagic.size()) != kMagic)
    throw InputError(name + ": this is no NumPy array; save it again");
  const int version = data[6];
  if (version < 1 || version > 3)
    throw InputError(
        fmt::format("{}: the array's format is version {}; 1 to 3 can be read", name, version));
  std::uint32_t length = 0;
  const std::uint64_t length_bytes = version == 1 ? 2 : 4;
  std::memcpy(&length, data + 8, length_bytes);
  const std::uint64_t begin = 8 + length_bytes;
  if (length > size - begin)
    throw InputError(name + ": the array ends within its header; was it cut off?");
  return begin + length;
}

NpyArray parse_npy(const char* data, std::uint64_t size, const std::string& name, AxisOrder order) {
  const std::uint64_t header_bytes = npy_header_bytes(data, size, name);
  const std::string_view header(data + kBeforeHeader, header_bytes - kBeforeHeader);

  NpyArray array;
  parse_type(value_of(header, "descr", name), array, name);
  parse_shape(value_of(header, "shape", name), array, name);
  array.first_axis_fastest =
      array.shape.size() > 1 && value_of(header, "fortran_order", name).starts_with("True");
  if (array.first_axis_fastest && order != AxisOrder::any) {
    throw InputError(name + ": the array is in Fortran order; save it in C order");
  }
  array.data = data + header_bytes;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(array.count, array.width, &bytes) || bytes != size - header_bytes) {
    throw InputError(fmt::format("{}: {} elements of {} bytes are announced, but {} bytes follow",
                                 name, array.count, array.width, size - header_bytes));
  }
  return array;
}

std::string npy_header(const std::string& descr, const std::string& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  constexpr std::size_t kAlignment = 64;
  const std::size_t total =
      (kBeforeHeader + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kBeforeHeader - text.size() - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace warren::files
