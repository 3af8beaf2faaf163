// SPDX-License-Identifier: Apache-2.0
// The columns of a rank's matrix, numbered own rows first; its parts, which are multiplied as their
// rows of other ranks come; and the stream on which these do.
#include "warren/sparse/distributed_matrix.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/sparse/blocks.hpp"
#include "warren/sparse/exchange.hpp"
#include "warren/sparse/halo_split.hpp"
#include "warren/sparse/part_streams.hpp"

#include "sparse/halo_pull.hpp"
#include "sparse/halo_push.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

/// Whether every rank's device can address every other's memory.
bool has_direct_paths(team::Team& team, void* own_memory) {
  const std::vector<void*> table = team.share(own_memory);
  const bool mine = std::find(table.begin(), table.end(), nullptr) == table.end();
  return team.all_reduce(mine ? 1 : 0, [](int a, int b) { return std::min(a, b); }) == 1;
}

/// In how many parts a halo comes, where that can be in several.
std::uint32_t parts_of(std::uint64_t halo) {
  constexpr std::uint64_t kFew = std::uint64_t{1} << 14;
  constexpr std::uint32_t kParts = 8;
  return halo > kFew ? kParts : 1;
}

/// Own columns first, then the halo's.
std::vector<Vertex> numbered_columns(team::Team& team, const Rows& rows, const Exchange& exchange) {
  constexpr std::uint64_t kColumnGrain = std::uint64_t{1} << 12;
  const std::uint64_t end_row = rows.first + rows.count;
  std::vector<Vertex> columns(rows.entries());
  team.device().pool().parallel_for(
      0, rows.entries(), kColumnGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t e = begin; e < end; ++e) {
          const Vertex column = rows.columns[e];
          columns[e] = static_cast<Vertex>(column >= rows.first && column < end_row
                                               ? column - rows.first
                                               : rows.count + exchange.place(column));
        }
      });
  return columns;
}

/// Whether it is the exchange of the matrix itself.
bool is_plain(const DistributedOptions& options) {
  return options.strategy == Strategy::staged && options.chunks == 0 &&
         options.copy_processors == DistributedOptions{}.copy_processors;
}

}  // namespace

/// The matrix part by part, and the rows that come for it; and other ways of products.
struct DistributedMatrix::Parts {
  explicit Parts(team::Team& team)
      : streams(team.device()),
        side(team.device(), exec::Priority::high),
        forked(team.device()),
        side_end(team.device()),
        barrier(team) {}
  template <class T>
  [[nodiscard]] std::unique_ptr<Product<T>>& product() {
    return std::get<std::unique_ptr<Product<T>>>(products);
  }

  PipelinedPlan plan;
  PartStreams streams;
  exec::Stream side;  // On which rows come beside a product.
  exec::Event forked, side_end;
  std::unique_ptr<HaloPull> pull;
  std::unique_ptr<HaloPush> push;  // Made by the first push.
  team::StreamBarrier barrier;     // Of the products below.
  std::tuple<std::unique_ptr<Product<float>>, std::unique_ptr<Product<Half>>,
             std::unique_ptr<Product<BFloat16>>>
      products;
};

MatrixSizes matrix_sizes(const exec::Device& device, std::span<const EdgeOffset> offsets,
                         std::optional<std::span<const std::uint32_t>> own, std::uint64_t halo,
                         int ranks) {
  MatrixSizes sizes;
  sizes.rows = offsets.size() - 1;
  sizes.entries = offsets[sizes.rows] - offsets[0];
  sizes.halo = halo;
  sizes.plan = plan_sizes(device, offsets, {.parts = ranks > 1 ? parts_of(halo) : 1});
  if (!own) return sizes;
  std::vector<EdgeOffset> own_offsets(offsets.size()), halo_offsets(offsets.size());
  for (std::uint64_t r = 0; r < sizes.rows; ++r) {
    const std::uint64_t of_own = (*own)[r];
    own_offsets[r + 1] = own_offsets[r] + of_own;
    halo_offsets[r + 1] = halo_offsets[r] + (offsets[r + 1] - offsets[r] - of_own);
  }
  sizes.split = {own_offsets.back(), plan_sizes(device, own_offsets),
                 plan_sizes(device, halo_offsets)};
  return sizes;
}

void DistributedMatrix::take(std::uint64_t entries, std::uint64_t halo) {
  const exec::Device& device = team_.device();
  halo_ = halo;
  offsets_ = memory::Buffer<EdgeOffset>(device, rows_ + 1);
  columns_ = memory::Buffer<Vertex>(device, entries);
  if (is_weighted_) values_ = memory::Buffer<float>(device, entries);
  vertices_ = memory::Buffer<Vertex>(device, rows_ + halo);
  view_.rows = rows_;
  view_.offsets = offsets_.data();
  view_.column_ids = columns_.data();
  view_.values = values_.data();
}

DistributedMatrix::DistributedMatrix(team::Team& team, const exec::Stream& stream, const Rows& rows,
                                     HaloBy by)
    : team_(team),
      cuts_(rows.cuts),
      rows_(rows.count),
      first_(rows.first),
      is_weighted_(rows.is_weighted) {
  check_values(team, rows);
  const Exchange exchange(team, rows);
  std::vector<Vertex> columns = numbered_columns(team, rows, exchange);
  host_offsets_.resize(rows_ + 1);
  for (std::uint64_t r = 0; r <= rows_; ++r) host_offsets_[r] = rows.offsets[r] - rows.offsets[0];
  halo_ids_ = exchange.halo();
  take(columns.size(), halo_ids_.size());
  offsets_.upload(stream, host_offsets_);
  if (team.size() > 1) {
    is_direct_ = by == HaloBy::automatic && has_direct_paths(team, offsets_.data());
    parts_ = std::make_unique<Parts>(team);
    parts_->plan = PipelinedPlan(stream, host_offsets_, columns,
                                 {.own = rows_,
                                  .halo_rows = halo_ids_.size(),
                                  .parts = is_direct_ ? parts_of(halo_ids_.size()) : 1});
    for (std::size_t i = 0; i < halo_ids_.size(); ++i)
      halo_ids_[i] = exchange.halo()[parts_->plan.order()[i]];
  } else {
    own_plan_ = SpmmPlan(stream, host_offsets_);
  }
  columns_.upload(stream, columns);
  // Entries keep their places, whatever numbers their columns get.
  if (is_weighted_) values_.upload(stream, rows.values.span());

  std::vector<Vertex> vertices(rows_);
  for (std::uint64_t r = 0; r < rows_; ++r) vertices[r] = static_cast<Vertex>(first_ + r);
  vertices.insert(vertices.end(), halo_ids_.begin(), halo_ids_.end());
  vertices_.upload(stream, vertices);
  stream.synchronize();
  if (is_shared())
    parts_->pull = std::make_unique<HaloPull>(team, stream, rows.cuts, exchange,
                                              vertices_.data() + rows_, parts_->plan, is_direct_);
}

DistributedMatrix::DistributedMatrix(team::Team& team, const exec::Stream& stream,
                                     const MatrixSizes& sizes)
    : team_(team),
      cuts_(static_cast<std::size_t>(team.size()) + 1, 0),
      rows_(sizes.rows),
      is_weighted_(sizes.is_weighted),
      dry_sizes_(sizes) {
  take(sizes.entries, sizes.halo);
  if (team.size() == 1) {
    own_plan_ = SpmmPlan(stream, sizes.plan);
    return;
  }
  is_direct_ = true;
  parts_ = std::make_unique<Parts>(team);
  parts_->plan = PipelinedPlan(stream, sizes.plan, sizes.halo);
  parts_->pull =
      std::make_unique<HaloPull>(team, cuts_, sizes.halo, vertices_.data() + rows_, parts_->plan);
}

DistributedMatrix::~DistributedMatrix() = default;

const SpmmPlan& DistributedMatrix::plan() const {
  return is_shared() ? parts_->plan.plan() : own_plan_;
}

const void* DistributedMatrix::pull(const exec::Stream& stream, const void* x,
                                    std::uint64_t row_bytes, std::size_t slot) const {
  if (!is_shared()) return nullptr;
  const void* pulled = parts_->pull->begin(stream, x, row_bytes, slot, false);
  parts_->pull->end(stream);
  return pulled;
}

const void* DistributedMatrix::begin_pull(const exec::Stream& stream, const void* x,
                                          std::uint64_t row_bytes) const {
  parts_->forked.record(stream);
  parts_->side.wait(parts_->forked);
  const void* pulled = parts_->pull->begin(parts_->side, x, row_bytes, 0, true);
  parts_->side_end.record(parts_->side);
  return pulled;
}

void DistributedMatrix::end_pull(const exec::Stream& stream) const {
  stream.wait(parts_->side_end);
  parts_->pull->end(stream);
}

void DistributedMatrix::push(const exec::Stream& stream, const float* halo, float* y,
                             std::uint64_t k) const {
  if (!is_shared()) return exec::fill_bytes(stream, y, 0, exec::bytes_of(rows_, k * sizeof(float)));
  if (parts_->push == nullptr)
    parts_->push = std::make_unique<HaloPush>(team_, stream, cuts_, halo_ids_);
  parts_->push->run(stream, halo, y, k);
}

Rows DistributedMatrix::rows_on_host(const exec::Stream& stream) const {
  Rows rows;
  rows.cuts = cuts_;
  rows.first = first_;
  rows.count = rows_;
  rows.offsets = memory::HostArray<EdgeOffset>(host_offsets_.size());
  std::copy(host_offsets_.begin(), host_offsets_.end(), rows.offsets.data());
  const std::vector<Vertex> columns = columns_.to_host(stream);
  rows.columns = memory::HostArray<Vertex>(columns.size());
  for (std::size_t e = 0; e < columns.size(); ++e)
    rows.columns[e] = columns[e] < rows_ ? static_cast<Vertex>(first_ + columns[e])
                                         : halo_ids_[columns[e] - rows_];
  rows.is_weighted = is_weighted_;
  const std::vector<float> values = values_.to_host(stream);
  rows.values = memory::HostArray<float>(values.size());
  std::copy(values.begin(), values.end(), rows.values.data());
  return rows;
}

template <class T>
void DistributedMatrix::set_strategy(const DistributedOptions& options) {
  // What the parameters of a way other than these count from: rows as wide as layers often are.
  constexpr std::uint64_t kUsualWidth = 64;
  if (!is_shared()) return;
  if (options.workgroup != 0) graph::check_workgroup(options.workgroup, team_.size());
  parts_->product<T>().reset();
  if (is_plain(options)) return;
  require(is_direct_, fmt::format("strategy {}: the ranks do not read each other's memory, so that "
                                  "rows come by a collective; leave the strategy out",
                                  name_of(options.strategy)));
  const exec::Stream stream(team_.device());
  const Rows rows = rows_on_host(stream);
  team_.with_peer_memory([&] {
    team_.barrier();
    parts_->product<T>() = make_product<T>({team_, rows, kUsualWidth, options});
  });
}

/// Each rank tells the others where its rows are, as kernels have them.
template <class T>
void DistributedMatrix::multiply_by(Product<T>& product, const exec::Stream& stream,
                                    const MatrixOperands<T>& operands,
                                    const AroundWork& around) const {
  product.reserve(operands.x_stride);
  memory::GlobalView<T> view;
  view.rank = team_.rank();
  view.ranks = team_.size();
  view.width = operands.x_stride;
  std::copy(cuts_.begin(), cuts_.end(), view.cuts);
  const std::vector<void*> bases = team_.pointers(operands.x);
  for (std::size_t q = 0; q < bases.size(); ++q) view.base[q] = static_cast<T*>(bases[q]);
  team::StreamBarrier& barrier = parts_->barrier;
  barrier.arrive(stream);
  barrier.wait(stream);
  product.enqueue({.stream = stream,
                   .own = operands,
                   .b = view,
                   .is_counted = false,
                   .used = &barrier,
                   .around = &around});
  barrier.wait(stream);
}

template <class T>
void DistributedMatrix::multiply(const exec::Stream& stream, const MatrixOperands<T>& operands,
                                 const AroundWork& around) const {
  const MatrixView view = scaled(view_, operands);
  const auto run = [&](const exec::Stream& on, const std::function<void()>& work) {
    if (around) return around(on, work);
    work();
  };
  SpmmOptions options{.alpha = operands.alpha, .beta = operands.beta};
  if (!is_shared()) {
    if (rows_ == 0) return;
    return run(stream, [&] {
      spmm(stream, view, plan(), RowTable<T>(operands.x, operands.x_stride), operands.y,
           operands.y_stride, operands.k, options);
    });
  }
  if (Product<T>* product = parts_->product<T>().get())
    return multiply_by(*product, stream, operands, around);
  const auto* pulled =
      static_cast<const T*>(begin_pull(stream, operands.x, operands.x_stride * sizeof(T)));
  const RowTable<T> table(operands.x, rows_, pulled, operands.x_stride);
  const auto parts = parts_->plan.parts();
  parts_->streams.begin(stream);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const exec::Stream& on = parts_->streams.of(stream, i);
    if (parts[i].halo_rows > 0) parts_->pull->wait_for(on, i);
    options.first_task = parts[i].first_task;
    options.tasks = parts[i].tasks;
    run(on,
        [&] { spmm(on, view, plan(), table, operands.y, operands.y_stride, operands.k, options); });
  }
  parts_->streams.end(stream);
  end_pull(stream);
}

const HaloSplit* DistributedMatrix::split(const exec::Stream& stream) const {
  if (split_ != nullptr || !is_shared()) return split_.get();
  split_ = dry_sizes_ ? std::make_shared<const HaloSplit>(stream, *dry_sizes_)
                      : std::make_shared<const HaloSplit>(stream, *this);
  return split_.get();
}

std::uint64_t DistributedMatrix::halo_bytes() const {
  if (!is_shared()) return 0;
  return parts_->pull->bytes() + (split_ == nullptr ? 0 : split_->bytes());
}

std::uint64_t DistributedMatrix::halo_row_bytes() const {
  return is_shared() ? parts_->pull->row_bytes() : 0;
}

template void DistributedMatrix::set_strategy<float>(const DistributedOptions&);
template void DistributedMatrix::set_strategy<Half>(const DistributedOptions&);
template void DistributedMatrix::set_strategy<BFloat16>(const DistributedOptions&);
template void DistributedMatrix::multiply(const exec::Stream&, const MatrixOperands<float>&,
                                          const AroundWork&) const;
template void DistributedMatrix::multiply(const exec::Stream&, const MatrixOperands<Half>&,
                                          const AroundWork&) const;
template void DistributedMatrix::multiply(const exec::Stream&, const MatrixOperands<BFloat16>&,
                                          const AroundWork&) const;

}  // namespace warren::sparse
