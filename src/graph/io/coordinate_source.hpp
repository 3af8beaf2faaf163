// SPDX-License-Identifier: Apache-2.0
// Lines of "source target [weight]" as a source of edges for build(): edge lists, Matrix Market
// entries and DIMACS arcs.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "warren/files/text_file.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/io.hpp"

#include "graph/io/cells.hpp"
#include "graph/io/compact_ids.hpp"
#include "graph/io/coordinate_scan.hpp"

namespace warren::graph::io {

/// What `cells` and the syntax's `words` point to must outlive what reads by the format.
struct CoordinateFormat {
  LineSyntax syntax;
  WeightColumn column = WeightColumn::none;
  bool integers_only =
      false;  ///< A weight that is no integer is an error, not a reason to read floats.
  bool node_comments = false;   ///< "# Nodes: N" raises the number of vertices.
  bool mirror_negated = false;  ///< Every edge comes with its reverse, of the opposite weight.
  const CellLayout* cells = nullptr;  ///< Lines are those of a table.
  WeightReport* weights = nullptr;    ///< Is told of real weights.
  std::int32_t scale = 1;             ///< Of WeightColumn::decimal: units of a weight of 1.
  std::uint64_t max_vertices = kMaxVertices;
  std::uint64_t vertices = EdgeSource::kUnknownVertices;
};

class CoordinateSource final : public EdgeSource {
 public:
  /// `file` and `ids` (nullptr: ids are vertices) must outlive the source.
  CoordinateSource(const files::TextFile& file, CoordinateFormat format,
                   const CompactIds* ids = nullptr);

  [[nodiscard]] std::uint64_t vertices() const override { return format_.vertices; }
  [[nodiscard]] std::uint64_t vertices_after_first_pass() const override {
    return announced_vertices_.load();
  }
  /// A byte of text seldom brings more than a vertex.
  [[nodiscard]] std::uint64_t likely_vertices() const override;
  [[nodiscard]] WeightType weight_type() const override;
  [[nodiscard]] std::uint64_t pieces() const override { return file_.pieces(); }
  void read(std::uint64_t piece, EdgeSink& sink) override;

  /// The first weight of the file that float32 does not hold, and its line; empty where there is
  /// none. The same of those with more than six digits, which float32 does not give back.
  [[nodiscard]] const std::string& first_rounded() const { return rounded_.text; }
  [[nodiscard]] const std::string& first_lost() const { return lost_.text; }
  /// As WeightReport has it.
  [[nodiscard]] double rounding() const { return rounding_; }

  /// Edges that the last reading met.
  [[nodiscard]] std::uint64_t edges_met() const;

 private:
  template <WeightColumn kColumn, bool kArcs>
  void read_blocks(std::uint64_t piece, EdgeSink& sink);
  /// The reverse of an edge of a skew-symmetric matrix; false on its diagonal, which has none.
  template <WeightColumn kColumn>
  [[nodiscard]] bool negate(const files::TextBlock& block, ScannedEdge& edge) const;
  void note_comment(const files::TextBlock& block, const char* at);

  /// The first of a kind of lines, whichever thread met it first.
  struct FirstLine {
    std::uint64_t piece = ~std::uint64_t{0};
    std::string text;
  };
  void note_rounding(FirstLine& first, std::uint64_t piece, const files::TextBlock& block,
                     const ScannedEdge& edge);

  const files::TextFile& file_;
  CoordinateFormat format_;
  const CompactIds* ids_;
  std::atomic<std::uint64_t> announced_vertices_{0};
  std::vector<std::uint64_t> edges_of_piece_;
  std::mutex mutex_;
  FirstLine rounded_;
  FirstLine lost_;
  double rounding_ = 0.0;
};

/// The ids that occur in the file.
void gather_ids(const files::TextFile& file, const CoordinateFormat& format, exec::ThreadPool& pool,
                CompactIds& ids);

/// build() for a source over text. Where no weight type is fixed, integers are tried, and floats if
/// a weight is none; where `format.weights` takes decimals, integers in their units if that rounds
/// nothing. Warns, else, of a number of many digits that float32 does not hold. Of several errors
/// in a file, the first is the one that is reported. `edges_met` becomes the number of lines with
/// an edge.
[[nodiscard]] Graph build_coordinates(const files::TextFile& file, CoordinateFormat format,
                                      const CompactIds* ids, const BuildOptions& options,
                                      exec::ThreadPool& pool, std::uint64_t& edges_met);

/// build(); if the source throws InputError, reads it once more from the front, so that the error
/// is that of the first bad line.
[[nodiscard]] Graph build_or_first_error(EdgeSource& source, const BuildOptions& options,
                                         exec::ThreadPool& pool);

/// Throws InputError unless 1 <= vertices <= largest.
void check_announced(const files::TextFile& file, std::uint64_t line, std::uint64_t vertices,
                     std::uint64_t largest);
/// Throws InputError if the file is too short for `entries` lines of at least `line_bytes` (the
/// last may lack its line end).
void check_entries_fit(const files::TextFile& file, std::uint64_t line, std::uint64_t entries,
                       std::uint64_t line_bytes);

/// What a header announces, whose entries are taken to differ from each other, as the formats have
/// it. An entry may lead to itself where `may_be_loops`.
struct AnnouncedSize {
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;
  bool are_mirrored = false;  ///< An entry that is no self-loop is two edges.
  bool may_be_loops = true;
  bool has_weights = false;
};
/// Throws MemoryError where the host has less than the graph takes at least.
void check_memory(const files::TextFile& file, std::uint64_t line, const AnnouncedSize& size,
                  const BuildOptions& options);

}  // namespace warren::graph::io
