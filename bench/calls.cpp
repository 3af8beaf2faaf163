// SPDX-License-Identifier: Apache-2.0
// What a call costs by itself: BFS of a small graph by the library's call, and beside it the same
// search by the engine on a team that stands. bench/calls.py tells what Python adds.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/shard.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/warren.hpp"

#include "input_graph.hpp"
#include "report.hpp"

namespace {

using namespace warren;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> times_of(int repeat, const std::function<void()>& call) {
  constexpr int kFirst = 100;  // Not told.
  std::vector<double> seconds;
  for (int i = 0; i < kFirst + repeat; ++i) {
    const double begin = now_seconds();
    call();
    if (i >= kFirst) seconds.push_back(now_seconds() - begin);
  }
  return seconds;
}

nlohmann::json measure(const std::string& name, DeviceKind kind, int threads, int repeat) {
  const Session session({.device = kind, .threads = threads});
  const Graph graph = read(name);
  std::vector<double> inside;
  BfsResult found;
  const std::vector<double> calls = times_of(repeat, [&] {
    found = bfs(graph, {.source = 0, .device = kind, .devices = 1, .session = session});
    inside.push_back(found.info.seconds);
  });
  // The engine alone: the run and its results on the device, as the call has them.
  std::vector<double> engine;
  const team::TeamOptions options{kind, 1, found.info.threads};
  exec::ThreadPool pool(found.info.threads);
  const graph::ShardSource source =
      graph::shard_source(bench::input_graph(name, {}, pool), 1, pool);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::BfsOptions bfs_options;
    bfs_options.adds_up = false;
    traverse::Bfs search(team, shard, bfs_options);
    memory::Buffer<Vertex> depth(team.device(), graph.vertices());
    memory::Buffer<Vertex> parent(team.device(), graph.vertices());
    engine = times_of(repeat, [&] {
      (void)search.run(0);
      search.write(depth.data(), parent.data());
    });
  });
  return {{"graph", name},
          {"check", {{"reached", found.reached}}},
          {"call_seconds", median(calls)},
          {"inside_seconds", median(inside)},
          {"engine_seconds", median(engine)},
          {"added_seconds", median(calls) - median(engine)},
          {"repeat", repeat}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a call of the library adds to the engine, on small graphs");
  std::vector<std::string> graphs{"grid:4x4"};
  std::string device = "cpu", out;
  int threads = 0, repeat = 2000;
  app.add_option("graphs", graphs, "Generators or files (grid:4x4)");
  app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--threads", threads, "Of the CPU, of the call and of the engine (all)");
  app.add_option("--repeat", repeat, "Calls (2000)")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "A file for the results as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    const DeviceKind kind = device == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
    nlohmann::json rows = nlohmann::json::array();
    for (const std::string& name : graphs) {
      rows.push_back(measure(name, kind, threads, repeat));
      const auto& row = rows.back();
      fmt::print("{}: a call {:.1f} us, the engine alone {:.1f} us\n", name,
                 row["call_seconds"].get<double>() * 1e6,
                 row["engine_seconds"].get<double>() * 1e6);
    }
    bench::write_report(out, rows, kind);
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
