// SPDX-License-Identifier: Apache-2.0
// Sessions, signals, and what happens to calls when the interpreter ends or the process is forked.
//
// At the end of the interpreter only daemon threads are left beside the main one. One of them must
// not come back into the interpreter: its wait for the GIL would end the thread in the middle of
// C++ code. shut_down() therefore ends their calls, and Unlocked lets them sleep until the process
// ends.
#include <atomic>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include "module.hpp"

namespace warren::python {
namespace {

std::atomic<unsigned long> main_thread{0};
std::atomic<bool> is_ending{false};
std::atomic<bool> is_used{false};    ///< The library may have threads.
std::atomic<bool> is_forked{false};  ///< They are the parent's.
std::atomic<int> returning{0};       ///< Threads that wait for the GIL.
std::atomic<int> inside{0};          ///< Threads of the library in the interpreter, or before it.
thread_local int entries = 0;        ///< Of this thread, if it is one of the library's.

bool is_main() { return PyThread_get_thread_ident() == main_thread; }

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

/// Called about twenty times a second by threads that wait for a team, without the GIL.
bool is_interrupted() {
  if (!is_main()) return is_ending;
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

void start(unsigned long thread) {
  main_thread = thread;
  set_interrupt_check(is_interrupted);
  start_log();
}

void after_fork() {
  main_thread = PyThread_get_thread_ident();
  is_forked = is_used.load();
  returning = 0;
  inside = 0;
}

/// False where there is nothing to end.
bool shut_down() {
  if (is_forked || !is_used) return false;
  is_ending = true;
  PyThreadState* state = PyEval_SaveThread();
  // Whoever already waits for the GIL gets it now, and sleeps at its next call.
  while (returning > 0) usleep(500);
  // Whoever is called back by the library may hold what it needs to end.
  constexpr int kMostWaits = 4000;
  for (int waits = 0; inside > 0 && waits < kMostWaits; ++waits) usleep(500);
  // Daemon threads may be at work with its host threads: it is closed, but not freed.
  auto* session = new Session(Session::standard());
  session->close();
  PyEval_RestoreThread(state);
  give_back();
  return true;
}

Session make_session(const std::optional<std::string>& device, int devices, int threads,
                     bool share_devices, double slice_milliseconds,
                     const std::optional<Allocator>& allocator) {
  SessionOptions options;
  if (allocator) options.memory = allocator->resource;
  if (device) options.device = *device == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
  options.devices = devices;
  options.threads = threads;
  options.share_devices = share_devices;
  options.slice_milliseconds = slice_milliseconds;
  return Session(options);
}

}  // namespace

void check_not_forked() {
  if (!is_forked) return;
  throw Error(
      "this process was forked off one in which warren had threads, which a fork does not copy: "
      "start it by \"spawn\" (multiprocessing.set_start_method), or use warren in the child "
      "alone");
}

Unlocked::Unlocked() {
  check_not_forked();
  if (is_ending && entries > 0) throw Interrupted("the interpreter ends");
  is_used = true;
  give_back();
  follow_logger();
  state_ = PyEval_SaveThread();
  if (is_ending && !is_main() && entries == 0) sleep_for_ever();
}

Unlocked::~Unlocked() {
  ++returning;
  if (is_ending && !is_main() && entries == 0) {
    --returning;
    sleep_for_ever();
  }
  PyEval_RestoreThread(state_);
  --returning;
  tell_messages();
}

Entered::Entered() : is_inside_(false) {
  ++inside;
  // After the count: whoever ends the interpreter first says so, and then waits for the count.
  if (is_ending || Py_IsInitialized() == 0) {
    --inside;
    return;
  }
  is_inside_ = true;
  ++entries;
  state_ = PyGILState_Ensure();
}

Entered::~Entered() {
  if (!is_inside_) return;
  PyGILState_Release(state_);
  --entries;
  --inside;
}

bool is_in_use() noexcept { return is_used; }

void bind_session(nb::module_& module) {
  module.def(
      "max_ranks", [] { return kMaxRanks; }, "Of a team.");
  module.def("start", &start, nb::arg("main_thread"), "Ctrl-C ends calls of this thread.");
  module.def("after_fork", &after_fork, "In the child.");
  module.def(
      "is_forked", [] { return is_forked.load(); },
      "Whether the threads that the library had are a parent process's.");
  module.def("check_not_forked", &check_not_forked, "Raises Error where they are.");
  module.def("shut_down", &shut_down, "Ends the standard session and the calls of daemon threads.");
  nb::class_<Session>(module, "Session")
      .def(
          "__init__",
          [](Session* self, const std::optional<std::string>& device, int devices, int threads,
             bool share_devices, double slice_milliseconds,
             const std::optional<Allocator>& allocator) {
            new (self) Session(unlocked([&] {
              return make_session(device, devices, threads, share_devices, slice_milliseconds,
                                  allocator);
            }));
          },
          nb::arg("device").none(), nb::arg("devices"), nb::arg("threads"),
          nb::arg("share_devices"), nb::arg("slice_milliseconds"), nb::arg("allocator").none())
      .def("close", [](const Session& self) { unlocked([&] { Session(self).close(); }); })
      .def_prop_ro("is_closed", &Session::is_closed);
}

}  // namespace warren::python
