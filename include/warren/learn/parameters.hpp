// SPDX-License-Identifier: Apache-2.0
// The parameters of a model: matrices with names, all in one array, as are their gradients, so that
// one pass updates them and one message adds the ranks' gradients up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warren/learn/context.hpp"

namespace warren::learn {

enum class Initial {
  zeros,
  ones,
  glorot,  ///< Uniform in +-sqrt(6 / (rows + columns)) (Glorot and Bengio, AISTATS 2010).
  fan_in   ///< Uniform in +-1 / sqrt(fan_in).
};

struct Parameter {
  std::string name;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t offset = 0;  ///< In floats.
  Initial initial = Initial::zeros;
  std::uint64_t fan_in = 1;
  /// Its weight decay is the optimiser's times this: groups of parameters have rates of their own,
  /// 0 for those that do not decay.
  float decay = 1.0f;
  [[nodiscard]] std::uint64_t size() const { return rows * columns; }
};

class Parameters {
 public:
  /// Names a matrix, before allocate(); returns its number.
  std::size_t add(Parameter parameter);
  /// Takes the memory and draws the values from `seed`: the same on every rank and device.
  /// Synchronises. Throws MemoryError.
  void allocate(const exec::Stream& stream, std::uint64_t seed);
  /// Instead: the memory of others with the same names and sizes, which then has two owners. Throws
  /// UsageError for other ones.
  void share(const Parameters& other);

  [[nodiscard]] const std::vector<Parameter>& list() const { return list_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// On the device, with the gradients.
  [[nodiscard]] std::uint64_t bytes() const {
    return storage_->values.bytes() + storage_->gradients.bytes() + storage_->decay.bytes();
  }
  [[nodiscard]] float* value(std::size_t i) const {
    return storage_->values.data() + list_[i].offset;
  }
  [[nodiscard]] float* gradient(std::size_t i) const {
    return storage_->gradients.data() + list_[i].offset;
  }
  [[nodiscard]] memory::Buffer<float>& values() { return storage_->values; }
  [[nodiscard]] const memory::Buffer<float>& values() const { return storage_->values; }
  [[nodiscard]] memory::Buffer<float>& gradients() { return storage_->gradients; }
  /// Of every element its parameter's `decay`.
  [[nodiscard]] const float* decay_factors() const { return storage_->decay.data(); }

  void clear_gradients(const exec::Stream& stream) const;
  /// Gradients <- their sums over the ranks: the same bits on all. Collective; its time counts as
  /// Part::communicate.
  void reduce_gradients(Context& context) const;
  /// The same of the floats [begin, end), in `stream`'s order.
  void reduce_gradients(team::Team& team, const exec::Stream& stream, std::uint64_t begin,
                        std::uint64_t end) const;

 private:
  std::vector<Parameter> list_;
  std::uint64_t size_ = 0;
  struct Storage {
    memory::Buffer<float> values, gradients, decay;
  };
  std::shared_ptr<Storage> storage_;
};

}  // namespace warren::learn
