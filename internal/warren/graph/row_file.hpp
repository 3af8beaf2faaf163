// SPDX-License-Identifier: Apache-2.0
// A .wgr file of which each rank of a team reads the rows that it owns, and nobody the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::graph {

/// A .wgr file with plain, sorted neighbour lists, mapped: what nobody looks at takes no memory.
class RowFile {
 public:
  /// Equal for files with the same header, sizes and checksums. Trivially copyable.
  struct Mark {
    std::uint64_t vertices = 0, edges = 0, bytes = 0;
    std::uint32_t header_crc = 0, checksums_crc = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  /// Checks header, tables and original ids, and nothing else. Weights are not there where they are
  /// not to be read. Throws InputError, which names the file and the byte; UsageError for lists
  /// that are compressed, or do not ascend.
  explicit RowFile(const std::string& path, bool reads_weights = true);
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return file_->path(); }
  [[nodiscard]] Vertex vertices() const noexcept { return graph_->vertices; }
  [[nodiscard]] EdgeOffset edges() const noexcept { return graph_->edges(); }
  [[nodiscard]] Symmetry symmetry() const noexcept { return graph_->symmetry; }
  /// Of what is read.
  [[nodiscard]] WeightType weight_type() const noexcept { return graph_->weight_type; }
  /// True if it has weights, read or not.
  [[nodiscard]] bool has_weights() const noexcept { return has_weights_; }
  /// False where the file says that no edge leads from a vertex to itself.
  [[nodiscard]] bool may_have_self_loops() const noexcept { return may_have_self_loops_; }
  /// False where the file says that no edge is there twice.
  [[nodiscard]] bool may_have_parallel_edges() const noexcept { return may_have_parallel_edges_; }
  /// As Graph::original_ids.
  [[nodiscard]] const memory::HostArray<std::uint64_t>& original_ids() const noexcept {
    return graph_->original_ids;
  }
  [[nodiscard]] const Mark& mark() const noexcept { return mark_; }

  /// The file's arrays, of which only rows that check_rows() has passed may be looked at.
  [[nodiscard]] const std::shared_ptr<const Graph>& graph() const noexcept { return graph_; }

  /// The offsets of rows [first, end): their blocks' checksums, and that they ascend. Throws
  /// InputError, which names the byte.
  void check_offsets(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const;
  /// They no longer count as this process' memory, until they are looked at again.
  void drop_offsets(std::uint64_t first, std::uint64_t end) const noexcept {
    file_->drop(offsets_.offset + first * sizeof(EdgeOffset),
                (end + 1 - first) * sizeof(EdgeOffset));
  }
  /// Rows [first, end) and their weights: the checksums of all blocks that have some of them; that
  /// offsets ascend; that neighbours are vertices and ascend, and are as the header says.
  /// `no_negative_weights`: refuses these, too. Throws InputError, which names the byte, or for a
  /// weight the edge.
  void check_rows(std::uint64_t first, std::uint64_t end, bool no_negative_weights,
                  exec::ThreadPool& pool) const;

 private:
  /// Where a section's data is, and its checksums.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> checksums;
  };

  void check_ids() const;
  void check_ascent(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const;
  void check_targets(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const;
  void check_weights(std::uint64_t first, std::uint64_t end, exec::ThreadPool& pool) const;
  /// All blocks that have some of a section's bytes [begin, end).
  void check_blocks(const Place& place, std::uint64_t begin, std::uint64_t end,
                    exec::ThreadPool& pool) const;

  std::shared_ptr<files::MappedFile> file_;
  std::shared_ptr<const Graph> graph_;
  bool has_weights_ = false;
  bool may_have_self_loops_ = true;
  bool may_have_parallel_edges_ = true;
  Mark mark_;
  Place offsets_, targets_, weights_, ids_;
};

/// What read_shard() is asked for beside the rows.
struct ReadShardOptions {
  EdgesOptions edges{};  ///< No compressed placement: that needs all lists.
  /// A negative weight, or one that is no number, throws InputError.
  bool no_negative_weights = false;
  bool with_in_edges = true;  ///< Else the shard has none, and nobody finds out about symmetry.
  /// Of a file whose weights are not read: drawn as set_uniform_weights() draws them.
  std::optional<UniformWeights> weights{};
};

/// partition_ranges()'s cuts for the ranks of the team: each looks at an equal part of the offsets,
/// and checks it. Collective. Throws as RowFile::check_offsets().
[[nodiscard]] std::vector<std::uint64_t> ranges_of(team::Team& team, const RowFile& file);

/// This rank's shard, as make_shard() makes it of shard_source(file's graph, team.size()), bit for
/// bit, of which the rank reads and holds its own rows alone: on the CPU they stay where they are
/// mapped. A directed graph's in-edges are brought by the ranks that read them as out-edges, some
/// at a time. Where the header does not say whether it is symmetric, the ranks find out.
/// Collective. Synchronises. Throws InputError as RowFile::check_rows(); MemoryError; UsageError
/// for ranks that opened different files or draw different weights, for weights that are to be both
/// read and drawn, and for compressed placements.
[[nodiscard]] Shard read_shard(team::Team& team, const RowFile& file,
                               const ReadShardOptions& options = {});

}  // namespace warren::graph
