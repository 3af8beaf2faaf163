// SPDX-License-Identifier: Apache-2.0
// What is told of a training: before it, which options change nothing and what it will hold; after
// it, where its time went.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "warren/api/training.hpp"
#include "warren/core/error.hpp"

namespace warren::api {
namespace {

class Unused {
 public:
  void add(std::initializer_list<const char*> options, const std::string& why) {
    for (const char* option : options) all_.push_back({option, why});
  }
  [[nodiscard]] std::vector<UnusedOption> take() { return std::move(all_); }

 private:
  std::vector<UnusedOption> all_;
};

void look_at_model(const learn::ModelOptions& model, bool is_of_links, Unused& unused) {
  if (!learn::is_attention(model.kind)) {
    unused.add({"--heads"}, "only gat and gatv2 have heads");
  } else if (model.layers == 1) {
    unused.add({"--heads"}, "the last layer has one head, and there is no other");
  }
  if (model.kind != learn::ModelKind::sage)
    unused.add({"--aggregate"}, "only sage has a choice of it");
  if (model.layers < 3) {
    unused.add({"--residual"},
               "it is of hidden layers behind hidden layers, and there is none: give --layers 3 or "
               "more, or --skip");
  }
  if (model.layers > 1) return;
  const std::string none = "it is of hidden layers, and there is none";
  // A layer of gin has one within, and dropout is also of what gcn and attention take in.
  if (model.kind != learn::ModelKind::gin) unused.add({"--norm"}, none);
  if (model.kind == learn::ModelKind::sage || model.kind == learn::ModelKind::gin)
    unused.add({"--dropout"}, none);
  if (!is_of_links) unused.add({"--hidden"}, none);
}

void look_at_gpus(const learn::TrainOptions& train, bool on_gpu, Unused& unused) {
  if (!on_gpu) {
    unused.add({"--no-capture", "--tensor-sums", "--no-tensor-sums", "--no-tf32"}, kForGpus);
    return;
  }
  if (train.sampled) unused.add({"--no-capture"}, "batches are captured with --capture-batches");
  if (train.model.kind != learn::ModelKind::gat || train.type == learn::NumberType::float32)
    unused.add({"--tensor-sums", "--no-tensor-sums"}, "it is for --model gat and types of 16 bits");
}

/// Of sums over neighbours, by a strategy.
bool has_strategies(const learn::TrainOptions& train, int ranks) {
  const bool is_max = train.model.kind == learn::ModelKind::sage &&
                      train.model.aggregate == learn::SageAggregate::max;
  return ranks > 1 && !train.sampled && !learn::is_attention(train.model.kind) && !is_max;
}

}  // namespace

std::vector<UnusedOption> unused_options(const learn::TrainOptions& train, int ranks, bool on_gpu) {
  Unused unused;
  look_at_model(train.model, train.links.has_value(), unused);
  look_at_gpus(train, on_gpu, unused);
  if (!has_strategies(train, ranks))
    unused.add({"--explain"},
               "there is no choice of strategies but of sums over neighbours on several devices "
               "with --mode full");
  if (train.sampled && std::ranges::all_of(train.sampled->fanouts, [](auto f) { return f < 0; }))
    unused.add({"--replace", "--weighted"}, "--fanout takes all neighbours: nothing is drawn");
  if (train.patience >= train.epochs) unused.add({"--patience"}, "no run of epochs is as long");
  if (train.checkpoint.empty())
    unused.add({"--checkpoint-every", "--checkpoint-batches"}, "there is no --checkpoint DIR");
  return unused.take();
}

EpochBreakdown TrainingOutcome::breakdown() const {
  EpochBreakdown parts;
  double all = 0.0, count = 0.0, all_seconds = 0.0, all_training = 0.0;
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    const learn::EpochRecord& epoch = epochs[e];
    all_seconds += epoch.seconds;
    all_training += epoch.train_seconds;
    parts.sampled_edges += epoch.sampled_edges;
    if (e == 0 && epochs.size() > 1) continue;
    const auto of = [&](learn::Part part) {
      return epoch.part_seconds.at(static_cast<std::size_t>(part));
    };
    parts.aggregate += of(learn::Part::aggregate);
    parts.dense += of(learn::Part::dense);
    parts.communicate += of(learn::Part::communicate);
    parts.train += epoch.train_seconds;
    parts.sample += epoch.sample_seconds;
    parts.gather += epoch.gather_seconds;
    all += epoch.seconds;
    count += 1.0;
  }
  count = std::max(1.0, count);
  for (double* part : {&parts.aggregate, &parts.dense, &parts.communicate, &parts.train,
                       &parts.sample, &parts.gather, &all})
    *part /= count;
  const double known = parts.aggregate + parts.dense + parts.communicate;
  parts.other = std::max(0.0, (batches == 0 ? all : parts.train) - known);
  parts.exposed = std::max(0.0, all - parts.train);
  parts.train_share = all_seconds > 0.0 ? all_training / all_seconds : 0.0;
  if (!epochs.empty()) parts.sampled_edges /= epochs.size();
  return parts;
}

}  // namespace warren::api
