// SPDX-License-Identifier: Apache-2.0
// Rows in pinned host memory of which the most wanted are on the devices, too: the placement for
// features larger than the devices' memory together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "warren/memory/gather.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/memory/ordered_gather.hpp"

namespace warren::memory {

/// Where the cached rows lie.
enum class CacheSpread {
  automatic,  ///< As the links say: spread where devices read each other faster than the host.
  spread,     ///< Each on one device, dealt out over all: the most rows are cached.
  replicated  ///< All of them on every device: none is read over a link.
};

/// How many of the rows gathered so far were in the cache.
struct CacheUse {
  std::uint64_t hits = 0;
  std::uint64_t rows = 0;
  [[nodiscard]] double hit_rate() const {
    return rows == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(rows);
  }
};

namespace detail {

/// A cached array as bytes: rows [0, hot) are the cached ones, rows [hot, hot + rows) all of them.
struct CachedRows {
  GlobalView<unsigned char> cached;
  GlobalView<unsigned char> host;
  const std::uint32_t* slots = nullptr;  ///< Of every row: its cached one's number, or kNoVertex.
};
struct CachedGather {
  GatherJob job;
  std::uint64_t* translated = nullptr;  ///< Room for `job.count` row numbers.
  CacheUse* use = nullptr;
};
void gather_cached(const exec::Stream& stream, const CachedRows& rows, const CachedGather& cached,
                   OrderedGather& ordered);

/// True where a rank reads another device's memory faster than the host's. Collective.
[[nodiscard]] bool links_favour_spreading(team::Team& team);

}  // namespace detail

template <class T>
class CachedArray {
 public:
  /// Copies rows `hot` (the same list on all ranks, each row once) of `host` to the devices'
  /// memory. `host` is an array in host memory, which must outlive this one and is not to be
  /// written meanwhile. Takes 4 bytes a row on each device besides. Collective; synchronises.
  /// Throws UsageError for rows that are not there or are listed twice; MemoryError. `order`: in
  /// which the rows that are not cached are read.
  CachedArray(team::Team& team, const GlobalArray<T>& host, std::span<const std::uint64_t> hot,
              CacheSpread spread = CacheSpread::automatic, const OrderOptions& order = {})
      : host_(host.view()),
        use_(team.device(), 1),
        slots_(team.device(), host.view().rows()),
        ordered_(order) {
    const bool is_spread = spread == CacheSpread::automatic ? detail::links_favour_spreading(team)
                                                            : spread == CacheSpread::spread;
    const auto ranks = static_cast<std::uint64_t>(team.size());
    std::vector<std::uint64_t> cuts;
    for (std::uint64_t q = 0; q <= ranks; ++q)
      cuts.push_back(hot.size() / ranks * q + hot.size() % ranks * q / ranks);
    const exec::Stream stream(team.device());
    cached_.emplace(team, cuts, host_.width, is_spread ? Placement::device : Placement::replicated,
                    Reach::own);
    const std::uint64_t first = is_spread ? cached_->view().first() : 0;
    fill(stream, hot.subspan(first, is_spread ? cached_->view().local_rows() : hot.size()));
    std::vector<std::uint32_t> slots(host_.rows(), kNoVertex);
    for (std::uint64_t slot = 0; slot < hot.size(); ++slot) {
      require(hot[slot] < host_.rows() && slots[hot[slot]] == kNoVertex,
              "rows to be cached are rows of the array, each once");
      slots[hot[slot]] = static_cast<std::uint32_t>(slot);
    }
    slots_.upload(stream, slots);
    exec::fill_bytes(stream, use_.data(), 0, use_.bytes());
    stream.synchronize();
    team.barrier();
  }

  /// out[i][:] = array[indices[i]][:], from the cache where it has the row; else as
  /// memory::gather(), but calls of one array are of one stream at a time. `processors` hold of
  /// the rows' move.
  void gather(const exec::Stream& stream, const std::uint64_t* indices, std::uint64_t count, T* out,
              std::uint64_t* out_of_range = nullptr, std::uint32_t processors = 0) {
    run(stream, {indices, nullptr, count, nullptr, out, out_of_range, processors});
  }
  /// As memory::gather_vertices().
  void gather_vertices(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                       T* out, std::uint64_t* out_of_range = nullptr,
                       const std::uint32_t* count_at = nullptr, std::uint32_t processors = 0) {
    run(stream, {nullptr, vertices, count, count_at, out, out_of_range, processors});
  }

  /// Of this rank's gathers. Synchronises.
  [[nodiscard]] CacheUse use(const exec::Stream& stream) const { return use_.to_host(stream)[0]; }
  [[nodiscard]] std::uint64_t cached_rows() const { return cached_->view().rows(); }
  [[nodiscard]] bool is_spread() const { return !cached_->view().is_replicated; }

 private:
  void fill(const exec::Stream& stream, std::span<const std::uint64_t> hot) {
    Buffer<std::uint64_t> rows(stream.device(), hot.size());
    rows.upload(stream, hot);
    Buffer<std::uint64_t> missing(stream.device(), 1);
    exec::fill_bytes(stream, missing.data(), 0, missing.bytes());
    if (!hot.empty())
      memory::gather(stream, host_, rows.data(), hot.size(), cached_->buffer().data(),
                     missing.data());
    require(missing.to_host(stream)[0] == 0, "rows to be cached are rows of the array, each once");
  }

  void run(const exec::Stream& stream, const detail::GatherJob& job) {
    detail::gather_cached(
        stream, {detail::as_bytes(cached_->view()), detail::as_bytes(host_), slots_.data()},
        {job, at_least(stream, translated_, job.count), use_.data()}, ordered_);
  }

  GlobalView<T> host_;
  std::optional<GlobalArray<T>> cached_;
  Buffer<CacheUse> use_;
  Buffer<std::uint32_t> slots_;
  Buffer<std::uint64_t> translated_;
  OrderedGather ordered_;
};

}  // namespace warren::memory
