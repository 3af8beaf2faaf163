// SPDX-License-Identifier: Apache-2.0
// Times BFS, PageRank, SSSP, connected components and betweenness on generated graphs, and checks
// each against its definition. On GPUs graphs and their weights are drawn where they are traversed.
//
//   bench_traverse --device cuda --devices 1 --graph kron:22 --source hub --repeat 20 --out FILE
#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/generate_shard.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"
#include "warren/traverse/betweenness.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/verify.hpp"

#include "input_graph.hpp"
#include "median.hpp"
#include "report.hpp"

namespace {

using namespace warren;
using bench::median;

struct Options {
  std::string device = "cpu";
  int devices = 1;
  int threads = 0;
  std::string graph = "kron:20";
  bool host_build = false;
  std::string order = "natural";
  std::string edges = "device";
  std::uint64_t cache = 0;
  std::optional<std::uint32_t> sampled;
  traverse::ComponentsSampling sampling = traverse::ComponentsSampling::automatic;
  traverse::ComponentsForm form = traverse::ComponentsForm::automatic;
  std::string source = "hub";
  std::string work = "both";
  std::uint64_t sources = 256;
  int repeat = 10;
  bool verify = false;
  bool push_only = false;
  std::string bfs_ranks = "auto";  ///< Or all, first.
  double alpha = traverse::BfsOptions{}.alpha;
  double beta = traverse::BfsOptions{}.beta;
  double tolerance = 1e-6;
  std::uint32_t iterations = 20;
  double delta = 0.0;
  traverse::SsspFrontier frontier = traverse::SsspFrontier::automatic;
  std::int64_t low = 1;
  std::int64_t high = 64;
  std::string out;

  /// Drawn weights, of a generator's graph.
  [[nodiscard]] std::optional<graph::UniformWeights> weights() const {
    if (work != "sssp") return std::nullopt;
    return graph::UniformWeights{low, high, 1};
  }
};

/// `verified`, and beside a false one the `fault`.
void set_verdict(nlohmann::json& row, const traverse::Verdict& verdict) {
  row["verified"] = verdict.correct;
  if (!verdict.correct) row["fault"] = verdict.message;
}

/// The vertex with the most out-edges, the smallest id of them.
Vertex hub_of(team::Team& team, const graph::Shard& shard) {
  const exec::Stream stream(team.device());
  std::vector<EdgeOffset> offsets(std::uint64_t{shard.out.count} + 1);
  exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  struct Best {
    std::uint64_t degree;
    Vertex vertex;
  } best{0, 0};
  for (Vertex row = 0; row < shard.out.count; ++row) {
    const std::uint64_t degree = offsets[row + std::uint64_t{1}] - offsets[row];
    if (degree > best.degree) best = {degree, shard.out.first + row};
  }
  for (const Best& other : team.all_gather(best)) {
    if (other.degree > best.degree || (other.degree == best.degree && other.vertex < best.vertex))
      best = other;
  }
  return best.vertex;
}

nlohmann::json time_bfs(team::Team& team, const graph::Shard& shard, const graph::Graph& whole,
                        const Options& options) {
  traverse::BfsOptions bfs_options;
  bfs_options.direction_optimizing = !options.push_only;
  bfs_options.alpha = options.alpha;
  bfs_options.beta = options.beta;
  if (options.bfs_ranks != "auto")
    bfs_options.ranks =
        options.bfs_ranks == "all" ? traverse::BfsRanks::all : traverse::BfsRanks::first;
  traverse::Bfs bfs(team, shard, bfs_options);
  const Vertex source = options.source == "hub" ? hub_of(team, shard)
                                                : static_cast<Vertex>(std::stoul(options.source));
  std::vector<double> seconds;
  traverse::BfsResult result = bfs.run(source);
  for (int i = 0; i < options.repeat; ++i) {
    result = bfs.run(source);
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  const std::uint64_t edges = shard.is_symmetric ? result.edges / 2 : result.edges;
  nlohmann::json row = {{"work", "bfs"},
                        {"source", source},
                        {"reached", result.reached},
                        {"max_depth", result.max_depth},
                        {"sum_depth", result.sum_depth},
                        {"pull_levels", result.pull_levels},
                        {"ranks", result.ranks},
                        {"far_bytes", result.far_bytes},
                        {"seconds", seconds},
                        {"median", median(seconds)},
                        {"gteps", static_cast<double>(edges) / median(seconds) * 1e-9}};
  if (options.verify) {
    const auto depth = bfs.all_depths();
    const auto parent = bfs.all_parents();
    if (team.rank() == 0) {
      const auto verdict =
          traverse::verify_bfs(whole, source, depth, parent, exec::Device::cpu().pool());
      set_verdict(row, verdict);
    }
  }
  return row;
}

/// 64 sources spread over the vertices, those without out-edges left out: together, and one at a
/// time.
nlohmann::json time_many_sources(team::Team& team, const graph::Shard& shard,
                                 const Options& options) {
  const exec::Stream stream(team.device());
  std::vector<EdgeOffset> offsets(std::uint64_t{shard.out.count} + 1);
  exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  std::vector<Vertex> mine;
  const std::uint64_t want = traverse::ManySourceBfs::kMaxSources;
  for (std::uint64_t i = 0; i < shard.out.count && mine.size() < want; ++i) {
    const auto row = static_cast<Vertex>(i * 2654435761u % shard.out.count);
    if (offsets[row + std::uint64_t{1}] > offsets[row]) mine.push_back(shard.out.first + row);
  }
  std::vector<Vertex> sources;
  const auto all = team.all_gather_v(std::span<const Vertex>(mine));
  for (std::size_t i = 0; sources.size() < want && i < want; ++i) {
    for (const auto& part : all) {
      if (i < part.size() && sources.size() < want) sources.push_back(part[i]);
    }
  }
  traverse::Bfs bfs(team, shard);
  double alone = 0.0;
  std::uint64_t sum = 0;
  bfs.run(sources.front());
  for (const Vertex source : sources) {
    const auto result = bfs.run(source);
    alone += team.all_reduce(result.seconds, exec::Maximum{});
    sum += result.sum_depth;
  }
  traverse::ManySourceBfs together(team, shard);
  (void)together.run(sources);
  std::vector<double> seconds;
  std::uint64_t sum_together = 0;
  for (int i = 0; i < options.repeat; ++i) {
    const auto result = together.run(sources);
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
    sum_together = 0;
    for (const auto& reach : result.sources) sum_together += reach.sum_depth;
  }
  nlohmann::json row = {{"work", "many-source"},  {"sources", sources.size()},
                        {"seconds", seconds},     {"median", median(seconds)},
                        {"one_at_a_time", alone}, {"far_bytes", 0}};
  set_verdict(row, {sum == sum_together, "the sums of depths differ"});
  return row;
}

nlohmann::json time_sssp(team::Team& team, const graph::Shard& shard, const graph::Graph& whole,
                         const Options& options) {
  traverse::Sssp sssp(team, shard, {options.delta, options.frontier});
  const Vertex source = options.source == "hub" ? hub_of(team, shard)
                                                : static_cast<Vertex>(std::stoul(options.source));
  std::vector<double> seconds;
  traverse::SsspResult result = sssp.run(source);
  for (int i = 0; i < options.repeat; ++i) {
    result = sssp.run(source);
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  const std::uint64_t edges = shard.is_symmetric ? result.edges / 2 : result.edges;
  nlohmann::json row = {{"work", "sssp"},
                        {"source", source},
                        {"delta", result.delta},
                        {"reached", result.reached},
                        {"max_distance", result.max_real_distance},
                        {"sum_distance", result.sum_real_distance},
                        {"relaxed_edges", result.relaxed_edges},
                        {"steps", result.steps},
                        {"seconds", seconds},
                        {"median", median(seconds)},
                        {"gteps", static_cast<double>(edges) / median(seconds) * 1e-9}};
  if (options.verify && sssp.has_integer_distances()) {
    const auto distance = sssp.all_distances();
    if (team.rank() == 0) {
      exec::ThreadPool& pool = exec::Device::cpu().pool();
      const bool has_weights = whole.weight_type != graph::WeightType::none;
      const std::span<const Vertex> sources(&source, 1);
      set_verdict(row, has_weights ? traverse::verify_sssp(whole, sources, distance, pool)
                                   : traverse::verify_sssp(whole, *options.weights(), sources,
                                                           distance, pool));
    }
  }
  return row;
}

nlohmann::json time_components(team::Team& team, const graph::Shard& shard,
                               const graph::Graph& whole, const Options& options) {
  traverse::Components components(team, shard, {options.sampled, options.sampling, options.form});
  std::vector<double> seconds;
  traverse::ComponentsResult result = components.run();
  for (int i = 0; i < options.repeat; ++i) {
    result = components.run();
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  const bool is_search = result.form == traverse::ComponentsForm::search;
  nlohmann::json row = {{"work", "cc"},
                        {"components", result.components},
                        {"largest", result.largest},
                        {"form", is_search ? "search" : "forest"},
                        {"search_levels", result.search_levels},
                        {"far_bytes", result.far_bytes},
                        {"seconds", seconds},
                        {"median", median(seconds)}};
  if (options.verify) {
    const auto labels = components.all_labels();
    if (team.rank() == 0) {
      const auto verdict = traverse::verify_components(whole, labels, exec::Device::cpu().pool());
      set_verdict(row, verdict);
    }
  }
  return row;
}

nlohmann::json time_pagerank(team::Team& team, const graph::Shard& shard, const graph::Graph& whole,
                             const Options& options) {
  traverse::PageRankOptions rank_options;
  rank_options.tolerance = options.tolerance;
  rank_options.max_iterations = options.iterations;
  traverse::PageRank pagerank(team, shard, rank_options);
  std::vector<double> seconds;
  traverse::PageRankResult result = pagerank.run();
  for (int i = 0; i < options.repeat; ++i) {
    result = pagerank.run();
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  nlohmann::json row = {{"work", "pagerank"},
                        {"iterations", result.iterations},
                        {"residual", result.residual},
                        {"far_bytes", result.far_bytes},
                        {"seconds", seconds},
                        {"median", median(seconds)},
                        {"per_iteration", median(seconds) / std::max(1u, result.iterations)}};
  if (options.verify) {
    const auto ranks = pagerank.all_ranks();
    if (team.rank() == 0) {
      const auto verdict =
          traverse::verify_pagerank(whole, rank_options.damping, ranks, 2 * result.residual + 2e-6,
                                    exec::Device::cpu().pool());
      set_verdict(row, verdict);
    }
  }
  return row;
}

/// Over vertices that have out-edges, drawn from all. With --verify, two batches of them are
/// checked: the sequential algorithm takes much longer.
nlohmann::json time_betweenness(team::Team& team, const graph::Shard& shard,
                                const graph::Graph& whole, const Options& options) {
  const exec::Stream stream(team.device());
  std::vector<EdgeOffset> offsets(std::uint64_t{shard.out.count} + 1);
  exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  std::vector<Vertex> mine;
  for (Vertex row = 0; row < shard.out.count; ++row) {
    if (offsets[row + std::uint64_t{1}] > offsets[row]) mine.push_back(shard.out.first + row);
  }
  std::vector<Vertex> candidates;
  for (const auto& part : team.all_gather_v(std::span<const Vertex>(mine)))
    candidates.insert(candidates.end(), part.begin(), part.end());
  std::vector<Vertex> sources = traverse::sample_sources(candidates.size(), options.sources, 1);
  for (Vertex& source : sources) source = candidates[source];
  traverse::Betweenness betweenness(team, shard);
  traverse::BetweennessResult result = betweenness.run(sources);
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    result = betweenness.run(sources);
    seconds.push_back(team.all_reduce(result.seconds, exec::Maximum{}));
  }
  nlohmann::json row = {{"work", "bc"},
                        {"sources", sources.size()},
                        {"steps", result.steps},
                        {"seconds", seconds},
                        {"median", median(seconds)},
                        {"per_source", median(seconds) / static_cast<double>(sources.size())}};
  if (options.verify) {
    sources.resize(std::min<std::size_t>(sources.size(), 16));
    betweenness.run(sources);
    const auto scores = betweenness.all_scores();
    if (team.rank() == 0) {
      set_verdict(row, traverse::verify_betweenness(whole, sources, scores, 1.0,
                                                    exec::Device::cpu().pool()));
    }
  }
  return row;
}

/// The graph in host memory for those who check results. Weights are left out that the generator's
/// ids tell: with lists in host memory there may be no room for them a second time.
graph::Graph whole_graph(team::Team& team, const graph::Shard& shard,
                         const graph::ShardSource& host, const Options& options) {
  if (!options.verify) return {};
  if (host.out) return *host.out;
  return options.order == "natural" ? graph::download_lists(team, shard)
                                    : graph::download(team, shard);
}

/// The shard, from the generator on the devices, or through a graph in host memory.
graph::Shard make_graph(team::Team& team, const Options& options, const graph::ShardSource& host,
                        double& seconds) {
  exec::reset_peak(team.device());
  team.barrier();
  const double begin = now_seconds();
  graph::EdgesOptions edges;
  if (options.edges == "host") edges = {graph::EdgesPlacement::host, options.cache};
  if (options.edges == "compressed-host")
    edges = {graph::EdgesPlacement::compressed_host, options.cache};
  graph::Shard shard;
  if (host.out) {
    shard = graph::make_shard(team, host, edges);
  } else {
    graph::BuildOptions build;
    build.symmetrize = true;
    build.drop_self_loops = true;
    const auto order =
        options.order == "degree" ? graph::VertexOrder::degree : graph::VertexOrder::natural;
    shard = graph::generate_shard(team, *graph::parse_generator(options.graph, 1), build, true,
                                  order, edges, options.weights());
  }
  team.barrier();
  seconds = now_seconds() - begin;
  return shard;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times traversals of a generated graph, or of a file's");
  app.add_option("--device", options.device);
  app.add_option("--devices", options.devices);
  app.add_option("--threads", options.threads);
  app.add_option("--graph", options.graph);
  app.add_flag("--host-build", options.host_build, "build in host memory, then place");
  app.add_option("--order", options.order, "natural or degree");
  app.add_option("--edges", options.edges, "device, host or compressed-host");
  app.add_option("--cache", options.cache, "bytes of lists that stay on each device");
  app.add_option("--source", options.source, "hub, or a vertex");
  app.add_option("--work", options.work, "bfs, pagerank, both, sssp, cc, bc, many-source or build");
  app.add_option("--sources", options.sources, "bc: sources, drawn");
  app.add_option("--repeat", options.repeat);
  app.add_flag("--verify", options.verify);
  app.add_flag("--push-only", options.push_only);
  app.add_option("--bfs-ranks", options.bfs_ranks)->check(CLI::IsMember({"auto", "all", "first"}));
  app.add_option("--alpha", options.alpha);
  app.add_option("--beta", options.beta);
  app.add_option("--tolerance", options.tolerance);
  app.add_option("--iterations", options.iterations);
  app.add_option("--delta", options.delta, "sssp: width of a bin (0: chosen)");
  app.add_option("--frontier", options.frontier, "sssp: queues or scan")
      ->transform(CLI::Transformer(std::map<std::string, traverse::SsspFrontier>{
          {"queues", traverse::SsspFrontier::queues}, {"scan", traverse::SsspFrontier::scan}}));
  app.add_option("--low", options.low, "sssp: smallest drawn weight");
  app.add_option("--high", options.high, "sssp: largest drawn weight");
  app.add_option("--sampled", options.sampled, "cc: sampled edges of each vertex");
  app.add_option("--sampling", options.sampling, "cc: how they join trees, link or hook")
      ->transform(CLI::Transformer(std::map<std::string, traverse::ComponentsSampling>{
          {"link", traverse::ComponentsSampling::link},
          {"hook", traverse::ComponentsSampling::hook}}));
  app.add_option("--form", options.form, "cc: auto, forest or search")
      ->transform(CLI::Transformer(std::map<std::string, traverse::ComponentsForm>{
          {"auto", traverse::ComponentsForm::automatic},
          {"forest", traverse::ComponentsForm::forest},
          {"search", traverse::ComponentsForm::search}}));
  app.add_option("--out", options.out, "append the result as one line of JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    team::TeamOptions team_options;
    team_options.kind = options.device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
    team_options.ranks = options.devices;
    team_options.threads = options.threads;
    graph::ShardSource host;
    // The same generator as generate_shard() takes; files are read on the host.
    const bool is_generated = graph::parse_generator(options.graph, 1).has_value();
    if (options.host_build || options.device == "cpu" || !is_generated) {
      const exec::Device cpu = exec::Device::cpu(options.threads);
      graph::ReadOptions read;
      read.build.symmetrize = true;
      read.build.drop_self_loops = true;
      read.read_weights = options.work == "sssp";
      auto made =
          std::make_shared<graph::Graph>(bench::input_graph(options.graph, read, cpu.pool()));
      if (options.work == "sssp" && made->weight_type == graph::WeightType::none)
        graph::set_uniform_weights(*made, options.low, options.high, 1, cpu.pool());
      const graph::Partition partition = graph::make_partition(
          *made, options.order == "degree" ? "degree" : "ranges", options.devices, 1);
      if (!partition.identity())
        made = std::make_shared<graph::Graph>(
            graph::relabel(*made, partition.new_id.span(), cpu.pool()));
      host = {made, made, partition.cuts};
      if (options.edges == "compressed-host") graph::compress_lists(host, cpu.pool());
    }
    nlohmann::json result;
    team::run_team(team_options, [&](team::Team& team) {
      double build_seconds = 0.0;
      const graph::Shard shard = make_graph(team, options, host, build_seconds);
      const exec::MemoryUse use = exec::memory_use(team.device());
      const graph::Graph whole = whole_graph(team, shard, host, options);
      nlohmann::json rows = nlohmann::json::array();
      if (options.work == "bfs" || options.work == "both")
        rows.push_back(time_bfs(team, shard, whole, options));
      if (options.work == "many-source") rows.push_back(time_many_sources(team, shard, options));
      if (options.work == "sssp") rows.push_back(time_sssp(team, shard, whole, options));
      if (options.work == "cc") rows.push_back(time_components(team, shard, whole, options));
      if (options.work == "bc") rows.push_back(time_betweenness(team, shard, whole, options));
      if (options.work == "pagerank" || options.work == "both")
        rows.push_back(time_pagerank(team, shard, whole, options));
      if (team.rank() == 0) {
        result = {{"graph", options.graph},           {"order", options.order},
                  {"edges_placement", options.edges}, {"cache_bytes", options.cache},
                  {"device", team.device().model()},  {"devices", team.size()},
                  {"vertices", shard.vertices},       {"edges", shard.edges},
                  {"build_seconds", build_seconds},   {"build_peak_bytes", use.peak},
                  {"graph_bytes", use.current},       {"results", rows}};
      }
    });
    fmt::print("{} on {} x {}: {} vertices, {} edges, built in {:.3f} s, peak {:.2f}x\n",
               options.graph, options.devices, options.device,
               result["vertices"].get<std::uint64_t>(), result["edges"].get<std::uint64_t>(),
               result["build_seconds"].get<double>(),
               result["build_peak_bytes"].get<double>() /
                   std::max(1.0, result["graph_bytes"].get<double>()));
    for (const auto& row : result["results"]) {
      fmt::print("  {:9} median {:9.4f} ms", row["work"].get<std::string>(),
                 row["median"].get<double>() * 1e3);
      if (row.contains("per_iteration"))
        fmt::print(", {} iterations, {:.4f} ms each", row["iterations"].get<int>(),
                   row["per_iteration"].get<double>() * 1e3);
      if (row.contains("relaxed_edges"))
        fmt::print(", {:.3f} GTEPS, delta {:.4g}, {} steps, {} edges relaxed, reached {}",
                   row["gteps"].get<double>(), row["delta"].get<double>(),
                   row["steps"].get<std::uint64_t>(), row["relaxed_edges"].get<std::uint64_t>(),
                   row["reached"].get<std::uint64_t>());
      if (row.contains("components"))
        fmt::print(", {} components, the largest {}", row["components"].get<std::uint64_t>(),
                   row["largest"].get<std::uint64_t>());
      if (row.contains("per_source"))
        fmt::print(", {} sources, {:.4f} ms each, {} steps", row["sources"].get<std::uint64_t>(),
                   row["per_source"].get<double>() * 1e3, row["steps"].get<std::uint64_t>());
      if (row.contains("max_depth"))
        fmt::print(", {:.1f} GTEPS, depth {}, {} pulled, reached {}", row["gteps"].get<double>(),
                   row["max_depth"].get<int>(), row["pull_levels"].get<int>(),
                   row["reached"].get<std::uint64_t>());
      if (row.contains("one_at_a_time"))
        fmt::print(", one at a time {:.4f} ms", row["one_at_a_time"].get<double>() * 1e3);
      const double far_bytes = row.value("far_bytes", 0.0);
      if (far_bytes > 0)
        fmt::print(", {:.3f} GB from the host at {:.1f} GB/s", far_bytes * 1e-9,
                   far_bytes / row["median"].get<double>() * 1e-9);
      if (row.contains("verified"))
        fmt::print(", {}", row["verified"].get<bool>()
                               ? "verified"
                               : "WRONG: " + row["fault"].get<std::string>());
      fmt::print("\n");
    }
    if (!options.out.empty()) {
      std::ofstream(options.out, std::ios::app)
          << bench::report(result, team_options.kind, options.devices).dump() << "\n";
    }
    const auto is_wrong = [](const auto& row) { return !row.value("verified", true); };
    if (std::ranges::any_of(result["results"], is_wrong)) return 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_traverse: {}\n", error.what());
    return 1;
  }
  return 0;
}
