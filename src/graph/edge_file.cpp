// SPDX-License-Identifier: Apache-2.0
// What is checked when: the header, its tables, the offsets and the ids as the file is opened; of
// lists each block's checksum with the first window that has some of it, and each window for
// leading to vertices that there are, so that kernels need not look.
#include "warren/graph/edge_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/mapped_file.hpp"

#include "graph/io/csr_words.hpp"
#include "graph/io/wgr_table.hpp"

namespace warren::graph {
namespace {

namespace wgr = io::wgr;
using files::PositionedFile;

constexpr std::uint64_t kBlock = wgr::kBlockBytes;
constexpr std::uint32_t kBitsOfWord = 32;

/// The first address in a block that is a multiple of the alignment.
char* aligned(char* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return data + (PositionedFile::kAlignment - address % PositionedFile::kAlignment) %
                    PositionedFile::kAlignment;
}

struct FreeMemory {
  void operator()(char* data) const { std::free(data); }
};
using AlignedBlock = std::unique_ptr<char, FreeMemory>;

AlignedBlock aligned_block(std::uint64_t bytes) {
  AlignedBlock block(static_cast<char*>(
      std::aligned_alloc(PositionedFile::kAlignment, PositionedFile::buffer_bytes(bytes))));
  if (block == nullptr) throw MemoryError("the host", bytes, 0);
  return block;
}

/// Cuts rows, told one after the other, into chunks.
class ChunkCutter {
 public:
  ChunkCutter(std::uint64_t most_edges, std::uint64_t most_rows, std::vector<FileChunk>& chunks)
      : most_edges_(most_edges), most_rows_(most_rows), chunks_(chunks) {}

  /// A row with edges [begin, end), of which there are some.
  void add(Vertex row, EdgeOffset begin, EdgeOffset end) {
    if (is_open_ && row - open_.first >= most_rows_) close(begin);
    if (!is_open_) open(row, begin);
    last_ = row;
    while (end > limit_) {
      const EdgeOffset cut = limit_;
      close(cut);
      open(row, cut);
    }
    if (end == limit_) close(end);
  }
  void finish(EdgeOffset end) {
    if (is_open_) close(end);
  }

 private:
  void open(Vertex row, EdgeOffset begin) {
    open_ = {begin, 0, row, 0};
    limit_ = (begin / most_edges_ + 1) * most_edges_;
    is_open_ = true;
    last_ = row;
  }
  void close(EdgeOffset end) {
    open_.edges = static_cast<std::uint32_t>(end - open_.begin);
    open_.rows = last_ - open_.first + 1;
    chunks_.push_back(open_);
    is_open_ = false;
  }

  const std::uint64_t most_edges_, most_rows_;
  std::vector<FileChunk>& chunks_;
  bool is_open_ = false;
  FileChunk open_;
  EdgeOffset limit_ = 0;
  Vertex last_ = 0;
};

/// Reads a place of the file from its first byte to its last, a block at a time, in order.
void read_blocks(const PositionedFile& file, std::uint64_t offset, std::uint64_t bytes,
                 const files::WindowReader::Check& check,
                 const std::function<void(std::uint64_t, const char*, std::uint64_t)>& f,
                 std::uint64_t* read) {
  constexpr std::uint32_t kSlots = 4;
  constexpr int kReaders = 3;
  const AlignedBlock memory = aligned_block(kSlots * files::WindowReader::slot_bytes(kBlock, 0));
  files::WindowReader reader(file, memory.get(), kSlots, kBlock, 0, kReaders);
  const auto bytes_of = [bytes](std::uint64_t block) {
    return std::min(kBlock, bytes - block * kBlock);
  };
  reader.start(
      wgr::blocks(bytes),
      [&](std::uint64_t block) {
        return files::WindowPlaces{{offset + block * kBlock, 0}, {bytes_of(block), 0}};
      },
      check);
  while (const auto window = reader.next()) {
    f(window->number, window->data[0], bytes_of(window->number));
    reader.release();
  }
  if (read != nullptr) *read += reader.bytes_read();
}

}  // namespace

EdgeFileOptions EdgeFileOptions::within(std::uint64_t bytes) {
  constexpr std::uint64_t kShare = 64;  // All windows take a fifth of the memory, at most.
  constexpr std::uint64_t kLeast = std::uint64_t{64} << 10;
  EdgeFileOptions options;
  std::uint64_t window = options.window_bytes;
  while (window > kLeast && window > bytes / kShare) window /= 2;
  options.window_bytes = window;
  return options;
}

EdgeFile::EdgeFile(const std::string& path, const EdgeFileOptions& options)
    : file_(path), options_(options) {
  require(options.window_bytes > 0 && options.window_bytes % PositionedFile::kAlignment == 0 &&
              options.window_bytes / 4 <= ~std::uint32_t{0},
          fmt::format("window_bytes: got {}, expected a multiple of {} below 16 GiB",
                      options.window_bytes, PositionedFile::kAlignment));
  require(options.windows >= 2, "windows: expected 2 or more");
  require(options.readers >= 1, "readers: expected 1 or more");
  read_table();
  if (ids_.bytes > 0) check_original_ids();
  read_offsets();
}

void EdgeFile::read_table() {
  const std::string& path = file_.path();
  auto mapped = std::make_shared<files::MappedFile>(path);
  const wgr::Header header = wgr::read_header(*mapped, kMaxVertices);
  const std::vector<wgr::Section> sections = wgr::read_sections(*mapped, header);
  require(header.version == wgr::kVersion,
          path +
              ": its neighbour lists are compressed, and are not read from the file: write them "
              "plain (warren convert GRAPH OUT.wgr)");
  require((header.flags & wgr::rows_sorted) != 0,
          path +
              ": the neighbours of a vertex do not ascend, and are not read from the file: "
              "write it anew (warren convert GRAPH OUT.wgr)");
  vertices_ = static_cast<Vertex>(header.vertices);
  edges_ = header.edges;
  symmetry_ = static_cast<Symmetry>(header.symmetry);
  weight_type_ = static_cast<WeightType>(header.weight_type);
  may_have_self_loops_ = (header.flags & wgr::no_self_loops) == 0;
  may_have_parallel_edges_ = (header.flags & wgr::no_parallel_edges) == 0;
  const auto find = [&](wgr::SectionKind kind, std::uint64_t count, std::uint64_t width,
                        const char* name) {
    const wgr::Section* const section =
        wgr::section_of(*mapped, sections, kind, count, width, name);
    if (section == nullptr) return Place();
    return Place{section->offset, section->bytes, wgr::checksums_of(*mapped, header, *section)};
  };
  wgr::refuse_unknown(path, sections);
  wgr::check_edges(*mapped, header);
  offsets_ = find(wgr::SectionKind::offsets, header.vertices + 1, sizeof(EdgeOffset), "offsets");
  targets_ = find(wgr::SectionKind::targets, edges_, sizeof(Vertex), "targets");
  ids_ = find(wgr::SectionKind::original_ids, header.vertices, sizeof(std::uint64_t), nullptr);
  is_checked_ = std::vector<std::atomic<bool>>(targets_.checksums.size());
  if (ids_.bytes == 0) return;
  auto* ids = reinterpret_cast<std::uint64_t*>(const_cast<char*>(mapped->data() + ids_.offset));
  original_ids_ = memory::HostArray<std::uint64_t>(ids, vertices_, mapped);
}

void EdgeFile::read_offsets() {
  has_edges_ = memory::HostArray<std::uint32_t>(
      (std::uint64_t{vertices_} + kBitsOfWord - 1) / kBitsOfWord, 0);
  ChunkCutter cutter(chunk_edges(), chunk_rows(), chunks_);
  EdgeOffset before = 0;
  const auto wrong = [&](std::uint64_t v, const std::string& message) {
    file_.fail(offsets_.offset + v * sizeof(EdgeOffset), message);
  };
  read_blocks(
      file_, offsets_.offset, offsets_.bytes,
      [&](const files::Window& window) { check_block(offsets_, window.number, window.data[0]); },
      [&](std::uint64_t block, const char* data, std::uint64_t bytes) {
        const auto* values = reinterpret_cast<const EdgeOffset*>(data);
        const std::uint64_t first = block * (kBlock / sizeof(EdgeOffset));
        for (std::uint64_t i = 0; i < bytes / sizeof(EdgeOffset); ++i) {
          const EdgeOffset value = values[i];
          const std::uint64_t v = first + i;
          if (v == 0 && value != 0) wrong(0, io::first_row_words(value));
          if (value < before || value > edges_)
            wrong(v, io::row_words(v - 1, before, value, edges_));
          if (value > before) {
            const auto row = static_cast<Vertex>(v - 1);
            has_edges_[row / kBitsOfWord] |= std::uint32_t{1} << row % kBitsOfWord;
            ++sources_;
            if (value - before > max_degree_) {
              max_degree_ = value - before;
              busiest_ = row;
            }
            cutter.add(row, before, value);
          }
          before = value;
        }
      },
      nullptr);
  if (before != edges_) wrong(vertices_, io::last_row_words(before, edges_));
  cutter.finish(edges_);
}

std::uint64_t EdgeFile::list_bytes() const noexcept { return offsets_.bytes + targets_.bytes; }

std::uint64_t EdgeFile::window_memory() const noexcept {
  return options_.windows *
             files::WindowReader::slot_bytes(chunk_edges() * sizeof(Vertex),
                                             (chunk_rows() + 1) * sizeof(EdgeOffset)) +
         PositionedFile::kAlignment;
}

void EdgeFile::check_block(const Place& place, std::uint64_t block, const char* data) const {
  wgr::check_block(file_, place.offset, place.bytes, place.checksums, block, data);
}

void EdgeFile::check_original_ids() const {
  io::AscendingIds looked(path());
  read_blocks(
      file_, ids_.offset, ids_.bytes,
      [&](const files::Window& window) { check_block(ids_, window.number, window.data[0]); },
      [&](std::uint64_t, const char* data, std::uint64_t bytes) {
        looked.look({reinterpret_cast<const std::uint64_t*>(data), bytes / sizeof(std::uint64_t)});
      },
      nullptr);
}

void EdgeFile::for_each_offsets(const std::function<void(Vertex, std::span<const EdgeOffset>)>& f,
                                std::uint64_t* bytes) const {
  constexpr std::uint64_t kValues = kBlock / sizeof(EdgeOffset);
  std::vector<EdgeOffset> values;  // The last one of the block before, and a block's.
  values.reserve(kValues + 1);
  read_blocks(
      file_, offsets_.offset, offsets_.bytes, {},
      [&](std::uint64_t block, const char* data, std::uint64_t length) {
        if (block == 0) values.clear();
        const EdgeOffset last = values.empty() ? 0 : values.back();
        values.clear();
        if (block > 0) values.push_back(last);
        const auto* read = reinterpret_cast<const EdgeOffset*>(data);
        values.insert(values.end(), read, read + length / sizeof(EdgeOffset));
        if (values.size() < 2) return;
        f(static_cast<Vertex>(block * kValues - (block > 0 ? 1 : 0)), values);
      },
      bytes);
}

files::WindowPlaces EdgeFile::places(const FileChunk& chunk) const {
  files::WindowPlaces places;
  places.offset = {targets_.offset + chunk.begin * sizeof(Vertex),
                   offsets_.offset + chunk.first * sizeof(EdgeOffset)};
  places.bytes = {chunk.edges * sizeof(Vertex),
                  (std::uint64_t{chunk.rows} + 1) * sizeof(EdgeOffset)};
  return places;
}

void EdgeFile::check(const FileChunk& chunk, const char* offsets, const char* targets) const {
  check_blocks(chunk, targets);
  const auto* row = reinterpret_cast<const EdgeOffset*>(offsets);
  bool ascends = row[0] <= chunk.begin && row[chunk.rows] >= chunk.begin + chunk.edges &&
                 row[chunk.rows] <= edges_;
  for (Vertex r = 0; r < chunk.rows; ++r) ascends &= row[r] <= row[r + 1];
  if (!ascends) {
    file_.fail(offsets_.offset + chunk.first * sizeof(EdgeOffset),
               "the offsets from here on are not those that stood here when the file was opened; "
               "leave it as it is, and run again");
  }
  const auto* target = reinterpret_cast<const Vertex*>(targets);
  Vertex largest = 0;
  for (std::uint32_t e = 0; e < chunk.edges; ++e) largest = std::max(largest, target[e]);
  if (largest < vertices_) return;
  const auto e = static_cast<std::uint64_t>(
      std::find_if(target, target + chunk.edges, [&](Vertex v) { return v >= vertices_; }) -
      target);
  file_.fail(
      targets_.offset + (chunk.begin + e) * sizeof(Vertex),
      fmt::format("an edge leads to vertex {}; ids go from 0 to {}", target[e], vertices_ - 1));
}

void EdgeFile::check_blocks(const FileChunk& chunk, const char* targets) const {
  const std::uint64_t begin = chunk.begin * sizeof(Vertex);
  const std::uint64_t end = begin + chunk.edges * sizeof(Vertex);
  AlignedBlock whole;
  for (std::uint64_t block = begin / kBlock; block * kBlock < end; ++block) {
    if (is_checked_[block].load(std::memory_order_relaxed)) continue;
    const std::uint64_t first = block * kBlock;
    const std::uint64_t bytes = std::min(kBlock, targets_.bytes - first);
    if (first >= begin && first + bytes <= end) {
      check_block(targets_, block, targets + (first - begin));
    } else {  // Parts of it are other windows'.
      if (whole == nullptr) whole = aligned_block(kBlock);
      check_block(targets_, block, file_.read(targets_.offset + first, bytes, whole.get()));
      checking_bytes_ += PositionedFile::disk_bytes(targets_.offset + first, bytes);
    }
    is_checked_[block].store(true, std::memory_order_relaxed);
  }
}

ListReader::ListReader(const EdgeFile& file, const exec::Device& device)
    : file_(file),
      memory_(device, memory::MemoryKind::pinned, file.window_memory()),
      reader_(file.file_, aligned(memory_.data()), file.options().windows,
              file.chunk_edges() * sizeof(Vertex), (file.chunk_rows() + 1) * sizeof(EdgeOffset),
              file.options().readers),
      checked_before_(file.checking_bytes_) {}

void ListReader::start(std::vector<std::uint32_t> chunks) {
  reader_.start(0, {});  // No thread looks at the chunks of before.
  chunks_ = std::move(chunks);
  reader_.start(
      chunks_.size(),
      [this](std::uint64_t number) { return file_.places(file_.chunks()[chunks_[number]]); },
      [this](const files::Window& window) {
        file_.check(file_.chunks()[chunks_[window.number]], window.data[1], window.data[0]);
      });
}

std::optional<FileWindow> ListReader::next() {
  const std::optional<files::Window> window = reader_.next();
  if (!window) return std::nullopt;
  return FileWindow{file_.chunks()[chunks_[window->number]], window->slot,
                    reinterpret_cast<const EdgeOffset*>(window->data[1]),
                    reinterpret_cast<const Vertex*>(window->data[0])};
}

std::uint64_t ListReader::bytes_read() const noexcept {
  return reader_.bytes_read() + file_.checking_bytes_ - checked_before_;
}

}  // namespace warren::graph
