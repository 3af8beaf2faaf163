// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/vertex_cover.hpp"

#include <limits>

#include "warren/core/interrupt_point.hpp"

namespace warren::graph {
namespace {

constexpr Vertex kFree = kNoVertex;
constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

class Matching {
 public:
  explicit Matching(const SparseBlock& block)
      : block_(block),
        of_row_(block.rows(), kFree),
        of_column_(block.column_count, kFree),
        level_(block.rows()),
        next_(block.rows()) {
    greedy();
    while (find_levels()) {
      next_.assign(block_.offsets.begin(), block_.offsets.end() - 1);
      for (Vertex r = 0; r < block_.rows(); ++r) {
        if (of_row_[r] == kFree) (void)augment(r);
      }
    }
  }

  /// What alternating paths from free rows reach (Koenig): the cover is the rows that they do not,
  /// and the columns that they do.
  [[nodiscard]] VertexCover cover() const {
    VertexCover cover;
    cover.row_chosen.assign(block_.rows(), 0);
    cover.column_chosen.assign(block_.column_count, 0);
    std::vector<std::uint8_t> reached(block_.rows(), 0);
    std::vector<Vertex> open;
    SeldomInterruptPoint point;
    for (Vertex r = 0; r < block_.rows(); ++r) {
      if (of_row_[r] != kFree) continue;
      reached[r] = 1;
      open.push_back(r);
    }
    while (!open.empty()) {
      point();
      const Vertex r = open.back();
      open.pop_back();
      for (EdgeOffset e = block_.offsets[r]; e < block_.offsets[r + std::size_t{1}]; ++e) {
        const Vertex c = block_.columns[e];
        if (cover.column_chosen[c] != 0) continue;
        cover.column_chosen[c] = 1;
        ++cover.size;
        const Vertex other = of_column_[c];  // Not free: the path to it would augment.
        if (reached[other] == 0) {
          reached[other] = 1;
          open.push_back(other);
        }
      }
    }
    for (Vertex r = 0; r < block_.rows(); ++r) {
      if (reached[r] != 0) continue;
      cover.row_chosen[r] = 1;
      ++cover.size;
    }
    return cover;
  }

 private:
  void greedy() {
    for (Vertex r = 0; r < block_.rows(); ++r) {
      point_();
      for (EdgeOffset e = block_.offsets[r]; e < block_.offsets[r + std::size_t{1}]; ++e) {
        const Vertex c = block_.columns[e];
        if (of_column_[c] != kFree) continue;
        of_column_[c] = r;
        of_row_[r] = c;
        break;
      }
    }
  }

  /// Levels of rows by alternating paths from the free ones; false if none ends at a free column.
  bool find_levels() {
    bool found = false;
    std::vector<Vertex> queue;
    for (Vertex r = 0; r < block_.rows(); ++r) {
      level_[r] = of_row_[r] == kFree ? 0 : kFar;
      if (of_row_[r] == kFree) queue.push_back(r);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      point_();
      const Vertex r = queue[i];
      for (EdgeOffset e = block_.offsets[r]; e < block_.offsets[r + std::size_t{1}]; ++e) {
        const Vertex other = of_column_[block_.columns[e]];
        if (other == kFree) {
          found = true;
        } else if (level_[other] == kFar) {
          level_[other] = level_[r] + 1;
          queue.push_back(other);
        }
      }
    }
    return found;
  }

  /// A path from free row `start` along the levels to a free column, swapped if there is one. The
  /// path is a stack: rows may be millions of levels deep.
  bool augment(Vertex start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      point_();
      const Vertex r = path_.back();
      if (next_[r] == block_.offsets[r + std::size_t{1}]) {
        level_[r] = kFar;
        path_.pop_back();
        if (!path_.empty()) ++next_[path_.back()];
        continue;
      }
      const Vertex c = block_.columns[next_[r]];
      const Vertex other = of_column_[c];
      if (other == kFree) {
        for (const Vertex row : path_) {
          const Vertex column = block_.columns[next_[row]];
          of_row_[row] = column;
          of_column_[column] = row;
        }
        return true;
      }
      if (level_[other] == level_[r] + 1) {
        path_.push_back(other);
      } else {
        ++next_[r];
      }
    }
    return false;
  }

  const SparseBlock& block_;
  std::vector<Vertex> of_row_, of_column_;
  std::vector<std::uint32_t> level_;
  std::vector<EdgeOffset> next_;
  std::vector<Vertex> path_;
  SeldomInterruptPoint point_;
};

}  // namespace

VertexCover smallest_vertex_cover(const SparseBlock& block) { return Matching(block).cover(); }

}  // namespace warren::graph
