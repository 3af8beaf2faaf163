// SPDX-License-Identifier: Apache-2.0
// The directory at an archive's end is what counts; local headers only say where a member's data
// begins.
#include "warren/files/zip_reader.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/files/checksum.hpp"

namespace warren::files {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                        kLocator64Signature = 0x07064b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr std::uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20,
                        kDirectoryBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kLongestComment = 0xffff;
constexpr std::uint64_t kMostMembers = 1024;
constexpr std::uint16_t kStored = 0, kDeflated = 8;

template <class T>
T load_as(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

}  // namespace

ZipReader::ZipReader(const MappedFile& file) : file_(file) {
  std::uint64_t count = 0, end = 0;
  std::uint64_t at = find_directory(count, end);
  if (count > kMostMembers)
    file_.fail(at,
               fmt::format("the archive has {} members; up to {} are read", count, kMostMembers));
  for (std::uint64_t i = 0; i < count; ++i) read_entry(at, end);
  check_overlaps();
}

// Members over each other would make more of a file than its compressed bytes can hold.
void ZipReader::check_overlaps() const {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->header_offset < b->header_offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Entry &before = *order[i - 1], &entry = *order[i];
    const std::uint64_t between = entry.header_offset - before.header_offset;
    if (between < kLocalBytes || between - kLocalBytes < before.compressed)
      file_.fail(entry.directory_offset,
                 fmt::format("members '{}' and '{}' lie over each other; the archive is damaged",
                             printable(before.name), printable(entry.name)));
  }
}

std::uint64_t ZipReader::find_directory(std::uint64_t& count, std::uint64_t& end) const {
  const char* data = file_.data();
  const std::uint64_t size = file_.size();
  if (size < kEndBytes)
    file_.fail(size, "the file is too short for an .npz archive; was it cut off?");
  std::uint64_t at = size - kEndBytes;
  const std::uint64_t lowest = at > kLongestComment ? at - kLongestComment : 0;
  while (load_as<std::uint32_t>(data + at) != kEndSignature) {
    if (at == lowest)
      file_.fail(
          size,
          "there is no archive directory at the end of the file; it was cut off, or is no .npz");
    --at;
  }
  count = load_as<std::uint16_t>(data + at + 10);
  std::uint64_t bytes = load_as<std::uint32_t>(data + at + 12);
  std::uint64_t offset = load_as<std::uint32_t>(data + at + 16);
  std::uint64_t limit = at;
  if (at >= kLocator64Bytes &&
      load_as<std::uint32_t>(data + at - kLocator64Bytes) == kLocator64Signature) {
    const auto end64 = load_as<std::uint64_t>(data + at - kLocator64Bytes + 8);
    if (end64 > size || size - end64 < kEnd64Bytes ||
        load_as<std::uint32_t>(data + end64) != kEnd64Signature) {
      file_.fail(at - kLocator64Bytes,
                 "the ZIP64 directory is not where it should be; the archive is damaged");
    }
    count = load_as<std::uint64_t>(data + end64 + 32);
    bytes = load_as<std::uint64_t>(data + end64 + 40);
    offset = load_as<std::uint64_t>(data + end64 + 48);
    limit = end64;
  }
  if (offset > limit || bytes > limit - offset)
    file_.fail(at, "the archive's directory lies outside the file; it is damaged or was cut off");
  end = offset + bytes;
  return offset;
}

void ZipReader::read_entry(std::uint64_t& at, std::uint64_t end) {
  const char* data = file_.data() + at;
  if (end - at < kDirectoryBytes || load_as<std::uint32_t>(data) != kDirectorySignature)
    file_.fail(at, "the archive's directory is damaged");
  const std::uint64_t name_bytes = load_as<std::uint16_t>(data + 28),
                      extra_bytes = load_as<std::uint16_t>(data + 30),
                      comment_bytes = load_as<std::uint16_t>(data + 32);
  if (end - at - kDirectoryBytes < name_bytes + extra_bytes + comment_bytes)
    file_.fail(at, "the archive's directory is damaged");
  Entry entry;
  entry.name.assign(data + kDirectoryBytes, name_bytes);
  entry.flags = load_as<std::uint16_t>(data + 8);
  entry.method = load_as<std::uint16_t>(data + 10);
  entry.crc = load_as<std::uint32_t>(data + 16);
  entry.compressed = load_as<std::uint32_t>(data + 20);
  entry.size = load_as<std::uint32_t>(data + 24);
  entry.header_offset = load_as<std::uint32_t>(data + 42);
  entry.directory_offset = at;
  // ZIP64: fields that are all ones stand in an extra field of type 1, in this order.
  constexpr std::uint64_t kInExtraField = 0xffffffff;
  const char* extra = data + kDirectoryBytes + name_bytes;
  for (std::uint64_t left = extra_bytes; left >= 4;) {
    const std::uint64_t type = load_as<std::uint16_t>(extra),
                        bytes = load_as<std::uint16_t>(extra + 2);
    if (bytes > left - 4) file_.fail(at, "the archive's directory is damaged");
    if (type == 1) {
      std::uint64_t used = 0;
      for (std::uint64_t* field : {&entry.size, &entry.compressed, &entry.header_offset}) {
        if (*field != kInExtraField) continue;
        if (bytes - used < 8) file_.fail(at, "the archive's directory is damaged");
        *field = load_as<std::uint64_t>(extra + 4 + used);
        used += 8;
      }
    }
    extra += 4 + bytes;
    left -= 4 + bytes;
  }
  entries_.push_back(std::move(entry));
  at += kDirectoryBytes + name_bytes + extra_bytes + comment_bytes;
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

bool ZipReader::contains(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return e.name == name; });
}

ZipPlace ZipReader::place_of(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.name == name; });
  if (found == entries_.end())
    throw InputError(
        fmt::format("{}: the archive has no member '{}'", file_.path(), printable(name)));
  const Entry& entry = *found;
  const auto refuse = [&](const std::string& what) {
    file_.fail(entry.directory_offset, fmt::format("member '{}' {}", printable(name), what));
  };
  if ((entry.flags & 1) != 0) refuse("is encrypted; save it without a password");
  if (entry.method != kStored && entry.method != kDeflated) {
    refuse(fmt::format("is compressed by method {}; 0 (stored) and 8 (deflated) can be read",
                       entry.method));
  }
  const std::uint64_t size = file_.size();
  if (entry.header_offset > size || size - entry.header_offset < kLocalBytes ||
      load_as<std::uint32_t>(file_.data() + entry.header_offset) != kLocalSignature) {
    refuse("is not where the archive's directory says; the archive is damaged");
  }
  const char* local = file_.data() + entry.header_offset;
  const std::uint64_t skip =
      kLocalBytes + load_as<std::uint16_t>(local + 26) + load_as<std::uint16_t>(local + 28);
  if (size - entry.header_offset < skip || size - entry.header_offset - skip < entry.compressed) {
    refuse("reaches past the end of the file; was it cut off?");
  }
  if (entry.method == kStored && entry.size != entry.compressed)
    refuse("is stored, but of two sizes; the archive is damaged");
  return {name,      entry.header_offset + skip, entry.compressed, entry.size,
          entry.crc, entry.method == kDeflated};
}

ZipStream ZipReader::open(const std::string& name) const { return {file_, place_of(name)}; }

ZipMember ZipReader::load(const std::string& name) const {
  const ZipPlace place = place_of(name);
  ZipMember member;
  member.offset = place.offset;
  member.size = place.size;
  member.data = file_.data() + member.offset;
  if (place.is_deflated) {
    ZipStream stream(file_, place);
    member.inflated = memory::HostArray<char>(place.size);
    (void)stream.read(member.inflated.data(), place.size);
    member.data = member.inflated.data();
  } else if (crc32_of(member.data, member.size) != place.crc) {
    file_.fail(member.offset,
               fmt::format("member '{}' is damaged: its checksum does not match; get the file anew",
                           printable(name)));
  }
  return member;
}

}  // namespace warren::files
