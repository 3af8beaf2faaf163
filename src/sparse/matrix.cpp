// SPDX-License-Identifier: Apache-2.0
// Matrices of graphs: scales, placement on a device, transposes.
#include "warren/sparse/matrix.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/graph/transform.hpp"

#include "sparse/degree_scale.hpp"

namespace warren::sparse {
namespace {

constexpr std::uint64_t kMatrixGrain = std::uint64_t{1} << 13;
constexpr std::int32_t kExact = 1 << 24;  // Integers up to this size are floats.

template <class T>
const T* upload(const exec::Stream& stream, memory::Buffer<T>& buffer, std::span<const T> values) {
  if (values.empty()) return nullptr;
  buffer = memory::Buffer<T>(stream.device(), values.size());
  buffer.upload(stream, values);
  return buffer.data();
}

}  // namespace

memory::HostArray<float> float_weights(const graph::Graph& graph, exec::ThreadPool& pool) {
  if (graph.weight_type == graph::WeightType::none) return {};
  if (graph.weight_type == graph::WeightType::float32) return graph.weights_float;
  memory::HostArray<float> weights(graph.edges());
  std::atomic<bool> is_exact{true};
  pool.parallel_for(0, graph.edges(), kMatrixGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t e = begin; e < end; ++e) {
      const std::int32_t weight = graph.weights_int[e];
      if (weight > kExact || weight < -kExact) is_exact.store(false, std::memory_order_relaxed);
      weights[e] = static_cast<float>(weight);
    }
  });
  require(
      is_exact.load(),
      "a product is computed in float32, which does not hold all of the graph's integer weights: "
      "they should be within 2^24 of 0");
  return weights;
}

Scales scales_of(const graph::Graph& graph, const Normalization& normalization, bool has_weights,
                 exec::ThreadPool& pool) {
  using Kind = Normalization::Kind;
  Scales scales;
  const std::uint64_t n = graph.vertices;
  if (normalization.self_loops) scales.self.assign(n, 1.0f);
  if (normalization.kind == Kind::none) return scales;
  memory::HostArray<float> weights;
  if (has_weights) weights = float_weights(graph, pool);
  scales.row.resize(n);
  pool.parallel_for(0, n, kMatrixGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      double degree = normalization.self_loops ? 1.0 : 0.0;
      if (weights.empty()) {
        degree += static_cast<double>(graph.degree(static_cast<Vertex>(v)));
      } else {
        for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
          degree += static_cast<double>(weights[e]);
      }
      scales.row[v] = degree_scale(normalization.kind, degree, v);
    }
  });
  if (normalization.kind == Kind::symmetric) {
    scales.column = scales.row;
    if (normalization.self_loops) scales.self = scales.row;
  }
  return scales;
}

struct Matrix::Storage {
  memory::HostArray<EdgeOffset> offsets;  // In host memory, whatever the device.
  memory::HostArray<Vertex> column_ids;
  memory::HostArray<float> values;
  memory::HostArray<EdgeOffset> value_ids;
  Scales scales;
  memory::Buffer<EdgeOffset> device_offsets, device_value_ids;
  memory::Buffer<Vertex> device_column_ids;
  memory::Buffer<float> device_values, row_scale, column_scale, self;
};

Matrix::Matrix() = default;
Matrix::~Matrix() = default;
Matrix::Matrix(Matrix&&) noexcept = default;
Matrix& Matrix::operator=(Matrix&&) noexcept = default;

Matrix::Matrix(const exec::Stream& stream, const graph::Graph& graph,
               const Normalization& normalization, bool use_weights) {
  exec::ThreadPool& pool = stream.device().pool();
  graph::validate(graph, "the graph of a sparse matrix", pool);
  auto storage = std::make_unique<Storage>();
  storage->offsets = graph.offsets;
  storage->column_ids = graph.targets;
  const bool has_weights = use_weights && graph.weight_type != graph::WeightType::none;
  if (has_weights) storage->values = float_weights(graph, pool);
  storage->scales = scales_of(graph, normalization, has_weights, pool);
  adopt(stream, std::move(storage));
}

void Matrix::adopt(const exec::Stream& stream, std::unique_ptr<Storage> storage) {
  storage_ = std::move(storage);
  Storage& s = *storage_;
  view_.rows = s.offsets.size() - 1;
  const auto or_null = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
  if (stream.device().is_cuda()) {
    const auto span = [](const auto& array) { return std::as_const(array).span(); };
    view_.offsets = upload(stream, s.device_offsets, span(s.offsets));
    view_.column_ids = upload(stream, s.device_column_ids, span(s.column_ids));
    view_.values = upload(stream, s.device_values, span(s.values));
    view_.value_ids = upload(stream, s.device_value_ids, span(s.value_ids));
  } else {
    view_.offsets = s.offsets.data();
    view_.column_ids = or_null(s.column_ids);
    view_.values = or_null(s.values);
    view_.value_ids = or_null(s.value_ids);
  }
  view_.row_scale = upload<float>(stream, s.row_scale, s.scales.row);
  view_.column_scale = upload<float>(stream, s.column_scale, s.scales.column);
  view_.self = upload<float>(stream, s.self, s.scales.self);
  stream.synchronize();
}

std::span<const EdgeOffset> Matrix::offsets() const {
  return std::as_const(storage_->offsets).span();
}

EdgeOffset Matrix::entries() const { return storage_->column_ids.size(); }

const Matrix& Matrix::transposed(const exec::Stream& stream) const {
  if (transposed_) return *transposed_;
  const Storage& mine = *storage_;
  const std::uint64_t n = view_.rows;
  auto made = std::make_unique<Storage>();
  made->offsets = memory::HostArray<EdgeOffset>(n + 1, 0);
  made->column_ids = memory::HostArray<Vertex>(mine.column_ids.size());
  made->value_ids = memory::HostArray<EdgeOffset>(mine.column_ids.size());
  SeldomInterruptPoint point;
  for (const Vertex column : mine.column_ids) {
    point();
    ++made->offsets[std::uint64_t{column} + 1];
  }
  for (std::uint64_t v = 0; v < n; ++v) made->offsets[v + 1] += made->offsets[v];
  std::vector<EdgeOffset> next(made->offsets.begin(), made->offsets.begin() + n);
  for (std::uint64_t v = 0; v < n; ++v) {
    point();
    for (EdgeOffset e = mine.offsets[v]; e < mine.offsets[v + 1]; ++e) {
      const EdgeOffset place = next[mine.column_ids[e]]++;
      made->column_ids[place] = static_cast<Vertex>(v);
      made->value_ids[place] = e;
    }
  }
  made->values = mine.values;
  made->scales.row = mine.scales.column;
  made->scales.column = mine.scales.row;
  made->scales.self = mine.scales.self;
  // row_scale self in the original is self row_scale in the transpose: the factor that stays inside
  // a row's sum is the one of the other side.
  if (!made->scales.self.empty() && mine.scales.row != mine.scales.column) {
    for (std::uint64_t v = 0; v < n; ++v) {
      const float row = mine.scales.row.empty() ? 1.0f : mine.scales.row[v];
      made->scales.self[v] *= row;
    }
  }
  transposed_.reset(new Matrix());
  transposed_->adopt(stream, std::move(made));
  return *transposed_;
}

}  // namespace warren::sparse
