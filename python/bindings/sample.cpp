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

nb::tuple sample_of(const GraphHandle& graph, const Input<Vertex>& seeds,
                    const std::vector<std::int64_t>& fanouts, bool replace, bool weighted,
                    bool disjoint, bool once, std::uint64_t seed, std::uint64_t batch,
                    const Run& run) {
  SampleOptions options;
  options.seeds.assign(seeds.data(), seeds.data() + seeds.shape(0));
  options.fanouts = fanouts;
  options.replace = replace;
  options.weighted = weighted;
  options.disjoint = disjoint;
  options.once = once;
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
                     bool replace, bool weighted, bool disjoint, bool once, bool edge_ids,
                     std::uint64_t seed, std::uint64_t batch, std::uint32_t in_flight, bool own,
                     const Run& run) {
  SampleBatchesOptions options;
  if (nb::isinstance<View>(seeds)) {
    options.seeds_in_place = nb::cast<const View&>(seeds).ids();
  } else {
    const auto given = nb::cast<Input<Vertex>>(seeds);
    options.seeds.assign(given.data(), given.data() + given.shape(0));
  }
  options.fanouts = fanouts;
  options.batch_size = batch_size;
  options.replace = replace;
  options.weighted = weighted;
  options.disjoint = disjoint;
  options.once = once;
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
  module.def(
      "sample", &sample_of, nb::arg("graph"), nb::arg("seeds"), nb::arg("fanouts"),
      nb::arg("replace"), nb::arg("weighted"), nb::arg("disjoint"), nb::arg("once"),
      nb::arg("seed"), nb::arg("batch"), nb::arg("run"),
      nb::sig(
          "def sample(graph: Graph, seeds: numpy.typing.NDArray[numpy.uint32], "
          "fanouts: list[int], replace: bool, weighted: bool, disjoint: bool, "
          "once: bool, seed: int, batch: int, run: Run) -> tuple[numpy.typing.NDArray[typing.Any], "
          "numpy.typing.NDArray[typing.Any], list[typing.Any], "
          "tuple[typing.Any, ...]]"));
  module.def(
      "sample_batches", &batches_of, nb::arg("graph"), nb::arg("seeds"), nb::arg("fanouts"),
      nb::arg("batch_size"), nb::arg("replace"), nb::arg("weighted"), nb::arg("disjoint"),
      nb::arg("once"), nb::arg("edge_ids"), nb::arg("seed"), nb::arg("batch"), nb::arg("in_flight"),
      nb::arg("own"), nb::arg("run"),
      nb::sig("def sample_batches(graph: Graph, seeds: numpy.typing.NDArray[numpy.uint32] | View, "
              "fanouts: list[int], batch_size: int, replace: bool, weighted: bool, "
              "disjoint: bool, once: bool, edge_ids: bool, seed: int, batch: int, in_flight: int, "
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
