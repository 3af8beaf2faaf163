// SPDX-License-Identifier: Apache-2.0
// The library's exceptions as Python's, with the same texts.
#include "warren/api/table.hpp"
#include "warren/core/error.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

/// Classes of warren._errors. Never freed: exceptions may be translated until the very end.
struct Classes {
  nb::object error, vertex, team;
};
Classes* classes = nullptr;

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted& error) {
    // The signal's handler has said what it is, as a rule a KeyboardInterrupt.
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const VertexError& error) {
    PyErr_SetString(classes->vertex.ptr(), error.what());
  } catch (const RowError& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const UsageError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const InputError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const MemoryError& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const TeamError& error) {
    PyErr_SetString(classes->team.ptr(), error.what());
  } catch (const Error& error) {
    PyErr_SetString(classes->error.ptr(), error.what());
  }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  const nb::module_ errors = nb::module_::import_("warren._errors");
  classes = new Classes{errors.attr("Error"), errors.attr("VertexError"), errors.attr("TeamError")};
  nb::register_exception_translator(translate);
}

}  // namespace warren::python
