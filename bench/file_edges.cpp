// SPDX-License-Identifier: Apache-2.0
// BFS, components and PageRank of a graph whose lists stay in a .wgr file, beside the rate at which
// the same reader reads the file from its first byte to its last and nothing is done with it.
//
//   bench_file_edges --write kron:22 --file k22.wgr       writes the file: in memory, and once
//   bench_file_edges --file k22.wgr --host-memory 128M    runs, and tells the most memory it held
//
// Reads pass the page cache by where the file system allows that; where it does not, what was read
// is dropped from it, and the rows say so ("direct"). `cpu_seconds` are those of all threads: where
// they are more than the threads' number times the seconds that reading takes, processors limit.
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/files/window_reader.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/graph/io.hpp"
#include "warren/traverse/streamed.hpp"

#include "input_graph.hpp"
#include "median.hpp"
#include "report.hpp"

namespace {

using namespace warren;

struct Options {
  std::string write, file, out, device = "cpu", work = "all";
  int threads = 0, repeat = 3;
  std::uint64_t host_memory = 0;
  graph::EdgeFileOptions cut;
  traverse::PageRankOptions pagerank;
  bool verify = false;
};

std::uint64_t kibibytes_of(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string name, rest;
  while (file >> name) {
    if (std::uint64_t value = 0; name == key && file >> value) return value;
    std::getline(file, rest);
  }
  return 0;
}

void write(const Options& options) {
  const exec::Device cpu = exec::Device::cpu(options.threads);
  graph::ReadOptions read;
  read.build.symmetrize = true;
  read.build.drop_self_loops = true;
  const graph::Graph graph = bench::input_graph(options.write, read, cpu.pool());
  const std::uint64_t bytes = graph::write_graph(graph, options.file, cpu.pool());
  fmt::print("{}: {} vertices, {} edges, {} bytes\n", options.file, graph.vertices, graph.edges(),
             bytes);
}

/// once() so often, after a run that warms up; a row of its times.
template <class Once>
nlohmann::json timed(const Options& options, const std::string& work, Once&& once) {
  (void)once();
  std::vector<double> seconds, waited, cpu;
  traverse::StreamFigures last;
  for (int run = 0; run < options.repeat; ++run) {
    const std::clock_t begin = std::clock();
    last = once();
    cpu.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    seconds.push_back(last.seconds);
    waited.push_back(last.waited_seconds);
  }
  const double median = bench::median(seconds);
  return {{"work", work},
          {"seconds", seconds},
          {"median", median},
          {"bytes_read", last.bytes_read},
          {"bytes_per_second", static_cast<double>(last.bytes_read) / median},
          {"waited_seconds", bench::median(waited)},
          {"cpu_seconds", bench::median(cpu)}};
}

traverse::StreamFigures read_all(const graph::EdgeFile& file) {
  const files::PositionedFile source(file.path());
  const graph::EdgeFileOptions& cut = file.options();
  constexpr std::uint64_t kUnit = files::PositionedFile::kAlignment;
  std::vector<char> memory(cut.windows * files::WindowReader::slot_bytes(cut.window_bytes, 0) +
                           kUnit);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  files::WindowReader reader(source, memory.data() + (kUnit - address % kUnit) % kUnit, cut.windows,
                             cut.window_bytes, 0, cut.readers);
  const double begin = now_seconds();
  reader.start((source.size() + cut.window_bytes - 1) / cut.window_bytes, [&](std::uint64_t i) {
    const std::uint64_t offset = i * cut.window_bytes;
    return files::WindowPlaces{{offset, 0},
                               {std::min(cut.window_bytes, source.size() - offset), 0}};
  });
  while (reader.next()) reader.release();
  const double seconds = now_seconds() - begin;
  return {reader.bytes_read(), seconds, reader.waited_seconds()};
}

void set_verdict(nlohmann::json& row, const traverse::Verdict& verdict) {
  row["verified"] = verdict.correct;
  if (!verdict.correct) row["fault"] = verdict.message;
}

nlohmann::json measure(const Options& options) {
  const exec::Device device =
      options.device == "cuda" ? exec::Device::cuda(0) : exec::Device::cpu(options.threads);
  const exec::Device cpu = exec::Device::cpu(options.threads);
  const double begin = now_seconds();
  const graph::EdgeFile file(options.file, options.cut);
  const double open_seconds = now_seconds() - begin;
  nlohmann::json rows = nlohmann::json::array();
  const auto wants = [&](const char* work) {
    return options.work == "all" || options.work == work;
  };
  rows.push_back(timed(options, "sequential", [&] { return read_all(file); }));
  rows[0]["passed"] = rows[0]["bytes_read"].get<std::uint64_t>() >= file.file_bytes();
  const double sequential = rows[0]["bytes_per_second"];
  const auto add = [&](nlohmann::json row) {
    row["of_sequential"] = row["bytes_per_second"].get<double>() / sequential;
    rows.push_back(std::move(row));
  };
  if (wants("bfs")) {
    traverse::StreamedBfs bfs(device, file);
    traverse::StreamedBfsResult result;
    const Vertex source = file.busiest();
    auto row = timed(options, "bfs", [&] { return result = bfs.run({&source, 1}); });
    row.update({{"source", source},
                {"reached", result.reached},
                {"max_depth", result.max_depth},
                {"sum_depth", result.sum_depth},
                {"pull_levels", result.pull_levels}});
    if (options.verify)
      set_verdict(row, traverse::verify_streamed_bfs(file, source, bfs.depth().span(),
                                                     bfs.parent().span(), cpu.pool()));
    add(std::move(row));
  }
  if (wants("cc")) {
    traverse::StreamedComponents components(device, file);
    traverse::StreamedComponentsResult result;
    auto row = timed(options, "cc", [&] { return result = components.run(); });
    row.update({{"components", result.components}, {"largest", result.largest}});
    if (options.verify)
      set_verdict(
          row, traverse::verify_streamed_components(file, components.labels().span(), cpu.pool()));
    add(std::move(row));
  }
  if (wants("pagerank")) {
    traverse::StreamedPageRank pagerank(device, file, options.pagerank);
    traverse::StreamedPageRankResult result;
    auto row = timed(options, "pagerank", [&] { return result = pagerank.run(); });
    row.update({{"iterations", result.iterations},
                {"residual", result.residual},
                {"converged", result.converged}});
    if (options.verify) {
      const double bound =
          traverse::pagerank_bound(options.pagerank, {.iterations = result.iterations,
                                                      .residual = result.residual,
                                                      .converged = result.converged});
      set_verdict(row,
                  traverse::verify_streamed_pagerank(file, options.pagerank.damping,
                                                     pagerank.ranks().span(), bound, cpu.pool()));
    }
    add(std::move(row));
  }
  return {{"file_bytes", file.file_bytes()},
          {"list_bytes", file.list_bytes()},
          {"vertices", file.vertices()},
          {"edges", file.edges()},
          {"direct", files::PositionedFile(options.file).is_direct()},
          {"window_bytes", options.cut.window_bytes},
          {"windows", options.cut.windows},
          {"readers", options.cut.readers},
          {"threads", device.pool().size()},
          {"device", device.model()},
          {"open_seconds", open_seconds},
          {"host_memory", options.host_memory},
          {"peak_bytes", kibibytes_of("VmHWM:") * 1024},
          {"results", rows}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Traversals of a graph whose lists stay in a file");
  app.add_option("--write", options.write, "A graph that --file is to hold, both ways");
  app.add_option("--file", options.file, "A .wgr file")->required();
  app.add_option("--device", options.device)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--threads", options.threads);
  app.add_option("--work", options.work)
      ->check(CLI::IsMember({"all", "bfs", "cc", "pagerank", "sequential"}));
  app.add_option("--host-memory", options.host_memory)->transform(CLI::AsSizeValue(false));
  const auto* window =
      app.add_option("--window", options.cut.window_bytes)->transform(CLI::AsSizeValue(false));
  app.add_option("--windows", options.cut.windows);
  app.add_option("--readers", options.cut.readers);
  app.add_option("--iterations", options.pagerank.max_iterations);
  app.add_option("--tolerance", options.pagerank.tolerance);
  app.add_option("--repeat", options.repeat);
  app.add_flag("--verify", options.verify);
  app.add_option("--out", options.out);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.write.empty()) {
      write(options);
      return 0;
    }
    if (options.host_memory != 0) {
      exec::set_memory_limit(exec::Device::cpu(1), options.host_memory);
      if (window->count() == 0)
        options.cut.window_bytes = graph::EdgeFileOptions::within(options.host_memory).window_bytes;
    }
    const nlohmann::json result = measure(options);
    fmt::print("{}: {} bytes, {} of memory at most\n", options.file,
               result["file_bytes"].get<std::uint64_t>(),
               human_bytes(result["peak_bytes"].get<std::uint64_t>()));
    bool is_right = true;
    for (const auto& row : result["results"]) {
      fmt::print(
          "  {:10} {:8.3f} s, {:7.2f} GB at {:6.3f} GB/s ({:.2f} of sequential), {:.3f} s "
          "waited, {:.3f} s of CPUs{}\n",
          row["work"].get<std::string>(), row["median"].get<double>(),
          row["bytes_read"].get<double>() * 1e-9, row["bytes_per_second"].get<double>() * 1e-9,
          row.value("of_sequential", 1.0), row["waited_seconds"].get<double>(),
          row["cpu_seconds"].get<double>(),
          !row.contains("verified")     ? ""
          : row["verified"].get<bool>() ? ", verified"
                                        : ", WRONG: " + row["fault"].get<std::string>());
      is_right = is_right && row.value("verified", true);
    }
    const auto kind = options.device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
    bench::write_report(options.out, result, kind);
    return is_right ? 0 : 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_file_edges: {}\n", error.what());
    return 1;
  }
}
