// SPDX-License-Identifier: Apache-2.0
// The extension module warren._core: what the package `warren` is made of. Its functions take
// arrays that the package has checked; users call the package.
#include "module.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Bindings of warren's library; use the package warren.";
  // Daemon threads keep what they have when the interpreter ends.
  nanobind::set_leak_warnings(false);
  warren::python::bind_errors(module);
  warren::python::bind_arrays(module);
  warren::python::bind_allocator(module);
  warren::python::bind_view(module);
  warren::python::bind_session(module);
  warren::python::bind_graph(module);
  warren::python::bind_traverse(module);
  warren::python::bind_multiply(module);
  warren::python::bind_partition(module);
  warren::python::bind_processes(module);
  warren::python::bind_progress(module);
  warren::python::bind_rows(module);
  warren::python::bind_distributed(module);
  warren::python::bind_sample(module);
  warren::python::bind_table(module);
  warren::python::bind_train(module);
  warren::python::bind_check(module);
}
