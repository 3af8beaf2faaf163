// SPDX-License-Identifier: Apache-2.0
// Datasets, trainings and models. Matrices come and go as one row after another, in one dimension.
#include "warren/api/train.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "warren/api/checks.hpp"
#include "warren/api/dataset_name.hpp"
#include "warren/api/report_training.hpp"
#include "warren/api/train_fields.hpp"

#include "run.hpp"

namespace warren::python {
namespace {

/// Raises FileNotFoundError for what is no dataset.
Dataset read(const std::string& name, const DatasetOptions& options) {
  std::optional<Dataset> dataset;
  std::string missing;
  unlocked([&] {
    try {
      (void)api::find_dataset(name);
    } catch (const InputError& error) {
      std::error_code ignored;
      if (std::filesystem::exists(name, ignored)) throw;
      missing = error.what();
      return;
    }
    dataset.emplace(read_dataset(name, options));
  });
  if (!dataset) file_not_found(in_python_words(missing).c_str());
  return *dataset;
}

template <class T>
std::span<const T> span_where(const std::optional<Input<T>>& array) {
  return array ? span_of(*array) : std::span<const T>{};
}

Dataset dataset_of(const GraphHandle& graph, const Input<float>& features,
                   const std::optional<Input<std::int32_t>>& labels,
                   const std::optional<Input<std::uint8_t>>& label_rows, const Input<Vertex>& train,
                   const Input<Vertex>& validation, const Input<Vertex>& test) {
  return unlocked([&] {
    return make_dataset(*graph, {.features = span_of(features),
                                 .labels = span_where(labels),
                                 .label_rows = span_where(label_rows),
                                 .train = span_of(train),
                                 .validation = span_of(validation),
                                 .test = span_of(test)});
  });
}

/// By the names of the command line's JSON.
nb::dict dict_of(const learn::EpochRecord& record, bool is_of_links) {
  nb::dict epoch;
  epoch["epoch"] = record.epoch;
  epoch["loss"] = record.loss;
  epoch["train_accuracy"] = record.scores[0].accuracy;
  epoch["validation_accuracy"] = record.scores[1].accuracy;
  epoch["validation_loss"] = record.scores[1].loss;
  epoch["test_accuracy"] = record.scores[2].accuracy;
  epoch["seconds"] = record.seconds;
  if (!is_of_links) return epoch;
  epoch["validation_mrr"] = record.scores[1].mrr;
  epoch["test_mrr"] = record.scores[2].mrr;
  return epoch;
}

template <class Options>
void set_place(Options& options, const Run& run) {
  if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
  options.devices = run.devices;
  options.session = run.session;
}

nb::tuple train_of(const Dataset& dataset, TrainOptions options, const nb::object& progress,
                   const Run& run) {
  set_place(options, run);
  const bool is_of_links = options.task == "link";
  std::optional<nb::python_error> failure;  // Of `progress`, which a rank's thread calls.
  if (!progress.is_none()) {
    options.progress = [&](const learn::EpochRecord& record) {
      const Entered interpreter;
      if (!interpreter) throw Interrupted("the interpreter ends");
      try {
        progress(dict_of(record, is_of_links));
      } catch (nb::python_error& error) {
        failure.emplace(std::move(error));
        throw Interrupted("the training was ended by its progress function");
      }
    };
  }
  std::optional<TrainResult> found;
  try {
    found.emplace(unlocked([&] { return train(dataset, options); }));
  } catch (const Interrupted&) {
    if (failure) throw nb::python_error(std::move(*failure));
    throw;
  }
  nb::list history;
  for (const learn::EpochRecord& record : found->history)
    history.append(dict_of(record, is_of_links));
  const learn::TrainResult& summary = found->summary;
  return nb::make_tuple(
      history, summary.epochs, summary.best_epoch, summary.best_validation, summary.test_accuracy,
      summary.test_mrr, summary.chance, summary.has_stopped_early, found->model,
      array_of(std::move(found->scores)), found->normalize, found->batches, found->peak_memory,
      found->warnings, info_of(found->info), found->strategy, found->strategy_reason,
      api::to_json(*found->report), api::in_library_words(api::to_text(*found->report)));
}

nb::tuple predict_of(const Dataset& dataset, const Model& model, bool embeddings,
                     const std::string& normalize, bool allow_changes, bool allow_tf32,
                     const Run& run) {
  PredictOptions options;
  options.allow_tf32 = allow_tf32;
  options.embeddings = embeddings;
  options.normalize = normalize;
  options.allow_changes = allow_changes;
  set_place(options, run);
  PredictResult found = unlocked([&] { return predict(dataset, model, options); });
  nb::object accuracy = nb::none();
  if (found.accuracy) {
    const learn::Scores& scores = *found.accuracy;
    accuracy = nb::make_tuple(scores[0].accuracy, scores[1].accuracy, scores[2].accuracy);
  }
  return nb::make_tuple(array_of(std::move(found.scores)), found.columns,
                        array_of(std::move(found.labels)), array_of(std::move(found.embeddings)),
                        accuracy, found.is_trained_on, found.warnings, info_of(found.info),
                        api::to_json(*found.report),
                        api::in_library_words(api::to_text(*found.report)));
}

/// Arrays of a row or several rows each, that keep the model alive.
nb::list model_weights(const Model& model) {
  nb::list weights;
  for (const learn::NamedTensor& tensor : model.weights())
    weights.append(nb::make_tuple(
        tensor.name, tensor.rows, tensor.columns,
        array_of(tensor.values.data(), tensor.values.size(), std::make_unique<Model>(model))));
  return weights;
}

/// The same with other numbers: `values` are those of all its weights, one after another.
Model with_values(const Model& model, const Input<float>& values) {
  learn::TensorFile file = model.file();
  const float* from = values.data();
  for (learn::NamedTensor& tensor : file.tensors) {
    std::copy_n(from, tensor.values.size(), tensor.values.begin());
    from += tensor.values.size();
  }
  return Model(std::move(file));
}

nb::dict model_facts(const Model& model) {
  nb::dict facts;
  for (const auto& [name, value] : model.file().metadata)
    facts[nb::str(name.data(), name.size())] = nb::steal(PyUnicode_DecodeUTF8(
        value.data(), static_cast<Py_ssize_t>(value.size()), "surrogateescape"));
  return facts;
}

/// "--weight-decay" is weight_decay.
std::string python_name(std::string option) {
  option.erase(0, 2);
  std::ranges::replace(option, '-', '_');
  return option;
}

/// (least, largest) of each number, by the option's name.
nb::dict train_ranges() {
  nb::dict ranges;
  api::each_train_field([&](const auto& field) {
    if (field.high == 0.0) return;
    using Member = std::decay_t<decltype(TrainOptions{}.*field.member)>;
    const std::string name = python_name(field.option);
    if constexpr (std::is_same_v<Member, double> || std::is_same_v<Member, std::optional<double>>)
      ranges[name.c_str()] = nb::make_tuple(field.low, field.high);
    else
      ranges[name.c_str()] = nb::make_tuple(static_cast<std::int64_t>(field.low),
                                            static_cast<std::int64_t>(field.high));
  });
  return ranges;
}

void bind_options(nb::module_& module) {
  nb::class_<TrainOptions> options(module, "TrainOptions");
  options.def(nb::init<>())
      .def_rw("seed", &TrainOptions::seed)
      .def_rw("normalize", &TrainOptions::normalize)
      .def_rw("method", &TrainOptions::method)
      .def_rw("reorder", &TrainOptions::reorder)
      .def_rw("fanout", &TrainOptions::fanout, nb::arg().none())
      .def_rw("deterministic", &TrainOptions::deterministic)
      .def_rw("capture", &TrainOptions::capture)
      .def_rw("allow_tf32", &TrainOptions::allow_tf32)
      .def_rw("tensor_sums", &TrainOptions::tensor_sums, nb::arg().none());
  api::each_train_field([&](const auto& field) {
    const std::string name = python_name(field.option);
    if constexpr (requires { *(TrainOptions{}.*field.member); })
      options.def_rw(name.c_str(), field.member, nb::arg().none());
    else
      options.def_rw(name.c_str(), field.member);
  });
  nb::class_<DatasetOptions>(module, "DatasetOptions")
      .def(nb::init<>())
      .def_rw("graph", &DatasetOptions::graph)
      .def_rw("features", &DatasetOptions::features)
      .def_rw("classes", &DatasetOptions::classes)
      .def_rw("labels", &DatasetOptions::labels);
}

void bind_classes(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset")
      .def("graph", [](const Dataset& self) { return new GraphHandle(Graph(self.graph())); })
      .def_prop_ro("features", &Dataset::features)
      .def_prop_ro("classes", &Dataset::classes)
      .def_prop_ro("is_labelled", &Dataset::is_labelled)
      .def_prop_ro("counts",
                   [](const Dataset& self) {
                     const auto& counts = self.content().counts;
                     return std::make_tuple(counts[0], counts[1], counts[2]);
                   })
      .def_prop_ro("name", &Dataset::name);
  nb::class_<Model>(module, "Model")
      .def("weights", &model_weights,
           nb::sig("def weights(self) -> list[tuple[str, int, int, "
                   "numpy.typing.NDArray[numpy.float32]]]"))
      .def("facts", &model_facts, nb::sig("def facts(self) -> dict[str, str]"))
      .def_prop_ro("classes", [](const Model& self) { return self.facts().model.classes; })
      .def_prop_ro("is_of_links", [](const Model& self) { return self.facts().is_of_links; })
      .def_prop_ro("has_several_labels",
                   [](const Model& self) { return self.facts().loss == learn::LossKind::binary; })
      .def("with_values", &with_values, nb::arg("values"))
      .def(
          "save",
          [](const Model& self, const std::string& folder) {
            unlocked([&] { self.save(folder); });
          },
          nb::arg("folder"));
}

}  // namespace

void bind_train(nb::module_& module) {
  bind_options(module);
  module.def("train_ranges", &train_ranges,
             nb::sig("def train_ranges() -> dict[str, tuple[typing.Any, typing.Any]]"));
  bind_classes(module);
  module.def("read_dataset", &read, nb::arg("name"), nb::arg("options"));
  module.def("make_dataset", &dataset_of, nb::arg("graph"), nb::arg("features"),
             nb::arg("labels").none(), nb::arg("label_rows").none(), nb::arg("train"),
             nb::arg("validation"), nb::arg("test"));
  module.def(
      "load_model",
      [](const std::string& folder) { return unlocked([&] { return load_model(folder); }); },
      nb::arg("folder"));
  module.def(
      "dataset_options",
      [](const Model& model, const std::string& name) { return dataset_options(model, name); },
      nb::arg("model"), nb::arg("name"));
  module.def("train", &train_of, nb::arg("dataset"), nb::arg("options"), nb::arg("progress").none(),
             nb::arg("run"),
             nb::sig("def train(dataset: Dataset, options: TrainOptions, "
                     "progress: typing.Any, run: Run) -> tuple[typing.Any, ...]"));
  module.def("predict", &predict_of, nb::arg("dataset"), nb::arg("model"), nb::arg("embeddings"),
             nb::arg("normalize"), nb::arg("allow_changes"), nb::arg("allow_tf32"), nb::arg("run"),
             nb::sig("def predict(dataset: Dataset, model: Model, embeddings: bool, "
                     "normalize: str, allow_changes: bool, allow_tf32: bool, run: Run) -> "
                     "tuple[typing.Any, ...]"));
}

}  // namespace warren::python
