// SPDX-License-Identifier: Apache-2.0
// warren convert: a graph of any format, generator or dataset, written to a file.

#include "warren/api/report.hpp"
#include "warren/core/error.hpp"
#include "warren/graph/io.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

struct ConvertCommand : GraphCommand {
  std::string out;
  bool compress = false;
};

ExitStatus run_convert(const ConvertCommand& command) {
  Session session("convert", command.common);
  require(
      graph::is_graph_file_name(command.out) && !command.out.ends_with(".npy"),
      fmt::format("{}: this name ends as no format does; end it in .mtx .el .wel .txt .tsv .csv "
                  ".gr .graph .sg .wsg .npz or .wgr (text also .gz, .zst)",
                  command.out));
  require(!command.compress || command.out.ends_with(".wgr"),
          fmt::format("--compress: only a .wgr file holds compressed neighbour lists; {} ends "
                      "otherwise",
                      command.out));
  session.writes("OUT", command.out);
  const api::GraphPlace input = find_graph(session, command.graph);
  const warren::Graph graph = load_graph(session, input, command.graph, true);
  session.runs_on_host_threads();
  session.warn_of_seed(is_drawn(input, command.graph, true));
  const SaveResult saved = session.during("writing " + command.out, [&] {
    return graph.save(command.out, {command.compress, command.common.repeat, session.library()});
  });

  describe_graph(session, command.graph, graph.vertices(), graph.edges());
  return session.end(to_json(command.out, saved), to_text(command.out, saved));
}

}  // namespace

void add_convert(CLI::App& program, Action& action) {
  const auto [convert, command] = add_command<ConvertCommand>(
      program, action, "convert", "Write a graph in another format",
      "Example:\n  warren convert debian debian.wgr --compress\n"
      "  warren convert kron:16 --symmetrize --weights uniform:1:255 kron16.wel.gz",
      run_convert);
  add_graph_options(convert, command.graph);
  add_text(convert, "out", command.out,
           "The file to write; its name says the format (.wgr opens at once)", "OUT")
      ->required();
  convert.add_flag("--compress", command.compress,
                   "Compress the neighbour lists; OUT must be a .wgr file");
  add_common_options(convert, command.common);
}

}  // namespace warren::app
