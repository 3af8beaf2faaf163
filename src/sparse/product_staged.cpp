// SPDX-License-Identifier: Apache-2.0
// Products for which every remote row is copied once, in bulk, while local rows are multiplied;
// then remote entries are multiplied row by row, without atomics, as the copies arrive.
#include <algorithm>

#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

template <class T>
class StagedProduct final : public ProductBase<T> {
 public:
  explicit StagedProduct(const Preparation& given) : ProductBase<T>(given) {
    this->take_own(given.rows);
    const Exchange exchange(this->team_, given.rows);
    halo_ = RowList(this->stream_, exchange.halo(), this->moves_.group());
    buffer_ = memory::Buffer<T>(this->team_.device(), exec::bytes_of(halo_.size(), this->k_));
    const std::uint64_t chunks = std::clamp<std::uint64_t>(
        given.options.chunks, 1, std::max<std::uint64_t>(1, halo_.size()));
    for (std::uint64_t i = 0; i < chunks; ++i) {
      Chunk chunk{.arrived = exec::Event(this->team_.device())};
      chunk.begin = halo_.size() * i / chunks;
      chunk.end = halo_.size() * (i + 1) / chunks;
      const auto block =
          choose_entries(given.rows, this->team_.device().pool(), {},
                         [&](EdgeOffset, Vertex column, Vertex& new_column) {
                           if (column >= this->first_ && column < this->first_ + this->count_)
                             return false;
                           new_column = static_cast<Vertex>(exchange.place(column));
                           return new_column >= chunk.begin && new_column < chunk.end;
                         });
      chunk.block = DeviceBlock(this->stream_, block, this->row_scale_.data());
      chunks_.push_back(std::move(chunk));
    }
  }

  void run(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) override {
    this->moves_.restart();
    const bool is_beside = buffer_.bytes() > kFewBytes;
    const exec::Stream& copies = is_beside ? this->copy_stream_ : this->stream_;
    if (is_beside) this->copies_wait();
    for (Chunk& chunk : chunks_) {
      this->moves_.gather(copies, halo_, b.view(), buffer_.data(), chunk.begin, chunk.end);
      if (is_beside) chunk.arrived.record(copies);
    }
    this->multiply_own(b, c, alpha, beta);
    for (const Chunk& chunk : chunks_) {
      if (is_beside) this->stream_.wait(chunk.arrived);
      this->multiply(chunk.block, buffer_.data(), c, alpha, 1.0f);
    }
  }

 private:
  /// A halo that is copied in less time than two streams take to wait for each other.
  static constexpr std::uint64_t kFewBytes = std::uint64_t{512} << 10;

  struct Chunk {
    std::uint64_t begin = 0, end = 0;  // Of the halo.
    DeviceBlock block = {};
    exec::Event arrived;
  };

  RowList halo_;
  memory::Buffer<T> buffer_;
  std::vector<Chunk> chunks_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_staged(const Preparation& given) {
  return std::make_unique<StagedProduct<T>>(given);
}
template std::unique_ptr<Product<float>> make_staged(const Preparation&);
template std::unique_ptr<Product<Half>> make_staged(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_staged(const Preparation&);

}  // namespace warren::sparse
