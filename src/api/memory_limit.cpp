// SPDX-License-Identifier: Apache-2.0
#include "api/memory_limit.hpp"

#include <fstream>

#include "warren/core/page.hpp"

namespace warren::api {

std::uint64_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) return 0;
  return resident * bytes_of_page();
}

HostMemoryLimit::HostMemoryLimit(std::uint64_t bytes) : is_set_(bytes != 0) {
  if (is_set_) exec::set_memory_limit(exec::Device::cpu(1), for_arrays(bytes));
}
HostMemoryLimit::~HostMemoryLimit() {
  if (is_set_) exec::set_memory_limit(exec::Device::cpu(1), 0);
}

std::uint64_t HostMemoryLimit::for_arrays(std::uint64_t bytes) {
  // Arrays that are not touched yet are not resident: what is not warren's counts for nothing then.
  const std::uint64_t own = exec::memory_use(exec::Device::cpu(1)).current;
  const std::uint64_t resident = resident_memory();
  const std::uint64_t others = resident > own ? resident - own : 0;
  return bytes > others ? bytes - others : 1;
}

}  // namespace warren::api
