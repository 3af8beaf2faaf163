// SPDX-License-Identifier: Apache-2.0
// Random walks: each rank's share of them, which the first rank has in the end.
#include "warren/api/walks.hpp"

#include <algorithm>
#include <utility>

#include "warren/api/checks.hpp"
#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sample/walks.hpp"

#include "api/call.hpp"
#include "api/drawn_edges.hpp"
#include "api/library_words.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// What a rank keeps between calls.
struct Walker : api::RankSampler {
  Walker(team::Team& team, const graph::Shard& shard, bool is_weighted)
      : weighted(is_weighted),
        stream(team.device()),
        store(team, shard, {.weights = is_weighted, .cumulative = is_weighted}),
        starts(team.device(), 0) {}

  /// Collective.
  static Walker& of(team::Team& team, RankGraph& rank, bool is_weighted) {
    auto* kept = dynamic_cast<Walker*>(rank.walker.get());
    if (kept == nullptr || kept->weighted != is_weighted) {
      rank.walker.reset();
      rank.walker = std::make_unique<Walker>(team, rank.shard, is_weighted);
      kept = static_cast<Walker*>(rank.walker.get());
    }
    return *kept;
  }

  bool weighted;
  exec::Stream stream;
  sample::GraphStore store;
  memory::Buffer<Vertex> starts;
};

sample::WalkOptions walk_options(const RandomWalksOptions& options, std::uint64_t first) {
  return {.length = options.length,
          .weighted = options.weighted,
          .p = options.p,
          .q = options.q,
          .seed = options.seed,
          .batch = options.batch,
          .first = first};
}

void check(const Graph& graph, const RandomWalksOptions& options) {
  sample::check(walk_options(options, 0));
  require(!options.starts.empty(), "starts: got none, expected one or more");
  for (const Vertex start : options.starts) api::check_vertex(graph, start, "starts");
  api::check_drawn_edges(graph, options);
}

/// Walks of one launch. On GPUs a call that was interrupted ends between two launches: some
/// hundredths of a second of work.
std::uint64_t walks_of_a_launch(const exec::Device& device, const RandomWalksOptions& options) {
  // On the CPU they end in the midst of a launch: parts are for those who are told of the progress.
  constexpr std::uint64_t kParts = 100;
  if (!device.is_cuda()) return std::max<std::uint64_t>(options.starts.size() / kParts, 4096);
  const bool is_biased = options.p != 1.0 || options.q != 1.0;
  const std::uint64_t steps = std::uint64_t{1} << (is_biased ? 24 : 26);
  return std::max<std::uint64_t>(steps / (options.length + std::uint64_t{1}), 1);
}

/// The walks [from, until), written to `to`. Ends with the team.
void walk_share(const team::Team& team, Walker& walker, const RandomWalksOptions& options,
                std::uint64_t from, std::uint64_t until, Vertex* to) {
  const std::span<const Vertex> mine = std::span(options.starts).subspan(from, until - from);
  const Vertex* const starts = memory::at_least(walker.stream, walker.starts, mine.size());
  walker.starts.upload(walker.stream, mine);
  const std::uint64_t most = walks_of_a_launch(team.device(), options);
  expect_progress("walks", mine.size());
  for (std::uint64_t begin = 0; begin < mine.size(); begin += most) {
    sample::WalkOptions walks = walk_options(options, from + begin);
    if (!team.device().is_cuda()) walks.stop = team.abort_flag();
    sample::random_walks(walker.stream, walker.store, starts + begin,
                         std::min(most, mine.size() - begin), walks,
                         to + begin * (options.length + std::uint64_t{1}));
    walker.stream.synchronize();
    team.check();
    advance_progress(std::min(most, mine.size() - begin));
  }
}

RandomWalksResult walk_all(const Graph& graph, const RandomWalksOptions& options) {
  check(graph, options);
  api::CallOptions where = api::call_options(std::nullopt, options);
  where.of_host = true;
  Call call(graph, where);
  const std::uint64_t count = options.starts.size();
  const std::uint64_t row = options.length + std::uint64_t{1};
  const std::uint64_t bytes = exec::bytes_of(exec::bytes_of(count, row), sizeof(Vertex));
  std::shared_ptr<api::ArrayMemory> walks;
  call.run([&](team::Team& team, RankGraph& rank) {
    Walker& walker = Walker::of(team.of_host(), rank, options.weighted);
    const auto ranks = static_cast<std::uint64_t>(team.size());
    const auto r = static_cast<std::uint64_t>(team.rank());
    // Processes each have all of them.
    const bool has_all = team.spans_processes();
    const std::uint64_t from = has_all ? 0 : count * r / ranks;
    const std::uint64_t until = has_all ? count : count * (r + 1) / ranks;
    if (team.reports()) walks = std::make_shared<api::ArrayMemory>(team.device(), bytes);
    const memory::Buffer<Vertex> own(team.device(), team.reports() ? 0 : (until - from) * row);
    double seconds = 0.0;
    team.with_peer_memory([&] {
      team.barrier();
      const double begin = now_seconds();
      auto* const all = static_cast<Vertex*>(walks->data());
      walk_share(team, walker, options, from, until, team.reports() ? all : own.data());
      if (!team.reports() && own.size() > 0) {
        exec::copy(walker.stream, all + from * row, own.data(), own.bytes());
        walker.stream.synchronize();
      }
      seconds = now_seconds() - begin;
      team.barrier();  // Others' lists are read until here, and the first one's walks written.
    });
    seconds = api::slowest(team, seconds);
    if (team.reports()) call.info.seconds = seconds;
  });
  RandomWalksResult result;
  result.walks = Array<Vertex>(std::move(walks), count * row);
  result.length = options.length;
  result.info = call.info;
  return result;
}

}  // namespace

RandomWalksResult random_walks(const Graph& graph, const RandomWalksOptions& options) {
  return api::told_in_library_words([&] { return walk_all(graph, options); });
}

}  // namespace warren
