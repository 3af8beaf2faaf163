// SPDX-License-Identifier: Apache-2.0
// warren sample: how fast mini-batches of a graph are sampled and renumbered.
#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_set>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/draw.hpp"
#include "warren/sample/sampler.hpp"
#include "warren/sample/times.hpp"
#include "warren/sample/verify.hpp"

#include "command.hpp"
#include "edge_times.hpp"
#include "fanouts.hpp"
#include "option_rules.hpp"
#include "setup_time.hpp"
#include "sparse_input.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMostBatches = std::uint64_t{1} << 32;

struct SampleCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
  sample::SamplerOptions options;
  std::string fanout = "15,10,5";
  std::string table = "auto";
  std::uint64_t batches = 64;
  std::uint64_t in_flight = 0;  ///< 0: the command chooses.
  std::string times, seed_times;
  std::vector<std::int64_t> edge_times;    ///< Of `temporal`: of every edge, in the user's order.
  std::vector<std::int64_t> vertex_times;  ///< And of every vertex as a seed.
};

/// What the ranks find together, filled by rank 0.
struct SampleOutcome {
  std::vector<double> seconds;
  std::uint64_t graph_edges = 0;
  std::uint64_t edges = 0;
  std::uint64_t vertices = 0;
  std::uint64_t bytes = 0;  ///< Of the samplers' memory, on all ranks.
  std::uint64_t digest = 0;
  double setup_seconds = 0.0;  ///< Of the store.
  std::string wrong;
};

/// Different vertices, a function of the seed and the batch's number.
std::vector<Vertex> seeds_of(std::uint64_t seed, std::uint64_t batch, std::uint64_t count,
                             std::uint64_t vertices) {
  graph::detail::DrawStream draws(graph::detail::mix(seed * 0x9e3779b97f4a7c15ull + batch));
  const auto draw = [&](std::uint64_t bound) {
    return std::min(static_cast<std::uint64_t>(draws.uniform() * static_cast<double>(bound)),
                    bound - 1);
  };
  std::vector<Vertex> seeds;
  if (count > vertices / 2) {
    seeds.resize(vertices);
    std::iota(seeds.begin(), seeds.end(), Vertex{0});
    for (std::uint64_t i = 0; i < count; ++i) std::swap(seeds[i], seeds[i + draw(vertices - i)]);
    seeds.resize(count);
    return seeds;
  }
  std::unordered_set<Vertex> taken;
  while (seeds.size() < count) {
    const auto v = static_cast<Vertex>(draw(vertices));
    if (taken.insert(v).second) seeds.push_back(v);
  }
  return seeds;
}

/// One rank's work: batches [first, end) of all.
class SampleRank {
 public:
  SampleRank(const SampleCommand& command, team::Team& team, TraversalInput& input)
      : command_(command),
        team_(team),
        input_(input),
        stream_(team.device()),
        shard_(input.shard(team)),
        own_times_(command.options.temporal
                       ? times_of_shard(command.edge_times, input, shard_, team.rank())
                       : std::vector<std::int64_t>()),
        store_(
            timed_setup(team, setup_seconds_,
                        [&] { return sample::GraphStore(team, shard_, store_options(command)); })),
        sampler_(team.device(), store_, command.options),
        first_(share(team.rank())),
        end_(share(team.rank() + 1)),
        counts_(team.device(), memory::MemoryKind::pinned, end_ - first_) {
    fill_seeds();
  }

  void run(SampleOutcome& outcome) {
    SampleOutcome mine;
    mine.graph_edges = shard_.edges;
    mine.setup_seconds = setup_seconds_;
    mine.seconds = timed_runs(team_, command_.common.repeat, "sample", [this] {
      each_flight([](std::uint64_t, std::uint64_t) {});
      stream_.synchronize();
    });
    (void)sampler_.counts(stream_);
    std::uint64_t sums[] = {0, 0, sampler_.bytes()};
    for (std::uint64_t b = 0; b < end_ - first_; ++b) {
      const sample::BatchCounts& counts = counts_.data()[b];
      require(counts.status == 0, "a batch could not be sampled");
      sums[0] += std::accumulate(counts.edges, counts.edges + sampler_.hops(), std::uint64_t{0});
      sums[1] += counts.vertices[sampler_.hops()];
    }
    team_.sum(sums);
    mine.edges = sums[0];
    mine.vertices = sums[1];
    mine.bytes = sums[2];
    if (command_.traversal.verify) look_at_all(mine);
    team_.barrier();
    if (team_.rank() == 0) outcome = mine;
  }

 private:
  [[nodiscard]] std::uint64_t share(int rank) const {
    const auto p = static_cast<std::uint64_t>(rank);
    return command_.batches * p / static_cast<std::uint64_t>(team_.size());
  }

  [[nodiscard]] sample::StoreOptions store_options(const SampleCommand& command) const {
    sample::StoreOptions options{.weights = command.options.weighted,
                                 .cumulative = command.options.weighted && command.options.replace};
    if (command.options.temporal) options.times = own_times_;
    return options;
  }

  void fill_seeds() {
    const std::uint64_t each = command_.options.batch;
    std::vector<Vertex> seeds;
    std::vector<std::int64_t> times;
    seeds.reserve((end_ - first_) * each);
    for (std::uint64_t b = first_; b < end_; ++b) {
      team_.check();  // Nothing else tells a rank that the team is to end.
      for (const Vertex v : seeds_of(command_.common.seed, b, each, input_.vertices())) {
        seeds.push_back(input_.to_shard(v));
        if (command_.options.temporal) times.push_back(command_.vertex_times[v]);
      }
    }
    seed_times_ = memory::Buffer<std::int64_t>(team_.device(), times.size());
    seed_times_.upload(stream_, times);
    seeds_ = memory::Buffer<Vertex>(team_.device(), seeds.size());
    seeds_.upload(stream_, seeds);
    stream_.synchronize();
  }

  /// Samples the rank's batches, as many at a time as the sampler holds; after each call,
  /// then(its first batch, its batches).
  template <class Then>
  void each_flight(Then&& then) {
    const std::uint64_t each = command_.options.batch;
    for (std::uint64_t b = first_; b < end_; b += command_.options.in_flight) {
      const std::uint64_t count = std::min<std::uint64_t>(command_.options.in_flight, end_ - b);
      team_.check();
      const std::uint64_t at = (b - first_) * each;
      sampler_.run(stream_, seeds_.data() + at, count * each, b,
                   command_.options.temporal ? seed_times_.data() + at : nullptr);
      exec::copy(stream_, counts_.data() + (b - first_), sampler_.batch(0).counts,
                 count * sizeof(sample::BatchCounts));
      then(b, count);
    }
  }

  /// Every batch once more, looked at where the whole graph is.
  void look_at_all(SampleOutcome& mine) {
    const TraceSpan span("verify", team_.rank());
    const auto graph = input_.whole_graph(team_, shard_);
    // Rank 0 looks at all batches; every rank sends one at a time.
    std::vector<std::vector<std::uint64_t>> packed;
    each_flight([&](std::uint64_t, std::uint64_t count) {
      const auto counts = sampler_.counts(stream_);
      for (std::uint32_t b = 0; b < count; ++b)
        packed.push_back(pack(sample::fetch(stream_, sampler_, b, counts[b])));
    });
    const auto rounds = team_.all_reduce(
        packed.size(), [](std::size_t a, std::size_t b) { return std::max(a, b); });
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<std::vector<std::uint64_t>> outgoing(static_cast<std::size_t>(team_.size()));
      if (round < packed.size()) outgoing[0] = std::move(packed[round]);
      const auto arrived = team_.all_to_all_v(outgoing);
      if (team_.rank() != 0) continue;
      for (std::size_t q = 0; q < arrived.size(); ++q) {
        if (arrived[q].empty()) continue;
        const sample::HostBatch batch = unpack(arrived[q]);
        const std::uint64_t number = share(static_cast<int>(q)) + round;
        mine.digest ^= graph::detail::mix(sample::digest(batch) + number);
        std::vector<std::int64_t> seed_times;
        for (std::uint64_t i = 0; command_.options.temporal && i < command_.options.batch; ++i)
          seed_times.push_back(command_.vertex_times[batch.vertices[i]]);
        const std::string wrong =
            sample::verify(*graph, batch, command_.options.batch, command_.options,
                           {command_.edge_times, seed_times});
        if (!wrong.empty() && mine.wrong.empty())
          mine.wrong = fmt::format("batch {}: {}", number, wrong);
      }
    }
  }

  [[nodiscard]] static std::vector<std::uint64_t> pack(const sample::HostBatch& batch);
  [[nodiscard]] sample::HostBatch unpack(const std::vector<std::uint64_t>& words) const;

  const SampleCommand& command_;
  team::Team& team_;
  TraversalInput& input_;
  exec::Stream stream_;
  graph::Shard shard_;
  std::vector<std::int64_t> own_times_;
  double setup_seconds_ = 0.0;
  sample::GraphStore store_;
  sample::NeighbourSampler sampler_;
  std::uint64_t first_;
  std::uint64_t end_;
  memory::Buffer<sample::BatchCounts> counts_;
  memory::Buffer<Vertex> seeds_;
  memory::Buffer<std::int64_t> seed_times_;
};

/// A batch as words: each array's length before it.
std::vector<std::uint64_t> SampleRank::pack(const sample::HostBatch& batch) {
  std::vector<std::uint64_t> words;
  const auto put = [&](const auto& values) {
    words.push_back(values.size());
    words.insert(words.end(), values.begin(), values.end());
  };
  put(batch.vertices);
  put(batch.trees);
  for (const sample::HostHop& hop : batch.hops) {
    put(hop.row_offsets);
    put(hop.columns);
    put(hop.edge_ids);
    put(hop.duplicates);
  }
  return words;
}

sample::HostBatch SampleRank::unpack(const std::vector<std::uint64_t>& words) const {
  std::size_t at = 0;
  const auto get = [&](auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    values.resize(words[at++]);
    for (auto& value : values) value = static_cast<T>(words[at++]);
  };
  sample::HostBatch batch;
  get(batch.vertices);
  for (Vertex& v : batch.vertices) v = input_.to_user(v);
  get(batch.trees);
  batch.hops.resize(command_.options.fanouts.size());
  for (sample::HostHop& hop : batch.hops) {
    get(hop.row_offsets);
    get(hop.columns);
    get(hop.edge_ids);
    get(hop.duplicates);
  }
  return batch;
}

/// On GPUs, as many batches as keep them busy while a launch begins.
std::uint64_t chosen_in_flight(const SampleCommand& command, bool on_gpu) {
  constexpr std::uint64_t kOnGpu = 4;
  const std::uint64_t wanted = command.in_flight != 0 ? command.in_flight : on_gpu ? kOnGpu : 1;
  return std::min(wanted, command.batches);
}

ExitStatus run_sample(SampleCommand command) {
  check_traversal_options(command.traversal, false);
  check_choice("--edges", command.traversal.edges, {"device", "host"}, {"compressed-host"});
  check_choice("--table", command.table, {"auto", "hash", "direct"}, {});
  const bool has_times = !command.times.empty() && !command.seed_times.empty();
  require(!command.options.temporal || has_times,
          "--temporal needs timestamps: --times FILE (of edges: lines \"source target time\", or "
          ".npy) and --seed-times TIME|FILE (of seeds)");
  require(command.options.temporal || (command.times.empty() && command.seed_times.empty()),
          "--times and --seed-times are for --temporal");
  // What is later for one seed may be early enough for another: each has a tree of its own.
  command.options.disjoint |= command.options.temporal;
  using Kind = sample::SamplerOptions::Table;
  if (command.table != "auto")
    command.options.table = command.table == "hash" ? Kind::hash : Kind::direct;
  command.options.fanouts = parse_fanouts(command.fanout);
  command.options.seed = command.common.seed;
  command.options.edge_ids = command.traversal.verify;
  Session session("sample", command.common);
  command.options.in_flight =
      static_cast<std::uint32_t>(chosen_in_flight(command, session.on_gpu()));
  const std::string method = command.traversal.method.empty() ? "ranges" : command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal, method,
                       command.options.weighted || command.options.temporal,
                       command.options.weighted ? WeightRange::not_negative : WeightRange::any);
  if (!command.options.weighted)
    warn_without_effect(command.common, {"--weights"}, "draws follow weights with --weighted");
  if (std::ranges::all_of(command.options.fanouts, [](auto f) { return f < 0; }))
    warn_without_effect(command.common, {"--replace", "--weighted"},
                        "every neighbour is taken, and none is drawn");
  session.json()["method"] = input.method();
  require(input.vertices() > 0, "the graph has no vertices; there is nothing to sample");
  require(command.options.batch <= input.vertices(),
          fmt::format("--batch {} is more than the graph's {}: seeds of a batch are different "
                      "vertices",
                      command.options.batch, counted(input.vertices(), "vertex", "vertices")));
  if (command.options.temporal) {
    command.edge_times =
        sample::read_edge_times(command.times, *input.graph(), input.names().words());
    command.vertex_times = sample::read_seed_times(command.seed_times, input.vertices());
  }
  SampleOutcome outcome;
  {
    const auto progress = session.progress("sampling");
    team::run_team(session.team(),
                   [&](team::Team& team) { SampleRank(command, team, input).run(outcome); });
  }
  const double middle = median(outcome.seconds);
  const auto per_second = [&](std::uint64_t count) {
    return middle > 0.0 ? static_cast<double>(count) / middle : 0.0;
  };
  const bool is_right = outcome.wrong.empty();
  describe_graph(session, command.graph, input.vertices(), outcome.graph_edges);
  Json& json = session.json();
  json["seconds"] = outcome.seconds;
  json["setup_seconds"] = outcome.setup_seconds;
  json["fanout"] = command.options.fanouts;
  json["batch"] = command.options.batch;
  json["batches"] = command.batches;
  json["in_flight"] = command.options.in_flight;
  json["table"] = command.table;
  json["replace"] = command.options.replace;
  json["weighted"] = command.options.weighted;
  json["disjoint"] = command.options.disjoint;
  json["temporal"] = command.options.temporal;
  json["edges_placement"] = command.traversal.edges;
  json["edges_per_second"] = per_second(outcome.edges);
  json["batches_per_second"] = per_second(command.batches);
  json["sampled_edges"] = outcome.edges;
  json["sampled_vertices"] = outcome.vertices;
  json["sampler_bytes"] = outcome.bytes;
  json["digest"] =
      command.traversal.verify ? Json(fmt::format("{:016x}", outcome.digest)) : Json(nullptr);
  json["verified"] = command.traversal.verify ? Json(is_right) : Json(nullptr);

  Table table;
  table.row("sampled",
            fmt::format("{} of {}, fanout {}, on {}", counted(command.batches, "batch", "batches"),
                        counted(command.options.batch, "seed", "seeds"), command.fanout,
                        session.place()));
  table.row("found", fmt::format("{}, {}", counted(outcome.edges, "edge", "edges"),
                                 counted(outcome.vertices, "vertex", "vertices")));
  table.row("time", duration(middle));
  table.row("rate", fmt::format("{}edges/s, {}batches/s, all ranks together",
                                with_prefix(per_second(outcome.edges)),
                                with_prefix(per_second(command.batches))));
  if (command.traversal.verify) table.row("verified", is_right ? "yes, every batch" : "NO");
  session.print("\n{}", table.text());
  session.finish();
  if (is_right) return ExitStatus::done;
  print_error(outcome.wrong);
  return ExitStatus::not_verified;
}

}  // namespace

void add_sample(CLI::App& program, Action& action) {
  auto command = std::make_shared<SampleCommand>();
  CLI::App* app = add_command(program, "sample", "Mini-batches: sampled neighbours, renumbered");
  add_graph_options(*app, command->graph);
  app->add_option("--fanout", command->fanout,
                  "Neighbours of each vertex, hop by hop from the seeds; -1: all (15,10,5)")
      ->type_name("M,...");
  add_number(*app, "--batch", command->options.batch, "Seeds of a batch (1024)", "B", 1,
             std::uint64_t{1} << 31);
  add_number(*app, "--batches", command->batches, "Batches of all ranks together (64)", "N", 1,
             kMostBatches);
  add_number(*app, "--in-flight", command->in_flight,
             "Batches that a rank samples at a time (GPUs: 4, CPU: 1)", "F", 1, 4096);
  app->add_option("--table", command->table,
                  "How a batch finds its vertices again: auto (the smaller), hash, direct")
      ->type_name("NAME");
  app->add_flag("--replace", command->options.replace, "Draw each neighbour of all, with return");
  app->add_flag("--weighted", command->options.weighted, "Draw in proportion to edge weights");
  app->add_flag("--disjoint", command->options.disjoint, "A tree for each seed, nothing shared");
  app->add_flag("--temporal", command->options.temporal,
                "Only edges not later than the seed's time; a tree for each seed");
  app->add_option("--times", command->times,
                  "Of --temporal: a time for each edge: lines \"source target time\", or .npy with "
                  "the times of the edges in the order of source and target")
      ->type_name("FILE");
  app->add_option("--seed-times", command->seed_times,
                  "Of --temporal: the time of all seeds, or a file with a time for each vertex")
      ->type_name("TIME|FILE");
  app->add_option("--edges", command->traversal.edges, "Where neighbour lists live: device, host")
      ->type_name("WHERE");
  app->add_option("--method", command->traversal.method,
                  "Partition over the ranks: ranges, random, degree, rabbit, metis")
      ->type_name("NAME");
  app->add_flag("--verify", command->traversal.verify, "Check every batch (exit status 4)");
  add_common_options(*app, command->common);
  app->footer(
      "Example:\n  warren sample kron:16 --symmetrize --fanout 15,10,5 --batch 1024 --verify");
  app->callback([command, &action] { action = [command] { return run_sample(*command); }; });
}

}  // namespace warren::app
