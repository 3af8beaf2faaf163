// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a training: what is written, and what is asked of what is read.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"

#include "learn/train/checkpoint_names.hpp"
#include "learn/train/trainer_parts.hpp"

namespace warren::learn {
namespace {

using Json = nlohmann::ordered_json;

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

constexpr const char* kSkip = "skip";                 // Absent: 0.
constexpr const char* kEdgeWeights = "edge_weights";  // Absent: edges count 1.

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
  if (options.edge_weights) m.emplace(kEdgeWeights, "1");
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

const std::string kOption = "option.";    // Before the settings' names.
const std::string kDataset = "dataset.";  // Before the mark's parts.
constexpr const char* kLoss = "loss";
constexpr const char* kType = "type";
constexpr const char* kHistory = "history";

/// What there is to learn, and by which options.
void describe_training(TensorFile& file, const TrainOptions& options, LossKind loss,
                       const DatasetMark& mark) {
  auto& m = file.metadata;
  m[kType] = name_of(options.type);
  m[kLoss] = loss == LossKind::binary ? "binary" : "cross_entropy";
  for (const auto& [name, value] : settings_of(options)) m[kOption + name] = value;
  m[kDataset + "vertices"] = std::to_string(mark.vertices);
  m[kDataset + "edges"] = std::to_string(mark.edges);
  m[kDataset + "features"] = std::to_string(mark.features);
  m[kDataset + "classes"] = std::to_string(mark.classes);
  m[kDataset + "graph_hash"] = std::to_string(mark.graph_hash);
  m[kDataset + "weights_hash"] = std::to_string(mark.weights_hash);
  m[kDataset + "features_hash"] = std::to_string(mark.features_hash);
  m[kDataset + "labels_hash"] = std::to_string(mark.labels_hash);
}

Settings settings_in(const TensorFile& file) {
  Settings settings;
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with(kOption)) settings[key.substr(kOption.size())] = value;
  }
  return settings;
}

/// None in checkpoints that do not have one. Where there is no hash of weights, the one of edges
/// has them in it: of a weighted graph both are then taken as those of `given`.
std::optional<DatasetMark> mark_in(const TensorFile& file, const std::string& path,
                                   const DatasetMark& given = {}) {
  if (!file.metadata.contains(kDataset + "vertices")) return std::nullopt;
  const auto number = [&](const char* name) { return file.number(kDataset + name, path); };
  const bool has_weights = file.metadata.contains(kDataset + "weights_hash");
  const bool is_mixed = !has_weights && given.weights_hash != 0;
  return DatasetMark{.vertices = number("vertices"),
                     .edges = number("edges"),
                     .features = number("features"),
                     .classes = number("classes"),
                     .graph_hash = is_mixed ? given.graph_hash : number("graph_hash"),
                     .weights_hash = has_weights ? number("weights_hash") : given.weights_hash,
                     .features_hash = number("features_hash"),
                     .labels_hash = number("labels_hash")};
}

void check_dataset(const TensorFile& file, const std::string& path, const DatasetMark& mark) {
  const auto stored = mark_in(file, path, mark);
  if (!stored) return;
  const std::string text = difference(*stored, mark);
  if (!text.empty())
    throw InputError(fmt::format(
        "{}: {}: a training goes on with the dataset that it began with, made by the same options; "
        "for another one name another --checkpoint folder",
        path, text));
}

void check_model(const TensorFile& file, const std::string& path, const TrainOptions& trained) {
  const ModelOptions& options = trained.model;
  check_task(path, is_of_links(file) ? "link" : "node", trained.links ? "link" : "node");
  if (file.metadata.contains(kSkip) != options.skip)
    throw InputError(fmt::format("{}: its layers have {}skip matrices, but this model's have {}",
                                 path, options.skip ? "no " : "", options.skip ? "some" : "none"));
  if (file.metadata.contains(kEdgeWeights) != options.edge_weights)
    throw InputError(fmt::format("{}: its edges count {}, but this model's count {}", path,
                                 options.edge_weights ? "1 each" : "their weights",
                                 options.edge_weights ? "their weights" : "1 each"));
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

namespace {

/// What must be the same for an epoch to go on from its middle.
std::string batch_text(const TrainOptions& options, int ranks) {
  const std::string negatives =
      options.links ? fmt::format(", {} negative(s) each,", options.links->negatives) : "";
  return fmt::format("batches of {}{} on {} rank(s)", options.sampled->batch, negatives, ranks);
}

constexpr std::size_t kRecordNumbers = 3 + 3 * kSplits;

/// A list of numbers an epoch: its number, loss and seconds, then each split's loss, accuracy and
/// reciprocal rank.
std::string history_text(const std::vector<EpochRecord>& history) {
  Json all = Json::array();
  for (const EpochRecord& record : history) {
    Json one = {record.epoch, record.loss, record.seconds};
    for (const SplitScore& score : record.scores) {
      one.push_back(score.loss);
      one.push_back(score.accuracy);
      one.push_back(score.mrr);
    }
    all.push_back(std::move(one));
  }
  return all.dump();
}

std::vector<EpochRecord> history_in(const TensorFile& file, const std::string& path) {
  std::vector<EpochRecord> history;
  const auto found = file.metadata.find(kHistory);
  if (found == file.metadata.end()) return history;
  try {
    // Not by Json, whose objects are searched from their front for each key.
    for (const nlohmann::json& one : nlohmann::json::parse(found->second)) {
      if (one.size() != kRecordNumbers) throw InputError(path + ": its history is damaged");
      EpochRecord record;
      record.epoch = one[0].get<std::uint64_t>();
      if (record.epoch <= (history.empty() ? 0 : history.back().epoch))
        throw InputError(path + ": its history is damaged");
      record.loss = one[1].get<double>();
      record.seconds = one[2].get<double>();
      for (std::size_t s = 0; s < kSplits; ++s) {
        record.scores.at(s) = {one[3 + 3 * s].get<double>(), one[4 + 3 * s].get<double>(),
                               one[5 + 3 * s].get<double>()};
      }
      history.push_back(record);
    }
  } catch (const Json::exception&) {
    throw InputError(path + ": its history is damaged");
  }
  return history;
}

// More than any training does; what counts batches of all epochs stays within 64 bits.
constexpr std::uint64_t kMostEpochs = std::uint64_t{1} << 31;

[[noreturn]] void refuse_text(const TensorFile& file, const std::string& path,
                              const std::string& key, const std::string& right) {
  throw InputError(
      fmt::format("{}: its {} is {}; {} would be right", path, key, file.text(key, path), right));
}

std::uint64_t number_to(const TensorFile& file, const std::string& path, const std::string& key,
                        std::uint64_t most) {
  const std::uint64_t number = file.number(key, path);
  if (number > most) refuse_text(file, path, key, fmt::format("0 to {}", most));
  return number;
}
double finite(const TensorFile& file, const std::string& path, const std::string& key) {
  const double real = file.real(key, path);
  if (!std::isfinite(real)) refuse_text(file, path, key, "a finite number");
  return real;
}
double share(const TensorFile& file, const std::string& path, const std::string& key) {
  const double real = file.real(key, path);
  if (!(real >= 0.0 && real <= 1.0)) refuse_text(file, path, key, "0 to 1");
  return real;
}

}  // namespace

void Trainer::Parts::describe_progress(TensorFile& state) const {
  auto& m = state.metadata;
  m["epoch"] = std::to_string(progress.epochs);
  m["best_epoch"] = std::to_string(progress.best_epoch);
  state.set_real("best_validation", progress.best_validation);
  state.set_real("best_loss", progress.best_loss);
  state.set_real("test_accuracy", progress.test_accuracy);
  if (options.links) state.set_real("test_mrr", progress.test_mrr);
  m[kOptimizer] = name_of(options.optimizer.kind);
  m[kHistory] = history_text(progress.history);
  if (const auto& standing = progress.standing; standing.batches != 0) {
    m["batches"] = std::to_string(standing.batches);
    for (std::size_t i = 0; i < standing.sums.size(); ++i)
      state.set_real(fmt::format("sum.{}", i), standing.sums.at(i));
  }
}

void Trainer::Parts::take_progress(const TensorFile& file, const std::string& path) {
  progress = {};
  progress.epochs = number_to(file, path, "epoch", kMostEpochs);
  progress.best_epoch = number_to(file, path, "best_epoch", progress.epochs);
  progress.best_validation = share(file, path, "best_validation");
  progress.best_loss = finite(file, path, "best_loss");
  progress.test_accuracy = share(file, path, "test_accuracy");
  if (options.links) progress.test_mrr = share(file, path, "test_mrr");
  progress.history = history_in(file, path);
  if (!progress.history.empty() && progress.history.back().epoch > progress.epochs)
    throw InputError(path + ": its history is of more epochs than it has");
}

TensorFile Trainer::Parts::model_file(const std::vector<float>& best_ones) {
  TensorFile file;
  describe(file, options.model);
  describe_task(file, options);
  describe_training(file, options, loss, mark);
  file.metadata["epoch"] = std::to_string(progress.best_epoch);
  add(file, "", model().parameters(), best_ones);
  return file;
}

std::vector<float> Trainer::Parts::best_values(const std::vector<float>& current) {
  return progress.best_epoch == 0 ? current : updates.best.to_host(context().stream());
}

TensorFile Trainer::model_file() {
  Parts& p = *parts_;
  return p.model_file(p.best_values(p.model().parameters().values().to_host(p.context().stream())));
}

std::vector<std::pair<std::string, TensorFile>> Trainer::Parts::checkpoint_content() {
  const exec::Stream& stream = context().stream();
  const Parameters& parameters = model().parameters();
  const std::vector<float> current = parameters.values().to_host(stream);
  const std::vector<float> best_ones = best_values(current);
  TensorFile file = model_file(best_ones);
  TensorFile state;
  state.metadata = file.metadata;
  describe_progress(state);
  if (updates.scale) {
    const LossScaleState now = updates.scale->state(stream);
    state.set_real("loss_scale", static_cast<double>(now.factor));
    state.metadata["loss_scale.good"] = std::to_string(now.good);
    state.metadata["loss_scale.skipped"] = std::to_string(now.skipped);
  }
  if (options.sampled) state.metadata["batch"] = batch_text(options, context().team().size());
  add(state, "current.", parameters, current);
  add(state, "best.", parameters, best_ones);
  add(state, "first.", parameters, updates.optimizer.first().to_host(stream));
  if (updates.optimizer.second().size() != 0)
    add(state, "second.", parameters, updates.optimizer.second().to_host(stream));
  check_state(state);
  std::error_code error;
  std::filesystem::create_directories(options.checkpoint, error);
  return {{path_in(options.checkpoint, kModel), std::move(file)},
          {path_in(options.checkpoint, kState), std::move(state)}};
}

void Trainer::Parts::check_room() {
  if (options.checkpoint.empty()) return;
  if (context().team().rank() == 0) check_room_for_tensors(checkpoint_content());
  context().team().barrier();
}

void Trainer::save() {
  Parts& p = *parts_;
  if (p.options.checkpoint.empty()) return;
  const TraceSpan span("checkpoint", p.context().team().rank());
  // Every rank has the same: rank 0 writes, and the others wait for what may go wrong.
  if (p.context().team().rank() == 0) write_tensors(p.checkpoint_content());
  p.context().team().barrier();
  p.has_checkpoint = true;
}

void Trainer::resume() {
  Parts& p = *parts_;
  const std::string path = path_in(p.options.checkpoint, kState);
  const TensorFile file = read_tensors(path);
  check_model(file, path, p.options);
  check_optimizer(file, path, p.options.optimizer.kind);
  check_dataset(file, path, p.mark);
  Parameters& parameters = p.model().parameters();
  const exec::Stream& stream = p.context().stream();
  take(file, path, "current.", parameters, parameters.values(), stream);
  take(file, path, "best.", parameters, p.updates.best, stream);
  take(file, path, "first.", parameters, p.updates.optimizer.first(), stream);
  if (p.updates.optimizer.second().size() != 0)
    take(file, path, "second.", parameters, p.updates.optimizer.second(), stream);
  p.take_progress(file, path);
  if (p.updates.scale && file.metadata.contains("loss_scale")) {
    constexpr std::uint64_t kMostSteps = 0xffffffff;
    p.updates.scale->set(
        stream,
        {.factor = static_cast<float>(finite(file, path, "loss_scale")),
         .good = static_cast<std::uint32_t>(number_to(file, path, "loss_scale.good", kMostSteps)),
         .skipped =
             static_cast<std::uint32_t>(number_to(file, path, "loss_scale.skipped", kMostSteps))});
  }
  p.has_checkpoint = true;
  if (!file.metadata.contains("batches")) return;
  if (!p.options.sampled ||
      file.text("batch", path) != batch_text(p.options, p.context().team().size()))
    throw InputError(
        fmt::format("{}: it stands within an epoch of {}; go on with the same batches and as many "
                    "--devices",
                    path, file.text("batch", path)));
  p.progress.standing.batches = number_to(file, path, "batches", p.sampled->batches());
  for (std::size_t i = 0; i < p.progress.standing.sums.size(); ++i)
    p.progress.standing.sums.at(i) = finite(file, path, fmt::format("sum.{}", i));
}

std::optional<bool> Trainer::load_model() {
  const std::string path = model_path(parts_->options.checkpoint);
  return load_model(read_tensors(path), path);
}

std::optional<bool> Trainer::load_model(const TensorFile& file, const std::string& where) {
  Parts& p = *parts_;
  take(file, where, "", p.model().parameters(), p.model().parameters().values(),
       p.context().stream());
  const auto stored = mark_in(file, where);
  if (!stored) return std::nullopt;
  // Weights that do not enter the sums are no inputs.
  return has_same_inputs(*stored, p.mark) &&
         (!p.options.model.edge_weights || stored->weights_hash == p.mark.weights_hash);
}

namespace {

/// Throws UsageError for what is no model: its matrices, which are in the file, say how wide it can
/// be.
ModelOptions model_options_in(const TensorFile& file, const std::string& path) {
  std::uint64_t most = 1 << 16;
  for (const NamedTensor& tensor : file.tensors) most = std::max(most, tensor.values.size());
  ModelOptions options;
  options.kind = parse_model(file.text("model", path));
  options.layers = file.number("layers", path);
  options.hidden = number_to(file, path, "hidden", most);
  options.heads = number_to(file, path, "heads", most);
  options.features = number_to(file, path, "features", most);
  options.classes = number_to(file, path, "classes", most);
  options.aggregate = parse_aggregate(file.text("aggregate", path));
  options.norm = parse_norm(file.text("norm", path));
  options.residual = file.number("residual", path) != 0;
  options.skip = file.metadata.contains(kSkip);
  options.edge_weights = file.metadata.contains(kEdgeWeights);
  options.seed = file.number("seed", path);
  check(options);
  return options;
}

}  // namespace

ModelOptions read_model_options(const std::string& folder) { return read_checkpoint(folder).model; }

std::string model_path(const std::string& folder) { return path_in(folder, kModel); }

Checkpoint read_checkpoint(const std::string& folder) {
  const std::string path = model_path(folder);
  return checkpoint_of(read_tensors(path), path);
}

Checkpoint checkpoint_of(const TensorFile& file, const std::string& where) {
  Checkpoint found;
  found.is_of_links = is_of_links(file);
  found.settings = settings_in(file);
  found.dataset = mark_in(file, where);
  try {
    found.model = model_options_in(file, where);
    if (file.metadata.contains(kType)) found.type = parse_type(file.text(kType, where));
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
  if (file.metadata.contains(kLoss) && file.text(kLoss, where) == "binary")
    found.loss = LossKind::binary;
  return found;
}

Settings read_state_settings(const std::string& folder) {
  return settings_in(read_tensors(path_in(folder, kState)));
}

bool has_state(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(path_in(folder, kState), error);
}

void check_is_free(const std::string& folder) {
  std::error_code error;
  const bool has_model = std::filesystem::exists(path_in(folder, kModel), error);
  if (!has_model && !has_state(folder)) return;
  const char* goes_on = has_state(folder) ? "--resume to go on from it, " : "";
  throw UsageError(fmt::format(
      "{} has a trained model already ({}{}): give {}--overwrite to replace it, or another folder",
      folder, has_model ? kModel : kState,
      has_state(folder) ? "" : " without a state to go on from", goes_on));
}

}  // namespace warren::learn
