// SPDX-License-Identifier: Apache-2.0
// gzip through zlib, zstd through libzstd.
#include "warren/files/decompressor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "warren/core/error.hpp"

namespace warren::files {
namespace {

class GzipDecompressor final : public Decompressor {
 public:
  explicit GzipDecompressor(const MappedFile& file) : file_(file) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw MemoryError("zlib", 1 << 16, 0);
  }
  ~GzipDecompressor() override { (void)inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  std::uint64_t read(char* out, std::uint64_t capacity) override {
    const auto space =
        static_cast<uInt>(std::min<std::uint64_t>(capacity, std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = space;
    while (stream_.avail_out != 0) {
      if (stream_.avail_in == 0) refill();
      if (member_ended_) {
        skip_padding();
        if (stream_.avail_in == 0) break;
        (void)inflateReset(&stream_);
        member_ended_ = false;
      }
      if (stream_.avail_in == 0)
        file_.fail(file_.size(),
                   "the gzip stream ends early; the file was cut off, fetch it again");
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw MemoryError("zlib", 1 << 16, 0);
      if (status == Z_STREAM_END) {
        member_ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        file_.fail(consumed_ - stream_.avail_in,
                   fmt::format("the gzip stream is damaged ({}); fetch the file again, or drop .gz "
                               "from the name if it is not compressed",
                               stream_.msg != nullptr ? stream_.msg : "zlib says no more"));
      }
    }
    return space - stream_.avail_out;
  }

 private:
  // Tapes and some tools fill up with NUL bytes behind a member.
  void skip_padding() {
    const std::uint64_t at = consumed_ - stream_.avail_in;
    const char* const rest = file_.data() + at;
    const char* const end = file_.data() + file_.size();
    const char* const next = std::find_if(rest, end, [](char c) { return c != '\0'; });
    consumed_ = at + static_cast<std::uint64_t>(next - rest);
    stream_.avail_in = 0;
    refill();
  }

  void refill() {
    const auto left = static_cast<uInt>(
        std::min<std::uint64_t>(file_.size() - consumed_, std::uint64_t{1} << 30));
    // zlib's interface takes a pointer to writable bytes, which it does not write.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file_.data() + consumed_));
    stream_.avail_in = left;
    consumed_ += left;
  }

  const MappedFile& file_;
  z_stream stream_{};
  std::uint64_t consumed_ = 0;  // Bytes handed to zlib.
  bool member_ended_ = false;
};

class ZstdDecompressor final : public Decompressor {
 public:
  explicit ZstdDecompressor(const MappedFile& file) : file_(file), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw MemoryError("libzstd", 1 << 17, 0);
    input_ = {file.data(), file.size(), 0};
  }
  ~ZstdDecompressor() override { (void)ZSTD_freeDStream(stream_); }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  std::uint64_t read(char* out, std::uint64_t capacity) override {
    ZSTD_outBuffer output{out, capacity, 0};
    while (output.pos < output.size) {
      const std::size_t before = output.pos;
      const std::size_t position = input_.pos;
      if (input_.pos == input_.size && expected_ == 0) break;
      expected_ = ZSTD_decompressStream(stream_, &output, &input_);
      if (ZSTD_getErrorCode(expected_) == ZSTD_error_memory_allocation)
        throw MemoryError("libzstd", 1 << 17, 0);
      if (ZSTD_isError(expected_) != 0) {
        file_.fail(input_.pos, fmt::format("the zstd stream is damaged ({}); fetch the file again, "
                                           "or drop .zst from the name if it is "
                                           "not compressed",
                                           ZSTD_getErrorName(expected_)));
      }
      if (expected_ != 0 && output.pos == before && input_.pos == position) {
        file_.fail(file_.size(),
                   "the zstd stream ends early; the file was cut off, fetch it again");
      }
    }
    return output.pos;
  }

 private:
  const MappedFile& file_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{};
  std::size_t expected_ = 0;  // 0 between frames.
};

}  // namespace

std::unique_ptr<Decompressor> make_decompressor(const MappedFile& file, Compression compression) {
  if (compression == Compression::gzip) return std::make_unique<GzipDecompressor>(file);
  return std::make_unique<ZstdDecompressor>(file);
}

}  // namespace warren::files
