// SPDX-License-Identifier: Apache-2.0
#include "learn/train/exchange_choice.hpp"

#include <limits>

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/sparse/strategy_text.hpp"
#include "warren/team/links.hpp"

namespace warren::learn {
namespace {

/// Candidates are of products as wide as hidden layers.
std::uint64_t usual_width(const Context& context, const ModelOptions& model) {
  return context.padded(model.layers > 1 ? model.hidden : model.classes);
}

sparse::TuneOptions tune_options(const ExchangeOptions& options) {
  sparse::TuneOptions tune;
  tune.workgroup = options.workgroup;
  if (options.is_tuned) {
    tune.strategy = options.strategy;
    tune.table = options.table;
  } else {
    tune.tries = 0;
  }
  return tune;
}

}  // namespace

ExchangeChoice::ExchangeChoice(Context& context, Model& model, const ExchangeOptions& options)
    : context_(context), model_(model) {
  team::Team& team = context.team();
  const sparse::DistributedMatrix& matrix = model.neighbourhood().out->whole();
  report_.is_local = !matrix.is_shared();
  if (report_.is_local) {
    report_.reason = "one rank exchanges nothing";
    return;
  }
  if (model.takes_edges()) {
    report_.reason = fmt::format(
        "{} reads neighbours' rows by kernels of its own, for which they are brought here",
        name_of(model.options().kind));
    return;
  }
  if (options.explains || (options.is_tuned && matrix.is_direct() && !options.is_deterministic)) {
    const sparse::Rows rows = matrix.rows_on_host(context.stream());
    tuner_.emplace(team, rows, usual_width(context, model.options()), name_of(context.type()),
                   size_of(context.type()),
                   "epochs of " + name_of(model.options().kind) +
                       (model.options().edge_weights ? " with edge weights" : ""),
                   tune_options(options));
    report_.candidates = tuner_->tuning().candidates;
  }
  if (!matrix.is_direct()) {
    tuner_.reset();
    report_.reason =
        team.spans_hosts()
            ? "on several hosts each gets the rows that its ranks need once, by windows"
            : "ranks do not read each other's memory: owners gather rows, and a collective moves "
              "them";
    if (options.product) use(*options.product);
  } else if (options.is_tuned && options.is_deterministic) {
    tuner_.reset();
    report_.reason =
        "measured times would choose the last bits of the sums, which are to repeat: the default";
  } else if (options.is_tuned) {
    take_tuning();
  } else {
    tuner_.reset();
    report_.reason = "the default: each row comes once, in parts, while others are multiplied";
    if (!options.product) return;
    report_.reason = "as asked for";
    sparse::DistributedOptions product = *options.product;
    product.deterministic = options.is_deterministic;
    if (product.strategy == sparse::Strategy::fused && product.workgroup == 0)
      product.workgroup = sparse::workgroup_of(team::known_links(team));
    if (product.strategy == sparse::Strategy::once) {
      const bool has_atomics = !product.deterministic && context.type() == NumberType::float32;
      report_.reason += has_atomics ? "; atomics add, so that losses do not repeat bit for bit"
                                    : "; without atomics: rows are copied first";
    }
    use(product);
  }
}

void ExchangeChoice::use(const sparse::DistributedOptions& product) {
  report_.product = product;
  model_.set_strategy(context_, product);
}

void ExchangeChoice::take_tuning() {
  const sparse::Tuning& tuning = tuner_->tuning();
  report_.candidates = tuning.candidates;
  least_ = std::numeric_limits<double>::infinity();
  if (tuner_->next()) {
    report_.reason = "the fastest of the epochs so far, which try ways";
    return use(*tuner_->next());
  }
  report_.reason = tuning.is_remembered ? "the fastest of an earlier training's epochs"
                                        : "the fastest of the first epochs, which tried ways";
  use(tuning.best);
  if (context_.team().rank() == 0)
    log_info(fmt::format("sums over neighbours by strategy {}: {}",
                         sparse::product_text(tuning.best), report_.reason));
  tuner_.reset();
}

void ExchangeChoice::took(double seconds) {
  if (!tuner_) return;
  const auto turn = static_cast<int>(epochs_++ % kEpochsEach);
  if (turn > 0) least_ = std::min(least_, seconds);
  if (turn + 1 < kEpochsEach) return;
  tuner_->took(least_);
  take_tuning();
}

}  // namespace warren::learn
