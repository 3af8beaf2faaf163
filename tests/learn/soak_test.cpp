// SPDX-License-Identifier: Apache-2.0
// Trainings of every model again and again in one process, on the whole graph and on batches, with
// checkpoints: losses, memory, open files and threads stay as they were (support/soak.hpp).
#include "support/soak.hpp"

#include <map>

#include <gtest/gtest.h>

#include "learn/problems.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

using namespace learn;
using fixtures::Problem;

TrainOptions options_of(ModelKind kind, bool is_sampled, const std::string& folder) {
  TrainOptions options;
  options.model.kind = kind;
  options.model.layers = 2;
  options.model.hidden = 8;
  options.model.heads = 2;
  options.epochs = 2;
  options.checkpoint = folder;
  if (is_sampled) {
    options.sampled.emplace();
    options.sampled->fanouts = {4, 3};
    options.sampled->batch = 16;
  }
  return options;
}

TEST(LearnSoak, EveryModelAgainAndAgain) {
  constexpr std::uint64_t kForms = std::size(fixtures::kAllKinds) * 2 * 3;
  const Problem p = fixtures::problem(false, false, false);
  const testing_support::TemporaryFolder folder;
  std::map<std::uint64_t, std::vector<double>> losses;
  testing_support::soak(2 * kForms, [&](std::uint64_t round) {
    const std::uint64_t form = round % kForms;
    const TrainOptions options =
        options_of(fixtures::kAllKinds[form / 6], form % 2 == 1,
                   round % 5 == 0 ? folder.file("kept" + std::to_string(form)) : "");
    const auto found =
        fixtures::train_on(p, options, fixtures::ranks(static_cast<int>(1 + form % 3)));
    const auto [first, is_new] = losses.emplace(form, found.numbers);
    EXPECT_EQ(found.numbers, first->second) << "form " << form << ", round " << round;
  });
}

}  // namespace
}  // namespace warren
