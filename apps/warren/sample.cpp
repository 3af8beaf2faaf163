// SPDX-License-Identifier: Apache-2.0
// warren sample: how fast mini-batches of a graph are sampled and renumbered.
#include <algorithm>

#include "warren/api/measure_sampling.hpp"

#include "command.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

struct SampleCommand : TraversalCommand {
  api::SamplingTrialOptions trial;
  std::string fanout = "15,10,5";
};

void set_json(Json& json, const SampleCommand& command, const api::SamplingFigures& figures) {
  const sample::SamplerOptions& sampler = figures.sampler;
  const auto verified = [&](const Json& value) {
    return command.traversal.verify ? value : Json(nullptr);
  };
  json["seconds"] = figures.seconds;
  json["setup_seconds"] = figures.setup_seconds;
  json["fanout"] = sampler.fanouts;
  json["batch"] = sampler.batch;
  json["batches"] = command.trial.batches;
  json["in_flight"] = sampler.in_flight;
  json["table"] = command.trial.table;
  json["replace"] = sampler.replace;
  json["weighted"] = sampler.weighted;
  json["disjoint"] = sampler.disjoint;
  json["labor"] = sampler.labor;
  json["layer_dependency"] = sampler.layer_dependency;
  json["temporal"] = sampler.temporal;
  json["temporal_last"] = sampler.temporal_last;
  json["edges_placement"] = command.traversal.edges;
  json["edges_per_second"] = figures.edges_per_second;
  json["batches_per_second"] = figures.batches_per_second;
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  json["sampled_edges"] = figures.edges;
  json["sampled_vertices"] = figures.vertices;
  json["sampler_bytes"] = figures.bytes;
  json["digest"] = verified(fmt::format("{:016x}", figures.digest));
  json["verified"] = verified(figures.wrong.empty());
}

void print(Session& session, const SampleCommand& command, const api::SamplingFigures& figures) {
  session.print("\n");
  session.row("sampled", "{} of {}, fanout {}, on {}",
              counted(command.trial.batches, "batch", "batches"),
              counted(figures.sampler.batch, "seed", "seeds"), command.fanout, session.place());
  session.row("found", "{}, {}", counted(figures.edges, "edge", "edges"),
              counted(figures.vertices, "vertex", "vertices"));
  session.row("time", "{}", duration(median(figures.seconds)));
  session.row("rate", "{}edges/s, {}batches/s, all ranks together",
              with_prefix(figures.edges_per_second), with_prefix(figures.batches_per_second));
  if (command.traversal.verify)
    session.row("verified", "{}", figures.wrong.empty() ? "yes, every batch" : "NO");
}

ExitStatus run_sample(const SampleCommand& command) {
  api::SamplingTrialOptions trial = command.trial;
  check_traversal_options(command.traversal, false);
  check_choice("--edges", command.traversal.edges, {"device", "host"}, {"compressed-host"});
  check(trial);
  trial.sampler.fanouts = parse_fanouts(command.fanout);
  trial.seed = command.common.seed;
  trial.repeat = command.common.repeat;
  trial.verify = command.traversal.verify;
  Session session("sample", command.common);
  const sample::SamplerOptions& sampler = trial.sampler;
  const TraversalGraph input(
      session, command,
      {.weights = sampler.weighted || sampler.temporal,
       .range = sampler.weighted ? WeightRange::not_negative : WeightRange::any});
  if (!sampler.weighted)
    warn_without_effect(command.common, {"--weights"}, "draws follow weights with --weighted");
  if (std::ranges::all_of(sampler.fanouts, [](auto f) { return f < 0; }))
    warn_without_effect(
        command.common,
        {"--replace", "--weighted", "--labor", "--layer-dependency", "--temporal-last"},
        "every neighbour is taken, and none is drawn");
  session.json()["method"] = input.method();
  const api::SamplingFigures figures = session.during(
      "sampling", [&] { return measure_sampling(input.graph(), input.where(), trial); });
  describe_graph(session, command.graph, input.vertices(), figures.graph_edges);
  set_json(session.json(), command, figures);
  print(session, command, figures);
  session.finish();
  if (figures.wrong.empty()) return ExitStatus::done;
  print_error(figures.wrong);
  return ExitStatus::not_verified;
}

}  // namespace

void add_sample(CLI::App& program, Action& action) {
  const auto [app, command] = add_command<SampleCommand>(
      program, action, "sample", "Mini-batches: sampled neighbours, renumbered",
      "Example:\n  warren sample kron:16 --symmetrize --fanout 15,10,5 --batch 1024 --verify",
      run_sample);
  add_graph_options(app, command.graph);
  add_text(app, "--fanout", command.fanout,
           "Neighbours of each vertex, hop by hop from the seeds; -1: all (15,10,5)", "M,...");
  add_number(app, "--batch", command.trial.sampler.batch, "Seeds of a batch (1024)", "B", 1,
             std::uint64_t{1} << 31);
  add_number(app, "--batches", command.trial.batches, "Batches of all ranks together (64)", "N", 1,
             std::uint64_t{1} << 32);
  add_number(app, "--in-flight", command.trial.in_flight,
             "Batches that a rank samples at a time (GPUs: 4, CPU: 1)", "F", 1, 4096);
  add_text(app, "--table", command.trial.table,
           "How a batch finds its vertices again: auto (the smaller), hash, direct");
  app.add_flag("--replace", command.trial.sampler.replace,
               "Draw each neighbour of all, with return");
  app.add_flag("--weighted", command.trial.sampler.weighted, "Draw in proportion to edge weights");
  app.add_flag("--labor", command.trial.sampler.labor,
               "Layer-neighbour sampling: vertices of a batch share the neighbours they draw");
  app.add_flag("--layer-dependency", command.trial.sampler.layer_dependency,
               "Of --labor: by the same numbers in every hop");
  app.add_flag("--disjoint", command.trial.sampler.disjoint,
               "A tree for each seed, nothing shared");
  app.add_flag("--temporal", command.trial.sampler.temporal,
               "Only edges not later than the seed's time; a tree for each seed");
  app.add_flag("--temporal-last", command.trial.sampler.temporal_last,
               "Of --temporal: the latest of these edges, not any of them");
  add_text(app, "--times", command.trial.times,
           "Of --temporal: a time for each edge: lines \"source target time\", or .npy with "
           "the times of the edges in the order of source and target",
           "FILE");
  add_text(app, "--seed-times", command.trial.seed_times,
           "Of --temporal: the time of all seeds, or a file with a time for each vertex",
           "TIME|FILE");
  add_text(app, "--edges", command.traversal.edges, "Where neighbour lists live: device, host",
           "WHERE");
  add_method(app, command.traversal.method);
  app.add_flag("--verify", command.traversal.verify, "Check every batch (exit status 4)");
  add_common_options(app, command.common);
}

}  // namespace warren::app
