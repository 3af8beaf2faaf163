// SPDX-License-Identifier: Apache-2.0
// What spmm, sddmm and bench spmm share: the options of a timed product, its matrix, and what is
// told of it.
#pragma once

#include "warren/api/report_measures.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "session.hpp"

namespace warren::app {

struct ProductCommand : GraphCommand {
  api::MatrixOptions matrix;
  api::ProductOptions product;
  bool explain = false;

  /// With what the common options say.
  [[nodiscard]] api::ProductOptions options() const;
  /// Throws UsageError for a value that is none.
  void check() const;
  void warn(const Session& session) const;  ///< Of options without effect.
};
void add_slow_option(CLI::App& command, ProductCommand& options);

/// Reads the graph, orders and cuts it. Its values count where the file is a matrix (.mtx, .npz,
/// .wgr) or --weights asks for them; otherwise A is the pattern. `by_ranges`: nothing needs the
/// whole graph, of which ranks in processes may each read or draw their own rows.
[[nodiscard]] api::MeasuredMatrix read_matrix(Session& session, const ProductCommand& command,
                                              bool by_ranges);

/// What is told of a product. Warns where elements of the result are no finite numbers.
[[nodiscard]] api::ProductReport report_of(const Session& session, const ProductCommand& command,
                                           const api::MeasuredMatrix& matrix,
                                           const api::ProductFigures& figures);

}  // namespace warren::app
