// SPDX-License-Identifier: Apache-2.0
// Products for which every remote row is copied once, in bulk, in parts: rows that name none are
// multiplied meanwhile, the others as theirs have come. A row is summed in one pass, without
// atomics. Ranks that do not reach each other's memory gather what the others need, and a
// collective moves it, all at once.
#include <algorithm>
#include <optional>

#include "warren/sparse/part_streams.hpp"

#include "sparse/halo_pull.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

template <class T>
class StagedProduct final : public ProductBase<T> {
 public:
  explicit StagedProduct(const Preparation& given)
      : ProductBase<T>(given), part_streams_(given.team.device()) {
    const Exchange exchange(this->team_, given.rows);
    const std::vector<Vertex>& halo = exchange.halo();
    const std::uint64_t bytes = exec::bytes_of(exec::bytes_of(halo.size(), given.k), sizeof(T));
    HostBlock block = choose_entries(
        given.rows, this->team_.device().pool(), {.compact = false},
        [&](EdgeOffset, Vertex column, Vertex& new_column) {
          const bool is_own = column >= this->first_ && column < this->first_ + this->count_;
          new_column = static_cast<Vertex>(is_own ? column - this->first_
                                                  : this->count_ + exchange.place(column));
          return true;
        });
    const auto parts =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kPartBytes, 1, kMostParts));
    const std::uint32_t asked = this->team_.needs_windows() ? 1 : given.options.chunks;
    block_ = PipelinedBlock(
        this->stream_, std::move(block),
        {.own = this->count_, .halo_rows = halo.size(), .parts = asked != 0 ? asked : parts});
    std::vector<Vertex> rows;
    for (const Vertex halo_row : block_.plan().order()) rows.push_back(halo[halo_row]);
    halo_ = RowList(this->stream_, rows, this->moves_.group());
    if (this->team_.needs_windows())
      pull_.emplace(this->team_, this->stream_, given.rows.cuts, exchange, nullptr, block_.plan(),
                    false);
    for (std::size_t i = 0; i < block_.plan().parts().size(); ++i)
      arrived_.emplace_back(this->team_.device());
  }

  void enqueue(const ProductRun<T>& run) override {
    this->moves_.restart();
    if (pull_) return enqueue_apart(run);
    const auto parts = block_.plan().parts();
    const std::uint64_t bytes =
        exec::bytes_of(exec::bytes_of(halo_.size(), run.own.x_stride), sizeof(T));
    if (bytes <= kFewBytes) {
      for (const PipelinedPlan::Part& part : parts) {
        gather(run.stream, run, part);
        multiply(run.stream, run, part);
      }
      this->end_use(run, run.stream);
      return;
    }
    this->copies_wait(run.stream);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      gather(this->copy_stream_, run, parts[i]);
      arrived_[i].record(this->copy_stream_);
    }
    this->end_use(run, this->copy_stream_);
    part_streams_.begin(run.stream);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const exec::Stream& stream = part_streams_.of(run.stream, i);
      if (parts[i].halo_rows > 0) stream.wait(arrived_[i]);
      multiply(stream, run, parts[i]);
    }
    part_streams_.end(run.stream);
    if (run.used != nullptr) this->wait_for_copies(run.stream);
  }

 private:
  /// The same by a collective.
  void enqueue_apart(const ProductRun<T>& run) {
    const auto parts = block_.plan().parts();
    this->copies_wait(run.stream);
    const auto* halo_rows = static_cast<const T*>(
        pull_->begin(this->copy_stream_, run.own.x, run.own.x_stride * sizeof(T), 0, true));
    this->moves_.count(halo_);
    part_streams_.begin(run.stream);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const exec::Stream& stream = part_streams_.of(run.stream, i);
      if (parts[i].halo_rows > 0) pull_->wait_for(stream, i);
      this->around(run, stream, [&] { block_.multiply(stream, parts[i], run.own, halo_rows); });
    }
    part_streams_.end(run.stream);
    this->wait_for_copies(run.stream);
    pull_->end(run.stream);
  }
  void take_buffers(std::uint64_t width) override {
    if (!pull_) this->take(buffer_, halo_.size(), width);
  }
  void gather(const exec::Stream& stream, const ProductRun<T>& run,
              const PipelinedPlan::Part& part) {
    this->moves_.gather(stream, halo_, run.b, buffer_.data(), part.first_halo_row,
                        part.first_halo_row + part.halo_rows, true);
  }
  void multiply(const exec::Stream& stream, const ProductRun<T>& run,
                const PipelinedPlan::Part& part) const {
    this->around(run, stream, [&] { block_.multiply(stream, part, run.own, buffer_.data()); });
  }

  /// Halo rows that are copied in less time than two streams take to wait for each other.
  static constexpr std::uint64_t kFewBytes = std::uint64_t{512} << 10;
  /// Of a part, and the most parts, where nothing else was asked for: starting a part's kernels
  /// takes about as long as these bytes do over NVLink.
  static constexpr std::uint64_t kPartBytes = std::uint64_t{4} << 20;
  static constexpr std::uint32_t kMostParts = 8;

  RowList halo_;
  std::optional<HaloPull> pull_;  // Of ranks that do not reach each other's memory.
  memory::Buffer<T> buffer_;
  PipelinedBlock block_;
  std::vector<exec::Event> arrived_;  // By part.
  PartStreams part_streams_;
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
