// SPDX-License-Identifier: Apache-2.0
// What the strategies of distributed products share: streams, scales, and the product with a rank's
// own columns.
#pragma once

#include "warren/sparse/blocks.hpp"
#include "warren/sparse/distributed.hpp"

#include "sparse/row_moves.hpp"

namespace warren::sparse {

/// What a strategy is made from.
struct Preparation {
  team::Team& team;
  const Rows& rows;
  std::uint64_t k;
  const DistributedOptions& options;
};

/// The other ranks, in the order in which `rank` reads all of their rows: its successor first. In
/// each turn every rank has another owner.
[[nodiscard]] inline std::vector<int> owners_in_turn(int rank, int ranks) {
  std::vector<int> owners;
  for (int turn = 1; turn < ranks; ++turn) owners.push_back((rank + turn) % ranks);
  return owners;
}

template <class T>
class ProductBase : public Product<T> {
 public:
  explicit ProductBase(const Preparation& given)
      : team_(given.team),
        k_(given.k),
        first_(given.rows.first),
        count_(given.rows.count),
        stream_(given.team.device()),
        copy_stream_(given.team.device(), exec::Priority::high),
        copied_(given.team.device()),
        multiplied_(given.team.device()),
        row_scale_(to_device(stream_, given.rows.row_scale)),
        self_(to_device(stream_, given.rows.self)),
        moves_(Workgroup(given.team, given.rows, given.options.workgroup),
               given.options.slow_between, given.options.copy_processors) {}

  [[nodiscard]] std::uint64_t rows_moved() const override { return moves_.moved(); }
  [[nodiscard]] std::uint64_t rows_between() const override { return moves_.between(); }

 protected:
  void take_own(const Rows& rows) {
    own_ = DeviceBlock(stream_, own_block(rows, team_.device().pool()), row_scale_.data(),
                       self_.data());
  }
  /// With rows in another order and a plan of them.
  void take_own(const HostBlock& block, SpmmPlan plan) {
    own_ = DeviceBlock(stream_, block, std::move(plan), row_scale_.data(), self_.data());
  }
  /// C = alpha (own columns) B + beta C, all rows.
  void multiply_own(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) const {
    multiply(own_, b.local_data(), c, alpha, beta);
  }
  void multiply(const DeviceBlock& block, const T* b, T* c, float alpha, float beta) const {
    block.multiply(stream_, b, c, k_, k_, k_, alpha, beta);
  }
  /// Work on the main stream from here on follows the copies so far, and the other way round.
  void wait_for_copies() {
    copied_.record(copy_stream_);
    stream_.wait(copied_);
  }
  void copies_wait() {
    multiplied_.record(stream_);
    copy_stream_.wait(multiplied_);
  }
  /// All ranks' work so far is done and visible to all.
  void synchronize_team() const {
    copy_stream_.synchronize();
    stream_.synchronize();
    team_.barrier();
  }

  team::Team& team_;
  std::uint64_t k_, first_, count_;
  exec::Stream stream_, copy_stream_;
  exec::Event copied_, multiplied_;
  memory::Buffer<float> row_scale_, self_;
  DeviceBlock own_;
  RowMoves<T> moves_;
};

// Each in a file of its own; T is float, Half or BFloat16.
template <class T>
std::unique_ptr<Product<T>> make_broadcast(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_pull(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_once(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_staged(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_fused(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_cover(const Preparation& given);

}  // namespace warren::sparse
