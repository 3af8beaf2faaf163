// SPDX-License-Identifier: Apache-2.0
// Products for which every rank gets all rows, one owner's after the other's: with one buffer, or
// with two, so that the next rows are on their way while the present ones are multiplied. Each rank
// begins with its successor's rows: no two ranks read the same owner's memory at the same time.
#include <algorithm>

#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

template <class T>
class BroadcastProduct final : public ProductBase<T> {
 public:
  explicit BroadcastProduct(const Preparation& given)
      : ProductBase<T>(given),
        is_pipelined_(given.options.strategy == Strategy::broadcast_pipelined) {
    this->take_own(given.rows);
    const std::vector<std::uint64_t>& cuts = given.rows.cuts;
    std::uint64_t most = 0;
    for (const int owner : owners_in_turn(this->team_.rank(), this->team_.size())) {
      const auto q = static_cast<std::size_t>(owner);
      const auto block = choose_entries(given.rows, this->team_.device().pool(), {},
                                        [&](EdgeOffset, Vertex column, Vertex& new_column) {
                                          new_column = static_cast<Vertex>(column - cuts[q]);
                                          return column >= cuts[q] && column < cuts[q + 1];
                                        });
      stages_.push_back({q, DeviceBlock(this->stream_, block, this->row_scale_.data())});
      most = std::max(most, cuts[q + 1] - cuts[q]);
    }
    for (auto& buffer : buffers_) {
      if (&buffer == buffers_ || is_pipelined_)
        buffer = memory::Buffer<T>(this->team_.device(), exec::bytes_of(most, this->k_));
    }
  }

  void run(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) override {
    this->moves_.restart();
    if (is_pipelined_ && !stages_.empty()) fetch(b, 0);
    this->multiply_own(b, c, alpha, beta);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (!is_pipelined_) fetch(b, s);
      this->wait_for_copies();
      if (is_pipelined_ && s + 1 < stages_.size()) fetch(b, s + 1);
      this->multiply(stages_[s].block, buffer(s), c, alpha, 1.0f);
    }
  }

 private:
  struct Stage {
    std::size_t owner;
    DeviceBlock block;
  };

  T* buffer(std::size_t stage) { return buffers_[is_pipelined_ ? stage % 2 : 0].data(); }
  /// The stage's rows, when what its buffer held has been used.
  void fetch(const memory::GlobalArray<T>& b, std::size_t stage) {
    const memory::GlobalView<T>& view = b.view();
    const std::size_t q = stages_[stage].owner;
    const std::uint64_t rows = view.cuts[q + 1] - view.cuts[q];
    this->copies_wait();
    this->moves_.copy(this->copy_stream_, static_cast<int>(q), buffer(stage), view.base[q], rows,
                      this->k_);
  }

  bool is_pipelined_;
  std::vector<Stage> stages_;
  memory::Buffer<T> buffers_[2];
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_broadcast(const Preparation& given) {
  return std::make_unique<BroadcastProduct<T>>(given);
}
template std::unique_ptr<Product<float>> make_broadcast(const Preparation&);
template std::unique_ptr<Product<Half>> make_broadcast(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_broadcast(const Preparation&);

}  // namespace warren::sparse
