// SPDX-License-Identifier: Apache-2.0
#include "warren/dataset/npy.hpp"

#include <fmt/format.h>

#include "warren/core/output_file.hpp"
#include "warren/files/npy.hpp"

namespace warren::learn {

void write_npy(const std::string& path, std::uint64_t rows, std::uint64_t columns,
               std::span<const float> values) {
  OutputFile file(path);
  file.write(files::npy_header("<f4", fmt::format("({}, {})", rows, columns)));
  file.write(values.data(), values.size_bytes());
  file.commit();
}

}  // namespace warren::learn
