// SPDX-License-Identifier: Apache-2.0
// warren cc: weakly connected components.
#include <string>

#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

struct CcCommand : TraversalCommand {
  std::string form = "auto";
};

ComponentsForm form_of(const std::string& name) {
  if (name == "forest") return ComponentsForm::forest;
  return name == "search" ? ComponentsForm::search : ComponentsForm::automatic;
}

ExitStatus run_cc(const CcCommand& command) {
  check_traversal_options(command.traversal, false, true);
  check_choice("--form", command.form, {"auto", "forest", "search"}, {});
  require(command.form != "search" || command.traversal.edges == "device",
          fmt::format("--form search reads lists in device memory, not --edges {}: give --edges "
                      "device, or --form forest",
                      command.traversal.edges));
  Session session("cc", command.common);
  const TraversalGraph input(session, command,
                             {.traversal = traverse::Traversal::components,
                              .streams = command.form != "search",
                              .ranges = true});
  warn_of_weights(session, "cc");
  session.warn_of_seed(input.is_drawn());
  auto options = input.call<ComponentsOptions>();
  options.form = form_of(command.form);
  options.run.arrays = arrays_of(session, command.traversal);
  const ComponentsResult result =
      session.during("connecting", [&] { return connected_components(input.graph(), options); });
  return tell(session, command, input, result, to_json(input.names(), result),
              "the components are wrong");
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
