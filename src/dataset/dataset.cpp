// SPDX-License-Identifier: Apache-2.0
#include "warren/dataset/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/dataset/random.hpp"
#include "warren/exec/memory.hpp"

namespace warren::learn {

void finish_dataset(Dataset& dataset, const std::string& where) {
  static constexpr const char* kNames[] = {"training", "validation", "test"};
  dataset.counts = {};
  for (const std::uint8_t split : dataset.splits) {
    if (split != kNoSplit) ++dataset.counts.at(split - 1u);
  }
  for (std::size_t s = 0; s < kSplits; ++s) {
    if (dataset.counts.at(s) == 0)
      throw InputError(fmt::format("{}: there are no {} vertices", where, kNames[s]));
  }
  if (dataset.loss != LossKind::cross_entropy) return;
  std::vector<bool> is_seen(dataset.classes, false);
  for (std::uint64_t v = 0; v < dataset.vertices; ++v) {
    if (dataset.splits[v] == kTrain) is_seen[static_cast<std::uint64_t>(dataset.labels[v])] = true;
  }
  std::vector<std::uint64_t> unseen;
  for (std::uint64_t c = 0; c < dataset.classes; ++c) {
    if (!is_seen[c]) unseen.push_back(c);
  }
  if (unseen.empty()) return;
  const std::size_t shown = std::min<std::size_t>(unseen.size(), 5);
  dataset.warnings.push_back(fmt::format(
      "{}: {} of {} classes have no training vertex and cannot be learnt: {}{}", where,
      unseen.size(), dataset.classes,
      fmt::join(unseen.begin(), unseen.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < unseen.size() ? ", ..." : ""));
}

namespace {

/// How many labels vertex v has, which one (the last), 0 and -1 of none.
std::pair<std::uint64_t, std::int32_t> labels_of(const Dataset& dataset, std::uint64_t v) {
  std::pair<std::uint64_t, std::int32_t> found{0, -1};
  for (std::uint64_t c = 0; c < dataset.classes; ++c) {
    if (dataset.targets[v * dataset.classes + c] == 0.0f) continue;
    ++found.first;
    found.second = static_cast<std::int32_t>(c);
  }
  return found;
}

}  // namespace

void settle_labels(Dataset& dataset, LabelForm form, const std::string& where) {
  if (dataset.loss != LossKind::binary) {
    if (form == LabelForm::several)
      throw InputError(where +
                       ": labels are one number a vertex; --labels several needs a row of 0 and 1 "
                       "for each");
    if (form == LabelForm::classes)
      dataset.warnings.push_back(where +
                                 ": --labels has no effect: labels are one number a vertex");
    return;
  }
  if (form == LabelForm::several) return;
  std::vector<std::int32_t> classes(dataset.vertices);
  std::uint64_t without = 0;
  for (std::uint64_t v = 0; v < dataset.vertices; ++v) {
    const auto [count, label] = labels_of(dataset, v);
    without += count == 0 ? 1 : 0;
    if (form == LabelForm::automatic && count > 1) return;
    if (count > 1)
      throw InputError(fmt::format(
          "{}: vertex {} has {} labels; --labels classes needs rows of one", where, v, count));
    classes[v] = label;
  }
  if (form == LabelForm::automatic && without > 0) {
    if (without < dataset.vertices)
      dataset.warnings.push_back(fmt::format(
          "{}: no vertex has more than one of {} labels, {} have none: each label is learnt by "
          "itself (--labels classes: they are classes, and rows of 0 are unlabelled; --labels "
          "several: as now, without this line)",
          where, dataset.classes, without));
    return;
  }
  dataset.loss = LossKind::cross_entropy;
  dataset.labels = std::move(classes);
  dataset.targets = {};
  if (form == LabelForm::automatic)
    dataset.warnings.push_back(fmt::format(
        "{}: every vertex has exactly one of {} labels, which are taken for classes (--labels "
        "several: each label is learnt by itself; --labels classes: as now, without this line)",
        where, dataset.classes));
}

namespace {

/// Vertices of the validation with each label.
std::vector<std::uint64_t> validated_labels(const Dataset& dataset) {
  std::vector<std::uint64_t> count(dataset.classes, 0);
  for (std::uint64_t v = 0; v < dataset.vertices; ++v) {
    if (dataset.splits[v] != kValidation) continue;
    if (dataset.loss == LossKind::cross_entropy) {
      if (dataset.labels[v] >= 0) ++count[static_cast<std::uint64_t>(dataset.labels[v])];
      continue;
    }
    for (std::uint64_t c = 0; c < dataset.classes; ++c)
      if (dataset.targets[v * dataset.classes + c] != 0.0f) ++count[c];
  }
  return count;
}

}  // namespace

double chance_of(const Dataset& dataset) {
  const auto vertices = static_cast<double>(dataset.counts[kValidation - 1]);
  if (vertices == 0.0) return 0.0;
  std::vector<std::uint64_t> count = validated_labels(dataset);
  std::sort(count.begin(), count.end(), std::greater<>());
  if (dataset.loss == LossKind::cross_entropy) return static_cast<double>(count[0]) / vertices;
  // F1 = 2 right / (said + true) of the labels that most vertices have.
  double all = 0.0, right = 0.0, said = 0.0, best = 0.0;
  for (const std::uint64_t c : count) all += static_cast<double>(c);
  for (const std::uint64_t c : count) {
    right += static_cast<double>(c);
    said += vertices;
    best = std::max(best, 2.0 * right / (said + all));
  }
  return best;
}

namespace {

/// n x k zeros. Throws MemoryError, before it takes any, where they do not fit.
void take_features(std::vector<float>& rows, std::uint64_t vertices, std::uint64_t features) {
  const exec::Device host = exec::Device::cpu(1);
  const std::uint64_t bytes = exec::bytes_of(exec::bytes_of(vertices, features), sizeof(float));
  const std::uint64_t free = exec::free_memory(host);
  if (free != 0 && bytes > free)
    throw MemoryError(
        host.name(), bytes, free,
        fmt::format("{} features of {} vertices; fewer --features would fit", features, vertices));
  rows.reserve(vertices * features);
  // A piece at a time, after which the call may be ended.
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 23;
  in_pieces(0, vertices * features, kPiece,
            [&](std::uint64_t, std::uint64_t end) { rows.resize(end); });
}

}  // namespace

Dataset generate_dataset(std::uint64_t vertices, std::uint64_t features, std::uint64_t classes,
                         std::uint64_t seed, exec::ThreadPool& pool, Contents contents) {
  require(features >= 1 && classes >= 2,
          "a generated dataset needs --features of at least 1 and --classes of at least 2");
  constexpr std::uint64_t kCommunity = 200, kGrain = 1024;
  enum Purpose : std::uint64_t { kMeans, kNoise, kSplitOf };
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.width = features;
  dataset.classes = classes;
  take_features(dataset.dense, vertices, features);
  dataset.labels.resize(vertices);
  dataset.splits.resize(vertices);
  const std::uint64_t means = random_key(seed, 0, kMeans);
  const std::uint64_t noise = random_key(seed, 0, kNoise);
  const std::uint64_t split_of = random_key(seed, 0, kSplitOf);
  // What tells classes apart grows with the root of the features, and what is learnt of it with the
  // vertices to learn from: of few of either the noise is smaller, so that a model can learn them,
  // too.
  constexpr std::uint64_t kManyFeatures = 64, kManyVertices = 20'000;
  const float of_features = std::sqrt(static_cast<float>(std::min(features, kManyFeatures)) /
                                      static_cast<float>(kManyFeatures));
  const float of_vertices = std::sqrt(static_cast<float>(std::min(vertices, kManyVertices)) /
                                      static_cast<float>(kManyVertices));
  const float spread = 8.0f * of_features * std::max(0.5f, of_vertices);
  pool.parallel_for(0, vertices, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t label = v / kCommunity % classes;
      dataset.labels[v] = static_cast<std::int32_t>(label);
      const float place = uniform(split_of, v);
      dataset.splits[v] = place < 0.08f ? kTrain : (place < 0.1f ? kValidation : kTest);
      for (std::uint64_t c = 0; c < features; ++c) {
        dataset.dense[v * features + c] = 2.0f * uniform(means, label * features + c) - 1.0f +
                                          spread * (uniform(noise, v * features + c) - 0.5f);
      }
    }
  });
  if (contents == Contents::all) finish_dataset(dataset, "the generated dataset");
  return dataset;
}

std::optional<std::uint64_t> first_negative(const Dataset& dataset) {
  const auto& dense = dataset.dense;
  const auto found = std::find_if(dense.begin(), dense.end(), [](float x) { return x < 0.0f; });
  if (found == dense.end()) return std::nullopt;
  return static_cast<std::uint64_t>(found - dense.begin());
}

void normalize_rows(Dataset& dataset) {
  const auto scale = [](float* begin, float* end) {
    double sum = 0.0;
    for (const float* x = begin; x < end; ++x) sum += std::abs(static_cast<double>(*x));
    if (sum == 0.0) return;
    for (float* x = begin; x < end; ++x) *x = static_cast<float>(static_cast<double>(*x) / sum);
  };
  for (std::uint64_t v = 0; v < dataset.vertices; ++v) {
    if (dataset.is_sparse()) {
      scale(dataset.sparse.values.data() + dataset.sparse.offsets[v],
            dataset.sparse.values.data() + dataset.sparse.offsets[v + 1]);
    } else {
      scale(dataset.dense.data() + v * dataset.width,
            dataset.dense.data() + (v + 1) * dataset.width);
    }
  }
}

void make_dense(Dataset& dataset, double share) {
  if (!dataset.is_sparse()) return;
  const SparseRows& rows = dataset.sparse;
  const double elements = static_cast<double>(rows.rows) * static_cast<double>(rows.columns);
  if (static_cast<double>(rows.values.size()) < share * elements) return;
  dataset.dense.assign(rows.rows * rows.columns, 0.0f);
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    for (EdgeOffset e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e)
      dataset.dense[r * rows.columns + rows.column_ids[e]] += rows.values[e];
  }
  dataset.sparse = {};
}

}  // namespace warren::learn
