// SPDX-License-Identifier: Apache-2.0
#include "dataset/free_memory.hpp"

#include "warren/core/error.hpp"
#include "warren/exec/device.hpp"

namespace warren::learn {

void check_free_memory(const std::string& path, std::uint64_t bytes) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;  // Less is not worth a look.
  if (bytes < kSmall) return;
  const std::uint64_t free = exec::Device::cpu(1).memory().free;
  if (free == 0 || bytes <= free) return;
  throw MemoryError("the host for what is in " + path, bytes, free,
                    "use a machine with more memory");
}

}  // namespace warren::learn
