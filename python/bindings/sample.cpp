// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods.
#include "warren/api/sample.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "run.hpp"

namespace warren::python {
namespace {

nb::tuple sample_of(const GraphHandle& graph, const Input<Vertex>& seeds,
                    const std::vector<std::int64_t>& fanouts, bool replace, bool weighted,
                    bool disjoint, std::uint64_t seed, std::uint64_t batch, const Run& run) {
  SampleOptions options;
  options.seeds.assign(seeds.data(), seeds.data() + seeds.shape(0));
  options.fanouts = fanouts;
  options.replace = replace;
  options.weighted = weighted;
  options.disjoint = disjoint;
  options.seed = seed;
  options.batch = batch;
  set_run(options, run);
  SampleResult found = unlocked([&] { return sample_neighbours(*graph, options); });
  nb::list layers;
  for (SampledLayer& layer : found.layers)
    layers.append(nb::make_tuple(array_of_counts(std::move(layer.offsets)),
                                 array_of_vertices(std::move(layer.targets)),
                                 array_of_counts(std::move(layer.edge_ids))));
  return nb::make_tuple(array_of_vertices(std::move(found.vertices)),
                        array_of_vertices(std::move(found.trees)), layers, info_of(found.info));
}

}  // namespace

void bind_sample(nb::module_& module) {
  module.def("sample", &sample_of, nb::arg("graph"), nb::arg("seeds"), nb::arg("fanouts"),
             nb::arg("replace"), nb::arg("weighted"), nb::arg("disjoint"), nb::arg("seed"),
             nb::arg("batch"), nb::arg("run"),
             nb::sig("def sample(graph: Graph, seeds: numpy.typing.NDArray[numpy.uint32], "
                     "fanouts: list[int], replace: bool, weighted: bool, disjoint: bool, "
                     "seed: int, batch: int, run: Run) -> tuple[numpy.typing.NDArray[typing.Any], "
                     "numpy.typing.NDArray[typing.Any], list[typing.Any], "
                     "tuple[typing.Any, ...]]"));
}

}  // namespace warren::python
