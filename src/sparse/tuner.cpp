// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/tuner.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"

#include "sparse/parameter_search.hpp"
#include "sparse/plan_table.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

/// What is predicted to take longer than this times the best is left out.
constexpr double kWithin = 2.0;

class Hash {
 public:
  void add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15ull;
    state_ ^= state_ >> 29;
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1dull;
};

/// Measures candidates on the operands that it is given.
template <class T>
class Trial {
 public:
  Trial(team::Team& team, const Rows& rows, const memory::GlobalArray<T>& b, T* c)
      : team_(team), rows_(rows), b_(b), c_(c) {}

  /// Seconds on the slowest rank, the same on all ranks: the median of two runs after one to warm
  /// up, of more where they are short, since those differ more.
  double measure(const DistributedOptions& options) {
    constexpr double kEnough = 5e-3;
    constexpr std::size_t kFewest = 2;
    constexpr std::size_t kMost = 25;
    ++tries_;
    DistributedSpmm<T> product(team_, rows_, b_.view().width, options);
    std::vector<double> runs;
    double sum = 0.0;
    product.run(b_, c_);
    while (runs.size() < kFewest || (runs.size() < kMost && sum < kEnough)) {
      const double begin = now_seconds();
      product.run(b_, c_);
      runs.push_back(team_.all_reduce(now_seconds() - begin, exec::Maximum{}));
      sum += runs.back();
    }
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
    std::nth_element(runs.begin(), middle, runs.end());
    return *middle;
  }
  [[nodiscard]] std::uint32_t tries() const { return tries_; }

 private:
  team::Team& team_;
  const Rows& rows_;
  const memory::GlobalArray<T>& b_;
  T* c_;
  std::uint32_t tries_ = 0;
};

/// A parameter of a strategy, with the values that may be tried, in their order. The default is
/// among them.
struct Parameter {
  std::uint32_t DistributedOptions::*field;
  std::vector<std::uint32_t> values;

  [[nodiscard]] std::size_t place_of(std::uint32_t value) const {
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) -
                                    values.begin());
  }
};
std::vector<Parameter> parameters_of(Strategy strategy, bool is_cuda) {
  using Options = DistributedOptions;
  std::vector<Parameter> all;
  // The number of parts that is chosen by bytes is eight where there are many.
  if (strategy == Strategy::staged) all.push_back({&Options::chunks, {1, 2, 3, 4, 6, 0, 12}});
  if (strategy == Strategy::pull) {
    all.push_back({&Options::piece_entries, {16, 32, 64, 128, 256, 512}});
    all.push_back({&Options::interleave, {1, 2, 4, 8, 16, Options::kNoInterleaving}});
  }
  // What only GPUs have.
  if (!is_cuda) return all;
  if (strategy == Strategy::pull) all.push_back({&Options::warps_per_block, {1, 2, 4, 8, 16, 32}});
  if (strategy == Strategy::staged || strategy == Strategy::fused || strategy == Strategy::cover)
    all.push_back({&Options::copy_processors, {8, 16, 24, 48, 132}});
  return all;
}

}  // namespace

std::string plan_table_path() {
  const std::string links = team::links_cache_path();
  if (links.empty()) return {};
  return links.substr(0, links.find_last_of('/')) + "/sparse-plans.json";
}

std::string tuning_key(team::Team& team, const Rows& rows, std::uint64_t k,
                       const std::string& type) {
  constexpr std::uint64_t kSamples = 4096;
  Hash hash;
  for (const std::uint64_t cut : rows.cuts) hash.add(cut);
  hash.add(rows.entries());
  hash.add((rows.is_weighted ? 1 : 0) + (rows.row_scale.empty() ? 0 : 2) +
           (rows.self.empty() ? 0 : 4));
  const std::uint64_t row_step = rows.count / kSamples + 1;
  for (std::uint64_t r = 0; r < rows.count; r += row_step) hash.add(rows.end(r));
  const std::uint64_t entry_step = rows.entries() / kSamples + 1;
  for (EdgeOffset e = 0; e < rows.entries(); e += entry_step) hash.add(rows.columns[e]);
  Hash all;
  for (const std::uint64_t part : team.all_gather(hash.value())) all.add(part);
  return fmt::format("{:016x} k{} {} x{} of {}", all.value(), k, type, team.size(),
                     team.device().processors());
}

namespace {

/// What the table says, on all ranks what rank 0 reads there.
std::optional<KnownPlan> recall(team::Team& team, const TuneOptions& options,
                                const std::string& key) {
  std::optional<KnownPlan> known;
  if (team.rank() == 0) known = read_plan(options.table, machine_of(team), key);
  struct Answer {
    bool is_known;
    DistributedOptions best;
  };
  const Answer answer =
      team.all_gather(Answer{known.has_value(), known.value_or(KnownPlan{}).best})[0];
  if (!answer.is_known) return std::nullopt;
  const int group = answer.best.workgroup;
  const bool is_asked = options.workgroup == group || options.workgroup == 0;
  if (!is_asked || (group != 0 && team.size() % group != 0)) return std::nullopt;
  if (!known) known = KnownPlan{answer.best, {}};
  known->candidates = team.all_gather_v(std::span<const Candidate>(known->candidates)).front();
  return known;
}

/// The parameters of `start` that make it fastest, by at most `tries` times that `measure` returns.
/// `start` took `seconds`.
template <class Measure>
void tune_parameters(const DistributedOptions& start, double seconds, bool is_cuda,
                     std::uint32_t tries, Measure&& measure) {
  const std::vector<Parameter> parameters = parameters_of(start.strategy, is_cuda);
  std::vector<std::size_t> sizes;
  FoundPlace begin{{}, seconds};
  for (const Parameter& parameter : parameters) {
    sizes.push_back(parameter.values.size());
    begin.place.push_back(parameter.place_of(start.*parameter.field));
  }
  (void)search_parameters(sizes, begin, tries, [&](const ParameterPlace& place) {
    DistributedOptions options = start;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      options.*parameters[i].field = parameters[i].values[place[i]];
    return measure(options);
  });
}

/// Leaves `only` among the candidates: there is one, though the model may not propose it.
void keep_only(Strategy only, int workgroup, std::vector<Candidate>& candidates) {
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return candidate.options.strategy != only; });
  if (!candidates.empty()) return;
  candidates.emplace_back();
  candidates.front().options.strategy = only;
  candidates.front().options.workgroup = workgroup;
}

/// Measures candidates, then the best one's parameters, `tries` times at most.
template <class Measure>
void search_ways(Tuning& tuning, std::uint32_t tries, bool is_cuda, Measure&& measure) {
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t tried = 0;
  const double limit = tuning.candidates.front().predicted_seconds * kWithin;
  const auto attempt = [&](Candidate& candidate) {
    ++tried;
    candidate.measured_seconds = measure(candidate.options);
    if (candidate.measured_seconds < best) {
      best = candidate.measured_seconds;
      tuning.best = candidate.options;
    }
  };
  for (Candidate& candidate : tuning.candidates) {
    if (candidate.predicted_seconds > limit || tried >= tries) break;
    attempt(candidate);
  }
  const std::size_t measured = tuning.candidates.size();
  tune_parameters(tuning.best, best, is_cuda, tries - tried, [&](const DistributedOptions& asked) {
    Candidate next;
    next.options = asked;
    for (std::size_t i = 0; i < measured; ++i) {
      const Candidate& like = tuning.candidates[i];
      if (like.options.strategy != asked.strategy) continue;
      next.rows_moved = like.rows_moved;
      // The model knows no parameters.
      next.predicted_seconds = like.predicted_seconds;
    }
    attempt(next);
    tuning.candidates.push_back(next);
    return next.measured_seconds;
  });
}

/// What is predicted, of the strategy that was asked for.
void propose(team::Team& team, const Rows& rows, std::uint64_t k, std::uint64_t element_bytes,
             const TuneOptions& options, Tuning& tuning) {
  const team::Links links = options.links ? *options.links : team::known_links(team);
  const int workgroup = options.workgroup != 0 ? options.workgroup : workgroup_of(links);
  tuning.candidates = predict(team, rows, k, element_bytes, links, workgroup);
  if (options.strategy) keep_only(*options.strategy, workgroup, tuning.candidates);
  tuning.best = tuning.candidates.front().options;
}

void check_tunable(const team::Team& team, const TuneOptions& options) {
  if (options.workgroup != 0) graph::check_workgroup(options.workgroup, team.size());
  require(!options.strategy || has_parameters(*options.strategy),
          fmt::format("strategy {} has no parameters to choose",
                      options.strategy ? name_of(*options.strategy) : std::string()));
}

/// The table's key of what is asked for.
std::string asked_key(const std::string& key, const TuneOptions& options) {
  return fmt::format("{} w{} {}", key, options.workgroup,
                     options.strategy ? name_of(*options.strategy) : "any");
}

/// What the table has of the key.
bool take_remembered(team::Team& team, const TuneOptions& options, Tuning& tuning) {
  const auto known = recall(team, options, tuning.key);
  if (!known) return false;
  tuning.best = known->best;
  tuning.candidates = known->candidates;
  tuning.is_remembered = true;
  return true;
}

}  // namespace

bool has_parameters(Strategy strategy) { return !parameters_of(strategy, true).empty(); }

template <class T>
Tuning tune(team::Team& team, const Rows& rows, const memory::GlobalArray<T>& b, T* c,
            const TuneOptions& options) {
  check_tunable(team, options);
  const std::uint64_t k = b.view().width;
  constexpr const char* kType = std::is_same_v<T, float>  ? "float32"
                                : std::is_same_v<T, Half> ? "float16"
                                                          : "bfloat16";
  Tuning tuning;
  if (team.needs_windows()) {
    // The one way that they have.
    tuning.best.strategy = options.strategy.value_or(Strategy::staged);
    return tuning;
  }
  tuning.key = asked_key(tuning_key(team, rows, k, kType), options);
  if (take_remembered(team, options, tuning)) return tuning;
  propose(team, rows, k, sizeof(T), options, tuning);
  if (options.tries == 0) return tuning;

  Trial<T> trial(team, rows, b, c);
  search_ways(tuning, options.tries, team.device().is_cuda(),
              [&](const DistributedOptions& asked) { return trial.measure(asked); });
  if (team.rank() == 0) {
    write_plan(options.table, machine_of(team), tuning.key, {tuning.best, tuning.candidates});
  }
  return tuning;
}

template Tuning tune(team::Team&, const Rows&, const memory::GlobalArray<float>&, float*,
                     const TuneOptions&);
template Tuning tune(team::Team&, const Rows&, const memory::GlobalArray<Half>&, Half*,
                     const TuneOptions&);
template Tuning tune(team::Team&, const Rows&, const memory::GlobalArray<BFloat16>&, BFloat16*,
                     const TuneOptions&);

IterationTuner::IterationTuner(team::Team& team, const Rows& rows, std::uint64_t k,
                               const std::string& type, std::uint64_t element_bytes,
                               const std::string& what, const TuneOptions& options)
    : team_(team), options_(options) {
  check_tunable(team, options);
  start_.key = asked_key(tuning_key(team, rows, k, type) + " " + what, options);
  if (take_remembered(team, options, start_)) {
    tuning_ = start_;
    return;
  }
  propose(team, rows, k, element_bytes, options, start_);
  advance();
}

// The search is done again from its beginning, with what is known by now, until it asks for what is
// not known: it is the same each time, and takes no time beside what it measures.
void IterationTuner::advance() {
  struct Unknown {
    DistributedOptions options;
  };
  next_.reset();
  tuning_ = start_;
  if (options_.tries == 0) return;
  try {
    search_ways(tuning_, options_.tries, team_.device().is_cuda(),
                [&](const DistributedOptions& asked) {
                  for (const auto& [options, seconds] : known_) {
                    if (options == asked) return seconds;
                  }
                  throw Unknown{asked};
                });
  } catch (const Unknown& unknown) {
    next_ = unknown.options;
  }
}

void IterationTuner::took(double seconds) {
  require(next_.has_value(), "the best way is known: there is nothing to try");
  known_.emplace_back(*next_, seconds);
  advance();
  if (!next_ && team_.rank() == 0)
    write_plan(options_.table, machine_of(team_), tuning_.key, {tuning_.best, tuning_.candidates});
}

}  // namespace warren::sparse
