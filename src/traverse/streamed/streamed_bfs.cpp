// SPDX-License-Identifier: Apache-2.0
// The host side of a BFS over a file: which windows a level reads, and when it ends.
#include <algorithm>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/streamed.hpp"

#include "traverse/streamed/list_stream.hpp"
#include "traverse/streamed/result_array.hpp"
#include "traverse/streamed/streamed_bfs_kernels.hpp"

namespace warren::traverse {

class StreamedBfsMemory {
 public:
  StreamedBfsMemory(const exec::Device& device, const graph::EdgeFile& file, StreamCheck check)
      : file_(file),
        stream_(device),
        lists_(stream_, file, std::move(check)),
        words_(bitmap_words(file.vertices())),
        depth_(std::make_shared<memory::Buffer<Vertex>>(device, file.vertices())),
        parent_(std::make_shared<memory::Buffer<Vertex>>(device, file.vertices())),
        frontier_(device, words_),
        seen_(device, words_),
        next_(device, words_),
        chunks_(device, file.chunks().size()),
        wishes_(device, file.chunks().size()),
        reached_(device, 1) {
    std::vector<RowRange> rows;
    rows.reserve(file.chunks().size());
    for (const graph::FileChunk& chunk : file.chunks()) rows.push_back({chunk.first, chunk.rows});
    chunks_.upload(stream_, rows);
    if (pulls() && device.is_cuda()) {
      has_edges_ = memory::Buffer<BitmapWord>(device, words_);
      has_edges_.upload(stream_, file.has_edges());
    }
    stream_.synchronize();
  }

  StreamedBfsResult run(std::span<const Vertex> sources, const BfsLimits& limits);

  [[nodiscard]] memory::HostArray<Vertex> depth() const { return on_host(stream_, depth_); }
  [[nodiscard]] memory::HostArray<Vertex> parent() const { return on_host(stream_, parent_); }

 private:
  [[nodiscard]] bool pulls() const { return file_.symmetry() == graph::Symmetry::symmetric; }
  void begin(std::span<const Vertex> sources);
  /// Gives what was reached its depth; how many vertices that are.
  [[nodiscard]] std::uint64_t finish_level(std::uint32_t level);
  [[nodiscard]] bool are_reached(const std::vector<Vertex>& targets) const;

  /// What a level reads.
  struct Level {
    bool pulls = false;
    std::vector<std::uint32_t> chunks;
  };
  [[nodiscard]] Level choose(std::uint64_t frontier) const;

  const graph::EdgeFile& file_;
  exec::Stream stream_;
  ListStream lists_;
  const std::uint64_t words_;
  std::shared_ptr<memory::Buffer<Vertex>> depth_, parent_;
  memory::Buffer<BitmapWord> frontier_, seen_, next_;
  memory::Buffer<BitmapWord> has_edges_;  ///< Of a GPU.
  memory::Buffer<RowRange> chunks_;
  memory::Buffer<std::uint8_t> wishes_;
  memory::Buffer<std::uint64_t> reached_;
};

void StreamedBfsMemory::begin(std::span<const Vertex> sources) {
  lists_.each(vertex_tasks(file_.vertices()),
              ClearVisits{depth_->data(), parent_->data(), frontier_.data(), seen_.data(),
                          next_.data(), file_.vertices()});
  stream_.synchronize();
  // Words and parents of the sources: few.
  for (const Vertex source : sources) {
    BitmapWord word = 0;
    exec::copy(stream_, &word, next_.data() + source / kWordBits, sizeof(word));
    stream_.synchronize();
    word |= bit_of(source);
    exec::copy(stream_, next_.data() + source / kWordBits, &word, sizeof(word));
    exec::copy(stream_, parent_->data() + source, &source, sizeof(source));
    stream_.synchronize();
  }
}

std::uint64_t StreamedBfsMemory::finish_level(std::uint32_t level) {
  exec::fill_bytes(stream_, reached_.data(), 0, sizeof(std::uint64_t));
  lists_.each((words_ + kWordSpan - 1) / kWordSpan,
              FinishLevel{frontier_.data(), seen_.data(), next_.data(), depth_->data(), words_,
                          level, reached_.data()});
  return reached_.to_host(stream_).front();
}

bool StreamedBfsMemory::are_reached(const std::vector<Vertex>& targets) const {
  return std::ranges::all_of(targets, [&](Vertex target) {
    Vertex parent = kNoVertex;
    exec::copy(stream_, &parent, parent_->data() + target, sizeof(parent));
    stream_.synchronize();
    return parent != kNoVertex;
  });
}

StreamedBfsMemory::Level StreamedBfsMemory::choose(std::uint64_t frontier) const {
  const BitmapWord* const has_edges = !pulls()                     ? nullptr
                                      : stream_.device().is_cuda() ? has_edges_.data()
                                                                   : file_.has_edges().data();
  lists_.each(file_.chunks().size(), FindChunks{chunks_.data(), frontier_.data(), seen_.data(),
                                                has_edges, wishes_.data()});
  const std::vector<std::uint8_t> wishes = wishes_.to_host(stream_);
  std::uint64_t bytes[2] = {0, 0};
  for (std::size_t c = 0; c < wishes.size(); ++c) {
    const graph::FileChunk& chunk = file_.chunks()[c];
    const std::uint64_t size = chunk.edges * sizeof(Vertex) + chunk.rows * sizeof(EdgeOffset);
    if ((wishes[c] & kWantsPush) != 0) bytes[0] += size;
    if ((wishes[c] & kWantsPull) != 0) bytes[1] += size;
  }
  // Where both ways read about the same, the one with less to do: many vertices find a parent with
  // their first neighbours, few have few neighbours to reach.
  constexpr std::uint64_t kManyVertices = 20, kSame = 16;
  const bool is_same =
      bytes[1] < bytes[0] + bytes[0] / kSame && bytes[0] < bytes[1] + bytes[1] / kSame;
  Level level;
  level.pulls =
      pulls() && (is_same ? frontier > file_.vertices() / kManyVertices : bytes[1] < bytes[0]);
  const std::uint8_t wish = level.pulls ? kWantsPull : kWantsPush;
  for (std::size_t c = 0; c < wishes.size(); ++c) {
    if ((wishes[c] & wish) != 0) level.chunks.push_back(static_cast<std::uint32_t>(c));
  }
  return level;
}

StreamedBfsResult StreamedBfsMemory::run(std::span<const Vertex> sources, const BfsLimits& limits) {
  require(!sources.empty(), "sources: got none, expected one vertex or more");
  const auto check = [&](Vertex v, const char* what) {
    require(v < file_.vertices(),
            fmt::format("{} {} is no vertex of {}", what, v, file_.vertices()));
  };
  for (const Vertex source : sources) check(source, "source");
  for (const Vertex target : limits.targets) check(target, "target");
  StreamedBfsResult result;
  const std::uint64_t read_before = lists_.bytes_read();
  const double waited_before = lists_.waited_seconds();
  const double start = now_seconds();
  begin(sources);
  std::uint64_t frontier = finish_level(0);
  for (std::uint32_t depth = 0;; ++depth) {
    result.levels.push_back(frontier);
    result.reached += frontier;
    result.sum_depth += depth * frontier;
    result.max_depth = depth;
    if (depth >= limits.depth || (!limits.targets.empty() && are_reached(limits.targets))) break;
    Level level = choose(frontier);
    if (level.chunks.empty()) break;
    const double level_start = now_seconds();
    if (level.pulls) {
      ++result.pull_levels;
      lists_.pass(std::move(level.chunks),
                  PullUnseen{frontier_.data(), seen_.data(), next_.data(), parent_->data()});
    } else {
      lists_.pass(std::move(level.chunks),
                  PushFrontier{frontier_.data(), seen_.data(), next_.data(), parent_->data()});
    }
    frontier = finish_level(depth + 1);
    trace_span("streamed bfs level", 0, level_start, now_seconds(),
               fmt::format("{{\"depth\":{},\"pull\":{}}}", depth + 1, level.pulls));
    if (frontier == 0) break;
  }
  result.seconds = now_seconds() - start;
  result.bytes_read = lists_.bytes_read() - read_before;
  result.waited_seconds = lists_.waited_seconds() - waited_before;
  return result;
}

StreamedBfs::StreamedBfs(const exec::Device& device, const graph::EdgeFile& file, StreamCheck check)
    : memory_(std::make_unique<StreamedBfsMemory>(device, file, std::move(check))) {}
StreamedBfs::~StreamedBfs() = default;

StreamMemory StreamedBfs::memory(const graph::EdgeFile& file, exec::DeviceKind kind) {
  const std::uint64_t n = file.vertices(), words = bitmap_words(n) * sizeof(BitmapWord);
  const std::uint64_t chunks = file.chunks().size() * (sizeof(RowRange) + 1);
  StreamMemory memory{file.window_memory(), 2 * n * sizeof(Vertex) + 3 * words + chunks};
  if (kind == exec::DeviceKind::cuda) {
    memory.device += words + ListStream::device_bytes(file);
    memory.host += 2 * n * sizeof(Vertex);  // What is told.
  } else {
    memory.host += std::exchange(memory.device, 0);
  }
  return memory;
}

StreamedBfsResult StreamedBfs::run(std::span<const Vertex> sources, const BfsLimits& limits) {
  return memory_->run(sources, limits);
}
memory::HostArray<Vertex> StreamedBfs::depth() const { return memory_->depth(); }
memory::HostArray<Vertex> StreamedBfs::parent() const { return memory_->parent(); }

std::uint64_t streamed_input_edges(const graph::EdgeFile& file, std::span<const Vertex> depth,
                                   const StreamCheck& check) {
  std::uint64_t edges = 0;
  file.for_each_offsets([&](Vertex first, std::span<const EdgeOffset> offsets) {
    if (check) check();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      if (depth[first + i] != kNoVertex) edges += offsets[i + 1] - offsets[i];
    }
  });
  if (file.symmetry() != graph::Symmetry::symmetric) return edges;
  std::uint64_t self_loops = 0;
  if (file.may_have_self_loops()) {
    graph::ListReader reader(file, exec::Device::cpu(1));
    std::vector<std::uint32_t> chunks(file.chunks().size());
    std::iota(chunks.begin(), chunks.end(), std::uint32_t{0});
    reader.start(std::move(chunks));
    while (const auto window = reader.next()) {
      if (check) check();
      const graph::FileChunk& chunk = window->chunk;
      for (Vertex row = 0; row < chunk.rows; ++row) {
        const Vertex v = chunk.first + row;
        if (depth[v] == kNoVertex) continue;
        const EdgeOffset low = std::max(window->offsets[row], chunk.begin);
        const EdgeOffset high = std::min(window->offsets[row + 1], chunk.begin + chunk.edges);
        if (low >= high) continue;
        const auto [a, b] = std::equal_range(window->targets + (low - chunk.begin),
                                             window->targets + (high - chunk.begin), v);
        self_loops += static_cast<std::uint64_t>(b - a);
      }
      reader.release();
    }
  }
  return (edges + self_loops) / 2;
}

}  // namespace warren::traverse
