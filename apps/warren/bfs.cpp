// SPDX-License-Identifier: Apache-2.0
// warren bfs: breadth-first search from one vertex or several.
#include "warren/traverse/bfs.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/search_figures.hpp"

#include "bfs_report.hpp"
#include "bfs_together.hpp"
#include "command.hpp"
#include "files.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "search_input.hpp"
#include "search_verdicts.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

struct BfsCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
  SearchOptions search;
  std::optional<std::uint32_t> depth_limit;
  bool together = false;

  [[nodiscard]] bool is_limited() const { return depth_limit || !search.targets.empty(); }
};

/// What the ranks find together, filled by rank 0.
struct BfsRunResult {
  std::uint64_t edges = 0;
  std::vector<BfsOutcome> outcomes;
  std::optional<BfsTogether> together;
  Mode mode;
};

/// One rank's work.
class BfsRank {
 public:
  BfsRank(const BfsCommand& command, const Session& session, TraversalInput& input,
          team::Team& team, BfsRunResult& result)
      : command_(command),
        session_(session),
        input_(input),
        team_(team),
        result_(result),
        shard_(input.shard(team)),
        limits_{command.depth_limit.value_or(traverse::BfsLimits::kNoDepth),
                in_shard_order(input, find_targets(command.search, input.names()))} {
    if (command.traversal.mode == "async") {
      mode_.is_async = true;
      async_ = std::make_unique<traverse::AsyncBfs>(team, shard_);
    } else {
      sync_ = std::make_unique<traverse::Bfs>(team, shard_);
    }
  }

  void run() {
    if (team_.rank() == 0) result_.edges = shard_.edges;
    if (needs_graph()) graph_ = input_.whole_graph(team_, shard_);
    const std::vector<Vertex> sources =
        find_sources(team_, shard_, input_, command_.search, command_.common.seed);
    if (command_.together) {
      search_together(sources);
      return;
    }
    warm_up(input_.to_shard(sources.front()));
    if (team_.rank() == 0) result_.mode = mode_;
    for (const Vertex source : sources) search(source, source == sources.front());
  }

 private:
  [[nodiscard]] bool needs_graph() const {
    return command_.traversal.verify ||
           (command_.common.deterministic && !command_.traversal.output.empty());
  }
  /// Depths and parents of the first source are also printed and written.
  [[nodiscard]] bool needs_depths(bool is_first) const {
    if (command_.traversal.verify) return true;
    return is_first &&
           (session_.prints() || !command_.traversal.output.empty() || counts_self_loops());
  }
  [[nodiscard]] bool tells_levels() const {
    return session_.prints() || !command_.common.json.empty();
  }
  [[nodiscard]] bool counts_self_loops() const {
    return shard_.is_symmetric && input_.may_have_self_loops() && input_.graph() != nullptr;
  }

  /// The first run; for --mode auto what it finds decides about the others.
  void warm_up(Vertex source) {
    const traverse::BfsResult found = run_once(source);
    if (command_.traversal.mode != "auto") return;
    if (command_.is_limited()) {
      mode_.reason = kLimitReason;
      return;
    }
    mode_ = choose_mode(team_, shard_, found.reached, std::uint64_t{found.max_depth} + 1, false);
    if (!mode_.is_async) return;
    async_ = std::make_unique<traverse::AsyncBfs>(team_, shard_);
    (void)run_once(source);
  }
  [[nodiscard]] traverse::BfsResult run_once(Vertex source) {
    return mode_.is_async ? async_->run(source) : sync_->run(source, limits_);
  }

  void search_together(const std::vector<Vertex>& sources) {
    std::vector<Vertex> own(sources.size());
    std::transform(sources.begin(), sources.end(), own.begin(),
                   [this](Vertex source) { return input_.to_shard(source); });
    BfsTogether outcome = bfs_together(team_, shard_, own, command_.common.repeat);
    for (std::size_t s = 0; s < sources.size(); ++s) outcome.sources[s].source = sources[s];
    if (command_.traversal.verify) {
      outcome.is_correct = true;
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const traverse::BfsResult alone = sync_->run(own[s]);
        const traverse::SourceReach& reach = outcome.sources[s];
        outcome.is_correct = *outcome.is_correct && alone.reached == reach.reached &&
                             alone.max_depth == reach.max_depth &&
                             alone.sum_depth == reach.sum_depth;
      }
    }
    if (team_.rank() == 0) result_.together = std::move(outcome);
  }

  void search(Vertex source, bool is_first) {
    BfsOutcome outcome;
    outcome.source = source;
    for (int run = 0; run < command_.common.repeat; ++run) {
      outcome.result = run_once(input_.to_shard(source));
      outcome.seconds.push_back(team_.all_reduce(outcome.result.seconds,
                                                 [](double a, double b) { return a > b ? a : b; }));
    }
    if (mode_.is_async) outcome.report = async_->report();
    if (is_first && tells_levels()) {
      const auto own = mode_.is_async ? async_->depth() : sync_->depth();
      outcome.levels = traverse::level_sizes(team_, own);
    }
    if (needs_depths(is_first) || counts_self_loops()) {
      auto depth = mode_.is_async ? async_->all_depths() : sync_->all_depths();
      auto parent = mode_.is_async ? async_->all_parents() : sync_->all_parents();
      if (team_.rank() == 0) {
        outcome.depth = input_.in_user_order(std::move(depth));
        outcome.parent = input_.in_user_order(std::move(parent), true);
      }
    }
    if (team_.rank() == 0) finish(std::move(outcome), is_first);
    team_.barrier();
  }

  /// Rank 0's part: what is looked at on the host.
  void finish(BfsOutcome outcome, bool is_first) {
    outcome.traversed_edges =
        traverse::input_edges(outcome.result.edges, shard_.is_symmetric,
                              counts_self_loops() ? input_.graph().get() : nullptr,
                              [&](Vertex v) { return outcome.depth[v] != kNoVertex; });
    if (command_.traversal.verify) {
      const TraceSpan span("verify", 0);
      outcome.verdict = traverse::verify_bfs(
          *graph_, outcome.source, outcome.depth, outcome.parent, session_.pool(),
          {limits_.depth, find_targets(command_.search, input_.names())});
    }
    const bool keeps = is_first && (session_.prints() || !command_.traversal.output.empty());
    if (!keeps) {
      outcome.depth = {};
      outcome.parent = {};
    } else if (graph_ && command_.common.deterministic) {
      outcome.parent =
          traverse::smallest_parents(*graph_, {&outcome.source, 1}, outcome.depth, session_.pool());
    }
    result_.outcomes.push_back(std::move(outcome));
  }

  const BfsCommand& command_;
  const Session& session_;
  TraversalInput& input_;
  team::Team& team_;
  BfsRunResult& result_;
  graph::Shard shard_;
  traverse::BfsLimits limits_;
  Mode mode_;
  std::unique_ptr<traverse::Bfs> sync_;
  std::unique_ptr<traverse::AsyncBfs> async_;
  std::shared_ptr<const graph::Graph> graph_;
};

void set_json(Json& json, const BfsRunResult& result, const std::string& placement,
              const VertexNames& names) {
  std::vector<double> seconds;
  for (const BfsOutcome& outcome : result.outcomes) {
    seconds.insert(seconds.end(), outcome.seconds.begin(), outcome.seconds.end());
  }
  json["seconds"] = seconds;
  set_fields(json, result.outcomes.front(), names);
  const auto& report = result.outcomes.front().report;
  set_mode_fields(json, result.mode, report ? &*report : nullptr);
  json["edges_placement"] = placement;
  json["bytes_read"] = result.outcomes.front().result.far_bytes;
}

void set_sources(Json& json, const BfsRunResult& result, const VertexNames& names) {
  json["sources"] = Json::array();
  for (const BfsOutcome& outcome : result.outcomes) {
    Json fields = Json::object();
    set_fields(fields, outcome, names);
    fields["seconds"] = outcome.seconds;
    json["sources"].push_back(fields);
  }
}

void print_sources(Session& session, const BfsRunResult& result, const VertexNames& names) {
  session.print("\n{:>12}  {:>12}  {:>9}  {:>12}  {:>14}\n", "source", "reached", "max depth",
                "time", "edges/s");
  for (const BfsOutcome& outcome : result.outcomes) {
    session.print("{:>12}  {:>12}  {:>9}  {:>12}  {:>14}\n", names.id_text(outcome.source),
                  thousands(outcome.result.reached), outcome.result.max_depth,
                  duration(median(outcome.seconds)), with_prefix(outcome.teps()));
  }
}

ExitStatus run_bfs(const BfsCommand& command) {
  check_traversal_options(command.traversal);
  require(!command.together || (command.search.sources > 0 && !command.is_limited() &&
                                command.traversal.output.empty()),
          "--together searches from --sources N at once, and has no --output, --depth-limit or "
          "--target");
  require(!command.together || command.traversal.mode != "async",
          "--together has no asynchronous form");
  Session session("bfs", command.common);
  const std::string& output = command.traversal.output;
  if (!output.empty()) session.writes("--output", output);
  const std::string& method = command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal,
                       method.empty() ? "ranges" : method);
  warn_of_weights(session, "breadth-first search");
  if (command.traversal.mode == "async") warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  session.json()["method"] = input.method();
  const VertexNames& names = input.names();
  check_search(command.search, command.traversal.mode,
               command.depth_limit ? "--depth-limit" : nullptr, names);
  BfsRunResult result;
  {
    const auto progress = session.progress("searching");
    team::run_team(session.team(),
                   [&](team::Team& team) { BfsRank(command, session, input, team, result).run(); });
  }
  if (result.together) {
    describe_graph(session, command.graph, input.vertices(), result.edges);
    report(session, *result.together, command.traversal.edges, names);
    session.finish();
    if (result.together->is_correct.value_or(true)) return ExitStatus::done;
    print_error("the searches together differ from those one at a time");
    return ExitStatus::not_verified;
  }
  const BfsOutcome& first = result.outcomes.front();
  if (!output.empty()) write_bfs(output, first, names);
  describe_graph(session, command.graph, input.vertices(), result.edges);
  set_json(session.json(), result, command.traversal.edges, names);
  if (command.depth_limit) session.json()["depth_limit"] = *command.depth_limit;
  set_targets(session.json(), command.search, names);
  if (command.search.sources > 0) {
    set_sources(session.json(), result, names);
    print_sources(session, result, names);
  }
  session.print("breadth-first search from {}{}\n", names.name_and_id(first.source),
                command.search.takes_busiest()
                    ? ", the vertex with the most out-edges (--source takes another)"
                    : "");
  print_outcome(session, first, names);
  session.print("{}\n", mode_text(result.mode, first.report ? &*first.report : nullptr));
  session.finish();
  return verification_status(result.outcomes, names);
}

}  // namespace

void add_bfs(CLI::App& program, Action& action) {
  auto command = std::make_shared<BfsCommand>();
  CLI::App* bfs = add_command(program, "bfs", "Breadth-first search, along the edges' direction");
  add_graph_options(*bfs, command->graph);
  add_search_options(*bfs, command->search);
  add_number(*bfs, "--depth-limit", command->depth_limit, "Search no farther than this", "D", 0,
             kMaxVertices - 1);
  bfs->add_flag("--together", command->together,
                "All --sources in one pass over the graph, 64 at a time");
  add_traversal_options(*bfs, command->traversal);
  add_common_options(*bfs, command->common);
  bfs->footer(
      "Example:\n  warren bfs debian --source git --verify\n"
      "  warren bfs kron:20 --symmetrize --drop-self-loops --sources 16 --json -");
  bfs->callback([command, &action] { action = [command] { return run_bfs(*command); }; });
}

}  // namespace warren::app
