// SPDX-License-Identifier: Apache-2.0
// Parts and orders of a graph's vertices.
#include "warren/api/partition.hpp"

#include <optional>
#include <string>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "run.hpp"

namespace warren::python {
namespace {

nb::tuple volumes(const graph::MovedRows& rows) {
  return nb::make_tuple(rows.broadcast, rows.per_edge, rows.once, rows.fused, rows.cover);
}

/// Of a result whose arrays have gone to the caller: a report has none of them.
template <class Options, class Result>
nb::object report_without_arrays(const GraphHandle& graph, const Options& options,
                                 const Result& result) {
  return report_by(graph, [options, result](const VertexNames& names, bool is_json) {
    return is_json ? to_json(names.graph(), options, result)
                   : to_text(names.graph(), options, result);
  });
}

nb::tuple partition_of(const GraphHandle& graph, int parts, const std::string& method,
                       std::optional<std::uint64_t> seed, int workgroup, bool with_cover,
                       const Run& run) {
  PartitionOptions options;
  options.parts = parts;
  options.method = method;
  options.seed = seed;
  options.workgroup = workgroup;
  options.with_cover = with_cover;
  options.session = run.session;
  PartitionResult found = unlocked([&] { return partition(*graph, options); });
  nb::object part = array_of(std::exchange(found.part, {}));
  nb::object new_id = array_of_vertices(std::exchange(found.new_id, {}), graph->vertices());
  nb::object cuts = array_of_counts(std::exchange(found.cuts, {}));
  return nb::make_tuple(report_without_arrays(graph, options, found), std::move(part),
                        std::move(new_id), std::move(cuts), found.cut_edges, found.halo_rows,
                        found.imbalance, volumes(found.volume), volumes(found.between),
                        found.seconds);
}

nb::tuple reorder_of(const GraphHandle& graph, const std::string& order,
                     std::optional<std::uint64_t> seed, bool with_graph, const Run& run) {
  ReorderOptions options;
  options.order = order;
  options.seed = seed;
  options.with_graph = with_graph;
  options.session = run.session;
  ReorderResult found = unlocked([&] { return reorder(*graph, options); });
  nb::object turned = nb::none();
  if (found.graph)
    turned = nb::cast(new GraphHandle(std::move(*found.graph)), nb::rv_policy::take_ownership);
  found.graph.reset();
  nb::object new_id = array_of_vertices(std::exchange(found.new_id, {}), graph->vertices());
  nb::object old_id = array_of_vertices(std::exchange(found.old_id, {}), graph->vertices());
  return nb::make_tuple(report_without_arrays(graph, options, found), std::move(new_id),
                        std::move(old_id), turned, found.seconds);
}

}  // namespace

void bind_partition(nb::module_& module) {
  module.def(
      "max_parts", [] { return graph::kMaxParts; }, "Of a partition.");
  module.def("partition", &partition_of, nb::arg("graph"), nb::arg("parts"), nb::arg("method"),
             nb::arg("seed").none(), nb::arg("workgroup"), nb::arg("with_cover"), nb::arg("run"),
             nb::sig("def partition(graph: Graph, parts: int, method: str, seed: int | None, "
                     "workgroup: int, with_cover: bool, run: Run) -> tuple[typing.Any, ...]"));
  module.def("reorder", &reorder_of, nb::arg("graph"), nb::arg("order"), nb::arg("seed").none(),
             nb::arg("with_graph"), nb::arg("run"),
             nb::sig("def reorder(graph: Graph, order: str, seed: int | None, with_graph: bool, "
                     "run: Run) -> tuple[Report, numpy.typing.NDArray[typing.Any], "
                     "numpy.typing.NDArray[typing.Any], Graph | None, float]"));
}

}  // namespace warren::python
