// SPDX-License-Identifier: Apache-2.0
// The options of a training, one by one: how the command line calls each, what it takes, and what
// it is for. For faces that offer them all: the command line and bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/api/train.hpp"

namespace warren::api {

/// A member of TrainOptions. Numbers are of [low, high].
template <class Member>
struct TrainField {
  using Value = Member;
  const char* option;  ///< "--weight-decay".
  Member TrainOptions::*member;
  const char* value;  ///< What stands behind the option in help; unused of switches.
  const char* help;
  double low = 0.0, high = 0.0;
};

template <class Member>
[[nodiscard]] constexpr TrainField<Member> field(const char* option, Member TrainOptions::*member,
                                                 const char* help, const char* value = "NAME",
                                                 double low = 0.0, double high = 0.0) {
  return {option, member, value, help, low, high};
}

/// Of the model, and of sums over neighbours.
template <class Visit>
void each_model_field(Visit&& visit) {
  visit(field("--model", &TrainOptions::model, "gcn, sage, gat, gatv2, gin"));
  visit(field("--mode", &TrainOptions::mode,
              "full (every epoch one pass over the whole graph) or sampled (batches of sampled "
              "neighbourhoods)"));
  visit(field(
      "--task", &TrainOptions::task,
      "node (classes of vertices) or link (which vertices are linked; needs --mode sampled)"));
  visit(field("--type", &TrainOptions::type,
              "Storage of features, activations and their gradients: float32, float16 (the loss is "
              "scaled), "
              "bfloat16; also fp16, bf16"));
  visit(field("--layers", &TrainOptions::layers, "Layers (2; sampled: as many as fanouts)", "L", 1,
              64));
  visit(field("--hidden", &TrainOptions::hidden,
              "Width of hidden layers; of gat and gatv2, all heads together (64)", "K", 1,
              1 << 20));
  visit(field("--heads", &TrainOptions::heads,
              "Of gat and gatv2: heads of hidden layers; the last has one (8)", "H", 1, 1024));
  visit(field("--aggregate", &TrainOptions::aggregate, "Of sage: mean, sum, max"));
  visit(field("--norm", &TrainOptions::norm,
              "Of hidden layers: none, batch, layer (none; gin: layer)"));
  visit(field("--residual", &TrainOptions::residual, "Add a hidden layer's input to its output"));
  visit(field("--skip", &TrainOptions::skip,
              "Add every layer's input, times a matrix of its own, to its output"));
  visit(field("--edge-weights", &TrainOptions::edge_weights,
              "Of gcn, sage by mean or sum, gat and gatv2: edges count the weights of the graph "
              "(the file's, or --weights) in sums over neighbours, and attention has them as a "
              "feature of edges; else 1 each"));
  visit(field("--dropout", &TrainOptions::dropout,
              "Probability, of hidden layers; of gcn, gat and gatv2 of the features, too, of gat "
              "and gatv2 of edges (0.5; gat, gatv2: 0.6)",
              "P", 0.0, 0.999));
  visit(field("--recompute", &TrainOptions::recompute,
              "Of full: less memory for more time, with the same numbers: what layers keep for "
              "the backward pass is made again in it"));
  visit(field("--strategy", &TrainOptions::strategy,
              "Of full on several devices, sums over neighbours (gcn, gin, sage but max): how "
              "rows of other devices enter them: broadcast, broadcast-pipelined, pull, once, "
              "staged, fused, cover, each with parameters as spmm has them (pull:ps=16:dist=2, "
              "pull:mgg), or NAME:auto, auto: the first epochs try ways, and the fastest is "
              "kept (staged)"));
  visit(field("--workgroup", &TrainOptions::workgroup,
              "Of --strategy fused and auto: consecutive devices with fast links (by the measured "
              "links)",
              "N", 1, 64));
}

/// Of the optimiser, of how long it goes on, and of what is kept.
template <class Visit>
void each_optimizer_field(Visit&& visit) {
  visit(field("--lr", &TrainOptions::lr, "Learning rate (0.01)", "R", 0.0, 1e6));
  visit(field("--weight-decay", &TrainOptions::weight_decay,
              "Of gcn on the first layer, else on all (0.0005; --task link: 0)", "W", 0.0, 1e6));
  visit(field("--optimizer", &TrainOptions::optimizer, "adam, adamw, sgd (momentum 0.9)"));
  visit(
      field("--schedule", &TrainOptions::schedule, "Of the learning rate: constant, cosine, step"));
  visit(field("--warmup", &TrainOptions::warmup, "Epochs in which the learning rate rises (0)", "N",
              0, 1000000));
  visit(field("--clip", &TrainOptions::clip, "Largest length of the gradient (0: any)", "LENGTH",
              0.0, 1e6));
  visit(field("--epochs", &TrainOptions::epochs, "Epochs (200)", "N", 1, 10000000));
  visit(field("--patience", &TrainOptions::patience,
              "Stop after N epochs without a better validation, once it is above chance (0: never)",
              "N", 0, 10000000));
  visit(field("--checkpoint", &TrainOptions::checkpoint,
              "Keep the model and the state in this folder", "DIR"));
  visit(field("--checkpoint-every", &TrainOptions::checkpoint_every,
              "Epochs between checkpoints (20)", "N", 1, 10000000));
  visit(field("--resume", &TrainOptions::resume,
              "Go on from --checkpoint's state, where there is one, with its options"));
  visit(field("--overwrite", &TrainOptions::overwrite,
              "Replace the model that --checkpoint's folder has"));
  visit(field("--allow-changes", &TrainOptions::allow_changes,
              "Of --resume: go on with another --lr, --type, --dropout or the like than before"));
  visit(
      field("--class-weights", &TrainOptions::class_weights,
            "Of classes in the loss: balanced (each by one over its training vertices), none, or a "
            "number for each class: W0,W1,... (none)",
            "HOW"));
}

/// Of mode "sampled".
template <class Visit>
void each_sampled_field(Visit&& visit) {
  visit(field("--batch", &TrainOptions::batch,
              "Of sampled: vertices, of links edges, of a batch, per rank (1024; of few training "
              "vertices a 128th of a rank's, 8 at least)",
              "B", 1, 1 << 30));
  visit(field("--negatives", &TrainOptions::negatives,
              "Of --task link: false targets drawn for each edge (1)", "N", 1, 1 << 20));
  visit(field("--evaluation", &TrainOptions::evaluation,
              "Of sampled: exact (over the whole graph) or sampled, which needs less memory "
              "(exact)",
              "HOW"));
  visit(
      field("--placement", &TrainOptions::placement,
            "Of sampled, the features: device (spread over the devices), replicated, host, "
            "cached (in host memory, the most wanted rows on the devices, too), exchanged (on "
            "the CPU: each row on one rank of all hosts, which a batch's rows are asked of), auto "
            "(replicated on several GPUs of which they fill a sixteenth at most, else device) "
            "(auto)",
            "WHERE"));
  visit(field("--cached", &TrainOptions::cached, "Of --placement cached: the share of rows (0.1)",
              "SHARE", 0.0, 1.0));
  visit(
      field("--capture-batches", &TrainOptions::capture_batches,
            "Of sampled, --task node: pad batches to one shape, so that on GPUs a batch's forward "
            "and backward pass is started by one call; for batches so small that starting their "
            "kernels takes longer than running them. Not with --norm batch"));
  visit(field("--cache-by", &TrainOptions::cache_by,
              "Of --placement cached, which rows: degree (most edges lead to them) or "
              "presampling (most wanted by batches sampled beforehand) (degree)",
              "HOW"));
  visit(field("--edges", &TrainOptions::edges,
              "Of sampled, where the lists that are sampled lie: device (each device has its "
              "part), replicated, host, auto (as of --placement) (auto)",
              "WHERE"));
  visit(field("--replace", &TrainOptions::replace,
              "Of sampled: each draw is of all neighbours: the same one may come again"));
  visit(field("--weighted", &TrainOptions::weighted,
              "Of sampled: draws in proportion to the weights of the graph (--weights)"));
  visit(field("--checkpoint-batches", &TrainOptions::checkpoint_batches,
              "Of sampled: batches between checkpoints within an epoch (0: none)", "N", 0,
              1 << 30));
}

template <class Visit>
void each_train_field(Visit&& visit) {
  each_model_field(visit);
  each_optimizer_field(visit);
  each_sampled_field(visit);
}

}  // namespace warren::api
