// SPDX-License-Identifier: Apache-2.0
// The one source that knows the paths: all others are compiled alike in every clone.
#include "support/folders.hpp"

#include <cstdlib>

namespace warren::testing_support {

std::filesystem::path data_folder() {
  const char* folder = std::getenv("WARREN_TEST_DATA");
  return folder != nullptr ? folder : WARREN_TEST_DATA;
}

std::filesystem::path source_folder() { return WARREN_SOURCE_DIR; }

}  // namespace warren::testing_support
