// SPDX-License-Identifier: Apache-2.0
// How fast text becomes a graph: megabytes per second of parsing alone (every edge is delivered,
// and counted), and of read_graph(), which parses twice and builds CSR. The file is in the system's
// cache after the first run, which is not counted.
//
//   bench_read_edge_list FILE [--threads N] [--repeat R] [--out results.json]
//   bench_read_edge_list --edges 15000000      a random edge list of that size, made first
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "warren/core/trace.hpp"
#include "warren/graph/io.hpp"

#include "graph/io/coordinate_source.hpp"
#include "graph/io/format.hpp"
#include "report.hpp"

namespace {

using warren::exec::ThreadPool;

class CountingSink final : public warren::graph::EdgeSink {
 public:
  void take(std::span<const warren::graph::Edge> edges, std::span<const std::int32_t>,
            std::span<const float>) override {
    edges_ += edges.size();
  }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }

 private:
  std::uint64_t edges_ = 0;
};

struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    if (!path.empty()) (void)unlink(path.c_str());
  }
};

// Uniform random edges over a sixteenth as many vertices.
std::string make_file(std::uint64_t edges) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("bench_read_edge_list_" + std::to_string(getpid()) + ".el"))
                               .string();
  std::ofstream out(path);
  std::mt19937_64 random(1);
  const std::uint64_t vertices = std::max<std::uint64_t>(edges / 16, 1);
  for (std::uint64_t i = 0; i < edges; ++i)
    out << random() % vertices << ' ' << random() % vertices << '\n';
  return path;
}

std::uint64_t parse_only(const std::string& path, ThreadPool& pool) {
  namespace io = warren::graph::io;
  const warren::files::TextFile file(path, io::required_kind(path).compression);
  io::CoordinateFormat format;
  format.syntax.largest = warren::kMaxVertices - 1;
  format.syntax.columns = "two vertex ids";
  io::CoordinateSource source(file, format);
  std::atomic<std::uint64_t> edges{0};
  pool.parallel_for(0, source.pieces(), 1, [&](std::uint64_t piece, std::uint64_t) {
    CountingSink sink;
    source.read(piece, sink);
    edges += sink.edges();
  });
  return edges;
}

template <class Work>
std::vector<double> seconds_of(int repeat, Work&& work) {
  std::vector<double> seconds;
  for (int r = 0; r <= repeat; ++r) {
    const double start = warren::now_seconds();
    work();
    if (r > 0) seconds.push_back(warren::now_seconds() - start);
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path, out;
  std::uint64_t edges = 15'000'000;
  int threads = warren::exec::hardware_threads(), repeat = 5;
  CLI::App app("Speed of reading an edge list of two columns");
  app.add_option("FILE", path, "Edge list; one is made where none is given");
  app.add_option("--edges", edges, "Size of the list that is made");
  app.add_option("--threads", threads, "CPU threads");
  app.add_option("--repeat", repeat, "Runs, after one that is not counted");
  app.add_option("--out", out, "Write the results to this file, as JSON");
  CLI11_PARSE(app, argc, argv);

  TemporaryFile made;
  if (path.empty()) path = made.path = make_file(edges);
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  ThreadPool pool(threads);
  nlohmann::json results = nlohmann::json::array();
  const auto report = [&](const char* what, const std::vector<double>& seconds) {
    const double best = *std::min_element(seconds.begin(), seconds.end());
    std::printf("%-12s %8.0f MB/s  (%.3f s for %.0f MB, %d threads)\n", what, megabytes / best,
                best, megabytes, threads);
    results.push_back({{"what", what},
                       {"megabytes_per_second", megabytes / best},
                       {"megabytes", megabytes},
                       {"threads", threads},
                       {"seconds", seconds}});
  };
  report("parse", seconds_of(repeat, [&] { edges = parse_only(path, pool); }));
  report("read_graph",
         seconds_of(repeat, [&] { (void)warren::graph::read_graph(path, {}, pool); }));
  std::printf("%llu edges\n", static_cast<unsigned long long>(edges));
  warren::bench::write_report(out, {{"file", path}, {"results", results}},
                              warren::exec::DeviceKind::cpu);
  return 0;
}
