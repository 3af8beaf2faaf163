// SPDX-License-Identifier: Apache-2.0
// warren sssp: shortest paths from one vertex or several.
#include "warren/traverse/sssp.hpp"

#include <limits>
#include <memory>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/search_figures.hpp"

#include "command.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "search_input.hpp"
#include "search_verdicts.hpp"
#include "sssp_report.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

struct SsspCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
  SearchOptions search;
  std::optional<double> cutoff;
  double delta = 0.0;  ///< Where `has_delta`.
  bool has_delta = false;

  [[nodiscard]] bool is_limited() const { return cutoff || !search.targets.empty(); }
};

/// What the ranks find together, filled by rank 0.
struct SsspRunResult {
  std::uint64_t edges = 0;
  std::vector<SsspOutcome> outcomes;
  Mode mode;
};

/// One rank's work.
class SsspRank {
 public:
  SsspRank(const SsspCommand& command, const Session& session, TraversalInput& input,
           team::Team& team, SsspRunResult& result)
      : command_(command),
        session_(session),
        input_(input),
        team_(team),
        result_(result),
        shard_(input.shard(team)),
        limits_{cutoff(), in_shard_order(input, find_targets(command.search, input.names()))} {
    if (command.traversal.mode == "async") {
      mode_.is_async = true;
      make_async();
    } else {
      sync_ = std::make_unique<traverse::Sssp>(team, shard_, traverse::SsspOptions{delta()});
    }
  }

  void run() {
    if (team_.rank() == 0) result_.edges = shard_.edges;
    const std::vector<Vertex> sources =
        find_sources(team_, shard_, input_, command_.search, command_.common.seed);
    warm_up(input_.to_shard(sources.front()));
    if (team_.rank() == 0) result_.mode = mode_;
    for (const Vertex source : sources) search(source, source == sources.front());
  }

 private:
  /// In the units of the weights.
  [[nodiscard]] double delta() const { return command_.delta * input_.weights().scale; }
  [[nodiscard]] double cutoff() const {
    if (!command_.cutoff) return traverse::SsspLimits::kNoCutoff;
    const std::int32_t scale = input_.weights().scale;
    if (scale == 1) return *command_.cutoff;
    // 0.29 in hundredths is 28.999999999999996, by the product's rounding.
    return *command_.cutoff * scale * (1.0 + 2.0 * std::numeric_limits<double>::epsilon());
  }

  void make_async() {
    traverse::AsyncOptions options;
    options.delta = delta();
    async_ = std::make_unique<traverse::AsyncSssp>(team_, shard_, options);
  }
  /// The first run; for --mode auto what it finds decides about the others.
  void warm_up(Vertex source) {
    const traverse::SsspResult found = run_once(source);
    if (command_.traversal.mode != "auto") return;
    if (command_.is_limited()) {
      mode_.reason = kLimitReason;
      return;
    }
    mode_ = choose_mode(team_, shard_, found.reached, found.steps, true);
    if (!mode_.is_async) return;
    make_async();
    (void)run_once(source);
  }
  [[nodiscard]] traverse::SsspResult run_once(Vertex source) {
    return mode_.is_async ? async_->run(source) : sync_->run(source, limits_);
  }

  void search(Vertex source, bool is_first) {
    SsspOutcome outcome;
    outcome.source = source;
    outcome.scale = input_.weights().scale;
    outcome.first_rounded = input_.weights().first_rounded;
    outcome.rounding = input_.weights().rounding;
    outcome.is_integer =
        mode_.is_async ? async_->has_integer_distances() : sync_->has_integer_distances();
    for (int run = 0; run < command_.common.repeat; ++run) {
      outcome.result = run_once(input_.to_shard(source));
      outcome.seconds.push_back(team_.all_reduce(outcome.result.seconds,
                                                 [](double a, double b) { return a > b ? a : b; }));
    }
    if (mode_.is_async) outcome.report = async_->report();
    if (outcome.is_integer) {
      auto distance = mode_.is_async ? async_->all_distances() : sync_->all_distances();
      if (team_.rank() == 0) outcome.distance = input_.in_user_order(std::move(distance));
    } else {
      auto distance = mode_.is_async ? async_->all_real_distances() : sync_->all_real_distances();
      if (team_.rank() == 0) outcome.real_distance = input_.in_user_order(std::move(distance));
    }
    if (team_.rank() == 0) finish(std::move(outcome), is_first);
    team_.barrier();
  }

  /// Rank 0's part: what is looked at on the host.
  void finish(SsspOutcome outcome, bool is_first) {
    const graph::Graph& graph = *input_.graph();
    const traverse::SsspLimits limits{limits_.cutoff,
                                      find_targets(command_.search, input_.names())};
    outcome.traversed_edges =
        traverse::input_edges(outcome.result.edges, shard_.is_symmetric, &graph,
                              [&](Vertex v) { return outcome.reached(v); });
    if (command_.traversal.verify) {
      const TraceSpan span("verify", 0);
      outcome.verdict =
          outcome.is_integer
              ? traverse::verify_sssp(graph, outcome.source,
                                      std::span<const std::uint64_t>(outcome.distance),
                                      session_.pool(), limits)
              : traverse::verify_sssp(graph, outcome.source,
                                      std::span<const double>(outcome.real_distance),
                                      session_.pool(), limits);
    }
    // A weight that float32 rounds to 0, say: no statement about rounded weights says anything.
    constexpr double kRounding = 0x1p-23;
    if (outcome.verdict && outcome.verdict->correct && outcome.rounding > kRounding) {
      outcome.verdict->correct = false;
      outcome.verdict->message = fmt::format(
          "float32 holds a weight of the file with an error of {:.2g} of its size: what the file's "
          "own weights make of the distances cannot be said",
          outcome.rounding);
    }
    if (!is_first || (!session_.prints() && command_.traversal.output.empty())) {
      outcome.distance = {};
      outcome.real_distance = {};
    }
    result_.outcomes.push_back(std::move(outcome));
  }

  const SsspCommand& command_;
  const Session& session_;
  TraversalInput& input_;
  team::Team& team_;
  SsspRunResult& result_;
  graph::Shard shard_;
  traverse::SsspLimits limits_;
  Mode mode_;
  std::unique_ptr<traverse::Sssp> sync_;
  std::unique_ptr<traverse::AsyncSssp> async_;
};

void set_json(Json& json, const SsspRunResult& result, const std::string& placement,
              const VertexNames& names, bool several) {
  std::vector<double> seconds;
  for (const SsspOutcome& outcome : result.outcomes) {
    seconds.insert(seconds.end(), outcome.seconds.begin(), outcome.seconds.end());
  }
  json["seconds"] = seconds;
  set_fields(json, result.outcomes.front(), names);
  const auto& report = result.outcomes.front().report;
  set_mode_fields(json, result.mode, report ? &*report : nullptr);
  json["edges_placement"] = placement;
  json["bytes_read"] = result.outcomes.front().result.far_bytes;
  if (!several) return;
  json["sources"] = Json::array();
  for (const SsspOutcome& outcome : result.outcomes) {
    Json fields = Json::object();
    set_fields(fields, outcome, names);
    fields["seconds"] = outcome.seconds;
    json["sources"].push_back(fields);
  }
}

void print_sources(Session& session, const SsspRunResult& result, const VertexNames& names) {
  session.print("\n{:>12}  {:>12}  {:>14}  {:>12}  {:>14}\n", "source", "reached", "max distance",
                "time", "edges/s");
  for (const SsspOutcome& outcome : result.outcomes) {
    session.print("{:>12}  {:>12}  {:>14.6g}  {:>12}  {:>14}\n", names.id_text(outcome.source),
                  thousands(outcome.result.reached),
                  outcome.in_units(outcome.result.max_real_distance),
                  duration(median(outcome.seconds)), with_prefix(outcome.teps()));
  }
}

/// Before the work begins, in the user's ids.
void check_weights(const Session& session, const SsspCommand& command,
                   const TraversalInput& input) {
  const graph::Graph& graph = *input.graph();
  if (graph.weight_type == graph::WeightType::none && graph.edges() > 0) {
    throw InputError(fmt::format(
        "{}: it has no weights, and shortest paths need some; --weights uniform:LO:HI draws them, "
        "or give a file that has them",
        command.graph.graph));
  }
  const traverse::Verdict verdict = traverse::check_weights(graph, session.pool());
  if (!verdict.correct) {
    throw InputError(fmt::format("{}: {}", command.graph.graph, verdict.message));
  }
}

ExitStatus run_sssp(const SsspCommand& command) {
  check_traversal_options(command.traversal);
  require(!command.has_delta || command.delta > 0.0,
          fmt::format("--delta {}: give a number above 0", command.delta));
  Session session("sssp", command.common);
  const std::string& output = command.traversal.output;
  if (!output.empty()) session.writes("--output", output);
  const std::string& method = command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal,
                       method.empty() ? "ranges" : method, true, WeightRange::not_negative, true);
  const std::string& lost = input.weights().first_lost;
  if (!lost.empty()) {
    log_warning(fmt::format(
        "{}: {}: distances are sums of weights rounded to float32; whole numbers up to 2147483647, "
        "and numbers of a few decimals up to as many digits, are kept exactly",
        command.graph.graph, lost));
  }
  check_weights(session, command, input);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  session.json()["method"] = input.method();
  const VertexNames& names = input.names();
  check_search(command.search, command.traversal.mode, command.cutoff ? "--cutoff" : nullptr,
               names);
  SsspRunResult result;
  {
    const auto progress = session.progress("searching");
    team::run_team(session.team(), [&](team::Team& team) {
      SsspRank(command, session, input, team, result).run();
    });
  }
  const SsspOutcome& first = result.outcomes.front();
  if (!output.empty()) write_sssp(output, first, names);
  describe_graph(session, command.graph, input.vertices(), result.edges);
  set_json(session.json(), result, command.traversal.edges, names, command.search.sources > 0);
  if (command.cutoff) session.json()["cutoff"] = *command.cutoff;
  set_targets(session.json(), command.search, names);
  if (command.search.sources > 0) print_sources(session, result, names);
  session.print("shortest paths from {}{}\n", names.name_and_id(first.source),
                command.search.takes_busiest()
                    ? ", the vertex with the most out-edges (--source takes another)"
                    : "");
  print_outcome(session, first, names);
  session.print("{}\n", mode_text(result.mode, first.report ? &*first.report : nullptr));
  session.finish();
  return verification_status(result.outcomes, names);
}

}  // namespace

void add_sssp(CLI::App& program, Action& action) {
  auto command = std::make_shared<SsspCommand>();
  CLI::App* sssp = add_command(program, "sssp", "Shortest paths, along the edges' direction");
  add_graph_options(*sssp, command->graph);
  add_search_options(*sssp, command->search);
  sssp->add_option("--cutoff", command->cutoff, "Search no farther than this distance")
      ->type_name("X")
      ->check(real_number(0.0, 1e300));
  auto* delta = sssp->add_option("--delta", command->delta,
                                 "Width of a bin of distances (default: by the mean weight and "
                                 "degree)")
                    ->type_name("D")
                    ->check(real_number(0.0, 1e300));
  add_traversal_options(*sssp, command->traversal);
  add_common_options(*sssp, command->common);
  sssp->footer(
      "Example:\n  warren sssp debian --weights uniform:1:10 --source git --verify\n"
      "  warren sssp grid:1000x1000 --weights uniform:1:64 --source 0 --json -");
  sssp->callback([command, delta, &action] {
    command->has_delta = delta->count() > 0;
    action = [command] { return run_sssp(*command); };
  });
}

}  // namespace warren::app
