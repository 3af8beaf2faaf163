// SPDX-License-Identifier: Apache-2.0
// The features that batches are gathered from, over the memories of a team: the ranks of a host.
#pragma once

#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/learn/trainer.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/memory/row_numbers.hpp"
#include "warren/sample/exchange_gather.hpp"

#include "learn/batch/spread.hpp"
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

/// Those of the vertices [first, end), as T.
template <class T, class Bits>
[[nodiscard]] std::vector<Bits> feature_rows(const GraphPair& graphs, const Dataset& dataset,
                                             std::uint64_t first, std::uint64_t end) {
  const std::uint64_t width = dataset.width;
  std::vector<Bits> rows((end - first) * width);
  for (std::uint64_t v = first; v < end; ++v) {
    const std::uint64_t from = graphs.input_ids.empty() ? v : graphs.input_ids[v];
    for (std::uint64_t c = 0; c < width; ++c)
      rows[(v - first) * width + c] =
          std::bit_cast<Bits>(from_float<T>(dataset.dense[from * width + c]));
  }
  return rows;
}

/// Stored as T; rows move as Bits of the same size.
template <class T, class Bits>
class TypedTable final : public FeatureTable {
 public:
  static_assert(sizeof(T) == sizeof(Bits));
  TypedTable(const Spread& spread, const exec::Stream& stream, const GraphPair& graphs,
             const Dataset& dataset, std::span<const std::uint64_t> hot,
             const SampledOptions& options)
      : table_(spread.team, spread.cuts, dataset.width, options.features, memory::Reach::own) {
    const bool is_all = options.features == memory::Placement::replicated;
    const std::uint64_t first = is_all ? 0 : spread.begin();
    const std::uint64_t end = is_all ? spread.cuts.back() : spread.end();
    table_.buffer().upload(stream, feature_rows<T, Bits>(graphs, dataset, first, end));
    stream.synchronize();
    spread.team.barrier();
    if (options.features != memory::Placement::host || options.cached <= 0.0) return;
    cached_ = std::make_unique<memory::CachedArray<Bits>>(spread.team, table_, hot);
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

/// The same with each row on one rank of all hosts, where a batch's rows are asked for.
template <class T, class Bits>
class ExchangedTable final : public FeatureTable {
 public:
  static_assert(sizeof(T) == sizeof(Bits));
  ExchangedTable(Context& context, const GraphPair& graphs, const Dataset& dataset)
      : team_(context.team()),
        table_(team_, graphs.cuts, dataset.width, memory::Placement::device, memory::Reach::moved),
        no_row_(team_.device(), 1) {
    const auto rank = static_cast<std::size_t>(team_.rank());
    const exec::Stream& stream = context.stream();
    exec::fill_bytes(stream, no_row_.data(), 0, no_row_.bytes());
    table_.buffer().upload(
        stream, feature_rows<T, Bits>(graphs, dataset, graphs.cuts[rank], graphs.cuts[rank + 1]));
    stream.synchronize();
    team_.barrier();
  }

  void gather(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
              const Dropout& dropout, const float* scale, Numbers out) override {
    const std::uint64_t width = table_.view().width;
    const std::uint64_t rows = table_.view().rows();
    std::uint64_t* const numbers = memory::at_least(stream, numbers_, count);
    memory::check_rows(stream, {vertices, count, sizeof(Vertex), false}, rows,
                       {.first_bad = no_row_.data(), .wide = numbers});
    exchange_.gather(team_, stream, table_.view(), numbers, count,
                     reinterpret_cast<Bits*>(out.as<T>()));
    if (count == 0) return;
    if (dropout.is_on()) drop(stream, dropout, count, width, out, out);
    if (scale != nullptr) scale_rows(stream, count, width, width, scale, out, out);
  }
  [[nodiscard]] double hit_rate(const exec::Stream& /*stream*/) const override { return 0.0; }

 private:
  team::Team& team_;
  memory::GlobalArray<Bits> table_;
  sample::ExchangeGather exchange_;
  memory::Buffer<std::uint64_t> numbers_;
  memory::Buffer<std::uint64_t> no_row_;  ///< Not read: vertices of batches have rows.
};

/// As the context's type. `hot`: the rows that devices keep where the options say so, the same on
/// all ranks. Collective. Throws UsageError for sparse features, MemoryError.
inline std::unique_ptr<FeatureTable> make_table(const Spread& spread, Context& context,
                                                const GraphPair& graphs, const Dataset& dataset,
                                                std::span<const std::uint64_t> hot,
                                                const SampledOptions& options) {
  require(!dataset.is_sparse(), "sampled batches are of dense features");
  return with_type(context.type(), [&]<class T>(T) -> std::unique_ptr<FeatureTable> {
    using Bits = std::conditional_t<sizeof(T) == sizeof(float), float, std::uint16_t>;
    if (options.exchange_features)
      return std::make_unique<ExchangedTable<T, Bits>>(context, graphs, dataset);
    return std::make_unique<TypedTable<T, Bits>>(spread, context.stream(), graphs, dataset, hot,
                                                 options);
  });
}

}  // namespace warren::learn
