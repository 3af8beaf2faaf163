// SPDX-License-Identifier: Apache-2.0
// The last step of build(): rows sorted, duplicates merged, and the gaps that merging leaves
// closed.
#pragma once

#include <cstdint>

#include "warren/exec/thread_pool.hpp"

#include "graph/build_sort.hpp"

namespace warren::graph::detail {

/// What becomes of entries of equal target within a row: all are kept, or one is, with the smallest
/// weight or the sum of all.
enum class Duplicates { kept, smallest, summed };

/// Sorts `rows` rows, whose targets are below `vertices`. Unless duplicates are kept, merges them
/// and moves what is left to the front, with `offsets` (rows + 1) to match. Returns the number of
/// entries left. In place; independent of the number of threads. Throws MemoryError, and InputError
/// for a sum that the weights' type does not hold.
template <class Weight>
std::uint64_t finish_rows(std::uint64_t rows, std::uint64_t vertices, EdgeOffset* offsets,
                          Columns<Weight> columns, Duplicates duplicates, exec::ThreadPool& pool);

extern template std::uint64_t finish_rows<NoWeight>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                    Columns<NoWeight>, Duplicates,
                                                    exec::ThreadPool&);
extern template std::uint64_t finish_rows<std::int32_t>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                        Columns<std::int32_t>, Duplicates,
                                                        exec::ThreadPool&);
extern template std::uint64_t finish_rows<float>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                 Columns<float>, Duplicates, exec::ThreadPool&);

}  // namespace warren::graph::detail
