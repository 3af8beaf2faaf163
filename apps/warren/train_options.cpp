// SPDX-License-Identifier: Apache-2.0
#include "train_options.hpp"

#include "warren/core/error.hpp"

#include "command.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

void add_model_options(CLI::App& train, TrainCommand& o) {
  const auto named = [&](const char* option, std::string& value, const char* description) {
    add_text(train, option, value, description);
  };
  named("--model", o.train.model, "gcn, sage, gat, gatv2, gin");
  named("--mode", o.train.mode,
        "full (every epoch one pass over the whole graph) or sampled (batches of sampled "
        "neighbourhoods)");
  named("--task", o.train.task,
        "node (classes of vertices) or link (which vertices are linked; needs --mode sampled)");
  named("--type", o.train.type,
        "Storage of features, activations and their gradients: float32, float16 (the loss is "
        "scaled), "
        "bfloat16; also fp16, bf16");
  add_number(train, "--layers", o.train.layers, "Layers (2; sampled: as many as fanouts)", "L", 1,
             64);
  add_number(train, "--hidden", o.train.hidden,
             "Width of hidden layers; of gat and gatv2, all heads together (64)", "K", 1, 1 << 20);
  add_number(train, "--heads", o.train.heads,
             "Of gat and gatv2: heads of hidden layers; the last has one (8)", "H", 1, 1024);
  named("--aggregate", o.train.aggregate, "Of sage: mean, sum, max");
  named("--norm", o.train.norm, "Of hidden layers: none, batch, layer (none; gin: layer)");
  train.add_flag("--residual", o.train.residual, "Add a hidden layer's input to its output");
  train
      .add_flag("--skip", o.train.skip,
                "Add every layer's input, times a matrix of its own, to its output")
      ->excludes("--residual");
  train.add_flag("--edge-weights", o.train.edge_weights,
                 "Of gcn, sage by mean or sum, gat and gatv2: edges count the weights of the graph "
                 "(the file's, or --weights) in sums over neighbours, and attention has them as a "
                 "feature of edges; else 1 each");
  add_real(train, "--dropout", o.train.dropout,
           "Probability, of hidden layers; of gcn, gat and gatv2 of the features, too, of gat "
           "and gatv2 of edges (0.5; gat, gatv2: 0.6)",
           "P", 0.0, 0.999);
  train.add_flag("--recompute", o.train.recompute,
                 "Of full: less memory for more time, with the same numbers: what layers keep for "
                 "the backward pass is made again in it");
  add_text(train, "--strategy", o.train.strategy,
           "Of full on several devices, sums over neighbours (gcn, gin, sage but max): how "
           "rows of other devices enter them: broadcast, broadcast-pipelined, pull, once, "
           "staged, fused, cover, each with parameters as spmm has them (pull:ps=16:dist=2, "
           "pull:mgg), or NAME:auto, auto: the first epochs try ways, and the fastest is "
           "kept (staged)");
  add_number(train, "--workgroup", o.train.workgroup,
             "Of --strategy fused and auto: consecutive devices with fast links (by the measured "
             "links)",
             "N", 1, 64);
  train.add_flag("--explain", o.explain,
                 "Of full on several devices: print the strategies, what they are thought to take "
                 "and what they took");
  train.add_flag("--no-capture", o.no_capture,
                 "GPUs, of full: every kernel of an epoch is started by itself, with the same "
                 "numbers");
  train.add_flag(
      "--tensor-sums", o.tensor_sums,
      "GPUs, types of 16 bits: GAT's sums over neighbours by tensor cores wherever they can, as "
      "without a choice so far");
  train.add_flag("--no-tensor-sums", o.no_tensor_sums, "GAT's sums never by tensor cores")
      ->excludes("--tensor-sums");
  train.add_flag("--no-tf32", o.exact_products, "GPUs: dense products in full float32");
}

void add_optimizer_options(CLI::App& train, TrainCommand& o) {
  const auto positive = real_number(0.0, 1e6);
  add_text(train, "--lr", o.train.lr, "Learning rate (0.01)", "R")->check(positive);
  add_text(train, "--weight-decay", o.train.weight_decay,
           "Of gcn on the first layer, else on all (0.0005; --task link: 0)", "W")
      ->check(positive);
  add_text(train, "--optimizer", o.train.optimizer, "adam, adamw, sgd (momentum 0.9)");
  add_text(train, "--schedule", o.train.schedule, "Of the learning rate: constant, cosine, step");
  add_number(train, "--warmup", o.train.warmup, "Epochs in which the learning rate rises (0)", "N",
             0, 1000000);
  add_text(train, "--clip", o.train.clip, "Largest length of the gradient (0: any)", "LENGTH")
      ->check(positive);
  add_number(train, "--epochs", o.train.epochs, "Epochs (200)", "N", 1, 10000000);
  add_number(train, "--patience", o.train.patience,
             "Stop after N epochs without a better validation, once it is above chance (0: never)",
             "N", 0, 10000000);
  add_text(train, "--checkpoint", o.train.checkpoint, "Keep the model and the state in this folder",
           "DIR");
  add_number(train, "--checkpoint-every", o.train.checkpoint_every,
             "Epochs between checkpoints (20)", "N", 1, 10000000);
  train.add_flag("--resume", o.train.resume,
                 "Go on from --checkpoint's state, where there is one, with its options");
  train
      .add_flag("--overwrite", o.train.overwrite,
                "Replace the model that --checkpoint's folder has")
      ->excludes("--resume");
  train
      .add_flag("--allow-changes", o.train.allow_changes,
                "Of --resume: go on with another --lr, --type, --dropout or the like than before")
      ->needs("--resume");
  add_text(train, "--class-weights", o.train.class_weights,
           "Of classes in the loss: balanced (each by one over its training vertices), none, or a "
           "number for each class: W0,W1,... (none)",
           "HOW");
}

void add_sampled_options(CLI::App& train, TrainCommand& o) {
  add_text(train, "--fanout", o.fanout,
           "Of sampled: neighbours of each vertex, hop by hop from the batch's own vertices; "
           "-1 for all (15,10)",
           "F1,F2,...");
  add_number(train, "--batch", o.train.batch,
             "Of sampled: vertices, of links edges, of a batch, per rank (1024; of few training "
             "vertices a 128th of a rank's, 8 at least)",
             "B", 1, 1 << 30);
  add_number(train, "--negatives", o.train.negatives,
             "Of --task link: false targets drawn for each edge (1)", "N", 1, 1 << 20);
  add_text(train, "--evaluation", o.train.evaluation,
           "Of sampled: exact (over the whole graph) or sampled, which needs less memory "
           "(exact)",
           "HOW");
  add_text(train, "--placement", o.train.placement,
           "Of sampled, the features: device (spread over the devices), replicated, host, "
           "cached (in host memory, the most wanted rows on the devices, too), exchanged (on "
           "the CPU: each row on one rank of all hosts, which a batch's rows are asked of), auto "
           "(replicated on several GPUs of which they fill a sixteenth at most, else device) "
           "(auto)",
           "WHERE");
  add_real(train, "--cached", o.train.cached, "Of --placement cached: the share of rows (0.1)",
           "SHARE", 0.0, 1.0);
  train
      .add_flag(
          "--capture-batches", o.train.capture_batches,
          "Of sampled, --task node: pad batches to one shape, so that on GPUs a batch's forward "
          "and backward pass is started by one call; for batches so small that starting their "
          "kernels takes longer than running them. Not with --norm batch")
      ->excludes("--no-capture");
  add_text(train, "--cache-by", o.train.cache_by,
           "Of --placement cached, which rows: degree (most edges lead to them) or "
           "presampling (most wanted by batches sampled beforehand) (degree)",
           "HOW");
  add_text(train, "--edges", o.train.edges,
           "Of sampled, where the lists that are sampled lie: device (each device has its "
           "part), replicated, host, auto (as of --placement) (auto)",
           "WHERE");
  train.add_flag("--replace", o.train.replace,
                 "Of sampled: each draw is of all neighbours: the same one may come again");
  train.add_flag("--weighted", o.train.weighted,
                 "Of sampled: draws in proportion to the weights of the graph (--weights)");
  add_number(train, "--checkpoint-batches", o.train.checkpoint_batches,
             "Of sampled: batches between checkpoints within an epoch (0: none)", "N", 0, 1 << 30);
}

}  // namespace

void add_train_options(CLI::App& train, TrainCommand& command) {
  add_dataset_options(train, command.dataset);
  add_model_options(train, command);
  add_optimizer_options(train, command);
  add_sampled_options(train, command);
  add_common_options(train, command.common);
}

TrainOptions library_options(const TrainCommand& command) {
  TrainOptions options = command.train;
  if (command.fanout) options.fanout = parse_fanouts(*command.fanout);
  options.capture = !command.no_capture;
  options.allow_tf32 = !command.exact_products;
  if (command.tensor_sums || command.no_tensor_sums) options.tensor_sums = command.tensor_sums;
  options.seed = command.common.seed;
  options.deterministic = command.common.deterministic;
  options.normalize = command.dataset.normalize;
  options.method = command.dataset.method;
  options.reorder = command.dataset.reorder;
  return options;
}

}  // namespace warren::app
