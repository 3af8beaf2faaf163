// SPDX-License-Identifier: Apache-2.0
// Reports of trainings and of what models say, as those of calls (report.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
  learn::ModelKind model = learn::ModelKind::gcn;
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t columns = 0;  ///< Classes; of links the width of an embedding.
  std::string normalize;
  double seconds = 0.0;
  std::uint64_t bytes_between_hosts = 0;
  std::optional<learn::Scores> scores{};  ///< Of datasets with labels.
  std::optional<bool> is_trained_on{};    ///< Not of links: the model saw a part of the edges.
  bool is_of_links = false;
  std::optional<std::uint64_t> pairs{};  ///< Of links: pairs that were asked about,
  std::uint64_t likely = 0;              ///< and how many of them are likelier linked than not.
};
/// Takes what the prediction told, but for its rows.
[[nodiscard]] PredictionReport report_of(const RunInfo& ran, const TrainingData& data,
                                         const learn::Checkpoint& model, const Prediction& outcome);
[[nodiscard]] std::string to_json(const PredictionReport& report);
[[nodiscard]] std::string to_text(const PredictionReport& report);

}  // namespace warren::api
