// SPDX-License-Identifier: Apache-2.0
// How fast build() turns drawn edges into CSR, and how much memory it takes beside the graph.
// Drawing alone, which a build does twice, is timed apart: what is left is counting, filling,
// sorting and merging.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/generate.hpp"

#include "report.hpp"

namespace {

using namespace warren;

class DiscardSink final : public graph::EdgeSink {
 public:
  void take(std::span<const graph::Edge> edges, std::span<const std::int32_t>,
            std::span<const float>) override {
    for (const graph::Edge edge : edges) sum_ += edge.source ^ edge.target;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

// Seconds to draw all edges once.
double time_drawing(graph::EdgeSource& source, exec::ThreadPool& pool) {
  std::atomic<std::uint64_t> sum{0};
  const double begin = now_seconds();
  pool.parallel_for(0, source.pieces(), 1, [&](std::uint64_t piece, std::uint64_t) {
    DiscardSink sink;
    source.read(piece, sink);
    sum.fetch_add(sink.sum(), std::memory_order_relaxed);
  });
  return now_seconds() - begin;
}

nlohmann::json measure(const std::string& text, bool symmetrize, int repeat,
                       exec::ThreadPool& pool) {
  const auto spec = graph::parse_generator(text, 1);
  require(spec.has_value(), text + " is no generator, as kron:20 is");
  const auto source = graph::make_source(*spec);
  const graph::BuildOptions options =
      graph::effective_options(*spec, {symmetrize, symmetrize, false});
  const exec::Device host = exec::Device::cpu(1);
  std::vector<double> seconds;
  nlohmann::json result{
      {"graph", text}, {"symmetrize", options.symmetrize}, {"draws", spec->draws}};
  for (int run = 0; run <= repeat; ++run) {
    exec::reset_peak(host);
    const double begin = now_seconds();
    const graph::Graph graph = graph::build(*source, options, pool);
    const double end = now_seconds();
    if (run > 0) seconds.push_back(end - begin);
    const exec::MemoryUse use = exec::memory_use(host);
    result["edges"] = graph.edges();
    result["check"] = {{"edges", graph.edges()}};
    result["bytes"] = graph.offsets.size() * sizeof(EdgeOffset) + graph.edges() * sizeof(Vertex);
    result["peak_over_final"] = static_cast<double>(use.peak) / static_cast<double>(use.current);
  }
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  const double drawing = 2 * time_drawing(*source, pool);
  result["seconds"] = seconds;
  result["median_seconds"] = median;
  result["drawing_seconds"] = drawing;
  result["edges_per_second"] = result["edges"].get<double>() / median;
  fmt::print(
      "{:<24}{:>12} edges {:>9.3f} s {:>8.1f} Medges/s {:>7.2f} GB/s of graph; drawing {:.3f} s; "
      "peak {:.3f} of final\n",
      text + (options.symmetrize ? " sym" : ""), result["edges"].get<std::uint64_t>(), median,
      result["edges_per_second"].get<double>() / 1e6, result["bytes"].get<double>() / median / 1e9,
      drawing, result["peak_over_final"].get<double>());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the building of generated graphs, as drawn and symmetrised.");
  std::vector<std::string> graphs{"kron:20", "urand:20"};
  int threads = exec::hardware_threads();
  int repeat = 5;
  std::string out;
  app.add_option("graphs", graphs, "Generators");
  app.add_option("--threads", threads, "CPU threads");
  app.add_option("--repeat", repeat, "Timed runs after one warm-up")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "JSON file for the results");
  CLI11_PARSE(app, argc, argv);
  try {
    exec::ThreadPool pool(threads);
    nlohmann::json results = nlohmann::json::array();
    for (const std::string& text : graphs) {
      for (const bool symmetrize : {false, true})
        results.push_back(measure(text, symmetrize, repeat, pool));
    }
    bench::write_report(out,
                        {{"benchmark", "build_graph"}, {"threads", threads}, {"results", results}},
                        exec::DeviceKind::cpu);
  } catch (const Error& error) {
    std::cerr << "bench_build_graph: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
