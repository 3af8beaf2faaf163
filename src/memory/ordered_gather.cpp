// SPDX-License-Identifier: Apache-2.0
#include "warren/memory/ordered_gather.hpp"

#include <algorithm>
#include <bit>

#include "warren/exec/algorithms.hpp"

#include "memory/ordered_gather_kernels.hpp"
#include "memory/row_move.hpp"

namespace warren::memory {
namespace {

using detail::OrderedMove;

constexpr std::uint64_t kNarrow = std::uint64_t{512} << 20;  ///< Read at the link's rate anyhow.
constexpr std::uint64_t kLongRow = 1200;
constexpr std::uint64_t kLeastRows = std::uint64_t{1} << 14;  ///< Win several times the sort.
constexpr std::uint64_t kMostSorted = std::uint64_t{1} << 32;

/// Rows of one window need no order. At most 255 windows, so that the sort passes once over the
/// batch, but none wider than an eighth of what any order reads at the link's rate.
void choose_windows(OrderedMove& job) {
  constexpr std::uint32_t kWidest = std::bit_width(kNarrow / 8) - 1;
  constexpr std::uint64_t kOnePass = 255;
  const std::uint64_t far_rows = job.move.table.rows - job.far_from;
  const std::uint64_t last = far_rows == 0 ? 0 : (far_rows - 1) * job.move.table.row_bytes;
  while ((last >> job.window_shift) >= kOnePass && job.window_shift < kWidest) ++job.window_shift;
  job.near_key = static_cast<std::uint32_t>(last >> job.window_shift) + 1;
}

detail::RowMove describe(const detail::NearAndFar& table, const detail::GatherJob& job) {
  detail::RowMove move;
  move.indices = job.indices;
  move.vertices = job.vertices;
  move.count = job.count;
  move.count_at = job.count_at;
  move.local = static_cast<unsigned char*>(job.out);
  move.out_of_range = job.out_of_range;
  move.processors = job.processors;
  if (table.near != nullptr) detail::append_rows(*table.near, move.table);
  if (table.far != nullptr) detail::append_rows(*table.far, move.table);
  detail::choose_unit(move);
  return move;
}

}  // namespace

bool sorting_pays(std::uint64_t table_bytes, std::uint64_t row_bytes, std::uint64_t count,
                  std::uint64_t bytes_in_flight) {
  if (table_bytes <= kNarrow || row_bytes >= kLongRow || count < kLeastRows) return false;
  const double rows_in_flight =
      static_cast<double>(bytes_in_flight) / static_cast<double>(row_bytes);
  const double span =
      rows_in_flight * static_cast<double>(table_bytes) / static_cast<double>(count);
  return span <= static_cast<double>(kNarrow);
}

OrderedGather::OrderedGather(const OrderOptions& options) : options_(options) {
  require(options.bytes_in_flight > 0, "a gather needs some bytes in flight");
}

bool OrderedGather::sorts(const exec::Device& device, std::uint64_t far_rows,
                          std::uint64_t row_bytes, std::uint64_t count) const {
  if (options_.order != RowOrder::automatic) return options_.order == RowOrder::sorted;
  return device.is_cuda() && count < kMostSorted &&
         sorting_pays(far_rows * row_bytes, row_bytes, count, options_.bytes_in_flight);
}

void OrderedGather::run(const exec::Stream& stream, const detail::NearAndFar& table,
                        const detail::GatherJob& job) {
  if (job.count == 0) return;
  OrderedMove ordered;
  ordered.move = describe(table, job);
  const std::uint64_t far_rows = table.far == nullptr ? 0 : table.far->rows();
  if (table.far == nullptr ||
      !sorts(stream.device(), far_rows, ordered.move.table.row_bytes, job.count)) {
    return detail::run_move<detail::Direction::gather>(stream, ordered.move);
  }
  detail::check_move(ordered.move);
  require(job.count < kMostSorted, "a sorted gather is of fewer than 2^32 rows");
  ordered.far_from = ordered.move.table.rows - far_rows;
  ordered.bytes_in_flight = options_.bytes_in_flight;
  choose_windows(ordered);

  const auto bits = static_cast<int>(std::bit_width(ordered.near_key));
  std::uint32_t* const pairs = at_least(stream, pairs_, 4 * job.count);
  ordered.keys = pairs;
  ordered.places = pairs + job.count;
  std::uint32_t* const sorted_keys = pairs + 2 * job.count;
  std::uint32_t* const sorted_places = pairs + 3 * job.count;
  ordered.sorted_places = sorted_places;
  const std::uint64_t scratch_bytes = exec::sort_pairs_scratch(stream, job.count, bits);
  unsigned char* const scratch = at_least(stream, sort_scratch_, scratch_bytes);
  ordered.far_rows = at_least(stream, far_rows_, 1);

  exec::with_backend(stream.device(), [&](auto backend) {
    exec::fill_bytes(stream, ordered.far_rows, 0, sizeof(std::uint64_t));
    detail::key_rows<decltype(backend)>(stream, ordered);
    exec::sort_pairs(stream, ordered.keys, sorted_keys, ordered.places, sorted_places, job.count,
                     bits, scratch, scratch_bytes);
    detail::gather_in_order<decltype(backend)>(stream, ordered);
  });
}

}  // namespace warren::memory
