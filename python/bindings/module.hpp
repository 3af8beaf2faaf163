// SPDX-License-Identifier: Apache-2.0
// What the parts of the extension warren._core share: calls without the interpreter's lock, arrays
// that cross between NumPy and the library without a copy, and references that are given back by
// threads that must not take the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "warren/api/array.hpp"
#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::python {

namespace nb = nanobind;

/// A memory resource as Python objects hold it.
struct Allocator {
  std::shared_ptr<exec::MemoryResource> resource;
};

/// What an allocator of Python's raised of late, where this text of a MemoryError says it; none of
/// another text. It is told once. With the GIL.
[[nodiscard]] nb::object raised_by_allocator(std::string_view text);

void bind_allocator(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_check(nb::module_& module);
void bind_distributed(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_session(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_traverse(nb::module_& module);
void bind_multiply(nb::module_& module);
void bind_partition(nb::module_& module);
void bind_processes(nb::module_& module);
void bind_progress(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_sample(nb::module_& module);
void bind_table(nb::module_& module);
void bind_train(nb::module_& module);
void bind_view(nb::module_& module);

/// From here on messages of the library go to Python's logger "warren".
void start_log();
/// With the GIL, before the library works: it tells what the logger's level asks for.
void follow_logger() noexcept;
/// With the GIL: hands over the messages that there are. A Python error that is set stays set.
void tell_messages() noexcept;

/// Gives up the interpreter's lock (the GIL) while it lives. In a thread other than the main one it
/// never returns once the interpreter ends, as the interpreter is then no more to be entered.
/// Throws Error in a process that was forked off one whose threads worked for warren.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Throws Error in a process that was forked off one whose threads worked for warren.
void check_not_forked();

/// Whether a call has run: the library may have threads.
[[nodiscard]] bool is_in_use() noexcept;

/// Enters the interpreter from a thread of the library: takes its lock (the GIL), but where the
/// interpreter ends, which is not to be entered then. Its end waits for those who are inside, for
/// two seconds at most, as what they call may wait for good.
class Entered {
 public:
  Entered();
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  /// False: the interpreter ends, and nothing of Python's may be touched.
  explicit operator bool() const { return is_inside_; }

 private:
  bool is_inside_;
  PyGILState_STATE state_{};
};

/// `work()` without the GIL.
template <class Work>
auto unlocked(Work&& work) {
  const Unlocked guard;
  return work();
}

/// A text of the library in Python's words. With the GIL; no Python error is set by it.
[[nodiscard]] std::string in_python_words(const std::string& text);

/// Raises FileNotFoundError.
[[noreturn]] void file_not_found(const char* text);

/// Takes a reference to `object` that any thread may let go of, with the GIL or without: it is
/// given back with the GIL, at once or by the next call.
[[nodiscard]] std::shared_ptr<void> hold(nb::handle object);
/// Gives back what was let go of. With the GIL.
void give_back();

/// A graph as Python objects hold it. What its memory held of Python is given back with it.
struct GraphHandle {
  explicit GraphHandle(Graph&& made) : graph(std::move(made)) {}
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;
  ~GraphHandle() {
    graph.reset();
    give_back();
  }
  [[nodiscard]] const Graph& operator*() const { return *graph; }
  [[nodiscard]] const Graph* operator->() const { return &*graph; }

  std::optional<Graph> graph;
};

/// A NumPy array of `size` elements at `data`, which `owner` keeps alive. `T` is const for arrays
/// that must not be written.
template <class T, class Owner>
nb::object array_of(T* data, std::uint64_t size, std::unique_ptr<Owner> owner) {
  static T nothing[1] = {};
  const nb::capsule keeper(owner.get(),
                           [](void* kept) noexcept { delete static_cast<Owner*>(kept); });
  (void)owner.release();
  return nb::cast(
      nb::ndarray<nb::numpy, T, nb::ndim<1>>(data == nullptr ? nothing : data, {size}, keeper));
}

/// The vector's memory as an array, without a copy.
template <class T>
nb::object array_of(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  const std::uint64_t size = owner->size();
  return array_of(data, size, std::move(owner));
}

/// A result's array, wherever it is. Vertices and depths are int32, -1 for kNoVertex, and counts
/// are int64: the same memory by other names. In a graph of 2^31 vertices or more vertices are
/// int64, copied to the host. The GPU's memory is told with the GIL, the host's is made without.
class ResultArray {
 public:
  template <class T>
  ResultArray(Array<T> array, nb::dlpack::dtype type)
      : size_(array.size() * sizeof(T) * 8 / type.bits),
        gpu_(array.gpu()),
        memory_(array.memory()),
        type_(type) {
    host_ = [kept = std::move(array)] { return static_cast<const void*>(kept.data()); };
  }
  ResultArray(const std::shared_ptr<std::vector<std::int64_t>>& values)
      : size_(values->size()),
        type_(nb::dtype<std::int64_t>()),
        host_([values] { return static_cast<const void*>(values->data()); }) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// -1: the host.
  [[nodiscard]] int gpu() const { return gpu_; }
  [[nodiscard]] nb::object to_numpy() const;
  /// An object with __dlpack__, where the elements are.
  [[nodiscard]] nb::object to_dlpack() const;
  /// Work on this stream may read the elements until they are freed.
  void used_on(std::uint64_t stream) const {
    if (memory_ != nullptr) api::used_on(*memory_, reinterpret_cast<void*>(stream));
  }

 private:
  /// At `data`, as an object of the framework.
  template <class Framework>
  [[nodiscard]] nb::object as(const void* data, int device_type, int device) const;

  std::uint64_t size_;
  int gpu_ = -1;
  std::shared_ptr<api::ArrayMemory> memory_;
  nb::dlpack::dtype type_;
  std::function<const void*()> host_;  ///< Keeps the array.
};

[[nodiscard]] ResultArray told(Array<double> values);
[[nodiscard]] ResultArray told(Array<float> values);
[[nodiscard]] ResultArray told(Array<std::int64_t> values);
[[nodiscard]] ResultArray told(Array<std::uint64_t> counts);
/// `among`: vertices of the graph, where these are not all of them.
[[nodiscard]] ResultArray told(Array<Vertex> vertices, std::uint64_t among);
[[nodiscard]] inline ResultArray told(Array<Vertex> vertices) {
  const std::uint64_t all = vertices.size();
  return told(std::move(vertices), all);
}

/// Vertices or depths, -1 for kNoVertex: the same memory as int32, or a copy as int64 where the
/// graph has 2^31 vertices or more.
[[nodiscard]] nb::object array_of_vertices(std::vector<Vertex>&& values, std::uint64_t among);
/// The same memory as int64, which no count passes.
[[nodiscard]] nb::object array_of_counts(std::vector<std::uint64_t>&& values);

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Input<T>& array) {
  return {array.data(), array.shape(0)};
}

/// The elements of `array`, which the result keeps alive. They must not be written.
template <class T>
memory::HostArray<T> window(const nb::object& array) {
  const auto input = nb::cast<Input<T>>(array);
  return {const_cast<T*>(input.data()), input.shape(0), hold(array)};
}

}  // namespace warren::python
