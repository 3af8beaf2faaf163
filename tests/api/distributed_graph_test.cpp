// SPDX-License-Identifier: Apache-2.0
// A graph's matrix over ranks that are processes, each with its own rows alone: against sums over
// the list of edges, of whole numbers, which float32 holds in any order.
#include "warren/api/distributed_graph.hpp"

#include <numeric>
#include <set>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/processes.hpp"

#include "api/graph_state.hpp"
#include "graphs.hpp"
#include "support/processes.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using testing_support::in_processes;

constexpr ArrayPlace kHost{};

float value_of(std::uint64_t vertex, std::uint64_t column) {
  return static_cast<float>((vertex * 5 + column * 3) % 7) - 3.0f;
}

std::vector<float> rows_of(std::uint64_t first, std::uint64_t count, std::uint64_t k) {
  std::vector<float> rows;
  for (std::uint64_t r = 0; r < count; ++r)
    for (std::uint64_t c = 0; c < k; ++c) rows.push_back(value_of(first + r, c));
  return rows;
}

/// A x of all rows, or A^T x.
std::vector<float> product(const Graph& graph, std::uint64_t k, bool transpose, bool weighted) {
  const graph::Graph& csr = graph.csr();
  std::vector<float> y(graph.vertices() * k);
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
    for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + 1]; ++e) {
      const std::uint64_t u = csr.targets[e];
      float weight = 1.0f;
      if (weighted && csr.weight_type == graph::WeightType::int32)
        weight = static_cast<float>(csr.weights_int[e]);
      for (std::uint64_t c = 0; c < k; ++c)
        y[(transpose ? u : v) * k + c] += weight * value_of(transpose ? v : u, c);
    }
  }
  return y;
}

std::vector<float> part(const std::vector<float>& all, const DistributedGraph& graph,
                        std::uint64_t k) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(graph.first() * k);
  return {begin, begin + static_cast<std::ptrdiff_t>(graph.rows() * k)};
}

/// Calls call(place, x, y) with both on GPU `gpu`, or as they are for -1.
template <class Call>
void on_place(int gpu, const std::vector<float>& x, std::vector<float>& y, Call&& call) {
  if (gpu < 0) return call(kHost, std::span<const float>(x), std::span<float>(y));
  const exec::Stream stream(exec::Device::cuda(gpu));
  memory::Buffer<float> from(stream.device(), x.size()), to(stream.device(), y.size());
  from.upload(stream, x);
  to.upload(stream, y);
  call(ArrayPlace{gpu, stream.native()}, std::span<const float>(from.data(), x.size()),
       std::span<float>(to.data(), y.size()));
  y = to.to_host(stream);
}

/// Both products, and what pull() and push() do, at two widths, on arrays of GPU `gpu`.
void check(const Graph& graph, const DistributedGraphOptions& options, int gpu = -1) {
  const DistributedGraph whole(graph, options);
  ASSERT_EQ(whole.vertices(), graph.vertices());
  for (const std::uint64_t k : {3u, 8u}) {
    const std::vector<float> x = rows_of(whole.first(), whole.rows(), k);
    for (const bool transpose : {false, true}) {
      std::vector<float> y(x.size(), 77.0f);
      on_place(gpu, x, y, [&](const ArrayPlace& place, auto from, auto to) {
        whole.multiply(place, from, to, k, transpose);
      });
      EXPECT_EQ(y, part(product(graph, k, transpose, options.weighted), whole, k)) << transpose;
    }
    const auto pull = [&](const std::vector<float>& rows) {
      std::vector<float> pulled(whole.halo().size() * k, 77.0f);
      on_place(gpu, rows, pulled, [&](const ArrayPlace& place, auto from, auto to) {
        whole.pull(place, from, to, k);
      });
      return pulled;
    };
    std::vector<float> expected;
    for (const Vertex v : whole.halo()) {
      EXPECT_TRUE(v < whole.first() || v >= whole.first() + whole.rows());
      const std::vector<float> row = rows_of(v, 1, k);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    EXPECT_EQ(pull(x), expected);
    // Where each rank gives ones, owners have in how many halos their rows are.
    std::vector<float> counts(x.size(), 77.0f);
    on_place(gpu, std::vector<float>(expected.size(), 1.0f), counts,
             [&](const ArrayPlace& place, auto from, auto to) { whole.push(place, from, to, k); });
    for (const float count : pull(counts)) EXPECT_GE(count, 1.0f);
  }
}

std::vector<Graph> graphs() {
  std::vector<Graph> all;
  ArrayOptions keep;
  keep.keep_duplicates = true;
  std::vector<Vertex> sources, targets;
  std::vector<std::int32_t> weights;
  for (Vertex e = 0; e < 900; ++e) {
    sources.push_back(e * 7919 % 117);  // Some have no edges.
    targets.push_back(e * e % 131);
    weights.push_back(static_cast<std::int32_t>(e % 5));
  }
  all.push_back(from_edges(sources, targets, Weights(weights), 140, keep));
  std::vector<Vertex> centre(400, 0), leaves;
  for (Vertex v = 1; v <= 400; ++v) leaves.push_back(v);
  all.push_back(from_edges(centre, leaves));  // A star, from its centre,
  all.push_back(from_edges(leaves, centre));  // and to it.
  all.push_back(from_edges(std::vector<Vertex>{0, 1, 1}, std::vector<Vertex>{1, 0, 1}, {}, 2));
  all.push_back(from_edges(std::vector<Vertex>{}, std::vector<Vertex>{}, {}, 5));
  return all;
}

TEST(DistributedGraph, MultipliesPullsAndPushes) {
  for (const int ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(ranks);
    in_processes(ranks, [&] {
      for (const Graph& graph : graphs())
        for (const bool weighted : {true, false}) check(graph, {.weighted = weighted});
    });
  }
}

TEST(DistributedGraph, MultipliesByEveryStrategy) {
  in_processes(4, [] {
    const Graph graph = graphs().front();
    for (const char* strategy :
         {"broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover"}) {
      SCOPED_TRACE(strategy);
      check(graph, {.strategy = strategy});
      const DistributedGraph whole(graph, {.strategy = strategy});
      EXPECT_EQ(whole.strategy(), "");
      std::vector<float> x(whole.rows()), y(whole.rows());
      whole.multiply(kHost, x, y, 1);
      EXPECT_EQ(whole.strategy(), strategy);
      EXPECT_EQ(whole.strategy(true), "");
    }
  });
}

TEST(DistributedGraph, HasItsOwnRangesAlone) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.file("g.wgr"), other = folder.file("other.wgr");
  // Written by a process of its own, whose threads the others must not have.
  in_processes(1, [&] {
    (void)read("kron:7", {.weights = "uniform:1:5"}).save(path);
    (void)read("kron:7", {.weights = "uniform:1:5", .seed = 2}).save(other);
  });
  const auto by_ranges = [](const std::string& name, const std::string& weights = {}) {
    return read(name,
                {.symmetrize = name == "urand:6", .weights = weights, .lists = Lists::ranges});
  };
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    in_processes(ranks, [&] {
      for (const Graph& graph : {by_ranges(path), by_ranges("kron:7", "uniform:1:5"),
                                 by_ranges("urand:6"), by_ranges("kron:1,2")}) {
        const DistributedGraph whole(graph);
        EXPECT_FALSE(graph.state()->has_csr());
        check(graph, {.strategy = "staged"});
      }
    });
  }
  in_processes(2, [&] {
    const int rank = team::Processes::current()->rank();
    const Graph graph = by_ranges(rank == 0 ? path : other);
    EXPECT_THAT([&] { const DistributedGraph whole(graph); },
                ThrowsMessage<UsageError>(HasSubstr("different graphs")));
    check(by_ranges(path), {});  // The team works on.
  });
}

/// Numbers that all processes have, which are forked off later.
class SharedNumbers {
 public:
  explicit SharedNumbers(std::size_t count)
      : bytes_(count * sizeof(float)),
        data_(static_cast<float*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedNumbers() { (void)munmap(data_, bytes_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;
  [[nodiscard]] float& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  float* data_;
};

TEST(DistributedGraph, PushesAddUpOverTheRanks) {
  const SharedNumbers owner(140);
  in_processes(3, [&] {
    const Graph graph = graphs().front();
    const graph::Graph& csr = graph.csr();
    const DistributedGraph whole(graph);
    const auto mine = static_cast<float>(whole.first() + 1);
    for (std::uint64_t r = 0; r < whole.rows(); ++r) owner[whole.first() + r] = mine;
    const std::vector<float> halo_rows(whole.halo().size(), mine);
    std::vector<float> sums(whole.rows()), again(whole.rows()), expected;
    whole.push(kHost, halo_rows, sums, 1);
    whole.push(kHost, halo_rows, again, 1);
    EXPECT_EQ(sums, again);
    // A rank has u in its halo where one of its rows has an edge to u.
    for (std::uint64_t u = whole.first(); u < whole.first() + whole.rows(); ++u) {
      std::set<float> ranks;
      for (std::uint64_t v = 0; v < csr.vertices; ++v)
        for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + 1]; ++e)
          if (csr.targets[e] == u && owner[v] != mine) ranks.insert(owner[v]);
      expected.push_back(std::accumulate(ranks.begin(), ranks.end(), 0.0f));
    }
    EXPECT_EQ(sums, expected);
  });
}

bool is_last(const DistributedGraph& whole) {
  return whole.first() + whole.rows() == whole.vertices();
}

TEST(DistributedGraph, RefusesOnAllRanksAlike) {
  in_processes(3, [] {
    const DistributedGraph whole(graphs().front(), {.strategy = "staged"});
    const auto refused = [&](const char* text, const auto& call) {
      EXPECT_THAT(call, ThrowsMessage<UsageError>(HasSubstr(text)));
      check(graphs().front(), {.strategy = "staged"});  // The team works on.
    };
    std::vector<float> x(whole.rows() * 4), y(whole.rows() * 4);
    const std::span<const float> in(x);
    refused("x: rank 2 gives", [&] {
      whole.multiply(kHost, in.first(is_last(whole) ? in.size() - 1 : in.size()), y, 4);
    });
    refused("k: rank 2 has 2 columns, rank 0 4", [&] {
      const std::uint64_t k = is_last(whole) ? 2 : 4;
      whole.multiply(kHost, in.first(whole.rows() * k), std::span(y).first(whole.rows() * k), k);
    });
    refused("k: got 0", [&] { whole.multiply(kHost, {}, {}, 0); });
    refused("the ranks make different calls: rank 2 multiplies by the transpose, rank 0 multiplies",
            [&] { whole.multiply(kHost, x, y, 4, is_last(whole)); });
    refused("place: rank 2's arrays are on GPU 0, expected none", [&] {
      whole.multiply({is_last(whole) ? 0 : -1, nullptr}, x, y, 4);
    });
    refused("halo_rows: rank 0 gives 1 numbers",
            [&] { whole.push(kHost, std::vector<float>(1), y, 4); });
    refused("the third is broken", [&] {
      if (is_last(whole)) return whole.refuse("the third is broken");
      whole.multiply(kHost, x, y, 4);
    });
    const Graph other = from_edges(std::vector<Vertex>{0}, std::vector<Vertex>{1}, {}, 140);
    refused("the ranks read different graphs: rank 2 has 140 vertices and 1 edges",
            [&] { const DistributedGraph made(is_last(whole) ? other : graphs().front()); });
    refused("strategy, weighted: rank 2 and rank 0 give different ones",
            [&] { const DistributedGraph made(graphs().front(), {.weighted = is_last(whole)}); });
    EXPECT_THAT([] { const DistributedGraph made(graphs().front(), {.strategy = "best"}); },
                ThrowsMessage<UsageError>(HasSubstr("there is no strategy \"best\"")));
  });
}

TEST(DistributedGraph, ARankThatFailsEndsTheCallsOfTheOthers) {
  testing_support::ForkedRanks forked(2, [](const team::ProcessOptions& options) {
    team::Processes processes(options);
    const DistributedGraph whole(graphs().front());
    if (processes.rank() == 1) {
      processes.end("rank 1 has lost its way");
      return;
    }
    std::vector<float> x(whole.rows()), y(whole.rows());
    EXPECT_THAT([&] { whole.multiply(kHost, x, y, 1); },
                ThrowsMessage<TeamError>(HasSubstr("rank 1 has lost its way")));
  });
  EXPECT_EQ(forked.wait(0), testing_support::kPassed);
}

/// GPUs, as another process sees them: what this one forks off later could not use them any more.
int gpus() {
  testing_support::ForkedRanks one(
      1, [](const team::ProcessOptions&) { _exit(exec::cuda_device_count()); });
  return one.wait(0);
}

TEST(DistributedGraphCuda, RanksHaveAGpuEach) {
  const int count = gpus();
  if (count <= 0) GTEST_SKIP() << "no GPU";
  for (const int ranks : {1, 2, 4}) {
    SCOPED_TRACE(ranks);
    in_processes(ranks, [&] {
      DistributedGraphOptions options{.device = DeviceKind::cuda};
      if (ranks > count) options.session = Session({.share_devices = true});
      const int gpu = team::Processes::current()->rank() % count;
      for (const Graph& graph : graphs())
        for (const int place : {-1, gpu}) check(graph, options, place);
      for (const char* strategy : {"pull", "once", "staged", "cover"}) {
        options.strategy = strategy;
        check(graphs().front(), options, gpu);
      }
    });
  }
}

TEST(DistributedGraph, RefusesRanksOfOneProcess) {
  testing_support::ForkedRanks alone(1, [](const team::ProcessOptions&) {
    const DistributedGraphOptions options{.device = DeviceKind::cpu,
                                          .session = Session({.devices = 2})};
    EXPECT_THAT([&] { const DistributedGraph made(graphs().front(), options); },
                ThrowsMessage<UsageError>(HasSubstr("session: its 2 ranks are of one process")));
    check(graphs().front(), {.device = DeviceKind::cpu});
    const DistributedGraph whole(graphs().front(), {.device = DeviceKind::cpu});
    EXPECT_EQ(whole.rows(), whole.vertices());
    EXPECT_TRUE(whole.halo().empty());
  });
  EXPECT_EQ(alone.wait(0), testing_support::kPassed);
}

}  // namespace
}  // namespace warren
