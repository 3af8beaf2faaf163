// SPDX-License-Identifier: Apache-2.0
// Names of models, types, norms, aggregates and optimisers, as faces and checkpoints spell them.
#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/learn/trainer.hpp"

namespace warren::learn {

std::string name_of(OptimizerKind kind) {
  static constexpr const char* kNames[] = {"sgd", "adam", "adamw"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string name_of(Schedule schedule) {
  static constexpr const char* kNames[] = {"constant", "cosine", "step"};
  return kNames[static_cast<std::size_t>(schedule)];
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

}  // namespace warren::learn
