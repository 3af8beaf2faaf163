// SPDX-License-Identifier: Apache-2.0
// A graph's matrix over ranks that are processes. Arrays are PyTorch's: their addresses come as
// numbers, with how many elements are there.
#include <string>

#include <nanobind/stl/string.h>

#include "warren/api/distributed_graph.hpp"

#include "run.hpp"

namespace warren::python {
namespace {

/// What Python objects hold. What its memory held of Python is given back with it.
struct DistributedHandle {
  DistributedHandle(const GraphHandle& given, bool weighted, const std::string& strategy, int gpu,
                    const Run& run) {
    DistributedGraphOptions options;
    options.weighted = weighted;
    options.strategy = strategy;
    options.gpu = gpu;
    if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
    options.session = run.session;
    unlocked([&] { graph.emplace(*given, options); });
  }
  DistributedHandle(const DistributedHandle&) = delete;
  DistributedHandle& operator=(const DistributedHandle&) = delete;
  ~DistributedHandle() {
    graph.reset();
    give_back();
  }
  [[nodiscard]] const DistributedGraph* operator->() const { return &*graph; }

  std::optional<DistributedGraph> graph;
};

/// The operands of a call and where they are.
struct Arrays {
  Arrays(int gpu, std::uint64_t stream, std::uint64_t read, std::uint64_t reads,
         std::uint64_t written, std::uint64_t writes, std::uint64_t columns)
      : place{gpu, reinterpret_cast<void*>(stream)},
        from(reinterpret_cast<const float*>(read), reads),
        to(reinterpret_cast<float*>(written), writes),
        k(columns) {}
  ArrayPlace place;
  std::span<const float> from;
  std::span<float> to;
  std::uint64_t k;
};

nb::object halo_of(const DistributedHandle& handle) {
  const auto ids = handle->halo();
  return array_of(std::vector<std::int64_t>(ids.begin(), ids.end()));
}

}  // namespace

void bind_distributed(nb::module_& module) {
  nb::class_<Arrays>(module, "Arrays")
      .def(nb::init<int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                    std::uint64_t>(),
           nb::arg("gpu"), nb::arg("stream"), nb::arg("read"), nb::arg("reads"), nb::arg("written"),
           nb::arg("writes"), nb::arg("k"));
  nb::class_<DistributedHandle>(module, "DistributedGraph")
      .def(nb::init<const GraphHandle&, bool, const std::string&, int, const Run&>(),
           nb::arg("graph"), nb::arg("weighted"), nb::arg("strategy"), nb::arg("gpu"),
           nb::arg("run"))
      .def_prop_ro("first", [](const DistributedHandle& handle) { return handle->first(); })
      .def_prop_ro("rows", [](const DistributedHandle& handle) { return handle->rows(); })
      .def_prop_ro("halo", &halo_of, nb::sig("def halo(self) -> numpy.typing.NDArray[numpy.int64]"))
      .def(
          "strategy",
          [](const DistributedHandle& handle, bool transpose) {
            return handle->strategy(transpose);
          },
          nb::arg("transpose"))
      .def(
          "multiply",
          [](const DistributedHandle& handle, const Arrays& arrays, bool transpose) {
            unlocked([&] {
              handle->multiply(arrays.place, arrays.from, arrays.to, arrays.k, transpose);
            });
          },
          nb::arg("arrays"), nb::arg("transpose"))
      .def(
          "pull",
          [](const DistributedHandle& handle, const Arrays& arrays) {
            unlocked([&] { handle->pull(arrays.place, arrays.from, arrays.to, arrays.k); });
          },
          nb::arg("arrays"))
      .def(
          "push",
          [](const DistributedHandle& handle, const Arrays& arrays) {
            unlocked([&] { handle->push(arrays.place, arrays.from, arrays.to, arrays.k); });
          },
          nb::arg("arrays"))
      .def(
          "refuse",
          [](const DistributedHandle& handle, const std::string& reason) {
            unlocked([&] { handle->refuse(reason); });
          },
          nb::arg("reason"), "Raises ValueError in this call and in the other ranks'.");
}

}  // namespace warren::python
