// SPDX-License-Identifier: Apache-2.0
// warren bench SUITE: measurements that anybody can repeat.
#include <fstream>
#include <memory>

#include "warren/core/error.hpp"

#include "bench_emogi.hpp"
#include "bench_spmm.hpp"
#include "command.hpp"
#include "files.hpp"

namespace warren::app {
namespace {

struct BenchCommand {
  CommonOptions common;
  EmogiOptions emogi;
  BenchSpmmOptions spmm;
  std::string out;
};

ExitStatus run_emogi(const BenchCommand& command) {
  Session session("bench", command.common);
  require(command.common.devices == 1, "bench emogi measures one device: leave --devices out");
  if (!command.out.empty()) check_writable("--out", command.out);
  session.json()["suite"] = "emogi";
  bench_emogi(session, command.emogi);
  if (!command.out.empty()) {
    OutputFile file(command.out);
    file.write(session.json().dump(2) + "\n");
    file.commit();
  }
  session.finish();
  return ExitStatus::done;
}

ExitStatus run_spmm(const BenchCommand& command) {
  SparseOptions options = command.spmm.options;
  options.common = command.common;
  Session session("bench", command.common);
  if (!command.out.empty()) check_writable("--out", command.out);
  session.json()["suite"] = "spmm";
  bench_spmm(session, options, command.spmm);
  if (!command.out.empty()) {
    OutputFile file(command.out);
    file.write(session.json().dump(2) + "\n");
    file.commit();
  }
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* bench = program.add_subcommand("bench", "Measurements that anybody can repeat");
  bench->require_subcommand(1);
  CLI::App* emogi = bench->add_subcommand(
      "emogi",
      "BFS with neighbour lists in host memory, by access pattern (the ablation of EMOGI)");
  add_graph_options(*emogi, command->emogi.graph);
  add_number(*emogi, "--sources", command->emogi.sources,
             "Average over N random sources with out-edges (64)", "N", 1, kMaxVertices);
  emogi->add_option("--out", command->out, "The results as JSON")->type_name("FILE");
  add_common_options(*emogi, command->common);
  emogi->footer(
      "Example:\n  warren bench emogi kron:20 --symmetrize --drop-self-loops --out emogi.json");
  emogi->callback([command, &action] { action = [command] { return run_emogi(*command); }; });
  CLI::App* spmm =
      bench->add_subcommand("spmm", "Sparse times dense: every width, type and strategy asked for");
  add_bench_spmm_options(*spmm, command->spmm);
  spmm->add_option("--out", command->out, "The results as JSON")->type_name("FILE");
  add_common_options(*spmm, command->common);
  spmm->footer(
      "Example:\n  warren bench spmm debian --ks 16,64 --types float32,float16 --repeat 5");
  spmm->callback([command, &action] { action = [command] { return run_spmm(*command); }; });
  bench->footer("Example:\n  warren bench emogi kron:20 --symmetrize --drop-self-loops");
}

}  // namespace warren::app
