// SPDX-License-Identifier: Apache-2.0
// Which options of train change nothing in what was asked for.
#include <algorithm>

#include <fmt/format.h>

#include "train_options.hpp"

namespace warren::app {
namespace {

/// Of the model.
void warn_of_model_options(const CommonOptions& common, const learn::ModelOptions& model,
                           bool is_of_links) {
  if (!learn::is_attention(model.kind)) {
    warn_without_effect(common, {"--heads"}, "only gat and gatv2 have heads");
  } else if (model.layers == 1) {
    warn_without_effect(common, {"--heads"}, "the last layer has one head, and there is no other");
  }
  if (model.kind != learn::ModelKind::sage)
    warn_without_effect(common, {"--aggregate"}, "only sage has a choice of it");
  if (model.layers < 3) {
    warn_without_effect(common, {"--residual"},
                        "it is of hidden layers behind hidden layers, and there is none: give "
                        "--layers 3 or more, or --skip");
  }
  if (model.layers > 1) return;
  // A layer of gin has one within, and dropout is also of what gcn and attention take in.
  if (model.kind != learn::ModelKind::gin)
    warn_without_effect(common, {"--norm"}, "it is of hidden layers, and there is none");
  if (model.kind == learn::ModelKind::sage || model.kind == learn::ModelKind::gin)
    warn_without_effect(common, {"--dropout"}, "it is of hidden layers, and there is none");
  if (!is_of_links)
    warn_without_effect(common, {"--hidden"}, "it is of hidden layers, and there is none");
}

/// Of GPUs.
void warn_of_gpu_options(const Session& session, const learn::TrainOptions& train) {
  const CommonOptions& common = session.options();
  if (!session.on_gpu()) {
    warn_without_effect(common, {"--no-capture", "--tensor-sums", "--no-tensor-sums", "--no-tf32"},
                        "it is for GPUs, and this run has none");
    return;
  }
  if (train.sampled)
    warn_without_effect(common, {"--no-capture"}, "batches are captured with --capture-batches");
  const bool has_tensor_sums =
      train.model.kind == learn::ModelKind::gat && train.type != learn::NumberType::float32;
  if (!has_tensor_sums)
    warn_without_effect(common, {"--tensor-sums", "--no-tensor-sums"},
                        "it is for --model gat and types of 16 bits");
}

/// Of sampled batches.
void warn_of_draws(const CommonOptions& common, const learn::SampledOptions& sampled) {
  const bool draws = std::any_of(sampled.fanouts.begin(), sampled.fanouts.end(),
                                 [](std::int64_t fanout) { return fanout >= 0; });
  if (!draws)
    warn_without_effect(common, {"--replace", "--weighted"},
                        "--fanout takes all neighbours: nothing is drawn");
}

}  // namespace

void warn_of_unused_options(const Session& session, const learn::TrainOptions& train) {
  const CommonOptions& common = session.options();
  warn_of_model_options(common, train.model, train.links.has_value());
  warn_of_gpu_options(session, train);
  if (train.sampled) warn_of_draws(common, *train.sampled);
  if (train.patience >= train.epochs)
    warn_without_effect(common, {"--patience"}, "no run of epochs is as long");
  if (train.checkpoint.empty())
    warn_without_effect(common, {"--checkpoint-every", "--checkpoint-batches"},
                        "there is no --checkpoint DIR");
  warn_without_effect(common, {"--repeat"}, "train runs once, and times its epochs");
}

}  // namespace warren::app
