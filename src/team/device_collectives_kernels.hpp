// SPDX-License-Identifier: Apache-2.0
// Adding up the ranks' parts of a buffer, for both backends.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// The same elements of every rank, as the reducing device addresses them.
struct ReduceParts {
  const void* part[kMaxRanks] = {};
  int ranks = 1;
};

/// out[i] = part[0][i] op part[1][i] op ..., in rank order: the same bits wherever it is computed.
template <class T, class Op>
struct ReduceElements {
  ReduceParts parts;
  T* out;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    T result = static_cast<const T*>(parts.part[0])[i];
    for (int q = 1; q < parts.ranks; ++q) {
      result = Op{}(result, static_cast<const T*>(parts.part[q])[i]);
    }
    out[i] = result;
  }
};

[[nodiscard]] std::uint64_t size_of(DataType type);

/// out[i] = op over the parts, for i < count, in `stream`'s order. Memory of the stream's device.
template <class Backend>
void reduce_parts(const exec::Stream& stream, DataType type, ReduceOp op, const ReduceParts& parts,
                  void* out, std::uint64_t count);

namespace detail {

template <class Backend, class T>
void reduce_typed(const exec::Stream& stream, ReduceOp op, const ReduceParts& parts, void* out,
                  std::uint64_t count) {
  const auto run = [&](auto operation) {
    exec::launch<Backend, exec::Thread>(
        stream, count, ReduceElements<T, decltype(operation)>{parts, static_cast<T*>(out)},
        {.grain = 4096});
  };
  switch (op) {
    case ReduceOp::sum:
      return run(exec::Plus{});
    case ReduceOp::minimum:
      return run(exec::Minimum{});
    case ReduceOp::maximum:
      return run(exec::Maximum{});
  }
}

}  // namespace detail

template <class Backend>
void reduce_parts(const exec::Stream& stream, DataType type, ReduceOp op, const ReduceParts& parts,
                  void* out, std::uint64_t count) {
  using detail::reduce_typed;
  switch (type) {
    case DataType::int32:
      return reduce_typed<Backend, std::int32_t>(stream, op, parts, out, count);
    case DataType::uint32:
      return reduce_typed<Backend, std::uint32_t>(stream, op, parts, out, count);
    case DataType::int64:
      return reduce_typed<Backend, std::int64_t>(stream, op, parts, out, count);
    case DataType::uint64:
      return reduce_typed<Backend, std::uint64_t>(stream, op, parts, out, count);
    case DataType::float32:
      return reduce_typed<Backend, float>(stream, op, parts, out, count);
    case DataType::float64:
      return reduce_typed<Backend, double>(stream, op, parts, out, count);
  }
}

#if WARREN_HAS_CUDA
extern template void reduce_parts<exec::Cuda>(const exec::Stream&, DataType, ReduceOp,
                                              const ReduceParts&, void*, std::uint64_t);
#endif

}  // namespace warren::team
