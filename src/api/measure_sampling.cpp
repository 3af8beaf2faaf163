// SPDX-License-Identifier: Apache-2.0
// Every rank draws the seeds of its share of the batches, and samples them again and again. To look
// at them, rank 0 is sent one batch after the other.
#include "warren/api/measure_sampling.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/api/program.hpp"
#include "warren/core/error.hpp"
#include "warren/core/quantity.hpp"
#include "warren/graph/draw.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sample/times.hpp"
#include "warren/sample/verify.hpp"

#include "api/measured.hpp"

namespace warren::api {
namespace {

/// Of `temporal`, by the graph's numbers: of every edge, and of every vertex as a seed.
struct SampleTimesOf {
  std::vector<std::int64_t> edges, vertices;
};

/// The times of a rank's edges in its shard's order.
std::vector<std::int64_t> times_of_shard(const std::vector<std::int64_t>& times,
                                         const graph::Graph& graph, const RankPart& part,
                                         int rank) {
  std::vector<std::int64_t> mine;
  std::vector<std::pair<Vertex, EdgeOffset>> list;
  const auto r = static_cast<std::size_t>(rank);
  for (std::uint64_t row = part.shard.cuts[r]; row < part.shard.cuts[r + 1]; ++row) {
    const Vertex v = part.order.to_old(static_cast<Vertex>(row));
    list.clear();
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e)
      list.emplace_back(part.order.to_new(graph.targets[e]), e);
    std::sort(list.begin(), list.end());
    for (const auto& [target, edge] : list) mine.push_back(times[edge]);
  }
  return mine;
}

/// Different vertices, a function of the seed and the batch's number.
std::vector<Vertex> drawn_seeds(std::uint64_t seed, std::uint64_t batch, std::uint64_t count,
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
  SampleRank(const SamplingTrialOptions& options, const SampleTimesOf& times, team::Team& team,
             const warren::Graph& graph, const RankPart& part)
      : options_(options),
        times_(times),
        team_(team),
        graph_(graph),
        order_(part.order),
        stream_(team.device()),
        shard_(part.shard),
        own_times_(options.sampler.temporal
                       ? times_of_shard(times.edges, graph.csr(), part, team.of_host().rank())
                       : std::vector<std::int64_t>()),
        store_(timed_setup(
            team, setup_seconds_,
            [&] { return sample::GraphStore(team.of_host(), shard_, store_options()); })),
        sampler_(team.device(), store_, options.sampler),
        first_(share(team.rank())),
        end_(share(team.rank() + 1)),
        counts_(team.device(), memory::MemoryKind::pinned, end_ - first_) {
    fill_seeds();
  }

  [[nodiscard]] SamplingFigures run() {
    SamplingFigures mine;
    mine.graph_edges = shard_.edges;
    mine.setup_seconds = setup_seconds_;
    mine.seconds = timed_repeatedly(team_, options_.repeat, "sample", [this] {
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
    const double middle = median(mine.seconds);
    mine.edges_per_second = rate(static_cast<double>(mine.edges), middle);
    mine.batches_per_second = rate(static_cast<double>(options_.batches), middle);
    if (options_.verify) look_at_all(mine);
    team_.barrier();
    return mine;
  }

 private:
  [[nodiscard]] std::uint64_t share(int rank) const {
    const auto p = static_cast<std::uint64_t>(rank);
    return options_.batches * p / static_cast<std::uint64_t>(team_.size());
  }

  [[nodiscard]] sample::StoreOptions store_options() const {
    const sample::SamplerOptions& sampler = options_.sampler;
    sample::StoreOptions store{.weights = sampler.weighted,
                               .cumulative = sampler.weighted && sampler.replace};
    if (sampler.temporal) store.times = own_times_;
    return store;
  }

  void fill_seeds() {
    const std::uint64_t each = options_.sampler.batch;
    std::vector<Vertex> seeds;
    std::vector<std::int64_t> times;
    seeds.reserve((end_ - first_) * each);
    for (std::uint64_t b = first_; b < end_; ++b) {
      team_.check();  // Nothing else tells a rank that the team is to end.
      for (const Vertex v : drawn_seeds(options_.seed, b, each, graph_.vertices())) {
        seeds.push_back(order_.to_new(v));
        if (options_.sampler.temporal) times.push_back(times_.vertices[v]);
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
    const std::uint64_t each = options_.sampler.batch;
    for (std::uint64_t b = first_; b < end_; b += options_.sampler.in_flight) {
      const std::uint64_t count = std::min<std::uint64_t>(options_.sampler.in_flight, end_ - b);
      team_.check();
      const std::uint64_t at = (b - first_) * each;
      sampler_.run(stream_, seeds_.data() + at, count * each, b,
                   options_.sampler.temporal ? seed_times_.data() + at : nullptr);
      exec::copy(stream_, counts_.data() + (b - first_), sampler_.batch(0).counts,
                 count * sizeof(sample::BatchCounts));
      then(b, count);
    }
  }

  /// Every batch once more, looked at where the whole graph is.
  void look_at_all(SamplingFigures& mine) {
    const TraceSpan span("verify", team_.rank());
    const graph::Graph* graph = team_.rank() == 0 ? &graph_.csr() : nullptr;
    std::vector<Vertex> store_ids;
    for (std::uint64_t v = 0; graph != nullptr && options_.sampler.labor && v < graph->vertices;
         ++v)
      store_ids.push_back(order_.to_new(static_cast<Vertex>(v)));
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
        for (std::uint64_t i = 0; options_.sampler.temporal && i < options_.sampler.batch; ++i)
          seed_times.push_back(times_.vertices[batch.vertices[i]]);
        const std::string wrong =
            sample::verify(*graph, batch, options_.sampler.batch, options_.sampler,
                           {times_.edges, seed_times}, {number, store_ids});
        if (!wrong.empty() && mine.wrong.empty())
          mine.wrong = fmt::format("batch {}: {}", number, wrong);
      }
    }
    mine.digest = team_.all_gather(mine.digest).front();
    const auto found = team_.all_gather_v(std::span<const char>(mine.wrong));
    mine.wrong.assign(found.front().begin(), found.front().end());
  }

  [[nodiscard]] static std::vector<std::uint64_t> pack(const sample::HostBatch& batch);
  [[nodiscard]] sample::HostBatch unpack(const std::vector<std::uint64_t>& words) const;

  const SamplingTrialOptions& options_;
  const SampleTimesOf& times_;
  team::Team& team_;
  const warren::Graph graph_;
  const graph::Partition& order_;
  exec::Stream stream_;
  const graph::Shard& shard_;
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
  for (Vertex& v : batch.vertices) v = order_.to_old(v);
  get(batch.trees);
  batch.hops.resize(options_.sampler.fanouts.size());
  for (sample::HostHop& hop : batch.hops) {
    get(hop.row_offsets);
    get(hop.columns);
    get(hop.edge_ids);
    get(hop.duplicates);
  }
  return batch;
}

/// On GPUs, as many batches as keep them busy while a launch begins.
std::uint64_t chosen_in_flight(const SamplingTrialOptions& options, DeviceKind kind) {
  constexpr std::uint64_t kOnGpu = 4;
  const std::uint64_t wanted = options.in_flight != 0     ? options.in_flight
                               : kind == DeviceKind::cuda ? kOnGpu
                                                          : 1;
  return std::min(wanted, options.batches);
}

}  // namespace

void check(const SamplingTrialOptions& options) {
  constexpr std::uint64_t kMostInFlight = 4096;
  check_choice("--table", options.table, {"auto", "hash", "direct"});
  require(options.sampler.batch > 0 && options.batches > 0,
          "--batch and --batches should be 1 or more");
  require(options.in_flight <= kMostInFlight,
          fmt::format("--in-flight {}: expected 0 to {}", options.in_flight, kMostInFlight));
  check_repeat(options.repeat);
  const bool has_times = !options.times.empty() && !options.seed_times.empty();
  require(!options.sampler.temporal || has_times,
          "--temporal needs timestamps: --times FILE (of edges: lines \"source target time\", or "
          ".npy) and --seed-times TIME|FILE (of seeds)");
  require(options.sampler.temporal || (options.times.empty() && options.seed_times.empty()),
          "--times and --seed-times are for --temporal");
  const sample::SamplerOptions& sampler = options.sampler;
  require(!sampler.temporal_last || sampler.temporal, "--temporal-last is for --temporal");
  require(!sampler.temporal_last || (!sampler.replace && !sampler.weighted),
          "--temporal-last takes the latest edges, and draws none: leave out --replace and "
          "--weighted");
  require(!sampler.labor || !sampler.replace,
          "--labor takes different neighbours of a vertex: leave out --replace");
  require(!sampler.labor || (!sampler.disjoint && !sampler.temporal),
          "--labor has vertices share neighbours, which the trees of --disjoint and --temporal "
          "cannot: leave out one of them");
  require(!sampler.layer_dependency || sampler.labor, "--layer-dependency is for --labor");
}

SamplingFigures measure_sampling(const Graph& graph, const WhereOptions& where,
                                 SamplingTrialOptions options) {
  check(options);
  check_fanouts(options.sampler.fanouts);
  sample::SamplerOptions& sampler = options.sampler;
  require(graph.vertices() > 0, "the graph has no vertices; there is nothing to sample");
  require(sampler.batch <= graph.vertices(),
          fmt::format("--batch {} is more than the graph's {}: seeds of a batch are different "
                      "vertices",
                      sampler.batch, counted(graph.vertices(), "vertex", "vertices")));
  using Kind = sample::SamplerOptions::Table;
  if (options.table != "auto") sampler.table = options.table == "hash" ? Kind::hash : Kind::direct;
  // What is later for one seed may be early enough for another: each has a tree of its own.
  sampler.disjoint |= sampler.temporal;
  sampler.seed = options.seed;
  sampler.edge_ids = options.verify;
  const Session session = session_of(where.session);
  sampler.in_flight =
      static_cast<std::uint32_t>(chosen_in_flight(options, session.teams()->kind(where.device)));
  SampleTimesOf times;
  if (sampler.temporal) {
    times.edges = sample::read_edge_times(
        options.times, graph.csr(),
        graph.are_names_ids() ? graph.names() : std::span<const std::string>());
    times.vertices = sample::read_seed_times(options.seed_times, graph.vertices());
  }
  // All batches are looked at where rank 0 is: before ranks wait for each other.
  if (options.verify && graph.is_read_by_ranges() && is_first_process()) (void)graph.csr();
  SamplingFigures figures;
  WhereOptions on_hosts = where;
  on_hosts.of_host = true;
  on_ranks(graph, on_hosts, [&](team::Team& team, const RankPart& part) {
    const std::uint64_t sent = team.bytes_between_hosts();
    SamplingFigures mine = SampleRank(options, times, team, graph, part).run();
    if (team.spans_hosts()) mine.bytes_between_hosts = bytes_between_hosts(team, sent);
    if (team.reports()) figures = std::move(mine);
  });
  figures.sampler = sampler;
  return figures;
}

}  // namespace warren::api
