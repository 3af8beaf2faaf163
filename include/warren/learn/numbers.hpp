// SPDX-License-Identifier: Apache-2.0
// Numbers whose type is chosen at run time: rows of activations and of their gradients are stored
// as float32, float16 or bfloat16; arithmetic, sums and parameters are float32 with all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warren/core/error.hpp"
#include "warren/exec/half.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::learn {

enum class NumberType : std::uint8_t { float32, float16, bfloat16 };

/// Bytes of one.
[[nodiscard]] constexpr std::uint64_t size_of(NumberType type) {
  return type == NumberType::float32 ? 4 : 2;
}

template <class T>
inline constexpr NumberType kTypeOf =
    std::is_same_v<std::remove_const_t<T>, float>  ? NumberType::float32
    : std::is_same_v<std::remove_const_t<T>, Half> ? NumberType::float16
                                                   : NumberType::bfloat16;

/// f(T{}) with the type's float, Half or BFloat16.
template <class F>
decltype(auto) with_type(NumberType type, F&& f) {
  if (type == NumberType::float16) return f(Half{});
  if (type == NumberType::bfloat16) return f(BFloat16{});
  return f(float{});
}

/// The address of numbers, with their type. Owns nothing.
template <class Void>
class NumbersAt {
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Void>, const T, T>;

 public:
  NumbersAt() = default;
  NumbersAt(std::nullptr_t) {}
  NumbersAt(Void* at, NumberType type) : at_(at), type_(type) {}
  NumbersAt(Element<float>* at) : at_(at) {}
  NumbersAt(Element<Half>* at) : at_(at), type_(NumberType::float16) {}
  NumbersAt(Element<BFloat16>* at) : at_(at), type_(NumberType::bfloat16) {}
  template <class Other>
  requires(std::is_const_v<Void> && !std::is_const_v<Other>) NumbersAt(const NumbersAt<Other>& from)
      : at_(from.raw()), type_(from.type()) {}

  [[nodiscard]] NumberType type() const { return type_; }
  [[nodiscard]] Void* raw() const { return at_; }
  /// nullptr is of every type. Throws UsageError where they are of another one.
  template <class T>
  [[nodiscard]] Element<T>* as() const {
    if (at_ != nullptr && type_ != kTypeOf<T>)
      throw UsageError("numbers of one type are read as those of another");
    return static_cast<Element<T>*>(at_);
  }
  /// Those from number i on.
  [[nodiscard]] NumbersAt from(std::uint64_t i) const {
    using Byte = Element<std::byte>;
    return {static_cast<Byte*>(at_) + i * size_of(type_), type_};
  }
  /// Whether they are at the same place.
  friend bool operator==(const NumbersAt& a, const NumbersAt& b) { return a.at_ == b.at_; }
  friend bool operator==(const NumbersAt& a, std::nullptr_t) { return a.at_ == nullptr; }

 private:
  Void* at_ = nullptr;
  NumberType type_ = NumberType::float32;
};
using Numbers = NumbersAt<void>;
using ConstNumbers = NumbersAt<const void>;

/// An owned array of numbers of a type, not initialised.
class NumberBuffer {
 public:
  NumberBuffer() = default;
  /// Throws MemoryError.
  NumberBuffer(const exec::Device& device, NumberType type, std::uint64_t size)
      : bytes_(device, exec::bytes_of(size, size_of(type))), type_(type) {}

  [[nodiscard]] Numbers data() const { return {bytes_.data(), type_}; }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size() / size_of(type_); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.size(); }
  [[nodiscard]] NumberType type() const { return type_; }
  [[nodiscard]] const exec::Device& device() const { return bytes_.device(); }
  void reset() { bytes_.reset(); }

 private:
  memory::Buffer<std::byte> bytes_;
  NumberType type_ = NumberType::float32;
};

/// "float32", "float16" or "bfloat16".
[[nodiscard]] std::string name_of(NumberType type);

}  // namespace warren::learn
