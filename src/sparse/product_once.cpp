// SPDX-License-Identifier: Apache-2.0
// CoLa's product: remote entries column by column, so that each remote row is read once and added
// to all results that it is part of. Columns with more entries than one group of lanes should walk
// are copied and multiplied row by row: cutting them would read them again for each piece.
#include <algorithm>

#include "sparse/once_kernels.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

constexpr std::uint64_t kLongColumn = 1024;

class OnceProduct final : public ProductBase<float> {
 public:
  explicit OnceProduct(const Preparation& given)
      : ProductBase<float>(given), cuts_(given.rows.cuts), counter_(given.team.device(), 1) {
    take_own(given.rows);
    const Rows& rows = given.rows;
    const Exchange exchange(team_, rows);
    const std::vector<Vertex>& halo = exchange.halo();
    std::vector<EdgeOffset> entries(halo.size() + 1, 0);
    const auto is_own = [&](Vertex column) { return column >= first_ && column < first_ + count_; };
    for (const Vertex column : rows.columns) {
      if (!is_own(column)) ++entries[exchange.place(column)];
    }
    // Places among the short and among the long columns.
    std::vector<Vertex> place(halo.size());
    std::vector<Vertex> short_rows;
    std::vector<Vertex> long_rows;
    std::vector<EdgeOffset> offsets{0};
    for (std::size_t i = 0; i < halo.size(); ++i) {
      auto& list = entries[i] > kLongColumn ? long_rows : short_rows;
      place[i] = static_cast<Vertex>(list.size());
      list.push_back(halo[i]);
      if (entries[i] <= kLongColumn) offsets.push_back(offsets.back() + entries[i]);
    }
    std::vector<Vertex> row_ids(offsets.back());
    std::vector<float> values(rows.is_weighted ? offsets.back() : 0);
    std::vector<EdgeOffset> next(offsets.begin(), offsets.end() - 1);
    for (std::uint64_t r = 0; r < rows.count; ++r) {
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        if (is_own(rows.columns[e])) continue;
        const std::uint64_t i = exchange.place(rows.columns[e]);
        if (entries[i] > kLongColumn) continue;
        const EdgeOffset to = next[place[i]]++;
        row_ids[to] = static_cast<Vertex>(r);
        if (rows.is_weighted) values[to] = rows.values[e];
      }
    }
    offsets_ = to_device(stream_, offsets);
    row_ids_ = to_device(stream_, row_ids);
    values_ = to_device(stream_, values);
    short_rows_ = to_device(stream_, short_rows);
    long_rows_ = RowList(stream_, std::span<const Vertex>(long_rows), moves_.group());
    far_reads_ = FarReads<float>(stream_, moves_, short_rows, k_);
    long_buffer_ = memory::Buffer<float>(team_.device(), exec::bytes_of(long_rows.size(), k_));
    const auto block = choose_entries(rows, team_.device().pool(), {},
                                      [&](EdgeOffset, Vertex column, Vertex& new_column) {
                                        if (is_own(column)) return false;
                                        const std::uint64_t i = exchange.place(column);
                                        new_column = place[i];
                                        return entries[i] > kLongColumn;
                                      });
    long_block_ = DeviceBlock(stream_, block, row_scale_.data());
  }

  void run(const memory::GlobalArray<float>& b, float* c, float alpha, float beta) override {
    moves_.restart();
    copies_wait();
    moves_.gather(copy_stream_, long_rows_, b.view(), long_buffer_.data());
    far_reads_.repeat(copy_stream_, b.view());
    exec::fill_bytes(stream_, counter_.data(), 0, sizeof(std::uint64_t));
    multiply_own(b, c, alpha, beta);
    detail::OnceJob job;
    job.offsets = offsets_.data();
    job.row_ids = row_ids_.data();
    job.values = values_.data();
    job.row_scale = row_scale_.data();
    job.rows = short_rows_.data();
    job.columns = short_rows_.size();
    const memory::GlobalView<float>& view = b.view();
    job.b.stride = k_;
    job.b.parts = view.ranks;
    for (int q = 0; q < view.ranks; ++q) {
      job.b.first[q] = cuts_[static_cast<std::size_t>(q)];
      job.b.origin[q] = reinterpret_cast<const float*>(
          reinterpret_cast<std::uintptr_t>(view.base[q]) - job.b.first[q] * k_ * sizeof(float));
    }
    job.c = c;
    job.k = k_;
    job.alpha = alpha;
    job.rows_moved = counter_.data();
    exec::with_backend(stream_.device(),
                       [&](auto backend) { detail::run_once<decltype(backend)>(stream_, job); });
    wait_for_copies();
    multiply(long_block_, long_buffer_.data(), c, alpha, 1.0f);
  }

  [[nodiscard]] std::uint64_t rows_moved() const override {
    return moves_.moved() + counter_.to_host(stream_)[0];
  }
  [[nodiscard]] std::uint64_t rows_between() const override {
    return moves_.between() + far_reads_.size();
  }

 private:
  std::vector<std::uint64_t> cuts_;
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> row_ids_, short_rows_;
  memory::Buffer<float> values_, long_buffer_;
  RowList long_rows_;
  FarReads<float> far_reads_;
  DeviceBlock long_block_;
  memory::Buffer<std::uint64_t> counter_;
};

}  // namespace

/// Atomics add float32 only.
template <>
std::unique_ptr<Product<float>> make_once(const Preparation& given) {
  if (given.options.deterministic) return make_staged<float>(given);
  return std::make_unique<OnceProduct>(given);
}
template <>
std::unique_ptr<Product<Half>> make_once(const Preparation& given) {
  return make_staged<Half>(given);
}
template <>
std::unique_ptr<Product<BFloat16>> make_once(const Preparation& given) {
  return make_staged<BFloat16>(given);
}

}  // namespace warren::sparse
