// SPDX-License-Identifier: Apache-2.0
// Products for which every remote row is copied once, in bulk, in parts: rows that name none are
// multiplied meanwhile, the others as theirs have come. A row is summed in one pass, without
// atomics.
#include <algorithm>

#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

template <class T>
class StagedProduct final : public ProductBase<T> {
 public:
  explicit StagedProduct(const Preparation& given) : ProductBase<T>(given) {
    const Exchange exchange(this->team_, given.rows);
    const std::vector<Vertex>& halo = exchange.halo();
    buffer_ = memory::Buffer<T>(this->team_.device(), exec::bytes_of(halo.size(), this->k_));
    is_beside_ = buffer_.bytes() > this->kFewBytes;
    HostBlock block = choose_entries(
        given.rows, this->team_.device().pool(), {.compact = false},
        [&](EdgeOffset, Vertex column, Vertex& new_column) {
          const bool is_own = column >= this->first_ && column < this->first_ + this->count_;
          new_column = static_cast<Vertex>(is_own ? column - this->first_
                                                  : this->count_ + exchange.place(column));
          return true;
        });
    block_ = PipelinedBlock(this->stream_, std::move(block),
                            {.own = this->count_,
                             .ghosts = halo.size(),
                             .parts = this->parts_of(buffer_.bytes(), given.options)},
                            this->row_scale_.data(), this->self_.data());
    std::vector<Vertex> rows;
    for (const Vertex ghost : block_.plan().order()) rows.push_back(halo[ghost]);
    halo_ = RowList(this->stream_, rows, this->moves_.group());
    for (std::size_t i = 0; i < block_.plan().parts().size(); ++i)
      arrived_.emplace_back(this->team_.device());
  }

  void run(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) override {
    this->moves_.restart();
    const auto parts = block_.plan().parts();
    if (is_beside_) this->copies_wait();
    this->gather_parts(is_beside_ ? this->copy_stream_ : this->stream_, parts, halo_, b.view(),
                       buffer_.data(), arrived_);
    if (is_beside_)
      return this->multiply_parts(block_, parts, arrived_, b, buffer_.data(), c, alpha, beta);
    for (const PipelinedPlan::Part& part : parts)
      block_.multiply(this->stream_, part, b.local_data(), buffer_.data(), c, this->k_, alpha,
                      beta);
  }

 private:
  bool is_beside_ = false;
  RowList halo_;
  memory::Buffer<T> buffer_;
  PipelinedBlock block_;
  std::vector<exec::Event> arrived_;  // By part.
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
