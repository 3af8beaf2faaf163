// SPDX-License-Identifier: Apache-2.0
// Arrays of other libraries where they are, on GPUs above all.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "warren/api/array_view.hpp"

#include "module.hpp"

namespace warren::python {

/// An array of another library, row by row without gaps, which it keeps alive. On a GPU it is
/// complete when the GPU's arrival stream, on which the library was told to have it, comes so far.
class View {
 public:
  /// Of a DLPack capsule that was asked for that stream. Throws nanobind's exceptions.
  explicit View(const nb::object& capsule);
  /// At `pointer`, as an array that `owner` keeps alive and that is complete in `stream`'s order.
  View(std::uint64_t pointer, std::vector<std::int64_t> shape, int type_code, int type_bits,
       std::uint64_t stream, nb::object owner);

  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t size() const;
  /// The elements' type by NumPy's name, "float32" say.
  [[nodiscard]] std::string type() const;
  [[nodiscard]] std::uint64_t bytes() const { return size() * type_.bits / 8; }
  /// -1: host memory.
  [[nodiscard]] int gpu() const { return gpu_; }
  /// False for gaps, or for another order of the elements.
  [[nodiscard]] bool is_contiguous() const { return is_contiguous_; }
  /// A copy in host memory, as bytes.
  [[nodiscard]] nb::object to_numpy() const;

  template <class T>
  [[nodiscard]] ArrayView<T> of() const {
    return {static_cast<const T*>(data_), bytes() / sizeof(T), gpu_, stream_};
  }
  [[nodiscard]] IdsView ids() const;

 private:
  const void* data_ = nullptr;
  std::vector<std::int64_t> shape_;
  nb::dlpack::dtype type_;
  bool is_contiguous_ = true;
  int gpu_ = -1;
  void* stream_ = nullptr;
  nb::ndarray<nb::ro> array_;  ///< Of a capsule.
  nb::object owner_;           ///< Of a pointer.
};

/// An argument that is a View or an array in host memory.
template <class T>
class Operand {
 public:
  explicit Operand(nb::handle argument) {
    if (nb::isinstance<View>(argument)) {
      view_ = nb::cast<const View&>(argument).of<T>();
    } else {
      host_ = nb::cast<Input<T>>(argument);
      view_ = span_of(*host_);
    }
  }
  [[nodiscard]] const ArrayView<T>& view() const { return view_; }

 private:
  std::optional<Input<T>> host_;
  ArrayView<T> view_;
};

/// Ids as a View, or in host memory of 64 bits.
class IdsOperand {
 public:
  explicit IdsOperand(nb::handle argument) {
    if (nb::isinstance<View>(argument)) {
      ids_ = nb::cast<const View&>(argument).ids();
    } else {
      host_ = nb::cast<Input<std::uint64_t>>(argument);
      ids_ = span_of(*host_);
    }
  }
  [[nodiscard]] const IdsView& ids() const { return ids_; }

 private:
  std::optional<Input<std::uint64_t>> host_;
  IdsView ids_;
};

}  // namespace warren::python
