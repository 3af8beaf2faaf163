// SPDX-License-Identifier: Apache-2.0
// The memory that all processes of a team have at the same addresses: a part for what the ranks
// tell each other, and an arena for each rank. Its object has no name (memfd_create(2)): the system
// frees it with the last process, however that ends, and it lies in no file system whose size would
// bound it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "team/descriptor.hpp"

namespace warren::team {

/// Where the parts lie. Sizes are multiples of 2 MiB.
struct SegmentLayout {
  std::uint64_t base = 0;  ///< 0: where the system likes.
  std::uint64_t control_bytes = 0;
  std::uint64_t arena_bytes = 0;  ///< Of each rank.
  std::uint64_t ranks = 0;

  [[nodiscard]] std::uint64_t bytes() const { return control_bytes + ranks * arena_bytes; }
};

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(Descriptor object, const SegmentLayout& layout)
      : object_(std::move(object)), layout_(layout) {}

  [[nodiscard]] const SegmentLayout& layout() const { return layout_; }
  [[nodiscard]] int object() const { return object_.number(); }
  [[nodiscard]] void* control() const { return at(0); }
  [[nodiscard]] std::byte* arena(int rank) const {
    return at(layout_.control_bytes + static_cast<std::uint64_t>(rank) * layout_.arena_bytes);
  }
  /// Whether the bytes lie in the arenas.
  [[nodiscard]] bool has(const void* pointer, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto first = reinterpret_cast<std::uintptr_t>(arena(0));
    const std::uint64_t all = layout_.ranks * layout_.arena_bytes;
    return address >= first && address - first <= all && bytes <= all - (address - first);
  }
  /// Whether `pointer` lies in the rank's arena.
  [[nodiscard]] bool is_of(int rank, const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto first = reinterpret_cast<std::uintptr_t>(arena(rank));
    return address >= first && address - first < layout_.arena_bytes;
  }

 private:
  [[nodiscard]] std::byte* at(std::uint64_t offset) const {
    return reinterpret_cast<std::byte*>(layout_.base + offset);
  }

  Descriptor object_;
  SegmentLayout layout_;
};

/// The object of a segment, empty so far. Throws Error.
[[nodiscard]] Descriptor make_segment_object();
/// Gives the object its size. Throws Error.
void set_segment_size(const Descriptor& object, std::uint64_t bytes);
/// Maps the object at the layout's base: true if that was free. With base 0 the system chooses, and
/// `layout` says what. What is mapped stays until the process ends.
[[nodiscard]] bool map_segment(const Descriptor& object, SegmentLayout& layout);
void unmap_segment(const SegmentLayout& layout) noexcept;

struct SegmentNeeds {
  std::uint64_t control_bytes = 0;
  int ranks = 1;
  std::uint64_t memory = 0;      ///< Of a host.
  bool may_lie_anywhere = true;  ///< Where no fixed place is free, where the system likes.
};
/// What this machine has.
[[nodiscard]] std::uint64_t memory_of_host();
/// Layouts to try, one after the other: first the places that are free in most processes, with
/// arenas as large as the memory; then smaller arenas, where the address space is limited.
[[nodiscard]] std::vector<SegmentLayout> segment_layouts(const SegmentNeeds& needs);

}  // namespace warren::team
