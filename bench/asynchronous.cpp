// SPDX-License-Identifier: Apache-2.0
// The asynchronous BFS or SSSP of one graph by its workers and what they hold, by how far one goes
// on by itself, and by the levels of its queue's priorities and their width.
//
//   bench_asynchronous --device cuda --graph grid:2048x2048 --workers warps,blocks --leaps 48,192
#include "warren/traverse/asynchronous.hpp"

#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "warren/exec/worker.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"

#include "input_graph.hpp"
#include "median.hpp"
#include "run_benchmark.hpp"

namespace {

using namespace warren;

struct Options {
  std::string graph = "grid:2048x2048";
  std::string work = "bfs";
  Vertex source = 0;
  std::vector<double> leaps = {-1.0};
  std::vector<std::uint32_t> levels = {traverse::AsyncOptions{}.levels};
  std::vector<std::uint32_t> keeps = {0};
  std::vector<double> deltas = {0.0};
  std::vector<std::string> workers = {"automatic"};
  int repeat = 7;
};

/// Symmetric, without self-loops; for SSSP with weights drawn from 1 to 64 where it has none.
graph::ShardSource read_source(const Options& options, int devices) {
  const exec::Device cpu = exec::Device::cpu();
  const bool is_weighted = options.work == "sssp";
  graph::ReadOptions read;
  read.build.symmetrize = true;
  read.build.drop_self_loops = true;
  read.read_weights = is_weighted;
  auto made = std::make_shared<graph::Graph>(bench::input_graph(options.graph, read, cpu.pool()));
  if (is_weighted && made->weight_type == graph::WeightType::none)
    graph::set_uniform_weights(*made, 1, 64, 1, cpu.pool());
  return {made, made, graph::make_partition(*made, "ranges", devices, 1).cuts};
}

std::uint64_t sum_of(const traverse::BfsResult& result) { return result.sum_depth; }
std::uint64_t sum_of(const traverse::SsspResult& result) { return result.sum_distance; }

traverse::SearchWorkers workers_named(const std::string& name) {
  if (name == "warps") return traverse::SearchWorkers::warps;
  if (name == "blocks") return traverse::SearchWorkers::blocks;
  return traverse::SearchWorkers::automatic;
}

template <class Search>
nlohmann::json time_search(team::Team& team, const graph::Shard& shard, const Options& options,
                           const std::string& workers, const traverse::AsyncOptions& async) {
  Search search(team, shard, async);
  auto result = search.run(options.source);
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    result = search.run(options.source);
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  const auto& idle = search.report().queue.rank_idle_seconds;
  const double idle_seconds = std::accumulate(idle.begin(), idle.end(), 0.0);
  if (team.rank() == 0) {
    fmt::print(
        "{:5} {:24} {:9} {:5} {:6.1f} {:7.1f} {:7} {:10.3f} {:8.3f} {:8.1f} {:10} {:10} {:14}\n",
        options.work, options.graph, workers, async.keep, async.delta, async.leap, async.levels,
        bench::median(seconds) * 1e3, search.report().redundancy, idle_seconds * 1e3,
        search.report().queue.tasks, result.reached, sum_of(result));
    std::fflush(stdout);
  }
  return {{"work", options.work},
          {"graph", options.graph},
          {"device", team.device().model()},
          {"devices", team.size()},
          {"workers", workers},
          {"keep", async.keep},
          {"delta", async.delta},
          {"leap", async.leap},
          {"levels", async.levels},
          {"seconds", seconds},
          {"redundancy", search.report().redundancy},
          {"idle_seconds", idle_seconds},
          {"tasks", search.report().queue.tasks},
          {"reached", result.reached},
          {"sum", sum_of(result)}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string device = "cpu";
  team::TeamOptions team_options;
  std::string out;
  CLI::App app("Times asynchronous searches by their options");
  app.add_option("--device", device, "cpu or cuda");
  app.add_option("--devices", team_options.ranks, "Ranks");
  app.add_option("--threads", team_options.threads, "Of the CPU");
  bool is_side_by_side = false;
  app.add_flag("--side-by-side", is_side_by_side, "More ranks than GPUs");
  app.add_option("--graph", options.graph, "A generator or a file; symmetrised, no self-loops");
  app.add_option("--work", options.work, "What to time")->check(CLI::IsMember({"bfs", "sssp"}));
  app.add_option("--source", options.source, "Vertex to start from");
  app.add_option("--leaps", options.leaps, "Levels or widths; below 0: chosen")->delimiter(',');
  app.add_option("--levels", options.levels, "Of priority")->delimiter(',');
  app.add_option("--workers", options.workers, "Of a GPU")
      ->check(CLI::IsMember({"automatic", "warps", "blocks"}))
      ->delimiter(',');
  app.add_option("--keeps", options.keeps, "Vertices of a worker's own; 0: chosen")->delimiter(',');
  app.add_option("--deltas", options.deltas, "Of a level of priority; 0: chosen")->delimiter(',');
  app.add_option("--repeat", options.repeat, "Measurements")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  if (is_side_by_side) team_options.sharing = team::Sharing::side_by_side;
  graph::ShardSource source;
  try {
    source = read_source(options, team_options.ranks);
  } catch (const Error& error) {
    fmt::print(stderr, "bench_asynchronous: {}\n", error.what());
    return 1;
  }
  fmt::print("{:5} {:24} {:9} {:>5} {:>6} {:>7} {:>7} {:>10} {:>8} {:>8} {:>10} {:>10} {:>14}\n",
             "work", "graph", "workers", "keep", "delta", "leap", "levels", "ms", "work", "idle ms",
             "tasks", "reached", "sum");
  return bench::run_benchmark(
      "bench_asynchronous", device, team_options, out, [&](team::Team& team) {
        const graph::Shard shard = graph::make_shard(team, source);
        nlohmann::json rows = nlohmann::json::array();
        traverse::AsyncOptions async;
        for (const std::string& workers : options.workers) {
          async.workers = workers_named(workers);
          for (const std::uint32_t keep : options.keeps) {
            async.keep = keep;
            for (const double delta : options.deltas) {
              async.delta = delta;
              for (const double leap : options.leaps) {
                async.leap = leap;
                for (const std::uint32_t levels : options.levels) {
                  async.levels = levels;
                  rows.push_back(
                      options.work == "bfs"
                          ? time_search<traverse::AsyncBfs>(team, shard, options, workers, async)
                          : time_search<traverse::AsyncSssp>(team, shard, options, workers, async));
                }
              }
            }
          }
        }
        return rows;
      });
}
