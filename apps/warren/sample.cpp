// SPDX-License-Identifier: Apache-2.0
// warren sample: how fast mini-batches of a graph are sampled and renumbered.
#include <algorithm>

#include "warren/api/report_measures.hpp"
#include "warren/team/processes.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

struct SampleCommand : TraversalCommand {
  api::SamplingTrialOptions trial;
  std::string fanout = "15,10,5";
};

ExitStatus run_sample(const SampleCommand& command) {
  api::SamplingTrialOptions trial = command.trial;
  check_traversal_options(command.traversal, false);
  check_choice("--edges", command.traversal.edges, {"device", "host"}, {"compressed-host"});
  check(trial);
  trial.sampler.fanouts = parse_fanouts(command.fanout);
  trial.verify = command.traversal.verify;
  Session session("sample", command.common);
  trial = session.timed(trial);
  const sample::SamplerOptions& sampler = trial.sampler;
  // Times are of all edges, and of several hosts each has the whole graph.
  const auto* processes = team::Processes::current();
  const bool has_ranges = !sampler.temporal && processes != nullptr && processes->hosts() == 1;
  const TraversalGraph input(
      session, command,
      {.weights = sampler.weighted || sampler.temporal,
       .range = sampler.weighted ? WeightRange::not_negative : WeightRange::any,
       .ranges = has_ranges});
  if (!sampler.weighted)
    warn_without_effect(command.common, {"--weights"}, "draws follow weights with --weighted");
  if (std::ranges::all_of(sampler.fanouts, [](auto f) { return f < 0; }))
    warn_without_effect(
        command.common,
        {"--replace", "--weighted", "--labor", "--layer-dependency", "--temporal-last"},
        "every neighbour is taken, and none is drawn");
  session.json()["method"] = input.method();
  input.describe_reading(session);
  const api::SamplingFigures figures = session.during(
      "sampling", [&] { return measure_sampling(input.graph(), input.where(), trial); });
  describe_graph(session, command.graph, input.vertices(), figures.graph_edges);
  return session.end(to_json(session.ran(), trial, input.where(), figures),
                     to_text(session.ran(), trial, figures), figures.wrong);
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
