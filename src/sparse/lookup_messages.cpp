// SPDX-License-Identifier: Apache-2.0
// A lookup by messages: row numbers to their owners, whole rows back, over the team's collectives;
// then a sum over what has come. What a lookup is where ranks cannot read each other's memory, for
// comparison.
#include "sparse/lookup_job.hpp"
#include "sparse/lookup_kernels.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

std::vector<std::uint64_t> times(std::vector<std::uint64_t> offsets, std::uint64_t bytes) {
  for (std::uint64_t& offset : offsets) offset *= bytes;
  return offsets;
}

template <class T>
class MessageLookup final : public TeamLookup<T> {
 public:
  MessageLookup(team::Team& team, const exec::Stream& stream, std::span<const EdgeOffset> offsets,
                std::uint64_t k)
      : team_(team),
        stream_(stream),
        k_(k),
        count_(offsets.back()),
        offsets_(to_device(stream, std::vector<EdgeOffset>(offsets.begin(), offsets.end()))),
        plan_(stream, offsets),
        sorted_(stream.device(), count_),
        sent_(stream.device(), count_),
        places_(stream.device(), count_),
        starts_(stream.device(), bags() * ranks() + 1),
        counts_(stream.device(), cells()),
        to_(stream.device(), cells()),
        firsts_(stream.device(), ranks() + 1),
        received_(stream.device(), exec::bytes_of(count_, k)) {
    require(count_ <= kMaxVertices,
            fmt::format("messages: {} indices in a batch; 2^32 - 1 can be", count_));
  }

  void run(const memory::GlobalView<T>& table, const Vertex* indices, T* out,
           std::uint64_t* rows_moved) override {
    check_lookup(team_, table, k_, out);
    check_is_spread(table);
    const std::vector<std::uint64_t> sent = deal(table, indices);
    const auto rank = static_cast<std::size_t>(team_.rank());
    std::vector<std::uint64_t> asked{0};
    for (const auto& other : team_.all_gather_v(std::span<const std::uint64_t>(sent)))
      asked.push_back(asked.back() + other[rank + 1] - other[rank]);
    grow(asked_, asked.back());
    grow(rows_, asked.back() * k_);
    team_.all_to_all_v(stream_, sent_.data(), times(sent, sizeof(Vertex)), asked_.data(),
                       times(asked, sizeof(Vertex)));
    memory::gather_vertices(stream_, movable(table), asked_.data(), asked.back(),
                            movable(rows_.data()));
    team_.all_to_all_v(stream_, rows_.data(), times(asked, k_ * sizeof(T)), received_.data(),
                       times(sent, k_ * sizeof(T)));
    MatrixView bags_view;
    bags_view.rows = bags();
    bags_view.offsets = offsets_.data();
    bags_view.column_ids = places_.data();
    spmm(stream_, bags_view, plan_, RowTable<T>(received_.data(), k_), out, k_, k_);
    stream_.synchronize();
    if (rows_moved != nullptr) add(rows_moved, count_ - (sent[rank + 1] - sent[rank]));
  }

 private:
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(team_.size()); }
  [[nodiscard]] std::uint64_t bags() const { return offsets_.size() - 1; }
  [[nodiscard]] std::uint64_t cells() const {
    return detail::DealByOwner{.bags = bags()}.chunks() * ranks();
  }

  /// The indices by owner in `sent_`; where each owner's begin.
  std::vector<std::uint64_t> deal(const memory::GlobalView<T>& table, const Vertex* indices) {
    std::vector<std::uint64_t> begin(ranks() + 1, 0);
    if (bags() == 0) return begin;
    const detail::SortBags sort =
        detail::sorting(table, offsets_, indices, sorted_.data(), starts_.data());
    detail::DealByOwner deal;
    deal.starts = starts_.data();
    deal.sorted = sorted_.data();
    deal.bags = bags();
    deal.ranks = ranks();
    deal.counts = counts_.data();
    const detail::SumCounts sums{counts_.data(), deal.chunks(), ranks(), to_.data(),
                                 firsts_.data()};
    detail::DealByOwner place = deal;
    place.to = to_.data();
    place.sent = sent_.data();
    place.places = places_.data();
    exec::with_backend(stream_.device(), [&](auto backend) {
      detail::sort_bags<decltype(backend)>(stream_, sort);
      detail::deal_by_owner<decltype(backend)>(stream_, deal);
      detail::sum_counts<decltype(backend)>(stream_, sums);
      detail::deal_by_owner<decltype(backend)>(stream_, place);
    });
    const std::vector<std::uint32_t> firsts = firsts_.to_host(stream_);
    begin.assign(firsts.begin(), firsts.end());
    return begin;
  }

  void add(std::uint64_t* counter, std::uint64_t value) const {
    std::uint64_t sum = 0;
    exec::copy(stream_, &sum, counter, sizeof sum);
    stream_.synchronize();
    sum += value;
    exec::copy(stream_, counter, &sum, sizeof sum);
    stream_.synchronize();
  }

  template <class U>
  void grow(memory::Buffer<U>& buffer, std::uint64_t size) const {
    if (buffer.size() >= size) return;
    buffer.reset();
    buffer = memory::Buffer<U>(stream_.device(), size);
  }

  team::Team& team_;
  exec::Stream stream_;
  std::uint64_t k_, count_;
  memory::Buffer<EdgeOffset> offsets_;
  SpmmPlan plan_;
  memory::Buffer<Vertex> sorted_, sent_, places_, asked_;
  memory::Buffer<EdgeOffset> starts_;
  memory::Buffer<std::uint32_t> counts_, to_, firsts_;
  memory::Buffer<T> received_, rows_;
};

}  // namespace

template <class T>
std::unique_ptr<TeamLookup<T>> make_message_lookup(team::Team& team, const exec::Stream& stream,
                                                   std::span<const EdgeOffset> offsets,
                                                   std::uint64_t k) {
  return std::make_unique<MessageLookup<T>>(team, stream, offsets, k);
}
template std::unique_ptr<TeamLookup<float>> make_message_lookup(team::Team&, const exec::Stream&,
                                                                std::span<const EdgeOffset>,
                                                                std::uint64_t);
template std::unique_ptr<TeamLookup<Half>> make_message_lookup(team::Team&, const exec::Stream&,
                                                               std::span<const EdgeOffset>,
                                                               std::uint64_t);
template std::unique_ptr<TeamLookup<BFloat16>> make_message_lookup(team::Team&, const exec::Stream&,
                                                                   std::span<const EdgeOffset>,
                                                                   std::uint64_t);

}  // namespace warren::sparse
