// SPDX-License-Identifier: Apache-2.0
// Rows of one element type, cut over the ranks of a team, in one of several placements; and the
// view with which a kernel reads, writes and updates any row of any rank.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/exec/atomic.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::memory {

enum class Placement {
  device,  ///< Each rank's rows in its device's memory; others reach them over the link between the
           ///< devices.
  replicated,  ///< All rows on every device. Writing a row through a view writes this rank's copy;
               ///< write_all writes every copy. With Reach::published it writes this rank's, or
               ///< its host's, where the team needs windows (Team::needs_windows()).
  host         ///< Each rank's rows in pinned host memory, read by all devices over the host link
               ///< (zero-copy).
};

/// What this rank's kernels use of other ranks' rows, or copies.
enum class Reach {
  all,  ///< They read and write all.
  /// Of rows cut over the ranks: their own alone, where devices have no path between them, and then
  /// the view has nullptr for the others. Who takes it moves rows in bulk there.
  moved,
  own,  ///< Of a replicated array this rank's copy alone: devices need no path between them.
  /// They write with write_all(), and then own rows are published (Team::publish()), where others
  /// read them in their copies: devices need no path between them. Of ranks on several hosts each
  /// host has one copy.
  published
};

/// What enters a kernel: a table of pointers and the cuts. Rows are numbered over the team; a row
/// has `width` elements.
template <class T>
struct GlobalView {
  T* base[kMaxRanks] = {};                 ///< Rank q's first row, as this device addresses it.
  std::uint64_t cuts[kMaxRanks + 1] = {};  ///< Rank q holds rows [cuts[q], cuts[q + 1]).
  std::uint64_t width = 1;
  int rank = 0;
  int ranks = 1;
  int copies = 1;  ///< Replicated: of every row, in what this device addresses.
  bool is_replicated = false;
  bool spans_devices = false;  ///< Another device's memory may hold rows.

  [[nodiscard]] WARREN_HD int owner(std::uint64_t row) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += row >= cuts[p] ? 1 : 0;
    return q;
  }
  /// The nearest copy of a row.
  [[nodiscard]] WARREN_HD T* row(std::uint64_t index) const {
    if (is_replicated) return base[rank] + index * width;
    if (ranks == 1) return base[0] + index * width;
    const int q = owner(index);
    return base[q] + (index - cuts[q]) * width;
  }
  /// The row's element in rank q's copy (replicated), or wherever it lives.
  [[nodiscard]] WARREN_HD T& at(std::uint64_t index, std::uint64_t column = 0) const {
    return row(index)[column];
  }
  /// Local row i of this rank (row cuts[rank] + i).
  [[nodiscard]] WARREN_HD T& local(std::uint64_t i, std::uint64_t column = 0) const {
    return base[rank][(is_replicated ? i + cuts[rank] : i) * width + column];
  }
  [[nodiscard]] WARREN_HD std::uint64_t first() const { return cuts[rank]; }
  [[nodiscard]] WARREN_HD std::uint64_t local_rows() const { return cuts[rank + 1] - cuts[rank]; }
  [[nodiscard]] WARREN_HD std::uint64_t rows() const { return cuts[ranks]; }

  /// Writes an element of a replicated array on every rank that this one reaches. Plain stores: a
  /// team-wide barrier makes them visible.
  WARREN_HD void write_all(std::uint64_t index, T value) const {
    for (int q = 0; q < copies; ++q) base[q][index * width] = value;
  }
  // Atomic updates of any rank's rows; system scope where another device may take part. Rows in
  // host memory are updated atomically by the threads of one GPU, but not between GPUs: their link
  // to the host has no atomic operations, and those of system scope are not allowed on it.
  WARREN_HD T atomic_add(std::uint64_t index, T value, std::uint64_t column = 0) const {
    if (!spans_devices)
      return exec::atomic_add<exec::Order::relaxed, exec::Scope::device>(at(index, column), value);
    return exec::atomic_add<exec::Order::relaxed, exec::Scope::system>(at(index, column), value);
  }
  WARREN_HD T atomic_min(std::uint64_t index, T value, std::uint64_t column = 0) const {
    if (!spans_devices)
      return exec::atomic_min<exec::Order::relaxed, exec::Scope::device>(at(index, column), value);
    return exec::atomic_min<exec::Order::relaxed, exec::Scope::system>(at(index, column), value);
  }
};

/// The owner of this rank's part. Construction and destruction are collective; the part of a rank
/// that fails stays until all ranks have stopped, since they may be reading it.
template <class T>
class GlobalArray {
 public:
  GlobalArray() = default;
  /// rows = cuts.back(), of `width` elements each, not initialised. `cuts` are the same on all
  /// ranks, size() + 1 of them. Throws MemoryError on every rank when one cannot take its part,
  /// UsageError when kernels of one device cannot reach another's memory, but with Reach::moved,
  /// and Reach::own or Reach::published of a replicated array.
  GlobalArray(team::Team& team, std::span<const std::uint64_t> cuts, std::uint64_t width,
              Placement placement, Reach reach = Reach::all)
      : placement_(placement) {
    const auto ranks = static_cast<std::size_t>(team.size());
    require(cuts.size() == ranks + 1 && cuts.front() == 0,
            "a GlobalArray needs one cut more than there are ranks, from 0");
    require(width >= 1, "a GlobalArray's rows need at least one element");
    const auto rank = static_cast<std::size_t>(team.rank());
    const bool is_replicated = placement == Placement::replicated;
    const bool is_shown = team.needs_windows() && is_replicated && reach == Reach::published;
    // A copy for each host: rank 0's, in the mirrors of it.
    const bool is_of_hosts = is_shown && team.spans_hosts();
    const std::uint64_t mine = is_of_hosts && rank > 0 ? 0
                               : is_replicated         ? cuts.back()
                                                       : cuts[rank + 1] - cuts[rank];
    take(team, exec::bytes_of(mine, width));
    view_.width = width;
    view_.rank = team.rank();
    view_.ranks = team.size();
    view_.is_replicated = is_replicated;
    view_.copies = is_shown ? 1 : team.size();
    view_.spans_devices = team.size() > 1 && placement != Placement::host;
    for (std::size_t q = 0; q <= ranks; ++q) view_.cuts[q] = cuts[q];
    if (is_shown) {
      windows_ = team.share_windows(
          {.data = buffer_->data(), .bytes = buffer_->bytes(), .is_replica = !is_of_hosts});
      // Of replicas all of them are this rank's own.
      for (std::size_t q = 0; q < ranks; ++q) view_.base[q] = static_cast<T*>(windows_.of[0]);
      return;
    }
    const std::vector<void*> table = team.share(buffer_->data());
    const std::vector<std::uint64_t> pinned =
        team.all_gather(reinterpret_cast<std::uint64_t>(buffer_->data()));
    const bool has_one_address = placement == Placement::host && !team.spans_processes();
    for (std::size_t q = 0; q < ranks; ++q) {
      // Pinned memory has one address for all devices of the process.
      view_.base[q] = has_one_address ? reinterpret_cast<T*>(pinned[q]) : static_cast<T*>(table[q]);
      const bool may_be_apart =
          (reach == Reach::own && is_replicated) || (reach == Reach::moved && !is_replicated);
      require(view_.base[q] != nullptr || pinned[q] == 0 || may_be_apart || !team.spans_hosts(),
              "this reads rows of other ranks where they lie, and has no form for ranks on several "
              "hosts yet: start all ranks on one host");
      require(view_.base[q] != nullptr || pinned[q] == 0 || may_be_apart,
              team.device().name() + " cannot address the memory of rank " + std::to_string(q) +
                  "'s device" + (is_replicated ? "" : ": place the array in host memory"));
    }
  }

  [[nodiscard]] const GlobalView<T>& view() const { return view_; }
  [[nodiscard]] Placement placement() const { return placement_; }
  /// This rank's rows (replicated: all rows; of ranks on several hosts, rank 0 alone has them).
  [[nodiscard]] Buffer<T>& buffer() { return *buffer_; }
  [[nodiscard]] const Buffer<T>& buffer() const { return *buffer_; }
  /// This rank's own rows, also of a replicated array.
  [[nodiscard]] T* local_data() const {
    return view_.base[view_.rank] +
           (view_.is_replicated ? view_.cuts[view_.rank] * view_.width : 0);
  }
  [[nodiscard]] std::uint64_t local_size() const { return view_.local_rows() * view_.width; }

  /// All rows in host memory, on every rank. Collective, synchronises `stream`.
  [[nodiscard]] std::vector<T> to_host(team::Team& team, const exec::Stream& stream) const {
    std::vector<T> mine(local_size());
    exec::copy(stream, mine.data(), local_data(), mine.size() * sizeof(T));
    stream.synchronize();
    std::vector<T> all;
    all.reserve(view_.rows() * view_.width);
    for (const auto& part : team.all_gather_v(std::span<const T>(mine)))
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }

 private:
  /// Takes this rank's part, or throws on all ranks what the first one that could not take its part
  /// has to say.
  void take(team::Team& team, std::uint64_t elements) {
    struct Shortage {
      bool is_short = false;
      std::uint64_t asked = 0, free = 0;
      char where[32] = {};
      char cure[192] = {};  ///< As the rank's own error has it, behind the sizes.
    };
    Shortage mine;
    try {
      const MemoryKind kind =
          placement_ == Placement::host ? MemoryKind::pinned : MemoryKind::device;
      buffer_ = {new Buffer<T>(team.device(), kind, elements),
                 GiveBack{team.deferred_free(), std::uncaught_exceptions()}};
    } catch (const MemoryError& error) {
      mine = {true, error.bytes_asked(), error.bytes_free()};
      const std::string_view text = error.what();
      const std::size_t sizes = text.find("); ");
      if (sizes != text.npos) text.substr(sizes + 3).copy(mine.cure, sizeof mine.cure - 1);
      const std::string where = placement_ == Placement::host ? "the host" : team.device().name();
      where.copy(mine.where, sizeof mine.where - 1);
    }
    const std::vector<Shortage> all = team.all_gather(mine);
    for (std::size_t q = 0; q < all.size(); ++q) {
      if (all[q].is_short)
        throw MemoryError(std::string(all[q].where) + " (rank " + std::to_string(q) + ")",
                          all[q].asked, all[q].free, all[q].cure);
    }
  }

  struct GiveBack {
    std::shared_ptr<team::DeferredFree> deferred_free;
    int exceptions = 0;
    void operator()(Buffer<T>* buffer) const noexcept {
      deferred_free->give_back(std::unique_ptr<Buffer<T>>(buffer), exceptions);
    }
  };

  Placement placement_ = Placement::device;
  std::unique_ptr<Buffer<T>, GiveBack> buffer_;
  team::Windows windows_;
  GlobalView<T> view_;
};

}  // namespace warren::memory
