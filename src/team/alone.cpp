// SPDX-License-Identifier: Apache-2.0
#include "warren/team/alone.hpp"

namespace warren::team {
namespace {

/// Talks to nobody; what ends the rank's team ends this one, and the other way around.
class LoneTransport final : public Transport {
 public:
  explicit LoneTransport(Transport& of) : of_(of) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override { of_.check(); }
  std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) override {
    return {{outgoing.at(0).begin(), outgoing.at(0).end()}};
  }
  void sum(std::span<std::uint64_t> /*values*/) override { of_.check(); }
  std::vector<void*> share(void* pointer) override { return {pointer}; }
  void begin_access() noexcept override {}
  void end_access(bool /*has_failed*/) noexcept override {}
  [[nodiscard]] const std::shared_ptr<DeferredFree>& deferred_free() const override {
    return of_.deferred_free();
  }
  void abort(const std::string& message) noexcept override { of_.abort(message); }
  void check() const override { of_.check(); }
  [[nodiscard]] const std::uint32_t* abort_flag() const override { return of_.abort_flag(); }

 private:
  Transport& of_;
};

}  // namespace

std::unique_ptr<Team> alone(Team& team) {
  return std::make_unique<Team>(std::make_unique<LoneTransport>(team.transport()), team.device(),
                                true, 1);
}

}  // namespace warren::team
