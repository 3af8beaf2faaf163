// SPDX-License-Identifier: Apache-2.0
// What the strategies of distributed products share: streams, and the product with a rank's own
// columns. The host waits for nobody in a product: where ranks use each other's memory, their
// streams wait for each other (team::StreamBarrier).
#pragma once

#include "warren/sparse/blocks.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/team/stream_barrier.hpp"

#include "sparse/row_moves.hpp"

namespace warren::sparse {

/// Throws UsageError for rows, made by hand, of which some entries or some ranks alone have values.
/// Collective.
void check_values(team::Team& team, const Rows& rows);

/// What a strategy is made from.
struct Preparation {
  team::Team& team;
  const Rows& rows;
  std::uint64_t k;  ///< Of the widest rows of B that are known of.
  const DistributedOptions& options;
};

/// The other ranks, in the order in which `rank` reads all of their rows: its successor first. In
/// each turn every rank has another owner.
[[nodiscard]] inline std::vector<int> owners_in_turn(int rank, int ranks) {
  std::vector<int> owners;
  for (int turn = 1; turn < ranks; ++turn) owners.push_back((rank + turn) % ranks);
  return owners;
}

/// One product over the team, as a strategy is asked for it. Every rank's rows of B stand on the
/// stream, and stay until all ranks have reached the product's end.
template <class T>
struct ProductRun {
  const exec::Stream& stream;
  MatrixOperands<T> own;    ///< This rank's rows of B, as x, and of C, as y.
  memory::GlobalView<T> b;  ///< All ranks' rows of B, as wide as x's stride.
  /// Kernels count the remote rows that they read. Rows that are copied are counted in every run.
  bool is_counted = false;
  /// Where it is not nullptr: arrives behind this rank's last use of other ranks' memory, on a
  /// stream that `stream` follows.
  team::StreamBarrier* used = nullptr;
  const AroundWork* around = nullptr;  ///< Of each part of the product, where anybody measures.
};

/// A strategy's preparation, for products with rows of B of any width.
template <class T>
class Product {
 public:
  Product() = default;
  virtual ~Product() = default;
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  /// Takes buffers for rows of B that are `width` elements apart, or keeps wider ones. Collective;
  /// synchronises where it takes some. Throws MemoryError.
  virtual void reserve(std::uint64_t width) = 0;
  /// The product, in the streams' order, for rows no wider than those of reserve(). Collective.
  virtual void enqueue(const ProductRun<T>& run) = 0;
  /// Rows that came to this rank in the last run that was counted.
  [[nodiscard]] virtual std::uint64_t rows_moved() const = 0;
  /// Of these, rows from other workgroups; of rows that a product's kernel reads for each entry the
  /// number of such entries, known before it runs.
  [[nodiscard]] virtual std::uint64_t rows_between() const = 0;
};

template <class T>
class ProductBase : public Product<T> {
 public:
  explicit ProductBase(const Preparation& given)
      : team_(given.team),
        first_(given.rows.first),
        count_(given.rows.count),
        stream_(given.team.device()),
        copy_stream_(given.team.device(), exec::Priority::high),
        copied_(given.team.device()),
        multiplied_(given.team.device()),
        moves_(Workgroup(given.team, given.rows, given.options.workgroup),
               given.options.slow_between, given.options.copy_processors) {}

  void reserve(std::uint64_t width) final {
    if (width <= width_) return;
    team_.device().synchronize();
    team_.barrier();  // Nobody uses the narrower ones.
    take_buffers(width);
    width_ = width;
  }
  [[nodiscard]] std::uint64_t rows_moved() const override { return moves_.moved(); }
  [[nodiscard]] std::uint64_t rows_between() const override { return moves_.between(); }

 protected:
  /// In place of those so far. Collective.
  virtual void take_buffers(std::uint64_t width) = 0;
  template <class E>
  void take(memory::Buffer<E>& buffer, std::uint64_t rows, std::uint64_t width) const {
    buffer.reset();
    buffer = memory::Buffer<E>(team_.device(), exec::bytes_of(rows, width));
  }
  void take_own(const Rows& rows) {
    own_ = DeviceBlock(stream_, own_block(rows, team_.device().pool()));
  }
  /// With rows in another order and a plan of them.
  void take_own(const HostBlock& block, SpmmPlan plan) {
    own_ = DeviceBlock(stream_, block, std::move(plan));
  }
  /// C = alpha (own columns) B + beta C, all rows.
  void multiply_own(const ProductRun<T>& run) const { multiply(run, own_, run.own); }
  /// C += alpha (block) b, rows of b as far apart as B's.
  void multiply_more(const ProductRun<T>& run, const DeviceBlock& block, const T* b) const {
    MatrixOperands<T> operands = run.own;
    operands.x = b;
    operands.beta = 1.0f;
    operands.self = nullptr;
    multiply(run, block, operands);
  }
  void multiply(const ProductRun<T>& run, const DeviceBlock& block,
                const MatrixOperands<T>& operands) const {
    around(run, run.stream, [&] { block.multiply(run.stream, operands); });
  }
  /// Kernels that multiply, which someone may measure.
  template <class F>
  void around(const ProductRun<T>& run, const exec::Stream& stream, F&& work) const {
    if (run.around != nullptr && *run.around) return (*run.around)(stream, work);
    work();
  }
  /// Work on `main` from here on follows the copies so far, and the other way round.
  void wait_for_copies(const exec::Stream& main) {
    copied_.record(copy_stream_);
    main.wait(copied_);
  }
  void copies_wait(const exec::Stream& main) {
    multiplied_.record(main);
    copy_stream_.wait(multiplied_);
  }
  /// What this rank put on `stream` is its last use of other ranks' memory.
  static void end_use(const ProductRun<T>& run, const exec::Stream& stream) {
    if (run.used != nullptr) run.used->arrive(stream);
  }

  team::Team& team_;
  std::uint64_t first_, count_;
  exec::Stream stream_;  // Of the preparation.
  exec::Stream copy_stream_;
  exec::Event copied_, multiplied_;
  DeviceBlock own_;
  RowMoves<T> moves_;

 private:
  std::uint64_t width_ = 0;
};

/// A view of a buffer's rows, which are as far apart as a run's rows of B.
template <class T>
[[nodiscard]] memory::GlobalView<T> as_wide(memory::GlobalView<T> view, const ProductRun<T>& run) {
  view.width = run.own.x_stride;
  return view;
}

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

/// By the options' strategy.
template <class T>
std::unique_ptr<Product<T>> make_product(const Preparation& given);

}  // namespace warren::sparse
