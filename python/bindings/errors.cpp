// SPDX-License-Identifier: Apache-2.0
// The library's exceptions as Python's, with the same texts, in which options are Python's.
#include "warren/api/checks.hpp"
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

/// Parts of the library name options as the command line does, and here Python's arguments are
/// meant, whichever part it is that throws.
void set_error(PyObject* type, const Error& error) {
  PyErr_SetString(type, api::in_library_words(error.what()).c_str());
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
    set_error(PyExc_MemoryError, error);
  } catch (const TeamError& error) {
    set_error(classes->team.ptr(), error);
  } catch (const Error& error) {
    set_error(classes->error.ptr(), error);
  }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
  const nb::module_ errors = nb::module_::import_("warren._errors");
  classes = new Classes{errors.attr("Error"), errors.attr("VertexError"), errors.attr("TeamError")};
  nb::register_exception_translator(translate);
}

}  // namespace warren::python
