// SPDX-License-Identifier: Apache-2.0
#include "api/ready_data.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/learn/dataset_mark.hpp"

#include "api/graph_state.hpp"

namespace warren::api {

TrainingData ready_data(const Dataset& dataset, const Preparation& how, const Needs& needs,
                        Teams& teams) {
  TrainingData data;
  teams.on_host([&](exec::ThreadPool& pool) {
    // Others are looked at where the layers' matrices are made.
    if (needs.weights && !needs.negative_weights) dataset.graph().state()->check_weights(pool);
    data = prepare({dataset.graph(), dataset.content(), dataset.name(), dataset.is_generated(), {}},
                   how, needs, pool);
  });
  return data;
}

TrainingData ready_data(Dataset::Parts parts, const Preparation& how, const Needs& needs,
                        const Session& session) {
  TrainingData data;
  session.teams()->on_host(
      [&](exec::ThreadPool& pool) { data = prepare(std::move(parts), how, needs, pool); });
  return data;
}

void check_same_data(team::Team& team, const TrainingData& data) {
  if (!team.spans_processes()) return;
  const auto all = team.all_gather(learn::mark_of(data.graphs, data.dataset));
  for (std::size_t q = 1; q < all.size(); ++q) {
    const std::string text = learn::difference(all[0], all[q]);
    require(text.empty(), fmt::format("the ranks read different datasets, that of rank 0 and that "
                                      "of rank {}: {}; give all ranks the same files",
                                      q, text));
  }
}

std::vector<float> gathered(team::Team& team, const TrainingData& data,
                            const std::vector<float>& mine, std::uint64_t width) {
  std::vector<float> rows;
  const auto parts = team.all_gather_v(std::span<const float>(mine));
  if (!team.reports()) return rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  const auto& ids = data.graphs.input_ids;
  if (ids.empty() || rows.empty()) return rows;
  std::vector<float> ordered(rows.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::copy_n(rows.data() + i * width, width, ordered.data() + ids[i] * width);
  return ordered;
}

std::vector<std::string> warnings_of(const TrainingData& data) {
  std::vector<std::string> warnings;
  for (const auto* list : {&data.dataset.warnings, &data.warnings})
    for (const std::string& warning : *list) warnings.push_back(in_library_words(warning));
  return warnings;
}

}  // namespace warren::api
