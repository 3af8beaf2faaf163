// SPDX-License-Identifier: Apache-2.0
// Tables of rows. Rows come as bytes, in one dimension; results go as elements of the type that the
// package names, in one dimension, too.
#include "warren/api/table.hpp"

#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "warren/exec/half.hpp"

#include "run.hpp"
#include "view.hpp"

namespace warren::python {
namespace {

using Bytes = std::uint8_t;

/// A table as Python objects hold it. What its memory held of Python is given back with it.
struct TableHandle {
  TableHandle(const nb::object& values, std::uint64_t row_bytes, int placement,
              const std::optional<Input<std::uint64_t>>& cached, const Run& run) {
    TableOptions options;
    options.placement = static_cast<TablePlacement>(placement);
    if (cached) options.cached.emplace(cached->data(), cached->data() + cached->shape(0));
    set_run(options, run);
    if (nb::isinstance<View>(values))
      table.emplace(nb::cast<const View&>(values).of<Bytes>(), hold(values), row_bytes, options);
    else
      table.emplace(window<Bytes>(values), row_bytes, options);
  }
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;
  ~TableHandle() {
    table.reset();
    give_back();
  }

  std::optional<Table<Bytes>> table;
};

nb::tuple gather_of(const TableHandle& handle, const nb::object& ids, int type_code, int type_bits,
                    bool own) {
  const IdsOperand rows(ids);
  auto found = unlocked([&] { return gather(*handle.table, rows.ids(), own); });
  nb::dlpack::dtype type;
  type.code = static_cast<std::uint8_t>(type_code);
  type.bits = static_cast<std::uint8_t>(type_bits);
  type.lanes = 1;
  return nb::make_tuple(ResultArray(std::move(found.values), type), found.cached_hits,
                        info_of(found.info));
}

template <class T>
nb::tuple lookup_as(const TableHandle& handle, const IdsView& ids,
                    std::span<const EdgeOffset> offsets, const LookupOptions& options,
                    std::uint8_t type_bits) {
  auto found = unlocked([&] {
    const Table<T> table(handle.table->state(), handle.table->rows(),
                         handle.table->columns() / sizeof(T));
    return lookup(table, ids, offsets, options);
  });
  nb::dlpack::dtype type = nb::dtype<float>();
  type.bits = type_bits;
  return nb::make_tuple(ResultArray(std::move(found.values), type), found.strategy,
                        found.rows_moved, info_of(found.info));
}

nb::tuple lookup_of(const TableHandle& handle, const nb::object& ids,
                    const Input<std::uint64_t>& offsets, const nb::object& weights, int mode,
                    const std::string& strategy, bool is_half) {
  LookupOptions options;
  options.mode = static_cast<BagMode>(mode);
  options.strategy = strategy;
  std::optional<Operand<float>> factors;
  if (!weights.is_none()) options.weights = factors.emplace(weights).view();
  const IdsOperand rows(ids);
  if (is_half) return lookup_as<Half>(handle, rows.ids(), span_of(offsets), options, 16);
  return lookup_as<float>(handle, rows.ids(), span_of(offsets), options, 32);
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<TableHandle>(module, "Table")
      .def(nb::init<const nb::object&, std::uint64_t, int,
                    const std::optional<Input<std::uint64_t>>&, const Run&>(),
           nb::arg("values"), nb::arg("row_bytes"), nb::arg("placement"), nb::arg("cached").none(),
           nb::arg("run"),
           nb::sig("def __init__(self, values: numpy.typing.NDArray[numpy.uint8] | View, "
                   "row_bytes: int, placement: int, cached: numpy.typing.NDArray[numpy.uint64] | "
                   "None, run: Run) "
                   "-> None"))
      .def("gather", &gather_of, nb::arg("ids"), nb::arg("type_code"), nb::arg("type_bits"),
           nb::arg("own"),
           nb::sig(
               "def gather(self, ids: numpy.typing.NDArray[numpy.uint64] | View, type_code: int, "
               "type_bits: int, own: bool) -> tuple[Array, int, tuple[typing.Any, ...]]"))
      .def("lookup", &lookup_of, nb::arg("ids"), nb::arg("offsets"), nb::arg("weights").none(),
           nb::arg("mode"), nb::arg("strategy"), nb::arg("is_half"),
           nb::sig("def lookup(self, ids: numpy.typing.NDArray[numpy.uint64] | View, "
                   "offsets: numpy.typing.NDArray[numpy.uint64], "
                   "weights: numpy.typing.NDArray[numpy.float32] | View | None, mode: int, "
                   "strategy: str, is_half: bool) -> "
                   "tuple[Array, str, int, tuple[typing.Any, ...]]"))
      .def("release",
           [](const TableHandle& handle) { unlocked([&] { handle.table->release(); }); });
}

}  // namespace warren::python
