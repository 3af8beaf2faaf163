// SPDX-License-Identifier: Apache-2.0
// SciPy's form of a CSR matrix: a ZIP archive of stored .npy members. Sizes are written as ZIP64,
// as NumPy does, so that members may be of any size. A graph without weights has data of booleans.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "warren/files/checksum.hpp"
#include "warren/files/npy.hpp"

#include "graph/io/write.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint32_t kAllOnes = 0xffffffffu;
constexpr std::uint16_t kZip64Version = 45;
constexpr std::uint16_t kFirstDate =
    1 << 5 | 1;  // The first day of 1980: files do not depend on when they were written.
constexpr std::uint64_t kCrcOffset = 14;  // Of the checksum in a local header.

class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}

  /// Begins a member of `size` bytes, which follow through write().
  void begin(const std::string& name, std::uint64_t size) {
    members_.push_back({name, size, file_.bytes(), 0});
    std::string header;
    put32(header, 0x04034b50);
    put16(header, kZip64Version);
    put_method_and_time(header);
    put32(header, 0);  // The checksum, when it is known.
    put32(header, kAllOnes);
    put32(header, kAllOnes);
    put16(header, static_cast<std::uint16_t>(name.size()));
    put16(header, 20);
    header += name;
    put16(header, 1);
    put16(header, 16);
    put64(header, size);
    put64(header, size);
    file_.write(header);
  }
  void write(const void* data, std::uint64_t bytes) {
    members_.back().crc = files::crc32_of(data, bytes, members_.back().crc);
    file_.write(data, bytes);
  }
  void end() {
    const Member& member = members_.back();
    file_.replace(member.offset + kCrcOffset, &member.crc, sizeof(member.crc));
  }

  /// Writes the directory.
  void finish() {
    const std::uint64_t begin = file_.bytes();
    std::string text;
    for (const Member& member : members_) {
      put32(text, 0x02014b50);
      put16(text, kZip64Version);
      put16(text, kZip64Version);
      put_method_and_time(text);
      put32(text, member.crc);
      put32(text, kAllOnes);
      put32(text, kAllOnes);
      put16(text, static_cast<std::uint16_t>(member.name.size()));
      put16(text, 28);
      put16(text, 0);  // Comment.
      put16(text, 0);  // Disk.
      put16(text, 0);
      put32(text, 0);
      put32(text, kAllOnes);
      text += member.name;
      put16(text, 1);
      put16(text, 24);
      put64(text, member.size);
      put64(text, member.size);
      put64(text, member.offset);
    }
    const std::uint64_t bytes = text.size(), end = begin + bytes;
    put32(text, 0x06064b50);
    put64(text, 44);
    put16(text, kZip64Version);
    put16(text, kZip64Version);
    put32(text, 0);
    put32(text, 0);
    put64(text, members_.size());
    put64(text, members_.size());
    put64(text, bytes);
    put64(text, begin);
    put32(text, 0x07064b50);
    put32(text, 0);
    put64(text, end);
    put32(text, 1);
    put32(text, 0x06054b50);
    put16(text, 0);
    put16(text, 0);
    put16(text, static_cast<std::uint16_t>(members_.size()));
    put16(text, static_cast<std::uint16_t>(members_.size()));
    put32(text, static_cast<std::uint32_t>(bytes));
    put32(text, kAllOnes);
    put16(text, 0);
    file_.write(text);
  }

 private:
  struct Member {
    std::string name;
    std::uint64_t size;
    std::uint64_t offset;
    std::uint32_t crc;
  };
  template <class T>
  static void put(std::string& text, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text.append(bytes, sizeof(T));
  }
  static void put16(std::string& text, std::uint16_t value) { put(text, value); }
  static void put32(std::string& text, std::uint32_t value) { put(text, value); }
  static void put64(std::string& text, std::uint64_t value) { put(text, value); }
  static void put_method_and_time(std::string& text) {
    put16(text, 0);  // Flags.
    put16(text, 0);  // Stored.
    put16(text, 0);
    put16(text, kFirstDate);
  }

  OutputFile& file_;
  std::vector<Member> members_;
};

void write_member(ZipWriter& zip, const std::string& name, const std::string& descr,
                  const std::string& shape, std::uint64_t bytes, const void* data) {
  const std::string header = files::npy_header(descr, shape);
  zip.begin(name + ".npy", header.size() + bytes);
  zip.write(header.data(), header.size());
  zip.write(data, bytes);
  zip.end();
}

// An array as elements of another type, converted a stretch at a time.
template <class To, class From>
void write_converted(ZipWriter& zip, const std::string& name, const std::string& descr,
                     const From* values, std::uint64_t count) {
  constexpr std::uint64_t kStretch = std::uint64_t{1} << 16;
  const std::string header = files::npy_header(descr, fmt::format("({},)", count));
  zip.begin(name + ".npy", header.size() + count * sizeof(To));
  zip.write(header.data(), header.size());
  std::vector<To> stretch;
  for (std::uint64_t begin = 0; begin < count; begin += kStretch) {
    const std::uint64_t end = std::min(begin + kStretch, count);
    stretch.clear();
    for (std::uint64_t i = begin; i < end; ++i) stretch.push_back(static_cast<To>(values[i]));
    zip.write(stretch.data(), stretch.size() * sizeof(To));
  }
  zip.end();
}

}  // namespace

void write_scipy(const WriteRequest& request, OutputFile& file) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  const Graph& graph = request.graph;
  const std::uint64_t edges = graph.edges();
  ZipWriter zip(file);
  // SciPy wants both index arrays of one type.
  if (edges <= kLargest && graph.vertices <= kLargest) {
    write_converted<std::int32_t>(zip, "indices", "<i4", graph.targets.data(), edges);
    write_converted<std::int32_t>(zip, "indptr", "<i4", graph.offsets.data(), graph.offsets.size());
  } else {
    write_converted<std::int64_t>(zip, "indices", "<i8", graph.targets.data(), edges);
    write_converted<std::int64_t>(zip, "indptr", "<i8", graph.offsets.data(), graph.offsets.size());
  }
  write_member(zip, "format", "|S3", "()", 3, "csr");
  const std::int64_t shape[2] = {graph.vertices, graph.vertices};
  write_member(zip, "shape", "<i8", "(2,)", sizeof(shape), shape);
  const std::string length = fmt::format("({},)", edges);
  switch (graph.weight_type) {
    case WeightType::int32:
      write_member(zip, "data", "<i4", length, edges * 4, graph.weights_int.data());
      break;
    case WeightType::float32:
      write_member(zip, "data", "<f4", length, edges * 4, graph.weights_float.data());
      break;
    case WeightType::none: {
      const std::vector<char> ones(edges, 1);
      write_member(zip, "data", "|b1", length, edges, ones.data());
      break;
    }
  }
  zip.finish();
}

}  // namespace warren::graph::io
