// SPDX-License-Identifier: Apache-2.0
// Calls on graphs whose lists stay in a file: results are those in memory, and what cannot be is
// refused by name.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/edge_file.hpp"
#include "warren/warren.hpp"

#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using testing_support::message_of;

template <class T>
std::vector<T> all_of(const Array<T>& array) {
  const auto values = array.host();
  return {values.begin(), values.end()};
}

class FileEdges : public ::testing::Test {
 protected:
  FileEdges() : session({.device = DeviceKind::cpu, .threads = 2}) {
    ReadOptions drawn;
    drawn.symmetrize = true;
    drawn.session = session;
    in_memory.emplace(read("kron:10", drawn));
    (void)in_memory->is_symmetric();
    path = folder.file("g.wgr");
    (void)in_memory->save(path);
    options.lists = Lists::file;
    options.session = session;
  }
  template <class Options>
  [[nodiscard]] Options placed(Edges edges) const {
    Options call;
    call.edges = edges;
    call.session = session;
    call.run.verify = true;
    return call;
  }

  testing_support::TemporaryFolder folder;
  Session session;
  std::optional<Graph> in_memory;
  std::string path;
  ReadOptions options;
};

TEST_F(FileEdges, GiveTheResultsOfMemory) {
  const Graph graph = read(path, options);
  ASSERT_NE(graph.file(), nullptr);
  EXPECT_EQ(graph.lists_reason(), "asked for");
  EXPECT_EQ(graph.vertices(), in_memory->vertices());
  EXPECT_EQ(graph.edges(), in_memory->edges());
  EXPECT_EQ(busiest_vertex(graph), busiest_vertex(*in_memory));
  EXPECT_EQ(random_sources(graph, 5), random_sources(*in_memory, 5));

  auto search = placed<BfsOptions>(Edges::file);
  search.source = busiest_vertex(graph);
  search.figures = search.levels = true;
  const BfsResult found = bfs(graph, search);
  search.edges = Edges::device;
  search.deterministic = true;
  const BfsResult expected = bfs(*in_memory, search);
  EXPECT_EQ(all_of(found.depth), all_of(expected.depth));
  EXPECT_EQ(all_of(found.parent), all_of(expected.parent));
  EXPECT_EQ(found.levels, expected.levels);
  EXPECT_EQ(found.figures.sum_depth, expected.figures.sum_depth);
  EXPECT_TRUE(found.info.verdict->correct) << found.info.verdict->message;
  EXPECT_EQ(found.info.edges, Edges::file);
  EXPECT_GT(found.info.bytes_read, 0u);

  const auto parts = connected_components(graph, placed<ComponentsOptions>(Edges::file));
  EXPECT_EQ(
      all_of(parts.label),
      all_of(connected_components(*in_memory, placed<ComponentsOptions>(Edges::device)).label));
  EXPECT_TRUE(parts.info.verdict->correct);

  auto ranking = placed<PageRankOptions>(Edges::file);
  ranking.tolerance = 1e-10;
  ranking.top = 5;
  const PageRankResult ranks = pagerank(graph, ranking);
  ranking.edges = Edges::device;
  const PageRankResult in = pagerank(*in_memory, ranking);
  ASSERT_EQ(ranks.top.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(ranks.top[i].vertex, in.top[i].vertex);
  for (std::size_t v = 0; v < graph.vertices(); ++v)
    EXPECT_NEAR(ranks.rank.host()[v], in.rank.host()[v], 1e-9);
}

TEST_F(FileEdges, AreMappedWhereArraysAreAskedFor) {
  const Graph graph = read(path, options);
  EXPECT_EQ(graph.csr().edges(), in_memory->edges());
  EXPECT_EQ(all_of(bfs(graph, {.source = 3, .session = session}).depth),
            all_of(bfs(*in_memory, {.source = 3, .session = session}).depth));
}

TEST_F(FileEdges, AreChosenByTheHostsMemory) {
  options.lists = Lists::fitting;
  EXPECT_EQ(read(path, options).file(), nullptr);
  options.host_memory = 1;
  const Graph graph = read(path, options);
  ASSERT_NE(graph.file(), nullptr);
  EXPECT_THAT(graph.lists_reason(), HasSubstr("the host has"));
  auto call = placed<BfsOptions>(Edges::file);
  call.placement.host_memory = 1;
  EXPECT_THROW((void)bfs(graph, call), MemoryError);
  EXPECT_THAT(message_of([&] { (void)bfs(graph, call); }), HasSubstr("of disk"));
}

TEST_F(FileEdges, AreRefusedByName) {
  const Graph graph = read(path, options);
  EXPECT_THAT(message_of([&] { (void)bfs(*in_memory, placed<BfsOptions>(Edges::file)); }),
              HasSubstr("was not read with its lists in a file"));
  EXPECT_THAT(message_of([&] { (void)triangles(graph, placed<TrianglesOptions>(Edges::file)); }),
              HasSubstr("no lists from a file"));
  auto call = placed<BfsOptions>(Edges::file);
  call.devices = 2;
  EXPECT_THAT(message_of([&] { (void)bfs(graph, call); }), HasSubstr("one rank"));
  call.devices = 0;
  call.mode = Mode::asynchronous;
  EXPECT_THAT(message_of([&] { (void)bfs(graph, call); }), HasSubstr("mode"));
  call.mode = Mode::automatic;
  call.source = static_cast<Vertex>(graph.vertices());
  EXPECT_THROW((void)bfs(graph, call), VertexError);
  auto ranking = placed<PageRankOptions>(Edges::file);
  ranking.weighted = true;
  EXPECT_THAT(message_of([&] { (void)pagerank(graph, ranking); }), HasSubstr("weighted"));
  ranking.weighted = false;
  ranking.personalization.assign(graph.vertices(), 1.0);
  EXPECT_THAT(message_of([&] { (void)pagerank(graph, ranking); }), HasSubstr("personalization"));
  ReadOptions more = options;
  more.drop_self_loops = true;
  EXPECT_THAT(message_of([&] { (void)read(path, more); }), HasSubstr("self-loops"));
  EXPECT_THAT(message_of([&] { (void)read("kron:5", options); }), HasSubstr("generator"));
}

}  // namespace
}  // namespace warren
