// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs from another library's allocator. It is asked with the interpreter's lock, by the
// rank that needs memory; what it gave is let go of without, as threads that hold the lock may wait
// for those that free.
#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "warren/api/session.hpp"
#include "warren/core/error.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

constexpr std::string_view kRaised = "; it raised ";

/// An exception of an allocator's, by what errors say of it.
struct Raised {
  std::string text;
  nb::object exception;
};
/// Those that no error was made of yet, the newest last: the ranks of a call that failed together.
/// With the GIL. Never freed: the interpreter may have ended before.
std::deque<Raised>& raised() {
  static auto* all = new std::deque<Raised>;
  return *all;
}

/// "RuntimeError: no room", what Python's traceback ends with, in few ASCII characters: ranks tell
/// each other the beginning of an error's text.
std::string text_of(nb::handle exception) {
  constexpr std::size_t kMost = 80;
  std::string text;
  try {
    text = nb::cast<std::string>(exception.type().attr("__name__"));
    const auto said = nb::cast<std::string>(
        nb::str(exception).attr("encode")("ascii", "backslashreplace").attr("decode")());
    if (!said.empty()) text += ": " + said;
  } catch (const std::exception&) {  // An exception whose text raises another one.
    PyErr_Clear();
  }
  std::ranges::replace(text, '\n', ' ');
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

/// The error of a device that gets no memory from this allocator, by what it raised.
MemoryError no_memory(const exec::Device& device, std::uint64_t bytes, nb::handle exception) {
  constexpr std::size_t kKept = 8;
  const std::string text = text_of(exception);
  raised().push_back({text, nb::borrow(exception)});
  if (raised().size() > kKept) raised().pop_front();
  const bool is_of_session = device.memory_resource() != nullptr;
  const std::string cure =
      is_of_session ? "the allocator of the session has none to give: empty its cache, or make the "
                      "session without it"
                    : "the allocator that was set has none to give: empty its cache, or unset it";
  const exec::Device& told = device.is_cuda() ? device : exec::Device::cpu(1);
  return {device.name(), bytes, told.memory().free, cure + std::string(kRaised) + text};
}

/// Raises a ValueError, which becomes the cause of the MemoryError.
[[noreturn]] void refuse(nb::handle given) {
  PyErr_Format(PyExc_ValueError,
               "allocator: got %R, expected a pair: the address of the memory, a multiple of 256, "
               "and an object that frees it when it goes",
               given.ptr());
  throw nb::python_error();
}

class PythonResource final : public exec::MemoryResource {
 public:
  explicit PythonResource(const nb::object& function)
      : function_(function.ptr()), keeper_(hold(function)) {}

  [[nodiscard]] void* allocate(const exec::Device& device, std::uint64_t bytes) override {
    constexpr std::uintptr_t kAlignment = 256;
    const Entered interpreter;
    if (!interpreter) return nullptr;
    give_back();  // What waits for this may be what is needed.
    try {
      const nb::object given = nb::handle(function_)(device.index(), bytes);
      std::uintptr_t address = 0;
      const bool is_pair = PySequence_Check(given.ptr()) != 0 && PySequence_Size(given.ptr()) == 2;
      if (!is_pair || !nb::try_cast(nb::object(given[0]), address) || address == 0 ||
          address % kAlignment != 0) {
        PyErr_Clear();
        refuse(given);
      }
      auto* const pointer = reinterpret_cast<void*>(address);
      const std::scoped_lock owned(mutex_);
      owners_[pointer] = hold(given[1]);
      return pointer;
    } catch (const nb::python_error& error) {
      throw no_memory(device, bytes, error.value());
    }
  }
  void deallocate(const exec::Device& /*device*/, void* pointer,
                  std::uint64_t /*bytes*/) noexcept override {
    std::shared_ptr<void> owner;
    const std::scoped_lock owned(mutex_);
    const auto found = owners_.find(pointer);
    if (found == owners_.end()) return;
    owner = std::move(found->second);
    owners_.erase(found);
  }

 private:
  PyObject* function_;
  std::shared_ptr<void> keeper_;  ///< Of the function.
  std::mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<void>> owners_;
};

}  // namespace

nb::object raised_by_allocator(std::string_view text) {
  const std::size_t begin = text.find(kRaised);
  if (begin == text.npos) return {};
  const std::string_view said = text.substr(begin + kRaised.size());
  auto& all = raised();
  const auto found = std::find_if(all.rbegin(), all.rend(),
                                  [&](const Raised& one) { return said.starts_with(one.text); });
  if (found == all.rend()) return {};
  nb::object exception = std::move(found->exception);
  all.clear();  // Those of other ranks, and older ones, which nobody waits for.
  return exception;
}

void bind_allocator(nb::module_& module) {
  nb::class_<Allocator>(module, "Allocator", "Where device memory comes from.")
      .def(
          "__init__",
          [](Allocator* self, const nb::object& function) {
            new (self) Allocator{std::make_shared<PythonResource>(function)};
          },
          nb::arg("function"),
          nb::sig("def __init__(self, function: typing.Callable[[int, int], tuple[int, "
                  "typing.Any]]) -> None"),
          "function(device, bytes): the address, and what frees the memory when it goes.")
      .def_static(
          "pool", [] { return Allocator{unlocked([] { return exec::pool_resource(); })}; },
          "The driver's stream-ordered pools.");
  module.def(
      "set_allocator",
      [](const std::optional<Allocator>& allocator, bool on_cpu) {
        std::shared_ptr<exec::MemoryResource> resource;
        if (allocator) resource = allocator->resource;
        unlocked([&] {
          set_memory_resource(std::move(resource), on_cpu ? DeviceKind::cpu : DeviceKind::cuda);
        });
      },
      nb::arg("allocator").none(), nb::arg("on_cpu"));
}

}  // namespace warren::python
