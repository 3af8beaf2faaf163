// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix. A rank keeps its last product's preparation: layers and
// iterations multiply by one matrix again and again.
#include "warren/api/multiply.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/tuner.hpp"

#include "api/call.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// What a preparation is for.
struct ProductKey {
  sparse::Normalization::Kind kind = sparse::Normalization::Kind::none;
  bool self_loops = false, weighted = true;
  std::uint64_t k = 0;
  std::string strategy;
  friend bool operator==(const ProductKey&, const ProductKey&) = default;
};

struct RankSpmm : api::RankProduct {
  RankSpmm(team::Team& team, const graph::Shard& shard, const ProductKey& made_for)
      : key(made_for),
        stream(team.device()),
        b(team, shard.cuts, made_for.k, memory::Placement::device),
        c(team.device(), exec::bytes_of(shard.out.count, made_for.k)) {
    const sparse::Rows rows =
        sparse::make_rows(team, shard, {key.kind, key.self_loops}, key.weighted);
    sparse::DistributedOptions options;
    if (key.strategy != "auto") {
      options.strategy = sparse::parse_strategy(key.strategy);
      if (options.strategy == sparse::Strategy::fused && team.size() > 1)
        options.workgroup = sparse::workgroup_of(team::known_links(team));
    } else if (team.size() > 1) {
      const std::vector<float> nothing(b.local_size(), 0.0f);
      b.buffer().upload(stream, std::span<const float>(nothing));
      stream.synchronize();
      sparse::TuneOptions tune;
      tune.table = sparse::plan_table_path();
      options = sparse::tune<float>(team, rows, b, c.data(), tune).best;
      if (team.rank() == 0) log_info("spmm: chose strategy " + sparse::name_of(options.strategy));
    }
    strategy = team.size() > 1 ? sparse::name_of(options.strategy) : "local";
    product = std::make_unique<sparse::DistributedSpmm<float>>(team, rows, key.k, options);
  }
  ProductKey key;
  exec::Stream stream;
  memory::GlobalArray<float> b;
  memory::Buffer<float> c;
  std::string strategy;
  std::unique_ptr<sparse::DistributedSpmm<float>> product;
};

void check_dense(const char* name, std::span<const float> values, std::uint64_t vertices,
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
std::span<const float> own_rows(std::span<const float> all, const graph::Shard& shard,
                                std::uint64_t k) {
  return all.subspan(shard.out.first * k, std::uint64_t{shard.out.count} * k);
}

}  // namespace

SpmmResult spmm(const Graph& graph, std::span<const float> b, std::uint64_t k,
                const SpmmOptions& options) {
  check_dense("b", b, graph.vertices(), k);
  if (options.strategy != "auto") (void)sparse::parse_strategy(options.strategy);
  const Graph matrix = options.transpose ? graph.reversed() : graph;
  Call call(matrix, api::call_options(std::nullopt, options));
  SpmmResult all;
  all.rows = graph.vertices();
  all.columns = k;
  all.values.resize(b.size());
  if (all.rows == 0) {
    all.info = call.info;
    return all;
  }
  const ProductKey key{options.normalize, options.self_loops, options.weighted, k,
                       options.strategy};
  call.run([&](team::Team& team, RankGraph& rank) {
    auto* kept = dynamic_cast<RankSpmm*>(rank.product.get());
    if (kept == nullptr || kept->key != key) {
      rank.product.reset();
      rank.product = std::make_unique<RankSpmm>(team, rank.shard, key);
      kept = static_cast<RankSpmm*>(rank.product.get());
    }
    kept->b.buffer().upload(kept->stream, own_rows(b, rank.shard, k));
    kept->stream.synchronize();
    team.barrier();
    const double begin = now_seconds();
    kept->product->run(kept->b, kept->c.data());
    const double seconds = api::slowest(team, now_seconds() - begin);
    const std::vector<float> own = kept->c.to_host(kept->stream);
    std::ranges::copy(own,
                      all.values.begin() + static_cast<std::ptrdiff_t>(rank.shard.out.first * k));
    if (team.rank() != 0) return;
    all.strategy = kept->strategy;
    call.info.seconds = seconds;
  });
  all.info = call.info;
  return all;
}

SddmmResult sddmm(const Graph& graph, std::span<const float> x, std::span<const float> y,
                  std::uint64_t k, const SddmmOptions& options) {
  check_dense("x", x, graph.vertices(), k);
  check_dense("y", y, graph.vertices(), k);
  Call call(graph, api::call_options(std::nullopt, options));
  SddmmResult all;
  all.values.resize(graph.edges());
  if (graph.vertices() == 0) {
    all.info = call.info;
    return all;
  }
  call.run([&](team::Team& team, RankGraph& rank) {
    const exec::Stream stream(team.device());
    const sparse::Rows rows = sparse::make_rows(team, rank.shard, {}, options.weighted);
    memory::GlobalArray<float> far(team, rank.shard.cuts, k, memory::Placement::device);
    memory::Buffer<float> near(team.device(), exec::bytes_of(rank.shard.out.count, k));
    far.buffer().upload(stream, own_rows(y, rank.shard, k));
    near.upload(stream, own_rows(x, rank.shard, k));
    stream.synchronize();
    sparse::DistributedSddmm<float> product(team, rows, k);
    team.barrier();
    const double begin = now_seconds();
    product.run(near.data(), far);
    const double seconds = api::slowest(team, now_seconds() - begin);
    const std::vector<float> own = product.result();
    const EdgeOffset first = graph.csr().offsets[rank.shard.out.first];
    std::ranges::copy(own, all.values.begin() + static_cast<std::ptrdiff_t>(first));
    if (team.rank() == 0) call.info.seconds = seconds;
  });
  all.info = call.info;
  return all;
}

}  // namespace warren
