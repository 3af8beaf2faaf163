// SPDX-License-Identifier: Apache-2.0
// Owner of one rank's barrier state on its device.
#pragma once

#include <memory>

#include "warren/exec/memory.hpp"
#include "warren/team/barrier_view.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

class BarrierMemory {
 public:
  /// Collective.
  explicit BarrierMemory(Team& team)
      : device_(team.device()),
        state_(take(exec::MemoryKind::device, sizeof(BarrierState))),
        result_(take(exec::MemoryKind::pinned, BarrierView::kResultBytes)) {
    const exec::Stream stream(device_);
    exec::fill_bytes(stream, state_.get(), 0, sizeof(BarrierState));
    stream.synchronize();
    view_.rank = team.rank();
    view_.ranks = team.size();
    view_.abort_flag = team.abort_flag();
    view_.result = result_.get();
    view_.slice_nanoseconds = shortest_slice(team);
    const std::vector<void*> table = team.share(state_.get());
    for (std::size_t q = 0; q < table.size(); ++q)
      view_.states[q] = static_cast<BarrierState*>(table[q]);
  }
  [[nodiscard]] const BarrierView& view() const { return view_; }

 private:
  [[nodiscard]] std::shared_ptr<void> take(exec::MemoryKind kind, std::uint64_t bytes) const {
    return {exec::allocate(device_, kind, bytes), [device = device_, kind, bytes](void* pointer) {
              exec::deallocate(device, kind, pointer, bytes);
            }};
  }

  exec::Device device_;
  std::shared_ptr<void> state_;
  std::shared_ptr<void> result_;
  BarrierView view_;
};

}  // namespace warren::team
