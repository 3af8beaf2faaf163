// SPDX-License-Identifier: Apache-2.0
// warren pagerank: the ranks of all vertices, and the ten largest.
#include "warren/traverse/pagerank.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/verify.hpp"

#include "command.hpp"
#include "files.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kTop = 10;

struct PageRankCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
  traverse::PageRankOptions pagerank;
};

struct Score {
  double score;
  Vertex vertex;  ///< In the user's order.
};

/// What the ranks find together, filled by rank 0.
struct PageRankOutcome {
  std::uint64_t edges = 0;
  traverse::PageRankResult result;
  std::vector<double> seconds;
  std::vector<Score> top;
  std::vector<double> ranks;  ///< In the user's order; empty where nobody asked.
  std::optional<traverse::Verdict> verdict;
  Mode mode;
  std::optional<traverse::AsyncReport> report;
};

std::vector<Score> largest_scores(std::vector<Score> scores) {
  const std::size_t count = std::min(kTop, scores.size());
  std::partial_sort(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(count),
                    scores.end(), [](const Score& a, const Score& b) {
                      return a.score != b.score ? a.score > b.score : a.vertex < b.vertex;
                    });
  scores.resize(count);
  return scores;
}

std::vector<Score> top_of_all(team::Team& team, const std::vector<double>& ranks,
                              const graph::Shard& shard, const TraversalInput& input) {
  std::vector<Score> own;
  own.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    own.push_back({ranks[i], input.to_user(static_cast<Vertex>(shard.out.first + i))});
  }
  own = largest_scores(std::move(own));
  std::vector<Score> all;
  for (const auto& part : team.all_gather_v(std::span<const Score>(own))) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return largest_scores(std::move(all));
}

/// One rank's work, with either form.
template <class PageRankType>
void run_rank(const PageRankCommand& command, const Session& session, const TraversalInput& input,
              team::Team& team, const graph::Shard& shard, PageRankOutcome& outcome) {
  PageRankType pagerank(team, shard, command.pagerank);
  pagerank.run();  // Warms up.
  traverse::PageRankResult result;
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    result = pagerank.run();
    seconds.push_back(
        team.all_reduce(result.seconds, [](double a, double b) { return a > b ? a : b; }));
  }
  auto top = top_of_all(team, pagerank.ranks(), shard, input);
  std::vector<double> ranks;
  if (command.traversal.verify || !command.traversal.output.empty()) ranks = pagerank.all_ranks();
  std::shared_ptr<const graph::Graph> graph;
  if (command.traversal.verify) graph = input.whole_graph(team, shard);
  if (team.rank() != 0) return;
  outcome.edges = shard.edges;
  if constexpr (std::is_same_v<PageRankType, traverse::AsyncPageRank>)
    outcome.report = pagerank.report();
  outcome.result = result;
  outcome.seconds = std::move(seconds);
  outcome.top = std::move(top);
  outcome.ranks = input.in_user_order(std::move(ranks));
  if (!graph) return;
  const TraceSpan span("verify", 0);
  outcome.verdict = traverse::verify_pagerank(*graph, command.pagerank.damping, outcome.ranks,
                                              traverse::pagerank_bound(command.pagerank, result),
                                              session.pool(), command.pagerank.weighted);
}

void set_json(Json& json, const PageRankOutcome& outcome, bool weighted,
              const std::string& placement, const VertexNames& names) {
  json["seconds"] = outcome.seconds;
  json["weighted"] = weighted;
  json["iterations"] = outcome.result.iterations;
  json["residual"] = outcome.result.residual;
  json["converged"] = outcome.result.converged;
  json["top"] = Json::array();
  for (const Score& entry : outcome.top) {
    json["top"].push_back(Json::array({names.json_id(entry.vertex), entry.score}));
  }
  if (names.has_names()) {
    json["top_names"] = Json::array();
    for (const Score& entry : outcome.top) json["top_names"].push_back(names.name(entry.vertex));
  }
  json["verified"] = outcome.verdict ? Json(outcome.verdict->correct) : Json(nullptr);
  set_mode_fields(json, outcome.mode, outcome.report ? &*outcome.report : nullptr);
  json["edges_placement"] = placement;
  json["bytes_read"] = outcome.result.far_bytes;
}

void print_outcome(Session& session, const PageRankOutcome& outcome, const VertexNames& names) {
  session.print("\n    PageRank  vertex\n");
  for (const Score& entry : outcome.top) {
    session.print("{:>12.6g}  {}\n", entry.score, names.name_and_id(entry.vertex));
  }
  const traverse::PageRankResult& result = outcome.result;
  Table table;
  table.row(
      "iterations",
      fmt::format("{}, the last changed {:.2g} in L1 ({})", result.iterations, result.residual,
                  result.converged ? "converged" : "not converged: raise --max-iterations"));
  const double middle = median(outcome.seconds);
  const double edges = static_cast<double>(outcome.edges) * static_cast<double>(result.iterations);
  table.row("time", fmt::format("{}: {}edges/s ({})", duration(middle),
                                with_prefix(middle > 0.0 ? edges / middle : 0.0), session.place()));
  if (outcome.verdict) {
    table.row("verified", outcome.verdict->correct ? "yes, by an iteration in double precision"
                                                   : "NO: " + outcome.verdict->message);
  }
  table.row("mode", mode_text(outcome.mode, outcome.report ? &*outcome.report : nullptr));
  session.print("\n{}", table.text());
}

void write_ranks(const std::string& path, const std::vector<double>& ranks,
                 const VertexNames& names) {
  write_lines(path, ranks.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v), ranks[v]);
  });
}

void check_weights(const std::string& name, const graph::Graph& graph) {
  if (graph.weight_type == graph::WeightType::none && graph.edges() > 0) {
    throw InputError(name +
                     ": it has no weights for --weighted; --weights uniform:LO:HI draws some, or "
                     "give a file that has them");
  }
}

ExitStatus run_pagerank(const PageRankCommand& command) {
  check_traversal_options(command.traversal);
  const traverse::PageRankOptions& pagerank = command.pagerank;
  require(pagerank.damping < 1.0,
          fmt::format("--damping {}: give a number of at least 0 and below 1", pagerank.damping));
  require(command.traversal.mode != "async" || pagerank.tolerance > 0.0,
          "--mode async needs a --tolerance above 0");
  require(command.traversal.mode != "async" || !command.common.deterministic,
          "--mode async adds up in no fixed order: without --deterministic, or with --mode sync");
  require(!pagerank.weighted || command.traversal.mode != "async",
          "--weighted has no asynchronous form: give --mode sync, or leave --mode out");
  require(!pagerank.weighted || command.traversal.edges != "compressed-host",
          "--weighted reads plain lists: give --edges device or host");
  Session session("pagerank", command.common);
  const std::string& output = command.traversal.output;
  if (!output.empty()) session.writes("--output", output);
  // On a GPU the hubs' contributions, which are read most, must lie together to stay in its caches.
  const std::string fitting = session.on_gpu() ? "degree" : "ranges";
  const std::string& method = command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal, method.empty() ? fitting : method,
                       pagerank.weighted,
                       pagerank.weighted ? WeightRange::not_negative : WeightRange::any);
  if (command.traversal.mode == "async") warn_of_cache(session, command.traversal);
  if (pagerank.weighted) {
    check_weights(command.graph.graph, *input.graph());
  } else if (!command.graph.weights.empty() || input.weights().are_unread) {
    log_warning(fmt::format("{}: ranks are unweighted; with {}--weighted they follow the weights",
                            command.graph.graph,
                            command.graph.weights.empty() ? "" : "--weights HOW and "));
  }
  session.warn_of_seed(input.is_drawn());
  session.json()["method"] = input.method();
  PageRankOutcome outcome;
  outcome.mode.is_async = command.traversal.mode == "async";
  if (command.traversal.mode == "auto")
    outcome.mode.reason = "an iteration has work for all vertices";
  {
    const auto progress = session.progress("ranking");
    team::run_team(session.team(), [&](team::Team& team) {
      const graph::Shard shard = input.shard(team);
      if (outcome.mode.is_async) {
        run_rank<traverse::AsyncPageRank>(command, session, input, team, shard, outcome);
      } else {
        run_rank<traverse::PageRank>(command, session, input, team, shard, outcome);
      }
    });
  }
  if (!output.empty()) write_ranks(output, outcome.ranks, input.names());
  describe_graph(session, command.graph, input.vertices(), outcome.edges);
  set_json(session.json(), outcome, pagerank.weighted, command.traversal.edges, input.names());
  print_outcome(session, outcome, input.names());
  session.finish();
  if (!outcome.verdict || outcome.verdict->correct) return ExitStatus::done;
  print_error(fmt::format("the ranks are wrong: {}", outcome.verdict->message));
  return ExitStatus::not_verified;
}

}  // namespace

void add_pagerank(CLI::App& program, Action& action) {
  auto command = std::make_shared<PageRankCommand>();
  CLI::App* pagerank = add_command(program, "pagerank", "PageRank, and the ten largest");
  add_graph_options(*pagerank, command->graph);
  pagerank->add_option("--damping", command->pagerank.damping, "In [0, 1) (0.85)")
      ->type_name("D")
      ->check(real_number(0.0, 1.0));
  pagerank
      ->add_option("--tolerance", command->pagerank.tolerance,
                   "Stop at an L1 change of at most this (1e-6)")
      ->type_name("T")
      ->check(real_number(0.0, 1e300));
  add_number(*pagerank, "--max-iterations", command->pagerank.max_iterations,
             "And after so many (100)", "N", 1, 0xffffffff);
  pagerank->add_flag("--weighted", command->pagerank.weighted,
                     "An edge passes on its weight's share of its source's rank, not an equal one "
                     "(not with --mode async or --edges compressed-host)");
  add_traversal_options(*pagerank, command->traversal);
  add_common_options(*pagerank, command->common);
  pagerank->footer(
      "Example:\n  warren pagerank debian --tolerance 1e-9 --verify\n"
      "  warren pagerank roads.wel --weighted");
  pagerank->callback([command, &action] { action = [command] { return run_pagerank(*command); }; });
}

}  // namespace warren::app
