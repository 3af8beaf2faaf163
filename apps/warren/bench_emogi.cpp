// SPDX-License-Identifier: Apache-2.0
#include "bench_emogi.hpp"

#include <array>
#include <numeric>

#include "warren/exec/managed.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/pattern_bfs.hpp"

#include "search_input.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

struct Row {
  std::string name;
  std::vector<double> seconds;  ///< One per source.
  double bytes = 0.0;           ///< Read from host memory, the mean over the sources.
  std::array<double, 4> requests{};
  bool has_requests = false;
  bool has_pages = false;  ///< `bytes` are those of the pages in which lists were read.

  [[nodiscard]] double mean_seconds() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
  }
  [[nodiscard]] double rate() const { return bytes / mean_seconds(); }
};

/// The least that a driver moves between a host and a GPU.
constexpr std::uint64_t kPageBytes = 4096;

constexpr std::array<const char*, 4> kSizes = {"32", "64", "96", "128"};

/// Empty where lists of `bytes` may be in managed memory.
std::string why_not_managed(const exec::Device& device, std::uint64_t bytes) {
  const std::uint64_t room = exec::managed_room(device);
  if (room == 0) return fmt::format("{} has no managed memory", device.name());
  if (bytes <= room) return {};
  return fmt::format("lists of {} where {} has room for {}, half of what it has free",
                     human_bytes(bytes), device.name(), human_bytes(room));
}

/// The patterns of the paper, then warren's traversals.
class EmogiBench {
 public:
  EmogiBench(team::Team& team, const graph::Shard& shard, std::vector<Vertex> sources)
      : team_(team), shard_(shard), sources_(std::move(sources)) {}

  void run() {
    {
      traverse::PatternBfs bfs(team_, shard_);
      sequential_rate_ = bfs.sequential_rate();
      pattern(bfs, "strided", traverse::AccessPattern::strided);
      pattern(bfs, "merged", traverse::AccessPattern::merged);
      pattern(bfs, "merged and aligned", traverse::AccessPattern::aligned);
    }
    managed();
    warrens("push in address order", false);
    warrens("direction-optimising", true);
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] double sequential_rate() const { return sequential_rate_; }
  /// Why there is no row "managed"; empty where there is one.
  [[nodiscard]] const std::string& left_out() const { return left_out_; }

 private:
  void pattern(traverse::PatternBfs& bfs, const std::string& name,
               traverse::AccessPattern pattern) {
    Row row;
    row.name = name;
    row.has_requests = true;
    const double part = 1.0 / static_cast<double>(sources_.size());
    (void)bfs.run(sources_.front(), pattern, false);
    for (const Vertex source : sources_) {
      row.seconds.push_back(bfs.run(source, pattern, false).seconds);
      const auto counted = bfs.run(source, pattern, true);
      row.bytes += static_cast<double>(counted.bytes()) * part;
      for (std::size_t i = 0; i < 4; ++i)
        row.requests[i] += static_cast<double>(counted.requests[i]) * part;
    }
    rows_.push_back(std::move(row));
  }

  /// The paper's UVM: lists in managed memory, all of them in host memory before each search.
  void managed() {
    left_out_ = why_not_managed(team_.device(), shard_.edges * sizeof(Vertex));
    if (!left_out_.empty()) return;
    traverse::PatternBfs bfs(team_, shard_, traverse::ListMemory::managed);
    Row row;
    row.name = "managed";
    row.has_pages = true;
    (void)bfs.run(sources_.front(), traverse::AccessPattern::aligned, false);
    for (const Vertex source : sources_) {
      row.seconds.push_back(bfs.run(source, traverse::AccessPattern::aligned, false).seconds);
      row.bytes += static_cast<double>(bfs.bytes_in_blocks(kPageBytes)) /
                   static_cast<double>(sources_.size());
    }
    rows_.push_back(std::move(row));
  }

  void warrens(const std::string& name, bool optimizing) {
    traverse::BfsOptions options;
    options.direction_optimizing = optimizing;
    traverse::Bfs bfs(team_, shard_, options);
    Row row;
    row.name = name;
    (void)bfs.run(sources_.front());
    for (const Vertex source : sources_) {
      const auto result = bfs.run(source);
      row.seconds.push_back(result.seconds);
      row.bytes += static_cast<double>(result.far_bytes) / static_cast<double>(sources_.size());
    }
    rows_.push_back(std::move(row));
  }

  team::Team& team_;
  const graph::Shard& shard_;
  std::vector<Vertex> sources_;
  std::vector<Row> rows_;
  double sequential_rate_ = 0.0;
  std::string left_out_;
};

void report(Session& session, const EmogiBench& bench, std::uint64_t edges, std::size_t sources) {
  const double dataset = static_cast<double>(edges * sizeof(Vertex));
  Json& json = session.json();
  json["sources"] = sources;
  json["dataset_bytes"] = dataset;
  json["sequential_bytes_per_second"] = bench.sequential_rate();
  json["results"] = Json::array();
  session.print("read from first to last: {}B/s\n\n", with_prefix(bench.sequential_rate()));
  session.print("{:<22} {:>10} {:>9} {:>7}  {:>8} {:>8} {:>8} {:>8}\n", "traversal", "time", "GB/s",
                "read", "32 B", "64 B", "96 B", "128 B");
  for (const Row& row : bench.rows()) {
    Json fields = {{"pattern", row.name},
                   {"mean_seconds", row.mean_seconds()},
                   {"bytes_read", row.bytes},
                   {"amplification", row.bytes / dataset},
                   {"bytes_per_second", row.rate()},
                   {"seconds", row.seconds}};
    if (row.has_pages) fields["page_bytes"] = kPageBytes;
    std::string shares;
    if (row.has_requests) {
      const double total = std::accumulate(row.requests.begin(), row.requests.end(), 0.0);
      fields["requests"] = total;
      for (std::size_t i = 0; i < 4; ++i) {
        fields["requests_by_bytes"][kSizes[i]] = row.requests[i];
        shares += fmt::format(" {:>7.1f}%", total > 0.0 ? 100.0 * row.requests[i] / total : 0.0);
      }
    }
    json["results"].push_back(fields);
    session.print("{:<22} {:>10} {:>9.2f} {:>6.2f}x {}\n", row.name, duration(row.mean_seconds()),
                  row.rate() * 1e-9, row.bytes / dataset, shares);
  }
  if (!bench.left_out().empty()) {
    json["left_out"]["managed"] = bench.left_out();
    session.print("\nmanaged: left out: {}\n", bench.left_out());
  } else {
    session.print("\nmanaged: the pages of {} bytes read, the least that moved\n", kPageBytes);
  }
  session.print("\ntimes are means over {} sources; read: bytes over those of all lists\n",
                sources);
}

}  // namespace

void bench_emogi(Session& session, const EmogiOptions& options) {
  TraversalOptions traversal;
  traversal.edges = "host";
  traversal.cache = 0;
  TraversalInput input(session, options.graph, traversal, "ranges");
  warn_of_weights(session, "breadth-first search");
  warn_without_effect(session.options(), {"--repeat"},
                      "--sources says how many searches are timed");
  SearchOptions search;
  search.sources = options.sources;
  team::run_team(session.team(), [&](team::Team& team) {
    const graph::Shard shard = input.shard(team);
    std::vector<Vertex> sources = find_sources(team, shard, input, search, session.options().seed);
    EmogiBench bench(team, shard, in_shard_order(input, std::move(sources)));
    bench.run();
    describe_graph(session, options.graph, input.vertices(), shard.edges);
    report(session, bench, shard.edges, options.sources);
  });
}

}  // namespace warren::app
