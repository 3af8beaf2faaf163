// SPDX-License-Identifier: Apache-2.0
// Shards of generated graphs that ranks draw together: those of the whole graph, bit for bit; and
// ranks that name different graphs.
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/generate_shard.hpp"
#include "warren/graph/transform.hpp"

#include "same_shards.hpp"
#include "support/processes.hpp"

namespace warren::graph {
namespace {

using ::testing::HasSubstr;

BuildOptions options_of(bool symmetrizes, bool drops_self_loops, bool keeps_duplicates) {
  BuildOptions options;
  options.symmetrize = symmetrizes;
  options.drop_self_loops = drops_self_loops;
  options.keep_duplicates = keeps_duplicates;
  return options;
}

Graph whole(const GeneratorSpec& spec, const BuildOptions& options,
            const std::optional<UniformWeights>& weights) {
  exec::ThreadPool pool(1);
  Graph graph = build(*make_source(spec), effective_options(spec, options), pool);
  if (weights) set_uniform_weights(graph, weights->low, weights->high, weights->seed, pool);
  return graph;
}

void check_drawn(exec::DeviceKind kind, const std::string& text, const BuildOptions& options,
                 const std::optional<UniformWeights>& weights, const EdgesOptions& edges = {}) {
  const GeneratorSpec spec = parse_generator(text, 7).value();
  const Graph graph = whole(spec, options, weights);
  exec::ThreadPool pool(1);
  for (const int ranks : {1, 2, 3, 5}) {
    const ShardSource source = shard_source(graph, ranks, pool);
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(testing::Message()
                   << text << " on " << ranks << " ranks of " << threads << " threads, symmetrized "
                   << options.symmetrize << ", without loops " << options.drop_self_loops
                   << ", duplicates kept " << options.keep_duplicates << ", weights "
                   << weights.has_value());
      team::TeamOptions team_options = team_of(kind, ranks);
      team_options.threads = ranks * threads;
      team::run_team(team_options, [&](team::Team& team) {
        const Shard expected = make_shard(team, source, edges);
        expect_same_shards(team, draw_shard(team, spec, options, weights, edges), expected);
      });
    }
  }
}

void check_all_drawn(exec::DeviceKind kind) {
  // The last ones have fewer vertices than ranks.
  for (const char* text : {"kron:9", "urand:8,3", "grid:13x7", "community:900,5", "kron:3,40",
                           "grid:9x1", "urand:4,0", "kron:1,3", "grid:3x1", "kron:0"}) {
    for (const bool symmetrizes : {false, true})
      check_drawn(kind, text, options_of(symmetrizes, false, false), std::nullopt);
    check_drawn(kind, text, options_of(true, true, true), UniformWeights{1, 64, 3});
    check_drawn(kind, text, options_of(false, false, true), UniformWeights{0, 1000, 1});
    check_drawn(kind, text, options_of(false, true, false), UniformWeights{1, 9, 1},
                {EdgesPlacement::host, 64});
  }
}

TEST(DrawShard, EqualsTheShardOfTheWholeGraph) { check_all_drawn(exec::DeviceKind::cpu); }

TEST(DrawShardCuda, EqualsTheShardOfTheWholeGraph) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all_drawn(exec::DeviceKind::cuda);
}

/// So many edges that they come in several rounds, and rows that move between ranks, too.
TEST(DrawShard, ExchangesManyEdges) {
  for (const bool symmetrizes : {false, true})
    check_drawn(exec::DeviceKind::cpu, "kron:17,3", options_of(symmetrizes, false, false),
                UniformWeights{1, 9, 1});
}

std::string message_of_draws(const GeneratorSpec& second, const BuildOptions& options,
                             const std::optional<UniformWeights>& weights) {
  const GeneratorSpec spec = parse_generator("kron:6", 1).value();
  try {
    team::run_team(team_of(exec::DeviceKind::cpu, 3), [&](team::Team& team) {
      if (team.rank() == 2)
        (void)draw_shard(team, second, options, weights);
      else
        (void)draw_shard(team, spec, {}, {});
    });
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(DrawShard, RefusesRanksThatNameDifferentGraphs) {
  const GeneratorSpec spec = parse_generator("kron:6", 1).value();
  EXPECT_EQ(message_of_draws(spec, {}, {}), "nothing was thrown");
  const auto refused = HasSubstr("the ranks draw different graphs: rank 2 and rank 0 differ");
  EXPECT_THAT(message_of_draws(parse_generator("kron:6", 2).value(), {}, {}), refused);
  EXPECT_THAT(message_of_draws(parse_generator("urand:6", 1).value(), {}, {}), refused);
  EXPECT_THAT(message_of_draws(parse_generator("kron:7", 1).value(), {}, {}), refused);
  EXPECT_THAT(message_of_draws(spec, options_of(true, false, false), {}), refused);
  EXPECT_THAT(message_of_draws(spec, options_of(false, true, false), {}), refused);
  EXPECT_THAT(message_of_draws(spec, options_of(false, false, true), {}), refused);
  EXPECT_THAT(message_of_draws(spec, {}, UniformWeights{0, 0, 0}),
              HasSubstr("the ranks draw different weights: rank 2 and rank 0 differ"));
}

TEST(DrawShard, RefusesWhatItCannotDraw) {
  const GeneratorSpec spec = parse_generator("kron:6", 1).value();
  const auto message = [&](const std::optional<UniformWeights>& weights, EdgesPlacement placement) {
    try {
      team::run_team(team_of(exec::DeviceKind::cpu, 2), [&](team::Team& team) {
        (void)draw_shard(team, spec, {}, weights, {placement, 0});
      });
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message({}, EdgesPlacement::compressed_host), HasSubstr("needs all lists"));
  EXPECT_THAT(message(UniformWeights{5, 4, 1}, EdgesPlacement::device), HasSubstr("from 5 to 4"));
}

TEST(DrawShardInProcesses, GivesEachItsRows) {
  if (!testing_support::kSeesProcesses) GTEST_SKIP() << "the thread sanitizer sees no processes";
  const GeneratorSpec spec = parse_generator("kron:9", 7).value();
  const UniformWeights weights{1, 9, 1};
  const Graph graph = whole(spec, {}, weights);
  exec::ThreadPool pool(1);
  for (const int ranks : {2, 3}) {
    const ShardSource source = shard_source(graph, ranks, pool);
    testing_support::in_processes(ranks, [&] {
      team::run_team(team_of(exec::DeviceKind::cpu, ranks), [&](team::Team& team) {
        const Shard expected = make_shard(team, source);
        expect_same_shards(team, draw_shard(team, spec, {}, weights), expected);
      });
    });
  }
}

}  // namespace
}  // namespace warren::graph
