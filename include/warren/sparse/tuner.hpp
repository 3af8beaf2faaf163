// SPDX-License-Identifier: Apache-2.0
// Choosing how a distributed product is done: a model proposes, measured runs decide, and a table
// on disk remembers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warren/sparse/distributed.hpp"
#include "warren/team/links.hpp"

namespace warren::sparse {

/// A way to do a product, with what is thought and known of it.
struct Candidate {
  DistributedOptions options;
  std::uint64_t rows_moved = 0;    ///< Over the team, in one product.
  double predicted_seconds = 0.0;  ///< By the model.
  double measured_seconds = 0.0;   ///< 0: not measured.
};

struct TuneOptions {
  int workgroup = 0;                 ///< 0: workgroup_of() the links.
  std::optional<Strategy> strategy;  ///< Only this one, with its best parameters; none: any.
  std::uint32_t tries = 12;          ///< Most ways that are measured; 0: the model alone decides.
  /// The table; empty: none is read or written.
  std::string table;
  std::optional<team::Links> links;  ///< None: team::known_links().
};

struct Tuning {
  DistributedOptions best;
  /// By predicted time; then those tried around the best. Of a table's entry, what it was chosen
  /// from.
  std::vector<Candidate> candidates;
  bool is_remembered = false;  ///< Taken from the table: nothing was measured.
  std::string key;             ///< Of the table's entry.
};

/// $XDG_CACHE_HOME/warren/sparse-plans.json, or ~/.cache/warren/sparse-plans.json; empty where
/// neither is set.
[[nodiscard]] std::string plan_table_path();

/// What a table's entry is for: a hash of the matrix and its cuts (whether it has weights, scales
/// and self-loops, not which), k, type and team. Collective.
[[nodiscard]] std::string tuning_key(team::Team& team, const Rows& rows, std::uint64_t k,
                                     const std::string& type);

/// Ranks of a workgroup by the links: of consecutive ones, as many in each as in every other. 0
/// where groups of well-linked ranks are not like that, where there is one, or none of two ranks.
[[nodiscard]] int workgroup_of(const team::Links& links);

/// The candidates by predicted time, least first. Time is bytes over measured bandwidths, those of
/// the slowest link within workgroups and of the slowest between them: what the fullest rank
/// multiplies, what it receives, and which of the two hide each other. `once` is left out, since
/// its sums do not repeat bit for bit; so is `cover` where its matchings would take more than some
/// ten seconds to find (250 million entries of one rank in others' columns). Collective.
[[nodiscard]] std::vector<Candidate> predict(team::Team& team, const Rows& rows, std::uint64_t k,
                                             std::uint64_t element_bytes, const team::Links& links,
                                             int workgroup);

/// Whether there is anything of the strategy for a tuner to choose.
[[nodiscard]] bool has_parameters(Strategy strategy);

/// The best way to multiply by B: what the table says, or else candidates measured one after the
/// other, those first that the model thinks best, while it thinks them within twice the best; then
/// the parameters of the fastest (chunks and copying processors; or MGG's piece size, distance and
/// warps), in the order of MGG's section 6 with its retreat, as search_parameters() says. `c` (this
/// rank's rows x k) is overwritten. The result is kept in the table. A table that is damaged or of
/// another machine is ignored, with one warning, and replaced. Choices depend on measured times,
/// and the last bits of a product on the choice: where those must repeat between runs without a
/// table, name a strategy. Throws UsageError for a strategy that has_parameters() denies.
/// Collective.
template <class T>
[[nodiscard]] Tuning tune(team::Team& team, const Rows& rows, const memory::GlobalArray<T>& b, T* c,
                          const TuneOptions& options = {});

/// tune() by products that are made anyway, such as a training's epochs (MGG's tuning across
/// iterations, section 6): whoever makes them asks what to try next, and tells how long it took.
class IterationTuner {
 public:
  /// Takes the table's entry, or predicts what to try, for rows of k elements. `what`: of the
  /// table's key, what is measured. Collective.
  IterationTuner(team::Team& team, const Rows& rows, std::uint64_t k, const std::string& type,
                 std::uint64_t element_bytes, const std::string& what, const TuneOptions& options);

  /// What to try; nothing where the best is known.
  [[nodiscard]] const std::optional<DistributedOptions>& next() const { return next_; }
  /// How long next() took, the same on all ranks. When the last one has been told, the best is
  /// written to the table.
  void took(double seconds);
  /// So far.
  [[nodiscard]] const Tuning& tuning() const { return tuning_; }

 private:
  void advance();

  team::Team& team_;
  TuneOptions options_;
  Tuning tuning_, start_;
  std::vector<std::pair<DistributedOptions, double>> known_;
  std::optional<DistributedOptions> next_;
};

}  // namespace warren::sparse
