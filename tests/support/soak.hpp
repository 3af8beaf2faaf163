// SPDX-License-Identifier: Apache-2.0
// The same again and again in one process: memory, open files and threads stay as they were. For
// some seconds; with WARREN_SOAK_ROUNDS as many rounds as it says.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "warren/core/page.hpp"

namespace warren::testing_support {

/// What the process holds.
struct Held {
  std::uint64_t resident = 0, files = 0, threads = 0;

  static std::uint64_t entries(const char* folder) {
    std::uint64_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
    return count;
  }
  static Held now() {
    std::uint64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return {resident * bytes_of_page(), entries("/proc/self/fd"), entries("/proc/self/task")};
  }
};

/// body(round) from round 0 on, `first` rounds at least: until then pools and caches have what they
/// keep. Ends early where it failed.
template <class Body>
void soak(std::uint64_t first, Body&& body) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kTime = std::chrono::seconds(5);
  const char* wanted = std::getenv("WARREN_SOAK_ROUNDS");
  const std::uint64_t rounds = wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10);
  Held before;
  std::uint64_t round = 0;
  const auto begin = Clock::now();
  for (; round < first + 1 || (rounds == 0 ? Clock::now() - begin < kTime : round < rounds);
       ++round) {
    if (round == first) before = Held::now();
    body(round);
    if (testing::Test::HasFailure()) break;
  }
  const Held after = Held::now();
  testing::Test::RecordProperty("rounds", std::to_string(round));
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.threads, before.threads);
#ifndef WARREN_SANITIZED  // Sanitizers keep what was freed for a while, and find leaks themselves.
  constexpr std::uint64_t kSlack = std::uint64_t{32} << 20;
  EXPECT_LE(after.resident, before.resident + kSlack) << "after " << round << " rounds";
#endif
}

}  // namespace warren::testing_support
