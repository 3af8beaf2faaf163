// SPDX-License-Identifier: Apache-2.0
// The main program of every test: tells ctest when all that was asked for skipped itself.
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  // Before anything asks CUDA: for ranks that share a GPU side by side.
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  testing::InitGoogleMock(&argc, argv);
  // One program may be several tests at once: each reports to a file of its own in the folder asked
  // for.
  std::string& output = testing::GTEST_FLAG(output);
  const char* report = std::getenv("WARREN_TEST_REPORT");
  if (report != nullptr && output.ends_with('/')) output += report;

  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  constexpr int kSkipped = 77;
  const bool has_only_skips = tests.successful_test_count() == 0 && tests.failed_test_count() == 0;
  return status == 0 && has_only_skips ? kSkipped : status;
}
