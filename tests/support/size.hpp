// SPDX-License-Identifier: Apache-2.0
// How much a test does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace warren::testing_support {

/// Least of all where WARREN_TEST_SMALL is set: under compute-sanitizer, where a step takes a
/// thousand times as long.
inline bool is_tiny() { return std::getenv("WARREN_TEST_SMALL") != nullptr; }

/// Less where everything takes ten times as long and more: in sanitized builds, too.
inline bool is_small() {
#ifdef WARREN_SANITIZED
  return true;
#else
  return is_tiny();
#endif
}

/// Few widths of rows: the thread sanitizer looks for races, which numbers do not make.
inline bool sees_few() {
#ifdef WARREN_SANITIZED_THREADS
  return true;
#else
  return is_tiny();
#endif
}

/// One of three sizes of the same thing.
template <class T>
[[nodiscard]] T of_size(T usual, T small, T tiny) {
  return is_tiny() ? tiny : is_small() ? small : usual;
}

/// Of many shapes, or of many values that are compared with a reference of one thread, the thread
/// sanitizer sees every so manieth: it looks for races, which numbers do not make.
inline std::size_t step_under_threads([[maybe_unused]] std::size_t step) {
#ifdef WARREN_SANITIZED_THREADS
  return step;
#else
  return 1;
#endif
}

/// Of what is tried with many shapes, the thread sanitizer sees those with work for several threads
/// and one without: erases the others, by name.
template <class Named>
void keep_for_threads([[maybe_unused]] std::vector<Named>& all) {
#ifdef WARREN_SANITIZED_THREADS
  constexpr std::array kSeen{
      "no edges",  "loops and duplicates", "star",      "grid",
      "kronecker", "kronecker, directed",  "community", "community, weighted",
      "random 1",  "large star",           "random"};
  std::erase_if(all,
                [&](const Named& named) { return std::ranges::count(kSeen, named.name) == 0; });
#endif
}

/// Randomised runs: WARREN_TEST_RUNS where that is set.
inline int random_runs(int usual) {
  const char* asked = std::getenv("WARREN_TEST_RUNS");
  if (asked != nullptr) return std::atoi(asked);
  return is_small() ? (usual + 3) / 4 : usual;
}

/// What these cases are drawn by: WARREN_TEST_SEED, for others than usual.
inline std::uint64_t random_seed(std::uint64_t usual) {
  const char* asked = std::getenv("WARREN_TEST_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : usual;
}

}  // namespace warren::testing_support
