// SPDX-License-Identifier: Apache-2.0
// Device collectives by windows: each rank copies what it gives into staging memory, which it shows
// to the other hosts, and nobody returns before all have read it. An all-reduce adds up within each
// host first, so that of every element one value a host goes over the link to the rank that adds
// the hosts' up, and one comes back.
#include "team/window_collectives.hpp"

#include <algorithm>
#include <cstring>

#include "warren/exec/memory.hpp"

#include "team/collective_agreement.hpp"
#include "team/device_collectives_kernels.hpp"

namespace warren::team {
namespace {

/// An array that a rank shows, of one length on all of them.
class ShownArray {
 public:
  ShownArray() = default;
  ~ShownArray() = default;
  ShownArray(const ShownArray&) = delete;
  ShownArray& operator=(const ShownArray&) = delete;

  /// Collective. Throws MemoryError.
  void reserve(Team& team, std::uint64_t bytes) {
    windows_ = {};
    memory_.reset();
    const exec::Device device = team.device();
    memory_ = {static_cast<std::byte*>(exec::allocate(device, exec::MemoryKind::device, bytes)),
               [device, bytes](std::byte* pointer) {
                 exec::deallocate(device, exec::MemoryKind::device, pointer, bytes);
               }};
    windows_ = team.share_windows({.data = memory_.get(), .bytes = bytes});
  }
  [[nodiscard]] std::byte* own() const { return memory_.get(); }
  [[nodiscard]] const std::byte* of(std::size_t rank) const {
    return static_cast<const std::byte*>(windows_.of[rank]);
  }

 private:
  std::shared_ptr<std::byte> memory_;
  Windows windows_;
};

class WindowCollectives : public DeviceCollectives {
 public:
  explicit WindowCollectives(Team& team)
      : team_(team),
        ranks_(static_cast<std::size_t>(team.size())),
        rank_(static_cast<std::size_t>(team.rank())) {
    for (std::size_t q = 0; q < ranks_; ++q) {
      const auto host = static_cast<std::size_t>(team.host_of(static_cast<int>(q)));
      if (host >= ranks_of_.size()) ranks_of_.resize(host + 1);
      ranks_of_[host].push_back(q);
    }
    host_ = static_cast<std::size_t>(team.host_of(team.rank()));
  }

  void all_gather(const exec::Stream& stream, const void* send, void* recv,
                  std::uint64_t bytes) override {
    stream.synchronize();
    team_.with_peer_memory([&] {
      require_equal(team_, "all_gather", "bytes", bytes);
      if (bytes == 0) return;
      reserve(bytes);
      copy(shown_.own(), send, bytes);
      const Shown mine{.to = -1, .data = shown_.own(), .bytes = bytes};
      team_.publish({&mine, 1});
      for (std::size_t q = 0; q < ranks_; ++q)
        copy(static_cast<std::byte*>(recv) + q * bytes, shown_.of(q), bytes);
      team_.barrier();
    });
  }

  void all_reduce(const exec::Stream& stream, const void* send, void* recv, std::uint64_t count,
                  DataType type, ReduceOp op) override {
    stream.synchronize();
    team_.with_peer_memory([&] {
      const std::uint64_t size = size_of(type);
      const bool is_there = count * size <= bytes_;
      if (is_there) copy(given_.own(), send, count * size);
      require_equal(team_, "all_reduce", "elements", count);
      if (count == 0) return;
      if (!is_there) {
        reserve(count * size);
        copy(given_.own(), send, count * size);
        team_.barrier();
      }
      // Each element is added up in each host by one rank, and over the hosts by one.
      std::vector<Shown> shown;
      for (std::size_t q = 0; q < ranks_; ++q) {
        if (adder(host_, q) != rank_) continue;
        const Range range = range_of(q, count, size);
        reduce(stream, type, op, ranks_of_[host_], given_, range, of_host_.own() + range.begin);
        if (team_.host_of(static_cast<int>(q)) != static_cast<int>(host_))
          shown.push_back({.to = static_cast<int>(q),
                           .data = of_host_.own() + range.begin,
                           .bytes = range.bytes});
      }
      stream.synchronize();
      team_.publish(shown);
      std::vector<std::size_t> adders;
      for (std::size_t h = 0; h < ranks_of_.size(); ++h) adders.push_back(adder(h, rank_));
      const Range mine = range_of(rank_, count, size);
      reduce(stream, type, op, adders, of_host_, mine, shown_.own() + mine.begin);
      stream.synchronize();
      const Shown sum{.to = -1, .data = shown_.own() + mine.begin, .bytes = mine.bytes};
      team_.publish({&sum, 1});
      for (std::size_t q = 0; q < ranks_; ++q) {
        const Range range = range_of(q, count, size);
        copy(static_cast<std::byte*>(recv) + range.begin, shown_.of(q) + range.begin, range.bytes);
      }
      team_.barrier();
    });
  }

  void all_to_all_v(const exec::Stream& stream, const void* send,
                    std::span<const std::uint64_t> send_offsets, void* recv,
                    std::span<const std::uint64_t> recv_offsets) override {
    stream.synchronize();
    team_.with_peer_memory([&] {
      const std::vector<SendOffsets> sent = exchange_offsets(team_, send_offsets, recv_offsets);
      std::uint64_t most = 0;
      for (const SendOffsets& offsets : sent) most = std::max(most, offsets.of[ranks_]);
      if (most == 0) return;
      reserve(most);
      copy(shown_.own(), send, send_offsets[ranks_]);
      std::vector<Shown> shown;
      for (std::size_t q = 0; q < ranks_; ++q)
        shown.push_back({.to = static_cast<int>(q),
                         .data = shown_.own() + send_offsets[q],
                         .bytes = send_offsets[q + 1] - send_offsets[q]});
      team_.publish(shown);
      for (std::size_t q = 0; q < ranks_; ++q)
        copy(static_cast<std::byte*>(recv) + recv_offsets[q], shown_.of(q) + sent[q].of[rank_],
             recv_offsets[q + 1] - recv_offsets[q]);
      team_.barrier();
    });
  }

  [[nodiscard]] const char* name() const override { return "windows"; }

 private:
  /// Bytes of an array.
  struct Range {
    std::uint64_t begin = 0, bytes = 0;
  };

  /// What rank q adds up over the hosts, of `count` elements.
  [[nodiscard]] Range range_of(std::size_t q, std::uint64_t count, std::uint64_t size) const {
    const ElementRange part = added_by(q, ranks_, count);
    return {part.begin * size, part.count * size};
  }
  /// The host's rank that adds up for rank q.
  [[nodiscard]] std::size_t adder(std::size_t host, std::size_t q) const {
    return ranks_of_[host][q % ranks_of_[host].size()];
  }
  void reduce(const exec::Stream& stream, DataType type, ReduceOp op,
              const std::vector<std::size_t>& ranks, const ShownArray& from, const Range& range,
              std::byte* to) const {
    ReduceParts parts;
    parts.ranks = static_cast<int>(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) parts.part[i] = from.of(ranks[i]) + range.begin;
    reduce_parts<exec::Cpu>(stream, type, op, parts, to, range.bytes / size_of(type));
  }
  /// `bytes` are the same on all ranks. Collective.
  void reserve(std::uint64_t bytes) {
    if (bytes <= bytes_) return;
    bytes_ = 0;
    for (ShownArray* array : {&given_, &of_host_, &shown_}) array->reserve(team_, bytes);
    bytes_ = bytes;
  }
  void copy(std::byte* to, const void* from, std::uint64_t bytes) const {
    if (to == from || bytes == 0) return;
    constexpr std::uint64_t kCopiedBytes = std::uint64_t{1} << 20;
    team_.device().pool().parallel_for(
        0, bytes, kCopiedBytes, [&](std::uint64_t begin, std::uint64_t end) {
          std::memcpy(to + begin, static_cast<const std::byte*>(from) + begin, end - begin);
        });
  }

  Team& team_;
  std::size_t ranks_, rank_, host_ = 0;
  std::vector<std::vector<std::size_t>> ranks_of_;  // By host.
  /// For all-reduces what a rank gives, read within its host, and the host's sums; and what all
  /// read at the end of a call. Each of `bytes_`: pages that are not used take no memory.
  ShownArray given_, of_host_, shown_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceCollectives> make_window_collectives(Team& team) {
  return std::make_unique<WindowCollectives>(team);
}

}  // namespace warren::team
