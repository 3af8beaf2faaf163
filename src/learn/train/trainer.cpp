// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/trainer.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"

#include "learn/train/class_weights.hpp"
#include "learn/train/trainer_parts.hpp"

namespace warren::learn {
namespace {

/// This rank's rows of the features.
Features features_of(const exec::Stream& stream, const Dataset& dataset,
                     const std::vector<Vertex>& vertices, NumberType type) {
  const std::uint64_t width = dataset.width;
  if (!dataset.is_sparse()) {
    std::vector<float> rows(vertices.size() * width);
    for (std::uint64_t i = 0; i < vertices.size(); ++i)
      std::copy_n(dataset.dense.begin() + static_cast<std::ptrdiff_t>(vertices[i] * width), width,
                  rows.begin() + static_cast<std::ptrdiff_t>(i * width));
    return {stream, rows, width, type};
  }
  SparseRows rows;
  rows.rows = vertices.size();
  rows.columns = width;
  const auto& all = dataset.sparse;
  for (const Vertex v : vertices) {
    for (EdgeOffset e = all.offsets[v]; e < all.offsets[v + 1ull]; ++e) {
      rows.column_ids.push_back(all.column_ids[e]);
      rows.values.push_back(all.values[e]);
    }
    rows.offsets.push_back(rows.column_ids.size());
  }
  return {stream, rows};
}

template <class T>
memory::Buffer<T> uploaded(const exec::Stream& stream, const std::vector<T>& values) {
  memory::Buffer<T> buffer(stream.device(), values.size());
  buffer.upload(stream, values);
  stream.synchronize();
  return buffer;
}

Targets targets_of(const exec::Stream& stream, const Dataset& dataset,
                   const std::vector<Vertex>& vertices) {
  std::vector<std::int32_t> classes;
  std::vector<float> values;
  std::vector<std::uint8_t> splits;
  for (const Vertex v : vertices) {
    splits.push_back(dataset.splits[v]);
    if (!dataset.labels.empty()) classes.push_back(dataset.labels[v]);
    for (std::uint64_t c = 0; c < dataset.classes && !dataset.targets.empty(); ++c)
      values.push_back(dataset.targets[v * dataset.classes + c]);
  }
  Targets targets;
  targets.classes = uploaded(stream, classes);
  targets.values = uploaded(stream, values);
  targets.splits = uploaded(stream, splits);
  targets.counts = dataset.counts;
  return targets;
}

/// The input's vertices that a rank owns, in its order.
std::vector<Vertex> own_vertices(const GraphPair& graphs, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  std::vector<Vertex> vertices;
  for (std::uint64_t v = graphs.cuts[r]; v < graphs.cuts[r + 1]; ++v)
    vertices.push_back(graphs.input_ids.empty() ? static_cast<Vertex>(v) : graphs.input_ids[v]);
  return vertices;
}

}  // namespace

ModelOptions sized(ModelOptions options, const Dataset& dataset) {
  options.features = dataset.width;
  options.classes = dataset.classes;
  return options;
}

Chance chance_of(const Dataset& dataset, const TrainOptions& options) {
  if (!options.links && dataset.loss == LossKind::squared) return {0.0, -1.0};  // Nothing is right.
  constexpr double kErrors = 2.0;
  const double accuracy = options.links ? 0.5 : chance_of(dataset);
  const auto& split = options.links ? options.links->split->counts : dataset.counts;
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, split[kValidation - 1]));
  const double margin = kErrors * std::sqrt(accuracy * (1.0 - accuracy) / count);
  return {accuracy, accuracy + std::min(margin, 0.5 * (1.0 - accuracy))};
}

double slowest(team::Team& team, double seconds) {
  return team.all_reduce(seconds, [](double a, double b) { return std::max(a, b); });
}

void Trainer::Parts::diverged(const std::string& what, std::uint64_t epoch) const {
  throw UsageError(fmt::format(
      "{} in epoch {}: the training has diverged; a smaller --lr may help{}{}", what, epoch,
      options.type == NumberType::float16 ? ", or --type bfloat16, which holds larger numbers" : "",
      has_checkpoint ? "; the checkpoint is the last good one" : ""));
}

void Trainer::Parts::check_losses(const EpochRecord& record) const {
  if (!std::isfinite(record.loss))
    diverged(fmt::format("the loss is {}", record.loss), record.epoch);
  static constexpr const char* kNames[] = {"training", "validation", "test"};
  for (std::size_t s = 0; s < kSplits; ++s) {
    if (!std::isfinite(record.scores.at(s).loss))
      diverged(
          fmt::format("after the update the {} loss is {}", kNames[s], record.scores.at(s).loss),
          record.epoch);
  }
}

namespace {

/// Sampled trainings only evaluate the whole graph.
ModelOptions of_whole(const TrainOptions& options, const Dataset& dataset) {
  ModelOptions model = sized(options.model, dataset);
  model.recompute = model.recompute || options.sampled.has_value();
  return model;
}

}  // namespace

WholeGraph::WholeGraph(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                       const TrainOptions& options)
    : context(team, {.allow_tf32 = options.allow_tf32}, options.type),
      model(context, graphs, of_whole(options, dataset), dataset.is_sparse()),
      features(
          features_of(context.stream(), dataset, own_vertices(graphs, team.rank()), options.type)),
      targets(targets_of(context.stream(), dataset, own_vertices(graphs, team.rank()))),
      training_loss(dataset.loss),
      evaluation_loss(dataset.loss),
      training_pass(options.capture),
      evaluation_pass(options.capture) {
  context.set_tensor_sums(options.tensor_sums);
  // Of batches it evaluates alone.
  if (options.class_weights && !options.sampled)
    training_loss.weigh(context.stream(), class_factors(dataset, options));
}

namespace {

std::shared_ptr<const Neighbourhood> dry_neighbourhood(Context& context, const WholeSizes& sizes) {
  const auto make = [&](const NeighbourSizes& one) {
    return std::make_shared<const Neighbours>(context.team(), context.stream(), one);
  };
  const auto out = make(sizes.out);
  return std::make_shared<const Neighbourhood>(out, sizes.is_symmetric ? out : make(sizes.in));
}

Features dry_features(const exec::Stream& stream, const WholeSizes& sizes, NumberType type) {
  if (sizes.is_sparse) return {stream, sizes.sparse};
  return {stream, sizes.rows, sizes.width, type};
}

Targets dry_targets(const exec::Device& device, const WholeSizes& sizes) {
  Targets targets;
  if (sizes.has_labels) targets.classes = memory::Buffer<std::int32_t>(device, sizes.rows);
  if (sizes.has_targets)
    targets.values = memory::Buffer<float>(device, exec::bytes_of(sizes.rows, sizes.classes));
  targets.splits = memory::Buffer<std::uint8_t>(device, sizes.rows);
  return targets;
}

}  // namespace

WholeGraph::WholeGraph(team::Team& team, const WholeSizes& sizes, const TrainOptions& options)
    : context(team, {.allow_tf32 = options.allow_tf32}, options.type),
      model(context, dry_neighbourhood(context, sizes), options.model, sizes.is_sparse),
      features(dry_features(context.stream(), sizes, options.type)),
      targets(dry_targets(team.device(), sizes)),
      training_loss(sizes.loss),
      evaluation_loss(sizes.loss),
      training_pass(false),
      evaluation_pass(false) {
  context.set_measuring(false);
  context.set_tensor_sums(options.tensor_sums);
  if (options.class_weights && !options.sampled)
    training_loss.weigh(context.stream(), std::vector<float>(sizes.classes));
}

void WholeGraph::train(Updates& updates, std::uint64_t seed, std::uint64_t epoch, float rate) {
  context.begin(seed, epoch, true);
  updates.optimizer.begin(context.stream(), epoch, rate);
  training_pass.run(context, [&] {
    model.parameters().clear_gradients(context.stream());
    const ConstNumbers scores = model.forward(context, features);
    const Numbers gradient = model.scores_gradient();
    training_loss.run(context, targets, scores, model.options().classes, gradient,
                      updates.factor());
    model.backward(context, gradient);
    model.parameters().reduce_gradients(context);
    updates.update(context.stream());
  });
}

void WholeGraph::enqueue_evaluation(std::uint64_t seed) {
  context.begin(seed, 0, false);
  evaluation_pass.run(context, [&] {
    const ConstNumbers scores = model.forward(context, features);
    evaluation_loss.run(context, targets, scores, model.options().classes, nullptr);
  });
}

Scores WholeGraph::evaluate(std::uint64_t seed) {
  enqueue_evaluation(seed);
  (void)context.take_seconds();
  return evaluation_loss.result(context, targets);
}

namespace {

const TrainOptions& checked(const TrainOptions& options) {
  check(options);
  require(!options.links || options.sampled, "link prediction trains on sampled batches");
  require(!options.model.edge_weights || !options.links,
          "edges count their weights where vertices are classified, not in link prediction");
  require(!options.model.recompute || !options.sampled,
          "layers are recomputed where the whole graph is trained on, not sampled batches");
  return options;
}

}  // namespace

void check(const TrainOptions& options) {
  // NaN is neither below nor above anything.
  const auto in_range = [](float value, const char* what) {
    require(value >= 0.0f && std::isfinite(value),
            fmt::format("{} is {}: it must be a finite number that is not negative", what, value));
  };
  in_range(options.optimizer.rate, "the learning rate (--lr)");
  in_range(options.optimizer.weight_decay, "the weight decay (--weight-decay)");
  in_range(options.optimizer.clip, "the gradients' largest length (--clip)");
  if (!options.sampled) return;
  const double cached = options.sampled->cached;
  require(cached >= 0.0 && cached <= 1.0,
          fmt::format("the share of rows that devices keep (--cached) is {}: it must be a number "
                      "from 0 to 1",
                      cached));
}

Updates::Updates(const exec::Stream& stream, const TrainOptions& options, Parameters& parameters)
    : optimizer(stream, options.optimizer, parameters), best(stream.device(), parameters.size()) {
  if (options.type == NumberType::float16) scale.emplace(stream, options.loss_scale);
  exec::fill_bytes(stream, best.data(), 0, best.bytes());
}

Trainer::Parts::Parts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                      const TrainOptions& given)
    : options(checked(given)),
      mark(given.checkpoint.empty() && !given.keeps_mark ? DatasetMark{}
                                                         : mark_of(graphs, dataset)),
      loss(dataset.loss),
      whole(given.sampled && !given.sampled->exact_evaluation
                ? nullptr
                : std::make_unique<WholeGraph>(team, graphs, dataset, given)),
      sampled(given.sampled ? make_sampled_passes(team, graphs, dataset, given) : nullptr),
      updates(context().stream(), given, model().parameters()),
      begin(team.device()),
      end(team.device()),
      chance(chance_of(dataset, given)) {
  if (!sampled) exchange.emplace(whole->context, whole->model, given.exchange);
  if (whole && sampled) whole->model.parameters().share(sampled->model().parameters());
  options.model = model().options();
}

Trainer::Trainer(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                 const TrainOptions& options)
    : parts_(std::make_unique<Parts>(team, graphs, dataset, options)) {}

Trainer::~Trainer() = default;

Model& Trainer::model() { return parts_->model(); }
Context& Trainer::context() { return parts_->context(); }
std::uint64_t Trainer::batches() const { return parts_->sampled ? parts_->sampled->batches() : 0; }
const ExchangeReport& Trainer::exchange() const {
  require(parts_->exchange.has_value(), "sampled batches exchange no rows of the whole graph");
  return parts_->exchange->report();
}
double Trainer::hit_rate() const { return parts_->sampled ? parts_->sampled->hit_rate() : 0.0; }

namespace {

/// A timeline's seconds of an epoch by what they were spent on.
void trace_parts(int rank, const EpochRecord& record) {
  if (!trace_enabled()) return;
  static constexpr std::array<const char*, kParts> kNames = {"aggregate", "dense", "communicate"};
  for (std::size_t i = 0; i < kParts; ++i)
    trace_counter(fmt::format("{} seconds", kNames.at(i)), rank, record.part_seconds.at(i));
}

}  // namespace

// Ranks read each other's rows in the order of their streams: one that fails must not take its
// memory down before the others have stopped.
EpochRecord Trainer::epoch() {
  EpochRecord record;
  context().team().with_peer_memory([&] { record = train_epoch(); });
  return record;
}

EpochRecord Trainer::train_epoch() {
  Parts& p = *parts_;
  Context& context = p.context();
  const exec::Stream& stream = context.stream();
  const TraceSpan span("epoch", context.team().rank());
  EpochRecord record;
  const std::uint64_t done = p.progress.epochs;
  record.epoch = done + 1;
  const float rate = rate_at(p.options.optimizer, done, p.options.epochs);
  p.begin.record(stream);
  if (p.sampled) {
    const std::uint64_t batches = p.sampled->batches();
    p.sampled->train(record, p.progress.standing, p.updates.factor(), [&](std::uint64_t batch) {
      p.updates.optimizer.begin(stream, done * batches + batch + 1, rate);
      p.updates.update(stream);
      context.team().check();  // Of one rank nothing else tells that the training is to end.
      const bool is_due = p.options.checkpoint_batches != 0 &&
                          (batch + 1) % p.options.checkpoint_batches == 0 && batch + 1 != batches;
      if (!is_due || p.options.checkpoint.empty()) return;
      p.progress.standing = p.sampled->standing();
      if (const double sum = p.progress.standing.sums[0]; !std::isfinite(sum))
        p.diverged(fmt::format("the loss is {}", sum), record.epoch);
      save();
    });
    p.progress.standing = {};
  } else {
    p.whole->train(p.updates, p.options.model.seed, record.epoch, rate);
  }
  p.end.record(stream);
  if (!p.sampled) {
    record.part_seconds = context.take_seconds();
    record.loss = p.whole->training_loss.result(context, p.whole->targets)[0].loss;
    record.is_captured = p.whole->training_pass.is_captured();
  }
  stream.synchronize();
  trace_parts(context.team().rank(), record);
  record.seconds = slowest(context.team(), p.end.seconds_since(p.begin));
  if (p.exchange) p.exchange->took(record.seconds);
  if (p.updates.scale) {
    const LossScaleState state = p.updates.scale->state(stream);
    record.loss_scale = state.factor;
    record.skipped_steps = state.skipped;
  }
  p.check_losses(record);
  record.scores = evaluate();
  // The loss was of before the update, which may have been the one that went wrong.
  p.check_losses(record);
  p.progress.epochs = record.epoch;
  return record;
}

Scores Trainer::evaluate() {
  Parts& p = *parts_;
  const TraceSpan span("evaluate", p.context().team().rank());
  Scores scores;
  p.context().team().with_peer_memory([&] {
    if (p.sampled) {
      scores = p.sampled->evaluate(p.whole.get());
      return;
    }
    p.context().stream().synchronize();
    scores = p.whole->evaluate(p.options.model.seed);
  });
  return scores;
}

std::vector<float> Trainer::Parts::whole_pass(std::uint64_t width, bool of_scores) {
  require(whole != nullptr, "scores of all vertices need the whole graph on the devices");
  context().stream().synchronize();
  Context& there = whole->context;
  there.begin(options.model.seed, 0, false);
  ConstNumbers rows;
  there.team().with_peer_memory([&] {
    rows = whole->model.forward(there, whole->features);
    there.stream().synchronize();
  });
  if (!of_scores) rows = whole->model.last_input();
  std::vector<float> result(there.rows() * width);
  with_type(rows.type(), [&]<class T>(T) {
    std::vector<T> copied(result.size());
    exec::copy(there.stream(), copied.data(), rows.raw(), copied.size() * sizeof(T));
    there.stream().synchronize();
    for (std::size_t i = 0; i < copied.size(); ++i) result[i] = to_float(copied[i]);
  });
  (void)there.take_seconds();
  return result;
}

std::vector<float> Trainer::predict() {
  return parts_->whole_pass(parts_->options.model.classes, true);
}

std::vector<float> Trainer::embed() {
  require(parts_->options.model.layers > 1,
          "a model of one layer has no hidden rows: what its last layer reads are the features");
  return parts_->whole_pass(parts_->options.model.hidden, false);
}

const std::vector<EpochRecord>& Trainer::history() const { return parts_->progress.history; }

void Trainer::Parts::note(const EpochRecord& record) {
  progress.history.push_back(record);
  const SplitScore& validation = record.scores[1];
  const bool is_better =
      progress.best_epoch == 0 || validation.accuracy > progress.best_validation ||
      (validation.accuracy == progress.best_validation && validation.loss < progress.best_loss);
  if (!is_better) return;
  progress.best_epoch = record.epoch;
  progress.best_validation = validation.accuracy;
  progress.best_loss = validation.loss;
  progress.test_accuracy = record.scores[2].accuracy;
  progress.test_mrr = record.scores[2].mrr;
  const auto& values = model().parameters().values();
  exec::copy(context().stream(), updates.best.data(), values.data(), values.bytes());
}

// At a plateau of chance the accuracies of epochs are noise, of which an early one is easily the
// best, while the loss falls. A rate of 0 never leaves it.
bool Trainer::Parts::has_lost_patience() const {
  const bool has_learnt =
      progress.best_validation > chance.beaten_at || options.optimizer.rate == 0.0f;
  return options.patience != 0 && has_learnt &&
         progress.epochs - progress.best_epoch >= options.patience;
}

TrainResult Trainer::run(const std::function<void(const EpochRecord&)>& seen) {
  Parts& p = *parts_;
  p.check_room();
  while (p.progress.epochs < p.options.epochs && !p.has_lost_patience()) {
    const EpochRecord record = epoch();
    p.note(record);
    seen(record);
    const bool is_last = record.epoch == p.options.epochs || p.has_lost_patience();
    if (is_last || record.epoch % std::max<std::uint64_t>(1, p.options.checkpoint_every) == 0)
      save();
  }
  if (p.progress.best_epoch != 0) {
    auto& values = p.model().parameters().values();
    exec::copy(p.context().stream(), values.data(), p.updates.best.data(), values.bytes());
    p.context().stream().synchronize();
  }
  return {p.progress.epochs,        p.progress.best_epoch, p.progress.best_validation,
          p.progress.test_accuracy, p.progress.test_mrr,   p.progress.epochs < p.options.epochs,
          p.chance.accuracy};
}

}  // namespace warren::learn
