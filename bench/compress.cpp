// SPDX-License-Identifier: Apache-2.0
// Compressed neighbour lists: bits an edge of lists and index, how fast graphs are compressed and
// decompressed, and how fast a device reads all lists, compressed and plain, out of its own memory
// or the host's. Rates are those of the fastest run.
//
//   bench_compress GRAPH... [--symmetrize] [--order natural|degree] [--device cpu|cuda]
//   [--placement device|host] [--threads N] [--repeat R] [--out FILE]
#include <algorithm>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"
#include "warren/memory/buffer.hpp"

#include "compress_cases.hpp"
#include "input_graph.hpp"
#include "report.hpp"

namespace warren::bench {
namespace {

using graph::CompressedGraph;
using graph::Graph;
using memory::Buffer;

struct Options {
  std::vector<std::string> graphs;
  bool symmetrize = false;
  std::string order = "natural";
  std::string device = "cpu";
  std::string placement = "host";
  int threads = 0;
  int repeat = 5;
  std::string out;
};

Graph load(const std::string& name, const Options& options, exec::ThreadPool& pool) {
  graph::ReadOptions read;
  read.build.symmetrize = options.symmetrize;
  Graph graph = bench::input_graph(name, read, pool);
  graph::drop_weights(graph);
  if (options.order == "degree") {
    const graph::Partition order = graph::partition_degree(graph, 1);
    graph = graph::relabel(graph, order.new_id.span(), pool);
  }
  return graph;
}

template <class Work>
double fastest(int repeat, Work&& work) {
  double best = 1e300;
  for (int r = 0; r <= repeat; ++r) {
    const double start = now_seconds();
    work();
    if (r > 0) best = std::min(best, now_seconds() - start);
  }
  return best;
}

template <class T>
Buffer<T> copy_to(const exec::Stream& stream, exec::MemoryKind kind, std::span<const T> values) {
  Buffer<T> buffer(stream.device(), kind, std::max<std::uint64_t>(values.size(), 1));
  buffer.upload(stream, values);
  return buffer;
}

/// Edges a second of reading all lists on the device.
struct ReadRates {
  double compressed = 0.0, plain = 0.0;
};

template <class Backend>
ReadRates measure_reading(const exec::Stream& stream, const Options& options, const Graph& graph,
                          const CompressedGraph& packed) {
  const bool on_gpu = stream.device().is_cuda();
  const auto lists =
      on_gpu && options.placement == "host" ? exec::MemoryKind::pinned : exec::MemoryKind::device;
  std::vector<ListPiece> host_pieces;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (std::uint32_t b = 0; b < graph::compressed_blocks(graph.degree(v)); ++b)
      host_pieces.push_back({v, b});
  }
  constexpr auto kDevice = exec::MemoryKind::device;
  const auto pieces = copy_to<ListPiece>(stream, kDevice, host_pieces);
  const auto offsets = copy_to<EdgeOffset>(stream, kDevice, graph.offsets.span());
  const auto targets = copy_to<Vertex>(stream, lists, graph.targets.span());
  const auto groups = copy_to<graph::CompressedGroup>(stream, kDevice, packed.groups.span());
  const auto fields = copy_to<std::uint32_t>(stream, kDevice, packed.fields.span());
  const auto words = copy_to<std::uint32_t>(stream, lists, packed.stream.span());
  Buffer<std::uint64_t> sum(stream.device(), kDevice, 1);
  graph::CompressedView view = packed.view();
  view.groups = groups.data();
  view.fields = fields.data();
  view.stream = words.data();
  const std::uint64_t per_task = 32;
  const auto count = host_pieces.size();

  std::uint64_t found = 0;
  const auto rate = [&](const auto& kernel) {
    double best = 1e300;
    for (int r = 0; r <= options.repeat; ++r) {
      exec::fill_bytes(stream, sum.data(), 0, sum.bytes());
      exec::Event begin(stream.device()), end(stream.device());
      begin.record(stream);
      sum_lists<Backend>(stream, kernel);
      end.record(stream);
      stream.synchronize();
      if (r > 0) best = std::min(best, end.seconds_since(begin));
    }
    found = sum.to_host(stream)[0];
    return static_cast<double>(graph.edges()) / best;
  };
  ReadRates rates;
  rates.plain =
      rate(SumPlain{offsets.data(), targets.data(), pieces.data(), count, per_task, sum.data()});
  const std::uint64_t expected = found;
  rates.compressed = rate(SumCompressed{view, pieces.data(), count, per_task, sum.data()});
  require(found == expected, "the two ways to read do not agree");
  return rates;
}

nlohmann::json measure(const std::string& name, const Options& options, const exec::Device& device,
                       exec::ThreadPool& pool) {
  const Graph graph = load(name, options, pool);
  CompressedGraph packed;
  const double pack = fastest(options.repeat, [&] { packed = graph::compress(graph, pool); });
  const double unpack = fastest(options.repeat, [&] { (void)graph::decompress(packed, pool); });
  const double check = fastest(options.repeat, [&] { graph::validate(packed, name, pool); });
  const exec::Stream stream(device);
  const ReadRates rates = exec::with_backend(device, [&](auto backend) {
    return measure_reading<decltype(backend)>(stream, options, graph, packed);
  });
  const auto m = static_cast<double>(graph.edges());
  const double list_bits = static_cast<double>(packed.stream_bytes()) * 8.0 / m;
  const double index_bits = static_cast<double>(packed.index_bytes()) * 8.0 / m;
  const double plain_bits = 32.0 + static_cast<double>(graph.offsets.size()) * 64.0 / m;
  fmt::print(
      "{} ({}): {:.2f} bits an edge, lists {:.2f}, index {:.2f} (plain {:.2f}); Medges/s: compress "
      "{:.0f}, decompress {:.0f}, validate {:.0f}, read {:.0f} ({:.2f} GB/s), plain {:.0f} "
      "({:.2f} GB/s)\n",
      name, options.order, list_bits + index_bits, list_bits, index_bits, plain_bits,
      m / pack * 1e-6, m / unpack * 1e-6, m / check * 1e-6, rates.compressed * 1e-6,
      rates.compressed * list_bits / 8e9, rates.plain * 1e-6, rates.plain * 4e-9);
  return {{"graph", name.substr(name.rfind('/') + 1)},
          {"symmetrize", options.symmetrize},
          {"order", options.order},
          {"vertices", graph.vertices},
          {"edges", graph.edges()},
          {"bits_per_edge", list_bits + index_bits},
          {"list_bits_per_edge", list_bits},
          {"index_bits_per_edge", index_bits},
          {"plain_bits_per_edge", plain_bits},
          {"compress_edges_per_second", m / pack},
          {"decompress_edges_per_second", m / unpack},
          {"validate_edges_per_second", m / check},
          {"read_edges_per_second", rates.compressed},
          {"read_list_bytes_per_second", rates.compressed * list_bits / 8.0},
          {"plain_read_edges_per_second", rates.plain}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Sizes and speeds of compressed neighbour lists"};
  app.add_option("GRAPH", options.graphs, "Files or generators")->required();
  app.add_flag("--symmetrize", options.symmetrize, "Adds the reverse of every edge");
  app.add_option("--order", options.order, "natural, or degree: by descending degree")
      ->check(CLI::IsMember({"natural", "degree"}));
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--placement", options.placement, "GPUs: where the lists are, device or host")
      ->check(CLI::IsMember({"device", "host"}));
  app.add_option("--threads", options.threads, "CPU threads; 0: all");
  app.add_option("--repeat", options.repeat, "Runs, after one that is not counted");
  app.add_option("--out", options.out, "Adds the results to this file, as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    const exec::Device device =
        options.device == "cuda" ? exec::Device::cuda(0) : exec::Device::cpu(options.threads);
    exec::ThreadPool pool(options.threads > 0 ? options.threads : exec::hardware_threads());
    nlohmann::json results = {{"benchmark", "compress"},  {"check", "both ways to read agree"},
                              {"device", options.device}, {"model", device.model()},
                              {"threads", pool.size()},   {"placement", options.placement},
                              {"repeat", options.repeat}, {"results", nlohmann::json::array()}};
    if (!options.out.empty() && std::ifstream(options.out).good())
      results["results"] = nlohmann::json::parse(std::ifstream(options.out)).at("results");
    for (const std::string& name : options.graphs)
      results["results"].push_back(
          bench::report(bench::measure(name, options, device, pool), device.kind()));
    bench::write_report(options.out, results, device.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_compress: {}\n", error.what());
    return 1;
  }
}
