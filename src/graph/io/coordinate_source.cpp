// SPDX-License-Identifier: Apache-2.0
// Lines become batches of edges; what a header announced is compared with what was met.
#include "graph/io/coordinate_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/log.hpp"
#include "warren/exec/memory.hpp"

#include "graph/io/decimal_scale.hpp"

namespace warren::graph::io {
namespace {

constexpr std::size_t kCoordinateBatch = 4096;

class NullSink final : public EdgeSink {
 public:
  void take(std::span<const Edge>, std::span<const std::int32_t>, std::span<const float>) override {
  }
};

// Meets what is wrong with a source, the first first.
void read_whole(EdgeSource& source) {
  NullSink sink;
  for (std::uint64_t piece = 0; piece < source.pieces(); ++piece) {
    interrupt_point();
    source.read(piece, sink);
  }
}

// The blocks of a piece as lines that the scanner reads.
template <class Body>
void for_each_plain_block(const files::TextFile& file, const CoordinateFormat& format,
                          std::uint64_t piece, Body&& body) {
  if (format.cells == nullptr) return file.for_each_block(piece, body);
  CellReader reader(file, *format.cells, format.syntax.words);
  file.for_each_block(piece, [&](const files::TextBlock& block) { body(reader.plain(block)); });
}

// Edges on their way to a sink.
template <WeightColumn kColumn>
class Batch {
 public:
  Batch(EdgeSink& sink, std::int32_t scale) : sink_(sink), scale_(scale) {}

  void add(Vertex source, Vertex target, const ScannedEdge& scanned) {
    edges_[size_] = {source, target};
    if constexpr (kColumn == WeightColumn::int32) weights_int_[size_] = scanned.weight_int;
    if constexpr (kColumn == WeightColumn::float32) weights_float_[size_] = scanned.weight_float;
    if constexpr (kColumn == WeightColumn::decimal)
      weights_int_[size_] = DecimalScale::units(scanned.weight_real, scale_);
    if (++size_ == kCoordinateBatch) flush();
  }
  void flush() {
    if (size_ == 0) return;
    std::span<const std::int32_t> ints;
    std::span<const float> floats;
    if constexpr (kIsInt) ints = {weights_int_.data(), size_};
    if constexpr (kColumn == WeightColumn::float32) floats = {weights_float_.data(), size_};
    sink_.take({edges_.data(), size_}, ints, floats);
    total_ += size_;
    size_ = 0;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  static constexpr bool kIsInt = kColumn == WeightColumn::int32 || kColumn == WeightColumn::decimal;

  EdgeSink& sink_;
  std::int32_t scale_;
  std::size_t size_ = 0;
  std::uint64_t total_ = 0;
  std::array<Edge, kCoordinateBatch> edges_;
  std::array<std::int32_t, kIsInt ? kCoordinateBatch : 0> weights_int_;
  std::array<float, kColumn == WeightColumn::float32 ? kCoordinateBatch : 0> weights_float_;
};

}  // namespace

CoordinateSource::CoordinateSource(const files::TextFile& file, CoordinateFormat format,
                                   const CompactIds* ids)
    : file_(file), format_(std::move(format)), ids_(ids), edges_of_piece_(file.pieces()) {}

WeightType CoordinateSource::weight_type() const {
  switch (format_.column) {
    case WeightColumn::int32:
    case WeightColumn::decimal:
      return WeightType::int32;
    case WeightColumn::float32:
      return WeightType::float32;
    case WeightColumn::none:
    case WeightColumn::ignored:
    case WeightColumn::complex_ignored:
      break;
  }
  return WeightType::none;
}

std::uint64_t CoordinateSource::likely_vertices() const {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  return std::max(kLeast, file_.likely_text_bytes());
}

std::uint64_t CoordinateSource::edges_met() const {
  return std::accumulate(edges_of_piece_.begin(), edges_of_piece_.end(), std::uint64_t{0});
}

// "# Nodes: N ..." as SNAP writes it.
void CoordinateSource::note_comment(const files::TextBlock& block, const char* at) {
  constexpr std::string_view kWord = "Nodes:";
  if (!format_.node_comments) return;
  const char* p = files::skip_blanks(at + 1);
  if (static_cast<std::size_t>(block.end - p) < kWord.size() ||
      std::string_view(p, kWord.size()) != kWord)
    return;
  p = files::skip_blanks(p + kWord.size());
  std::uint64_t count;
  if (files::parse_unsigned(p, count) == p) return;
  if (count > format_.max_vertices) {
    file_.fail(block, at,
               fmt::format("the comment announces {} vertices; there can be {} at most",
                           files::quoted_token(p), format_.max_vertices));
  }
  std::uint64_t before = announced_vertices_.load();
  while (count > before && !announced_vertices_.compare_exchange_weak(before, count)) {
  }
}

template <WeightColumn kColumn>
bool CoordinateSource::negate(const files::TextBlock& block, ScannedEdge& edge) const {
  constexpr bool kIsInt = kColumn == WeightColumn::int32,
                 kIsFloat = kColumn == WeightColumn::float32;
  if (edge.source == edge.target) {
    if ((kIsInt && edge.weight_int != 0) || (kIsFloat && edge.weight_float != 0.0f)) {
      file_.fail(
          block, edge.at,
          "a value on the diagonal, which a skew-symmetric matrix has none on; leave the "
          "line out, or write all entries of both triangles and 'general' in the first line");
    }
    return false;
  }
  if constexpr (kIsInt) {
    if (edge.weight_int == std::numeric_limits<std::int32_t>::min()) {
      if (!format_.integers_only) throw FloatWeightMet{};
      file_.fail(block, edge.at,
                 "-2147483648 has no opposite of 32 bits; write 'real' for the field in the first "
                 "line");
    }
    edge.weight_int = -edge.weight_int;
  }
  if constexpr (kIsFloat) edge.weight_float = -edge.weight_float;
  std::swap(edge.source, edge.target);
  return true;
}

void CoordinateSource::note_rounding(FirstLine& first, std::uint64_t piece,
                                     const files::TextBlock& block, const ScannedEdge& edge) {
  const std::scoped_lock lock(mutex_);
  if (piece >= first.piece) return;
  first = {piece, fmt::format("line {}: float32 holds {} as {}", file_.line_of(block, edge.at),
                              edge.weight_real, static_cast<double>(edge.weight_float))};
}

template <WeightColumn kColumn, bool kArcs>
void CoordinateSource::read_blocks(std::uint64_t piece, EdgeSink& sink) {
  Batch<kColumn> batch(sink, format_.scale);
  const auto base = format_.syntax.base;
  std::uint64_t mirrored = 0;
  bool has_rounded = false, has_lost = false;
  double rounding = 0.0;
  const auto look = [&](const files::TextBlock& block, const ScannedEdge& e) {
    if constexpr (kColumn == WeightColumn::float32) {
      const auto held = static_cast<double>(e.weight_float);
      if (held == e.weight_real) return;
      rounding = std::max(rounding, std::fabs(e.weight_real - held) / std::fabs(e.weight_real));
      if (!has_rounded) note_rounding(rounded_, piece, block, e);
      has_rounded = true;
      if (has_lost || has_few_digits(e.weight_real)) return;
      note_rounding(lost_, piece, block, e);
      has_lost = true;
    }
  };
  for_each_plain_block(file_, format_, piece, [&](const files::TextBlock& block) {
    const auto on_comment = [&](const char* at) { note_comment(block, at); };
    if (ids_ == nullptr) {
      const auto put = [&](const ScannedEdge& e) {
        batch.add(static_cast<Vertex>(e.source - base), static_cast<Vertex>(e.target - base), e);
      };
      const auto add = [&](ScannedEdge e) {
        put(e);
        look(block, e);
        if (format_.mirror_negated && negate<kColumn>(block, e)) {
          put(e);
          ++mirrored;
        }
      };
      scan_coordinates<kColumn, kArcs>(file_, block, format_.syntax, format_.integers_only, add,
                                       on_comment);
    } else {
      const auto add = [&](const ScannedEdge& e) {
        batch.add(static_cast<Vertex>(ids_->rank(e.source)),
                  static_cast<Vertex>(ids_->rank(e.target)), e);
        look(block, e);
      };
      scan_coordinates<kColumn, kArcs>(file_, block, format_.syntax, format_.integers_only, add,
                                       on_comment);
    }
  });
  batch.flush();
  edges_of_piece_[piece] = batch.total() - mirrored;
  if (rounding == 0.0) return;
  const std::scoped_lock lock(mutex_);
  rounding_ = std::max(rounding_, rounding);
}

void CoordinateSource::read(std::uint64_t piece, EdgeSink& sink) {
  if (format_.syntax.arcs) {
    if (format_.column == WeightColumn::int32)
      return read_blocks<WeightColumn::int32, true>(piece, sink);
    return read_blocks<WeightColumn::ignored, true>(piece, sink);
  }
  switch (format_.column) {
    case WeightColumn::none:
      return read_blocks<WeightColumn::none, false>(piece, sink);
    case WeightColumn::int32:
      return read_blocks<WeightColumn::int32, false>(piece, sink);
    case WeightColumn::float32:
      return read_blocks<WeightColumn::float32, false>(piece, sink);
    case WeightColumn::decimal:
      return read_blocks<WeightColumn::decimal, false>(piece, sink);
    case WeightColumn::ignored:
      return read_blocks<WeightColumn::ignored, false>(piece, sink);
    case WeightColumn::complex_ignored:
      return read_blocks<WeightColumn::complex_ignored, false>(piece, sink);
  }
}

void gather_ids(const files::TextFile& file, const CoordinateFormat& format, exec::ThreadPool& pool,
                CompactIds& ids) {
  constexpr std::size_t kGather = std::size_t{1} << 22;
  const auto gather = [&](std::uint64_t piece, std::vector<std::uint64_t>& large) {
    for_each_plain_block(file, format, piece, [&](const files::TextBlock& block) {
      const auto add = [&](const ScannedEdge& e) {
        ids.add(e.source, large);
        ids.add(e.target, large);
      };
      const auto on_comment = [](const char*) {};
      if (format.column == WeightColumn::none) {
        scan_coordinates<WeightColumn::none, false>(file, block, format.syntax, true, add,
                                                    on_comment);
      } else {
        scan_coordinates<WeightColumn::ignored, false>(file, block, format.syntax, true, add,
                                                       on_comment);
      }
      if (large.size() >= kGather) ids.add_large(large);
    });
  };
  try {
    std::atomic<std::uint64_t> next{0};
    pool.run([&](int) {
      std::vector<std::uint64_t> large;
      for (std::uint64_t piece = next.fetch_add(1); piece < file.pieces();
           piece = next.fetch_add(1)) {
        interrupt_point();
        gather(piece, large);
      }
      ids.add_large(large);
    });
  } catch (const InputError&) {
    std::vector<std::uint64_t> large;
    for (std::uint64_t piece = 0; piece < file.pieces(); ++piece)
      gather(piece, large);  // Meets the first bad line first.
    throw;
  }
  const std::uint64_t count = ids.finish();
  if (count > format.max_vertices) {
    throw InputError(fmt::format("{}: {} different ids occur; a graph has {} vertices at most",
                                 file.path(), count, format.max_vertices));
  }
}

Graph build_or_first_error(EdgeSource& source, const BuildOptions& options,
                           exec::ThreadPool& pool) {
  try {
    return build(source, options, pool);
  } catch (const InputError&) {
    read_whole(source);
    throw;
  }
}

namespace {

/// The units in which the weights of a file are integers.
std::optional<std::int32_t> decimal_scale(const files::TextFile& file,
                                          const CoordinateFormat& format, exec::ThreadPool& pool) {
  std::vector<DecimalScale> of_piece(file.pieces());
  pool.parallel_for(0, file.pieces(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t piece = begin; piece < end; ++piece) {
      for_each_plain_block(file, format, piece, [&](const files::TextBlock& block) {
        scan_coordinates<WeightColumn::float32, false>(
            file, block, format.syntax, false,
            [&](const ScannedEdge& e) { of_piece[piece].add(e.weight_real); }, [](const char*) {});
      });
    }
  });
  DecimalScale all;
  for (const DecimalScale& part : of_piece) all.merge(part);
  return all.scale();
}

/// Real weights: as integers of their decimals, where that is asked for and exact.
void choose_real(const files::TextFile& file, CoordinateFormat& format, exec::ThreadPool& pool) {
  format.column = WeightColumn::float32;
  if (format.weights == nullptr || !format.weights->takes_decimals || format.mirror_negated) return;
  const auto scale = decimal_scale(file, format, pool);
  if (!scale) return;
  format.column = WeightColumn::decimal;
  format.scale = *scale;
  format.weights->scale = *scale;
}

/// By how much weights were rounded, and which, to who asks for it; else whole numbers are warned
/// of.
void tell_rounding(const files::TextFile& file, const CoordinateFormat& format,
                   const CoordinateSource& source) {
  if (format.weights != nullptr) format.weights->rounding = source.rounding();
  if (format.weights != nullptr && format.weights->takes_decimals) {
    format.weights->first_rounded = source.first_rounded();
    format.weights->first_lost = source.first_lost();
  } else if (!source.first_lost().empty()) {
    log_warning(fmt::format("{}: {}: weights are integers of 32 bits, or float32", file.path(),
                            source.first_lost()));
  }
}

}  // namespace

Graph build_coordinates(const files::TextFile& file, CoordinateFormat format, const CompactIds* ids,
                        const BuildOptions& options, exec::ThreadPool& pool,
                        std::uint64_t& edges_met) {
  const auto attempt = [&] {
    CoordinateSource source(file, format, ids);
    Graph graph = build_or_first_error(source, options, pool);
    edges_met = source.edges_met();
    tell_rounding(file, format, source);
    return graph;
  };
  // Whether a weight is no integer, where those past 32 bits do not count.
  const auto has_float = [&] {
    CoordinateFormat asked = format;
    asked.syntax.large = LineSyntax::Large::passed;
    CoordinateSource source(file, asked, ids);
    try {
      read_whole(source);
    } catch (const FloatWeightMet&) {
      return true;
    }
    return false;
  };
  try {
    return attempt();
  } catch (const FloatWeightMet&) {
    choose_real(file, format, pool);
  } catch (const LargeWeightMet&) {
    if (has_float()) {
      choose_real(file, format, pool);
    } else {
      format.syntax.large = LineSyntax::Large::refused;
    }
  }
  return attempt();
}

void check_announced(const files::TextFile& file, std::uint64_t line, std::uint64_t vertices,
                     std::uint64_t largest) {
  if (vertices == 0) file.fail(line, "the header announces no vertices; a graph has at least one");
  if (vertices > largest)
    file.fail(line, fmt::format("the header announces {} vertices; there can be {} at most",
                                vertices, largest));
}

void check_memory(const files::TextFile& file, std::uint64_t line, const AnnouncedSize& size,
                  const BuildOptions& options) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;  // Compressed text may announce any.
  const std::uint64_t entries = std::min(size.entries, kMost);
  const std::uint64_t loops = size.may_be_loops ? std::min(size.vertices, entries) : 0;
  std::uint64_t edges = entries;
  if (size.are_mirrored) edges += entries - loops;
  if (options.drop_self_loops) edges -= loops;
  const std::uint64_t bytes = (size.vertices + 1) * sizeof(EdgeOffset) +
                              edges * sizeof(Vertex) * (size.has_weights ? 2 : 1);
  const std::uint64_t free = exec::free_memory(exec::Device::cpu(1));
  if (free == 0 || bytes <= free) return;
  throw MemoryError("the host", bytes, free,
                    fmt::format("{} announces {} vertices and {} entries in line {}, which take at "
                                "least that: use a host with more memory, or let it take more "
                                "(--host-memory)",
                                file.path(), size.vertices, size.entries, line));
}

void check_entries_fit(const files::TextFile& file, std::uint64_t line, std::uint64_t entries,
                       std::uint64_t line_bytes) {
  if (entries > file.text_bytes() / line_bytes + 1) {
    file.fail(
        line,
        fmt::format(
            "the header announces {} entries, for which the file is too short; was it cut off?",
            entries));
  }
}

}  // namespace warren::graph::io
