// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix over ranks that are processes, each of which has its own rows of
// the operands and of the result alone: what layers of other libraries on whole graphs are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "warren/api/graph.hpp"
#include "warren/api/rows.hpp"
#include "warren/api/session.hpp"

namespace warren {

namespace api {
class DistributedState;
}

struct DistributedGraphOptions {
  bool weighted = true;  ///< false: every entry is 1, whatever weights the graph has.
  /// How rows cross between ranks ("staged", "pull", ...: sparse/distributed.hpp). "auto": measured
  /// by the first product each way, at its width, and remembered (sparse/tuner.hpp).
  std::string strategy = "auto";
  std::optional<DeviceKind> device{};  ///< Left out: the session's.
  int gpu = 0;                         ///< In a process alone: the GPU of the calls' arrays.
  std::optional<Session> session{};    ///< Left out: Session::standard().
};

/// The matrix A of a graph of n vertices, A[v][u] being the weight of the edge (v, u) and parallel
/// edges adding up, cut into ranges of rows with about as many edges each. Every process that
/// team::Processes joined is a rank and owns one range; a process alone owns all.
///
/// All functions but those that only tell are collective: all ranks make the same calls in the same
/// order. Arrays are row-major float32 of k columns, in host memory or on the rank's GPU
/// (ArrayPlace); on a GPU the call reads them in the order of the place's stream, and returns when
/// the results are there. On a GPU they should begin at 16 bytes; others are copied. Copies of a
/// DistributedGraph share what its ranks hold, which goes with the last one of a process.
///
/// What ranks are not agreed on (another graph, k or function, an array of another size) throws the
/// same UsageError on all of them, and the next call works. Where a rank fails otherwise, or its
/// process ends, the calls of the others throw TeamError, and the team has ended.
class DistributedGraph {
 public:
  /// Takes 4 bytes an edge of a rank's rows, as many again for weights, and the same of the
  /// transpose from its first product on, where the graph is not symmetric; other strategies than
  /// "staged" hold it twice. Keeps the graph, and its transpose in host memory. Throws UsageError
  /// for a session with several ranks in this process, ranks on several hosts, a strategy that
  /// there is not, and an integer weight that float32 does not hold (above 2^24); MemoryError.
  explicit DistributedGraph(const Graph& graph, const DistributedGraphOptions& options = {});

  [[nodiscard]] std::uint64_t vertices() const;
  /// The rank's range: vertices first() to first() + rows().
  [[nodiscard]] std::uint64_t first() const;
  [[nodiscard]] std::uint64_t rows() const;
  /// The vertices of other ranks to which edges of the rank's rows go, each once, in the order of
  /// the rows of pull().
  [[nodiscard]] std::span<const Vertex> halo() const;
  /// The strategy of products each way; empty before the first one of "auto". "local" of one rank.
  [[nodiscard]] std::string strategy(bool transpose = false) const;

  /// y = (A x)[own rows], or (A^T x): x and y are this rank's rows, rows() x k. Repeats bit for bit
  /// on the same ranks, but by strategy "once". Throws UsageError for k = 0, and for a strategy
  /// other than "staged" where the ranks do not reach each other's memory; MemoryError.
  void multiply(const ArrayPlace& place, std::span<const float> x, std::span<float> y,
                std::uint64_t k, bool transpose = false) const;
  /// halo rows[i] = x[halo()[i]], from the ranks that own them: halo().size() x k. Moves bits.
  void pull(const ArrayPlace& place, std::span<const float> x, std::span<float> halo_rows,
            std::uint64_t k) const;
  /// y[v] = the sum over the ranks of their halo rows of v, 0 where v is in no halo: the adjoint of
  /// pull(), with the shapes of that. Added up in the order of the ranks: repeats bit for bit.
  void push(const ArrayPlace& place, std::span<const float> halo_rows, std::span<float> y,
            std::uint64_t k) const;
  /// Throws UsageError(reason) here, and the same in the calls that other ranks make in its place:
  /// for who finds an argument bad before its call.
  void refuse(const std::string& reason) const;

 private:
  std::shared_ptr<api::DistributedState> state_;
};

}  // namespace warren
