// SPDX-License-Identifier: Apache-2.0
#include "team/shared_segment.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/exec/device.hpp"

namespace warren::team {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{2} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::uint64_t in_units(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

}  // namespace

Descriptor make_segment_object() {
  Descriptor object(memfd_create("warren", MFD_CLOEXEC));
  if (!object)
    throw Error(fmt::format("the memory that ranks share could not be made (memfd_create: {})",
                            std::strerror(errno)));
  return object;
}

void set_segment_size(const Descriptor& object, std::uint64_t bytes) {
  if (ftruncate(object.number(), static_cast<off_t>(bytes)) == 0) return;
  throw Error(
      fmt::format("the memory that ranks share could not be given {} of addresses "
                  "(ftruncate: {}); a limit on the size of files (ulimit -f) holds for it, "
                  "too",
                  human_bytes(bytes), std::strerror(errno)));
}

bool map_segment(const Descriptor& object, SegmentLayout& layout) {
  auto* const wanted = reinterpret_cast<void*>(layout.base);
  const int flags = MAP_SHARED | MAP_NORESERVE | (layout.base != 0 ? MAP_FIXED_NOREPLACE : 0);
  void* const got = mmap(wanted, layout.bytes(), PROT_READ | PROT_WRITE, flags, object.number(), 0);
  if (got == MAP_FAILED) return false;
  if (layout.base != 0 && got != wanted) {
    (void)munmap(got, layout.bytes());
    return false;
  }
  layout.base = reinterpret_cast<std::uintptr_t>(got);
  (void)madvise(got, layout.bytes(), MADV_DONTDUMP);
  return true;
}

void unmap_segment(const SegmentLayout& layout) noexcept {
  (void)munmap(reinterpret_cast<void*>(layout.base), layout.bytes());
}

std::uint64_t memory_of_host() { return std::max(exec::Device::cpu(1).memory().total, kGiB); }

std::vector<SegmentLayout> segment_layouts(const SegmentNeeds& needs) {
  // Between the programs and the libraries of 47 bits, and of 39 bits as some ARM systems have.
  constexpr std::uint64_t kBases[] = {0x200000000000, 0x300000000000, 0x100000000000, 0x2000000000};
  constexpr std::uint64_t kSpan = std::uint64_t{32} << 40;  // To the next place.
  constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
  const auto count = static_cast<std::uint64_t>(needs.ranks);
  const std::uint64_t control = in_units(needs.control_bytes);
  std::vector<SegmentLayout> layouts;
  std::uint64_t arena = std::min(in_units(needs.memory), kSpan / count / kUnit * kUnit);
  for (; arena >= kLeast; arena = in_units(arena / 2)) {
    for (const std::uint64_t base : kBases) layouts.push_back({base, control, arena, count});
    if (needs.may_lie_anywhere) layouts.push_back({0, control, arena, count});
  }
  return layouts;
}

}  // namespace warren::team
