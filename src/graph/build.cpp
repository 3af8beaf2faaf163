// SPDX-License-Identifier: Apache-2.0
// From edges to CSR in two readings, or more where many edges are duplicates. The offsets array is
// all that is needed besides the graph's own columns: shifted by one it first counts, then holds
// where each row starts, and, since filling a row moves its start to its end, ends as what it must
// be.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "warren/core/interrupt_point.hpp"
#include "warren/graph/builder.hpp"

#include "graph/build_bands.hpp"
#include "graph/build_rows.hpp"
#include "graph/build_sinks.hpp"
#include "graph/build_sort.hpp"

namespace warren::graph {
namespace {

using detail::Columns;
using detail::NoWeight;
using detail::ReadingTotals;

constexpr std::uint64_t kScanBlock = std::uint64_t{1} << 18;  // Vertices a thread scans at a time.

// Counters in memory that the system gives page by page as ids occur.
class CounterReservation {
 public:
  explicit CounterReservation(std::uint64_t counters)
      : bytes_((counters + kScanBlock - 1) / kScanBlock * kScanBlock * sizeof(EdgeOffset)) {
    void* pointer = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pointer == MAP_FAILED) {
      throw MemoryError("the host (address space)", bytes_, 0,
                        "raise the limit of virtual memory (ulimit -v)");
    }
    counters_ = static_cast<EdgeOffset*>(pointer);
  }
  ~CounterReservation() { (void)munmap(counters_, bytes_); }
  CounterReservation(const CounterReservation&) = delete;
  CounterReservation& operator=(const CounterReservation&) = delete;

  [[nodiscard]] EdgeOffset* data() const { return counters_; }
  /// Gives the memory of counters [begin, end) back: whole scan blocks, which are whole pages.
  void release(std::uint64_t begin, std::uint64_t end) const {
    (void)madvise(counters_ + begin, (end - begin) * sizeof(EdgeOffset), MADV_DONTNEED);
  }

 private:
  std::uint64_t bytes_;
  EdgeOffset* counters_ = nullptr;
};

// Reads the whole source, each thread with a sink of its own from make_sink(), and adds up what the
// sinks saw.
template <class MakeSink>
ReadingTotals read_all(EdgeSource& source, exec::ThreadPool& pool, MakeSink&& make_sink) {
  const std::uint64_t pieces = source.pieces();
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  ReadingTotals totals;
  pool.run([&](int) {
    try {
      auto sink = make_sink();
      while (!failed.load(std::memory_order_relaxed)) {
        const std::uint64_t piece = next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= pieces) break;
        interrupt_point();
        source.read(piece, sink);
      }
      const std::scoped_lock lock(mutex);
      totals.add(sink.totals());
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      throw;
    }
  });
  return totals;
}

template <detail::IdLimit kLimit>
ReadingTotals count(EdgeSource& source, EdgeOffset* counts, std::uint64_t limit,
                    const BuildOptions& options, exec::ThreadPool& pool) {
  using detail::CountSink;
  if (pool.size() > 1 && source.pieces() > 1) {
    return read_all(source, pool, [&] { return CountSink<true, kLimit>(counts, limit, options); });
  }
  return read_all(source, pool, [&] { return CountSink<false, kLimit>(counts, limit, options); });
}

// starts[v] = sum of counts[0 .. v), in parallel; `starts` may be `counts`. Calls done(begin, end)
// for blocks of counts no longer needed.
template <class Done>
void exclusive_scan(const EdgeOffset* counts, EdgeOffset* starts, std::uint64_t size,
                    exec::ThreadPool& pool, Done&& done) {
  std::vector<EdgeOffset> before((size + kScanBlock - 1) / kScanBlock);
  pool.parallel_for(0, size, kScanBlock, [&](std::uint64_t begin, std::uint64_t end) {
    EdgeOffset sum = 0;
    for (std::uint64_t v = begin; v < end; ++v) sum += counts[v];
    before[begin / kScanBlock] = sum;
  });
  EdgeOffset total = 0;
  for (EdgeOffset& b : before) total += std::exchange(b, total);
  pool.parallel_for(0, size, kScanBlock, [&](std::uint64_t begin, std::uint64_t end) {
    EdgeOffset sum = before[begin / kScanBlock];
    for (std::uint64_t v = begin; v < end; ++v) {
      const EdgeOffset here = counts[v];
      starts[v] = sum;
      sum += here;
    }
    done(begin, end);
  });
}

// First reading of a source that knows its number of vertices. Leaves offsets[v + 1] = start of row
// v.
ReadingTotals start_rows(EdgeSource& source, Graph& graph, const BuildOptions& options,
                         exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  graph.offsets = memory::HostArray<EdgeOffset>(n + 1);
  EdgeOffset* offsets = graph.offsets.data();
  pool.parallel_for(0, n + 1, kScanBlock, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(offsets + begin, 0, (end - begin) * sizeof(EdgeOffset));
  });
  ReadingTotals totals = count<detail::IdLimit::announced>(source, offsets + 1, n, options, pool);
  exclusive_scan(offsets + 1, offsets + 1, n, pool, [](std::uint64_t, std::uint64_t) {});
  return totals;
}

void check_vertices(std::uint64_t vertices) {
  if (vertices > kMaxVertices) {
    throw InputError("a graph of " + std::to_string(vertices) + " vertices is past the limit of " +
                     std::to_string(kMaxVertices));
  }
}

// The largest id of a source plus one.
std::uint64_t find_vertices(EdgeSource& source, exec::ThreadPool& pool) {
  return read_all(source, pool, [] { return detail::LargestIdSink(); }).vertices;
}

// The same where the first reading is what finds the number of vertices: into as many counters as
// are likely to do, then, where a larger id was met, into as many as it needs.
ReadingTotals start_rows_unknown(EdgeSource& source, Graph& graph, const BuildOptions& options,
                                 exec::ThreadPool& pool) {
  std::optional<CounterReservation> counters;
  ReadingTotals totals;
  const auto count_up_to = [&](std::uint64_t limit) {
    counters.emplace(limit);
    totals = count<detail::IdLimit::guessed>(source, counters->data(), limit, options, pool);
  };
  try {
    count_up_to(std::clamp<std::uint64_t>(source.likely_vertices(), 1, kMaxVertices));
  } catch (const detail::IdPastGuess&) {
    const std::uint64_t needed = find_vertices(source, pool);
    check_vertices(needed);
    count_up_to(needed);
  }
  const std::uint64_t n = std::max(totals.vertices, source.vertices_after_first_pass());
  check_vertices(n);
  graph.vertices = static_cast<Vertex>(n);
  graph.offsets = memory::HostArray<EdgeOffset>(n + 1);
  graph.offsets[0] = 0;
  // Vertices that only a comment announced have no counters, and no edges.
  const std::uint64_t counted = std::min(n, totals.vertices);
  exclusive_scan(counters->data(), graph.offsets.data() + 1, counted, pool,
                 [&](std::uint64_t begin, std::uint64_t end) { counters->release(begin, end); });
  pool.parallel_for(counted + 1, n + 1, kScanBlock, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(graph.offsets.begin() + begin, graph.offsets.begin() + end, totals.entries);
  });
  return totals;
}

// The graph's columns as they are being filled.
template <class Weight>
class Filling {
 public:
  Filling(Graph& graph, memory::HostArray<Weight>* weights, std::uint64_t capacity)
      : targets_(&graph.targets), weights_(weights) {
    resize(capacity, 0);
  }

  /// Makes room for `entries` more. Copies only where the plan has erred.
  void reserve(std::uint64_t entries) {
    if (left_ + entries > targets_->size()) resize(left_ + entries, left_);
  }
  /// From behind what has been merged.
  [[nodiscard]] Columns<Weight> rest() const {
    Columns<Weight> columns{targets_->data() + left_, nullptr};
    if constexpr (!std::is_same_v<Weight, NoWeight>) columns.weights = weights_->data() + left_;
    return columns;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  void add(std::uint64_t entries) { left_ += entries; }
  void finish() {
    if (left_ == targets_->size()) return;
    targets_->shrink(left_);
    if constexpr (!std::is_same_v<Weight, NoWeight>) weights_->shrink(left_);
  }

 private:
  void resize(std::uint64_t size, std::uint64_t kept) {
    resize(*targets_, size, kept);
    if constexpr (!std::is_same_v<Weight, NoWeight>) resize(*weights_, size, kept);
  }
  template <class T>
  static void resize(memory::HostArray<T>& array, std::uint64_t size, std::uint64_t kept) {
    memory::HostArray<T> larger(size);
    in_pieces(0, kept, kScanBlock, [&](std::uint64_t begin, std::uint64_t end) {
      std::copy(array.data() + begin, array.data() + end, larger.data() + begin);
    });
    array = std::move(larger);
  }

  memory::HostArray<Vertex>* targets_;
  memory::HostArray<Weight>* weights_;
  std::uint64_t left_ = 0;  // Entries merged.
};

detail::Duplicates duplicates_of(const BuildOptions& options) {
  if (options.keep_duplicates) return detail::Duplicates::kept;
  return options.sum_duplicates ? detail::Duplicates::summed : detail::Duplicates::smallest;
}

// Puts the band's edges into its rows and merges them. Its offsets count from the band's first
// entry meanwhile.
template <class Weight>
void fill_band(EdgeSource& source, Graph& graph, Filling<Weight>& filling, const detail::Band& band,
               const ReadingTotals& counted, const BuildOptions& options, exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  EdgeOffset* cursors = graph.offsets.data() + 1;
  const EdgeOffset start = band.first < n ? cursors[band.first] : 0;
  filling.reserve(band.entries);
  const auto shift = [&](EdgeOffset amount) {
    pool.parallel_for(band.first, band.last, kScanBlock,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        for (std::uint64_t v = begin; v < end; ++v) cursors[v] += amount;
                      });
  };
  if (start != 0) shift(0 - start);
  const auto read = [&](auto is_shared) {
    return read_all(source, pool, [&] {
      return detail::FillSink<Weight, decltype(is_shared)::value>(cursors, n, filling.rest(), band,
                                                                  options);
    });
  };
  const bool is_shared = pool.size() > 1 && source.pieces() > 1;
  const ReadingTotals filled = is_shared ? read(std::true_type()) : read(std::false_type());
  if (filled.entries != counted.entries || filled.checksum != counted.checksum)
    detail::FillSink<Weight, true>::changed();

  // A row begins where the one before ends: the band's first at 0.
  const EdgeOffset before = std::exchange(graph.offsets[band.first], 0);
  const std::uint64_t left =
      detail::finish_rows(band.last - band.first, n, graph.offsets.data() + band.first,
                          filling.rest(), duplicates_of(options), pool);
  graph.offsets[band.first] = before;
  if (filling.left() != 0) shift(filling.left());
  filling.add(left);
}

template <class Weight>
void fill(EdgeSource& source, Graph& graph, memory::HostArray<Weight>* weights,
          const ReadingTotals& counted, const BuildOptions& options, exec::ThreadPool& pool) {
  const detail::BandPlan plan =
      detail::plan_bands(counted.sample, graph.offsets.data() + 1, graph.vertices, counted.entries);
  Filling<Weight> filling(graph, weights, plan.capacity);
  for (const detail::Band& band : plan.bands)
    fill_band(source, graph, filling, band, counted, options, pool);
  filling.finish();
}

}  // namespace

Graph build(EdgeSource& source, const BuildOptions& options, exec::ThreadPool& pool) {
  Graph graph;
  graph.weight_type = source.weight_type();
  graph.symmetry = options.symmetrize ? Symmetry::symmetric : Symmetry::unknown;
  const std::uint64_t known = source.vertices();
  ReadingTotals counted;
  if (known == EdgeSource::kUnknownVertices) {
    counted = start_rows_unknown(source, graph, options, pool);
  } else {
    check_vertices(known);
    graph.vertices = static_cast<Vertex>(known);
    counted = start_rows(source, graph, options, pool);
  }
  switch (graph.weight_type) {
    case WeightType::none:
      fill<NoWeight>(source, graph, nullptr, counted, options, pool);
      break;
    case WeightType::int32:
      fill(source, graph, &graph.weights_int, counted, options, pool);
      break;
    case WeightType::float32:
      fill(source, graph, &graph.weights_float, counted, options, pool);
      break;
  }
  return graph;
}

}  // namespace warren::graph
