// SPDX-License-Identifier: Apache-2.0
// Binary files that are damaged, cut off, or lie: refused with the byte or the array where it
// shows. Good files are written first, and single bytes of them changed.
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <zlib.h>

#include "graph/io/wgr_layout.hpp"
#include "graph/io_support.hpp"
#include "reference/graph_source.hpp"

namespace warren::graph {
namespace {

namespace wgr = io::wgr;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Graph small_graph(exec::ThreadPool& pool, bool weighted) {
  reference::EdgeList list{4, {{0, 1}, {0, 3}, {1, 2}, {3, 0}}, {}, {}};
  if (weighted) list.weights_int = {5, 6, 7, 8};
  reference::ListSource source(list);
  return build(source, {}, pool);
}

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

class BadBinary : public testing::Test {
 protected:
  std::string written(const std::string& name, bool weighted = false) {
    path_ = folder_.file(name);
    (void)write_graph(small_graph(pool_, weighted), path_, pool_);
    return read_bytes(path_);
  }
  /// The message for the file with other bytes.
  std::string refused(const std::string& bytes) {
    write_bytes(path_, bytes);
    return refusal(path_);
  }

  exec::ThreadPool pool_{2};
  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(BadBinary, GapHeaders) {
  const std::string good = written("g.sg");
  EXPECT_EQ(refused(good), "");
  std::string bytes = good;
  bytes[0] = 2;
  EXPECT_THAT(refused(bytes),
              AllOf(StartsWith(path_ + ": byte 0: "), HasSubstr("0 and 1 would be right")));
  bytes = good;
  put<std::int64_t>(bytes, 1, -1);
  EXPECT_THAT(refused(bytes), HasSubstr(": byte 1: -1 edges"));
  put<std::int64_t>(bytes, 1, std::int64_t{1} << 62);
  EXPECT_THAT(refused(bytes), HasSubstr("too short"));
  bytes = good;
  for (const std::int64_t vertices : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{1} << 33}) {
    put(bytes, 9, vertices);
    EXPECT_THAT(refused(bytes), HasSubstr("a graph has 1 to 4294967295")) << vertices;
  }
  put<std::int64_t>(bytes, 9, 4000000000);
  EXPECT_THAT(refused(bytes), HasSubstr("too short"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(refused(good.substr(0, size)), StartsWith(path_ + ": byte ")) << size;
  }
  EXPECT_THAT(refused(good + "x"), HasSubstr("make " + std::to_string(good.size()) + " bytes"));
}

TEST_F(BadBinary, GapArrays) {
  const std::string good = written("g.sg");
  std::string bytes = good;
  put<std::int64_t>(bytes, 17, 1);
  EXPECT_THAT(refused(bytes), HasSubstr(": byte 17: the first row"));
  bytes = good;
  put<std::int64_t>(bytes, 17 + 8, 4);
  EXPECT_THAT(refused(bytes),
              AllOf(HasSubstr(": byte 33: row 1 goes from edge 4 to 3"), HasSubstr("ascend")));
  bytes = good;
  put<std::int64_t>(bytes, 17 + 8, -1);
  EXPECT_THAT(refused(bytes), HasSubstr(": byte 25: row 0"));
  bytes = good;
  put<std::int64_t>(bytes, 17 + 4 * 8, 3);
  EXPECT_THAT(refused(bytes), HasSubstr(": byte 49: the last row ends with edge 3"));
  bytes = good;
  put<std::int32_t>(bytes, 57, 4);
  EXPECT_THAT(refused(bytes),
              HasSubstr(": byte 57: an edge of vertex 0 leads to vertex 4; ids go from 0 to 3"));
  put<std::int32_t>(bytes, 57, -1);
  EXPECT_THAT(refused(bytes), HasSubstr("leads to vertex 4294967295"));
}

TEST_F(BadBinary, GapUndirectedMustBe) {
  std::string bytes = written("g.sg");
  bytes[0] = 0;
  bytes.resize(17 + 5 * 8 + 4 * 4);
  EXPECT_THAT(refused(bytes), HasSubstr("edge (0, 1) has no edge (1, 0)"));
}

TEST_F(BadBinary, GapUnsortedRowsAreSortedAndMerged) {
  std::string bytes = written("g.sg");
  put<std::int32_t>(bytes, 57, 3);
  put<std::int32_t>(bytes, 61, 1);
  write_bytes(path_, bytes);
  EXPECT_THAT(read_graph(path_, {}, pool_).neighbours(0), testing::ElementsAre(1u, 3u));
  put<std::int32_t>(bytes, 61, 3);
  write_bytes(path_, bytes);
  EXPECT_THAT(read_graph(path_, {}, pool_).neighbours(0), testing::ElementsAre(3u));
  ReadOptions options;
  options.build.keep_duplicates = true;
  EXPECT_THAT(read_graph(path_, options, pool_).neighbours(0), testing::ElementsAre(3u, 3u));
}

// Makes the header's checksum right again after a change that is not damage but a lie.
void sign(std::string& bytes) {
  wgr::Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const uLong crc = crc32_z(0, data, offsetof(wgr::Header, header_crc));
  put(bytes, offsetof(wgr::Header, header_crc),
      static_cast<std::uint32_t>(
          crc32_z(crc, data + sizeof(header), header.sections * sizeof(wgr::Section))));
}

TEST_F(BadBinary, WarrenHeaders) {
  const std::string good = written("g.wgr", true);
  EXPECT_EQ(refused(good), "");
  const auto with = [&](std::size_t offset, auto value) {
    std::string bytes = good;
    put(bytes, offset, value);
    sign(bytes);
    return refused(bytes);
  };
  EXPECT_THAT(with(0, 'x'), HasSubstr(": byte 0: this is no .wgr file"));
  EXPECT_THAT(with(8, std::uint32_t{0x04030201}),
              HasSubstr(": byte 8: the file was written in another byte order"));
  EXPECT_THAT(
      with(12, std::uint32_t{3}),
      HasSubstr(": byte 12: the file is of version 3; this program reads versions 1 and 2"));
  EXPECT_THAT(with(12, std::uint32_t{2}), HasSubstr("there is no section 'compressed_parameters'"));
  EXPECT_THAT(with(16, std::uint64_t{1} << 40), HasSubstr("announces 1099511627776 bytes"));
  EXPECT_THAT(with(24, std::uint64_t{0}), HasSubstr(": byte 24: "));
  EXPECT_THAT(with(24, std::uint64_t{1} << 32), HasSubstr(": byte 24: "));
  EXPECT_THAT(with(24, std::uint64_t{5}),
              HasSubstr("section 'offsets' has 40 bytes; 6 elements of 8 bytes would be right"));
  EXPECT_THAT(with(32, ~std::uint64_t{0}), HasSubstr("section 'targets' has 16 bytes"));
  EXPECT_THAT(with(40, std::uint32_t{3}), HasSubstr(": byte 40: "));
  EXPECT_THAT(with(40, std::uint32_t{2}), HasSubstr("no section 'weights'"));
  EXPECT_THAT(with(44, std::uint32_t{9}), HasSubstr(": byte 40: "));
  EXPECT_THAT(with(52, std::uint32_t{65}), HasSubstr("64 at most"));
  EXPECT_THAT(with(56, std::uint32_t{1}), HasSubstr(": byte 56: "));
  EXPECT_THAT(with(64, ~std::uint64_t{0}), HasSubstr("checksums lie outside"));
  EXPECT_THAT(with(72, ~std::uint64_t{0}), HasSubstr("checksums lie outside"));
  const std::size_t section = sizeof(wgr::Header);
  EXPECT_THAT(with(section + 24, std::uint32_t{99}), HasSubstr("use a newer warren"));
  EXPECT_THAT(with(section + 32, std::uint64_t{4097}), HasSubstr("between pages"));
  EXPECT_THAT(with(section + 32, std::uint64_t{1} << 63), HasSubstr("outside the file"));
  EXPECT_THAT(with(section + 40, ~std::uint64_t{0}), HasSubstr("outside the file"));
  EXPECT_THAT(with(section + 48, ~std::uint64_t{0}), HasSubstr("fewer checksums than blocks"));
}

TEST_F(BadBinary, WarrenUnknownSectionsThatAreNotNeededArePassedOver) {
  std::string bytes = written("g.wgr", true);
  const std::size_t weights = sizeof(wgr::Header) + 2 * sizeof(wgr::Section);
  put(bytes, weights + 24, std::uint32_t{99});
  put(bytes, weights + 28, std::uint32_t{0});
  put(bytes, 40, std::uint32_t{0});
  sign(bytes);
  EXPECT_EQ(refused(bytes), "");
}

TEST_F(BadBinary, WarrenDamageOfAnyByteIsFound) {
  const std::string good = written("g.wgr", true);
  wgr::Header header;
  std::memcpy(&header, good.data(), sizeof(header));
  std::vector<wgr::Section> sections(header.sections);
  std::memcpy(sections.data(), good.data() + sizeof(header),
              sections.size() * sizeof(wgr::Section));
  const auto expect_found = [&](std::size_t offset, const std::string& part) {
    std::string bytes = good;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    EXPECT_THAT(refused(bytes), AllOf(StartsWith(path_ + ": byte "), HasSubstr(part))) << offset;
  };
  for (std::size_t i = 0; i < header.checksums_offset + header.checksums_bytes; ++i)
    expect_found(i, "");
  for (const wgr::Section& section : sections) {
    for (std::size_t i = 0; i < section.bytes; ++i) {
      expect_found(section.offset + i, "byte " + std::to_string(section.offset) + ": the " +
                                           std::to_string(section.bytes) +
                                           " bytes from here, of section '" + section.name.data() +
                                           "', are damaged");
    }
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{100}, std::size_t{200}, std::size_t{5000}, good.size() - 1}) {
    EXPECT_THAT(refused(good.substr(0, size)), HasSubstr("cut off")) << size;
  }
}

TEST_F(BadBinary, WarrenNamesTheDamagedBlock) {
  reference::ListSource source(reference::random_list(1000, 900000, 3));
  BuildOptions options;
  options.keep_duplicates = true;
  path_ = folder_.file("g.wgr");
  (void)write_graph(build(source, options, pool_), path_, pool_);
  std::string bytes = read_bytes(path_);
  wgr::Section targets;
  std::memcpy(&targets, bytes.data() + sizeof(wgr::Header) + sizeof(wgr::Section), sizeof(targets));
  bytes[targets.offset + 2 * wgr::kBlockBytes + 17] ^= 1;
  EXPECT_THAT(refused(bytes),
              HasSubstr(": byte " + std::to_string(targets.offset + 2 * wgr::kBlockBytes) + ": "));
}

TEST_F(BadBinary, ScipyDamageOfAnyByteIsFoundOrHarmless) {
  const std::string good = written("g.npz", true);
  EXPECT_EQ(refused(good), "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    const std::string message = refused(bytes);
    EXPECT_THAT(message, testing::AnyOf(testing::IsEmpty(), StartsWith(path_ + ": "))) << i;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refused(good.substr(0, size)), "") << size;
}

TEST_F(BadBinary, ScipyDamagedMembersAreFound) {
  const std::string good = written("g.npz", true);
  const std::size_t indices = good.find("NUMPY");
  std::string bytes = good;
  bytes[indices + 130] ^= 1;
  EXPECT_THAT(refused(bytes),
              AllOf(HasSubstr(": byte "), HasSubstr("member 'indices.npy' is damaged")));
}

}  // namespace
}  // namespace warren::graph
