// SPDX-License-Identifier: Apache-2.0
// A batch of bags is a sparse matrix: its product with the table is the lookup.
#include "warren/sparse/lookup.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/lookup_job.hpp"
#include "sparse/row_table.hpp"

namespace warren::sparse {
std::span<const EdgeOffset> checked_bags(std::span<const EdgeOffset> offsets) {
  require(
      !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()),
      "a lookup's offsets should ascend from 0, one more than there are bags");
  return offsets;
}

BagLookup::BagLookup(const exec::Stream& stream, std::span<const EdgeOffset> offsets)
    : offsets_(stream.device(), offsets.size()), plan_(stream, checked_bags(offsets)) {
  offsets_.upload(stream, offsets);
  stream.synchronize();
}

template <class T>
void BagLookup::run(const exec::Stream& stream, const memory::GlobalView<T>& table,
                    const Vertex* indices, T* out, std::uint64_t* rows_moved,
                    const BagScales& scales) const {
  MatrixView bags;
  bags.rows = offsets_.size() - 1;
  bags.offsets = offsets_.data();
  bags.column_ids = indices;
  bags.values = scales.weights;
  bags.row_scale = scales.bags;
  spmm(stream, bags, plan_, table_of(table), out, table.width, table.width,
       {.rows_moved = rows_moved});
}

template void BagLookup::run(const exec::Stream&, const memory::GlobalView<float>&, const Vertex*,
                             float*, std::uint64_t*, const BagScales&) const;
template void BagLookup::run(const exec::Stream&, const memory::GlobalView<Half>&, const Vertex*,
                             Half*, std::uint64_t*, const BagScales&) const;
template void BagLookup::run(const exec::Stream&, const memory::GlobalView<BFloat16>&,
                             const Vertex*, BFloat16*, std::uint64_t*, const BagScales&) const;

namespace {

template <class T>
class PullLookup final : public TeamLookup<T> {
 public:
  PullLookup(team::Team& team, const exec::Stream& stream, std::span<const EdgeOffset> offsets,
             std::uint64_t k)
      : team_(team), stream_(stream), k_(k), bags_(stream, offsets) {}

  void run(const memory::GlobalView<T>& table, const Vertex* indices, T* out,
           std::uint64_t* rows_moved) override {
    check_lookup(team_, table, k_, out);
    bags_.run(stream_, table, indices, out, rows_moved);
    stream_.synchronize();
  }

 private:
  team::Team& team_;
  exec::Stream stream_;
  std::uint64_t k_;
  BagLookup bags_;
};

}  // namespace

const std::vector<LookupStrategy>& all_lookup_strategies() {
  static const std::vector<LookupStrategy> all = {LookupStrategy::pull, LookupStrategy::owner_sum,
                                                  LookupStrategy::messages};
  return all;
}

std::string name_of(LookupStrategy strategy) {
  switch (strategy) {
    case LookupStrategy::pull:
      return "pull";
    case LookupStrategy::owner_sum:
      return "owner-sum";
    case LookupStrategy::messages:
      break;
  }
  return "messages";
}

LookupStrategy parse_lookup_strategy(const std::string& name) {
  for (const LookupStrategy strategy : all_lookup_strategies()) {
    if (name_of(strategy) == name) return strategy;
  }
  throw UsageError(fmt::format("\"{}\" is no way to look up rows", name));
}

LookupChoice choose_lookup(int ranks, double mean_bag, std::uint64_t element_bytes,
                           bool is_all_near) {
  constexpr double kWorthWaiting = 2.0;
  if (ranks == 1) return {LookupStrategy::pull, "one rank has all rows"};
  if (is_all_near) return {LookupStrategy::pull, "all rows are equally near to every rank"};
  const double pulled = mean_bag * (1.0 - 1.0 / ranks) * static_cast<double>(element_bytes);
  // An owner without a row of the bag sends nothing.
  const double missing = std::pow(1.0 - 1.0 / ranks, mean_bag);
  const double summed = (ranks - 1) * (1.0 - missing) * static_cast<double>(sizeof(float));
  const bool is_worth_it = pulled > kWorthWaiting * summed;
  return {is_worth_it ? LookupStrategy::owner_sum : LookupStrategy::pull,
          fmt::format("for a bag and column, {:.3g} bytes of rows would cross and {:.3g} of the "
                      "owners' sums; those pay where they are less than half",
                      pulled, summed)};
}

template <class T>
std::unique_ptr<TeamLookup<T>> make_lookup(team::Team& team, const exec::Stream& stream,
                                           std::span<const EdgeOffset> offsets, std::uint64_t k,
                                           LookupStrategy strategy) {
  (void)checked_bags(offsets);
  require(k > 0, "a lookup's rows need at least one element");
  if (strategy == LookupStrategy::owner_sum)
    return make_owner_sum_lookup<T>(team, stream, offsets, k);
  if (strategy == LookupStrategy::messages) return make_message_lookup<T>(team, stream, offsets, k);
  return std::make_unique<PullLookup<T>>(team, stream, offsets, k);
}
template std::unique_ptr<TeamLookup<float>> make_lookup(team::Team&, const exec::Stream&,
                                                        std::span<const EdgeOffset>, std::uint64_t,
                                                        LookupStrategy);
template std::unique_ptr<TeamLookup<Half>> make_lookup(team::Team&, const exec::Stream&,
                                                       std::span<const EdgeOffset>, std::uint64_t,
                                                       LookupStrategy);
template std::unique_ptr<TeamLookup<BFloat16>> make_lookup(team::Team&, const exec::Stream&,
                                                           std::span<const EdgeOffset>,
                                                           std::uint64_t, LookupStrategy);

}  // namespace warren::sparse
