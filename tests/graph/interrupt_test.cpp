// SPDX-License-Identifier: Apache-2.0
// Long work on graphs ends where it may be ended: what it throws comes out, and nothing half
// written stays.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/interrupt_point.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/transform.hpp"

#include "graph/io_support.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

struct Ended {};

/// Runs `call`, which is ended at its point number `last`. Returns how many points it came to.
std::uint64_t points_of(const std::function<void()>& call, std::uint64_t last = kNever) {
  const std::uint32_t flag = 1;
  std::atomic<std::uint64_t> points{0};
  const std::function<void()> count = [&] {
    if (points.fetch_add(1) + 1 >= last) throw Ended();
  };
  const InterruptPoints all(flag, count);
  call();
  return points;
}

class Interrupts : public testing::TestWithParam<int> {
 protected:
  Interrupts()
      : pool_(GetParam()),
        graph_(build(*make_source(*parse_generator("kron:12", 1)), {.symmetrize = true}, pool_)) {}

  /// `call` can be ended early, in the middle and late, and works afterwards.
  void expect_points(const std::string& name, const std::function<void()>& call) {
    SCOPED_TRACE(name);
    const std::uint64_t points = points_of(call);
    EXPECT_GE(points, 1u);
    // The number may differ a little between runs, by what each thread takes.
    for (const std::uint64_t last : {std::uint64_t{1}, points / 4 + 1, points / 2 + 1})
      EXPECT_THROW((void)points_of(call, last), Ended) << "point " << last << " of " << points;
    EXPECT_GE(points_of(call), 1u);
  }

  exec::ThreadPool pool_;
  Graph graph_;
};

TEST_P(Interrupts, OfGraphsThatAreMade) {
  expect_points("generate", [&] {
    (void)build(*make_source(*parse_generator("kron:10", 1)), {.symmetrize = true}, pool_);
  });
  Graph directed = graph_;
  directed.symmetry = Symmetry::directed;
  expect_points("transpose", [&] { (void)transpose(directed, pool_); });
  expect_points("symmetrize", [&] { (void)symmetrize(directed, false, pool_); });
  expect_points("is_symmetric", [&] {
    Graph unknown = graph_;
    unknown.symmetry = Symmetry::unknown;
    (void)is_symmetric(unknown, pool_);
  });
}

TEST_P(Interrupts, OfOrders) {
  for (const char* name : {"rabbit", "degree", "random"})
    expect_points(name, [&] { (void)make_order(graph_, name, 1, pool_); });
  const auto order = degree_order(graph_);
  expect_points("relabel", [&] { (void)relabel(graph_, order.span(), pool_); });
  expect_points("inverse", [&] { (void)inverse(order.span()); });
}

TEST_P(Interrupts, OfPartitions) {
  expect_points("random", [&] { (void)partition_random(graph_, 4, 1); });
  expect_points("degree", [&] { (void)partition_degree(graph_, 4); });
  expect_points("rabbit", [&] { (void)partition_rabbit(graph_, 4, pool_); });
  const Partition partition = partition_random(graph_, 4, 1);
  expect_points("quality", [&] { (void)partition_quality(graph_, partition, pool_, {2, true}); });
}

TEST_P(Interrupts, OfFiles) {
  const TemporaryFolder folder;
  for (const char* ending : {"el", "wel", "tsv", "csv", "mtx", "gr", "graph", "wgr", "npz", "sg",
                             "wsg", "el.gz", "mtx.zst"}) {
    const std::string path = folder.file(std::string("graph.") + ending);
    Graph graph = graph_;
    if (ending == std::string("graph")) {
      graph = build(*make_source(*parse_generator("kron:12", 1)),
                    {.symmetrize = true, .drop_self_loops = true}, pool_);
    }
    write_bytes(path, "what was there");
    SCOPED_TRACE(ending);
    const auto write = [&] { (void)write_graph(graph, path, pool_); };
    for (const std::uint64_t last : {1, 2, 3}) {
      EXPECT_THROW((void)points_of(write, last), Ended);
      EXPECT_EQ(read_bytes(path), "what was there");
      EXPECT_EQ(folder.files(), 1);
    }
    expect_points("write", write);
    expect_points("read", [&] { (void)read_graph(path, {}, pool_); });
    std::filesystem::remove(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Interrupts, testing::Values(1, 3),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace warren::graph
