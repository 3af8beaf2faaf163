// SPDX-License-Identifier: Apache-2.0
#include "train_options.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "warren/api/checks.hpp"
#include "warren/api/train_fields.hpp"

#include "option_rules.hpp"

namespace warren::app {
namespace {

/// A field's option, by the type that it has.
template <class Member>
void add_field(CLI::App& train, TrainOptions& options, const api::TrainField<Member>& field) {
  using Type = std::decay_t<decltype(std::optional{std::declval<Member>()}.value())>;
  Member& value = options.*field.member;
  if constexpr (std::is_same_v<Type, bool>)
    train.add_flag(field.option, value, field.help);
  else if constexpr (std::is_same_v<Type, std::string>)
    add_text(train, field.option, value, field.help, field.value);
  else if constexpr (std::is_floating_point_v<Type>)
    add_real(train, field.option, value, field.help, field.value, field.low, field.high);
  else
    add_number(train, field.option, value, field.help, field.value,
               static_cast<std::uint64_t>(field.low), static_cast<std::uint64_t>(field.high));
}

/// Switches of what GPUs do, and what is told.
void add_switches(CLI::App& train, TrainCommand& o) {
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

}  // namespace

void add_train_options(CLI::App& train, TrainCommand& command) {
  const auto add = [&](const auto& field) { add_field(train, command.train, field); };
  add_dataset_options(train, command.dataset);
  api::each_model_field(add);
  add_switches(train, command);
  api::each_optimizer_field(add);
  add_text(train, "--fanout", command.fanout,
           "Of sampled: neighbours of each vertex, hop by hop from the batch's own vertices; "
           "-1 for all (15,10)",
           "F1,F2,...");
  api::each_sampled_field(add);
  train.get_option("--skip")->excludes("--residual");
  train.get_option("--overwrite")->excludes("--resume");
  train.get_option("--allow-changes")->needs("--resume");
  train.get_option("--capture-batches")->excludes("--no-capture");
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
