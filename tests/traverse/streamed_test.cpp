// SPDX-License-Identifier: Apache-2.0
// Searches, components and ranks of graphs whose lists stay in a file, against the sequential
// references, with windows so small that every border is met, on the CPU and on a GPU.
#include "warren/traverse/streamed.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/io.hpp"

#include "reference/traverse.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

using fixtures::Named;
using graph::EdgeFile;
using graph::EdgeFileOptions;
using graph::Graph;
using ::testing::HasSubstr;
using testing_support::message_of;
using testing_support::TemporaryFolder;

/// The least windows, some, and one for all.
std::vector<EdgeFileOptions> cuts() {
  return {{4096, 2, 1}, {4096, 5, 3}, {16384, 3, 2}, {std::uint64_t{1} << 20, 4, 2}};
}
/// Those that a test with so many threads takes: all take some.
std::vector<EdgeFileOptions> cuts_with(int threads) {
  const std::vector<EdgeFileOptions> all = cuts();
  return threads == 1 ? std::vector{all[0], all[3]} : std::vector{all[1], all[2]};
}

/// Lists of three windows and more, a row that ends with a window, and long rows of nothing between
/// edges.
std::vector<Named> graphs() {
  std::vector<Named> all = fixtures::shapes();
  std::erase_if(all, [](const Named& named) { return named.name == "path"; });  // 3,000 levels.
  all.push_back({"short path", fixtures::path(200)});
  all.push_back({"long lists", fixtures::random_graph(4001, 60000, 5, true)});
  all.push_back({"star of 9000", fixtures::star(9000, true)});
  std::vector<graph::Edge> far;
  for (Vertex v = 0; v < 1024; ++v) far.push_back({3, 10000 + v});
  for (Vertex v = 0; v < 40; ++v) far.push_back({9000 + v, v});
  all.push_back({"far between", fixtures::from_list(20000, far)});
  graph::BuildOptions both;
  both.symmetrize = true;
  all.push_back({"far between, both ways", fixtures::from_list(20000, far, both)});
  return all;
}

Graph with_symmetry(const Graph& graph) {
  exec::ThreadPool pool(2);
  Graph known = graph;
  (void)graph::is_symmetric(known, pool);
  return known;
}

std::string write(const TemporaryFolder& folder, const Graph& graph) {
  exec::ThreadPool pool(2);
  const std::string path = folder.file("graph.wgr");
  (void)graph::write_graph(graph, path, pool);
  return path;
}

/// f(graph, file) for every graph and cut.
template <class F>
void for_each_file(const exec::Device& device, F&& f) {
  const TemporaryFolder folder;
  for (const Named& named : graphs()) {
    const Graph graph = with_symmetry(named.graph);
    const std::string path = write(folder, graph);
    for (const EdgeFileOptions& cut : cuts_with(device.pool().size())) {
      const EdgeFile file(path, cut);
      SCOPED_TRACE(named.name + ", windows of " + std::to_string(cut.window_bytes));
      f(graph, file);
    }
  }
}

std::vector<Vertex> smallest_parents(const Graph& graph, Vertex source,
                                     const std::vector<Vertex>& depth) {
  std::vector<Vertex> parent(graph.vertices, kNoVertex);
  for (Vertex u = graph.vertices; u-- > 0;) {
    for (const Vertex v : graph.neighbours(u)) {
      if (depth[u] != kNoVertex && depth[v] == depth[u] + 1) parent[v] = u;
    }
  }
  parent[source] = source;
  return parent;
}

template <class T>
std::vector<T> copied(const memory::HostArray<T>& array) {
  return {array.begin(), array.end()};
}

void check_bfs(const exec::Device& device) {
  exec::ThreadPool pool(2);
  for_each_file(device, [&](const Graph& graph, const EdgeFile& file) {
    traverse::StreamedBfs bfs(device, file);
    for (const Vertex source : {graph.vertices - 1, file.busiest()}) {
      const std::vector<Vertex> expected = reference::bfs_depths(graph, source);
      const traverse::StreamedBfsResult result = bfs.run({&source, 1});
      ASSERT_EQ(copied(bfs.depth()), expected);
      ASSERT_EQ(copied(bfs.parent()), smallest_parents(graph, source, expected));
      std::uint64_t reached = 0, sum = 0;
      for (const Vertex depth : expected) {
        if (depth == kNoVertex) continue;
        ++reached;
        sum += depth;
      }
      EXPECT_EQ(result.reached, reached);
      EXPECT_EQ(result.sum_depth, sum);
      EXPECT_EQ(result.levels.size(), result.max_depth + 1);
      EXPECT_EQ(std::reduce(result.levels.begin(), result.levels.end()), reached);
      const auto verdict = traverse::verify_streamed_bfs(file, source, bfs.depth().span(),
                                                         bfs.parent().span(), pool);
      EXPECT_TRUE(verdict.correct) << verdict.message;
    }
  });
}

void check_components(const exec::Device& device) {
  exec::ThreadPool pool(2);
  for_each_file(device, [&](const Graph& graph, const EdgeFile& file) {
    const std::vector<Vertex> expected = reference::component_labels(graph);
    std::map<Vertex, std::uint64_t> members;
    for (const Vertex label : expected) ++members[label];
    std::uint64_t largest = 0;
    for (const auto& [label, count] : members) largest = std::max(largest, count);
    traverse::StreamedComponents components(device, file);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const traverse::StreamedComponentsResult result = components.run();
      ASSERT_EQ(copied(components.labels()), expected);
      EXPECT_EQ(result.components, members.size());
      EXPECT_EQ(result.largest, largest);
    }
    const auto verdict =
        traverse::verify_streamed_components(file, components.labels().span(), pool);
    EXPECT_TRUE(verdict.correct) << verdict.message;
  });
}

std::vector<double> reference_ranks(const Graph& graph, const traverse::PageRankOptions& options,
                                    std::uint32_t iterations) {
  std::vector<double> rank(graph.vertices, 1.0 / graph.vertices);
  for (std::uint32_t i = 0; i < iterations; ++i)
    rank = reference::pagerank_step(graph, options.damping, rank);
  return rank;
}

void check_pagerank(const exec::Device& device) {
  exec::ThreadPool pool(2);
  for_each_file(device, [&](const Graph& graph, const EdgeFile& file) {
    for (const traverse::PageRankOptions& options :
         {traverse::PageRankOptions{}, {0.85, 1e-10, 300}, {0.5, 1e-6, 3}, {0.0, 1e-6, 100}}) {
      traverse::StreamedPageRank pagerank(device, file, options);
      const traverse::StreamedPageRankResult result = pagerank.run();
      const std::vector<double> ranks = copied(pagerank.ranks());
      const std::vector<double> expected = reference_ranks(graph, options, result.iterations);
      double difference = 0.0;
      for (std::size_t v = 0; v < ranks.size(); ++v) difference += std::abs(ranks[v] - expected[v]);
      const bool is_wide = traverse::needs_double_precision(options.damping, options.tolerance);
      EXPECT_LE(difference, is_wide ? 1e-12 : 1e-5);
      EXPECT_NEAR(std::reduce(ranks.begin(), ranks.end()), 1.0, 1e-5);
      EXPECT_EQ(result.converged, result.residual <= options.tolerance);
      EXPECT_TRUE(result.converged || result.iterations == options.max_iterations);
      const auto verdict = traverse::verify_streamed_pagerank(
          file, options.damping, ranks,
          traverse::pagerank_bound(options, {result.iterations, result.residual, result.converged}),
          pool);
      EXPECT_TRUE(verdict.correct) << verdict.message;
      (void)pagerank.run();
      EXPECT_EQ(copied(pagerank.ranks()), ranks) << "a second run differs";
    }
  });
}

class StreamedCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  }
};

TEST(StreamedBfs, MatchesTheReference) {
  for (const int threads : {1, 4}) check_bfs(exec::Device::cpu(threads));
}
TEST_F(StreamedCuda, BfsMatchesTheReference) { check_bfs(exec::Device::cuda(0)); }

TEST(StreamedComponents, MatchTheReference) {
  for (const int threads : {1, 4}) check_components(exec::Device::cpu(threads));
}
TEST_F(StreamedCuda, ComponentsMatchTheReference) { check_components(exec::Device::cuda(0)); }

TEST(StreamedPageRank, MatchesTheReference) {
  for (const int threads : {1, 3}) check_pagerank(exec::Device::cpu(threads));
}
TEST_F(StreamedCuda, PageRankMatchesTheReference) { check_pagerank(exec::Device::cuda(0)); }

/// A graph of some windows, on a file.
class StreamedFile : public ::testing::Test {
 protected:
  StreamedFile() : graph(fixtures::generated("kron:12", true)), path(write(folder, graph)) {}

  TemporaryFolder folder;
  Graph graph;
  std::string path;
  exec::Device device = exec::Device::cpu(2);
  const EdgeFileOptions cut{4096, 3, 2};
};

TEST_F(StreamedFile, HasTheGraphsFacts) {
  const EdgeFile file(path, cut);
  EXPECT_EQ(file.vertices(), graph.vertices);
  EXPECT_EQ(file.edges(), graph.edges());
  EXPECT_EQ(file.symmetry(), graph::Symmetry::symmetric);
  EXPECT_FALSE(file.may_have_parallel_edges());
  EXPECT_TRUE(file.may_have_self_loops());
  std::uint64_t sources = 0, covered = 0;
  EdgeOffset most = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    sources += graph.degree(v) > 0 ? 1 : 0;
    most = std::max(most, graph.degree(v));
    EXPECT_EQ((file.has_edges()[v / 32] >> v % 32 & 1) != 0, graph.degree(v) > 0);
  }
  EXPECT_EQ(file.sources(), sources);
  EXPECT_EQ(file.max_degree(), most);
  EXPECT_EQ(graph.degree(file.busiest()), most);
  for (const graph::FileChunk& chunk : file.chunks()) {
    EXPECT_EQ(chunk.begin, covered);
    EXPECT_LE(chunk.edges, file.chunk_edges());
    EXPECT_LE(chunk.rows, file.chunk_rows());
    EXPECT_LE(graph.offsets[chunk.first], chunk.begin);
    EXPECT_GT(graph.offsets[chunk.first + std::uint64_t{1}], chunk.begin);
    covered += chunk.edges;
  }
  EXPECT_EQ(covered, graph.edges());
}

TEST_F(StreamedFile, ReadsEachByteOnceAPass) {
  const EdgeFile file(path, cut);
  traverse::StreamedComponents components(device, file);
  (void)components.run();  // With the checksums' blocks.
  const std::uint64_t read = components.run().bytes_read;
  EXPECT_GE(read, file.edges() * sizeof(Vertex));
  // The offsets of rows at borders, and units of the disk that are not filled.
  EXPECT_LE(read, file.list_bytes() + file.chunks().size() * (4 * 4096));
}

TEST_F(StreamedFile, SearchOfFewVerticesReadsFewWindows) {
  const Graph long_path = fixtures::path(100000);
  const EdgeFile file(write(folder, long_path), cut);
  traverse::StreamedBfs bfs(device, file);
  const Vertex source = 0;
  const auto result = bfs.run({&source, 1}, {.depth = 10});
  EXPECT_EQ(result.reached, 11u);
  EXPECT_LE(result.bytes_read, 10u * 3 * 4096 + (std::uint64_t{2} << 20));
}

TEST_F(StreamedFile, SearchEndsAtItsLimits) {
  const EdgeFile file(path, cut);
  traverse::StreamedBfs bfs(device, file);
  const Vertex source = file.busiest();
  const std::vector<Vertex> all = reference::bfs_depths(graph, source);
  std::vector<Vertex> near = all;
  for (Vertex& depth : near) depth = depth != kNoVertex && depth > 1 ? kNoVertex : depth;
  exec::ThreadPool pool(2);
  const traverse::BfsLimits limits{.depth = 1};
  const auto result = bfs.run({&source, 1}, limits);
  EXPECT_EQ(copied(bfs.depth()), near);
  EXPECT_EQ(result.max_depth, 1u);
  EXPECT_TRUE(traverse::verify_streamed_bfs(file, source, bfs.depth().span(), bfs.parent().span(),
                                            pool, limits)
                  .correct);
  const Vertex target = *graph.neighbours(source).begin();
  EXPECT_EQ(bfs.run({&source, 1}, {.targets = {target}}).max_depth, all[target]);
  const std::vector<Vertex> several = {source, target, source};
  EXPECT_EQ(bfs.run(several).levels.front(), source == target ? 1u : 2u);
}

TEST_F(StreamedFile, CountsInputEdges) {
  const EdgeFile file(path, cut);
  const std::vector<Vertex> depth = reference::bfs_depths(graph, 0);
  std::uint64_t edges = 0, loops = 0;
  for (Vertex u = 0; u < graph.vertices; ++u) {
    if (depth[u] == kNoVertex) continue;
    edges += graph.degree(u);
    const auto list = graph.neighbours(u);
    loops += static_cast<std::uint64_t>(std::count(list.begin(), list.end(), u));
  }
  ASSERT_GT(loops, 0u);
  EXPECT_EQ(traverse::streamed_input_edges(file, depth), (edges + loops) / 2);
}

TEST_F(StreamedFile, RefusesWhatIsNoVertexAndNoOption) {
  const EdgeFile file(path, cut);
  traverse::StreamedBfs bfs(device, file);
  const std::vector<Vertex> sources = {graph.vertices};
  EXPECT_THROW((void)bfs.run(sources), UsageError);
  EXPECT_THROW((void)bfs.run({}), UsageError);
  const Vertex source = 0;
  EXPECT_THROW((void)bfs.run({&source, 1}, {.targets = {graph.vertices}}), UsageError);
  EXPECT_THROW(traverse::StreamedPageRank(device, file, {.damping = 1.0}), UsageError);
  EXPECT_THROW(traverse::StreamedPageRank(device, file, {.tolerance = -1.0}), UsageError);
  EXPECT_THROW(traverse::StreamedPageRank(device, file, {.weighted = true}), UsageError);
  EXPECT_THROW(EdgeFile(path, {100, 3, 2}), UsageError);
  EXPECT_THROW(EdgeFile(path, {4096, 1, 2}), UsageError);
  EXPECT_THROW(EdgeFile(path, {4096, 3, 0}), UsageError);
}

TEST_F(StreamedFile, NamesAFileThatIsCutOffWhileItIsRead) {
  const EdgeFile file(path, cut);
  traverse::StreamedComponents components(device, file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const std::string message = message_of([&] { (void)components.run(); });
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_THAT(message, HasSubstr("changed while it was read"));
  // Nothing is stuck, and nothing of it is told as if it were right.
  EXPECT_THAT(message_of([&] { (void)components.run(); }), HasSubstr(path));
}

TEST_F(StreamedFile, NamesAFileThatGrowsOrIsWrittenTo) {
  {
    const EdgeFile file(path, cut);
    traverse::StreamedBfs bfs(device, file);
    std::ofstream(path, std::ios::app) << "more";
    const Vertex source = file.busiest();
    EXPECT_THAT(message_of([&] { (void)bfs.run({&source, 1}); }), HasSubstr("bytes and has"));
  }
  const std::string other = write(folder, graph);
  const EdgeFile file(other, cut);
  std::filesystem::last_write_time(
      other, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  traverse::StreamedComponents components(device, file);
  EXPECT_THAT(message_of([&] { (void)components.run(); }), HasSubstr("written to"));
}

/// Changes one byte so many bytes before the end, and keeps the time of writing.
void damage(const std::string& path, std::uint64_t before_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(std::filesystem::file_size(path) - before_end);
  file.seekg(at);
  char byte = 0;
  file.get(byte);
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 0x40));
}

TEST_F(StreamedFile, NamesABlockThatIsDamaged) {
  for (const EdgeFileOptions& each : cuts()) {
    const std::string fresh = write(folder, graph);
    damage(fresh, 1000);
    const EdgeFile file(fresh, each);
    traverse::StreamedComponents components(device, file);
    const std::string message = message_of([&] { (void)components.run(); });
    EXPECT_THAT(message, HasSubstr("checksum"));
    EXPECT_THAT(message, HasSubstr(fresh + ": byte "));
  }
}

TEST_F(StreamedFile, NamesOffsetsThatAreDamagedAsItIsOpened) {
  const std::uint64_t lists = (graph.edges() * 4 + 4095) / 4096 * 4096;
  damage(path, lists + 9000);
  EXPECT_THAT(message_of([&] { const EdgeFile file(path, cut); }), HasSubstr("checksum"));
}

TEST_F(StreamedFile, EndsWhenItIsToldTo) {
  const EdgeFile file(path, cut);
  int windows = 0;
  traverse::StreamedComponents components(device, file, [&] {
    if (++windows > 3) throw Error("enough");
  });
  EXPECT_EQ(message_of([&] { (void)components.run(); }), "enough");
  EXPECT_EQ(windows, 4);
}

TEST_F(StreamedFile, ChecksFindWhatIsWrong) {
  const EdgeFile file(path, cut);
  exec::ThreadPool pool(2);
  const Vertex source = file.busiest();
  traverse::StreamedBfs bfs(device, file);
  (void)bfs.run({&source, 1});
  std::vector<Vertex> depth = copied(bfs.depth()), parent = copied(bfs.parent());
  auto far = static_cast<Vertex>(std::ranges::find(depth, Vertex{2}) - depth.begin());
  const auto verdict = [&] {
    return traverse::verify_streamed_bfs(file, source, depth, parent, pool).correct;
  };
  EXPECT_TRUE(verdict());
  const Vertex was = parent[far];
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const auto list = graph.neighbours(v);
    if (depth[v] == 1 && std::find(list.begin(), list.end(), far) == list.end()) parent[far] = v;
  }
  ASSERT_NE(parent[far], was);
  EXPECT_FALSE(verdict()) << "a parent without an edge";
  parent[far] = was;
  depth[far] = 3;
  EXPECT_FALSE(verdict()) << "a depth too large";
  depth[far] = parent[far] = kNoVertex;
  EXPECT_FALSE(verdict()) << "a vertex left out";

  traverse::StreamedComponents components(device, file);
  (void)components.run();
  std::vector<Vertex> label = copied(components.labels());
  for (Vertex v = graph.vertices - 1; label[far] == far; --v) far = v;  // No root.
  label[far] = far;
  EXPECT_FALSE(traverse::verify_streamed_components(file, label, pool).correct);
  const Graph apart = fixtures::from_list(9, {{0, 1}, {2, 3}});
  const EdgeFile other(write(folder, apart), cut);
  EXPECT_FALSE(traverse::verify_streamed_components(other, std::vector<Vertex>(9, 0), pool).correct)
      << "components that are told as one";

  traverse::StreamedPageRank pagerank(device, file, {});
  (void)pagerank.run();
  std::vector<double> ranks = copied(pagerank.ranks());
  EXPECT_TRUE(traverse::verify_streamed_pagerank(file, 0.85, ranks, 2e-6, pool).correct);
  std::swap(ranks[source], ranks[far]);
  EXPECT_FALSE(traverse::verify_streamed_pagerank(file, 0.85, ranks, 2e-6, pool).correct);
}

TEST_F(StreamedFile, RefusesCompressedLists) {
  exec::ThreadPool pool(2);
  const std::string packed = folder.file("packed.wgr");
  (void)graph::write_compressed(graph::compress(graph, pool), packed, pool);
  EXPECT_THAT(message_of([&] { const EdgeFile file(packed, cut); }), HasSubstr("compressed"));
}

}  // namespace
}  // namespace warren
