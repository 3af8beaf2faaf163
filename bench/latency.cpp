// SPDX-License-Identifier: Apache-2.0
// Latency of dependent reads: one thread of the first device follows a cycle through a memory that
// is spread evenly over all devices, once by direct reads of the others' memory, once in managed
// memory, whose pages move to the reader (table I of Yang et al.: WholeGraph, SC 2022). Managed
// memory is measured only up to half of what a device has free.
//
//   bench_latency --device cuda --devices 4 --mebibytes 8192 16384 --out FILE
#include <algorithm>
#include <bit>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/memory/managed_buffer.hpp"

#include "latency_cases.hpp"
#include "run_benchmark.hpp"

namespace warren::bench {
namespace {

struct Options {
  std::string device = "cpu";
  int devices = 1;
  bool share_devices = false;
  std::vector<std::uint64_t> mebibytes = {64, 256};
  std::uint64_t steps = 100'000;
  int repeat = 3;
  std::string out;
};

/// A walk through `n` words by the first rank's device.
class Walk {
 public:
  Walk(team::Team& team, const Options& options, std::uint64_t n)
      : team_(team), options_(options), n_(n), stream_(team.device()), place_(team.device(), 1) {
    for (int q = 0; q <= team.size(); ++q) {
      cuts_.push_back(n / static_cast<std::uint64_t>(team.size()) * static_cast<std::uint64_t>(q));
    }
    cuts_.back() = n;
    exec::fill_bytes(stream_, place_.data(), 0, place_.bytes());
  }

  /// Seconds of each run, on the first rank; the words are written once, and pages stay.
  template <class Backend>
  std::vector<double> shared() {
    memory::GlobalArray<std::uint64_t> words(team_, cuts_, 1, memory::Placement::device);
    write<Backend>(words.local_data());
    const FollowShared kernel{words.view(), options_.steps, place_.data()};
    (void)follow<Backend>(kernel);
    std::vector<double> seconds(static_cast<std::size_t>(options_.repeat));
    for (double& run : seconds) run = follow<Backend>(kernel);
    return seconds;
  }

  /// The same in managed memory; before each run every device writes its part, and has its pages.
  template <class Backend>
  std::vector<double> managed() {
    memory::ManagedBuffer<std::uint64_t> mine;
    if (team_.rank() == 0) mine = memory::ManagedBuffer<std::uint64_t>(team_.device(), n_);
    // Of one process, and so one address for all.
    const auto address = team_.all_gather(reinterpret_cast<std::uint64_t>(mine.data())).front();
    auto* words = reinterpret_cast<std::uint64_t*>(address);
    std::vector<double> seconds(static_cast<std::size_t>(options_.repeat));
    for (double& run : seconds) {
      write<Backend>(words + cuts_[static_cast<std::size_t>(team_.rank())]);
      run = follow<Backend>(FollowManaged{words, options_.steps, place_.data()});
    }
    return seconds;
  }

 private:
  /// Writes this rank's part of the cycle, and waits for all ranks' parts.
  template <class Backend>
  void write(std::uint64_t* words) {
    const auto rank = static_cast<std::size_t>(team_.rank());
    write_cycle<Backend>(stream_, cuts_[rank + 1] - cuts_[rank],
                         WriteCycle{words, cuts_[rank], n_});
    stream_.synchronize();
    team_.barrier();
  }

  /// Collective; returns when the walk is over.
  template <class Backend, class Kernel>
  double follow(const Kernel& kernel) {
    double seconds = 0.0;
    if (team_.rank() == 0) {
      std::uint64_t expected = place_.to_host(stream_).front();
      for (std::uint64_t i = 0; i < options_.steps; ++i) expected = next_word(expected, n_);
      exec::Event begin(team_.device()), end(team_.device());
      begin.record(stream_);
      bench::follow<Backend>(stream_, kernel);
      end.record(stream_);
      require(place_.to_host(stream_).front() == expected, "the walk has lost its way");
      seconds = end.seconds_since(begin);
    }
    team_.barrier();
    return seconds;
  }

  team::Team& team_;
  const Options& options_;
  std::uint64_t n_;
  exec::Stream stream_;
  memory::Buffer<std::uint64_t> place_;
  std::vector<std::uint64_t> cuts_;
};

nlohmann::json row(const team::Team& team, const Options& options, const std::string& memory,
                   std::uint64_t bytes, std::vector<double> seconds) {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double microseconds = sorted[sorted.size() / 2] / static_cast<double>(options.steps) * 1e6;
  if (team.rank() == 0)
    fmt::print("{:>10} {:8} {:9.3f} us a read\n", human_bytes(bytes), memory, microseconds);
  return {{"memory", memory},
          {"bytes", bytes},
          {"microseconds", microseconds},
          {"seconds", std::move(seconds)}};
}

/// Why no device may get `bytes` of managed memory, or nothing. Collective.
std::string why_not_managed(team::Team& team, std::uint64_t bytes) {
  const std::uint64_t room = team.all_reduce(exec::managed_room(team.device()), exec::Minimum{});
  if (room == 0) return fmt::format("{} has no managed memory", team.device().name());
  if (bytes <= room) return {};
  return fmt::format("a device has room for {}, half of what it has free", human_bytes(room));
}

nlohmann::json measure(team::Team& team, const Options& options) {
  nlohmann::json results = nlohmann::json::array(), left_out = nlohmann::json::array();
  exec::with_backend(team.device(), [&](auto backend) {
    using Backend = decltype(backend);
    for (const std::uint64_t mebibytes : options.mebibytes) {
      const std::uint64_t bytes = mebibytes << 20;
      Walk walk(team, options, bytes / sizeof(std::uint64_t));
      results.push_back(row(team, options, "peer", bytes, walk.shared<Backend>()));
      team.barrier();  // Every rank has given its part back.
      const std::string why = why_not_managed(team, bytes);
      if (why.empty()) {
        results.push_back(row(team, options, "managed", bytes, walk.managed<Backend>()));
      } else {
        if (team.rank() == 0) fmt::print("{:>10} managed  left out: {}\n", human_bytes(bytes), why);
        left_out.push_back({{"memory", "managed"}, {"bytes", bytes}, {"why", why}});
      }
      team.barrier();
    }
  });
  return {{"benchmark", "latency"},   {"check", "the walks end where they must"},
          {"device", options.device}, {"model", team.device().model()},
          {"devices", team.size()},   {"steps", options.steps},
          {"repeat", options.repeat}, {"results", results},
          {"left_out", left_out}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Latency of dependent reads over all devices' memory"};
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--devices", options.devices, "Ranks");
  app.add_flag("--share-devices", options.share_devices, "Allows more ranks than GPUs");
  app.add_option("--mebibytes", options.mebibytes,
                 "Memory of all devices together, in MiB: powers of two")
      ->check([](const std::string& text) {
        const bool is_number =
            !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return is_number && text.size() < 10 && std::has_single_bit(std::stoull(text))
                   ? std::string()
                   : text + " is no power of two";
      });
  app.add_option("--steps", options.steps, "Reads of a run")->check(CLI::PositiveNumber);
  app.add_option("--repeat", options.repeat, "Runs")->check(CLI::PositiveNumber);
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  return bench::run_benchmark(
      "bench_latency", options.device,
      {.ranks = options.devices,
       .sharing = options.share_devices ? team::Sharing::turns : team::Sharing::refused},
      options.out, [&](team::Team& team) { return bench::measure(team, options); });
}
