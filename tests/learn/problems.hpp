// SPDX-License-Identifier: Apache-2.0
// Small trainings for tests.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "warren/exec/memory.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/fixtures.hpp"

namespace warren::fixtures {

inline constexpr learn::ModelKind kAllKinds[] = {learn::ModelKind::gcn, learn::ModelKind::sage,
                                                 learn::ModelKind::gat, learn::ModelKind::gatv2,
                                                 learn::ModelKind::gin};

/// A small dataset that can be learnt, on a directed or an undirected graph.
struct Problem {
  graph::Graph graph;
  learn::Dataset dataset;
};
inline Problem problem(bool is_directed, bool is_sparse, bool is_multi_label) {
  Problem p;
  p.graph = is_directed ? random_graph(600, 3000, 3, false) : generated("community:600,5", true);
  exec::ThreadPool pool(1);
  p.dataset = learn::generate_dataset(p.graph.vertices, 12, 3, 1, pool);
  if (is_sparse) {
    for (float& x : p.dataset.dense) x = x > 0.5f ? x : 0.0f;
    p.dataset.sparse = sparse_rows(p.dataset.dense, p.graph.vertices, p.dataset.width);
    p.dataset.dense.clear();
  }
  if (is_multi_label) {
    p.dataset.loss = learn::LossKind::binary;
    for (std::uint64_t v = 0; v < p.dataset.vertices; ++v) {
      for (std::int32_t c = 0; c < 3; ++c)
        p.dataset.targets.push_back(p.dataset.labels[v] >= c ? 1.0f : 0.0f);
    }
    p.dataset.labels.clear();
  }
  return p;
}

struct Trained {
  std::vector<double> numbers;  ///< Loss and accuracies of every epoch.
  std::vector<float> parameters;
  learn::TrainResult result;
};

/// Dealt out to the ranks at random rather than in ranges.
inline learn::GraphPair in_random_order(const graph::Graph& graph, int size) {
  exec::ThreadPool pool(1);
  const auto partition = graph::partition_random(graph, size, 4);
  learn::GraphPair graphs = pair_of(graph::relabel(graph, partition.new_id.span(), pool), size);
  graphs.input_ids.assign(partition.old_id.data(),
                          partition.old_id.data() + partition.old_id.size());
  return graphs;
}

/// note(score, numbers) of every split's score of every epoch.
template <class Note>
Trained train_team(const learn::GraphPair& graphs, const learn::Dataset& dataset,
                   const learn::TrainOptions& options, const team::TeamOptions& team_options,
                   bool resumes, Note&& note) {
  Trained found;
  team::run_team(team_options, [&](team::Team& team) {
    learn::Trainer trainer(team, graphs, dataset, options);
    if (resumes) trainer.resume();
    const learn::TrainResult result = trainer.run([&](const learn::EpochRecord& record) {
      if (team.rank() != 0) return;
      found.numbers.push_back(record.loss);
      for (const learn::SplitScore& score : record.scores) note(score, found.numbers);
    });
    const auto values = trainer.model().parameters().values().to_host(trainer.context().stream());
    for (const auto& part : team.all_gather_v(std::span<const float>(values)))
      EXPECT_EQ(part, values) << "ranks went apart";
    if (team.rank() != 0) return;
    found.parameters = values;
    found.result = result;
  });
  return found;
}

inline Trained train_on(const Problem& p, const learn::TrainOptions& options,
                        const team::TeamOptions& team_options, bool order = false,
                        bool resumes = false) {
  return train_team(
      order ? in_random_order(p.graph, team_options.ranks) : pair_of(p.graph, team_options.ranks),
      p.dataset, options, team_options, resumes,
      [](const learn::SplitScore& score, std::vector<double>& numbers) {
        numbers.push_back(score.loss);
      });
}

/// On CPU ranks.
inline team::TeamOptions ranks(int count) { return {exec::DeviceKind::cpu, count, count}; }
inline Trained train_on(const Problem& p, const learn::TrainOptions& options, int team_size,
                        bool order = false, bool resumes = false) {
  return train_on(p, options, ranks(team_size), order, resumes);
}

inline learn::TrainOptions quick(learn::ModelKind kind) {
  learn::TrainOptions options;
  options.model.kind = kind;
  options.model.layers = 3;
  options.model.hidden = 16;
  options.model.heads = 4;
  options.model.residual = true;
  options.optimizer.rate = 0.02f;
  if (kind == learn::ModelKind::gin) options.model.norm = learn::NormKind::batch;
  if (kind == learn::ModelKind::gcn) options.model.norm = learn::NormKind::layer;
  options.epochs = 8;
  return options;
}

/// The most memory that a training of so many epochs holds above what was held before; ranks of the
/// CPU hold it together.
template <class Work>
std::uint64_t most_held_by(const Problem& p, const learn::GraphPair& graphs,
                           const learn::TrainOptions& options,
                           const team::TeamOptions& team_options, Work&& work) {
  std::uint64_t peak = 0;
  team::run_team(team_options, [&](team::Team& team) {
    team.barrier();
    const std::uint64_t before = exec::memory_use(team.device()).current;
    exec::reset_peak(team.device());
    team.barrier();
    learn::Trainer trainer(team, graphs, p.dataset, options);
    work(trainer);
    team.barrier();
    if (team.rank() == 0) peak = exec::memory_use(team.device()).peak - before;
  });
  return peak;
}
/// The same of training.
inline std::uint64_t most_held(const Problem& p, const learn::GraphPair& graphs,
                               const learn::TrainOptions& options,
                               const team::TeamOptions& team_options, std::uint64_t epochs) {
  return most_held_by(p, graphs, options, team_options, [&](learn::Trainer& trainer) {
    for (std::uint64_t e = 0; e < epochs; ++e) (void)trainer.epoch();
  });
}

/// A folder of the test's own, gone at its end.
class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = (std::filesystem::temp_directory_path() /
               (std::string("warren_") + test->test_suite_name() + "_" + test->name() +
                std::to_string(::getpid())))
                  .string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

}  // namespace warren::fixtures
