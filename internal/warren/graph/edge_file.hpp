// SPDX-License-Identifier: Apache-2.0
// A graph whose neighbour lists stay in a .wgr file: what is known of it without them, and a reader
// that brings them into memory window by window.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/files/positioned_file.hpp"
#include "warren/files/window_reader.hpp"
#include "warren/graph/graph.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::graph {

/// How a file's lists are cut and read.
struct EdgeFileOptions {
  /// Of the lists in one window; a multiple of 4096. Best of 1 MiB, over which the file has its
  /// checksums.
  std::uint64_t window_bytes = std::uint64_t{4} << 20;
  std::uint32_t windows = 8;  ///< That are in memory at once.
  int readers = 4;            ///< Threads that read.

  /// The default, with smaller windows where `bytes` of host memory hold little more than them.
  [[nodiscard]] static EdgeFileOptions within(std::uint64_t bytes);
};

/// Edges [begin, begin + edges) of the file: a window's. Chunks begin at multiples of a window's
/// bytes, and besides where a window has as many rows as it has room for.
struct FileChunk {
  EdgeOffset begin = 0;
  std::uint32_t edges = 0;
  Vertex first = 0;  ///< The row that edge `begin` is of.
  Vertex rows = 0;   ///< From `first` to the last one with an edge of the chunk.
};

/// A .wgr file with plain neighbour lists, and nothing of these in memory. Holds a bit for each
/// vertex, and 24 bytes for each chunk.
class EdgeFile {
 public:
  /// Reads all that is in front of the lists, and the offsets once: 8 bytes a vertex. These, and
  /// original ids, are checked against their checksums, and for being those of a graph. Throws
  /// InputError, which names the file; UsageError for a file with compressed lists, or with lists
  /// whose neighbours do not ascend.
  explicit EdgeFile(const std::string& path, const EdgeFileOptions& options = {});
  EdgeFile(const EdgeFile&) = delete;
  EdgeFile& operator=(const EdgeFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] Vertex vertices() const noexcept { return vertices_; }
  [[nodiscard]] EdgeOffset edges() const noexcept { return edges_; }
  [[nodiscard]] Symmetry symmetry() const noexcept { return symmetry_; }
  [[nodiscard]] WeightType weight_type() const noexcept { return weight_type_; }
  /// False where the file says that no edge leads from a vertex to itself.
  [[nodiscard]] bool may_have_self_loops() const noexcept { return may_have_self_loops_; }
  /// False where the file says that no edge is there twice.
  [[nodiscard]] bool may_have_parallel_edges() const noexcept { return may_have_parallel_edges_; }
  /// As Graph::original_ids: a window of the mapped file.
  [[nodiscard]] const memory::HostArray<std::uint64_t>& original_ids() const noexcept {
    return original_ids_;
  }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_.size(); }
  /// Bytes of offsets and lists.
  [[nodiscard]] std::uint64_t list_bytes() const noexcept;

  /// A bit for each vertex, from the lowest of 32 on, set where it has out-edges.
  [[nodiscard]] std::span<const std::uint32_t> has_edges() const noexcept {
    return has_edges_.span();
  }
  /// Vertices with out-edges.
  [[nodiscard]] std::uint64_t sources() const noexcept { return sources_; }
  /// The vertex of the largest out-degree, the smallest of several.
  [[nodiscard]] Vertex busiest() const noexcept { return busiest_; }
  [[nodiscard]] EdgeOffset max_degree() const noexcept { return max_degree_; }

  [[nodiscard]] std::span<const FileChunk> chunks() const noexcept { return chunks_; }
  [[nodiscard]] const EdgeFileOptions& options() const noexcept { return options_; }
  /// Bytes of the windows of a ListReader.
  [[nodiscard]] std::uint64_t window_memory() const noexcept;
  /// The most edges, and rows, of a chunk.
  [[nodiscard]] std::uint64_t chunk_edges() const noexcept { return options_.window_bytes / 4; }
  [[nodiscard]] std::uint64_t chunk_rows() const noexcept {
    return options_.window_bytes / 16 > kLeastRows ? options_.window_bytes / 16 : kLeastRows;
  }

  /// f(first, offsets): `offsets` has the offsets of vertices first .. first + size - 2, and one
  /// more. Reads the file's offsets from the first to the last; what was read is added to `bytes`.
  void for_each_offsets(const std::function<void(Vertex, std::span<const EdgeOffset>)>& f,
                        std::uint64_t* bytes = nullptr) const;

 private:
  friend class ListReader;
  static constexpr std::uint64_t kLeastRows = 256;

  /// What is in front of the data.
  void read_table();
  void check_original_ids() const;
  /// Looks at every row, and cuts the lists.
  void read_offsets();
  [[nodiscard]] files::WindowPlaces places(const FileChunk& chunk) const;
  /// Throws InputError for lists that are not those of a graph, and for blocks of the file that are
  /// read for the first time and do not have their checksum.
  void check(const FileChunk& chunk, const char* offsets, const char* targets) const;
  void check_blocks(const FileChunk& chunk, const char* targets) const;

  /// Where a section's data is, and its checksums.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> checksums;
  };
  /// Throws InputError unless block `block` has its checksum.
  void check_block(const Place& place, std::uint64_t block, const char* data) const;

  files::PositionedFile file_;
  EdgeFileOptions options_;
  Vertex vertices_ = 0;
  EdgeOffset edges_ = 0;
  Symmetry symmetry_ = Symmetry::unknown;
  WeightType weight_type_ = WeightType::none;
  bool may_have_self_loops_ = true;
  bool may_have_parallel_edges_ = true;
  Place offsets_, targets_, ids_;
  memory::HostArray<std::uint64_t> original_ids_;
  memory::HostArray<std::uint32_t> has_edges_;
  std::uint64_t sources_ = 0;
  Vertex busiest_ = 0;
  EdgeOffset max_degree_ = 0;
  std::vector<FileChunk> chunks_;
  mutable std::vector<std::atomic<bool>> is_checked_;  ///< Of the blocks of the targets.
  mutable std::atomic<std::uint64_t> checking_bytes_{0};
};

/// Lists in memory: a chunk of the file.
struct FileWindow {
  FileChunk chunk;
  std::uint32_t slot = 0;               ///< Of the reader's windows.
  const EdgeOffset* offsets = nullptr;  ///< Of the chunk's rows, and one more.
  const Vertex* targets = nullptr;      ///< Of the chunk's edges.
};

/// Reads chunks of a file ahead of who takes them, in the order of their addresses.
class ListReader {
 public:
  /// Windows are in memory that `device` reads: pinned where it is a GPU. `file` outlives this.
  /// Throws MemoryError, ThreadError.
  ListReader(const EdgeFile& file, const exec::Device& device);
  ListReader(const ListReader&) = delete;
  ListReader& operator=(const ListReader&) = delete;

  /// Begins to read the chunks with these numbers.
  void start(std::vector<std::uint32_t> chunks);
  /// As WindowReader's. Throws InputError for what cannot be read, or is wrong.
  [[nodiscard]] std::optional<FileWindow> next();
  void release() { reader_.release(); }

  [[nodiscard]] std::uint32_t windows() const noexcept { return reader_.slots(); }
  /// Read from the file since this was made: offsets and lists, in whole units of the disk.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;
  /// Seconds that next() has waited for the file.
  [[nodiscard]] double waited_seconds() const noexcept { return reader_.waited_seconds(); }

 private:
  const EdgeFile& file_;
  memory::Buffer<char> memory_;
  std::vector<std::uint32_t> chunks_;
  files::WindowReader reader_;  ///< Behind all that its threads look at.
  std::uint64_t checked_before_;
};

}  // namespace warren::graph
