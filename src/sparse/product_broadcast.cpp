// SPDX-License-Identifier: Apache-2.0
// Products for which every rank gets all rows, one owner's after the other's: with one buffer, or
// with two, so that the next rows are on their way while the present ones are multiplied. Each rank
// begins with its successor's rows: no two ranks read the same owner's memory at the same time. On
// several hosts owners publish theirs first: each row goes to each host once.
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
    for (const int owner : owners_in_turn(this->team_.rank(), this->team_.size())) {
      const auto q = static_cast<std::size_t>(owner);
      const auto block = choose_entries(given.rows, this->team_.device().pool(), {},
                                        [&](EdgeOffset, Vertex column, Vertex& new_column) {
                                          new_column = static_cast<Vertex>(column - cuts[q]);
                                          return column >= cuts[q] && column < cuts[q + 1];
                                        });
      stages_.push_back({q, DeviceBlock(this->stream_, block)});
      most_ = std::max(most_, cuts[q + 1] - cuts[q]);
    }
  }

  void enqueue(const ProductRun<T>& given) override {
    this->moves_.restart();
    ProductRun<T> run = given;
    if (this->team_.spans_hosts()) publish(run);
    if (is_pipelined_) fetch(run, 0);
    this->multiply_own(run);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (!is_pipelined_) fetch(run, s);
      this->wait_for_copies(run.stream);
      if (is_pipelined_) fetch(run, s + 1);
      this->multiply_more(run, stages_[s].block, buffer(s));
    }
  }

 private:
  struct Stage {
    std::size_t owner;
    DeviceBlock block;
  };

  void take_buffers(std::uint64_t width) override {
    this->take(buffers_[0], most_, width);
    if (is_pipelined_) this->take(buffers_[1], most_, width);
    if (!this->team_.spans_hosts()) return;
    shown_ = {};
    this->take(published_, this->count_, width);
    shown_ = this->team_.share_windows({.data = published_.data(), .bytes = published_.bytes()});
  }
  /// The run's rows of B are where their owners, or mirrors of these, have them.
  void publish(ProductRun<T>& run) {
    const std::uint64_t bytes =
        exec::bytes_of(exec::bytes_of(this->count_, run.b.width), sizeof(T));
    this->team_.barrier();  // All have done with those of the last run.
    exec::copy(run.stream, published_.data(), run.own.x, bytes);
    run.stream.synchronize();
    const team::Shown mine{.to = -1, .data = published_.data(), .bytes = bytes};
    this->team_.publish({&mine, 1});
    for (std::size_t q = 0; q < shown_.of.size(); ++q)
      run.b.base[q] = static_cast<T*>(shown_.of[q]);
  }
  T* buffer(std::size_t stage) { return buffers_[is_pipelined_ ? stage % 2 : 0].data(); }
  /// The stage's rows, if there is one, when what its buffer held has been used.
  void fetch(const ProductRun<T>& run, std::size_t stage) {
    if (stage >= stages_.size()) return;
    const std::size_t q = stages_[stage].owner;
    const std::uint64_t rows = run.b.cuts[q + 1] - run.b.cuts[q];
    this->copies_wait(run.stream);
    this->moves_.copy(this->copy_stream_, static_cast<int>(q), buffer(stage), run.b.base[q], rows,
                      run.b.width);
    if (stage + 1 == stages_.size()) this->end_use(run, this->copy_stream_);
  }

  bool is_pipelined_;
  std::vector<Stage> stages_;
  std::uint64_t most_ = 0;  // Rows of a stage.
  memory::Buffer<T> buffers_[2];
  memory::Buffer<T> published_;  // On several hosts: own rows, for all.
  team::Windows shown_;
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
