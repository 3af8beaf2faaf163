// SPDX-License-Identifier: Apache-2.0
// The checks of a machine: all pass here, and one whose answer is spoilt says so and stops no
// other.
#include "warren/api/check_machine.hpp"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckMachine : public ::testing::Test {
 protected:
  void TearDown() override { (void)unsetenv("WARREN_CHECK_FAULT"); }
  static void spoil(const char* check) { (void)setenv("WARREN_CHECK_FAULT", check, 1); }
};

CheckOptions on_cpu(int devices) {
  CheckOptions options;
  options.device = DeviceKind::cpu;
  options.devices = devices;
  return options;
}

TEST_F(CheckMachine, AllPassOnOneRankAndOnTwoWhereNobodySays) {
  const std::vector<CheckResult> found = check_machine(on_cpu(0));
  for (const CheckResult& check : found) {
    EXPECT_EQ(check.verdict, CheckVerdict::passed) << check.name << ": " << check.message;
    EXPECT_EQ(check.message, "");
  }
  const auto runs_on = [&](const char* where) {
    return std::ranges::count_if(
        found, [&](const CheckResult& check) { return check.name.ends_with(where); });
  };
  EXPECT_GT(runs_on(", 1 rank"), 10);
  EXPECT_EQ(runs_on(", 1 rank"), runs_on(", 2 ranks"));
  EXPECT_EQ(check_ranks(DeviceKind::cpu), 2);
}

TEST_F(CheckMachine, OneThatFailsStopsNoOther) {
  spoil("core");
  const std::vector<CheckResult> found = check_machine(on_cpu(1));
  int failed = 0;
  for (const CheckResult& check : found) {
    if (check.verdict == CheckVerdict::passed) continue;
    ++failed;
    EXPECT_STREQ(name_of(check.verdict), "failed");
    EXPECT_THAT(check.name, StartsWith("core"));
    EXPECT_THAT(check.message, HasSubstr("spoilt"));
  }
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(found.back().name, StartsWith("train-sampled"));
}

TEST_F(CheckMachine, WhatCannotBeIsRefused) {
  EXPECT_THROW((void)check_machine(on_cpu(-1)), UsageError);
  spoil("bsf");
  EXPECT_THROW((void)check_machine(on_cpu(1)), UsageError);
  if (exec::cuda_device_count() > 0) return;
  CheckOptions options;
  options.device = DeviceKind::cuda;
  EXPECT_THROW((void)check_machine(options), UsageError);
}

}  // namespace
}  // namespace warren
