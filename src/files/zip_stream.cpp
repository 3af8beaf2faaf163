// SPDX-License-Identifier: Apache-2.0
#include "warren/files/zip_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/files/checksum.hpp"

namespace warren::files {
namespace {

constexpr std::uint64_t kMostDeflateGains = 1032;
constexpr std::uint64_t kStep = std::uint64_t{1} << 30;  // zlib counts in 32 bits.
constexpr std::uint64_t kAhead = std::uint64_t{16} << 20;

}  // namespace

struct ZipStream::Inflater {
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw MemoryError("zlib", 1 << 16, 0);
  }
  ~Inflater() { (void)inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool is_ended = false;
};

ZipStream::ZipStream(const MappedFile& file, ZipPlace place)
    : file_(&file), place_(std::move(place)) {
  if (!place_.is_deflated) return;
  if (place_.size / kMostDeflateGains > place_.compressed) {
    file_->fail(place_.offset,
                fmt::format("member '{}' claims {} bytes, which {} compressed bytes cannot hold",
                            printable(place_.name), place_.size, place_.compressed));
  }
  inflater_ = std::make_unique<Inflater>();
}
ZipStream::~ZipStream() = default;
ZipStream::ZipStream(ZipStream&&) noexcept = default;

std::uint64_t ZipStream::read(char* out, std::uint64_t capacity) {
  const std::uint64_t count = std::min(capacity, place_.size - at_);
  if (inflater_ != nullptr) {
    inflate(out, count);
  } else if (count != 0) {
    file_->will_read(place_.offset + taken_ + count,
                     std::min(kAhead, place_.compressed - taken_ - count));
    std::memcpy(out, file_->data() + place_.offset + taken_, count);
    taken_ += count;
  }
  crc_ = crc32_of(out, count, crc_);
  at_ += count;
  if (at_ == place_.size && !is_finished_) finish();
  return count;
}

void ZipStream::inflate(char* out, std::uint64_t count) {
  z_stream& stream = inflater_->stream;
  std::uint64_t written = 0;
  while (written < count) {
    if (inflater_->is_ended) fail_inflating();
    const auto in = static_cast<uInt>(std::min(kStep, place_.compressed - taken_));
    const auto space = static_cast<uInt>(std::min(kStep, count - written));
    const char* from = file_->data() + place_.offset + taken_;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out + written);
    stream.avail_out = space;
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw MemoryError("zlib", 1 << 16, 0);
    taken_ += in - stream.avail_in;
    written += space - stream.avail_out;
    inflater_->is_ended = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END) fail_inflating();
  }
  file_->will_read(place_.offset + taken_, std::min(kAhead, place_.compressed - taken_));
}

// Nothing may follow the last byte but the compressed stream's end.
void ZipStream::finish() {
  is_finished_ = true;
  while (inflater_ != nullptr && !inflater_->is_ended) {
    z_stream& stream = inflater_->stream;
    char one_too_many = 0;
    const auto in = static_cast<uInt>(std::min(kStep, place_.compressed - taken_));
    const char* from = file_->data() + place_.offset + taken_;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(&one_too_many);
    stream.avail_out = 1;
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw MemoryError("zlib", 1 << 16, 0);
    taken_ += in - stream.avail_in;
    inflater_->is_ended = status == Z_STREAM_END;
    if (stream.avail_out == 0 || (status != Z_OK && status != Z_STREAM_END)) fail_inflating();
  }
  if (crc_ != place_.crc) {
    file_->fail(
        place_.offset,
        fmt::format("member '{}' is damaged: its checksum does not match; get the file anew",
                    printable(place_.name)));
  }
}

void ZipStream::fail_inflating() const {
  file_->fail(
      place_.offset + taken_,
      fmt::format("member '{}' is damaged: it does not inflate to its {} bytes; get the file anew",
                  printable(place_.name), place_.size));
}

}  // namespace warren::files
