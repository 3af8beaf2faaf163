// SPDX-License-Identifier: Apache-2.0
// Ranks as processes of one host: values pass through memory that all have at the same addresses,
// between barriers, and every wait also ends when the team is ended.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/team/team.hpp"

#include "team/process_control.hpp"
#include "team/process_gpus.hpp"
#include "team/shared_segment.hpp"

namespace warren::team {

class ProcessTransport : public Transport {
 public:
  /// Of a rank on a GPU: what it shares memory with, and by rank whether it reaches that GPU's.
  struct OnGpu {
    ProcessGpus* gpus;
    exec::Device device;
    std::vector<bool> reaches;
  };

  ProcessTransport(ProcessControl& control, const SharedSegment& segment, int rank,
                   std::shared_ptr<DeferredFree> deferred_free,
                   std::optional<OnGpu> on_gpu = std::nullopt);
  ~ProcessTransport() override;
  ProcessTransport(const ProcessTransport&) = delete;
  ProcessTransport& operator=(const ProcessTransport&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return control_.ranks; }
  void barrier() override;
  std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) override;
  void sum(std::span<std::uint64_t> values) override;
  std::vector<void*> share(void* pointer) override;
  /// What a failing rank gives back stays as it is (ProcessArena): nobody is waited for.
  void begin_access() noexcept override {}
  void end_access(bool /*has_failed*/) noexcept override {}
  [[nodiscard]] bool spans_processes() const override { return true; }
  [[nodiscard]] const std::shared_ptr<DeferredFree>& deferred_free() const override {
    return deferred_free_;
  }
  void abort(const std::string& message) noexcept override;
  void check() const override { control_.check(); }
  [[nodiscard]] const std::uint32_t* abort_flag() const override { return &control_.has_ended; }

 protected:
  [[nodiscard]] ProcessControl& control() const { return control_; }
  [[nodiscard]] const SharedSegment& segment() const { return segment_; }

 private:
  /// The rank's memory, which it shows, as this one reaches it.
  [[nodiscard]] void* reached(int rank);
  /// Memory of at least `bytes` that the other ranks can read.
  [[nodiscard]] std::byte* staging(std::uint64_t bytes);
  void free_staging() noexcept;

  ProcessControl& control_;
  const SharedSegment& segment_;
  const int rank_;  ///< Of this host's.
  const std::shared_ptr<DeferredFree> deferred_free_;
  const std::optional<OnGpu> on_gpu_;
  std::byte* staging_ = nullptr;
  std::uint64_t staging_bytes_ = 0;
  std::uint64_t sums_ = 0;  ///< Barriers of sum() so far.
};

}  // namespace warren::team
