// SPDX-License-Identifier: Apache-2.0
// What those who make shards know of where lists lie.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "warren/graph/shard.hpp"

namespace warren::graph::detail {

/// Elements in whole sectors, in which kernels read far lists.
[[nodiscard]] std::uint64_t padded(std::uint64_t elements);

/// Rows of a CSR in host memory. Offsets are those of the whole graph, and index targets and
/// weights, which are nullptr where there are none.
struct HostRows {
  std::span<const EdgeOffset> offsets;  ///< One more than rows.
  const Vertex* targets = nullptr;
  const std::int32_t* weights_int = nullptr;
  const float* weights_float = nullptr;
  std::shared_ptr<const Graph> owner;  ///< Of the memory.
};

/// All rows, of whose memory nobody is the owner.
[[nodiscard]] HostRows rows_of(const Graph& graph);
/// The rows from `first` on.
[[nodiscard]] HostRows rows_of(const std::shared_ptr<const Graph>& graph, Vertex first,
                               Vertex count);

/// The rows on the stream's device, the first of which is vertex `first`'s: on the CPU where they
/// are. Without the lists of a compressed placement. `cached`: bytes of EdgesOptions::cache_bytes.
/// Throws MemoryError.
[[nodiscard]] CsrView place(const exec::Stream& stream, const HostRows& rows, Vertex first,
                            EdgesPlacement placement, std::uint64_t cached, CsrStorage& storage);

/// Of what is free, ranks on the same device and out- and in-edges take equal parts; `own` vertices
/// of a rank keep what algorithms hold for each. Throws UsageError for more than a device has.
[[nodiscard]] std::uint64_t cache_bytes(const team::Team& team, const EdgesOptions& edges,
                                        std::uint64_t parts, std::uint64_t own);

}  // namespace warren::graph::detail
