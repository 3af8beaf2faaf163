// SPDX-License-Identifier: Apache-2.0
// Adding up gradients of rows and stepping the touched ones, for both backends.
#pragma once

#include <cmath>

#include "warren/exec/launch.hpp"
#include "warren/sample/embedding.hpp"

namespace warren::sample::detail {

/// Adds one row's gradient where the row lives, and lists the row there when it is the first.
/// Tasks: given rows.
struct AddGradient {
  memory::GlobalView<float> gradients;
  memory::GlobalView<std::uint32_t> touched;
  memory::GlobalView<std::uint32_t> list;
  memory::GlobalView<std::uint32_t> listed;
  const Vertex* rows;
  const float* added;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const Vertex row = rows[i];
    if (row >= gradients.rows()) return;
    const std::uint64_t width = gradients.width;
    worker.for_each(
        width, [&](std::uint64_t c) { (void)gradients.atomic_add(row, added[i * width + c], c); });
    if (worker.lane() != 0) return;
    using exec::Order;
    using exec::Scope;
    std::uint32_t& mark = touched.at(row);
    if (exec::atomic_load<Order::relaxed, Scope::system>(mark) != 0) return;
    if (exec::atomic_exchange<Order::relaxed, Scope::system>(mark, std::uint32_t{1}) != 0) return;
    const auto q = static_cast<std::uint64_t>(touched.owner(row));
    const std::uint32_t place = listed.atomic_add(q, 1u);
    list.at(touched.cuts[q] + place) = static_cast<std::uint32_t>(row - touched.cuts[q]);
  }
};

/// Steps one of this rank's touched rows. Tasks: places of its list.
struct StepRow {
  SparseOptimizer optimizer;
  float correction1;  // 1 - beta1^t, 1 - beta2^t.
  float correction2;
  std::uint64_t width;
  const std::uint32_t* list;
  std::uint32_t* touched;
  float* table;
  float* gradients;
  float* first_moment;
  float* second_moment;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t row = list[task];
    worker.for_each(width, [&](std::uint64_t c) {
      const std::uint64_t at = row * width + c;
      const float g = gradients[at];
      gradients[at] = 0.0f;
      table[at] -= optimizer.learning_rate * direction(at, g);
    });
    if (worker.lane() == 0) touched[row] = 0;
  }

 private:
  [[nodiscard]] WARREN_HD float direction(std::uint64_t at, float g) const {
    if (optimizer.kind == SparseOptimizer::Kind::sgd) return g;
    if (optimizer.kind == SparseOptimizer::Kind::adagrad) {
      const float sum = second_moment[at] += g * g;
      return g / (std::sqrt(sum) + optimizer.epsilon);
    }
    const float m = first_moment[at] =
        optimizer.beta1 * first_moment[at] + (1.0f - optimizer.beta1) * g;
    const float v = second_moment[at] =
        optimizer.beta2 * second_moment[at] + (1.0f - optimizer.beta2) * g * g;
    return m / correction1 / (std::sqrt(v / correction2) + optimizer.epsilon);
  }
};

template <class Backend>
void add_gradients(const exec::Stream& stream, const AddGradient& kernel, std::uint64_t count) {
  exec::launch<Backend, exec::Warp>(stream, count, kernel);
}
template <class Backend>
void step_rows(const exec::Stream& stream, const StepRow& kernel, std::uint64_t count) {
  exec::launch<Backend, exec::Warp>(stream, count, kernel);
}

#if WARREN_HAS_CUDA
extern template void add_gradients<exec::Cuda>(const exec::Stream&, const AddGradient&,
                                               std::uint64_t);
extern template void step_rows<exec::Cuda>(const exec::Stream&, const StepRow&, std::uint64_t);
#endif

}  // namespace warren::sample::detail
