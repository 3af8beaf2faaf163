// SPDX-License-Identifier: Apache-2.0
// The library's exceptions as Python's, with the same texts, in which options are Python's.
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include <fmt/format.h>
#include <sys/resource.h>

#include "warren/api/checks.hpp"
#include "warren/api/table.hpp"
#include "warren/core/error.hpp"
#include "warren/exec/device.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

/// Classes of warren._errors. Never freed: exceptions may be translated until the very end.
struct Classes {
  nb::object error, vertex, team;
};
Classes* classes = nullptr;

void set_error(PyObject* type, const Error& error) {
  PyErr_SetString(type, in_python_words(error.what()).c_str());
}

/// What an allocator of Python's raised, where an error comes from there; else none.
nb::object cause_of(const std::exception& error) {
  nb::object cause = raised_by_allocator(error.what());
  if (cause.is_valid()) return cause;
  const auto* nested = dynamic_cast<const std::nested_exception*>(&error);
  if (nested == nullptr || nested->nested_ptr() == nullptr) return {};
  try {
    nested->rethrow_nested();
  } catch (const std::exception& inner) {
    return cause_of(inner);
  } catch (...) {
    return {};
  }
}

/// Of a process that may have less than the host has free; "" of others.
std::string limit_of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format(
      "; this process may have {} bytes of addresses ({}), whatever is free: raise that limit "
      "(RLIMIT_AS, ulimit -v)",
      limit.rlim_cur, human_bytes(limit.rlim_cur));
}

void set_memory_error(const MemoryError& error) {
  std::string text = in_python_words(error.what());
  const nb::object cause = cause_of(error);
  if (!cause.is_valid()) {
    if (error.bytes_free() >= error.bytes_asked()) text += limit_of_process();
    PyErr_SetString(PyExc_MemoryError, text.c_str());
    return;
  }
  PyObject* const made = PyObject_CallFunction(PyExc_MemoryError, "s", text.c_str());
  if (made == nullptr) return;  // Which has raised.
  PyException_SetCause(made, cause.inc_ref().ptr());
  PyErr_SetObject(PyExc_MemoryError, made);
  Py_DECREF(made);
}

/// Memory that neither the library nor Python asked for by its size.
void set_no_memory(const char* what) {
  if (PyErr_Occurred() != nullptr) return;  // Python has said what it had no memory for.
  const std::uint64_t free = exec::Device::cpu(1).memory().free;
  const std::string limit = limit_of_process();
  const std::string text = fmt::format(
      "not enough memory on the host: there was none for {}, {} bytes free ({}){}", what, free,
      human_bytes(free),
      limit.empty() ? "; free some, or do with a smaller graph or fewer results" : limit);
  PyErr_SetString(PyExc_MemoryError, text.c_str());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted& error) {
    // The signal's handler has said what it is, as a rule a KeyboardInterrupt.
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const VertexError& error) {
    set_error(classes->vertex.ptr(), error);
  } catch (const RowError& error) {
    set_error(PyExc_IndexError, error);
  } catch (const UsageError& error) {
    set_error(PyExc_ValueError, error);
  } catch (const InputError& error) {
    set_error(PyExc_ValueError, error);
  } catch (const MemoryError& error) {
    set_memory_error(error);
  } catch (const TeamError& error) {
    set_error(classes->team.ptr(), error);
  } catch (const Error& error) {
    set_error(classes->error.ptr(), error);
  } catch (const std::length_error&) {  // A list of more elements than addresses there are.
    set_no_memory("a list that the call works with");
  } catch (const std::bad_alloc&) {
    set_no_memory("a list that the call works with");
  } catch (const std::bad_cast&) {
    // Arguments are checked before: an object of Python's that could not be made.
    set_no_memory("an object of Python's that tells a result");
  }
}

}  // namespace

std::string in_python_words(const std::string& text) {
  // Parts of the library name options as the command line does, whichever part it is that speaks.
  const std::string plain = api::in_library_words(text);
  PyObject* const words = PyImport_ImportModule("warren._words");
  PyObject* const told = words == nullptr
                             ? nullptr
                             : PyObject_CallMethod(words, "in_python_words", "s", plain.c_str());
  const char* const characters = told == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(told, nullptr);
  std::string found = characters == nullptr ? plain : characters;
  const bool is_interrupt =
      PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyErr_Clear();
  if (is_interrupt) PyErr_SetInterrupt();  // For what runs when this has been said.
  Py_XDECREF(told);
  Py_XDECREF(words);
  return found;
}

void bind_errors(nb::module_& /*module*/) {
  const nb::module_ errors = nb::module_::import_("warren._errors");
  classes = new Classes{errors.attr("Error"), errors.attr("VertexError"), errors.attr("TeamError")};
  nb::register_exception_translator(translate);
}

}  // namespace warren::python
