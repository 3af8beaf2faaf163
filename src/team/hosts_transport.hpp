// SPDX-License-Identifier: Apache-2.0
// Ranks as processes of several hosts. What a rank publishes comes to lie at the same addresses on
// all hosts, so that a pointer into its arena is one everywhere: on other hosts into a mirror,
// which is as new as what was last published of it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "team/host_notices.hpp"
#include "team/hosts.hpp"
#include "team/process_transport.hpp"

namespace warren::team {

class HostsTransport : public ProcessTransport {
 public:
  HostsTransport(ProcessControl& control, const SharedSegment& segment, Hosts& hosts,
                 HostNotices& notices, std::shared_ptr<DeferredFree> deferred_free);

  [[nodiscard]] int rank() const override { return hosts_.rank(); }
  [[nodiscard]] int size() const override { return hosts_.size(); }
  void barrier() override;
  std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) override;
  void sum(std::span<std::uint64_t> values) override;
  std::vector<void*> share(void* pointer) override;
  Windows share_windows(const Window& window) override;
  void publish(std::span<const Shown> shown, bool is_later) override;
  [[nodiscard]] bool spans_hosts() const override { return true; }
  [[nodiscard]] int host_of(int rank) const override { return hosts_.host_of(rank); }
  [[nodiscard]] std::uint64_t bytes_between_hosts() const override { return hosts_.bytes(); }
  [[nodiscard]] std::unique_ptr<Transport> of_host() override;
  void abort(const std::string& message) noexcept override;

 private:
  [[nodiscard]] Hosts::Look look() const {
    return [this] { notices_.look(); };
  }
  /// Every rank's memory at the addresses that all hosts have.
  std::vector<void*> addresses(void* pointer);
  /// f() ends the team where it throws.
  template <class F>
  auto or_end(F&& f);

  Hosts& hosts_;
  HostNotices& notices_;
};

}  // namespace warren::team
