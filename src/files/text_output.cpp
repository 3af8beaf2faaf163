// SPDX-License-Identifier: Apache-2.0
// The compressors in front of a file.
#include "warren/files/text_output.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "warren/core/error.hpp"

namespace warren::files {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;
constexpr std::size_t kCompressedBytes = std::size_t{1} << 18;

class PlainOutput final : public TextOutput {
 public:
  explicit PlainOutput(OutputFile& file) : file_(file) {}
  void write(std::string_view text) override { file_.write(text); }
  void finish() override {}

 private:
  OutputFile& file_;
};

class GzipOutput final : public TextOutput {
 public:
  explicit GzipOutput(OutputFile& file) : file_(file), buffer_(kCompressedBytes) {
    constexpr int kGzip = 16 + MAX_WBITS, kMemoryLevel = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw MemoryError("zlib", 1 << 18, 0);
    }
  }
  ~GzipOutput() override { (void)deflateEnd(&stream_); }
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;

  void write(std::string_view text) override {
    while (!text.empty()) {
      const std::size_t part = std::min<std::size_t>(text.size(), kMostAtOnce);
      // zlib's interface takes a pointer to writable bytes, which it does not write.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      stream_.avail_in = static_cast<uInt>(part);
      while (stream_.avail_in != 0) step(Z_NO_FLUSH);
      text.remove_prefix(part);
    }
  }
  void finish() override {
    while (step(Z_FINISH) != Z_STREAM_END) {
    }
  }

 private:
  int step(int flush) {
    stream_.next_out = buffer_.data();
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    const int status = deflate(&stream_, flush);
    file_.write(buffer_.data(), buffer_.size() - stream_.avail_out);
    return status;
  }

  OutputFile& file_;
  z_stream stream_{};
  std::vector<Bytef> buffer_;
};

class ZstdOutput final : public TextOutput {
 public:
  explicit ZstdOutput(OutputFile& file)
      : file_(file), stream_(ZSTD_createCStream()), buffer_(kCompressedBytes) {
    if (stream_ == nullptr) throw MemoryError("libzstd", 1 << 20, 0);
    (void)ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdOutput() override { (void)ZSTD_freeCStream(stream_); }
  ZstdOutput(const ZstdOutput&) = delete;
  ZstdOutput& operator=(const ZstdOutput&) = delete;

  void write(std::string_view text) override {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    while (input.pos < input.size) (void)step(input, ZSTD_e_continue);
  }
  void finish() override {
    ZSTD_inBuffer input{nullptr, 0, 0};
    while (step(input, ZSTD_e_end) != 0) {
    }
  }

 private:
  std::size_t step(ZSTD_inBuffer& input, ZSTD_EndDirective directive) {
    ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(stream_, &output, &input, directive);
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
      throw MemoryError("libzstd", 1 << 20, 0);
    if (ZSTD_isError(left) != 0) throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(left)));
    file_.write(buffer_.data(), output.pos);
    return left;
  }

  OutputFile& file_;
  ZSTD_CStream* stream_;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<TextOutput> make_text_output(OutputFile& file, Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<GzipOutput>(file);
    case Compression::zstd:
      return std::make_unique<ZstdOutput>(file);
    case Compression::none:
    case Compression::from_content:
      break;
  }
  return std::make_unique<PlainOutput>(file);
}

}  // namespace warren::files
