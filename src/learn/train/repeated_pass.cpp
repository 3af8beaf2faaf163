// SPDX-License-Identifier: Apache-2.0
#include "learn/train/repeated_pass.hpp"

#include <algorithm>
#include <string_view>

namespace warren::learn {

bool RepeatedPass::is_ready(Context& context) {
  team::Team& team = context.team();
  if (!captures_ || !team.device().is_cuda()) return false;
  const std::uint64_t changes = exec::memory_changes(team.device());
  const bool stands = has_run_ && changes == changes_;
  has_run_ = true;
  changes_ = changes;
  if (team.size() == 1 || is_alone_) return stands;
  // Other carriers wait on the host. All ranks have the same one.
  if (std::string_view(team.collectives_name()) != "nccl") return false;
  return team.all_reduce(stands ? 1 : 0, [](int a, int b) { return std::min(a, b); }) == 1;
}

}  // namespace warren::learn
