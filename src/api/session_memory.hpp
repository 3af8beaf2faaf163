// SPDX-License-Identifier: Apache-2.0
// The memory resource of one session, as its ranks' devices carry it: the one that the session was
// given, and whether the session is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "warren/exec/memory.hpp"

namespace warren::api {

/// Hands everything on to the session's own resource. What gives a block back asks by it whether a
/// later result of the session may have the block.
class SessionMemory final : public exec::MemoryResource {
 public:
  explicit SessionMemory(std::shared_ptr<exec::MemoryResource> own) : own_(std::move(own)) {}

  [[nodiscard]] void* allocate(const exec::Device& device, std::uint64_t bytes) override {
    return own_->allocate(device, bytes);
  }
  void deallocate(const exec::Device& device, void* pointer,
                  std::uint64_t bytes) noexcept override {
    own_->deallocate(device, pointer, bytes);
  }
  [[nodiscard]] bool gives(exec::MemoryKind kind) const override { return own_->gives(kind); }
  [[nodiscard]] void* allocate_pinned(const exec::Device& device, std::uint64_t bytes) override {
    return own_->allocate_pinned(device, bytes);
  }
  void deallocate_pinned(const exec::Device& device, void* pointer,
                         std::uint64_t bytes) noexcept override {
    own_->deallocate_pinned(device, pointer, bytes);
  }
  [[nodiscard]] std::uint64_t unused(const exec::Device& device) override {
    return own_->unused(device);
  }

  void close() noexcept { is_closed_ = true; }
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

 private:
  const std::shared_ptr<exec::MemoryResource> own_;
  std::atomic<bool> is_closed_{false};
};

}  // namespace warren::api
