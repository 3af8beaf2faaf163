// SPDX-License-Identifier: Apache-2.0
// Searches, components, ranks and counts. Each function gives the arrays and numbers of its result
// as a tuple, the last of which says what the call ran on.
#include "warren/api/traverse.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "warren/api/checks.hpp"
#include "warren/api/search_each.hpp"

#include "run.hpp"

namespace warren::python {
namespace {

using Vertices = std::optional<Input<Vertex>>;
using Numbers = std::optional<Input<double>>;

std::vector<Vertex> list_of(const Vertices& vertices) {
  if (!vertices) return {};
  return {vertices->data(), vertices->data() + vertices->shape(0)};
}
std::vector<double> numbers_of(const Numbers& numbers) {
  if (!numbers) return {};
  return {numbers->data(), numbers->data() + numbers->shape(0)};
}

nb::tuple bfs_of(const GraphHandle& graph, Vertex source, const Vertices& sources,
                 std::optional<std::uint32_t> depth_limit, const Vertices& targets,
                 bool deterministic, const Run& run) {
  BfsOptions options;
  options.deterministic = deterministic;
  options.source = source;
  options.sources = list_of(sources);
  options.depth_limit = depth_limit;
  options.targets = list_of(targets);
  set_run(options, run);
  BfsResult found = unlocked([&] { return bfs(*graph, options); });
  return nb::make_tuple(report_of(graph, options, found), info_of(found.info), told(found.depth),
                        told(found.parent), found.reached, found.max_depth);
}

nb::tuple sssp_of(const GraphHandle& graph, Vertex source, const Vertices& sources, double delta,
                  std::optional<double> cutoff, const Vertices& targets, const Run& run) {
  SsspOptions options;
  options.targets = list_of(targets);
  options.source = source;
  options.sources = list_of(sources);
  options.delta = delta;
  options.cutoff = cutoff;
  set_run(options, run);
  SsspResult found = unlocked([&] { return sssp(*graph, options); });
  return nb::make_tuple(report_of(graph, options, found), info_of(found.info),
                        found.is_integer ? told(found.distance) : told(found.real_distance),
                        found.reached);
}

/// What searches ran on: the last one's, in the time of all, with the first verdict that is bad.
template <class Result>
RunInfo info_of_all(const std::vector<Result>& each) {
  RunInfo info = each.back().info;
  info.seconds = 0.0;
  for (const Result& result : each) info.seconds += result.info.seconds;
  for (const Result& result : each) {
    if (!result.info.verdict || result.info.verdict->correct) continue;
    info.verdict = result.info.verdict;
    break;
  }
  return info;
}

/// A number of each search.
template <class Result, class Number>
nb::object numbers_of(const std::vector<Result>& each, Number Result::*number) {
  std::vector<std::uint64_t> numbers;
  for (const Result& result : each) numbers.push_back(result.*number);
  return array_of_counts(std::move(numbers));
}

/// Of rows of n values, one behind the other.
nb::tuple bfs_from_each_of(const GraphHandle& graph, const Input<Vertex>& sources,
                           std::optional<std::uint32_t> depth_limit, const Vertices& targets,
                           bool deterministic, const Run& run) {
  BfsOptions options;
  options.deterministic = deterministic;
  options.depth_limit = depth_limit;
  options.targets = list_of(targets);
  set_run(options, run);
  BfsSearches found = unlocked([&] { return bfs_from_each(*graph, span_of(sources), options); });
  return nb::make_tuple(report_of(graph, options, found.each), info_of(info_of_all(found.each)),
                        told(found.depth, graph->vertices()), told(found.parent, graph->vertices()),
                        numbers_of(found.each, &BfsResult::reached),
                        numbers_of(found.each, &BfsResult::max_depth));
}

nb::tuple sssp_from_each_of(const GraphHandle& graph, const Input<Vertex>& sources, double delta,
                            std::optional<double> cutoff, const Vertices& targets, const Run& run) {
  SsspOptions options;
  options.targets = list_of(targets);
  options.delta = delta;
  options.cutoff = cutoff;
  set_run(options, run);
  SsspSearches found = unlocked([&] { return sssp_from_each(*graph, span_of(sources), options); });
  return nb::make_tuple(
      report_of(graph, options, found.each), info_of(info_of_all(found.each)),
      found.each.front().is_integer ? told(found.distance) : told(found.real_distance),
      numbers_of(found.each, &SsspResult::reached));
}

nb::tuple components_of(const GraphHandle& graph, int form, const Run& run) {
  ComponentsOptions options;
  options.form = static_cast<ComponentsForm>(form);
  set_run(options, run);
  ComponentsResult found = unlocked([&] { return connected_components(*graph, options); });
  return nb::make_tuple(report_of(graph, found), info_of(found.info), told(found.label),
                        found.components, found.largest, found.form == ComponentsForm::search,
                        found.search_levels);
}

nb::tuple pagerank_of(const GraphHandle& graph, double damping, double tolerance,
                      std::uint32_t max_iterations, const Numbers& personalization, bool weighted,
                      const Numbers& dangling, const Numbers& start, const Run& run) {
  PageRankOptions options;
  options.damping = damping;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  options.weighted = weighted;
  options.personalization = numbers_of(personalization);
  options.dangling = numbers_of(dangling);
  options.start = numbers_of(start);
  set_run(options, run);
  PageRankResult found = unlocked([&] { return pagerank(*graph, options); });
  return nb::make_tuple(report_of(graph, options, found), info_of(found.info), told(found.rank),
                        found.iterations, found.residual, found.converged);
}

nb::tuple betweenness_of(const GraphHandle& graph, const Vertices& sources, std::uint64_t sample,
                         std::uint64_t seed, bool normalized, const Run& run) {
  BetweennessOptions options;
  options.sources = list_of(sources);
  options.sample = sample;
  options.seed = seed;
  options.normalized = normalized;
  set_run(options, run);
  BetweennessResult found = unlocked([&] { return betweenness(*graph, options); });
  return nb::make_tuple(report_of(graph, options, found), info_of(found.info), told(found.score),
                        array_of_vertices(std::move(found.sources), graph->vertices()),
                        found.scale);
}

nb::tuple core_numbers_of(const GraphHandle& graph, const Run& run) {
  CoreNumbersOptions options;
  set_run(options, run);
  CoreNumbersResult found = unlocked([&] { return core_numbers(*graph, options); });
  return nb::make_tuple(report_of(graph, found), info_of(found.info), told(found.core),
                        found.largest, found.innermost);
}

nb::tuple triangles_of(const GraphHandle& graph, const Run& run) {
  TrianglesOptions options;
  set_run(options, run);
  TrianglesResult found = unlocked([&] { return triangles(*graph, options); });
  return nb::make_tuple(report_of(graph, found), info_of(found.info), told(found.count),
                        found.triangles);
}

}  // namespace

void bind_traverse(nb::module_& module) {
  nb::class_<Run>(module, "Run")
      .def(
          "__init__",
          [](Run* self, int mode, int edges, int device, int devices,
             std::optional<Session> session, std::uint64_t host_memory, bool verify) {
            new (self) Run{mode, edges, device, devices, std::move(session), host_memory, verify};
          },
          nb::arg("mode"), nb::arg("edges"), nb::arg("device"), nb::arg("devices"),
          nb::arg("session").none(), nb::arg("host_memory") = 0, nb::arg("verify") = false);
  nb::class_<Report>(module, "Report")
      .def("json", &Report::json)
      .def("text", [](const Report& self) { return api::in_library_words(self.text()); });
  module.def("bfs", &bfs_of, nb::arg("graph"), nb::arg("source"), nb::arg("sources").none(),
             nb::arg("depth_limit").none(), nb::arg("targets").none(), nb::arg("deterministic"),
             nb::arg("run"),
             nb::sig("def bfs(graph: Graph, source: int, "
                     "sources: numpy.typing.NDArray[numpy.uint32] | None, "
                     "depth_limit: int | None, "
                     "targets: numpy.typing.NDArray[numpy.uint32] | None, deterministic: bool, "
                     "run: Run) -> tuple[Report, tuple[typing.Any, ...], Array, Array, int, int]"));
  module.def("bfs_from_each", &bfs_from_each_of, nb::arg("graph"), nb::arg("sources"),
             nb::arg("depth_limit").none(), nb::arg("targets").none(), nb::arg("deterministic"),
             nb::arg("run"),
             nb::sig("def bfs_from_each(graph: Graph, "
                     "sources: numpy.typing.NDArray[numpy.uint32], depth_limit: int | None, "
                     "targets: numpy.typing.NDArray[numpy.uint32] | None, deterministic: bool, "
                     "run: Run) -> tuple[Report, tuple[typing.Any, ...], Array, Array, "
                     "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"));
  module.def(
      "busiest_vertex",
      [](const GraphHandle& graph) { return unlocked([&] { return busiest_vertex(*graph); }); },
      nb::arg("graph"), nb::sig("def busiest_vertex(graph: Graph) -> int"));
  module.def(
      "random_sources",
      [](const GraphHandle& graph, std::uint64_t count, std::uint64_t seed) {
        auto sources = unlocked([&] { return random_sources(*graph, count, seed); });
        return array_of_vertices(std::move(sources), graph->vertices());
      },
      nb::arg("graph"), nb::arg("count"), nb::arg("seed"),
      nb::sig("def random_sources(graph: Graph, count: int, seed: int) -> "
              "numpy.typing.NDArray[typing.Any]"));
  module.def("sssp", &sssp_of, nb::arg("graph"), nb::arg("source"), nb::arg("sources").none(),
             nb::arg("delta"), nb::arg("cutoff").none(), nb::arg("targets").none(), nb::arg("run"),
             nb::sig("def sssp(graph: Graph, source: int, "
                     "sources: numpy.typing.NDArray[numpy.uint32] | None, delta: float, "
                     "cutoff: float | None, "
                     "targets: numpy.typing.NDArray[numpy.uint32] | None, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], Array, int]"));
  module.def("sssp_from_each", &sssp_from_each_of, nb::arg("graph"), nb::arg("sources"),
             nb::arg("delta"), nb::arg("cutoff").none(), nb::arg("targets").none(), nb::arg("run"),
             nb::sig("def sssp_from_each(graph: Graph, "
                     "sources: numpy.typing.NDArray[numpy.uint32], delta: float, "
                     "cutoff: float | None, "
                     "targets: numpy.typing.NDArray[numpy.uint32] | None, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], Array, "
                     "numpy.typing.NDArray[numpy.int64]]"));
  module.def("connected_components", &components_of, nb::arg("graph"), nb::arg("form"),
             nb::arg("run"),
             nb::sig("def connected_components(graph: Graph, form: int, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], Array, int, int, bool, int]"));
  module.def(
      "betweenness", &betweenness_of, nb::arg("graph"), nb::arg("sources").none(),
      nb::arg("sample"), nb::arg("seed"), nb::arg("normalized"), nb::arg("run"),
      nb::sig("def betweenness(graph: Graph, sources: numpy.typing.NDArray[numpy.uint32] | None, "
              "sample: int, seed: int, normalized: bool, run: Run) -> "
              "tuple[Report, tuple[typing.Any, ...], Array, "
              "numpy.typing.NDArray[typing.Any], float]"));
  module.def("core_numbers", &core_numbers_of, nb::arg("graph"), nb::arg("run"),
             nb::sig("def core_numbers(graph: Graph, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], Array, int, int]"));
  module.def("triangles", &triangles_of, nb::arg("graph"), nb::arg("run"),
             nb::sig("def triangles(graph: Graph, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], Array, int]"));
  module.def("pagerank", &pagerank_of, nb::arg("graph"), nb::arg("damping"), nb::arg("tolerance"),
             nb::arg("max_iterations"), nb::arg("personalization").none(), nb::arg("weighted"),
             nb::arg("dangling").none(), nb::arg("start").none(), nb::arg("run"),
             nb::sig("def pagerank(graph: Graph, damping: float, tolerance: float, "
                     "max_iterations: int, personalization: numpy.typing.NDArray[numpy.float64] | "
                     "None, weighted: bool, dangling: numpy.typing.NDArray[numpy.float64] | None, "
                     "start: numpy.typing.NDArray[numpy.float64] | None, run: Run) -> "
                     "tuple[Report, tuple[typing.Any, ...], "
                     "Array, int, float, bool]"));
}

}  // namespace warren::python
