// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs from another library's allocator. It is asked with the interpreter's lock, by the
// rank that needs memory; what it gave is let go of without, as threads that hold the lock may wait
// for those that free.
#include <mutex>
#include <unordered_map>

#include <nanobind/stl/optional.h>

#include "warren/api/session.hpp"
#include "warren/core/log.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

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
      const auto address = nb::cast<std::uintptr_t>(given[0]);
      if (address == 0 || address % kAlignment != 0) {
        log_warning("the allocator gave memory that is not aligned to 256 bytes");
        return nullptr;
      }
      auto* const pointer = reinterpret_cast<void*>(address);
      const std::scoped_lock owned(mutex_);
      owners_[pointer] = hold(given[1]);
      return pointer;
    } catch (const std::exception& error) {
      log_warning(std::string("the allocator gave no memory: ") + error.what());
      return nullptr;
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
