// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix. Dense matrices come and go as one row after another, in one
// dimension.
#include "warren/api/multiply.hpp"

#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "warren/sparse/distributed.hpp"

#include "run.hpp"
#include "view.hpp"

namespace warren::python {
namespace {

std::vector<std::string> strategies() {
  std::vector<std::string> names;
  for (const sparse::Strategy strategy : sparse::all_strategies())
    names.push_back(sparse::name_of(strategy));
  return names;
}

nb::tuple spmm_of(const GraphHandle& graph, const nb::object& b, std::uint64_t k, int normalize,
                  bool self_loops, bool transpose, bool weighted, const std::string& strategy,
                  const Run& run) {
  SpmmOptions options;
  options.normalize = static_cast<sparse::Normalization::Kind>(normalize);
  options.self_loops = self_loops;
  options.transpose = transpose;
  options.weighted = weighted;
  options.strategy = strategy;
  set_run(options, run);
  const Operand<float> dense(b);
  SpmmResult found = unlocked([&] { return spmm(*graph, dense.view(), k, options); });
  return nb::make_tuple(told(std::move(found.values)), found.strategy, info_of(found.info));
}

nb::tuple sddmm_of(const GraphHandle& graph, const nb::object& x, const nb::object& y,
                   std::uint64_t k, bool weighted, const Run& run) {
  SddmmOptions options;
  options.weighted = weighted;
  set_run(options, run);
  const Operand<float> left(x);
  const Operand<float> right(y);
  SddmmResult found =
      unlocked([&] { return sddmm(*graph, left.view(), right.view(), k, options); });
  return nb::make_tuple(told(std::move(found.values)), info_of(found.info));
}

}  // namespace

void bind_multiply(nb::module_& module) {
  module.def("strategies", &strategies, "How rows may cross between ranks.");
  module.def(
      "spmm", &spmm_of, nb::arg("graph"), nb::arg("b"), nb::arg("k"), nb::arg("normalize"),
      nb::arg("self_loops"), nb::arg("transpose"), nb::arg("weighted"), nb::arg("strategy"),
      nb::arg("run"),
      nb::sig("def spmm(graph: Graph, b: numpy.typing.NDArray[numpy.float32] | View, k: int, "
              "normalize: int, self_loops: bool, transpose: bool, weighted: bool, strategy: str, "
              "run: Run) -> tuple[Array, str, tuple[typing.Any, ...]]"));
  module.def("sddmm", &sddmm_of, nb::arg("graph"), nb::arg("x"), nb::arg("y"), nb::arg("k"),
             nb::arg("weighted"), nb::arg("run"),
             nb::sig("def sddmm(graph: Graph, x: numpy.typing.NDArray[numpy.float32] | View, "
                     "y: numpy.typing.NDArray[numpy.float32] | View, k: int, weighted: bool, "
                     "run: Run) -> tuple[Array, tuple[typing.Any, ...]]"));
}

}  // namespace warren::python
