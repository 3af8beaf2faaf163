// SPDX-License-Identifier: Apache-2.0
// Progress of calls, told to a function of Python's in the thread that calls.
#include "warren/api/progress.hpp"

#include <optional>
#include <string>

#include <nanobind/stl/string.h>

#include "module.hpp"

namespace warren::python {
namespace {

/// A context, in which calls of the thread that entered it call `tell`. What that raises stays set
/// in the thread, as of a signal's handler, and is what the call raises.
class ProgressContext {
 public:
  explicit ProgressContext(nb::object tell) : tell_(std::move(tell)) {}

  void enter() {
    context_.emplace([this](const Progress& progress) {
      const nb::gil_scoped_acquire lock;
      try {
        tell_(std::string(progress.unit), progress.done, progress.total);
      } catch (nb::python_error& error) {
        error.restore();
        throw Interrupted("the call was ended by its progress function");
      }
    });
  }
  void leave() { context_.reset(); }

 private:
  nb::object tell_;
  std::optional<TellProgress> context_;
};

}  // namespace

void bind_progress(nb::module_& module) {
  nb::class_<ProgressContext>(module, "ProgressContext")
      .def(nb::init<nb::object>(), nb::arg("tell"),
           nb::sig("def __init__(self, tell: typing.Callable[[str, int, int], object]) -> None"))
      .def("enter", &ProgressContext::enter)
      .def("leave", &ProgressContext::leave);
}

}  // namespace warren::python
