// SPDX-License-Identifier: Apache-2.0
// warren sddmm: products of the rows of a dense matrix, where a graph has edges.
#include "warren/sparse/sddmm.hpp"

#include <cmath>
#include <memory>

#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "sparse_input.hpp"

namespace warren::app {
namespace {

template <class T>
class SddmmRank {
 public:
  SddmmRank(const SparseOptions& options, const SparseInput& input, team::Team& team)
      : options_(options), input_(input), team_(team), stream_(team.device()) {}

  void run(SparseOutcome& outcome) {
    const std::uint64_t k = options_.k;
    const graph::Shard shard = input_.shard(team_);
    memory::GlobalArray<T> b(team_, shard.cuts, k, memory::Placement::device);
    input_.fill(stream_, team_.rank(), k, b.buffer());
    const double begin = now_seconds();
    const sparse::Rows rows = sparse::make_rows(team_, shard);
    sparse::DistributedSddmm<T> product(team_, rows, k);
    SparseOutcome mine;
    mine.plan_seconds = largest(team_, now_seconds() - begin);
    mine.seconds =
        timed_runs(team_, options_.common.repeat, "sddmm", [&] { product.run(b.local_data(), b); });
    mine.rows_moved = product.rows_moved();
    mine.strategy = team_.size() == 1 && options_.strategy == "auto" ? "local" : "staged";
    const std::vector<float> result = product.result();
    add_up(team_, result, mine);
    if (options_.verify) mine.error = largest(team_, largest_error(result, rows));
    if (team_.rank() == 0) outcome = mine;
  }

 private:
  double largest_error(const std::vector<float>& result, const sparse::Rows& rows) const {
    std::mutex mutex;
    double worst = 0.0;
    team_.device().pool().parallel_for(
        0, rows.count, 64, [&](std::uint64_t begin, std::uint64_t end) {
          double mine = 0.0;
          for (std::uint64_t r = begin; r < end; ++r) {
            const std::uint64_t i = input_.to_user(static_cast<Vertex>(rows.first + r));
            for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
              const std::uint64_t j = input_.to_user(rows.columns[e]);
              double sum = 0.0;
              double size = 0.0;
              for (std::uint64_t c = 0; c < options_.k; ++c) {
                const double term = static_cast<double>(dense_element(i, c)) *
                                    static_cast<double>(dense_element(j, c)) *
                                    static_cast<double>(rows.value(e));
                sum += term;
                size += std::abs(term);
              }
              const double off = std::abs(static_cast<double>(result[e]) - sum);
              const double error = off == 0.0 ? 0.0 : off / size;
              if (!(error <= mine)) mine = error;  // NaN wins, too.
            }
          }
          const std::scoped_lock lock(mutex);
          if (!(mine <= worst)) worst = mine;
        });
    return worst;
  }

  const SparseOptions& options_;
  const SparseInput& input_;
  team::Team& team_;
  exec::Stream stream_;
};

ExitStatus run_sddmm(const SparseOptions& options) {
  check_sparse_options(options);
  check_choice("--strategy", options.strategy, {"auto", "staged"},
               {"broadcast", "broadcast-pipelined", "pull", "once", "fused", "cover"});
  Session session("sddmm", options.common);
  const SparseInput input(session, options);
  SparseOutcome outcome;
  {
    const auto progress = session.progress("multiplying");
    with_element(options.type, [&](auto element) {
      team::run_team(session.team(), [&](team::Team& team) {
        SddmmRank<decltype(element)>(options, input, team).run(outcome);
      });
    });
  }
  return report_sparse(session, options, input, outcome);
}

}  // namespace

void add_sddmm(CLI::App& program, Action& action) {
  auto options = std::make_shared<SparseOptions>();
  CLI::App* sddmm = add_command(
      program, "sddmm", "Products of rows of a dense matrix, where a sparse one has entries");
  add_sparse_options(*sddmm, *options);
  sddmm
      ->add_option("--strategy", options->strategy,
                   "How rows come to the ranks that need them: auto or staged, which are the same")
      ->type_name("NAME");
  sddmm->footer("Example:\n  warren sddmm debian --k 64 --verify");
  sddmm->callback([options, &action] { action = [options] { return run_sddmm(*options); }; });
}

}  // namespace warren::app
