// SPDX-License-Identifier: Apache-2.0
// Moving given lists of rows between a GlobalArray and local memory. For float, double, int32,
// uint32, uint64 and uint16 (as which half-precision types move); gather() for bytes, too.
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::memory {

/// out[i][:] = table[indices[i]][:] for i < count. `indices` (row numbers over the team) and `out`
/// (count x width, row-major) are on the stream's device (or pinned). Each rank calls for itself:
/// not collective; the rows must not be written meanwhile. A row number out of range gives a row of
/// zero bytes and is added to *out_of_range (on the device; may be nullptr) rather than read
/// elsewhere. Asynchronous. Throws UsageError for null arrays, DeviceError when the launch fails.
/// Deterministic. (WholeGraph, section III-C.) `processors`: of a GPU, the most that work on it, so
/// that what runs beside it keeps the others; 0 for all. `is_beside`: as many threads as that, but
/// in small blocks on any processors, which find room among those of a kernel that runs already.
template <class T>
void gather(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
            std::uint64_t count, T* out, std::uint64_t* out_of_range = nullptr,
            std::uint32_t processors = 0, bool is_beside = false);

/// The same for row numbers of 32 bits, such as sampled vertices. Where `count_at` (on the device)
/// is given, of the first *count_at rows, `count` being the most there may be: the host need not
/// know.
template <class T>
void gather_vertices(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* vertices,
                     std::uint64_t count, T* out, std::uint64_t* out_of_range = nullptr,
                     const std::uint32_t* count_at = nullptr, std::uint32_t processors = 0,
                     bool is_beside = false);

/// table[indices[i]][:] = rows[i][:]. Rows out of range are skipped and counted. Where an index
/// occurs twice, each piece of the row (16 bytes where width and addresses allow) comes from one of
/// its rows. A replicated table: this rank's copy only. Otherwise as gather.
template <class T>
void scatter(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
             std::uint64_t count, const T* rows, std::uint64_t* out_of_range = nullptr);

}  // namespace warren::memory
