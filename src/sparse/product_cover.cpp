// SPDX-License-Identifier: Apache-2.0
// SHIRO's product (arXiv 2512.20178): for each block between two ranks a smallest vertex cover says
// which rows of B go to the rank that has the result, and which rows of the result are summed where
// B's rows are and go as partial sums. The latter enter the last product as further rows of B.
#include <algorithm>

#include "warren/core/interrupt_point.hpp"

#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

/// An entry that another rank multiplies.
struct SentEntry {
  Vertex row = 0;     ///< Of its partial rows.
  Vertex column = 0;  ///< Of its rows of B.
  float value = 1.0f;
};

template <class T>
class CoverProduct final : public ProductBase<T> {
 public:
  explicit CoverProduct(const Preparation& given) : ProductBase<T>(given), arrived_(given.team) {
    this->take_own(given.rows);
    const Rows& rows = given.rows;
    const auto ranks = static_cast<std::size_t>(this->team_.size());
    sent_.resize(ranks);
    partial_rows_.resize(ranks);
    place_.assign(rows.cuts.back(), kNoVertex);
    const auto& covers = rows.covers(this->team_.device().pool());
    for (std::size_t q = 0; q < ranks; ++q) {
      if (static_cast<int>(q) != this->team_.rank()) choose(rows, q, covers[q]);
    }
    halo_ = RowList(this->stream_, std::span<const Vertex>(halo_rows_), this->moves_.group());
    prepare_partials(rows);
    prepare_remote(rows);
    std::vector<Vertex>().swap(place_);
    sent_.clear();
  }

  void enqueue(const ProductRun<T>& run) override {
    this->moves_.restart();
    this->copies_wait(run.stream);
    this->moves_.gather(this->copy_stream_, halo_, run.b, buffer_.data());
    // What others wait for comes first; it crosses while own columns are multiplied.
    MatrixOperands<T> partial = run.own;
    partial.y = partials_.local_data();
    partial.y_stride = run.own.x_stride;
    partial.alpha = 1.0f;
    partial.beta = 0.0f;
    partial.row_scale = partial.self = nullptr;
    this->multiply(run, partial_block_, partial);
    arrived_.arrive(run.stream);
    this->copies_wait(run.stream);
    arrived_.wait(this->copy_stream_);
    const std::uint64_t width = run.own.x_stride;
    T* to = buffer_.data() + halo_.size() * width;
    for (const Piece& piece : pieces_) {
      const T* from = partials_.view().base[piece.owner] + piece.begin * width;
      this->moves_.copy(this->copy_stream_, static_cast<int>(piece.owner), to, from, piece.rows,
                        width);
      to += piece.rows * width;
    }
    this->end_use(run, this->copy_stream_);
    this->multiply_own(run);
    this->wait_for_copies(run.stream);
    this->multiply_more(run, remote_block_, buffer_.data());
  }

 private:
  void take_buffers(std::uint64_t width) override {
    this->take(buffer_, buffer_rows_, width);
    partials_ = {};
    partials_ =
        memory::GlobalArray<T>(this->team_, partial_cuts_, width, memory::Placement::device);
  }

  /// Partial rows of this rank's result, as they lie with rank `owner`.
  struct Piece {
    std::size_t owner = 0;
    std::uint64_t begin = 0, rows = 0;
  };

  /// Takes what the block of rank q's columns needs by its cover.
  void choose(const Rows& rows, std::size_t q, const graph::VertexCover& cover) {
    const CoverBlock block = cover_block(rows, static_cast<int>(q));
    for (Vertex c = 0; c < block.block.column_count; ++c) {
      if (cover.column_chosen[c] == 0) continue;
      place_[rows.cuts[q] + c] = static_cast<Vertex>(halo_rows_.size());
      halo_rows_.push_back(static_cast<Vertex>(rows.cuts[q] + c));
    }
    for (const Vertex r : block.row_ids) {
      bool is_partial = false;
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        const Vertex column = rows.columns[e];
        if (column < rows.cuts[q] || column >= rows.cuts[q + 1]) continue;
        if (place_[column] != kNoVertex) continue;
        is_partial = true;
        sent_[q].push_back({static_cast<Vertex>(partial_rows_[q].size()),
                            static_cast<Vertex>(column - rows.cuts[q]), rows.value(e)});
      }
      if (is_partial) partial_rows_[q].push_back(r);
    }
  }

  /// The block that this rank multiplies for others, theirs one after the other.
  void prepare_partials(const Rows& rows) {
    const auto received = this->team_.all_to_all_v(sent_);
    HostBlock block;
    std::vector<std::uint64_t> first{0};
    for (const auto& part : received) {
      const std::uint64_t base = block.offsets.size() - 1;
      for (const SentEntry& entry : part) {
        while (block.offsets.size() - 1 <= base + entry.row)
          block.offsets.push_back(block.columns.size());
        block.columns.push_back(entry.column);
        if (rows.is_weighted) block.values.push_back(entry.value);
        block.offsets.back() = block.columns.size();
      }
      first.push_back(block.offsets.size() - 1);
    }
    partial_block_ = DeviceBlock(this->stream_, block);
    for (const std::uint64_t count : this->team_.all_gather(first.back()))
      partial_cuts_.push_back(partial_cuts_.back() + count);
    // Where each rank's partial rows begin at every other.
    const auto begins = this->team_.all_gather_v(std::span<const std::uint64_t>(first));
    const auto me = static_cast<std::size_t>(this->team_.rank());
    for (std::size_t q = 0; q < begins.size(); ++q) {
      if (!partial_rows_[q].empty()) pieces_.push_back({q, begins[q][me], partial_rows_[q].size()});
    }
  }

  /// Entries in the rows of B that come here, and one of value 1 for each partial row.
  void prepare_remote(const Rows& rows) {
    std::vector<std::vector<Vertex>> partials_of(rows.count);
    Vertex place = static_cast<Vertex>(halo_rows_.size());
    for (const auto& list : partial_rows_) {
      for (const Vertex r : list) partials_of[r].push_back(place++);
    }
    buffer_rows_ = place;
    HostBlock block;
    SeldomInterruptPoint point;
    for (std::uint64_t r = 0; r < rows.count; ++r) {
      point();
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        const Vertex column = rows.columns[e];
        if (place_[column] == kNoVertex) continue;
        block.columns.push_back(place_[column]);
        if (rows.is_weighted) block.values.push_back(rows.values[e]);
      }
      for (const Vertex partial : partials_of[r]) {
        block.columns.push_back(partial);
        if (rows.is_weighted) block.values.push_back(1.0f);
      }
      if (block.columns.size() == block.offsets.back()) continue;
      block.offsets.push_back(block.columns.size());
      block.row_ids.push_back(static_cast<Vertex>(r));
    }
    remote_block_ = DeviceBlock(this->stream_, block);
  }

  // While it is prepared: by owner, what it multiplies; the rows that it does so for; by vertex,
  // its place among the rows of B that come here.
  std::vector<std::vector<SentEntry>> sent_;
  std::vector<std::vector<Vertex>> partial_rows_;
  std::vector<Vertex> place_, halo_rows_;

  RowList halo_;
  DeviceBlock partial_block_, remote_block_;
  std::vector<std::uint64_t> partial_cuts_{0};
  memory::GlobalArray<T> partials_;
  team::StreamBarrier arrived_;  // Of partial rows.
  std::vector<Piece> pieces_;
  std::uint64_t buffer_rows_ = 0;
  memory::Buffer<T> buffer_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_cover(const Preparation& given) {
  return std::make_unique<CoverProduct<T>>(given);
}
template std::unique_ptr<Product<float>> make_cover(const Preparation&);
template std::unique_ptr<Product<Half>> make_cover(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_cover(const Preparation&);

}  // namespace warren::sparse
