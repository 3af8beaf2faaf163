// SPDX-License-Identifier: Apache-2.0
// The front of distributed products: the choice of the strategy, and what all runs have in common.
#include "warren/sparse/distributed.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/sparse/sddmm.hpp"

#include "sparse/halo_pull.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

struct NamedStrategy {
  Strategy strategy;
  const char* name;
};
constexpr NamedStrategy kStrategies[] = {
    {Strategy::broadcast, "broadcast"}, {Strategy::broadcast_pipelined, "broadcast-pipelined"},
    {Strategy::pull, "pull"},           {Strategy::once, "once"},
    {Strategy::staged, "staged"},       {Strategy::fused, "fused"},
    {Strategy::cover, "cover"}};

template <class T>
void check_shape(const memory::GlobalArray<T>& b, const std::vector<std::uint64_t>& cuts,
                 std::uint64_t k) {
  const memory::GlobalView<T>& view = b.view();
  bool fits = b.placement() == memory::Placement::device && view.width == k &&
              view.ranks + 1 == static_cast<int>(cuts.size());
  for (std::size_t q = 0; fits && q < cuts.size(); ++q) fits = view.cuts[q] == cuts[q];
  require(fits, fmt::format("B should have {} rows of {} elements, on the devices, cut as the "
                            "matrix is; it has {} of {}",
                            cuts.back(), k, view.rows(), view.width));
}

/// Runs body() when all ranks' operands stand, and returns when all are done with them.
template <class F>
void together(team::Team& team, F&& body) {
  team.device().synchronize();
  team.with_peer_memory([&] {
    team.barrier();
    body();
    team.device().synchronize();
    team.barrier();
  });
}

}  // namespace

void check_values(team::Team& team, const Rows& rows) {
  require(rows.values.size() == (rows.is_weighted ? rows.entries() : 0),
          fmt::format("rank {} has {} entries and {} values: Rows::values holds one for each entry "
                      "where Rows::is_weighted, else none",
                      team.rank(), rows.entries(), rows.values.size()));
  const int weighted_ranks =
      team.all_reduce(rows.is_weighted ? 1 : 0, [](int a, int b) { return a + b; });
  require(weighted_ranks == 0 || weighted_ranks == team.size(),
          fmt::format("{} of the {} ranks say that the matrix has values: Rows::is_weighted is "
                      "the same on all ranks, whatever entries they have",
                      weighted_ranks, team.size()));
}

Strategy parse_strategy(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& known : kStrategies) {
    if (name == known.name) return known.strategy;
    names.emplace_back(known.name);
  }
  throw UsageError(fmt::format("there is no strategy \"{}\"; the strategies are {}", name,
                               fmt::join(names, ", ")));
}

std::string name_of(Strategy strategy) {
  for (const auto& known : kStrategies) {
    if (known.strategy == strategy) return known.name;
  }
  return "unknown";
}

template <class T>
std::unique_ptr<Product<T>> make_product(const Preparation& given) {
  const DistributedOptions& options = given.options;
  if (given.team.spans_hosts()) {
    require((options.strategy == Strategy::staged || options.strategy == Strategy::broadcast) &&
                options.slow_between == 1 && options.chunks <= 1,
            fmt::format("strategy {}: it reads other ranks' rows where they lie, and ranks on "
                        "several hosts read what is published, in one chunk: take plain staged, "
                        "broadcast or auto, or start all ranks on one host",
                        name_of(options.strategy)));
  } else if (given.team.needs_windows()) {
    require(
        options.strategy == Strategy::staged && options.slow_between == 1 && options.chunks <= 1,
        fmt::format("strategy {}: {} cannot address the memory of all other ranks, so that "
                    "rows come by a collective, in one chunk: take plain staged, or auto",
                    name_of(options.strategy), given.team.device().name()));
  }
  switch (given.options.strategy) {
    case Strategy::broadcast:
    case Strategy::broadcast_pipelined:
      return make_broadcast<T>(given);
    case Strategy::pull:
      return make_pull<T>(given);
    case Strategy::once:
      return make_once<T>(given);
    case Strategy::staged:
      return make_staged<T>(given);
    case Strategy::fused:
      return make_fused<T>(given);
    case Strategy::cover:
      return make_cover<T>(given);
  }
  throw UsageError("there is no such strategy");
}

template std::unique_ptr<Product<float>> make_product(const Preparation&);
template std::unique_ptr<Product<Half>> make_product(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_product(const Preparation&);

const std::vector<Strategy>& all_strategies() {
  static const std::vector<Strategy> all = [] {
    std::vector<Strategy> list;
    for (const auto& known : kStrategies) list.push_back(known.strategy);
    return list;
  }();
  return all;
}

DistributedOptions mgg_options() {
  DistributedOptions options;
  options.strategy = Strategy::pull;
  options.piece_entries = 16;
  options.interleave = 1;
  options.warps_per_block = 2;
  return options;
}

template <class T>
struct DistributedSpmm<T>::Parts {
  Parts(team::Team& team, const Rows& rows)
      : stream(team.device()),
        row_scale(to_device(stream, rows.row_scale)),
        self(to_device(stream, rows.self)) {}

  exec::Stream stream;
  memory::Buffer<float> row_scale, self;
  std::unique_ptr<Product<T>> product;
};

template <class T>
DistributedSpmm<T>::DistributedSpmm(team::Team& team, const Rows& rows, std::uint64_t k,
                                    const DistributedOptions& options)
    : team_(team), k_(k), cuts_(rows.cuts) {
  require(k > 0, "a product needs k of at least 1; B and C have no columns otherwise");
  if (options.workgroup != 0) graph::check_workgroup(options.workgroup, team.size());
  require(options.slow_between >= 1, "what crosses between workgroups is moved at least once");
  check_values(team, rows);
  parts_ = std::make_unique<Parts>(team, rows);
  team.with_peer_memory([&] {
    team.barrier();
    parts_->product = make_product<T>({team, rows, k, options});
    parts_->product->reserve(k);
  });
}

template <class T>
DistributedSpmm<T>::~DistributedSpmm() = default;

template <class T>
void DistributedSpmm<T>::run_as(const memory::GlobalArray<T>& b, T* c, float alpha, float beta,
                                bool is_counted) {
  check_shape(b, cuts_, k_);
  const ProductRun<T> run{.stream = parts_->stream,
                          .own = {.x = b.local_data(),
                                  .x_stride = k_,
                                  .y = c,
                                  .y_stride = k_,
                                  .k = k_,
                                  .alpha = alpha,
                                  .beta = beta,
                                  .row_scale = parts_->row_scale.data(),
                                  .self = parts_->self.data()},
                          .b = b.view(),
                          .is_counted = is_counted};
  together(team_, [&] { parts_->product->enqueue(run); });
}

template <class T>
void DistributedSpmm<T>::run(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) {
  run_as(b, c, alpha, beta, false);
}

template <class T>
void DistributedSpmm<T>::run_counted(const memory::GlobalArray<T>& b, T* c, float alpha,
                                     float beta) {
  run_as(b, c, alpha, beta, true);
}

template <class T>
std::uint64_t DistributedSpmm<T>::rows_moved() {
  std::uint64_t moved[] = {parts_->product->rows_moved()};
  team_.sum(moved);
  return moved[0];
}

template <class T>
std::uint64_t DistributedSpmm<T>::rows_between() {
  std::uint64_t between[] = {parts_->product->rows_between()};
  team_.sum(between);
  return between[0];
}

template <class T>
struct DistributedSddmm<T>::Parts {
  Parts(team::Team& team, const Rows& rows, std::uint64_t k_)
      : k(k_),
        cuts(rows.cuts),
        stream(team.device()),
        copy_stream(team.device(), exec::Priority::high),
        arrived(team.device()),
        row_scale(to_device(stream, rows.row_scale)) {
    exec::ThreadPool& pool = team.device().pool();
    const Exchange exchange(team, rows);
    halo = RowList(stream, std::span<const Vertex>(exchange.halo()));
    if (team.needs_windows()) {
      pull.emplace(team, stream, rows.cuts, exchange, nullptr, PipelinedPlan(), false);
    } else {
      buffer = memory::Buffer<T>(team.device(), exec::bytes_of(halo.size(), k));
    }
    const std::uint64_t last = rows.first + rows.count;
    const HostBlock mine = own_block(rows, pool, true);
    const HostBlock others = choose_entries(
        rows, pool, {.with_from = true}, [&](EdgeOffset, Vertex column, Vertex& new_column) {
          if (column >= rows.first && column < last) return false;
          new_column = static_cast<Vertex>(exchange.place(column));
          return true;
        });
    own = DeviceBlock(stream, mine);
    remote = DeviceBlock(stream, others);
    from = {mine.from, others.from};
    own_out = memory::Buffer<float>(team.device(), own.entries());
    remote_out = memory::Buffer<float>(team.device(), remote.entries());
  }

  std::uint64_t k;
  std::vector<std::uint64_t> cuts;
  exec::Stream stream, copy_stream;
  exec::Event arrived;
  memory::Buffer<float> row_scale;
  RowList halo;
  std::optional<HaloPull> pull;  // Of ranks that do not reach each other's memory.
  memory::Buffer<T> buffer;
  DeviceBlock own, remote;
  memory::Buffer<float> own_out, remote_out;
  std::array<std::vector<EdgeOffset>, 2> from;  // Where own_out's and remote_out's products belong.
  std::uint64_t moved = 0;
};

template <class T>
DistributedSddmm<T>::DistributedSddmm(team::Team& team, const Rows& rows, std::uint64_t k)
    : team_(team) {
  require(k > 0, "a product needs k of at least 1; X and Y have no columns otherwise");
  check_values(team, rows);
  parts_ = std::make_unique<Parts>(team, rows, k);
}

template <class T>
DistributedSddmm<T>::~DistributedSddmm() = default;

template <class T>
void DistributedSddmm<T>::run(const T* x, const memory::GlobalArray<T>& y) {
  Parts& p = *parts_;
  check_shape(y, p.cuts, p.k);
  together(team_, [&] {
    const T* halo = p.buffer.data();
    if (p.pull) {
      halo = static_cast<const T*>(
          p.pull->begin(p.copy_stream, y.local_data(), p.k * sizeof(T), 0, true));
      p.pull->end(p.copy_stream);
    } else {
      p.halo.gather(p.copy_stream, y.view(), p.buffer.data(), DistributedOptions{}.copy_processors);
    }
    p.moved = p.halo.size();
    p.arrived.record(p.copy_stream);
    const MatrixOperands<T> scales{.row_scale = p.row_scale.data()};
    sddmm<T>(p.stream, scaled(p.own.view(), scales), p.own.plan(), x, p.k, y.local_data(), p.k, p.k,
             p.own_out.data());
    p.stream.wait(p.arrived);
    sddmm<T>(p.stream, scaled(p.remote.view(), scales), p.remote.plan(), x, p.k, halo, p.k, p.k,
             p.remote_out.data());
  });
}

template <class T>
std::vector<float> DistributedSddmm<T>::result() const {
  const Parts& p = *parts_;
  std::vector<float> result(p.from[0].size() + p.from[1].size());
  const memory::Buffer<float>* parts[] = {&p.own_out, &p.remote_out};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<float> values = parts[i]->to_host(p.stream);
    for (std::size_t e = 0; e < values.size(); ++e) result[p.from[i][e]] = values[e];
  }
  return result;
}

template <class T>
std::uint64_t DistributedSddmm<T>::rows_moved() {
  std::uint64_t moved[] = {parts_->moved};
  team_.sum(moved);
  return moved[0];
}

template class DistributedSpmm<float>;
template class DistributedSpmm<Half>;
template class DistributedSpmm<BFloat16>;
template class DistributedSddmm<float>;
template class DistributedSddmm<Half>;
template class DistributedSddmm<BFloat16>;

}  // namespace warren::sparse
