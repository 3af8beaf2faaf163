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

nb::object array_of_counts(std::vector<std::uint64_t>&& values) {
  return as_signed<std::int64_t>(std::move(values));
}

nb::object array_of_vertices(std::vector<Vertex>&& values) {
  constexpr std::uint64_t kInt32Vertices = std::uint64_t{1} << 31;
  if (values.size() < kInt32Vertices) return as_signed<std::int32_t>(std::move(values));
  std::vector<std::int64_t> wide(values.size());
  for (std::size_t v = 0; v < values.size(); ++v)
    wide[v] = values[v] == kNoVertex ? -1 : std::int64_t{values[v]};
  return array_of(std::move(wide));
}

}  // namespace warren::python
