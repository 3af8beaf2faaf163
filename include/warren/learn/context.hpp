// SPDX-License-Identifier: Apache-2.0
// What a rank's layers work with: its team, its stream, dense products, and scratch memory.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "warren/exec/captured_work.hpp"
#include "warren/exec/dense.hpp"
#include "warren/learn/padding.hpp"
#include "warren/learn/random.hpp"
#include "warren/learn/tensor_core_use.hpp"
#include "warren/learn/workspace.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::learn {

/// What the time of an epoch is spent on.
enum class Part : std::uint8_t { aggregate, dense, communicate };
inline constexpr std::size_t kParts = 3;

/// Layers are called by all ranks together, in the same order. Everything is asynchronous in the
/// stream's order, but for what ranks exchange where no library does that in the stream's order.
class Context {
 public:
  /// `type`: of the rows that layers read, keep and write, and of their gradients.
  explicit Context(team::Team& team, const exec::DenseOptions& options = {},
                   NumberType type = NumberType::float32)
      : team_(team),
        type_(type),
        stream_(team.device()),
        side_(team.device(), exec::Priority::high),
        dense_(team.device(), options),
        forked_(team.device()),
        side_end_(team.device()),
        epoch_key_(team.device(), 1),
        workspace_(team.device()) {}
  /// This rank's vertices, and the input's ids of them on its device.
  void set_rows(std::uint64_t rows, const Vertex* row_ids) {
    rows_ = rows;
    row_ids_ = row_ids;
  }
  /// Rows are of another batch each time.
  void set_in_batches() {
    is_in_batches_ = true;
    workspace_.grow_by_more();
  }
  [[nodiscard]] bool is_in_batches() const { return is_in_batches_; }
  /// Whether GPUs' tensor cores make attention's sums over rows of 16 bits.
  void set_tensor_sums(TensorCoreUse use) { tensor_sums_ = use; }
  [[nodiscard]] bool has_tensor_sums() const { return tensor_sums_ != TensorCoreUse::off; }

  [[nodiscard]] team::Team& team() { return team_; }
  [[nodiscard]] const exec::Stream& stream() const { return stream_; }
  /// A second stream, for what ranks exchange meanwhile: it begins where stream() is at
  /// fork_side(), and stream() waits in join_side() for what side() had to do before end_side().
  [[nodiscard]] const exec::Stream& side() const { return side_; }
  void fork_side() {
    forked_.record(stream_);
    side_.wait(forked_);
  }
  void end_side() { side_end_.record(side_); }
  void join_side() { stream_.wait(side_end_); }
  [[nodiscard]] exec::DenseProducts& dense() { return dense_; }
  [[nodiscard]] NumberType type() const { return type_; }
  /// From one padded row of k numbers to the next.
  [[nodiscard]] std::uint64_t padded(std::uint64_t k) const { return learn::padded(k, type_); }
  /// This rank's vertices.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

  /// What the next forward and backward passes draw their masks from. Their kernels read it from
  /// the device, so that those of captured passes draw anew. Asynchronous.
  void begin(std::uint64_t seed, std::uint64_t epoch, bool is_training);
  [[nodiscard]] bool is_training() const { return is_training_; }
  /// Of a layer's part `purpose`; off outside training.
  [[nodiscard]] Dropout dropout(float probability, std::uint64_t purpose) const {
    return {purpose, is_training_ ? probability : 0.0f, row_ids_, epoch_key_.data()};
  }

  /// Memory of the pass that is being enqueued, in the stream's order.
  [[nodiscard]] Workspace& workspace() { return workspace_; }
  /// Room for `size` numbers of the rows' type: in `spare` where that is enough.
  [[nodiscard]] TakenRows take_rows(std::uint64_t size, const SpareRows& spare = {}) {
    if (size <= spare.size) return TakenRows(Numbers(spare.memory.raw(), type_));
    return {workspace_.take_bytes(exec::bytes_of(size, size_of(type_))), type_};
  }
  /// Room for `size` elements at least. What changes from batch to batch gets some more than it
  /// asks for.
  template <class T>
  void keep(memory::Buffer<T>& buffer, std::uint64_t size) const {
    if (buffer.size() >= size) return;
    buffer.reset();
    buffer = memory::Buffer<T>(team_.device(), is_in_batches_ ? size + size / 8 : size);
  }
  void keep(NumberBuffer& buffer, std::uint64_t size) const {
    if (buffer.size() >= size && buffer.type() == type_) return;
    buffer.reset();
    buffer = NumberBuffer(team_.device(), type_, is_in_batches_ ? size + size / 8 : size);
  }

  /// Runs work(), which puts work on the stream, and has its time counted for a part.
  template <class F>
  void measured(Part part, F&& work) {
    measured(part, stream_, work);
  }
  /// The same of work on another stream.
  template <class F>
  void measured(Part part, const exec::Stream& stream, F&& work) {
    if (!is_measuring_) return work();
    Span& span = next_span(part);
    exec::record_time(span.begin, stream);
    work();
    exec::record_time(span.end, stream);
  }
  /// Runs work(), which measures parts of itself, on several streams maybe: the time in which none
  /// of these goes on is counted as communication.
  template <class F>
  void measured_waiting(F&& work) {
    const std::size_t outer = spans_used_;
    measured(Part::communicate, work);
    if (is_measuring_) spans_[outer].inner = spans_used_ - outer - 1;
  }
  /// Whether measured() measures from here on.
  void set_measuring(bool measures) { is_measuring_ = measures; }
  /// How many of them have been measured since take_seconds(); and that these have been measured
  /// once more, by captured work, if nothing else was meanwhile.
  [[nodiscard]] std::size_t spans() const { return spans_used_; }
  void set_spans(std::size_t spans) { spans_used_ = spans; }
  /// Seconds of each part since the last call. Synchronises if there is something.
  [[nodiscard]] std::array<double, kParts> take_seconds() {
    std::array<double, kParts> seconds{};
    if (spans_used_ == 0) return seconds;
    stream_.synchronize();
    for (std::size_t i = 0; i < spans_used_; i += 1 + spans_[i].inner) add_seconds(i, seconds);
    spans_used_ = 0;
    return seconds;
  }

 private:
  struct Span {
    Part part;
    exec::Event begin, end;
    std::size_t inner = 0;  ///< Of the next ones, those that are within it.
  };
  Span& next_span(Part part) {
    if (spans_used_ == spans_.size())
      spans_.push_back({part, exec::Event(team_.device()), exec::Event(team_.device())});
    Span& span = spans_[spans_used_++];
    span.part = part;
    span.inner = 0;
    return span;
  }
  /// A span's, and those of the ones within it.
  void add_seconds(std::size_t i, std::array<double, kParts>& seconds) const;

  team::Team& team_;
  NumberType type_;
  exec::Stream stream_, side_;
  exec::DenseProducts dense_;
  exec::Event forked_, side_end_;
  std::uint64_t rows_ = 0;
  const Vertex* row_ids_ = nullptr;
  memory::Buffer<std::uint64_t> epoch_key_;
  bool is_training_ = false;
  bool is_in_batches_ = false;
  bool is_measuring_ = true;
  TensorCoreUse tensor_sums_ = TensorCoreUse::automatic;
  Workspace workspace_;
  std::deque<Span> spans_;  // Addresses stay.
  std::size_t spans_used_ = 0;
};

}  // namespace warren::learn
