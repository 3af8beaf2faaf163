// SPDX-License-Identifier: Apache-2.0
// Tasks of bounded size for vertices of any degree: the pieces of a long neighbour list are the
// leaves of a binary tree, and a task is one of its nodes. Running an inner node pushes the right
// halves on the way down to its leftmost leaf, and works that off.
#pragma once

#include "warren/core/types.hpp"

namespace warren::traverse {

/// Edges of one task at most.
inline constexpr std::uint32_t kTaskEdges = 64;
/// Tasks that one task pushes at most: its edges' and the halves of a list of 2^32.
inline constexpr std::uint32_t kTaskPushes = kTaskEdges + 32;
/// The whole list; the children of node k are 2 k and 2 k + 1.
inline constexpr std::uint32_t kRootNode = 1;

/// Walks down from a node.
class TaskPieces {
 public:
  WARREN_HD TaskPieces(std::uint32_t node, EdgeOffset degree)
      : node_(node), pieces_((degree + kTaskEdges - 1) / kTaskEdges), degree_(degree) {
    while (std::uint64_t{1} << levels_ < pieces_) ++levels_;
    while (node >> (depth_ + 1) != 0) ++depth_;
  }
  [[nodiscard]] WARREN_HD bool is_leaf() const { return depth_ >= levels_; }
  /// To the first of the nodes `levels` below, or of the leaves; how many of them there are, side
  /// by side.
  WARREN_HD std::uint64_t descend_all(std::uint32_t levels) {
    const std::uint32_t step = levels < levels_ - depth_ ? levels : levels_ - depth_;
    const std::uint64_t below = pieces_ - first_piece(node_);
    node_ <<= step;
    depth_ += step;
    const std::uint64_t each = std::uint64_t{1} << (levels_ - depth_);
    const std::uint64_t here = (below + each - 1) / each;
    return here >> step == 0 ? here : std::uint64_t{1} << step;
  }
  [[nodiscard]] WARREN_HD std::uint32_t node() const { return node_; }
  /// To the left child; true if there is a right one, which is then `right`.
  [[nodiscard]] WARREN_HD bool descend(std::uint32_t& right) {
    right = 2 * node_ + 1;
    node_ *= 2;
    ++depth_;
    return first_piece(right) < pieces_;
  }
  /// Of a leaf: its edges, counted from the list's first.
  [[nodiscard]] WARREN_HD EdgeOffset begin() const { return first_piece(node_) * kTaskEdges; }
  [[nodiscard]] WARREN_HD std::uint32_t count() const {
    const EdgeOffset left = degree_ - begin();
    return left < kTaskEdges ? static_cast<std::uint32_t>(left) : kTaskEdges;
  }

 private:
  [[nodiscard]] WARREN_HD std::uint64_t first_piece(std::uint32_t node) const {
    return (std::uint64_t{node} - (std::uint64_t{1} << depth_)) << (levels_ - depth_);
  }

  std::uint32_t node_;
  std::uint64_t pieces_;
  EdgeOffset degree_;
  std::uint32_t levels_ = 0;
  std::uint32_t depth_ = 0;
};

}  // namespace warren::traverse
