// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/exchange_gather.hpp"

#include <vector>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/memory/gather.hpp"

#include "sample/exchange_gather_kernels.hpp"

namespace warren::sample {
namespace {

/// A table of one rank's, in which row 0 is row `first` of the team's.
template <class T>
memory::GlobalView<T> local_view(T* data, std::uint64_t first, std::uint64_t rows,
                                 std::uint64_t width) {
  memory::GlobalView<T> view;
  // Addresses before the data are made, but not read: row numbers begin with `first`.
  view.base[0] =
      reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data) - first * width * sizeof(T));
  view.cuts[1] = first + rows;
  view.width = width;
  return view;
}

std::vector<std::uint64_t> times_bytes(std::vector<std::uint64_t> offsets, std::uint64_t bytes) {
  for (std::uint64_t& offset : offsets) offset *= bytes;
  return offsets;
}

}  // namespace

template <class T>
void ExchangeGather::grow(const exec::Stream& stream, memory::Buffer<T>& buffer,
                          std::uint64_t size) {
  if (buffer.size() >= size) return;
  buffer = memory::Buffer<T>();
  buffer = memory::Buffer<T>(stream.device(), size);
}

template <class T>
void ExchangeGather::gather(team::Team& team, const exec::Stream& stream,
                            const memory::GlobalView<T>& table, const std::uint64_t* indices,
                            std::uint64_t count, T* out) {
  require(!table.is_replicated, "a replicated table is gathered without messages");
  require(count == 0 || (indices != nullptr && out != nullptr),
          "gather needs row numbers and a local array");
  const auto ranks = static_cast<std::uint64_t>(team.size());
  const std::uint64_t row_bytes = table.width * sizeof(T);
  times_ = {};
  double begin = now_seconds();
  const auto passed = [&](double& where) {
    stream.synchronize();
    const double now = now_seconds();
    where = now - begin;
    begin = now;
  };

  // 1. Buckets by owner.
  detail::BucketRows bucket{};
  for (std::uint64_t q = 0; q <= ranks; ++q) bucket.owners.cuts[q] = table.cuts[q];
  bucket.owners.ranks = team.size();
  bucket.chunks = (count + detail::BucketRows::kChunk - 1) / detail::BucketRows::kChunk;
  const std::uint64_t cells = bucket.chunks * ranks;
  grow(stream, chunk_counts_, cells + 1);
  grow(stream, chunk_starts_, cells + 1);
  grow(stream, sent_rows_, count);
  grow(stream, places_, count);
  bucket.indices = indices;
  bucket.count = count;
  bucket.counts = chunk_counts_.data();
  const auto run = [&] {
    exec::with_backend(stream.device(), [&](auto backend) {
      detail::bucket_rows<decltype(backend)>(stream, bucket);
    });
  };
  run();
  exec::exclusive_sum(stream, chunk_counts_.data(), chunk_starts_.data(), cells);
  bucket.starts = chunk_starts_.data();
  bucket.sent = sent_rows_.data();
  bucket.places = places_.data();
  run();
  std::vector<std::uint64_t> starts(cells + 1);
  chunk_starts_.download(stream, starts);
  stream.synchronize();
  std::vector<std::uint64_t> sent(ranks + 1, count);
  for (std::uint64_t q = 0; q < ranks; ++q) sent[q] = starts[q * bucket.chunks];
  passed(times_.bucket);

  // 2. How many, then which.
  const auto all = team.all_gather_v(std::span<const std::uint64_t>(sent));
  std::vector<std::uint64_t> asked = {0};
  const auto rank = static_cast<std::size_t>(team.rank());
  for (const auto& other : all) asked.push_back(asked.back() + other[rank + 1] - other[rank]);
  grow(stream, asked_rows_, asked.back());
  const auto sent_numbers = times_bytes(sent, sizeof(std::uint64_t));
  const auto asked_numbers = times_bytes(asked, sizeof(std::uint64_t));
  team.all_to_all_v(stream, sent_rows_.data(), sent_numbers, asked_rows_.data(), asked_numbers);
  passed(times_.exchange_rows);

  // 3. The owner's rows.
  grow(stream, sent_data_, asked.back() * row_bytes);
  const auto own = local_view(table.base[rank], table.cuts[rank], table.local_rows(), table.width);
  memory::gather(stream, own, asked_rows_.data(), asked.back(),
                 reinterpret_cast<T*>(sent_data_.data()));
  passed(times_.gather);

  // 4. Back.
  grow(stream, received_data_, count * row_bytes);
  team.all_to_all_v(stream, sent_data_.data(), times_bytes(asked, row_bytes), received_data_.data(),
                    times_bytes(sent, row_bytes));
  passed(times_.exchange_data);

  // 5. In the order asked for.
  const auto received =
      local_view(reinterpret_cast<T*>(received_data_.data()), 0, count, table.width);
  memory::gather(stream, received, places_.data(), count, out);
  passed(times_.reorder);
}

template void ExchangeGather::gather(team::Team&, const exec::Stream&,
                                     const memory::GlobalView<float>&, const std::uint64_t*,
                                     std::uint64_t, float*);
template void ExchangeGather::gather(team::Team&, const exec::Stream&,
                                     const memory::GlobalView<std::uint16_t>&, const std::uint64_t*,
                                     std::uint64_t, std::uint16_t*);
template void ExchangeGather::gather(team::Team&, const exec::Stream&,
                                     const memory::GlobalView<std::int32_t>&, const std::uint64_t*,
                                     std::uint64_t, std::int32_t*);

}  // namespace warren::sample
