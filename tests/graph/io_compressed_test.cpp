// SPDX-License-Identifier: Apache-2.0
// .wgr files with compressed neighbour lists: there and back, mapped, damaged, cut off, lying.
#include <cstring>

#include "warren/files/checksum.hpp"
#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/transform.hpp"

#include "graph/equal_graphs.hpp"
#include "graph/io/wgr_layout.hpp"
#include "graph/io_support.hpp"
#include "reference/graph_source.hpp"

namespace warren::graph {
namespace {

namespace wgr = io::wgr;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CompressedFile : public testing::Test {
 protected:
  Graph built(const reference::EdgeList& list, bool keep_duplicates = false) {
    reference::ListSource source(list);
    BuildOptions options;
    options.keep_duplicates = keep_duplicates;
    return build(source, options, pool_);
  }
  std::string written(const Graph& graph) {
    const std::uint64_t bytes = write_compressed(compress(graph, pool_), path_, pool_);
    EXPECT_EQ(bytes, std::filesystem::file_size(path_));
    return read_bytes(path_);
  }
  std::string refused(const std::string& bytes) {
    write_bytes(path_, bytes);
    std::string message = refusal(path_);
    std::string mapped_message;
    try {
      (void)read_compressed(path_, true, pool_);
    } catch (const InputError& error) {
      mapped_message = error.what();
    }
    EXPECT_EQ(message, mapped_message);
    return message;
  }
  /// The sections' table.
  static std::vector<wgr::Section> sections(const std::string& bytes) {
    wgr::Header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    std::vector<wgr::Section> table(header.sections);
    std::memcpy(table.data(), bytes.data() + sizeof(header), table.size() * sizeof(wgr::Section));
    return table;
  }
  static std::uint64_t place(const std::string& bytes, wgr::SectionKind kind) {
    for (const wgr::Section& section : sections(bytes)) {
      if (section.kind == static_cast<std::uint32_t>(kind)) return section.offset;
    }
    return 0;
  }
  /// The bytes with all checksums right.
  static std::string sign(std::string bytes) {
    wgr::Header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    for (const wgr::Section& section : sections(bytes)) {  // All of one block here.
      const std::uint32_t crc = files::crc32_of(bytes.data() + section.offset, section.bytes);
      std::memcpy(bytes.data() + header.checksums_offset + section.first_checksum * 4, &crc, 4);
    }
    header.checksums_crc =
        files::crc32_of(bytes.data() + header.checksums_offset, header.checksums_bytes);
    std::memcpy(bytes.data(), &header, sizeof(header));
    header.header_crc =
        files::crc32_of(bytes.data() + sizeof(header), header.sections * sizeof(wgr::Section),
                        files::crc32_of(&header, offsetof(wgr::Header, header_crc)));
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  }

  exec::ThreadPool pool_{2};
  TemporaryFolder folder_;
  std::string path_ = folder_.file("g.wgr");
};

TEST_F(CompressedFile, GraphsComeBackEqual) {
  for (const auto& [name, plain] : reference::awkward_lists()) {
    if (plain.vertices == 0) continue;  // A file holds at least one.
    for (const reference::EdgeList& list :
         {plain, reference::with_int_weights(plain, 1), reference::with_float_weights(plain, 2)}) {
      SCOPED_TRACE(name);
      Graph graph = built(list, true);
      graph.symmetry = Symmetry::directed;
      graph.original_ids = memory::HostArray<std::uint64_t>(graph.vertices);
      for (Vertex v = 0; v < graph.vertices; ++v) graph.original_ids[v] = v + (v > 1 ? 5u : 0u);
      (void)written(graph);
      ReadOptions options;
      options.build.keep_duplicates = true;
      expect_equal(read_graph(path_, options, pool_), graph);
      const auto packed = read_compressed(path_, true, pool_);
      ASSERT_TRUE(packed);
      expect_equal(decompress(*packed, pool_), graph);
      EXPECT_EQ(read_compressed(path_, false, pool_)->weight_type, WeightType::none);
    }
  }
}

TEST_F(CompressedFile, OptionsOfReadingHold) {
  const Graph graph = built(reference::random_list(50, 400, 3), true);
  (void)written(graph);
  expect_equal(read_graph(path_, {}, pool_), built(reference::random_list(50, 400, 3)));
  ReadOptions options;
  options.build.symmetrize = true;
  expect_equal(read_graph(path_, options, pool_), symmetrize(graph, false, pool_));
}

TEST_F(CompressedFile, PlainFilesAreNone) {
  const Graph graph = built(reference::random_list(50, 400, 3));
  (void)write_graph(graph, path_, pool_);
  EXPECT_FALSE(read_compressed(path_, true, pool_));
  const std::string text = folder_.file("g.el");
  write_bytes(text, "0 1\n");
  EXPECT_FALSE(read_compressed(text, true, pool_));
  EXPECT_THROW((void)write_compressed(compress(graph, pool_), text, pool_), UsageError);
  EXPECT_THROW((void)write_compressed(CompressedGraph{}, path_, pool_), InputError);
}

TEST_F(CompressedFile, DamageOfAnyByteIsFound) {
  const std::string good =
      written(built(reference::with_int_weights(reference::random_list(40, 90, 5), 1)));
  EXPECT_EQ(refused(good), "");
  wgr::Header header;
  std::memcpy(&header, good.data(), sizeof(header));
  const auto expect_found = [&](std::size_t offset, const std::string& part) {
    std::string bytes = good;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    EXPECT_THAT(refused(bytes), AllOf(StartsWith(path_ + ": byte "), HasSubstr(part))) << offset;
  };
  for (std::size_t i = 0; i < header.checksums_offset + header.checksums_bytes; ++i)
    expect_found(i, "");
  for (const wgr::Section& section : sections(good)) {
    for (std::size_t i = 0; i < section.bytes; ++i) {
      expect_found(section.offset + i, "bytes from here, of section '" +
                                           std::string(section.name.data()) + "', are damaged");
    }
  }
  for (std::size_t size = 0; size < good.size(); size += 97)
    EXPECT_THAT(refused(good.substr(0, size)), HasSubstr("cut off")) << size;
}

TEST_F(CompressedFile, LiesAreRefusedOrHarmless) {
  const std::string good = written(built(reference::random_list(40, 90, 5)));
  std::uint64_t refusals = 0;
  for (const wgr::Section& section : sections(good)) {
    for (std::size_t bit = 0; bit < section.bytes * 8; ++bit) {
      std::string bytes = good;
      bytes[section.offset + bit / 8] =
          static_cast<char>(bytes[section.offset + bit / 8] ^ 1 << bit % 8);
      const std::string message = refused(sign(bytes));
      if (message.empty()) continue;
      ++refusals;
      EXPECT_THAT(message, AllOf(StartsWith(path_ + ": "), testing::Not(HasSubstr("\n"))));
    }
  }
  EXPECT_GT(refusals, 500u);
  std::string bytes = good;
  bytes[place(good, wgr::SectionKind::compressed_parameters)] ^= 1;
  EXPECT_THAT(refused(sign(bytes)), HasSubstr("blocks of 257 and groups of 32"));
  bytes = good;
  bytes[sizeof(wgr::Header) + 24] = 2;  // The parameters become targets.
  EXPECT_THAT(refused(sign(bytes)), HasSubstr("no section 'compressed_parameters'"));
  bytes = good;
  bytes[12] = 1;
  EXPECT_THAT(refusal((write_bytes(path_, sign(bytes)), path_)), HasSubstr("no section 'offsets'"));
  bytes[12] = 3;
  EXPECT_THAT(refused(sign(bytes)), HasSubstr("version 3; this program reads versions 1 and 2"));
}

}  // namespace
}  // namespace warren::graph
