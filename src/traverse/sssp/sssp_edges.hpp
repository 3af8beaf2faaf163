// SPDX-License-Identifier: Apache-2.0
// What SSSP does with neighbour lists, whatever becomes of the tentative distances: distance +
// weight along every edge, compared with what is known of its target.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/graph/adjacency.hpp"

#include "traverse/sssp/sssp_metric.hpp"

namespace warren::traverse {

/// `Program` has the lists and the distances; counts what it walks.
template <class WarpType, class Program>
class SsspEdges {
 public:
  using Metric = typename Program::Metric;
  using Word = typename Metric::Word;

  WARREN_HD explicit SsspEdges(const Program& program) : program_(program) {}

  /// Every lane brings a distance and a piece of a list. visit(worker, to, tentative) is
  /// called by all lanes together, with kUnreached where there is nothing to be gained.
  template <class Visit>
  WARREN_HD void relax(const WarpType& worker, Word distance, const graph::ListPiece& piece,
                       Visit&& visit) {
    edges_ += piece.length;
    if constexpr (Program::kPacked) {
      relax_packed(worker, distance, piece, visit);
    } else if constexpr (std::is_same_v<WarpType, exec::Serial>) {
      relax_alone(distance, piece, visit);
    } else {
      relax_plain(worker, distance, piece, visit);
    }
  }

  [[nodiscard]] WARREN_HD std::uint64_t edges() const { return edges_; }
  /// Sums that the words cannot hold.
  [[nodiscard]] WARREN_HD std::uint64_t overflows() const { return overflows_; }
  /// Read of compressed lists.
  [[nodiscard]] WARREN_HD std::uint64_t far_bytes() const { return far_bytes_; }

 private:
  static constexpr std::uint32_t kBatch = 2;  ///< Edges that a lane has in flight.

  template <class Visit>
  WARREN_HD void relax_packed(const WarpType& worker, Word distance, const graph::ListPiece& piece,
                              Visit&& visit) {
    const graph::PackedAdjacency lists{program_.out, program_.packed};
    far_bytes_ += lists.expand_edges(
        worker, piece, [&](bool active, std::uint32_t owner, EdgeOffset edge, Vertex to) {
          const Word from = worker.broadcast(distance, owner);
          Word tentative = Metric::kUnreached;
          if (active) {
            tentative = Metric::add(from, Metric::weights(program_.out)[edge]);
            if (tentative == Metric::kUnreached) ++overflows_;
          }
          if (tentative != Metric::kUnreached &&
              tentative >= exec::load_maybe_stale(program_.distance[to]))
            tentative = Metric::kUnreached;
          visit(worker, to, tentative);
        });
  }

  /// One thread's form: first finds the tentative distances that improve one, without a branch that
  /// could be guessed wrongly, then makes them: an atomic operation lets no later load start before
  /// it is done.
  template <class Visit>
  void relax_alone(Word distance, const graph::ListPiece& piece, Visit&& visit) {
    constexpr std::uint32_t kRound = 256;
    Vertex improved[kRound];
    Word tentatives[kRound];
    // Held here, since compilers load members again after an atomic load.
    const Word* const distances = program_.distance;
    std::uint64_t overflows = 0;
    for (std::uint32_t base = 0; base < piece.length; base += kRound) {
      const std::uint32_t round = piece.length - base < kRound ? piece.length - base : kRound;
      const Vertex* to = program_.out.list(piece.begin) + base;
      const auto* weights = Metric::weights(program_.out) + piece.begin + base;
      std::uint32_t count = 0;
      for (std::uint32_t k = 0; k < round; ++k) {
        const Word tentative = Metric::add(distance, weights[k]);
        overflows += tentative == Metric::kUnreached ? 1 : 0;
        improved[count] = to[k];
        tentatives[count] = tentative;
        count += tentative < exec::load_maybe_stale(distances[to[k]]) ? 1 : 0;
      }
      for (std::uint32_t i = 0; i < count; ++i) visit(WarpType(), improved[i], tentatives[i]);
    }
    overflows_ += overflows;
  }

  /// The loads of a batch are in flight together.
  template <class Visit>
  WARREN_HD void relax_plain(const WarpType& worker, Word distance, const graph::ListPiece& piece,
                             Visit&& visit) {
    worker.expand((piece.length + kBatch - 1) / kBatch,
                  [&](bool active, std::uint32_t owner, std::uint32_t k) {
                    const EdgeOffset edge = worker.broadcast(piece.begin, owner) + k * kBatch;
                    const std::uint32_t left = worker.broadcast(piece.length, owner) - k * kBatch;
                    const Word from = worker.broadcast(distance, owner);
                    Vertex to[kBatch];
                    Word tentative[kBatch];
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) {
                      to[j] = 0;
                      tentative[j] = Metric::kUnreached;
                      if (!active || j >= left) continue;
                      to[j] = *program_.out.list(edge + j);
                      tentative[j] = Metric::add(from, Metric::weights(program_.out)[edge + j]);
                      if (tentative[j] == Metric::kUnreached) ++overflows_;
                    }
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) {
                      // A look first: most improve nothing.
                      if (tentative[j] != Metric::kUnreached &&
                          tentative[j] >= exec::load_maybe_stale(program_.distance[to[j]]))
                        tentative[j] = Metric::kUnreached;
                    }
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) visit(worker, to[j], tentative[j]);
                  });
  }

  const Program& program_;
  std::uint64_t edges_ = 0;
  std::uint64_t overflows_ = 0;
  std::uint64_t far_bytes_ = 0;
};

}  // namespace warren::traverse
