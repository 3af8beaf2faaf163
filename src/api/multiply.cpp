// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix. A rank keeps its last product's preparation: layers and
// iterations multiply by one matrix again and again.
#include "warren/api/multiply.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/sparse/blocks.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/sddmm.hpp"

#include "api/arrive.hpp"
#include "api/call.hpp"
#include "api/product_way.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// What a preparation is for.
struct ProductKey {
  sparse::Normalization::Kind kind = sparse::Normalization::Kind::none;
  bool self_loops = false, weighted = true;
  std::uint64_t k = 0;  ///< 0 on one rank, where it is for any.
  std::string strategy;
  friend bool operator==(const ProductKey&, const ProductKey&) = default;
};

/// Of a team of one: the matrix, for products of both kinds and of any width.
struct RankMatrix : api::RankProduct {
  RankMatrix(team::Team& team, const graph::Shard& shard, const ProductKey& made_for)
      : key(made_for), stream(team.device()), begin(team.device()), end(team.device()) {
    const sparse::Rows rows =
        sparse::make_rows(team, shard, {key.kind, key.self_loops}, key.weighted);
    row_scale = sparse::to_device(stream, rows.row_scale);
    self = sparse::to_device(stream, rows.self);
    block = sparse::DeviceBlock(stream, sparse::own_block(rows, team.device().pool()));
  }
  /// Runs `work(out)` for `count` results, which go where `like` is. The seconds of the work.
  template <class Work>
  double run(const ArrayView<float>& like, api::Output<float>& results, std::uint64_t count,
             Work&& work) {
    const bool is_staged = stream.device().is_cuda() && !like.is_on_gpu();
    results.start(is_staged ? exec::Device::cpu(1) : stream.device());
    float* const out = is_staged ? memory::at_least(stream, c, count) : results.data();
    begin.record(stream);
    work(out);
    end.record(stream);
    if (is_staged) exec::copy(stream, results.data(), out, count * sizeof(float));
    stream.synchronize();
    return end.seconds_since(begin);
  }

  ProductKey key;
  exec::Stream stream;
  exec::Event begin, end;
  memory::Buffer<float> row_scale, self;
  sparse::DeviceBlock block;
  memory::Buffer<float> a, b, c;  ///< Of operands and results that are elsewhere.
};

/// Of a team of more: a product of one width.
struct RankSpmm : api::RankProduct {
  RankSpmm(team::Team& team, const graph::Shard& shard, const ProductKey& made_for)
      : key(made_for),
        stream(team.device()),
        b(team, shard.cuts, made_for.k, memory::Placement::device, memory::Reach::moved),
        c(team.device(), exec::bytes_of(shard.out.count, made_for.k)) {
    const sparse::Rows rows =
        sparse::make_rows(team, shard, {key.kind, key.self_loops}, key.weighted);
    const sparse::DistributedOptions options =
        key.strategy != "auto" ? api::named_way(team, key.strategy)
                               : api::measured_way(team, stream, rows, b, c.data());
    strategy = sparse::name_of(options.strategy);
    product = std::make_unique<sparse::DistributedSpmm<float>>(team, rows, key.k, options);
  }
  ProductKey key;
  exec::Stream stream;
  memory::GlobalArray<float> b;
  memory::Buffer<float> c;
  std::string strategy;
  std::unique_ptr<sparse::DistributedSpmm<float>> product;
};

/// What the rank keeps of this kind, made anew where it is for something else. Collective.
template <class Kept>
Kept& kept_for(team::Team& team, RankGraph& rank, const ProductKey& key) {
  auto* kept = dynamic_cast<Kept*>(rank.product.get());
  if (kept == nullptr || kept->key != key) {
    rank.product.reset();
    rank.product = std::make_unique<Kept>(team, rank.shard, key);
    kept = static_cast<Kept*>(rank.product.get());
  }
  return *kept;
}

void check_dense(const char* name, const ArrayView<float>& values, std::uint64_t vertices,
                 std::uint64_t k) {
  require(k > 0, "k: got 0, expected one column or more");
  require(
      vertices == 0 || k <= ~std::uint64_t{0} / sizeof(float) / vertices,
      fmt::format("k: got {} columns for {} rows, more than memory has addresses", k, vertices));
  require(values.size() == vertices * k,
          fmt::format("{}: got {} numbers, expected {} x {}, a row for each vertex", name,
                      values.size(), vertices, k));
}

/// This rank's rows of an array of all.
ArrayView<float> own_rows(const ArrayView<float>& all, const graph::Shard& shard, std::uint64_t k) {
  return all.part(shard.out.first * k, std::uint64_t{shard.out.count} * k);
}

template <class Options>
api::CallOptions call_options(const Options& options, const ArrayView<float>& operand) {
  api::CallOptions call = api::call_options(std::nullopt, options);
  call.gpu = operand.gpu();
  return call;
}

/// One rank's product.
double multiply_here(RankMatrix& kept, const ArrayView<float>& b, std::uint64_t rows,
                     std::uint64_t k, api::Output<float>& values) {
  const float* const there = api::arrive(kept.stream, b, kept.b);
  return kept.run(b, values, rows * k, [&](float* out) {
    kept.block.multiply(kept.stream,
                        sparse::MatrixOperands<float>{.x = there,
                                                      .x_stride = k,
                                                      .y = out,
                                                      .y_stride = k,
                                                      .k = k,
                                                      .row_scale = kept.row_scale.data(),
                                                      .self = kept.self.data()});
  });
}

/// A team's product. Collective.
double multiply_over(team::Team& team, RankSpmm& kept, const graph::Shard& shard,
                     const ArrayView<float>& b, api::Output<float>& values) {
  const std::uint64_t k = kept.key.k;
  api::copy_in(kept.stream, own_rows(b, shard, k), kept.b.buffer().data());
  kept.stream.synchronize();
  team.barrier();
  const double begin = now_seconds();
  kept.product->run(kept.b, kept.c.data());
  const double seconds = api::slowest(team, now_seconds() - begin);
  const auto write = [&](float* out) {
    exec::copy(kept.stream, out, kept.c.data(), kept.c.bytes());
    kept.stream.synchronize();
  };
  const std::uint64_t first = shard.out.first * k;
  if (b.is_on_gpu()) {
    api::fill_range(team, first, kept.c.size(), write, values);
  } else {
    api::fill_range_on_host(team, first, kept.c.size(), write, values);
  }
  return seconds;
}

}  // namespace

SpmmResult spmm(const Graph& graph, const ArrayView<float>& b, std::uint64_t k,
                const SpmmOptions& options) {
  check_dense("b", b, graph.vertices(), k);
  if (options.strategy != "auto") (void)sparse::parse_strategy(options.strategy);
  const Graph matrix = options.transpose ? graph.reversed() : graph;
  Call call(matrix, call_options(options, b));
  SpmmResult all;
  all.rows = graph.vertices();
  all.columns = k;
  if (all.rows == 0) {
    all.info = call.info;
    return all;
  }
  ProductKey key{options.normalize, options.self_loops, options.weighted, 0, {}};
  api::Output<float> values(all.rows * k);
  call.run([&](team::Team& team, RankGraph& rank) {
    if (team.size() == 1) {
      call.info.seconds =
          multiply_here(kept_for<RankMatrix>(team, rank, key), b, all.rows, k, values);
      all.strategy = "local";
      return;
    }
    ProductKey wide = key;
    wide.k = k;
    wide.strategy = options.strategy;
    RankSpmm& kept = kept_for<RankSpmm>(team, rank, wide);
    const double seconds = multiply_over(team, kept, rank.shard, b, values);
    if (!team.reports()) return;
    all.strategy = kept.strategy;
    call.info.seconds = seconds;
  });
  all.values = values.take();
  all.info = call.info;
  return all;
}

SddmmResult sddmm(const Graph& graph, const ArrayView<float>& x, const ArrayView<float>& y,
                  std::uint64_t k, const SddmmOptions& options) {
  check_dense("x", x, graph.vertices(), k);
  check_dense("y", y, graph.vertices(), k);
  Call call(graph, call_options(options, x.is_on_gpu() ? x : y));
  SddmmResult all;
  if (graph.edges() == 0) {
    all.info = call.info;
    return all;
  }
  api::Output<float> values(graph.edges());
  const ProductKey key{{}, false, options.weighted, 0, {}};
  call.run([&](team::Team& team, RankGraph& rank) {
    if (team.size() == 1) {
      auto& kept = kept_for<RankMatrix>(team, rank, key);
      const float* const left = api::arrive(kept.stream, x, kept.a);
      const float* const right = api::arrive(kept.stream, y, kept.b);
      call.info.seconds = kept.run(x, values, graph.edges(), [&](float* out) {
        sparse::sddmm(kept.stream, kept.block.view(), kept.block.plan(), left, k, right, k, k, out);
      });
      return;
    }
    const exec::Stream stream(team.device());
    const sparse::Rows rows = sparse::make_rows(team, rank.shard, {}, options.weighted);
    memory::GlobalArray<float> far(team, rank.shard.cuts, k, memory::Placement::device,
                                   memory::Reach::moved);
    memory::Buffer<float> near(team.device(), exec::bytes_of(rank.shard.out.count, k));
    api::copy_in(stream, own_rows(y, rank.shard, k), far.buffer().data());
    api::copy_in(stream, own_rows(x, rank.shard, k), near.data());
    stream.synchronize();
    sparse::DistributedSddmm<float> product(team, rows, k);
    team.barrier();
    const double begin = now_seconds();
    product.run(near.data(), far);
    const double seconds = api::slowest(team, now_seconds() - begin);
    const std::vector<float> own = product.result();
    const std::vector<std::uint64_t> sizes = team.all_gather<std::uint64_t>(own.size());
    const auto first =
        std::accumulate(sizes.begin(), sizes.begin() + team.rank(), std::uint64_t{0});
    const auto write = [&](float* out) { std::ranges::copy(own, out); };
    api::fill_range_on_host(team, first, own.size(), write, values);
    if (team.reports()) call.info.seconds = seconds;
  });
  all.values = values.take();
  all.info = call.info;
  return all;
}

}  // namespace warren
