// SPDX-License-Identifier: Apache-2.0
// What train() and predict() share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warren/api/training.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/thread_pool.hpp"

#include "api/teams.hpp"

namespace warren::api {

/// ready_data() by the threads of `pool`.
[[nodiscard]] TrainingData prepare(Dataset::Parts parts, const Preparation& how, const Needs& needs,
                                   exec::ThreadPool& pool);
/// The same of a dataset that stays as it is. Throws UsageError for weights that are negative or
/// not finite, too.
[[nodiscard]] TrainingData ready_data(const Dataset& dataset, const Preparation& how,
                                      const Needs& needs, Teams& teams);

/// Each process has read the dataset for itself: throws UsageError where they differ. Collective.
void check_same_data(team::Team& team, const TrainingData& data);

/// All ranks' rows at rank 0, `width` numbers each, in the dataset's order. Collective.
[[nodiscard]] std::vector<float> gathered(team::Team& team, const TrainingData& data,
                                          const std::vector<float>& mine, std::uint64_t width);

/// What each rank of such a call runs on, the CPU's threads shared out.
[[nodiscard]] exec::Device device_of_rank(const RunInfo& ran,
                                          const std::shared_ptr<exec::MemoryResource>& memory);

/// Of the dataset and of its preparation, in the library's words.
[[nodiscard]] std::vector<std::string> warnings_of(const TrainingData& data);

}  // namespace warren::api
