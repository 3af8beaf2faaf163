// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/context.hpp"

#include "learn/set_kernel.hpp"

namespace warren::learn {

void Context::begin(std::uint64_t seed, std::uint64_t epoch, bool is_training) {
  is_training_ = is_training;
  if (is_training) detail::set_value(stream_, epoch_key(seed, epoch), epoch_key_.data());
}

}  // namespace warren::learn
