// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/settings.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/train/trainer_parts.hpp"

namespace warren::learn {
namespace {

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(std::uint64_t value) { return std::to_string(value); }
std::string text(float value) { return fmt::format("{}", value); }
std::string text(const std::optional<std::vector<float>>& class_weights) {
  if (!class_weights) return "none";
  return class_weights->empty() ? "balanced" : fmt::format("{}", fmt::join(*class_weights, ","));
}

// Whatever the checkpoint is read for.
constexpr std::string_view kFree[] = {"epochs", "patience", "graph", "labels"};
// Another value makes another training of the same model.
constexpr std::string_view kOfTraining[] = {
    "mode",          "type",   "dropout", "lr",        "weight-decay", "schedule", "warmup", "clip",
    "class-weights", "fanout", "batch",   "negatives", "replace",      "weighted", "reorder"};
// What the model's inputs are made by.
constexpr std::string_view kOfInputs[] = {"normalize", "symmetrize", "drop-self-loops",
                                          "keep-duplicates"};

template <std::size_t N>
bool is_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(names, names + N, name) != names + N;
}

/// "--lr 0.01"; of switches "--symmetrize", or "no --symmetrize".
std::string option_text(const std::string& name, const std::string& value) {
  if (value == "true") return "--" + name;
  if (value == "false") return "no --" + name;
  return fmt::format("--{} {}", name, value);
}

template <class F>
void for_each_difference(const Settings& stored, const Settings& given, F&& f) {
  for (const auto& [name, value] : given) {
    const auto found = stored.find(name);
    if (found != stored.end() && found->second != value) f(name, found->second, value);
  }
}

}  // namespace

void check_task(const std::string& where, const std::string& stored, const std::string& given) {
  if (stored == given) return;
  throw InputError(fmt::format("{}: its model is of {}, but this one's task is {}", where,
                               stored == "link" ? "links" : "classes of vertices", given));
}

Settings settings_of(const TrainOptions& o) {
  Settings s = o.inputs;
  s["task"] = o.links ? "link" : "node";
  s["model"] = name_of(o.model.kind);
  s["layers"] = text(o.model.layers);
  s["hidden"] = text(o.model.hidden);
  s["heads"] = text(o.model.heads);
  s["aggregate"] = name_of(o.model.aggregate);
  s["norm"] = name_of(o.model.norm);
  s["residual"] = text(o.model.residual);
  s["skip"] = text(o.model.skip);
  s["edge-weights"] = text(o.model.edge_weights);
  s["dropout"] = text(o.model.dropout);
  s["seed"] = text(o.model.seed);
  s["type"] = name_of(o.type);
  s["optimizer"] = name_of(o.optimizer.kind);
  s["lr"] = text(o.optimizer.rate);
  s["weight-decay"] = text(o.optimizer.weight_decay);
  s["schedule"] = name_of(o.optimizer.schedule);
  s["warmup"] = text(o.optimizer.warmup);
  s["clip"] = text(o.optimizer.clip);
  s["class-weights"] = text(o.class_weights);
  s["epochs"] = text(o.epochs);
  s["patience"] = text(o.patience);
  s["mode"] = o.sampled ? "sampled" : "full";
  if (o.sampled) {
    s["fanout"] = fmt::format("{}", fmt::join(o.sampled->fanouts, ","));
    s["replace"] = text(o.sampled->replace);
    s["weighted"] = text(o.sampled->weighted);
  }
  if (o.links) s["negatives"] = text(o.links->negatives);
  return s;
}

void refuse_change(const std::string& folder, Purpose purpose, const std::string& name,
                   const std::string& before, const std::string& now, bool may_change) {
  const char* trained = purpose == Purpose::resume ? "training goes on" : "it predicts";
  throw UsageError(fmt::format(
      "{}: its model was trained with {}, but {} is given: {} with what is stored where the option "
      "is left out{}",
      folder, option_text(name, before), option_text(name, now), trained,
      may_change ? ", and with other values under --allow-changes" : ""));
}

bool check_settings(const std::string& folder, Purpose purpose, const Settings& stored,
                    const Settings& given, bool allows_changes) {
  const auto stored_task = stored.find("task"), given_task = given.find("task");
  if (stored_task != stored.end() && given_task != given.end())
    check_task(folder, stored_task->second, given_task->second);
  bool has_passed = false;
  for_each_difference(
      stored, given,
      [&](const std::string& name, const std::string& before, const std::string& now) {
        if (is_of(kFree, name)) return;
        const bool may_change =
            purpose == Purpose::resume ? is_of(kOfTraining, name) : is_of(kOfInputs, name);
        if (purpose == Purpose::predict && !may_change) return;
        if (!may_change || !allows_changes)
          refuse_change(folder, purpose, name, before, now, may_change);
        has_passed = true;
      });
  return has_passed;
}

std::vector<std::string> changed_settings(const Settings& stored, const Settings& given) {
  std::vector<std::string> changes;
  for_each_difference(
      stored, given,
      [&](const std::string& name, const std::string& before, const std::string& now) {
        if (!is_of(kFree, name))
          changes.push_back(fmt::format("{}: {}, now {}", name, before, now));
      });
  return changes;
}

}  // namespace warren::learn
