// SPDX-License-Identifier: Apache-2.0
// What the aggregator gets out of links that are slow for small messages: tasks of 16 or 64
// bytes that go back and forth between ranks, by the batch, over links slowed on purpose, which
// take so long for each message and carry so many bytes a second. A link's full speed is what
// copies of 64 MiB have on it. A batch of 0: every worker sends its tasks by themselves, over the
// link as it is.
//
//   bench_aggregator --device cuda --devices 2 --side-by-side --bandwidths 10,40 --latencies 1,5,20
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "aggregator_cases.hpp"
#include "median.hpp"
#include "run_benchmark.hpp"

namespace {

using namespace warren;

struct Options {
  std::vector<double> bandwidths = {10.0, 40.0};
  std::vector<double> latencies = {1.0, 5.0, 20.0};
  std::vector<std::uint32_t> batches = {512, 4096, 32768, 131072, 262144};
  std::uint64_t balls = 1 << 20;
  std::uint32_t hops = 16;
  int repeat = 3;
};

constexpr double kLargeCopy = 64.0 * (1 << 20);

template <class Function>
nlohmann::json measure(team::Team& team, const Options& options, double bandwidth, double latency,
                       std::uint32_t batch) {
  schedule::QueueOptions queue_options;
  queue_options.local_capacity = 2 * options.balls;
  queue_options.receive_capacity = 2 * options.balls;
  queue_options.most_pushes = 1;
  queue_options.gather = batch == 0 ? schedule::Gather::never : schedule::Gather::always;
  if (batch != 0) queue_options.batch = batch;
  queue_options.link_delay_nanoseconds = static_cast<std::uint32_t>(latency * 1e3);
  queue_options.slow_bandwidth = bandwidth * 1e9;
  schedule::TaskQueue<typename Function::Task> queue(team, queue_options);
  const exec::Stream stream(team.device());
  Function function;
  function.balls = options.balls;
  function.hops = options.hops;
  function.rank = team.rank();
  function.ranks = team.size();
  std::vector<double> seconds;
  schedule::QueueReport report;
  for (int run = -1; run < options.repeat; ++run) {
    team.barrier();
    const double begin = now_seconds();
    exec::with_backend(team.device(), [&](auto backend) {
      report = bench::Bounce<decltype(backend), Function>::run(team, stream, queue, function);
    });
    team.barrier();
    if (run >= 0) seconds.push_back(team.all_reduce(now_seconds() - begin, exec::Maximum{}));
  }
  const auto ranks = static_cast<std::uint64_t>(team.size());
  const std::uint64_t crossings = ranks * options.balls * options.hops;
  if (report.tasks != crossings + ranks * options.balls) throw Error("tasks were lost");
  // Of each rank: what it sends to the next one, while as much arrives.
  const double bytes = static_cast<double>(crossings / ranks * sizeof(typename Function::Task));
  const double speed = bytes / bench::median(seconds) / 1e9;
  const double large =
      bandwidth > 0.0 ? kLargeCopy / (latency * 1e-6 + kLargeCopy / (bandwidth * 1e9)) / 1e9 : 0.0;
  if (team.rank() == 0) {
    fmt::print("{:10.1f} {:8.1f} {:6} {:8} {:10.2f} {:12.2f} {:8.3f} {:12}\n", bandwidth, latency,
               sizeof(typename Function::Task), batch, speed, large,
               large > 0.0 ? speed / large : 0.0, report.messages_sent);
    std::fflush(stdout);
  }
  return {{"device", team.device().model()},
          {"check", "no task was lost"},
          {"devices", team.size()},
          {"bandwidth", bandwidth},
          {"latency_us", latency},
          {"task_bytes", sizeof(typename Function::Task)},
          {"batch", batch},
          {"seconds", seconds},
          {"gigabytes_per_second", speed},
          {"large_copies", large},
          {"messages", report.messages_sent},
          {"bytes", report.bytes_sent},
          {"spilled", report.spilled}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string device = "cpu";
  team::TeamOptions team_options;
  team_options.ranks = 2;
  std::string out;
  bool is_side_by_side = false;
  CLI::App app("Times the aggregator on slowed links");
  app.add_option("--device", device, "cpu or cuda");
  app.add_option("--devices", team_options.ranks, "Ranks");
  app.add_option("--threads", team_options.threads, "Of the CPU");
  app.add_flag("--side-by-side", is_side_by_side, "More ranks than GPUs");
  app.add_option("--bandwidths", options.bandwidths, "GB/s of a link; 0: as it is")->delimiter(',');
  app.add_option("--latencies", options.latencies, "Microseconds a message")->delimiter(',');
  app.add_option("--batches", options.batches, "Tasks; 0: not gathered")->delimiter(',');
  app.add_option("--balls", options.balls, "Tasks of a rank under way")
      ->check(CLI::Range(32, 1 << 24));
  app.add_option("--hops", options.hops, "Of each task");
  app.add_option("--repeat", options.repeat, "Measurements")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  if (is_side_by_side) team_options.sharing = team::Sharing::side_by_side;
  options.balls = options.balls / bench::kSeedTasks * bench::kSeedTasks;
  fmt::print("{:>10} {:>8} {:>6} {:>8} {:>10} {:>12} {:>8} {:>12}\n", "link GB/s", "us", "bytes",
             "batch", "GB/s", "large copies", "share", "messages");
  return bench::run_benchmark("bench_aggregator", device, team_options, out, [&](team::Team& team) {
    nlohmann::json rows = nlohmann::json::array();
    for (const double bandwidth : options.bandwidths) {
      for (const double latency : options.latencies) {
        for (const std::uint32_t batch : options.batches) {
          rows.push_back(
              measure<bench::BounceFunction<2>>(team, options, bandwidth, latency, batch));
          rows.push_back(
              measure<bench::BounceFunction<8>>(team, options, bandwidth, latency, batch));
        }
      }
    }
    return rows;
  });
}
