// SPDX-License-Identifier: Apache-2.0
// Kernels over the rows of a matrix whose arrays PyTorch has: addresses come as numbers, which
// warren.torch has looked at.
#include "warren/api/rows.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

/// A matrix and where it is, as Python tells them. Addresses of 0 are arrays that are not there.
struct Rows {
  Rows(int gpu, std::uint64_t stream, std::uint64_t rows, std::uint64_t entries,
       std::uint64_t offsets, std::uint64_t columns, std::uint64_t values, std::uint64_t value_ids,
       std::uint64_t row_scale, std::uint64_t column_scale, std::uint64_t diagonal)
      : place{gpu, reinterpret_cast<void*>(stream)},
        matrix{rows,
               entries,
               reinterpret_cast<const EdgeOffset*>(offsets),
               reinterpret_cast<const Vertex*>(columns),
               reinterpret_cast<const float*>(values),
               reinterpret_cast<const EdgeOffset*>(value_ids),
               reinterpret_cast<const float*>(row_scale),
               reinterpret_cast<const float*>(column_scale),
               reinterpret_cast<const float*>(diagonal)} {}
  ArrayPlace place;
  RowArrays matrix;
};

const float* in(std::uint64_t address) { return reinterpret_cast<const float*>(address); }
float* out(std::uint64_t address) { return reinterpret_cast<float*>(address); }

void rows_spmm_of(const Rows& rows, std::uint64_t heads, std::uint64_t k, std::uint64_t b,
                  std::uint64_t c) {
  unlocked([&] { rows_spmm(rows.place, rows.matrix, heads, k, in(b), out(c)); });
}

void rows_sddmm_of(const Rows& rows, std::uint64_t heads, std::uint64_t k, std::uint64_t x,
                   std::uint64_t y, std::uint64_t values) {
  unlocked([&] { rows_sddmm(rows.place, rows.matrix, heads, k, in(x), in(y), out(values)); });
}

void rows_softmax_of(const Rows& rows, std::uint64_t heads, std::uint64_t x, std::uint64_t y) {
  unlocked([&] { rows_softmax(rows.place, rows.matrix, heads, in(x), out(y)); });
}

void rows_softmax_backward_of(const Rows& rows, std::uint64_t heads, std::uint64_t y,
                              std::uint64_t dy, std::uint64_t dx) {
  unlocked([&] { rows_softmax_backward(rows.place, rows.matrix, heads, in(y), in(dy), out(dx)); });
}

void rows_max_of(const Rows& rows, std::uint64_t k, std::uint64_t b, std::uint64_t c,
                 std::uint64_t arg) {
  unlocked(
      [&] { rows_max(rows.place, rows.matrix, k, in(b), out(c), reinterpret_cast<Vertex*>(arg)); });
}

void rows_gather_of(int gpu, std::uint64_t stream, std::uint64_t table, std::uint64_t rows,
                    std::uint64_t row_bytes, std::uint64_t ids, std::uint64_t count,
                    std::uint64_t found) {
  unlocked([&] {
    rows_gather({gpu, reinterpret_cast<void*>(stream)}, reinterpret_cast<const void*>(table), rows,
                row_bytes, reinterpret_cast<const std::uint64_t*>(ids), count,
                reinterpret_cast<void*>(found));
  });
}

}  // namespace

void bind_rows(nb::module_& module) {
  nb::class_<Rows>(module, "Rows")
      .def(nb::init<int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                    std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>(),
           nb::arg("gpu"), nb::arg("stream"), nb::arg("rows"), nb::arg("entries"),
           nb::arg("offsets"), nb::arg("columns"), nb::arg("values"), nb::arg("value_ids"),
           nb::arg("row_scale") = 0, nb::arg("column_scale") = 0, nb::arg("diagonal") = 0);
  module.def("rows_spmm", &rows_spmm_of, nb::arg("matrix"), nb::arg("heads"), nb::arg("k"),
             nb::arg("b"), nb::arg("c"));
  module.def("rows_sddmm", &rows_sddmm_of, nb::arg("matrix"), nb::arg("heads"), nb::arg("k"),
             nb::arg("x"), nb::arg("y"), nb::arg("out"));
  module.def("rows_softmax", &rows_softmax_of, nb::arg("matrix"), nb::arg("heads"), nb::arg("x"),
             nb::arg("y"));
  module.def("rows_softmax_backward", &rows_softmax_backward_of, nb::arg("matrix"),
             nb::arg("heads"), nb::arg("y"), nb::arg("dy"), nb::arg("dx"));
  module.def("rows_max", &rows_max_of, nb::arg("matrix"), nb::arg("k"), nb::arg("b"), nb::arg("c"),
             nb::arg("arg"));
  module.def("rows_gather", &rows_gather_of, nb::arg("gpu"), nb::arg("stream"), nb::arg("table"),
             nb::arg("rows"), nb::arg("row_bytes"), nb::arg("ids"), nb::arg("count"),
             nb::arg("out"));
}

}  // namespace warren::python
