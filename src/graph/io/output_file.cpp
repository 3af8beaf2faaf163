// SPDX-License-Identifier: Apache-2.0
// Writing beside the place and renaming, and the compressors in front of that.
#include "graph/io/output_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "warren/core/error.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;
constexpr std::size_t kCompressedBytes = std::size_t{1} << 18;

// Files that this process writes at the same time have different names.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.partial-{}-{}", path, getpid(), counter.fetch_add(1));
}

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
    if (ZSTD_isError(left) != 0) throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(left)));
    file_.write(buffer_.data(), output.pos);
    return left;
  }

  OutputFile& file_;
  ZSTD_CStream* stream_;
  std::vector<char> buffer_;
};

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw InputError(
        path_ + ": cannot write: is a directory or a device; name a file to write the graph to");
  }
  descriptor_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse("create it");
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  (void)close(descriptor_);
  (void)unlink(temporary_.c_str());
}

void OutputFile::refuse(const char* what) const {
  throw InputError(fmt::format("{}: cannot {}: {}", path_, what, std::strerror(errno)));
}

void OutputFile::write(const void* data, std::uint64_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = ::write(descriptor_, p, std::min(bytes, kMostAtOnce));
    if (written < 0) {
      if (errno == EINTR) continue;
      refuse("write");
    }
    p += written;
    bytes -= static_cast<std::uint64_t>(written);
    bytes_ += static_cast<std::uint64_t>(written);
  }
}

void OutputFile::fill_up_to(std::uint64_t offset) {
  static constexpr std::array<char, 4096> kZeros{};
  while (bytes_ < offset) {
    write(kZeros.data(), std::min<std::uint64_t>(kZeros.size(), offset - bytes_));
  }
}

void OutputFile::replace(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = pwrite(descriptor_, p, bytes, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      refuse("write");
    }
    p += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

std::uint64_t OutputFile::commit() {
  if (fsync(descriptor_) != 0) refuse("bring it to the disk");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) refuse("rename it to its place");
  (void)close(descriptor_);
  descriptor_ = -1;
  // The name is in the directory: that too has to reach the disk. Some file systems cannot be
  // asked.
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  const int directory =
      open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    (void)fsync(directory);
    (void)close(directory);
  }
  return bytes_;
}

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

}  // namespace warren::graph::io
