// SPDX-License-Identifier: Apache-2.0
// The choice of a carrier for the device collectives, and the carrier that needs nothing but
// pointers: ranks read each other's buffers between two barriers of the host. An all-reduce is a
// reduce-scatter into staging memory followed by an all-gather, so that every element is added up
// once, in rank order, and a rank reads no more than twice its buffer.
#include "team/device_collectives.hpp"

#include <cstring>
#include <set>

#include "warren/exec/dry_run.hpp"
#include "warren/exec/memory.hpp"

#include "team/collective_agreement.hpp"
#include "team/device_collectives_kernels.hpp"
#include "team/nccl_collectives.hpp"
#include "team/peer_access.hpp"
#include "team/window_collectives.hpp"

namespace warren::team {
namespace {

class DirectCollectives : public DeviceCollectives {
 public:
  explicit DirectCollectives(Team& team)
      : team_(team), ranks_(static_cast<std::size_t>(team.size())) {}

  void all_gather(const exec::Stream& stream, const void* send, void* recv,
                  std::uint64_t bytes) override {
    stream.synchronize();
    const std::vector<const std::byte*> from = shown(send);
    team_.with_peer_memory([&] {
      require_equal(team_, "all_gather", "bytes", bytes);
      for (std::size_t q = 0; q < ranks_; ++q)
        copy(stream, static_cast<std::byte*>(recv) + q * bytes, from[q], bytes);
      stream.synchronize();
      team_.barrier();
    });
  }

  void all_reduce(const exec::Stream& stream, const void* send, void* recv, std::uint64_t count,
                  DataType type, ReduceOp op) override {
    const std::uint64_t size = size_of(type);
    const std::uint64_t longest = count / ranks_ + 1;
    const std::uint64_t stride = (longest * size + 255) / 256 * 256;
    // A GPU first copies what it adds up: the copy engine also reaches devices that kernels do not.
    const bool is_copied = team_.device().is_cuda();
    reserve(is_copied ? (ranks_ + 1) * stride : stride);
    stream.synchronize();
    const std::vector<const std::byte*> sent = shown(send), sums = shown(staging_.get());
    team_.with_peer_memory([&] {
      require_equal(team_, "all_reduce", "elements", count);
      const ElementRange own = added_by(static_cast<std::size_t>(team_.rank()), ranks_, count);
      ReduceParts parts;
      parts.ranks = team_.size();
      for (std::size_t q = 0; q < ranks_; ++q) {
        const std::byte* from = sent[q] + own.begin * size;
        if (is_copied) {
          std::byte* here = staging_.get() + (q + 1) * stride;
          copy(stream, here, from, own.count * size);
          from = here;
        }
        parts.part[q] = from;
      }
      exec::with_backend(team_.device(), [&](auto backend) {
        reduce_parts<decltype(backend)>(stream, type, op, parts, staging_.get(), own.count);
      });
      stream.synchronize();
      team_.barrier();
      for (std::size_t q = 0; q < ranks_; ++q) {
        const ElementRange part = added_by(q, ranks_, count);
        copy(stream, static_cast<std::byte*>(recv) + part.begin * size, sums[q], part.count * size);
      }
      stream.synchronize();
      team_.barrier();
    });
  }

  void all_to_all_v(const exec::Stream& stream, const void* send,
                    std::span<const std::uint64_t> send_offsets, void* recv,
                    std::span<const std::uint64_t> recv_offsets) override {
    stream.synchronize();
    const std::vector<const std::byte*> from = shown(send);
    team_.with_peer_memory([&] {
      const std::vector<SendOffsets> sent = exchange_offsets(team_, send_offsets, recv_offsets);
      const auto rank = static_cast<std::size_t>(team_.rank());
      for (std::size_t q = 0; q < ranks_; ++q) {
        copy(stream, static_cast<std::byte*>(recv) + recv_offsets[q], from[q] + sent[q].of[rank],
             recv_offsets[q + 1] - recv_offsets[q]);
      }
      stream.synchronize();
      team_.barrier();
    });
  }

  [[nodiscard]] const char* name() const override {
    return team_.device().is_cuda() ? "copies" : "memory";
  }

 private:
  /// Every rank's `memory`. Throws UsageError on all ranks where processes have no path to it.
  [[nodiscard]] std::vector<const std::byte*> shown(const void* memory) {
    auto* const mine = const_cast<void*>(memory);
    const std::vector<void*> table =
        team_.spans_processes() ? team_.share_with_all(mine) : team_.pointers(mine);
    std::vector<const std::byte*> found;
    found.reserve(table.size());
    for (const void* const pointer : table) found.push_back(static_cast<const std::byte*>(pointer));
    return found;
  }

  void reserve(std::uint64_t bytes) {
    if (bytes <= staging_bytes_) return;
    staging_.reset();
    staging_bytes_ = 0;
    const exec::Device device = team_.device();
    staging_ = {static_cast<std::byte*>(exec::allocate(device, exec::MemoryKind::device, bytes)),
                [device, bytes](std::byte* pointer) {
                  exec::deallocate(device, exec::MemoryKind::device, pointer, bytes);
                }};
    staging_bytes_ = bytes;
  }

  void copy(const exec::Stream& stream, std::byte* target, const void* source,
            std::uint64_t bytes) {
    if (target == source || bytes == 0) return;
    if (team_.device().is_cuda()) return exec::copy(stream, target, source, bytes);
    if (exec::DryRun::current() != nullptr) return;
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    team_.device().pool().parallel_for(
        0, bytes, kPiece, [&](std::uint64_t begin, std::uint64_t end) {
          std::memcpy(target + begin, static_cast<const std::byte*>(source) + begin, end - begin);
        });
  }

  Team& team_;
  std::size_t ranks_;
  std::shared_ptr<std::byte> staging_;
  std::uint64_t staging_bytes_ = 0;
};

bool every_rank_has_its_own_gpu(Team& team) {
  if (!team.device().is_cuda()) return false;
  const std::vector<GpuIdentity> gpus = team.all_gather(identity_of(team.device()));
  return std::set<GpuIdentity>(gpus.begin(), gpus.end()).size() == gpus.size();
}

}  // namespace

std::uint64_t size_of(DataType type) {
  return type == DataType::int64 || type == DataType::uint64 || type == DataType::float64 ? 8 : 4;
}

std::unique_ptr<DeviceCollectives> make_device_collectives(Team& team) {
  if (team.spans_hosts()) return make_window_collectives(team);
  if (team.size() > 1 && every_rank_has_its_own_gpu(team)) {
    if (auto nccl = make_nccl_collectives(team)) return nccl;
  }
  return std::make_unique<DirectCollectives>(team);
}

template void reduce_parts<exec::Cpu>(const exec::Stream&, DataType, ReduceOp, const ReduceParts&,
                                      void*, std::uint64_t);

}  // namespace warren::team
