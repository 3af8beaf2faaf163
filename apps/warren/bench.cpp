// SPDX-License-Identifier: Apache-2.0
// warren bench SUITE: measurements that anybody can repeat.
#include <memory>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"

#include "bench_emogi.hpp"
#include "bench_lookup.hpp"
#include "bench_spmm.hpp"
#include "command.hpp"
#include "files.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

struct BenchCommand {
  CommonOptions common;
  EmogiOptions emogi;
  BenchSpmmOptions spmm;
  BenchLookupOptions lookup;
  std::string out;
};

/// One suite, `measure(session)`, whose results go to --out too.
template <class Measure>
ExitStatus run_suite(const BenchCommand& command, const char* suite, Measure&& measure) {
  Session session("bench", command.common);
  if (!command.out.empty()) session.writes("--out", command.out);
  session.json()["suite"] = suite;
  const ExitStatus status = measure(session);
  if (!command.out.empty()) {
    OutputFile file(command.out, OutputFile::Special::in_place);
    file.write(session.json().dump(2) + "\n");
    (void)file.commit();
  }
  session.finish();
  return status;
}

ExitStatus run_emogi(const BenchCommand& command) {
  return run_suite(command, "emogi", [&](Session& session) {
    require(command.common.ranks() == 1, "bench emogi measures one device: leave --devices out");
    bench_emogi(session, command.emogi);
    return ExitStatus::done;
  });
}

/// Of results that were compared with a reference where that was asked for.
ExitStatus status_of(bool is_right) {
  if (is_right) return ExitStatus::done;
  print_error("some results are wrong: see max_relative_error");
  return ExitStatus::not_verified;
}

ExitStatus run_spmm(const BenchCommand& command) {
  SparseOptions options = command.spmm.options;
  options.common = command.common;
  return run_suite(command, "spmm", [&](Session& session) {
    return status_of(bench_spmm(session, options, command.spmm));
  });
}

ExitStatus run_lookups(BenchCommand command) {
  check_bench_lookup(command.lookup);
  command.common = command.lookup.options.common;
  return run_suite(command, "lookup", [&](Session& session) {
    return status_of(bench_lookup(session, command.lookup));
  });
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* bench = add_command(program, "bench", "Measurements that anybody can repeat");
  bench->require_subcommand(1);
  CLI::App* emogi = add_command(
      *bench, "emogi",
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
      add_command(*bench, "spmm", "Sparse times dense: every width, type and strategy asked for");
  add_bench_spmm_options(*spmm, command->spmm);
  spmm->add_option("--out", command->out, "The results as JSON")->type_name("FILE");
  add_common_options(*spmm, command->common);
  spmm->footer(
      "Example:\n  warren bench spmm debian --ks 16,64 --types float32,float16 --repeat 5");
  spmm->callback([command, &action] { action = [command] { return run_spmm(*command); }; });
  CLI::App* lookup = add_command(
      *bench, "lookup", "Sums of bags of rows: every bag length, skew and strategy asked for");
  add_bench_lookup_options(*lookup, command->lookup);
  lookup->add_option("--out", command->out, "The results as JSON")->type_name("FILE");
  lookup->footer(
      "Example:\n  warren bench lookup --rows 1000000 --k 128 --bags 8,32 --skews 0,1 --devices 4");
  lookup->callback([command, &action] { action = [command] { return run_lookups(*command); }; });
  bench->footer("Example:\n  warren bench emogi kron:20 --symmetrize --drop-self-loops");
}

}  // namespace warren::app
