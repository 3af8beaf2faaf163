// SPDX-License-Identifier: Apache-2.0
// Where calls run: sessions, which keep teams of ranks that wait for work, and the parts of graphs
// that these have on their devices.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/exec/device.hpp"
#include "warren/exec/memory.hpp"

namespace warren {

namespace api {
class Teams;
}

using exec::DeviceKind;

struct SessionOptions {
  /// Of calls that do not say. Left out: GPUs where there are some, else the CPU.
  std::optional<DeviceKind> device{};
  /// Ranks of calls that do not say. 0: as many GPUs as make the call faster; one rank on the CPU.
  int devices = 0;
  /// Of the CPU, in all; 0: all that the process may use.
  int threads = 0;
  /// More ranks than GPUs take turns. For tests.
  bool share_devices = false;
  /// More ranks than GPUs have a part of one each, as if on their own. For tests.
  bool side_by_side = false;
  /// Ranks do not reach each other's memory, as on GPUs without a path between them, or without
  /// atomic operations on it: what needs that is refused; synchronous bfs, sssp, components and
  /// pagerank do not. For tests.
  bool no_peer = false;
  /// Milliseconds after which a kernel that runs until a search is over leaves its GPU, to be
  /// started again where it was (team::TeamOptions::slice_nanoseconds). 0: it stays, but where the
  /// driver ends kernels after some seconds, as on a GPU with a display.
  double slice_milliseconds = 0.0;
  /// Where the device memory of the session's ranks comes from, of calls on its kind of device: on
  /// GPUs where there are some, else, or where `device` is cpu, on the CPU. exec::pool_resource(),
  /// or another library's pool. nullptr: where the process takes it (set_memory_resource()). A
  /// resource that has too little ends a call with MemoryError. Refused where ranks are processes.
  std::shared_ptr<exec::MemoryResource> memory{};
};

/// Copies name the same session. Calls of several threads may use one session: they take turns.
/// Sessions are independent of each other, also on the same device.
class Session {
 public:
  /// Starts nothing yet: a team starts with the first call that needs it. Throws UsageError for
  /// options out of range.
  explicit Session(const SessionOptions& options = {});

  /// The session of calls that name none, made when it is first needed.
  [[nodiscard]] static Session standard();

  /// Ends its teams and frees what they hold on their devices, after the calls that are under way.
  /// Later calls with it throw UsageError. Closing twice is legal.
  void close();
  [[nodiscard]] bool is_closed() const;
  [[nodiscard]] const SessionOptions& options() const;

  /// For the parts of the library.
  [[nodiscard]] const std::shared_ptr<api::Teams>& teams() const { return teams_; }

 private:
  std::shared_ptr<api::Teams> teams_;
};

/// A call that was ended by the interrupt check.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Memory of GPUs that is taken from here on comes from `resource`, another library's pool say, and
/// goes back to it; nullptr: from the driver. Pinned and host memory is the system's. For all
/// sessions of the process that name none (SessionOptions::memory); what is held stays with who
/// gave it, but for blocks that are kept for later results, which go back at once. A resource that
/// has too little ends a call with MemoryError. `kind` cpu: the same for the CPU's device memory,
/// for tests.
void set_memory_resource(std::shared_ptr<exec::MemoryResource> resource,
                         DeviceKind kind = DeviceKind::cuda);

/// Every call that waits for a team or works on the host asks `check` about twenty times a second,
/// in the thread that called. Where it says true, the call throws Interrupted; a team ends at its
/// next step, on the CPU at the next piece of a loop. An empty function: nothing is asked. For all
/// sessions of the process.
void set_interrupt_check(std::function<bool()> check);

}  // namespace warren
