// SPDX-License-Identifier: Apache-2.0
#include "team/mirrors.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/exec/memory.hpp"

namespace warren::team {

Windows Mirrors::add(const Window& window, std::span<const std::uint64_t> bytes) {
  constexpr std::uint64_t kAlignment = 256;
  Entry entry{added_++, static_cast<const std::byte*>(window.data), window.bytes,
              std::vector<Mirror>(bytes.size()), nullptr};
  std::uint64_t total = 0;
  // Where each mirror's first byte lies in the block that all of them are in.
  std::vector<std::uint64_t> places;
  for (std::size_t q = 0; q < bytes.size(); ++q) {
    Mirror& mirror = entry.mirrors[q];
    mirror.first = std::min(window.first, bytes[q]);
    mirror.end = std::clamp(window.end, mirror.first, bytes[q]);
    places.push_back(total);
    if (static_cast<int>(q) != rank_ && !window.is_replica)
      total += (mirror.end - mirror.first + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (total > 0) {
    entry.memory = {exec::allocate(device_, exec::MemoryKind::device, total),
                    [device = device_, total](void* block) {
                      exec::deallocate(device, exec::MemoryKind::device, block, total);
                    }};
  }
  Windows made;
  for (std::size_t q = 0; q < bytes.size(); ++q) {
    Mirror& mirror = entry.mirrors[q];
    if (static_cast<int>(q) == rank_ || window.is_replica) {
      mirror.base = static_cast<std::byte*>(window.data);
    } else if (mirror.first < mirror.end) {
      mirror.base = static_cast<std::byte*>(entry.memory.get()) + places[q] - mirror.first;
    }
    made.of.push_back(mirror.base);
  }
  const std::uint64_t number = entry.number;
  entries_->push_back(std::move(entry));
  made.memory = {nullptr, [entries = entries_, number](void*) {
                   std::erase_if(*entries, [&](const Entry& one) { return one.number == number; });
                 }};
  return made;
}

Posted Mirrors::post(const Shown& shown) const {
  const auto* data = static_cast<const std::byte*>(shown.data);
  for (const Entry& entry : *entries_) {
    if (data < entry.data || data >= entry.data + entry.bytes) continue;
    const auto first = static_cast<std::uint64_t>(data - entry.data);
    require(shown.bytes <= entry.bytes - first, kNoWindow);
    return {shown.to, entry.number, first, data, shown.bytes};
  }
  throw UsageError(kNoWindow);
}

void Mirrors::fetch(int q, std::span<const Posted> posted) {
  for (const Posted& one : posted) {
    if (one.to >= 0 && one.to != rank_) continue;
    const auto entry = std::ranges::find(*entries_, one.window, &Entry::number);
    require(entry != entries_->end(), "a rank publishes what others have no window for any more");
    const Mirror& mirror = entry->mirrors[static_cast<std::size_t>(q)];
    require(
        one.first >= mirror.first && one.first + one.bytes <= mirror.end,
        fmt::format("rank {} publishes bytes {} to {} of an array of which rank {} reads {} to {}",
                    q, one.first, one.first + one.bytes, rank_, mirror.first, mirror.end));
    if (!stream_) stream_.emplace(device_);
    exec::copy(*stream_, mirror.base + one.first, one.data, one.bytes);
  }
}

void Mirrors::finish() {
  if (stream_) stream_->synchronize();
}

}  // namespace warren::team
