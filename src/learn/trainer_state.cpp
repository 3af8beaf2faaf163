// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a training: what is written, and what is asked of what is read.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"

#include "learn/trainer_parts.hpp"

namespace warren::learn {
namespace {

constexpr const char* kModel = "model.safetensors";
constexpr const char* kState = "state.safetensors";

std::string path_in(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

/// One array as matrices with the parameters' names.
void add(TensorFile& file, const std::string& prefix, const Parameters& parameters,
         const std::vector<float>& values) {
  for (const Parameter& p : parameters.list()) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(p.offset);
    file.tensors.push_back(
        {prefix + p.name, p.rows, p.columns, {from, from + static_cast<std::ptrdiff_t>(p.size())}});
  }
}

void take(const TensorFile& file, const std::string& path, const std::string& prefix,
          const Parameters& parameters, memory::Buffer<float>& buffer, const exec::Stream& stream) {
  std::vector<float> values = buffer.to_host(stream);
  for (const Parameter& p : parameters.list()) {
    const NamedTensor& tensor = file.tensor(prefix + p.name, path);
    if (tensor.rows != p.rows || tensor.columns != p.columns)
      throw InputError(
          fmt::format("{}: {} is {} x {}, but this model's is {} x {}: the checkpoint "
                      "is of another model or dataset",
                      path, tensor.name, tensor.rows, tensor.columns, p.rows, p.columns));
    std::copy(tensor.values.begin(), tensor.values.end(),
              values.begin() + static_cast<std::ptrdiff_t>(p.offset));
  }
  buffer.upload(stream, values);
  stream.synchronize();
}

std::string bits(double value) { return fmt::format("{}", std::bit_cast<std::uint64_t>(value)); }
double from_bits(std::uint64_t value) { return std::bit_cast<double>(value); }

constexpr const char* kSkip = "skip";  // Absent: 0.

void describe(TensorFile& file, const ModelOptions& options) {
  auto& m = file.metadata;
  m["model"] = name_of(options.kind);
  m["layers"] = std::to_string(options.layers);
  m["hidden"] = std::to_string(options.hidden);
  m["heads"] = std::to_string(options.heads);
  m["features"] = std::to_string(options.features);
  m["classes"] = std::to_string(options.classes);
  m["aggregate"] = name_of(options.aggregate);
  m["norm"] = name_of(options.norm);
  m["residual"] = std::to_string(options.residual ? 1 : 0);
  m["seed"] = std::to_string(options.seed);
  if (options.skip) m.emplace(kSkip, "1");
}

constexpr const char* kTask = "task";            // Absent: classes of vertices.
constexpr const char* kOptimizer = "optimizer";  // Absent in old states.

/// What the model is for.
void describe_task(TensorFile& file, const TrainOptions& options) {
  if (options.links) file.metadata[kTask] = "link";
}
bool is_of_links(const TensorFile& file) {
  const auto found = file.metadata.find(kTask);
  return found != file.metadata.end() && found->second == "link";
}

void check_model(const TensorFile& file, const std::string& path, const TrainOptions& trained) {
  const ModelOptions& options = trained.model;
  if (is_of_links(file) != trained.links.has_value())
    throw InputError(fmt::format("{}: its model is of {}, but this one's task is {}", path,
                                 is_of_links(file) ? "links" : "classes of vertices",
                                 trained.links ? "link" : "node"));
  if (file.metadata.contains(kSkip) != options.skip)
    throw InputError(fmt::format("{}: its layers have {}skip matrices, but this model's have {}",
                                 path, options.skip ? "no " : "", options.skip ? "some" : "none"));
  TensorFile expected;
  describe(expected, options);
  for (const auto& [key, value] : expected.metadata) {
    const std::string& found = file.text(key, path);
    if (found != value)
      throw InputError(
          fmt::format("{}: its {} is {}, but this model's is {}", path, key, found, value));
  }
}

/// One optimiser's means say nothing to another.
void check_optimizer(const TensorFile& file, const std::string& path, OptimizerKind kind) {
  const auto found = file.metadata.find(kOptimizer);
  // States that do not say it have squares' means of all optimisers but SGD.
  const bool has_squares =
      std::any_of(file.tensors.begin(), file.tensors.end(),
                  [](const NamedTensor& tensor) { return tensor.name.starts_with("second."); });
  const bool is_same = found != file.metadata.end() ? found->second == name_of(kind)
                                                    : has_squares == (kind != OptimizerKind::sgd);
  if (is_same) return;
  const std::string before = found != file.metadata.end() ? found->second
                             : has_squares                ? "adam or adamw"
                                                          : "sgd";
  throw InputError(
      fmt::format("{}: it is the state of the optimizer {}, but this training's is {}: go on with "
                  "the same --optimizer",
                  path, before, name_of(kind)));
}

}  // namespace

void Trainer::Parts::check_state(const TensorFile& state) const {
  for (const NamedTensor& tensor : state.tensors) {
    const auto bad = std::find_if_not(tensor.values.begin(), tensor.values.end(),
                                      [](float value) { return std::isfinite(value); });
    if (bad == tensor.values.end()) continue;
    const std::uint64_t epoch = progress.epochs + (progress.standing.batches != 0 ? 1 : 0);
    diverged(fmt::format("{} has become {}", tensor.name, *bad), epoch);
  }
}

std::string name_of(OptimizerKind kind) {
  static constexpr const char* kNames[] = {"sgd", "adam", "adamw"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string name_of(NumberType type) {
  static constexpr const char* kNames[] = {"float32", "float16", "bfloat16"};
  return kNames[static_cast<std::size_t>(type)];
}

NumberType parse_type(const std::string& name) {
  if (name == "float32" || name == "fp32") return NumberType::float32;
  if (name == "float16" || name == "fp16") return NumberType::float16;
  if (name == "bfloat16" || name == "bf16") return NumberType::bfloat16;
  throw UsageError(
      fmt::format("numbers are stored as float32, float16 or bfloat16, not \"{}\"", name));
}

ModelKind parse_model(const std::string& name) {
  if (name == "gcn") return ModelKind::gcn;
  if (name == "sage") return ModelKind::sage;
  if (name == "gat") return ModelKind::gat;
  if (name == "gin") return ModelKind::gin;
  if (name == "gatv2") return ModelKind::gatv2;
  throw UsageError(
      fmt::format("there is no model \"{}\"; there is gcn, sage, gat, gatv2, gin", name));
}

std::string name_of(ModelKind kind) {
  static constexpr const char* kNames[] = {"gcn", "sage", "gat", "gin", "gatv2"};
  return kNames[static_cast<std::size_t>(kind)];
}

SageAggregate parse_aggregate(const std::string& name) {
  if (name == "mean") return SageAggregate::mean;
  if (name == "sum") return SageAggregate::sum;
  if (name == "max") return SageAggregate::max;
  throw UsageError(fmt::format("neighbours are aggregated by mean, sum or max, not \"{}\"", name));
}

std::string name_of(SageAggregate aggregate) {
  static constexpr const char* kNames[] = {"mean", "sum", "max"};
  return kNames[static_cast<std::size_t>(aggregate)];
}

NormKind parse_norm(const std::string& name) {
  if (name == "none") return NormKind::none;
  if (name == "batch") return NormKind::batch;
  if (name == "layer") return NormKind::layer;
  throw UsageError(fmt::format("outputs are normalised by none, batch or layer, not \"{}\"", name));
}

std::string name_of(NormKind norm) {
  static constexpr const char* kNames[] = {"none", "batch", "layer"};
  return kNames[static_cast<std::size_t>(norm)];
}

namespace {

/// What must be the same for an epoch to go on from its middle.
std::string batch_text(const TrainOptions& options, int ranks) {
  const std::string negatives =
      options.links ? fmt::format(", {} negative(s) each,", options.links->negatives) : "";
  return fmt::format("batches of {}{} on {} rank(s)", options.sampled->batch, negatives, ranks);
}

}  // namespace

void Trainer::save() {
  Parts& p = *parts_;
  if (p.options.checkpoint.empty()) return;
  const TraceSpan span("checkpoint", p.context().team().rank());
  // Every rank has the same: rank 0 writes, and the others wait for what may go wrong.
  if (p.context().team().rank() == 0) {
    const exec::Stream& stream = p.context().stream();
    const Parameters& parameters = p.model().parameters();
    const std::vector<float> current = parameters.values().to_host(stream);
    // Within the first epoch there is no best one yet.
    const std::vector<float> best = p.progress.best_epoch == 0 ? current : p.best.to_host(stream);
    TensorFile model;
    describe(model, p.options.model);
    describe_task(model, p.options);
    model.metadata["epoch"] = std::to_string(p.progress.best_epoch);
    add(model, "", parameters, best);
    TensorFile state;
    describe(state, p.options.model);
    describe_task(state, p.options);
    if (p.options.links) state.metadata["test_mrr"] = bits(p.progress.test_mrr);
    state.metadata["epoch"] = std::to_string(p.progress.epochs);
    state.metadata["best_epoch"] = std::to_string(p.progress.best_epoch);
    state.metadata["best_validation"] = bits(p.progress.best_validation);
    state.metadata["best_loss"] = bits(p.progress.best_loss);
    state.metadata["test_accuracy"] = bits(p.progress.test_accuracy);
    state.metadata["type"] = name_of(p.options.type);
    state.metadata[kOptimizer] = name_of(p.options.optimizer.kind);
    if (p.scale) {
      const LossScaleState scale = p.scale->state(stream);
      state.metadata["loss_scale"] = bits(static_cast<double>(scale.factor));
      state.metadata["loss_scale.good"] = std::to_string(scale.good);
      state.metadata["loss_scale.skipped"] = std::to_string(scale.skipped);
    }
    if (const auto& standing = p.progress.standing; standing.batches != 0) {
      state.metadata["batches"] = std::to_string(standing.batches);
      for (std::size_t i = 0; i < standing.sums.size(); ++i)
        state.metadata[fmt::format("sum.{}", i)] = bits(standing.sums.at(i));
    }
    if (p.options.sampled)
      state.metadata["batch"] = batch_text(p.options, p.context().team().size());
    add(state, "current.", parameters, current);
    add(state, "best.", parameters, best);
    add(state, "first.", parameters, p.optimizer.first().to_host(stream));
    if (p.optimizer.second().size() != 0)
      add(state, "second.", parameters, p.optimizer.second().to_host(stream));
    p.check_state(state);
    std::error_code error;
    std::filesystem::create_directories(p.options.checkpoint, error);
    write_tensors({{path_in(p.options.checkpoint, kModel), std::move(model)},
                   {path_in(p.options.checkpoint, kState), std::move(state)}});
  }
  p.context().team().barrier();
  p.has_checkpoint = true;
}

void Trainer::resume() {
  Parts& p = *parts_;
  const std::string path = path_in(p.options.checkpoint, kState);
  const TensorFile file = read_tensors(path);
  check_model(file, path, p.options);
  check_optimizer(file, path, p.options.optimizer.kind);
  Parameters& parameters = p.model().parameters();
  const exec::Stream& stream = p.context().stream();
  take(file, path, "current.", parameters, parameters.values(), stream);
  take(file, path, "best.", parameters, p.best, stream);
  take(file, path, "first.", parameters, p.optimizer.first(), stream);
  if (p.optimizer.second().size() != 0)
    take(file, path, "second.", parameters, p.optimizer.second(), stream);
  p.progress = {file.number("epoch", path),
                file.number("best_epoch", path),
                from_bits(file.number("best_validation", path)),
                from_bits(file.number("best_loss", path)),
                from_bits(file.number("test_accuracy", path)),
                p.options.links ? from_bits(file.number("test_mrr", path)) : 0.0,
                {}};
  if (p.scale && file.metadata.contains("loss_scale")) {
    p.scale->set(stream,
                 {.factor = static_cast<float>(from_bits(file.number("loss_scale", path))),
                  .good = static_cast<std::uint32_t>(file.number("loss_scale.good", path)),
                  .skipped = static_cast<std::uint32_t>(file.number("loss_scale.skipped", path))});
  }
  p.has_checkpoint = true;
  if (!file.metadata.contains("batches")) return;
  if (!p.options.sampled ||
      file.text("batch", path) != batch_text(p.options, p.context().team().size()))
    throw InputError(
        fmt::format("{}: it stands within an epoch of {}; go on with the same batches and as many "
                    "--devices",
                    path, file.text("batch", path)));
  p.progress.standing.batches = file.number("batches", path);
  for (std::size_t i = 0; i < p.progress.standing.sums.size(); ++i)
    p.progress.standing.sums.at(i) = from_bits(file.number(fmt::format("sum.{}", i), path));
}

void Trainer::load_model() {
  Parts& p = *parts_;
  const std::string path = path_in(p.options.checkpoint, kModel);
  take(read_tensors(path), path, "", p.model().parameters(), p.model().parameters().values(),
       p.context().stream());
}

bool is_link_model(const std::string& folder) {
  return is_of_links(read_tensors(path_in(folder, kModel)));
}

ModelOptions read_model_options(const std::string& folder) {
  const std::string path = path_in(folder, kModel);
  const TensorFile file = read_tensors(path);
  ModelOptions options;
  options.kind = parse_model(file.text("model", path));
  options.layers = file.number("layers", path);
  options.hidden = file.number("hidden", path);
  options.heads = file.number("heads", path);
  options.features = file.number("features", path);
  options.classes = file.number("classes", path);
  options.aggregate = parse_aggregate(file.text("aggregate", path));
  options.norm = parse_norm(file.text("norm", path));
  options.residual = file.number("residual", path) != 0;
  options.skip = file.metadata.contains(kSkip);
  options.seed = file.number("seed", path);
  return options;
}

}  // namespace warren::learn
