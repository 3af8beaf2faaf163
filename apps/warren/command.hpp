// SPDX-License-Identifier: Apache-2.0
// The commands: each adds itself to the parser and, where it was asked for, leaves behind what to
// do.
#pragma once

#include <functional>

#include "warren/api/program.hpp"

namespace CLI {
class App;
}

namespace warren::app {

using warren::ExitStatus;

/// Set by the parser's callback of the command that was named; run when parsing has ended.
using Action = std::function<ExitStatus()>;

void add_info(CLI::App& program, Action& action);
void add_convert(CLI::App& program, Action& action);
void add_stats(CLI::App& program, Action& action);
void add_partition(CLI::App& program, Action& action);
void add_bc(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_bfs(CLI::App& program, Action& action);
void add_sssp(CLI::App& program, Action& action);
void add_cc(CLI::App& program, Action& action);
void add_core(CLI::App& program, Action& action);
void add_triangles(CLI::App& program, Action& action);
void add_pagerank(CLI::App& program, Action& action);
void add_gather(CLI::App& program, Action& action);
void add_spmm(CLI::App& program, Action& action);
void add_sddmm(CLI::App& program, Action& action);
void add_lookup(CLI::App& program, Action& action);
void add_train(CLI::App& program, Action& action);
void add_predict(CLI::App& program, Action& action);
void add_sample(CLI::App& program, Action& action);
void add_fetch(CLI::App& program, Action& action);

}  // namespace warren::app
