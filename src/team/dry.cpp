// SPDX-License-Identifier: Apache-2.0
#include "warren/team/dry.hpp"

namespace warren::team {
namespace {

class DryTransport final : public Transport {
 public:
  explicit DryTransport(int ranks) : ranks_(ranks) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return ranks_; }
  void barrier() override {}
  std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) override {
    std::vector<std::vector<std::byte>> incoming;
    incoming.reserve(outgoing.size());
    for (const auto& part : outgoing) incoming.emplace_back(part.begin(), part.end());
    return incoming;
  }
  void sum(std::span<std::uint64_t> values) override {
    for (std::uint64_t& value : values) value *= static_cast<std::uint64_t>(ranks_);
  }
  std::vector<void*> share(void* pointer) override {
    return std::vector<void*>(static_cast<std::size_t>(ranks_), pointer);
  }
  void begin_access() noexcept override {}
  void end_access(bool /*has_failed*/) noexcept override {}
  [[nodiscard]] const std::shared_ptr<DeferredFree>& deferred_free() const override {
    return deferred_free_;
  }
  void abort(const std::string& /*message*/) noexcept override {}
  void check() const override {}
  [[nodiscard]] const std::uint32_t* abort_flag() const override { return &flag_; }

 private:
  int ranks_;
  std::uint32_t flag_ = 0;
  std::shared_ptr<DeferredFree> deferred_free_ = std::make_shared<DeferredFree>();
};

}  // namespace

std::unique_ptr<Team> dry_team(const exec::Device& device, int ranks) {
  require(ranks >= 1, "a team has at least one rank");
  return std::make_unique<Team>(std::make_unique<DryTransport>(ranks), device, true, 1);
}

}  // namespace warren::team
