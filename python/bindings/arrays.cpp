// SPDX-License-Identifier: Apache-2.0
// References to Python objects that the library holds, and arrays of vertices.
//
// The library's threads free what graphs keep, while another thread that has the GIL may wait for
// them. They take no GIL therefore: what they let go of is put into a list, which the next thread
// with the GIL empties.
#include <mutex>

#include "module.hpp"

namespace warren::python {
namespace {

struct Released {
  std::mutex mutex;
  std::vector<PyObject*> objects;
};

/// Never freed: threads may outlive the module.
Released& released() {
  static auto* list = new Released;
  return *list;
}

int give_back_pending(void* /*unused*/) {
  give_back();
  return 0;
}

void let_go(void* object) {
  {
    const std::scoped_lock lock(released().mutex);
    released().objects.push_back(static_cast<PyObject*>(object));
  }
  // Where its queue is full, the next call gives back.
  (void)Py_AddPendingCall(give_back_pending, nullptr);
}

/// Vertices of smaller graphs are int32 in Python.
constexpr std::uint64_t kInt32Vertices = std::uint64_t{1} << 31;

/// -1 for kNoVertex.
std::vector<std::int64_t> wide(std::span<const Vertex> vertices) {
  std::vector<std::int64_t> values(vertices.size());
  for (std::size_t v = 0; v < values.size(); ++v)
    values[v] = vertices[v] == kNoVertex ? -1 : std::int64_t{vertices[v]};
  return values;
}

/// The bits as those of the signed type.
template <class Signed, class T>
nb::object as_signed(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  auto* data = reinterpret_cast<Signed*>(owner->data());
  const std::uint64_t size = owner->size();
  return array_of(data, size, std::move(owner));
}

}  // namespace

std::shared_ptr<void> hold(nb::handle object) {
  object.inc_ref();
  return {object.ptr(), let_go};
}

void give_back() {
  std::vector<PyObject*> objects;
  {
    const std::scoped_lock lock(released().mutex);
    objects.swap(released().objects);
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

template <class Framework>
nb::object ResultArray::as(const void* data, int device_type, int device) const {
  static std::uint64_t nothing = 0;
  auto owner = std::make_unique<std::function<const void*()>>(host_);
  const nb::capsule keeper(owner.get(), [](void* kept) noexcept {
    delete static_cast<std::function<const void*()>*>(kept);
  });
  (void)owner.release();
  void* there = size_ > 0 ? const_cast<void*>(data) : &nothing;
  const std::size_t shape = size_;
  return nb::cast(
      nb::ndarray<Framework>(there, 1, &shape, keeper, nullptr, type_, device_type, device));
}

nb::object ResultArray::to_numpy() const {
  return as<nb::numpy>(size_ > 0 ? unlocked(host_) : nullptr, nb::device::cpu::value, 0);
}

nb::object ResultArray::to_dlpack() const {
  if (gpu_ >= 0) return as<nb::array_api>(api::on_gpu(*memory_), nb::device::cuda::value, gpu_);
  return as<nb::array_api>(size_ > 0 ? unlocked(host_) : nullptr, nb::device::cpu::value, 0);
}

ResultArray told(Array<double> values) { return {std::move(values), nb::dtype<double>()}; }
ResultArray told(Array<float> values) { return {std::move(values), nb::dtype<float>()}; }
ResultArray told(Array<std::int64_t> values) {
  return {std::move(values), nb::dtype<std::int64_t>()};
}
ResultArray told(Array<std::uint64_t> counts) {
  return {std::move(counts), nb::dtype<std::int64_t>()};  // Which no count passes.
}
ResultArray told(Array<Vertex> vertices, std::uint64_t among) {
  if (among < kInt32Vertices) return {std::move(vertices), nb::dtype<std::int32_t>()};
  return std::make_shared<std::vector<std::int64_t>>(wide(vertices.host()));
}

void bind_arrays(nb::module_& module) {
  nb::class_<ResultArray>(module, "Array")
      .def("__len__", &ResultArray::size)
      .def_prop_ro("gpu", &ResultArray::gpu)
      .def("numpy", &ResultArray::to_numpy,
           nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"))
      .def("used_on", &ResultArray::used_on, nb::arg("stream"))
      .def("dlpack", &ResultArray::to_dlpack, nb::sig("def dlpack(self) -> typing.Any"));
}

nb::object array_of_vertices(std::vector<Vertex>&& values, std::uint64_t among) {
  if (among < kInt32Vertices) return as_signed<std::int32_t>(std::move(values));
  return array_of(wide(values));
}

nb::object array_of_counts(std::vector<std::uint64_t>&& values) {
  return as_signed<std::int64_t>(std::move(values));
}

}  // namespace warren::python
