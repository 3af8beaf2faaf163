// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <exception>

#include <fmt/format.h>

#include "warren/core/output_file.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"

#include "launched.hpp"

namespace warren::app {

void write_lines(const std::string& path, std::uint64_t count,
                 const std::function<void(std::string&, Vertex)>& line) {
  if (!is_first_process()) return;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  OutputFile file(path, OutputFile::Special::in_place);
  std::string lines;
  for (std::uint64_t v = 0; v < count; ++v) {
    line(lines, static_cast<Vertex>(v));
    if (lines.size() < kBlock) continue;
    file.write(lines);
    lines.clear();
  }
  file.write(lines);
  (void)file.commit();
}

namespace {

void print_error_line(const std::string& message) noexcept {
  try {
    write_standard_error(fmt::format("warren: error: {}\n", printable(message)));
  } catch (const std::exception&) {
    write_standard_error("warren: error: there is no memory to say which\n");
  }
}

}  // namespace

void print_error(const std::string& message) noexcept {
  if (is_first_process()) print_error_line(message);
}

void print_last_error(const std::string& message, int status) noexcept {
  if (!may_tell_end()) return;
  print_error_line(message);
  has_told_end(status);
}

}  // namespace warren::app
