// SPDX-License-Identifier: Apache-2.0
// warren convert: a graph of any format, generator or dataset, written to a file.
#include <memory>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/io.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

struct ConvertCommand {
  CommonOptions common;
  GraphOptions graph;
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
  const GraphInput input = find_graph(session, command.graph);
  const graph::Graph graph = load_graph(session, input, command.graph, true);
  session.runs_on_host_threads();
  session.warn_of_seed(is_drawn(input, command.graph, true));

  auto progress = session.progress("writing " + command.out);
  std::uint64_t bytes = 0;
  double bits_per_edge = 0.0;
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    const TraceSpan span("write graph", 0);
    const double begin = now_seconds();
    if (command.compress) {
      const graph::CompressedGraph packed = graph::compress(graph, session.pool());
      bits_per_edge = packed.bits_per_edge();
      bytes = graph::write_compressed(packed, command.out, session.pool());
    } else {
      bytes = graph::write_graph(graph, command.out, session.pool());
    }
    seconds.push_back(now_seconds() - begin);
  }
  progress.reset();

  describe_graph(session, command.graph, graph.vertices, graph.edges());
  session.json()["seconds"] = seconds;
  session.json()["out"] = command.out;
  session.json()["bytes"] = bytes;
  if (command.compress) session.json()["bits_per_edge"] = bits_per_edge;
  const double middle = median(seconds);
  session.print("{}: {} bytes in {} ({}B/s)\n", command.out, thousands(bytes), duration(middle),
                with_prefix(middle > 0.0 ? static_cast<double>(bytes) / middle : 0.0));
  if (command.compress)
    session.print("compressed: {:.2f} bits an edge with the index\n", bits_per_edge);
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_convert(CLI::App& program, Action& action) {
  auto command = std::make_shared<ConvertCommand>();
  CLI::App* convert = add_command(program, "convert", "Write a graph in another format");
  add_graph_options(*convert, command->graph);
  convert
      ->add_option("out", command->out,
                   "The file to write; its name says the format (.wgr opens at once)")
      ->type_name("OUT")
      ->required();
  convert->add_flag("--compress", command->compress,
                    "Compress the neighbour lists; OUT must be a .wgr file");
  add_common_options(*convert, command->common);
  convert->footer(
      "Example:\n  warren convert debian debian.wgr --compress\n"
      "  warren convert kron:16 --symmetrize --weights uniform:1:255 kron16.wel.gz");
  convert->callback([command, &action] { action = [command] { return run_convert(*command); }; });
}

}  // namespace warren::app
