// SPDX-License-Identifier: Apache-2.0
// Collectives on device buffers. Each carrier implements the same three calls;
// make_device_collectives() picks one.
#pragma once

#include <memory>

#include "warren/team/team.hpp"

namespace warren::team {

class DeviceCollectives {
 public:
  virtual ~DeviceCollectives() = default;
  virtual void all_gather(const exec::Stream& stream, const void* send, void* recv,
                          std::uint64_t bytes) = 0;
  virtual void all_reduce(const exec::Stream& stream, const void* send, void* recv,
                          std::uint64_t count, DataType type, ReduceOp op) = 0;
  virtual void all_to_all_v(const exec::Stream& stream, const void* send,
                            std::span<const std::uint64_t> send_offsets, void* recv,
                            std::span<const std::uint64_t> recv_offsets) = 0;
  [[nodiscard]] virtual const char* name() const = 0;
};

/// Collective: every rank gets the same carrier.
std::unique_ptr<DeviceCollectives> make_device_collectives(Team& team);

}  // namespace warren::team
