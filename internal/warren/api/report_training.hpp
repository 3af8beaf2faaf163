// SPDX-License-Identifier: Apache-2.0
// Reports of trainings and of what models say, as those of calls (report.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "warren/api/training.hpp"

namespace warren::api {

/// What is told of a training besides its model.
struct TrainingReport {
  RunInfo ran;
  learn::TrainOptions options;  ///< That it ran by.
  learn::MemoryPlan plan;
  TrainingOutcome outcome;
  std::string normalize;
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t features = 0, classes = 0;  ///< Of links the width of an embedding.
  bool is_sparse = false;
  learn::LossKind loss = learn::LossKind::cross_entropy;
  std::array<std::uint64_t, 3> counts{};  ///< Vertices, of links edges, of each split.
  bool explains = false;                  ///< The strategies that were tried are told.
};
/// Takes the sizes of the data.
[[nodiscard]] TrainingReport report_of(const RunInfo& ran, const TrainingData& data,
                                       learn::TrainOptions options, learn::MemoryPlan plan,
                                       TrainingOutcome outcome);
[[nodiscard]] std::string to_json(const TrainingReport& report);
[[nodiscard]] std::string to_text(const TrainingReport& report);
/// "epoch 3 of 200: loss 1.2345, ...", for those who wait.
[[nodiscard]] std::string to_text(const learn::EpochRecord& record, std::uint64_t epochs);

/// What is told of a prediction.
struct PredictionReport {
  RunInfo ran;
  const learn::ModelOptions& model;
  const Prediction& outcome;
  std::string normalize;
  bool is_of_links = false;
  std::optional<std::uint64_t> pairs{};  ///< Of links: pairs that were asked about,
  std::uint64_t likely = 0;              ///< and how many of them are likelier linked than not.
};
[[nodiscard]] std::string to_json(const PredictionReport& report);
[[nodiscard]] std::string to_text(const PredictionReport& report);

}  // namespace warren::api
