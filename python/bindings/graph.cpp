// SPDX-License-Identifier: Apache-2.0
// Graphs: read, generated or made of arrays, and their arrays as views.
#include <filesystem>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "warren/graph/generate.hpp"

#include "module.hpp"

namespace warren::python {

void file_not_found(const char* text) {
  PyErr_SetString(PyExc_FileNotFoundError, text);
  throw nb::python_error();
}

namespace {

/// A new one, which Python comes to own.
using Handle = GraphHandle*;

/// As the options of from_csr and from_edges are given: four flags.
ArrayOptions array_options(bool symmetrize, bool drop_self_loops, bool keep_duplicates,
                           bool sum_duplicates) {
  return {symmetrize, drop_self_loops, keep_duplicates, sum_duplicates};
}

bool is_there(const std::string& name, const ReadOptions& options) {
  if (options.format.empty() && graph::parse_generator(name, options.seed)) return true;
  std::error_code ignored;
  return name == "-" || std::filesystem::exists(name, ignored);
}

Handle read_graph(const std::string& name, const ReadOptions& options) {
  std::optional<Graph> graph;
  std::string missing;
  unlocked([&] {
    try {
      graph = read(name, options);
    } catch (const InputError& error) {
      if (is_there(name, options)) throw;
      missing = error.what();
    }
  });
  if (!graph) file_not_found(missing.c_str());
  return new GraphHandle(std::move(*graph));
}

bool is_int32(const nb::object& weights) {
  nb::ndarray<const std::int32_t, nb::ndim<1>> seen;
  return nb::try_cast(weights, seen, false);
}

Handle make_from_csr(const nb::object& offsets, const nb::object& targets,
                     const nb::object& weights, const ArrayOptions& options) {
  graph::Graph raw;
  raw.offsets = window<EdgeOffset>(offsets);
  raw.targets = window<Vertex>(targets);
  raw.vertices = static_cast<Vertex>(raw.offsets.size() - 1);
  if (!weights.is_none() && is_int32(weights)) {
    raw.weight_type = graph::WeightType::int32;
    raw.weights_int = window<std::int32_t>(weights);
  } else if (!weights.is_none()) {
    raw.weight_type = graph::WeightType::float32;
    raw.weights_float = window<float>(weights);
  }
  return new GraphHandle(unlocked([&] { return from_csr(std::move(raw), options); }));
}

Handle make_from_edges(const Input<Vertex>& sources, const Input<Vertex>& targets,
                       const nb::object& weights, std::uint64_t vertices,
                       const ArrayOptions& options) {
  Weights typed;
  if (!weights.is_none() && is_int32(weights))
    typed = span_of(nb::cast<Input<std::int32_t>>(weights));
  else if (!weights.is_none())
    typed = span_of(nb::cast<Input<float>>(weights));
  return new GraphHandle(unlocked(
      [&] { return from_edges(span_of(sources), span_of(targets), typed, vertices, options); }));
}

/// A view that keeps the graph alive.
template <class T>
nb::object view(const GraphHandle& handle, const memory::HostArray<T>& array) {
  return array_of(array.data(), array.size(), std::make_unique<Graph>(*handle));
}

/// As int32 where ids fit, which SciPy indexes with.
nb::object targets_of(const GraphHandle& handle) {
  const memory::HostArray<Vertex>& targets = handle->csr().targets;
  if (handle->vertices() > (std::uint64_t{1} << 31)) return view(handle, targets);
  return array_of(reinterpret_cast<const std::int32_t*>(targets.data()), targets.size(),
                  std::make_unique<Graph>(*handle));
}

nb::object offsets_of(const GraphHandle& handle) {
  const memory::HostArray<EdgeOffset>& offsets = handle->csr().offsets;
  return array_of(reinterpret_cast<const std::int64_t*>(offsets.data()), offsets.size(),
                  std::make_unique<Graph>(*handle));
}

nb::object weights_of(const GraphHandle& handle) {
  const graph::Graph& csr = handle->csr();
  if (csr.weight_type == graph::WeightType::int32) return view(handle, csr.weights_int);
  if (csr.weight_type == graph::WeightType::float32) return view(handle, csr.weights_float);
  return nb::none();
}

nb::object names_of(const GraphHandle& handle) {
  if (handle->names().empty()) return nb::none();
  nb::list names;
  for (const std::string& name : handle->names())
    names.append(nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()),
                                                "surrogateescape")));
  return names;
}

nb::object original_ids_of(const GraphHandle& handle) {
  const memory::HostArray<std::uint64_t>& ids = handle->csr().original_ids;
  if (ids.empty()) return nb::none();
  return view(handle, ids);
}

std::uint64_t save(const GraphHandle& handle, const std::string& path) {
  std::uint64_t bytes = 0;
  std::string missing;
  unlocked([&] {
    try {
      bytes = handle->save(path);
    } catch (const InputError& error) {
      const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      std::error_code ignored;
      if (folder.empty() || std::filesystem::exists(folder, ignored)) throw;
      missing = error.what();
    }
  });
  if (!missing.empty()) file_not_found(missing.c_str());
  return bytes;
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<ArrayOptions>(module, "ArrayOptions")
      .def(
          "__init__",
          [](ArrayOptions* self, bool symmetrize, bool drop_self_loops, bool keep_duplicates,
             bool sum_duplicates) {
            new (self) ArrayOptions(
                array_options(symmetrize, drop_self_loops, keep_duplicates, sum_duplicates));
          },
          nb::arg("symmetrize"), nb::arg("drop_self_loops"), nb::arg("keep_duplicates"),
          nb::arg("sum_duplicates"));
  nb::class_<ReadOptions>(module, "ReadOptions")
      .def(nb::init<>())
      .def_rw("symmetrize", &ReadOptions::symmetrize)
      .def_rw("drop_self_loops", &ReadOptions::drop_self_loops)
      .def_rw("keep_duplicates", &ReadOptions::keep_duplicates)
      .def_rw("sum_duplicates", &ReadOptions::sum_duplicates)
      .def_rw("one_based", &ReadOptions::one_based)
      .def_rw("compact", &ReadOptions::compact)
      .def_rw("format", &ReadOptions::format)
      .def_rw("are_words", &ReadOptions::are_words)
      .def_rw("has_headings", &ReadOptions::has_headings, nb::arg().none())
      .def_rw("weights", &ReadOptions::weights)
      .def_rw("seed", &ReadOptions::seed)
      .def_rw("host_memory", &ReadOptions::host_memory)
      .def_prop_rw(
          "lists", [](const ReadOptions& self) { return static_cast<int>(self.lists); },
          [](ReadOptions& self, int lists) { self.lists = static_cast<Lists>(lists); });
  nb::class_<GraphHandle>(module, "Graph")
      .def_prop_ro("vertices", [](const GraphHandle& self) { return self->vertices(); })
      .def_prop_ro("edges", [](const GraphHandle& self) { return self->edges(); })
      .def_prop_ro("is_weighted", [](const GraphHandle& self) { return self->is_weighted(); })
      .def_prop_ro("is_in_file", [](const GraphHandle& self) { return self->file() != nullptr; })
      .def_prop_ro("is_by_ranges",
                   [](const GraphHandle& self) { return self->is_read_by_ranges(); })
      .def_prop_ro("lists_reason",
                   [](const GraphHandle& self) { return in_python_words(self->lists_reason()); })
      .def("is_symmetric",
           [](const GraphHandle& self) { return unlocked([&] { return self->is_symmetric(); }); })
      .def("find",
           [](const GraphHandle& self, const std::string& name) {
             return unlocked([&] { return self->find(name); });
           })
      .def("names", &names_of, nb::sig("def names(self) -> list[typing.Hashable] | None"))
      .def("original_ids", &original_ids_of,
           nb::sig("def original_ids(self) -> numpy.typing.NDArray[numpy.uint64] | None"))
      .def("offsets", &offsets_of,
           nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def("targets", &targets_of, nb::sig("def targets(self) -> numpy.typing.NDArray[typing.Any]"))
      .def("weights", &weights_of,
           nb::sig("def weights(self) -> numpy.typing.NDArray[typing.Any] | None"))
      .def("reversed",
           [](const GraphHandle& self) {
             return new GraphHandle(unlocked([&] { return self->reversed(); }));
           })
      .def("save", &save, nb::arg("path"))
      .def("release", [](const GraphHandle& self) { unlocked([&] { self->release(); }); });
  module.def("read", &read_graph, nb::arg("name"), nb::arg("options"));
  module.def("from_csr", &make_from_csr, nb::arg("offsets"), nb::arg("targets"),
             nb::arg("weights").none(), nb::arg("options"));
  module.def("from_edges", &make_from_edges, nb::arg("sources"), nb::arg("targets"),
             nb::arg("weights").none(), nb::arg("vertices"), nb::arg("options"));
}

}  // namespace warren::python
