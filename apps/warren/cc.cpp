// SPDX-License-Identifier: Apache-2.0
// warren cc: weakly connected components.
#include <iterator>
#include <span>

#include "warren/api/top.hpp"
#include "warren/api/traverse.hpp"
#include "warren/core/error.hpp"

#include "command.hpp"
#include "files.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kShown = 5;

struct CcCommand : TraversalCommand {
  std::string form = "auto";
};

ComponentsForm form_of(const std::string& name) {
  if (name == "forest") return ComponentsForm::forest;
  return name == "search" ? ComponentsForm::search : ComponentsForm::automatic;
}

/// Throws UsageError.
void check_form(const CcCommand& command) {
  check_choice("--form", command.form, {"auto", "forest", "search"}, {});
  require(command.form != "search" || command.traversal.edges == "device",
          fmt::format("--form search reads lists in device memory, not --edges {}: give --edges "
                      "device, or --form forest",
                      command.traversal.edges));
}

std::string form_text(const ComponentsResult& result) {
  if (result.form == ComponentsForm::search)
    return fmt::format("search, {} levels from a hub", result.search_levels);
  if (result.search_levels > 0)
    return fmt::format("forest, as {} levels of a search left many edges", result.search_levels);
  return "forest";
}

void set_json(Json& json, const ComponentsResult& result, const TraversalGraph& input) {
  json["seconds"] = result.info.run_seconds;
  json["components"] = result.components;
  json["largest"] = result.largest;
  json["verified"] = verified(result.info);
  json["form"] = result.form == ComponentsForm::search ? "search" : "forest";
  json["search_levels"] = result.search_levels;
  json["mode"] = "sync";
  input.set_placement(json);
  set_byte_fields(json, result.info);
}

void print_outcome(Session& session, const ComponentsResult& result, std::uint64_t edges,
                   const VertexNames& names) {
  if (!session.prints()) return;
  const auto largest = largest_components(result.label.host(), kShown);
  session.print("\n{:>12}  smallest vertex of the component\n", "vertices");
  for (const auto& [vertices, label] : largest)
    session.print("{:>12}  {}\n", thousands(vertices), names.name_and_id(label));
  if (result.components > largest.size())
    session.print("{:>12}  ({} components more)\n", "...",
                  thousands(result.components - largest.size()));
  session.print("\n");
  session.row("components", "{}, the largest of {} ({})", thousands(result.components),
              counted(result.largest, "vertex", "vertices"),
              percent(result.largest, names.vertices()));
  session.row("time", "{}: {}edges/s ({})", duration(median_seconds(result.info)),
              with_prefix(edge_rate(result.info, static_cast<double>(edges))), session.place());
  session.row("form", "{}", form_text(result));
  add_verified(session, result.info, "by every edge and a union-find");
}

void write_labels(const std::string& path, std::span<const Vertex> labels,
                  const VertexNames& names) {
  write_lines(path, labels.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   names.id_text(labels[v]));
  });
}

ExitStatus run_cc(const CcCommand& command) {
  check_traversal_options(command.traversal, false, true);
  check_form(command);
  Session session("cc", command.common);
  const std::string& output = command.traversal.output;
  const TraversalGraph input(
      session, command,
      {.traversal = traverse::Traversal::components, .streams = command.form != "search"});
  warn_of_weights(session, "cc");
  session.warn_of_seed(input.is_drawn());
  session.json()["method"] = input.method();
  auto options = input.call<ComponentsOptions>();
  options.form = form_of(command.form);
  options.run.arrays =
      session.prints() || !output.empty() ? ResultArrays::host : ResultArrays::none;
  const ComponentsResult result =
      session.during("connecting", [&] { return connected_components(input.graph(), options); });
  if (!output.empty()) write_labels(output, result.label.host(), input.names());
  const std::uint64_t edges = input.graph().edges();
  describe_graph(session, command.graph, input.vertices(), edges);
  set_json(session.json(), result, input);
  print_outcome(session, result, edges, input.names());
  input.print_placement(session, result.info);
  session.finish();
  return verification_status(result.info, "the components are wrong");
}

}  // namespace

void add_cc(CLI::App& program, Action& action) {
  const auto [cc, command] = add_command<CcCommand>(
      program, action, "cc", "Connected components, whatever the edges' direction",
      "Example:\n  warren cc debian --verify\n"
      "  warren cc kron:20 --symmetrize --drop-self-loops --json -",
      run_cc);
  add_text(cc, "--form", command.form,
           "auto, forest (sampled edges first), search (from a hub, of symmetric graphs)");
  add_options(cc, command);
}

}  // namespace warren::app
