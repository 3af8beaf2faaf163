// SPDX-License-Identifier: Apache-2.0
// What the abstractions cost: the same loops written by hand, through exec::launch, and as a step
// program. A ratio of 1 is free; past 1.03 something has to be mended. Prints seconds of one loop
// (the fastest of the repeats) and the ratios.
//
//   bench_abstraction --device cpu --threads 2 --rows 200000 --degree 16 --repeat 31 --out FILE
#include <algorithm>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"

#include "abstraction_cases.hpp"
#include "run_benchmark.hpp"

namespace warren::bench {

template <>
void run_by_hand<exec::Cpu>(const exec::Stream& stream, Loop loop, const Problem& p,
                            std::uint32_t times) {
  exec::ThreadPool& pool = stream.device().pool();
  const std::uint64_t tasks = loop == Loop::axpy ? p.elements : p.rows;
  const std::uint64_t grain = exec::detail::cpu_grain(tasks, pool.size(), 0);
  for (std::uint32_t time = 0; time < times; ++time) {
    pool.parallel_for(0, tasks, grain, [&](std::uint64_t begin, std::uint64_t end) {
      const float* x = p.x;
      float* y = p.y;
      if (loop == Loop::axpy) {
        for (std::uint64_t i = begin; i < end; ++i) y[i] = 2.0f * x[i] + y[i];
        return;
      }
      for (std::uint64_t row = begin; row < end; ++row) {
        float sum = 0.0f;
        for (std::uint64_t e = p.offsets[row]; e < p.offsets[row + 1]; ++e) sum += x[p.targets[e]];
        y[row] = sum;
      }
    });
  }
}

namespace {

struct Options {
  std::string device = "cpu";
  int threads = 0;
  std::uint64_t rows = 200'000;
  std::uint64_t degree = 16;
  std::uint64_t elements = 1 << 20;
  std::uint32_t times = 10;
  int repeat = 31;
  std::string out;
};

/// The fastest: what is slower was disturbed, and the loops to compare differ by less than that.
double fastest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

template <class T>
memory::Buffer<T> upload(const exec::Stream& stream, const std::vector<T>& values) {
  memory::Buffer<T> buffer(stream.device(), values.size());
  buffer.upload(stream, values);
  stream.synchronize();
  return buffer;
}

nlohmann::json measure(team::Team& team, const Options& options) {
  const exec::Stream stream(team.device());
  std::mt19937 random(7);
  std::vector<std::uint64_t> offsets = {0};
  for (std::uint64_t row = 0; row < options.rows; ++row)
    offsets.push_back(offsets.back() + random() % (2 * options.degree + 1));
  std::vector<std::uint32_t> targets(offsets.back());
  for (std::uint32_t& target : targets)
    target = static_cast<std::uint32_t>(random() % options.rows);
  const std::uint64_t length = std::max(options.rows, options.elements);
  const auto offsets_there = upload(stream, offsets);
  const auto targets_there = upload(stream, targets);
  const auto x = upload(stream, std::vector<float>(length, 1.0f));
  const auto y = upload(stream, std::vector<float>(length, 0.0f));
  const Problem problem{offsets_there.data(), targets_there.data(), x.data(), y.data(),
                        options.rows,         options.elements};

  nlohmann::json results = nlohmann::json::array();
  const std::pair<Loop, const char*> loops[] = {{Loop::rows_by_thread, "row sums, a thread a row"},
                                                {Loop::rows_by_tile, "row sums, a tile of 8"},
                                                {Loop::rows_by_warp, "row sums, a warp"},
                                                {Loop::axpy, "axpy"}};
  exec::with_backend(team.device(), [&](auto backend) {
    using Backend = decltype(backend);
    for (const auto& [loop, name] : loops) {
      std::vector<double> by_hand, by_launch, by_program;
      const auto time = [&](std::vector<double>& seconds, auto&& run) {
        const double begin = now_seconds();
        run();
        seconds.push_back((now_seconds() - begin) / options.times);
      };
      // In turns, so that a change of the clock meets all three.
      for (int i = 0; i < options.repeat; ++i) {
        time(by_hand,
             [&, which = loop] { run_by_hand<Backend>(stream, which, problem, options.times); });
        time(by_launch,
             [&, which = loop] { run_by_launch<Backend>(stream, which, problem, options.times); });
        time(by_program, [&, which = loop] {
          run_by_program<Backend>(team, stream, which, problem, options.times);
        });
      }
      const double hand = fastest(by_hand);
      const double launch = fastest(by_launch);
      const double program = fastest(by_program);
      fmt::print(
          "{:26} by hand {:9.2f} us, launch {:9.2f} us ({:.3f}), program {:9.2f} us ({:.3f})\n",
          name, hand * 1e6, launch * 1e6, launch / hand, program * 1e6, program / hand);
      results.push_back({{"loop", name},
                         {"by_hand_s", hand},
                         {"launch_s", launch},
                         {"program_s", program},
                         {"launch_ratio", launch / hand},
                         {"program_ratio", program / hand}});
    }
  });
  return {{"benchmark", "abstraction"},     {"device", team.device().name()},
          {"model", team.device().model()}, {"processors", team.device().processors()},
          {"rows", options.rows},           {"edges", offsets.back()},
          {"elements", options.elements},   {"times", options.times},
          {"repeat", options.repeat},       {"results", results}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"What the abstractions cost"};
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--threads", options.threads, "CPU threads; 0: all");
  app.add_option("--rows", options.rows, "Rows of the matrix");
  app.add_option("--degree", options.degree, "Mean length of a row");
  app.add_option("--elements", options.elements, "Elements of the axpy");
  app.add_option("--times", options.times, "Loops in one measurement");
  app.add_option("--repeat", options.repeat, "Measurements");
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  return bench::run_benchmark("bench_abstraction", options.device, {.threads = options.threads},
                              options.out,
                              [&](team::Team& team) { return bench::measure(team, options); });
}
