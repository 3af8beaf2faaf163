// SPDX-License-Identifier: Apache-2.0
// Shards whose ranks read their own ranges of a file: those of the whole graph, bit for bit; and
// what is wrong in one rank's range ends all.
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/arrays.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/row_file.hpp"
#include "warren/graph/transform.hpp"

#include "graph/io/wgr_layout.hpp"
#include "same_shards.hpp"
#include "support/message_of.hpp"
#include "support/processes.hpp"
#include "support/temporary_folder.hpp"

namespace warren::graph {
namespace {

using ::testing::HasSubstr;
using testing_support::message_of;
using testing_support::TemporaryFolder;

/// On teams of one rank and more, with the edges at every place.
void expect_shards_of_whole(const Graph& graph, const std::string& path, exec::DeviceKind kind,
                            const std::string& what) {
  exec::ThreadPool pool(1);
  (void)write_graph(graph, path, pool);
  for (const bool reads_weights : {true, false}) {
    Graph whole = graph;
    if (!reads_weights) {
      whole.weight_type = WeightType::none;
      whole.weights_int = {};
      whole.weights_float = {};
    }
    for (const int ranks : {1, 2, 3, 5}) {
      const ShardSource source = shard_source(whole, ranks, pool);
      for (const EdgesOptions edges : {EdgesOptions{}, EdgesOptions{EdgesPlacement::host, 64}}) {
        SCOPED_TRACE(testing::Message() << what << " on " << ranks << " ranks, placement "
                                        << static_cast<int>(edges.placement));
        const RowFile file(path, reads_weights);
        team::run_team(team_of(kind, ranks), [&](team::Team& team) {
          const Shard expected = make_shard(team, source, edges);
          const Shard shard = read_shard(team, file, {.edges = edges});
          expect_same_shards(team, shard, expected);
        });
      }
    }
  }
}

/// Edges of a shape, among `vertices`.
struct Shape {
  const char* name;
  Vertex vertices;
  std::vector<Edge> edges;
};

std::vector<Shape> shapes() {
  std::mt19937 random(7);
  const auto drawn = [&](Vertex vertices, int count) {
    std::vector<Edge> edges;
    for (int e = 0; e < count; ++e)
      edges.push_back(
          {static_cast<Vertex>(random() % vertices), static_cast<Vertex>(random() % vertices)});
    return edges;
  };
  std::vector<Shape> all{{"no edges", 4, {}},
                         {"one vertex", 1, {}},
                         {"one vertex with a loop", 1, {{0, 0}}},
                         {"random", 300, drawn(300, 2000)},
                         {"many parallel edges", 7, drawn(7, 400)},
                         {"isolated vertices", 900, drawn(200, 600)},
                         {"fewer vertices than ranks", 3, {{0, 1}, {1, 2}, {2, 0}}}};
  Shape star{"star", 500, {}}, hub{"hub of all edges", 400, {}};
  for (Vertex v = 1; v < star.vertices; ++v) star.edges.push_back({v, 0});
  for (Vertex v = 0; v < hub.vertices; ++v) hub.edges.push_back({200, v});
  all.push_back(star);
  all.push_back(hub);
  return all;
}

Graph graph_of(const Shape& shape, WeightType weights, const BuildOptions& options) {
  std::mt19937 random(11);
  std::vector<Vertex> sources, targets;
  std::vector<std::int32_t> ints;
  std::vector<float> floats;
  for (const Edge& edge : shape.edges) {
    sources.push_back(edge.source);
    targets.push_back(edge.target);
    const auto weight = static_cast<std::int32_t>(random() % 5);
    if (weights == WeightType::int32) ints.push_back(weight);
    if (weights == WeightType::float32)
      floats.push_back(weight == 0 ? -0.0f : 0.5f * static_cast<float>(weight));
  }
  exec::ThreadPool pool(1);
  return from_edges({shape.vertices, sources, targets, ints, floats}, options, pool);
}

void check_all(exec::DeviceKind kind) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.wgr");
  for (const Shape& shape : shapes()) {
    for (const WeightType weights : {WeightType::none, WeightType::int32, WeightType::float32}) {
      for (const bool symmetrizes : {false, true}) {
        BuildOptions options;
        options.symmetrize = symmetrizes;
        options.keep_duplicates = shape.edges.size() % 2 == 0;
        Graph graph = graph_of(shape, weights, options);
        for (const Symmetry known :
             {Symmetry::unknown, symmetrizes ? Symmetry::symmetric : Symmetry::directed}) {
          // Of a graph without edges, or of one edge turned on itself, it is told as it is.
          if (known == Symmetry::directed && graph.edges() < 2) continue;
          graph.symmetry = known;
          expect_shards_of_whole(graph, path, kind, shape.name);
        }
      }
    }
  }
}

TEST(RowShard, EqualsTheShardOfTheWholeGraph) { check_all(exec::DeviceKind::cpu); }

TEST(RowShardCuda, EqualsTheShardOfTheWholeGraph) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(exec::DeviceKind::cuda);
}

/// So many edges that in-edges come in several rounds, and sections have several blocks.
TEST(RowShard, ExchangesManyEdges) {
  std::mt19937 random(3);
  Shape shape{"many", 5000, {}};
  for (int e = 0; e < 700000; ++e)
    shape.edges.push_back({static_cast<Vertex>(random() % 5000),
                           static_cast<Vertex>(random() % 37 == 0 ? 0 : random() % 5000)});
  const TemporaryFolder folder;
  expect_shards_of_whole(graph_of(shape, WeightType::int32, {}), folder.file("g.wgr"),
                         exec::DeviceKind::cpu, shape.name);
}

/// A file of which three ranks have some MiB each.
class DamagedRows : public ::testing::Test {
 protected:
  static constexpr int kRanks = 3;

  DamagedRows() : path(folder.file("g.wgr")) {
    std::mt19937 random(5);
    Shape shape{"damaged", 300000, {}};
    for (int e = 0; e < 900000; ++e)
      shape.edges.push_back(
          {static_cast<Vertex>(random() % 300000), static_cast<Vertex>(random() % 300000)});
    exec::ThreadPool pool(2);
    (void)write_graph(graph_of(shape, WeightType::int32, {}), path, pool);
    std::ifstream in(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
    std::memcpy(&header, good.data(), sizeof header);
    sections.resize(header.sections);
    std::memcpy(sections.data(), good.data() + sizeof header,
                sections.size() * sizeof(io::wgr::Section));
  }

  void write(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  [[nodiscard]] std::string message_of_team(bool no_negative_weights = false) const {
    return message_of([&] {
      const RowFile file(path);
      team::run_team(team_of(exec::DeviceKind::cpu, kRanks), [&](team::Team& team) {
        (void)read_shard(team, file, {.no_negative_weights = no_negative_weights});
      });
    });
  }

  TemporaryFolder folder;
  std::string path, good;
  io::wgr::Header header{};
  std::vector<io::wgr::Section> sections;
};

TEST_F(DamagedRows, AreNamedByTheirPlace) {
  EXPECT_EQ(message_of_team(), "nothing was thrown");
  for (const io::wgr::Section& section : sections) {
    for (std::uint64_t block = 0; block < io::wgr::blocks(section.bytes); ++block) {
      std::string bytes = good;
      const std::uint64_t begin = section.offset + block * io::wgr::kBlockBytes;
      bytes[begin + std::min<std::uint64_t>(4711, section.bytes - 1)] ^= 4;
      write(bytes);
      EXPECT_THAT(message_of_team(),
                  testing::AllOf(HasSubstr(path + ": byte " + std::to_string(begin) + ": "),
                                 HasSubstr("checksum")));
    }
  }
}

TEST_F(DamagedRows, WeightsThatAreNotReadMayBeDamaged) {
  std::string bytes = good;
  bytes[sections[2].offset + 17] ^= 1;
  write(bytes);
  const RowFile file(path, false);
  EXPECT_TRUE(file.has_weights());
  team::run_team(team_of(exec::DeviceKind::cpu, kRanks), [&](team::Team& team) {
    EXPECT_EQ(read_shard(team, file).weight_type, WeightType::none);
  });
}

TEST_F(DamagedRows, ARankReadsItsOwnRowsAlone) {
  std::string bytes = good;
  bytes[sections[1].offset + sections[1].bytes - 9] ^= 1;  // The last rank's.
  write(bytes);
  const RowFile file(path);
  exec::ThreadPool pool(1);
  const std::uint64_t half = file.vertices() / 2;
  file.check_rows(0, half, false, pool);
  EXPECT_THAT(message_of([&] { file.check_rows(half, file.vertices(), false, pool); }),
              HasSubstr("checksum"));
}

/// With checksums that fit: what a program wrote that knows no better.
class WrongRows : public DamagedRows {
 protected:
  /// Section `number` with a value at `index`, and its checksums.
  template <class T>
  [[nodiscard]] std::string with(std::size_t number, std::uint64_t index, T value) const;
};

std::uint32_t crc_of(const char* data, std::uint64_t bytes) {
  std::uint32_t crc = ~0u;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    crc ^= static_cast<unsigned char>(data[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

template <class T>
std::string WrongRows::with(std::size_t number, std::uint64_t index, T value) const {
  std::string bytes = good;
  const io::wgr::Section& section = sections[number];
  std::memcpy(bytes.data() + section.offset + index * sizeof(T), &value, sizeof(T));
  const std::uint64_t block = index * sizeof(T) / io::wgr::kBlockBytes;
  const std::uint64_t begin = block * io::wgr::kBlockBytes;
  const std::uint32_t block_crc =
      crc_of(bytes.data() + section.offset + begin,
             std::min<std::uint64_t>(io::wgr::kBlockBytes, section.bytes - begin));
  std::memcpy(bytes.data() + header.checksums_offset + (section.first_checksum + block) * 4,
              &block_crc, 4);
  const std::uint32_t all_crc =
      crc_of(bytes.data() + header.checksums_offset, header.checksums_bytes);
  std::memcpy(bytes.data() + offsetof(io::wgr::Header, checksums_crc), &all_crc, 4);
  constexpr std::size_t kEnd = offsetof(io::wgr::Header, header_crc);
  const std::uint64_t table = header.sections * sizeof(io::wgr::Section);
  const std::string front = bytes.substr(0, kEnd) + bytes.substr(sizeof(io::wgr::Header), table);
  const std::uint32_t header_crc = crc_of(front.data(), front.size());
  std::memcpy(bytes.data() + kEnd, &header_crc, 4);
  return bytes;
}

TEST_F(WrongRows, AreNamedByTheirPlace) {
  const std::uint64_t last = header.edges - 1;
  write(with<Vertex>(1, last, 300000));
  EXPECT_THAT(message_of_team(),
              testing::AllOf(HasSubstr(": byte " + std::to_string(sections[1].offset + last * 4)),
                             HasSubstr("leads to vertex 300000; ids go from 0 to 299999")));
  write(with<Vertex>(1, last, 0));
  EXPECT_THAT(message_of_team(), HasSubstr("says that neighbours ascend"));
  write(with<EdgeOffset>(0, 150000, header.edges + 1));
  EXPECT_THAT(message_of_team(), HasSubstr("row 149999 goes from edge"));
  write(with<EdgeOffset>(0, 0, 1));
  EXPECT_THAT(message_of_team(), HasSubstr("the first row begins with edge 1"));
  write(with<EdgeOffset>(0, header.vertices, header.edges - 1));
  EXPECT_THAT(message_of_team(), HasSubstr("the number of edges"));
  write(with<std::int32_t>(2, last, -3));
  EXPECT_THAT(message_of_team(true), HasSubstr("has the weight -3; weights of 0 and above"));
  EXPECT_EQ(message_of_team(false), "nothing was thrown");
}

TEST(RowShard, DrawsWeightsAsForTheWholeGraph) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.wgr");
  exec::ThreadPool pool(1);
  for (const Shape& shape : shapes()) {
    for (const bool symmetrizes : {false, true}) {
      BuildOptions options;
      options.symmetrize = symmetrizes;
      Graph graph = graph_of(shape, WeightType::float32, options);
      (void)write_graph(graph, path, pool);
      const UniformWeights rule{1, 50, 9};
      set_uniform_weights(graph, rule.low, rule.high, rule.seed, pool);
      for (const int ranks : {1, 3, 5}) {
        SCOPED_TRACE(testing::Message() << shape.name << " on " << ranks << " ranks");
        const ShardSource source = shard_source(graph, ranks, pool);
        const RowFile file(path, false);
        team::run_team(team_of(exec::DeviceKind::cpu, ranks), [&](team::Team& team) {
          const Shard expected = make_shard(team, source);
          expect_same_shards(team, read_shard(team, file, {.weights = rule}), expected);
        });
      }
    }
  }
}

TEST_F(WrongRows, WeightsAreReadOrDrawnByAllAlike) {
  const RowFile with(path), without(path, false);
  const auto message = [&](const RowFile& file, const UniformWeights& second) {
    return message_of([&] {
      team::run_team(team_of(exec::DeviceKind::cpu, 2), [&](team::Team& team) {
        (void)read_shard(team, file,
                         {.weights = team.rank() == 0 ? UniformWeights{1, 9, 1} : second});
      });
    });
  };
  EXPECT_THAT(message(with, {1, 9, 1}), HasSubstr("read from it or drawn, not both"));
  EXPECT_THAT(message(without, {1, 9, 2}), HasSubstr("the ranks draw different weights"));
  EXPECT_THAT(message(without, {5, 4, 1}), HasSubstr("from 5 to 4"));
  EXPECT_EQ(message(without, {1, 9, 1}), "nothing was thrown");
}

TEST_F(WrongRows, OfAnotherFileAreRefused) {
  const std::string other = folder.file("other.wgr");
  { std::ofstream(other, std::ios::binary) << with<std::int32_t>(2, 5, 3); }
  const RowFile first(path), second(other);
  EXPECT_THAT(message_of([&] {
                team::run_team(team_of(exec::DeviceKind::cpu, 2), [&](team::Team& team) {
                  (void)read_shard(team, team.rank() == 0 ? first : second);
                });
              }),
              testing::AllOf(HasSubstr("different graphs"), HasSubstr("other lists or weights")));
}

TEST(RowFile, RefusesWhatIsNotReadByRanges) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(1);
  const Graph graph = graph_of({"path", 3, {{0, 1}, {1, 2}}}, WeightType::none, {});
  const std::string compressed = folder.file("c.wgr"), plain = folder.file("p.wgr");
  (void)write_compressed(compress(graph, pool), compressed, pool);
  EXPECT_THAT(message_of([&] { const RowFile file(compressed); }), HasSubstr("compressed"));
  (void)write_graph(graph, plain, pool);
  EXPECT_THAT(message_of([&] {
                team::run_team(team_of(exec::DeviceKind::cpu, 1), [&](team::Team& team) {
                  const RowFile file(plain);
                  (void)read_shard(team, file, {.edges = {EdgesPlacement::compressed_host, 0}});
                });
              }),
              HasSubstr("a compressed placement needs all lists"));
  EXPECT_THAT(message_of([&] { const RowFile file(folder.file("none.wgr")); }),
              HasSubstr("cannot open"));
}

TEST(RowFileInProcesses, GivesEachItsRanges) {
  if (!testing_support::kSeesProcesses) GTEST_SKIP() << "the thread sanitizer sees no processes";
  const TemporaryFolder folder;
  const std::string path = folder.file("g.wgr");
  const Graph graph = graph_of(shapes()[3], WeightType::int32, {});
  exec::ThreadPool pool(1);
  (void)write_graph(graph, path, pool);
  for (const int ranks : {2, 3}) {
    const ShardSource source = shard_source(graph, ranks, pool);
    testing_support::in_processes(ranks, [&] {
      const RowFile file(path);
      team::run_team(team_of(exec::DeviceKind::cpu, ranks), [&](team::Team& team) {
        const Shard expected = make_shard(team, source), shard = read_shard(team, file);
        expect_same_shards(team, shard, expected);
      });
    });
  }
}

}  // namespace
}  // namespace warren::graph
