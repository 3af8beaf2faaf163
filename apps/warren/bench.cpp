// SPDX-License-Identifier: Apache-2.0
// warren bench SUITE: measurements that anybody can repeat.
#include "bench.hpp"

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"

#include "option_rules.hpp"

namespace warren::app {
namespace {

/// One suite, whose results go to --out too.
template <class Bench>
ExitStatus run_suite(const Bench& bench) {
  Session session("bench", bench.common);
  if (!bench.out.empty()) session.writes("--out", bench.out);
  session.json()["suite"] = Bench::kSuite;
  const bool is_right = measure(session, bench);
  if (!is_right) print_error("some results are wrong: see max_relative_error");
  if (!bench.out.empty()) {
    OutputFile file(bench.out, OutputFile::Special::in_place);
    file.write(session.json().dump(2) + "\n");
    (void)file.commit();
  }
  session.finish();
  return is_right ? ExitStatus::done : ExitStatus::not_verified;
}

void add_out(CLI::App& command, std::string& out) {
  add_text(command, "--out", out, "The results as JSON", "FILE");
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  CLI::App* bench =
      add_parser(program, "bench", "Measurements that anybody can repeat",
                 "Example:\n  warren bench emogi kron:20 --symmetrize --drop-self-loops");
  bench->require_subcommand(1);
  const auto [emogi, patterns] = add_command<BenchEmogi>(
      *bench, action, "emogi",
      "BFS with neighbour lists in host memory, by access pattern (the ablation of EMOGI)",
      "Example:\n  warren bench emogi kron:20 --symmetrize --drop-self-loops --out emogi.json",
      run_suite<BenchEmogi>);
  add_graph_options(emogi, patterns.graph);
  add_number(emogi, "--sources", patterns.sources,
             "Average over N random sources with out-edges (64)", "N", 1, kMaxVertices);
  add_out(emogi, patterns.out);
  add_common_options(emogi, patterns.common);
  const auto [spmm, products] = add_command<BenchSpmm>(
      *bench, action, "spmm", "Sparse times dense: every width, type and strategy asked for",
      "Example:\n  warren bench spmm debian --ks 16,64 --types float32,float16 --repeat 5",
      run_suite<BenchSpmm>);
  add_bench_spmm_options(spmm, products);
  add_out(spmm, products.out);
  add_common_options(spmm, products.common);
  const auto [lookup, lookups] = add_command<BenchLookup>(
      *bench, action, "lookup",
      "Sums of bags of rows: every bag length, skew and strategy asked for",
      "Example:\n  warren bench lookup --rows 1000000 --k 128 --bags 8,32 --skews 0,1 --devices 4",
      run_suite<BenchLookup>);
  add_bench_lookup_options(lookup, lookups);
  add_out(lookup, lookups.out);
}

}  // namespace warren::app
