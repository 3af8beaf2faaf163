// SPDX-License-Identifier: Apache-2.0
// The library's messages as records of Python's logger "warren".
//
// Threads of the library have no GIL and must not wait for it, as whoever has it may wait for them:
// they put their messages into a list. The next call that comes back to Python hands them over, or
// the interpreter's main thread, between two of its instructions.
#include "warren/core/log.hpp"

#include <mutex>
#include <string>
#include <string_view>

#include "warren/api/checks.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

struct Message {
  LogLevel level;
  std::string text;
};

struct Messages {
  std::mutex mutex;
  std::vector<Message> list;
};

/// More than these are not kept while no thread has the GIL.
constexpr std::size_t kMostMessages = 10000;

/// Never freed: threads may outlive the module.
Messages& messages() {
  static auto* all = new Messages;
  return *all;
}

int tell_pending(void* /*unused*/) {
  tell_messages();
  return 0;
}

void collect(LogLevel level, std::string_view text) {
  {
    const std::scoped_lock lock(messages().mutex);
    if (messages().list.size() == kMostMessages) return;
    messages().list.push_back({level, std::string(text)});
  }
  // Where its queue is full, the next call tells.
  (void)Py_AddPendingCall(tell_pending, nullptr);
}

/// The logger, which is made where `logging` has been imported, or is with `import_it`; nullptr:
/// there is none, or a Python error. Kept for ever.
PyObject* logger(bool import_it) {
  static PyObject* kept = nullptr;
  if (kept != nullptr) return kept;
  PyObject* name = PyUnicode_FromString("logging");
  if (name == nullptr) return nullptr;
  PyObject* module = import_it ? PyImport_Import(name) : PyImport_GetModule(name);
  Py_DECREF(name);
  if (module == nullptr) return nullptr;
  kept = PyObject_CallMethod(module, "getLogger", "s", "warren");
  Py_DECREF(module);
  return kept;
}

/// As `logging` has them.
int number_of(LogLevel level) {
  if (level == LogLevel::debug) return 10;
  return level == LogLevel::info ? 20 : 30;
}

/// Of an error in a handler or a filter. Ctrl-C in one is still a Ctrl-C.
void let_be_known(PyObject* where) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_Clear();
    PyErr_SetInterrupt();
  } else {
    PyErr_WriteUnraisable(where);
  }
}

/// Keeps a Python error that is set out of the way of calls.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~ErrorAside() { PyErr_Restore(type_, value_, trace_); }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

}  // namespace

void start_log() { set_log_sink(collect); }

void follow_logger() noexcept {
  const ErrorAside aside;
  long number = 30;
  if (PyObject* found = logger(false)) {
    PyObject* level = PyObject_CallMethod(found, "getEffectiveLevel", nullptr);
    if (level != nullptr) number = PyLong_AsLong(level);
    Py_XDECREF(level);
  }
  if (PyErr_Occurred() != nullptr) let_be_known(nullptr);
  LogLevel level = LogLevel::quiet;
  if (number <= 30) level = LogLevel::warning;
  if (number <= 20) level = LogLevel::info;
  if (number <= 10) level = LogLevel::debug;
  set_log_level(level);
}

void tell_messages() noexcept {
  std::vector<Message> list;
  {
    const std::scoped_lock lock(messages().mutex);
    list.swap(messages().list);
  }
  if (list.empty()) return;
  const ErrorAside aside;
  PyObject* found = logger(true);
  for (const Message& message : list) {
    // A warning says what to call; the others, what has happened.
    const std::string text = message.level == LogLevel::warning
                                 ? in_python_words(message.text)
                                 : api::in_library_words(message.text);
    PyObject* done = found == nullptr
                         ? nullptr
                         : PyObject_CallMethod(found, "log", "iss", number_of(message.level), "%s",
                                               text.c_str());
    if (done == nullptr) let_be_known(found);
    Py_XDECREF(done);
  }
}

}  // namespace warren::python
