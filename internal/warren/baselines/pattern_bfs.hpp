// SPDX-License-Identifier: Apache-2.0
// BFS whose reads of far neighbour lists follow one of three patterns, to be measured against each
// other and against Bfs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::baselines {

/// How threads share out neighbour lists (Min et al.: EMOGI: Efficient Memory-access for
/// Out-of-memory Graph-traversal in GPUs, VLDB 2020, section 4).
enum class AccessPattern {
  strided,  ///< A thread walks the list of a vertex of its own.
  merged,   ///< The 32 threads of a warp read neighbouring elements of one list.
  aligned   ///< The same, beginning at the 128-byte line in which the list begins.
};

/// Where PatternBfs reads the lists.
enum class ListMemory {
  shard,   ///< Where the shard has them.
  managed  ///< In managed memory (exec/managed.hpp), as a copy of its own; on GPUs only.
};

struct PatternBfsResult {
  std::uint64_t reached = 0;
  std::uint32_t max_depth = 0;
  double seconds = 0.0;
  /// Reads of the lists by size: of 32, 64, 96 and 128 bytes. Zero unless they were counted.
  std::array<std::uint64_t, 4> requests{};

  [[nodiscard]] std::uint64_t request_count() const {
    return requests[0] + requests[1] + requests[2] + requests[3];
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return 32 * (requests[0] + 2 * requests[1] + 3 * requests[2] + 4 * requests[3]);
  }
};

class PatternBfsMemory;

/// Every level looks at every vertex and pushes from those of the last level; no frontier is kept,
/// no direction changed, as in the paper. depth(v) as Bfs has it.
class PatternBfs {
 public:
  /// `shard` must outlive this and be the only one of its team. Throws UsageError, MemoryError.
  PatternBfs(team::Team& team, const graph::Shard& shard, ListMemory lists = ListMemory::shard);
  ~PatternBfs();
  PatternBfs(const PatternBfs&) = delete;
  PatternBfs& operator=(const PatternBfs&) = delete;

  /// Synchronous. Managed lists are all in host memory when the clock starts, and a page that is
  /// read is copied to the device, where it stays to the end: what the paper calls UVM, with its
  /// advice (read mostly), of a graph that fits. With `counts`, counts the requests, which takes
  /// time of its own: a warp's read is a request for each line of 128 bytes that it touches, of the
  /// sectors of 32 bytes that it touches there; a thread's walk is a request for each sector.
  /// Throws UsageError for a source that is no vertex.
  PatternBfsResult run(Vertex source, AccessPattern pattern, bool counts);
  /// Bytes a second of reading this shard's lists from the first to the last, once.
  double sequential_rate();

  [[nodiscard]] std::vector<Vertex> depth() const;
  /// Bytes of the blocks, `block` bytes at multiples of `block`, in which those lists stand that
  /// the last run read, but for cached ones: what crosses at least where memory moves by such
  /// blocks.
  [[nodiscard]] std::uint64_t bytes_in_blocks(std::uint64_t block) const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  graph::CsrView out_;
  exec::Stream stream_;
  std::unique_ptr<PatternBfsMemory> memory_;
};

}  // namespace warren::baselines
