// SPDX-License-Identifier: Apache-2.0
// Where tests find files.
#pragma once

#include <filesystem>

namespace warren::testing_support {

/// Graphs, datasets and their golden answers: $WARREN_TEST_DATA, else what the build was told.
/// Tests skip themselves where it is absent.
std::filesystem::path data_folder();

/// The project's.
std::filesystem::path source_folder();

}  // namespace warren::testing_support
