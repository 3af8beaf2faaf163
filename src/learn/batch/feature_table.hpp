// SPDX-License-Identifier: Apache-2.0
// The features that batches are gathered from, over the memories of a team.
#pragma once

#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/learn/trainer.hpp"
#include "warren/memory/cached_array.hpp"

#include "learn/rows/gather_dropped.hpp"

namespace warren::learn {

/// Features over the team's memories.
class FeatureTable {
 public:
  virtual ~FeatureTable() = default;
  /// As GatherFeatures.
  virtual void gather(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                      const Dropout& dropout, const float* scale, Numbers out) = 0;
  [[nodiscard]] virtual double hit_rate(const exec::Stream& stream) const = 0;
};

/// Stored as T; rows move as Bits of the same size.
template <class T, class Bits>
class TypedTable final : public FeatureTable {
 public:
  static_assert(sizeof(T) == sizeof(Bits));
  TypedTable(team::Team& team, const exec::Stream& stream, const GraphPair& graphs,
             const Dataset& dataset, std::span<const std::uint64_t> hot,
             const SampledOptions& options)
      : table_(team, graphs.cuts, dataset.width, options.features, memory::Reach::own) {
    const bool is_all = options.features == memory::Placement::replicated;
    const auto rank = static_cast<std::size_t>(team.rank());
    const std::uint64_t first = is_all ? 0 : graphs.cuts[rank];
    const std::uint64_t end = is_all ? graphs.cuts.back() : graphs.cuts[rank + 1];
    const std::uint64_t width = dataset.width;
    std::vector<Bits> rows((end - first) * width);
    for (std::uint64_t v = first; v < end; ++v) {
      const std::uint64_t from = graphs.input_ids.empty() ? v : graphs.input_ids[v];
      for (std::uint64_t c = 0; c < width; ++c)
        rows[(v - first) * width + c] =
            std::bit_cast<Bits>(from_float<T>(dataset.dense[from * width + c]));
    }
    table_.buffer().upload(stream, rows);
    stream.synchronize();
    team.barrier();
    if (options.features != memory::Placement::host || options.cached <= 0.0) return;
    cached_ = std::make_unique<memory::CachedArray<Bits>>(team, table_, hot);
  }

  void gather(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
              const Dropout& dropout, const float* scale, Numbers out) override {
    const std::uint64_t width = table_.view().width;
    if ((dropout.is_on() || scale != nullptr) && table_.placement() != memory::Placement::host &&
        width % 4 == 0) {
      const detail::GatherDropped<T> kernel{table_.view(), vertices,    count,
                                            dropout,       out.as<T>(), scale};
      return exec::with_backend(stream.device(), [&](auto backend) {
        detail::run_kernel<decltype(backend)>(stream, kernel.tasks(), kernel);
      });
    }
    auto* to = reinterpret_cast<Bits*>(out.as<T>());
    if (cached_ != nullptr) {
      cached_->gather_vertices(stream, vertices, count, to);
    } else {
      ordered_.gather_vertices(stream, table_, vertices, count, to);
    }
    if (dropout.is_on()) drop(stream, dropout, count, width, out, out);
    if (scale != nullptr) scale_rows(stream, count, width, width, scale, out, out);
  }
  [[nodiscard]] double hit_rate(const exec::Stream& stream) const override {
    return cached_ == nullptr ? 0.0 : cached_->use(stream).hit_rate();
  }

 private:
  memory::GlobalArray<Bits> table_;
  std::unique_ptr<memory::CachedArray<Bits>> cached_;
  memory::OrderedGather ordered_;
};

/// As the context's type. `hot`: the rows that devices keep where the options say so, the same on
/// all ranks. Collective. Throws UsageError for sparse features, MemoryError.
inline std::unique_ptr<FeatureTable> make_table(Context& context, const GraphPair& graphs,
                                                const Dataset& dataset,
                                                std::span<const std::uint64_t> hot,
                                                const SampledOptions& options) {
  require(!dataset.is_sparse(), "sampled batches are of dense features");
  return with_type(context.type(), [&]<class T>(T) -> std::unique_ptr<FeatureTable> {
    using Bits = std::conditional_t<sizeof(T) == sizeof(float), float, std::uint16_t>;
    return std::make_unique<TypedTable<T, Bits>>(context.team(), context.stream(), graphs, dataset,
                                                 hot, options);
  });
}

}  // namespace warren::learn
