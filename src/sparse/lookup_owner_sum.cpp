// SPDX-License-Identifier: Apache-2.0
// A lookup in which every owner adds up its rows of each bag before anything crosses: bags' indices
// are put in the order of their owners; owners read their part of each bag's list where it lies,
// and their rows in their own memory; the bag's rank reads at most one row of each owner.
#include "sparse/lookup_job.hpp"
#include "sparse/lookup_kernels.hpp"

namespace warren::sparse {
namespace {

std::vector<std::uint64_t> cuts_of(team::Team& team, std::uint64_t mine) {
  std::vector<std::uint64_t> cuts{0};
  for (const std::uint64_t count : team.all_gather(mine)) cuts.push_back(cuts.back() + count);
  return cuts;
}

template <class T>
class OwnerSumLookup final : public TeamLookup<T> {
 public:
  OwnerSumLookup(team::Team& team, const exec::Stream& stream, std::span<const EdgeOffset> offsets,
                 std::uint64_t k)
      : team_(team),
        stream_(stream),
        k_(k),
        stride_((k + 7) / 8 * 8),
        bags_(cuts_of(team, offsets.size() - 1)),
        offsets_(stream.device(), offsets.size()),
        sorted_(team, cuts_of(team, offsets.back()), 1, memory::Placement::device),
        starts_(team, cuts_of(team, (offsets.size() - 1) * ranks() + 1), 1,
                memory::Placement::device),
        sums_(team, cuts_of(team, bags_.back()), stride_, memory::Placement::device),
        steps_(team, cuts_of(team, ranks()), 1, memory::Placement::device) {
    offsets_.upload(stream, offsets);
    exec::fill_bytes(stream, starts_.buffer().data(), 0, starts_.buffer().bytes());
    exec::fill_bytes(stream, steps_.buffer().data(), 0, steps_.buffer().bytes());
    stream.synchronize();
    team.barrier();
  }

  void run(const memory::GlobalView<T>& table, const Vertex* indices, T* out,
           std::uint64_t* rows_moved) override {
    check_lookup(team_, table, k_, out);
    check_is_spread(table);
    sort(table, indices, rows_moved);
    // Every rank's lists are there. From here to the end nothing takes memory, which would wait for
    // devices that wait for this rank.
    stream_.synchronize();
    team_.barrier();
    add_own(table);
    wait_for_sums();
    detail::AddSums<T> add;
    add.sums = sums_.view();
    add.starts = starts_.buffer().data();
    add.first_bag = first_bag();
    add.k = k_;
    add.stride = stride_;
    add.out = out;
    with_backend(
        [&](auto backend) { detail::run_columns<decltype(backend)>(stream_, bags(), add); });
    stream_.synchronize();
    team_.check();
  }

 private:
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(team_.size()); }
  [[nodiscard]] std::uint64_t bags() const { return offsets_.size() - 1; }
  [[nodiscard]] std::uint64_t first_bag() const {
    return bags_[static_cast<std::size_t>(team_.rank())];
  }
  template <class F>
  void with_backend(F&& f) const {
    exec::with_backend(stream_.device(), f);
  }

  void sort(const memory::GlobalView<T>& table, const Vertex* indices, std::uint64_t* rows_moved) {
    const detail::SortBags sort =
        detail::sorting(table, offsets_, indices, sorted_.buffer().data(), starts_.buffer().data());
    with_backend([&](auto backend) { detail::sort_bags<decltype(backend)>(stream_, sort); });
    if (rows_moved == nullptr) return;
    const detail::CountSums count{sort.starts, bags(), team_.rank(), team_.size(), rows_moved};
    with_backend([&](auto backend) { detail::count_sums<decltype(backend)>(stream_, count); });
  }

  void add_own(const memory::GlobalView<T>& table) {
    detail::OwnerSums<T> own;
    own.sorted = sorted_.view();
    own.starts = starts_.view();
    std::copy(bags_.begin(), bags_.end(), own.bags);
    own.rows = table.base[table.rank];
    own.first = table.first();
    own.k = k_;
    own.sums = sums_.buffer().data();
    own.stride = stride_;
    with_backend(
        [&](auto backend) { detail::run_columns<decltype(backend)>(stream_, bags_.back(), own); });
  }

  /// The ranks' streams wait for each other where they can. Not so in the first run, which also
  /// brings all kernels to the device: that, too, may wait for all devices.
  void wait_for_sums() {
    const bool is_first = step_ == 0;
    if (!team_.device().is_cuda() || !team_.kernels_may_wait()) {
      stream_.synchronize();
      return team_.barrier();
    }
    detail::StepBarrier barrier{steps_.view(), team_.abort_flag(), is_first ? 0 : step_};
    ++step_;
    with_backend([&](auto backend) { detail::step_barrier<decltype(backend)>(stream_, barrier); });
    if (!is_first) return;
    stream_.synchronize();
    team_.barrier();
  }

  team::Team& team_;
  exec::Stream stream_;
  std::uint64_t k_, stride_;
  std::vector<std::uint64_t> bags_;  // Rank p's are [bags_[p], bags_[p + 1]) of the team's.
  memory::Buffer<EdgeOffset> offsets_;
  memory::GlobalArray<Vertex> sorted_;
  memory::GlobalArray<EdgeOffset> starts_;
  memory::GlobalArray<float> sums_;  // Of this rank's rows, by bag of the team.
  memory::GlobalArray<std::uint64_t> steps_;
  std::uint64_t step_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<TeamLookup<T>> make_owner_sum_lookup(team::Team& team, const exec::Stream& stream,
                                                     std::span<const EdgeOffset> offsets,
                                                     std::uint64_t k) {
  return std::make_unique<OwnerSumLookup<T>>(team, stream, offsets, k);
}
template std::unique_ptr<TeamLookup<float>> make_owner_sum_lookup(team::Team&, const exec::Stream&,
                                                                  std::span<const EdgeOffset>,
                                                                  std::uint64_t);
template std::unique_ptr<TeamLookup<Half>> make_owner_sum_lookup(team::Team&, const exec::Stream&,
                                                                 std::span<const EdgeOffset>,
                                                                 std::uint64_t);
template std::unique_ptr<TeamLookup<BFloat16>> make_owner_sum_lookup(team::Team&,
                                                                     const exec::Stream&,
                                                                     std::span<const EdgeOffset>,
                                                                     std::uint64_t);

}  // namespace warren::sparse
