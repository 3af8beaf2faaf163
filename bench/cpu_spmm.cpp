// SPDX-License-Identifier: Apache-2.0
// SpMM on CPU threads, a product at a time as standard input asks for it, so that
// bench/beside_scipy.py can take turns with other libraries; beside Eigen where it is installed.
//
//   bench_cpu_spmm --graph kron:18 --threads 2 --export FOLDER
//
// writes offsets.bin and targets.bin (32-bit CSR) and a line of JSON. Then, a line of JSON each:
// `width K` fills B; `run NAME CALLS` prints seconds of so many calls after one that warms up, by
// the clock and of all threads together; `write FILE` writes the last product. NAME is pattern (no
// values are stored), weighted or eigen.
#include "cpu_spmm.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/sparse/matrix.hpp"
#include "warren/sparse/spmm.hpp"

#include "input_graph.hpp"
#include "report.hpp"

namespace warren::bench {
namespace {

using nlohmann::json;

template <class T>
void write_array(const std::filesystem::path& path, std::span<const T> values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
  require(out.good(), fmt::format("{}: could not be written", path.string()));
}

/// One of our own: a matrix and its plan.
struct Ours {
  sparse::Matrix matrix;
  double plan_begin;
  sparse::SpmmPlan plan;
  double plan_seconds;

  Ours(const exec::Stream& stream, const graph::Graph& graph)
      : matrix(stream, graph),
        plan_begin(now_seconds()),
        plan(stream, matrix.offsets()),
        plan_seconds(now_seconds() - plan_begin) {}
};

class Bench {
 public:
  Bench(const std::string& name, int threads, const std::filesystem::path& folder)
      : device_(exec::Device::cpu(threads)),
        stream_(device_),
        graph_(load(name)),
        offsets_(graph_.offsets.size()),
        targets_(graph_.targets.size()),
        ones_(graph_.targets.size()),
        pattern_(stream_, graph_),
        weighted_(stream_, with_values()) {
    std::copy(graph_.offsets.begin(), graph_.offsets.end(), offsets_.begin());
    std::copy(graph_.targets.begin(), graph_.targets.end(), targets_.begin());
    std::fill(ones_.begin(), ones_.end(), 1.0f);
    write_array(folder / "offsets.bin", std::as_const(offsets_).span());
    write_array(folder / "targets.bin", std::as_const(targets_).span());
    rivals_ = json::array();
#if WARREN_BENCH_EIGEN
    eigen_ = make_eigen({std::as_const(offsets_).span(), std::as_const(targets_).span(),
                         std::as_const(ones_).span()},
                        threads);
    rivals_.push_back("eigen");
#endif
  }

  [[nodiscard]] json describe() const {
    return {{"vertices", graph_.vertices},
            {"entries", targets_.size()},
            {"model", device_.model()},
            {"threads", device_.pool().size()},
            {"plan_seconds", pattern_.plan_seconds},
            {"rivals", rivals_}};
  }

  json width(std::uint64_t k) {
    k_ = k;
    const std::uint64_t n = graph_.vertices;
    b_ = memory::HostArray<float>(n * k);
    c_ = memory::HostArray<float>(n * k);
    std::fill(c_.begin(), c_.end(), 0.0f);
    for (std::uint64_t j = 0; j < n; ++j) {
      for (std::uint64_t c = 0; c < k; ++c)
        b_[j * k + c] = static_cast<float>((7 * (j % 17) + 13 * (c % 17)) % 17) - 8.0f;
    }
    return {{"k", k}};
  }

  json run(const std::string& name, int calls) {
    std::vector<double> seconds, processor_seconds;
    for (int call = 0; call <= calls; ++call) {
      const std::clock_t ticks = std::clock();
      const double begin = now_seconds();
      multiply(name);
      if (call == 0) continue;
      seconds.push_back(now_seconds() - begin);
      processor_seconds.push_back(static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC);
    }
    return {{"seconds", seconds}, {"processor_seconds", processor_seconds}};
  }

  json write(const std::filesystem::path& path) const {
    write_array(path, c_.span());
    return {{"written", path.string()}};
  }

 private:
  graph::Graph load(const std::string& name) {
    graph::ReadOptions read;
    read.build = {.symmetrize = true, .drop_self_loops = true};
    read.read_weights = false;
    graph::Graph graph = input_graph(name, read, device_.pool());
    require(graph.edges() < std::uint64_t{1} << 31,
            fmt::format("{}: {} entries; SciPy and Eigen are given 32-bit offsets, fewer than 2^31",
                        name, graph.edges()));
    return graph;
  }

  [[nodiscard]] graph::Graph with_values() const {
    graph::Graph graph = graph_;
    graph.weight_type = graph::WeightType::float32;
    graph.weights_float = memory::HostArray<float>(graph.edges());
    std::fill(graph.weights_float.begin(), graph.weights_float.end(), 1.0f);
    return graph;
  }

  void multiply(const std::string& name) {
    require(k_ != 0, "width K comes before run");
    if (name == "eigen" && eigen_) {
      eigen_->multiply(b_.data(), c_.data(), k_);
      return;
    }
    require(name == "pattern" || name == "weighted", "there is no product " + name);
    const Ours& ours = name == "pattern" ? pattern_ : weighted_;
    sparse::spmm(stream_, ours.matrix.view(), ours.plan, sparse::RowTable<float>(b_.data(), k_),
                 c_.data(), k_, k_);
    stream_.synchronize();
  }

  exec::Device device_;
  exec::Stream stream_;
  graph::Graph graph_;
  // As all large arrays of the library in huge pages, for the rivals, too.
  memory::HostArray<std::int32_t> offsets_, targets_;
  memory::HostArray<float> ones_;
  Ours pattern_, weighted_;
  std::unique_ptr<Rival> eigen_;
  json rivals_;
  std::uint64_t k_ = 0;
  memory::HostArray<float> b_, c_;
};

json answer(Bench& bench, const std::string& line) {
  std::istringstream words(line);
  std::string verb, name;
  words >> verb;
  if (verb == "width") {
    std::uint64_t k = 0;
    require(words >> k && k > 0, "width K: K is 1 or more");
    return bench.width(k);
  }
  if (verb == "run") {
    int calls = 0;
    require(words >> name >> calls && calls > 0, "run NAME CALLS: CALLS is 1 or more");
    return bench.run(name, calls);
  }
  require(verb == "write" && words >> name, "width K, run NAME CALLS or write FILE");
  return bench.write(name);
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  std::string graph = "kron:18";
  std::string folder;
  int threads = 2;
  CLI::App app("SpMM on CPU threads, as standard input asks for it");
  app.add_option("--graph", graph, "A generator or a file; symmetrised, without self-loops");
  app.add_option("--threads", threads, "CPU threads")->check(CLI::Range(1, 1024));
  app.add_option("--export", folder, "Where offsets.bin and targets.bin go")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    warren::bench::Bench bench(graph, threads, folder);
    std::cout << warren::bench::report(bench.describe(), warren::exec::DeviceKind::cpu).dump()
              << std::endl;
    for (std::string line; std::getline(std::cin, line);)
      std::cout << warren::bench::answer(bench, line).dump() << std::endl;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_cpu_spmm: {}\n", error.what());
    return 1;
  }
  return 0;
}
