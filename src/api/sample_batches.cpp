// SPDX-License-Identifier: Apache-2.0
// Many sampled batches by one call. A rank samples its share, several batches at a time, and copies
// each behind the last into arrays that grow; those of the other ranks are sent to the first.
#include <bit>
#include <utility>

#include "warren/api/sample.hpp"
#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"
#include "warren/team/processes.hpp"

#include "api/kept_sampler.hpp"
#include "api/library_words.hpp"

namespace warren {
namespace {

using api::Call;
using api::KeptSampler;
using api::RankGraph;
using sample::BatchCounts;

/// On GPUs as many as keep them busy while a launch begins; on the CPU each has all threads.
constexpr std::uint32_t kInFlightOnGpu = 16;

/// An array of one rank to which batches are added.
template <class T>
class Growing {
 public:
  /// Room behind what is there. Takes the memory for `expected` elements in all where there is too
  /// little, and a little more, so that the next call's array is of the same size.
  T* add(const exec::Stream& stream, std::uint64_t count, std::uint64_t expected) {
    const std::uint64_t needed = size_ + count;
    if (memory_ == nullptr || needed > capacity_) {
      const std::uint64_t wanted = std::max<std::uint64_t>({needed, expected, 64});
      const std::uint64_t step = std::bit_floor(wanted) / 8;
      const std::uint64_t capacity = (wanted + step - 1) / step * step;
      auto larger =
          std::make_shared<api::ArrayMemory>(stream.device(), exec::bytes_of(capacity, sizeof(T)));
      if (size_ > 0) exec::copy(stream, larger->data(), data(), size_ * sizeof(T));
      stream.synchronize();
      memory_ = std::move(larger);
      capacity_ = capacity;
    }
    T* const end = data() + size_;
    size_ = needed;
    return end;
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_->data()); }
  [[nodiscard]] std::span<const T> all() const {
    return size_ == 0 ? std::span<const T>() : std::span<const T>(data(), size_);
  }
  /// Has these instead, one part behind the other.
  void assign(const exec::Stream& stream, const std::vector<std::vector<T>>& parts) {
    size_ = 0;
    for (const std::vector<T>& part : parts) {
      if (part.empty()) continue;
      T* const to = add(stream, part.size(), 0);
      exec::copy(stream, to, part.data(), part.size() * sizeof(T));
    }
    stream.synchronize();
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] Array<T> take() {
    return memory_ == nullptr ? Array<T>() : Array<T>(std::move(memory_), size_);
  }

 private:
  std::shared_ptr<api::ArrayMemory> memory_;
  std::uint64_t capacity_ = 0, size_ = 0;
};

/// What one rank has sampled.
struct Sampled {
  struct Hop {
    Growing<EdgeOffset> offsets, edge_ids;
    Growing<Vertex> targets;
  };
  Growing<Vertex> vertices;
  Growing<std::uint32_t> trees;
  std::vector<Hop> hops;
  std::vector<BatchCounts> counts;

  /// `each(array)` for all of them, beside those of `other`.
  template <class Each>
  void for_each_with(Sampled& other, Each&& each) {
    each(vertices, other.vertices);
    each(trees, other.trees);
    for (std::size_t h = 0; h < hops.size(); ++h) {
      each(hops[h].offsets, other.hops[h].offsets);
      each(hops[h].targets, other.hops[h].targets);
      each(hops[h].edge_ids, other.hops[h].edge_ids);
    }
  }
};

/// Adds the sampler's last batches. `factor`: all batches of the rank by those that are there then.
void add_flight(KeptSampler& kept, std::vector<BatchCounts>&& counts, double factor, Sampled& all) {
  const auto hops = kept.sampler.hops();
  const auto room = [&](auto& array, std::uint64_t count) {
    const auto total = static_cast<double>(array.size() + count) * factor;
    return array.add(kept.stream, count, static_cast<std::uint64_t>(total * 1.02));
  };
  const auto sum = [&](auto&& of) {
    std::uint64_t total = 0;
    for (const BatchCounts& batch : counts) total += of(batch);
    return total;
  };
  const std::uint64_t vertices = sum([&](const BatchCounts& b) { return b.vertices[hops]; });
  sample::PackedBatches to;
  to.vertices = room(all.vertices, vertices);
  if (kept.key.disjoint) to.trees = room(all.trees, vertices);
  for (std::uint32_t h = 0; h < hops; ++h) {
    const std::uint64_t edges = sum([&](const BatchCounts& b) { return b.edges[h]; });
    const std::uint64_t offsets =
        sum([&](const BatchCounts& b) { return std::uint64_t{b.vertices[h]} + 1; });
    Sampled::Hop& hop = all.hops[h];
    to.hops.push_back({room(hop.offsets, offsets), room(hop.targets, edges),
                       kept.key.edge_ids ? room(hop.edge_ids, edges) : nullptr});
  }
  kept.packer.run(kept.stream, kept.sampler, counts, to);
  all.counts.insert(all.counts.end(), counts.begin(), counts.end());
}

std::uint64_t seeds_of(const SampleBatchesOptions& options) {
  return options.seeds.size() + options.seeds_in_place.size();
}

/// Seeds [from, until) on the rank's device; what of them is no vertex is noted in `bad`.
const Vertex* put_seeds(KeptSampler& kept, const Graph& graph, const SampleBatchesOptions& options,
                        std::uint64_t from, std::uint64_t until, api::BadId& bad) {
  if (from >= until) return nullptr;
  if (options.seeds_in_place.empty()) {
    Vertex* const seeds = memory::at_least(kept.stream, kept.seeds, until - from);
    kept.seeds.upload(kept.stream, std::span(options.seeds).subspan(from, until - from));
    return seeds;
  }
  const IdsView given = options.seeds_in_place.part(from, until - from);
  const Vertex* const seeds =
      api::arrive_narrow(kept.stream, given, graph.vertices(), kept.request);
  bad = api::find_bad(kept.stream, given, from, kept.request);
  return seeds;
}

/// Batches [first, end) of the call, whose seeds are `seeds`, `all` of them, with `times` where
/// they have some. `number`: of batch 0. Ends with the team.
void sample_share(const team::Team& team, KeptSampler& kept, const SampleBatchesOptions& options,
                  const Vertex* seeds, const std::int64_t* times, std::uint64_t all,
                  std::uint64_t first, std::uint64_t end, std::uint64_t number, Sampled& mine) {
  const std::uint64_t each = std::min<std::uint64_t>(options.batch_size, seeds_of(options));
  expect_progress("batches", end - first);
  for (std::uint64_t b = first; b < end; b += kept.key.in_flight) {
    team.check();
    const std::uint64_t begin = (b - first) * each;
    const std::uint64_t count = std::min<std::uint64_t>(all - begin, each * kept.key.in_flight);
    kept.sampler.run(kept.stream, seeds + begin, count, number + b,
                     times == nullptr ? nullptr : times + begin);
    auto counts = kept.sampler.counts(kept.stream);
    const double done = static_cast<double>(b - first) + static_cast<double>(counts.size());
    advance_progress(counts.size());
    add_flight(kept, std::move(counts), static_cast<double>(end - first) / done, mine);
  }
  kept.stream.synchronize();
}

/// Puts what the other ranks have behind what the first one has. Collective.
void join(team::Team& team, const exec::Stream& stream, std::vector<Sampled>& parts) {
  team.barrier();
  Sampled& whole = parts[0];
  const auto me = static_cast<std::size_t>(team.rank());
  // Each rank tells how many it has before the first one takes the room for all.
  std::vector<std::uint64_t> mine;
  parts[me].for_each_with(parts[me], [&](auto& array, auto&) { mine.push_back(array.size()); });
  const auto sizes = team.all_gather_v(std::span<const std::uint64_t>(mine));
  std::size_t number = 0;
  const auto before = [&](std::size_t rank) {
    std::uint64_t sum = 0;
    for (std::size_t q = 0; q < rank; ++q) sum += sizes[q][number];
    return sum;
  };
  if (me == 0) {
    whole.for_each_with(whole, [&](auto& array, auto&) {
      const std::uint64_t more = before(parts.size()) - before(1);
      if (more > 0) (void)array.add(stream, more, 0);
      ++number;
    });
    for (std::size_t q = 1; q < parts.size(); ++q)
      whole.counts.insert(whole.counts.end(), parts[q].counts.begin(), parts[q].counts.end());
    stream.synchronize();
  }
  team.barrier();
  if (me != 0) {
    parts[me].for_each_with(whole, [&](auto& array, auto& target) {
      if (array.size() > 0)
        exec::copy(stream, target.data() + before(me), array.data(),
                   array.size() * sizeof(*array.data()));
      ++number;
    });
    stream.synchronize();
  }
  team.barrier();
}

/// Gives every process the batches of all. Collective.
void join_everywhere(team::Team& team, const exec::Stream& stream, Sampled& mine) {
  mine.for_each_with(
      mine, [&](auto& array, auto&) { array.assign(stream, team.all_gather_v(array.all())); });
  const auto counts = team.all_gather_v(std::span<const BatchCounts>(mine.counts));
  mine.counts.clear();
  for (const auto& part : counts) mine.counts.insert(mine.counts.end(), part.begin(), part.end());
}

SampleBatchesResult told(Sampled& all, bool disjoint) {
  SampleBatchesResult result;
  const std::size_t hops = all.hops.size();
  const auto begins = [&](auto&& of) {
    std::vector<std::uint64_t> sums{0};
    for (const BatchCounts& batch : all.counts) sums.push_back(sums.back() + of(batch));
    return sums;
  };
  result.vertex_begins = begins([&](const BatchCounts& b) { return b.vertices[hops]; });
  result.vertices = all.vertices.take();
  if (disjoint) result.trees = all.trees.take();
  for (std::size_t h = 0; h < hops; ++h) {
    SampledLayers layers;
    layers.offset_begins =
        begins([&](const BatchCounts& b) { return std::uint64_t{b.vertices[h]} + 1; });
    layers.edge_begins = begins([&](const BatchCounts& b) { return std::uint64_t{b.edges[h]}; });
    layers.offsets = all.hops[h].offsets.take();
    layers.targets = all.hops[h].targets.take();
    layers.edge_ids = all.hops[h].edge_ids.take();
    result.layers.push_back(std::move(layers));
  }
  return result;
}

/// Of a rank with seeds of its own the number that its batch 0 draws by: numbers are below 2^48,
/// and there are 32 ranks at most.
std::uint64_t own_number(std::uint64_t batch, std::uint64_t rank) {
  constexpr int kBits = 43;
  return batch % (std::uint64_t{1} << kBits) + (rank << kBits);
}

SampleBatchesResult sample_all(const Graph& graph, const SampleBatchesOptions& options) {
  require(options.batch_size > 0, "batch_size: got 0, expected 1 or more");
  const std::uint64_t batches =
      seeds_of(options) == 0 ? 0 : (seeds_of(options) - 1) / options.batch_size + 1;
  api::check_sampling(graph, options, batches);
  api::CallOptions where = api::call_options(std::nullopt, options);
  where.gpu = options.seeds_in_place.gpu();
  where.of_host = true;
  // A process alone is one rank, which has all seeds anyway.
  const bool is_own = options.own && team::Processes::current() != nullptr;
  where.own = is_own;
  Call call(graph, where);
  const auto ranks = static_cast<std::uint64_t>(call.info.devices);
  require(!options.own || is_own || ranks == 1,
          "own: ranks of one process have one caller, and no seeds of their own: start a process "
          "for each rank, or leave it out");
  const std::uint64_t most = (batches + ranks - 1) / ranks;
  const std::uint32_t wanted = options.in_flight != 0                 ? options.in_flight
                               : call.info.device == DeviceKind::cuda ? kInFlightOnGpu
                                                                      : 1;
  api::SamplerKey key = api::key_of(options);
  key.batch =
      is_own ? options.batch_size : std::min<std::uint64_t>(options.batch_size, seeds_of(options));
  key.edge_ids = options.edge_ids;
  key.in_flight =
      is_own ? wanted : static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, most));
  std::vector<Sampled> parts(ranks);
  api::BadId bad;
  call.run([&](team::Team& team, RankGraph& rank) {
    team::Team& host = team.of_host();
    KeptSampler& kept =
        is_own ? KeptSampler::own(host, rank, key) : KeptSampler::of(host, rank, key, batches == 1);
    const auto p = static_cast<std::uint64_t>(team.rank());
    Sampled& mine = parts[team.spans_processes() ? 0 : p];
    mine = {};
    mine.hops.resize(options.fanouts.size());
    const std::uint64_t first = is_own ? 0 : batches * p / ranks;
    const std::uint64_t end = is_own ? batches : batches * (p + 1) / ranks;
    const std::uint64_t from = std::min(first * key.batch, seeds_of(options));
    const std::uint64_t until = std::min(end * key.batch, seeds_of(options));
    api::BadId found;
    const Vertex* const seeds = put_seeds(kept, graph, options, from, until, found);
    if (!is_own) found = api::first_of(team, found);
    if (team.reports()) bad = found;
    if (found.place != api::BadId::kNone) return;
    const std::int64_t* const times = kept.put_times(
        key.edge_times == nullptr ? std::span<const std::int64_t>()
                                  : std::span(options.seed_times).subspan(from, until - from));
    double seconds = 0.0;
    if (is_own) {
      // Lists of other ranks do not change, so that none need be waited for.
      const double begin = now_seconds();
      sample_share(team, kept, options, seeds, times, until - from, 0, batches,
                   own_number(options.batch, p), mine);
      call.info.seconds = now_seconds() - begin;
      return;
    }
    team.with_peer_memory([&] {
      team.barrier();
      const double begin = now_seconds();
      sample_share(team, kept, options, seeds, times, until - from, first, end, options.batch,
                   mine);
      if (team.spans_processes()) {
        join_everywhere(team, kept.stream, mine);
      } else if (ranks > 1) {
        join(team, kept.stream, parts);
      }
      seconds = now_seconds() - begin;
      team.barrier();  // Others' lists are read until here.
    });
    seconds = api::slowest(team, seconds);
    if (team.reports()) call.info.seconds = seconds;
  });
  if (bad.place != api::BadId::kNone)
    throw VertexError(fmt::format("seeds[{}]: got {}, expected a vertex, 0 to {}", bad.place,
                                  static_cast<std::int64_t>(bad.number), graph.vertices() - 1));
  SampleBatchesResult result = told(parts[0], key.disjoint);
  result.info = call.info;
  return result;
}

}  // namespace

SampleBatchesResult sample_batches(const Graph& graph, const SampleBatchesOptions& options) {
  return api::told_in_library_words([&] { return sample_all(graph, options); });
}

}  // namespace warren
