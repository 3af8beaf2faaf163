// SPDX-License-Identifier: Apache-2.0
// How many vertices have each label, and what that says of all components. Most vertices of most
// graphs have the label of one component: a lane adds up what it finds in a row, and a worker what
// its lanes found, before a word that all want is written.
#pragma once

#include <algorithm>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::traverse {

/// Vertices of one task.
inline constexpr std::uint64_t kSizesSpan = 1024;

/// Adds the members of each label to its element of `sizes`, on the rank that owns the label.
struct CountMembers {
  const Vertex* labels;  ///< Of own vertices.
  std::uint64_t count;
  Vertex first;  ///< Own vertex.
  memory::GlobalView<std::uint32_t> sizes;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t end = (task + 1) * kSizesSpan < count ? (task + 1) * kSizesSpan : count;
    Vertex label = kNoVertex;
    std::uint32_t members = 0;
    for (std::uint64_t i = task * kSizesSpan + worker.lane(); i < end; i += worker.size()) {
      const Vertex next = labels[i];
      if (next != label) {
        if (next == first + i) {  // Mostly alone: what was added up goes on.
          add(next, 1);
          continue;
        }
        add(label, members);
        label = next;
        members = 0;
      }
      ++members;
    }
    const Vertex common = worker.broadcast(label, 0);
    const std::uint32_t together =
        worker.reduce(label == common ? members : std::uint32_t{0}, exec::Plus{});
    if (label != common) add(label, members);
    if (worker.lane() == 0) add(common, together);
  }
  WARREN_HD void add(Vertex label, std::uint32_t members) const {
    if (members > 0) (void)sizes.atomic_add(label, members);
  }
};

struct ComponentsTotals {
  std::uint64_t components = 0;
  std::uint64_t largest = 0;
};

/// Own labels that some vertex has, and the most that one has.
struct SumSizes {
  const std::uint32_t* sizes;
  std::uint64_t count;
  ComponentsTotals* totals;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t end = (task + 1) * kSizesSpan < count ? (task + 1) * kSizesSpan : count;
    std::uint32_t components = 0;
    std::uint32_t largest = 0;
    for (std::uint64_t i = task * kSizesSpan + worker.lane(); i < end; i += worker.size()) {
      const std::uint32_t size = sizes[i];
      components += size > 0 ? 1 : 0;
      largest = size > largest ? size : largest;
    }
    components = worker.reduce(components, exec::Plus{});
    largest = worker.reduce(largest, exec::Maximum{});
    if (worker.lane() != 0 || components == 0) return;
    exec::atomic_store_add(totals->components, std::uint64_t{components});
    (void)exec::atomic_max(totals->largest, std::uint64_t{largest});
  }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend>
struct ComponentSizes {
  static void count(const exec::Stream& stream, const CountMembers& members);
  static void sum(const exec::Stream& stream, const SumSizes& sizes);
};

template <class Backend>
void ComponentSizes<Backend>::count(const exec::Stream& stream, const CountMembers& members) {
  exec::launch<Backend, exec::Warp>(stream, (members.count + kSizesSpan - 1) / kSizesSpan, members);
}
template <class Backend>
void ComponentSizes<Backend>::sum(const exec::Stream& stream, const SumSizes& sizes) {
  exec::launch<Backend, exec::Warp>(stream, (sizes.count + kSizesSpan - 1) / kSizesSpan, sizes);
}

#if WARREN_HAS_CUDA
extern template struct ComponentSizes<exec::Cuda>;
#endif

}  // namespace warren::traverse
