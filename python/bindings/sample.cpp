// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods.
#include "warren/api/sample.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "warren/api/walks.hpp"

#include "run.hpp"
#include "view.hpp"

namespace warren::python {
namespace {

struct EdgeTimesHandle {
  EdgeTimes times;
};

/// Which neighbours are sampled: of both calls alike.
struct Choices {
  bool replace = false, weighted = false, labor = false, layer_dependency = false;
  bool temporal_last = false, disjoint = false, once = false;
  EdgeTimes edge_times;
  std::vector<std::int64_t> seed_times;

  template <class Options>
  void set(Options& options) const {
    options.replace = replace;
    options.weighted = weighted;
    options.labor = labor;
    options.layer_dependency = layer_dependency;
    options.edge_times = edge_times;
    options.seed_times = seed_times;
    options.temporal_last = temporal_last;
    options.disjoint = disjoint;
    options.once = once;
  }
};

nb::tuple sample_of(const GraphHandle& graph, const Input<Vertex>& seeds,
                    const std::vector<std::int64_t>& fanouts, const Choices& choices,
                    std::uint64_t seed, std::uint64_t batch, const Run& run) {
  SampleOptions options;
  options.seeds.assign(seeds.data(), seeds.data() + seeds.shape(0));
  options.fanouts = fanouts;
  choices.set(options);
  options.seed = seed;
  options.batch = batch;
  set_run(options, run);
  SampleResult found = unlocked([&] { return sample_neighbours(*graph, options); });
  const std::uint64_t sampled = found.vertices.size();
  nb::list layers;
  for (SampledLayer& layer : found.layers)
    layers.append(nb::make_tuple(array_of_counts(std::move(layer.offsets)),
                                 array_of_vertices(std::move(layer.targets), sampled),
                                 array_of_counts(std::move(layer.edge_ids))));
  return nb::make_tuple(array_of_vertices(std::move(found.vertices), graph->vertices()),
                        array_of_vertices(std::move(found.trees), 0), layers, info_of(found.info));
}

nb::list list_of(const std::vector<std::uint64_t>& values) {
  nb::list list;
  for (const std::uint64_t value : values) list.append(value);
  return list;
}

nb::tuple batches_of(const GraphHandle& graph, const nb::object& seeds,
                     const std::vector<std::int64_t>& fanouts, std::uint64_t batch_size,
                     const Choices& choices, bool edge_ids, std::uint64_t seed, std::uint64_t batch,
                     std::uint32_t in_flight, bool own, const Run& run) {
  SampleBatchesOptions options;
  if (nb::isinstance<View>(seeds)) {
    options.seeds_in_place = nb::cast<const View&>(seeds).ids();
  } else {
    const auto given = nb::cast<Input<Vertex>>(seeds);
    options.seeds.assign(given.data(), given.data() + given.shape(0));
  }
  options.fanouts = fanouts;
  options.batch_size = batch_size;
  choices.set(options);
  options.edge_ids = edge_ids;
  options.seed = seed;
  options.batch = batch;
  options.in_flight = in_flight;
  options.own = own;
  set_run(options, run);
  SampleBatchesResult found = unlocked([&] { return sample_batches(*graph, options); });
  nb::list layers;
  for (SampledLayers& layer : found.layers)
    layers.append(nb::make_tuple(told(std::move(layer.offsets)), told(std::move(layer.targets), 0),
                                 told(std::move(layer.edge_ids)), list_of(layer.offset_begins),
                                 list_of(layer.edge_begins)));
  return nb::make_tuple(told(std::move(found.vertices), graph->vertices()),
                        told(std::move(found.trees), 0), list_of(found.vertex_begins), layers,
                        info_of(found.info));
}

nb::tuple walks_of(const GraphHandle& graph, const Input<Vertex>& starts, std::uint32_t length,
                   bool weighted, double p, double q, std::uint64_t seed, std::uint64_t batch,
                   const Run& run) {
  RandomWalksOptions options;
  options.starts.assign(starts.data(), starts.data() + starts.shape(0));
  options.length = length;
  options.weighted = weighted;
  options.p = p;
  options.q = q;
  options.seed = seed;
  options.batch = batch;
  set_run(options, run);
  RandomWalksResult found = unlocked([&] { return random_walks(*graph, options); });
  return nb::make_tuple(told(std::move(found.walks), graph->vertices()), info_of(found.info));
}

}  // namespace

void bind_sample(nb::module_& module) {
  nb::class_<EdgeTimesHandle>(module, "EdgeTimes")
      .def(
          "__init__",
          [](EdgeTimesHandle* self, const Input<std::int64_t>& times) {
            const auto given = span_of(times);
            new (self) EdgeTimesHandle{
                std::make_shared<const std::vector<std::int64_t>>(given.begin(), given.end())};
          },
          nb::arg("times"),
          nb::sig("def __init__(self, times: numpy.typing.NDArray[numpy.int64]) -> None"))
      .def("__len__", [](const EdgeTimesHandle& self) { return self.times->size(); });
  nb::class_<Choices>(module, "SampleChoices")
      .def(nb::init<>())
      .def_rw("replace", &Choices::replace)
      .def_rw("weighted", &Choices::weighted)
      .def_rw("labor", &Choices::labor)
      .def_rw("layer_dependency", &Choices::layer_dependency)
      .def_rw("temporal_last", &Choices::temporal_last)
      .def_rw("disjoint", &Choices::disjoint)
      .def_rw("once", &Choices::once)
      .def(
          "set_times",
          [](Choices& self, const EdgeTimesHandle& edges, const Input<std::int64_t>& seeds) {
            const auto given = span_of(seeds);
            self.edge_times = edges.times;
            self.seed_times.assign(given.begin(), given.end());
          },
          nb::arg("edges"), nb::arg("seeds"),
          nb::sig("def set_times(self, edges: EdgeTimes, "
                  "seeds: numpy.typing.NDArray[numpy.int64]) -> None"));
  module.def("sample", &sample_of, nb::arg("graph"), nb::arg("seeds"), nb::arg("fanouts"),
             nb::arg("choices"), nb::arg("seed"), nb::arg("batch"), nb::arg("run"),
             nb::sig("def sample(graph: Graph, seeds: numpy.typing.NDArray[numpy.uint32], "
                     "fanouts: list[int], choices: SampleChoices, seed: int, batch: int, run: Run) "
                     "-> tuple[numpy.typing.NDArray[typing.Any], "
                     "numpy.typing.NDArray[typing.Any], list[typing.Any], "
                     "tuple[typing.Any, ...]]"));
  module.def(
      "sample_batches", &batches_of, nb::arg("graph"), nb::arg("seeds"), nb::arg("fanouts"),
      nb::arg("batch_size"), nb::arg("choices"), nb::arg("edge_ids"), nb::arg("seed"),
      nb::arg("batch"), nb::arg("in_flight"), nb::arg("own"), nb::arg("run"),
      nb::sig("def sample_batches(graph: Graph, seeds: numpy.typing.NDArray[numpy.uint32] | View, "
              "fanouts: list[int], batch_size: int, choices: SampleChoices, edge_ids: bool, seed: "
              "int, batch: int, in_flight: int, "
              "own: bool, run: Run) -> tuple[Array, Array, list[int], list[typing.Any], "
              "tuple[typing.Any, ...]]"));
  module.def("random_walks", &walks_of, nb::arg("graph"), nb::arg("starts"), nb::arg("length"),
             nb::arg("weighted"), nb::arg("p"), nb::arg("q"), nb::arg("seed"), nb::arg("batch"),
             nb::arg("run"),
             nb::sig("def random_walks(graph: Graph, starts: numpy.typing.NDArray[numpy.uint32], "
                     "length: int, weighted: bool, p: float, q: float, seed: int, batch: int, "
                     "run: Run) -> tuple[Array, tuple[typing.Any, ...]]"));
}

}  // namespace warren::python
