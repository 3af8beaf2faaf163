// SPDX-License-Identifier: Apache-2.0
// Gathers random rows of a table that is cut over all devices of a team, all devices at once, and
// compares with a kernel written by hand for the row's width. Prints GB/s of gathered rows per
// device, and what part of the handwritten kernel's rate that is.
//
//   bench_gather --device cuda --devices 4 --table-bytes 8589934592 --rows 4194304 --repeat 30
//   --out FILE
#include "warren/memory/gather.hpp"

#include <algorithm>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"

#include "gather_cases.hpp"
#include "median.hpp"
#include "run_benchmark.hpp"

namespace warren::bench {

template <>
void gather_by_hand<exec::Cpu>(const exec::Stream& stream,
                               const memory::GlobalView<std::uint32_t>& table,
                               const std::uint64_t* indices, std::uint64_t count,
                               std::uint32_t* out) {
  stream.device().pool().parallel_for(0, count, 1024, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      std::memcpy(out + i * table.width, table.row(indices[i]), table.width * 4);
  });
}

namespace {

struct Options {
  std::string device = "cpu";
  int devices = 1;
  int threads = 0;
  bool share_devices = false;
  std::uint64_t table_bytes = std::uint64_t{1} << 30;
  std::uint64_t rows = std::uint64_t{1} << 22;
  std::vector<std::uint64_t> row_bytes = {64, 128, 512, 2048};
  std::uint32_t processors = 0;
  int repeat = 30;
  std::string out;
};

struct Rates {
  double ours = 0.0, by_hand = 0.0;  // GB/s, mean over the devices.
};

template <class Backend>
Rates measure_width(team::Team& team, const exec::Stream& stream, const Options& options,
                    std::uint64_t row_bytes) {
  const std::uint64_t width = row_bytes / 4;
  const std::uint64_t rows = options.table_bytes / row_bytes;
  const auto rank = static_cast<std::uint64_t>(team.rank());
  std::vector<std::uint64_t> cuts;
  for (int q = 0; q <= team.size(); ++q) cuts.push_back(rows * static_cast<std::uint64_t>(q));
  memory::GlobalArray<std::uint32_t> table(team, cuts, width, memory::Placement::device);
  fill_words<Backend>(stream, table.local_data(), table.local_size(), rank * table.local_size());
  memory::Buffer<std::uint64_t> indices(team.device(), options.rows);
  draw_rows<Backend>(stream, indices.data(), options.rows, cuts.back(), (rank + 1) << 40);
  memory::Buffer<std::uint32_t> out(team.device(), options.rows * width);
  stream.synchronize();
  team.barrier();

  const auto ours = [&] {
    memory::gather(stream, table.view(), indices.data(), options.rows, out.data(), nullptr,
                   options.processors);
  };
  const auto by_hand = [&] {
    gather_by_hand<Backend>(stream, table.view(), indices.data(), options.rows, out.data());
  };
  const auto rate = [&](auto&& run) {
    exec::Event begin(team.device()), end(team.device());
    team.barrier();
    begin.record(stream);
    run();
    end.record(stream);
    stream.synchronize();
    return static_cast<double>(options.rows * row_bytes) / end.seconds_since(begin) * 1e-9;
  };
  const auto sample = [&] {
    std::vector<std::uint32_t> words(std::min<std::uint64_t>(out.size(), 1 << 20));
    out.download(stream, words, out.size() - words.size());
    stream.synchronize();
    return words;
  };
  ours();
  const std::vector<std::uint32_t> got = sample();
  exec::fill_bytes(stream, out.data(), 0, out.bytes());
  by_hand();
  require(sample() == got, "the two gathers do not agree");

  std::vector<double> rates_ours, rates_by_hand;
  for (int i = 0; i < options.repeat; ++i) {
    rates_ours.push_back(rate(ours));
    rates_by_hand.push_back(rate(by_hand));
  }
  const auto mean = [&](double mine) { return team.all_reduce(mine, exec::Plus{}) / team.size(); };
  return {mean(median(rates_ours)), mean(median(rates_by_hand))};
}

nlohmann::json measure(team::Team& team, const Options& options) {
  nlohmann::json results = nlohmann::json::array();
  const exec::Stream stream(team.device());
  exec::with_backend(team.device(), [&](auto backend) {
    for (const std::uint64_t row_bytes : options.row_bytes) {
      const Rates rates = measure_width<decltype(backend)>(team, stream, options, row_bytes);
      if (team.rank() == 0) {
        fmt::print("{:5} B rows: {:8.1f} GB/s per device, by hand {:8.1f} GB/s, ratio {:.3f}\n",
                   row_bytes, rates.ours, rates.by_hand, rates.ours / rates.by_hand);
      }
      results.push_back({{"row_bytes", row_bytes},
                         {"gigabytes_per_second", rates.ours},
                         {"by_hand_gigabytes_per_second", rates.by_hand},
                         {"ratio", rates.ours / rates.by_hand}});
    }
  });
  return {{"benchmark", "gather"},         {"check", "the same rows as the kernel by hand"},
          {"device", options.device},      {"model", team.device().model()},
          {"devices", team.size()},        {"table_bytes_per_device", options.table_bytes},
          {"rows_per_call", options.rows}, {"processors", options.processors},
          {"repeat", options.repeat},      {"results", results}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Gathers random rows from all devices"};
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--devices", options.devices, "Ranks");
  app.add_option("--threads", options.threads, "CPU threads in all; 0: all");
  app.add_flag("--share-devices", options.share_devices, "Allows more ranks than GPUs");
  app.add_option("--table-bytes", options.table_bytes, "Bytes of each device's part of the table");
  app.add_option("--rows", options.rows, "Rows that each device gathers in one call");
  app.add_option("--row-bytes", options.row_bytes, "Bytes of a row: 64, 128, 512, 2048")
      ->check(CLI::IsMember({64, 128, 512, 2048}));
  app.add_option("--processors", options.processors,
                 "Of a GPU, the most that gather; the kernel by hand has all (0: all)");
  app.add_option("--repeat", options.repeat, "Measurements");
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  return bench::run_benchmark(
      "bench_gather", options.device,
      {.ranks = options.devices,
       .threads = options.threads,
       .sharing = options.share_devices ? team::Sharing::turns : team::Sharing::refused},
      options.out, [&](team::Team& team) { return bench::measure(team, options); });
}
