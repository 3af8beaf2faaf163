// SPDX-License-Identifier: Apache-2.0
// Cutting text at line ends.
#include "warren/files/text_file.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/printable.hpp"
#include "warren/files/decompressor.hpp"

namespace warren::files {
namespace {

constexpr std::uint64_t kTextPieceBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kStreamBytes = std::uint64_t{1} << 20;

std::uint64_t count_lines(const char* begin, const char* end) {
  return static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}

bool starts_with(const MappedFile& file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Compression compression_of(const MappedFile& file) {
  if (starts_with(file, "\x1f\x8b")) return Compression::gzip;
  return starts_with(file, "\x28\xb5\x2f\xfd") ? Compression::zstd : Compression::none;
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Bytes of the mark that editors put in front of UTF-8.
std::uint64_t mark_bytes(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

}  // namespace

TextFile::TextFile(const std::string& path, Compression compression, std::uint64_t longest_line)
    : file_(path, compression == Compression::from_content ? MappedFile::Pipes::read
                                                           : MappedFile::Pipes::refused),
      compression_(compression == Compression::from_content ? compression_of(file_) : compression),
      longest_line_(longest_line) {
  if (file_.size() == 0) throw InputError(path + ": the file is empty");
  if (compression_ != Compression::none) return;
  if (compression_of(file_) == Compression::gzip)
    throw InputError(path + ": is compressed with gzip; let its name end in .gz");
  if (compression_of(file_) == Compression::zstd)
    throw InputError(path + ": is compressed with zstd; let its name end in .zst");
  if (starts_with(file_, "\xff\xfe") || starts_with(file_, "\xfe\xff"))
    throw InputError(path + ": is text in UTF-16; save it as UTF-8");
  text_begin_ = data_begin_ = mark_bytes({file_.data(), file_.size()});
  pieces_ = (file_.size() + kTextPieceBytes - 1) / kTextPieceBytes;
}

std::uint64_t TextFile::likely_text_bytes() const {
  constexpr std::uint64_t kRatio = 8;  // A list of edges becomes a third to a fifth.
  return compression_ == Compression::none ? file_.size() : kRatio * file_.size();
}

std::uint64_t TextFile::text_bytes() const {
  return compression_ == Compression::none ? file_.size() : ~std::uint64_t{0};
}

void TextFile::read_head(const std::function<const char*(const TextBlock&)>& look) {
  if (compression_ == Compression::none) {
    const TextBlock all{file_.data() + text_begin_, file_.data() + file_.size(), 0};
    data_begin_ = static_cast<std::uint64_t>(look(all) - file_.data());
    pieces_ = std::max<std::uint64_t>(
        1, (file_.size() - data_begin_ + kTextPieceBytes - 1) / kTextPieceBytes);
    return;
  }
  data_begin_ = 0;
  stream([&](const TextBlock& block) {
    const char* taken = look(block);
    data_begin_ += static_cast<std::uint64_t>(taken - block.begin);
    return taken == block.end;
  });
}

const char* TextFile::line_start(std::uint64_t offset, std::uint64_t limit) const {
  const char* const text_end = file_.data() + file_.size();
  if (offset >= file_.size()) return text_end;
  const char* at = file_.data() + offset;
  if (offset == data_begin_ || at[-1] == '\n') return at;
  const std::uint64_t length = std::min(limit, file_.size() - offset);
  const void* line_end = std::memchr(at, '\n', length);
  return line_end == nullptr ? at + length : static_cast<const char*>(line_end) + 1;
}

void TextFile::for_each_block(std::uint64_t piece,
                              const std::function<void(const TextBlock&)>& body) const {
  if (compression_ == Compression::none) {
    // A line belongs to the piece that its first byte lies in.
    const std::uint64_t offset = data_begin_ + piece * kTextPieceBytes;
    const char* begin = line_start(offset, kTextPieceBytes);
    if (begin >= file_.data() + std::min(offset + kTextPieceBytes, file_.size())) return;
    const char* end = line_start(offset + kTextPieceBytes, longest_line_);
    if (end != file_.data() + file_.size() && end[-1] != '\n')
      refuse_length(line_of({begin, end, TextBlock::kCount}, end));
    body({begin, end, TextBlock::kCount});
    return;
  }
  std::uint64_t skip = data_begin_;
  stream([&](const TextBlock& block) {
    const auto length = static_cast<std::uint64_t>(block.end - block.begin);
    if (skip >= length) {
      skip -= length;
      return true;
    }
    const char* begin = block.begin + skip;
    body({begin, block.end, block.lines_before + count_lines(block.begin, begin)});
    skip = 0;
    return true;
  });
}

// Decompresses into a buffer behind what is left of the last block: the front of a line.
void TextFile::stream(const std::function<bool(const TextBlock&)>& body) const {
  const std::unique_ptr<Decompressor> input = make_decompressor(file_, compression_);
  // Small files come with small blocks: a buffer's pages cost more than they hold.
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 16, kLikelyRatio = 4;
  const std::uint64_t block_bytes = std::clamp(kLikelyRatio * file_.size(), kLeast, kStreamBytes);
  std::vector<char> buffer(block_bytes + MappedFile::kPadding);
  std::uint64_t held = 0, lines = 0;
  bool is_first = true;
  for (bool more = true; more;) {
    interrupt_point();
    if (held == buffer.size() - MappedFile::kPadding) {
      if (held > longest_line_) refuse_length(lines + 1);
      buffer.resize(2 * held + MappedFile::kPadding);
    }
    const std::uint64_t got =
        input->read(buffer.data() + held, buffer.size() - MappedFile::kPadding - held);
    more = got != 0;
    char* const end = buffer.data() + held + got;
    std::memset(end, 0, MappedFile::kPadding);
    const void* last = memrchr(buffer.data() + held, '\n', got);
    const char* const cut = !more             ? end
                            : last == nullptr ? buffer.data()
                                              : static_cast<const char*>(last) + 1;
    if (cut != buffer.data()) {
      const auto size = static_cast<std::size_t>(cut - buffer.data());
      const std::uint64_t mark = is_first ? mark_bytes({buffer.data(), size}) : 0;
      is_first = false;
      if (!body({buffer.data() + mark, cut, lines})) return;
      lines += count_lines(buffer.data(), cut);
    }
    held = static_cast<std::uint64_t>(end - cut);
    if (held != 0 && cut != buffer.data()) std::memmove(buffer.data(), cut, held);
  }
}

std::uint64_t TextFile::line_of(const TextBlock& block, const char* at) const {
  if (block.lines_before != TextBlock::kCount)
    return block.lines_before + count_lines(block.begin, at) + 1;
  if (block.origin != nullptr)
    return count_lines(file_.data(), block.origin) + count_lines(block.begin, at) + 1;
  return count_lines(file_.data(), at) + 1;
}

void TextFile::check_line(const TextBlock& block, std::string_view line) const {
  if (line.size() > longest_line_) refuse_length(line_of(block, line.data()));
}

void TextFile::refuse_length(std::uint64_t line) const {
  fail(line, fmt::format("the line is longer than {} bytes; is this a text file?", longest_line_));
}

void TextFile::fail(const TextBlock& block, const char* at, const std::string& message) const {
  fail(line_of(block, at), message);
}

void TextFile::fail(std::uint64_t line, const std::string& message) const {
  throw InputError(fmt::format("{}:{}: {}", path(), line, printable(message)));
}

}  // namespace warren::files
