// SPDX-License-Identifier: Apache-2.0
// The last step of build(): rows sorted, duplicates merged, and the gaps that merging leaves
// closed.
#pragma once

#include <cstdint>

#include "warren/exec/thread_pool.hpp"

#include "graph/build_sort.hpp"

namespace warren::graph::detail {

/// Sorts `rows` rows, whose targets are below `vertices`. Unless `keep_duplicates`, merges entries
/// of equal target within a row, keeping the smallest weight, and moves what is left to the front,
/// with `offsets` (rows + 1) to match. Returns the number of entries left. In place; independent of
/// the number of threads. Throws MemoryError.
template <class Weight>
std::uint64_t finish_rows(std::uint64_t rows, std::uint64_t vertices, EdgeOffset* offsets,
                          Columns<Weight> columns, bool keep_duplicates, exec::ThreadPool& pool);

extern template std::uint64_t finish_rows<NoWeight>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                    Columns<NoWeight>, bool, exec::ThreadPool&);
extern template std::uint64_t finish_rows<std::int32_t>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                        Columns<std::int32_t>, bool,
                                                        exec::ThreadPool&);
extern template std::uint64_t finish_rows<float>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                 Columns<float>, bool, exec::ThreadPool&);

}  // namespace warren::graph::detail
