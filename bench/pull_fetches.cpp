// SPDX-License-Identifier: Apache-2.0
// Pieces of a few rows, each drawn at random from the other devices, are summed by a thread, a warp
// or a block each: figure 10(c) of MGG.
//
//   bench_pull_fetches --device cuda --devices 2 --ks 16,128 --piece 2 --out FILE
#include <algorithm>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/team/team.hpp"

#include "pull_fetches_cases.hpp"
#include "run_benchmark.hpp"

namespace warren::bench {
namespace {

using nlohmann::json;

struct Options {
  std::string device = "cpu";
  int devices = 2;
  bool share_devices = false;
  std::uint64_t rows = std::uint64_t{1} << 20;    ///< Of the table, a device.
  std::uint64_t pieces = std::uint64_t{1} << 21;  ///< A device.
  std::uint32_t piece = 2;
  std::vector<std::uint64_t> ks = {16, 128};
  int repeat = 10;
  std::string out;
};

/// Rows of the other ranks.
std::vector<std::uint64_t> draw(const Options& options, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank));
  const auto others = static_cast<std::uint64_t>(options.devices) - 1;
  std::vector<std::uint64_t> rows(options.pieces * options.piece);
  for (std::uint64_t& row : rows)
    row = (random() % (others * options.rows) +
           (static_cast<std::uint64_t>(rank) + 1) * options.rows) %
          ((others + 1) * options.rows);
  return rows;
}

template <class Backend>
json measure_width(team::Team& team, const Options& options, std::uint64_t k) {
  const exec::Stream stream(team.device());
  std::vector<std::uint64_t> cuts;
  for (int q = 0; q <= team.size(); ++q)
    cuts.push_back(options.rows * static_cast<std::uint64_t>(q));
  memory::GlobalArray<float> table(team, cuts, k, memory::Placement::device);
  table.buffer().upload(
      stream, std::vector<float>(table.local_size(), 1.0f + static_cast<float>(team.rank())));
  const std::vector<std::uint64_t> drawn = draw(options, team.rank());
  memory::Buffer<std::uint64_t> rows(team.device(), drawn.size());
  rows.upload(stream, drawn);
  memory::Buffer<float> sums(team.device(), options.pieces * k);
  stream.synchronize();
  const SumPieces kernel{table.view(), rows.data(), options.piece, sums.data()};
  json results = json::array();
  std::vector<float> expected;
  for (const auto& [fetch, name] :
       {std::pair{Fetch::thread, "thread"}, std::pair{Fetch::warp, "warp"},
        std::pair{Fetch::block, "block"}}) {
    std::vector<double> seconds;
    for (int run = 0; run <= options.repeat; ++run) {
      exec::Event begin(team.device()), end(team.device());
      team.barrier();
      begin.record(stream);
      sum_pieces<Backend>(stream, options.pieces, kernel, fetch);
      end.record(stream);
      stream.synchronize();
      const double slowest = team.all_reduce(end.seconds_since(begin), exec::Maximum{});
      if (run > 0) seconds.push_back(slowest);
    }
    const std::vector<float> found = sums.to_host(stream);
    require(expected.empty() || found == expected, "the sums do not agree");
    expected = found;
    results.push_back({{"fetch", name}, {"k", k}, {"piece", options.piece}, {"seconds", seconds}});
    std::sort(seconds.begin(), seconds.end());
    if (team.rank() == 0)
      fmt::print("k {:4}, a {:<6} a piece of {} rows: {:.3f} ms\n", k, name, options.piece,
                 seconds[seconds.size() / 2] * 1e3);
  }
  return results;
}

json measure(team::Team& team, const Options& options) {
  json results = json::array();
  exec::with_backend(team.device(), [&](auto backend) {
    for (const std::uint64_t k : options.ks) {
      for (const json& row : measure_width<decltype(backend)>(team, options, k))
        results.push_back(row);
    }
  });
  return {{"check", "the same sums each way"},
          {"devices", team.size()},
          {"pieces", options.pieces},
          {"results", results}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Sums of remote rows by threads, warps and blocks"};
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--devices", options.devices, "Ranks")->check(CLI::Range(2, kMaxRanks));
  app.add_flag("--share-devices", options.share_devices, "Allows more ranks than GPUs");
  app.add_option("--rows", options.rows, "Rows of the table on each device")
      ->check(CLI::PositiveNumber);
  app.add_option("--pieces", options.pieces, "Pieces on each device")->check(CLI::PositiveNumber);
  app.add_option("--piece", options.piece, "Rows of a piece")->check(CLI::PositiveNumber);
  app.add_option("--ks", options.ks, "Widths")->delimiter(',');
  app.add_option("--repeat", options.repeat, "Measurements")->check(CLI::PositiveNumber);
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  return bench::run_benchmark(
      "bench_pull_fetches", options.device,
      {.ranks = options.devices,
       .sharing = options.share_devices ? team::Sharing::turns : team::Sharing::refused},
      options.out, [&](team::Team& team) { return bench::measure(team, options); });
}
