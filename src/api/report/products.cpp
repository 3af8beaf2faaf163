// SPDX-License-Identifier: Apache-2.0
// Reports of timed products.
#include <string>

#include "warren/api/report.hpp"
#include "warren/api/report_measures.hpp"
#include "warren/core/quantity.hpp"

#include "api/report/rows.hpp"
#include "api/report/run.hpp"

namespace warren::api {
namespace {

/// Seconds of preparation as a multiple of one product's; null where that took no measurable time.
Json in_products(double seconds, double product_seconds) {
  return product_seconds > 0.0 ? Json(seconds / product_seconds) : Json(nullptr);
}

std::string with_products(double seconds, double product_seconds) {
  if (!(product_seconds > 0.0)) return duration(seconds);
  return fmt::format("{}, {:.3g} products", duration(seconds), seconds / product_seconds);
}

/// The ways that auto looked at.
void explain(Text& text, const ProductFigures& figures) {
  if (figures.candidates.empty()) {
    text.print("\nnothing to choose: one rank, a strategy that was named, or --deterministic\n");
    return;
  }
  print_candidates(text, figures.candidates);
  if (figures.is_remembered)
    text.print("looked at and measured before: {}\n", sparse::plan_table_path());
  text.print(
      "not looked at: once, whose sums do not repeat bit for bit (--strategy once takes it)\n");
}

}  // namespace

std::string to_json(const ProductReport& report) {
  const ProductOptions& product = report.product;
  const ProductFigures& figures = report.figures;
  const double middle = median(figures.seconds);
  Json json = Json::object();
  if (product.workgroup != 0) json["rows_between_workgroups"] = figures.rows_between;
  json["seconds"] = figures.seconds;
  json["k"] = product.k;
  json["type"] = product.type;
  json["strategy"] = figures.strategy;
  json["method"] = report.matrix.method;
  json["reorder"] = report.matrix.reorder;
  if (product.slow > 1) json["slow"] = product.slow;
  json["gflops"] = figures.gflops;
  json["rows_moved"] = figures.rows_moved;
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  json["max_relative_error"] = if_verified(product.verify, figures.error);
  json["sum"] = figures.sum;
  json["sumsq"] = figures.sumsq;
  json["not_finite"] = figures.not_finite;
  json["verified"] = if_verified(product.verify, figures.is_right);
  json["plan_seconds"] = figures.plan_seconds;
  json["plan_in_products"] = in_products(figures.plan_seconds, middle);
  json["reorder_seconds"] = report.order.reorder;
  json["partition_seconds"] = report.order.partition;
  json["relabel_seconds"] = report.order.relabel;
  json["order_in_products"] = in_products(report.order.all(), middle);
  if (!report.explains) return written(json);
  json["candidates"] = candidates_json(figures.candidates);
  json["remembered"] = figures.is_remembered;
  return written(json);
}

std::string to_text(const ProductReport& report) {
  const ProductOptions& product = report.product;
  const ProductFigures& figures = report.figures;
  const double middle = median(figures.seconds);
  Text text;
  text.print("\n");
  text.row("product", "k = {}, {}, on {}", product.k, product.type, place_of(report.ran));
  text.row("strategy", "{}, {} moved between ranks", figures.strategy,
           counted(figures.rows_moved, "row", "rows"));
  text.row("time", "{}, {:.2f} GFLOP/s", duration(middle), figures.gflops);
  text.row("preparation", "{}", with_products(figures.plan_seconds, middle));
  if (report.matrix.reorder != "none" || report.matrix.method != "ranges")
    text.row("order and partition", "{}", with_products(report.order.all(), middle));
  text.row("sum, of squares", "{:.10g}, {:.10g}", figures.sum, figures.sumsq);
  if (product.verify)
    text.row("verified", "{}, largest error {:.3g} of |A||B|", figures.is_right ? "yes" : "NO",
             figures.error);
  if (report.explains) explain(text, figures);
  return text.take();
}

std::string to_json(const std::string& graph, const ProductReport& report) {
  const ProductOptions& product = report.product;
  const ProductFigures& figures = report.figures;
  const double middle = median(figures.seconds);
  const std::string workgroups =
      product.workgroup == 0
          ? ""
          : fmt::format(" --workgroup {} --slow {}", product.workgroup, product.slow);
  const std::string command = fmt::format(
      "warren spmm {} --k {} --type {} --strategy {} --method {} --reorder {} --devices {} "
      "--repeat {}{}",
      graph, product.k, product.type, product.strategy, report.matrix.method, report.matrix.reorder,
      report.ran.devices, product.repeat, workgroups);
  return written({{"command", command},
                  {"type", product.type},
                  {"k", product.k},
                  {"strategy", product.strategy == "auto" ? figures.strategy : product.strategy},
                  {"product", figures.product},
                  {"seconds", figures.seconds},
                  {"gflops", figures.gflops},
                  {"rows_moved", figures.rows_moved},
                  {"rows_between_workgroups",
                   product.workgroup != 0 ? Json(figures.rows_between) : Json(nullptr)},
                  {"plan_seconds", figures.plan_seconds},
                  {"plan_in_products", in_products(figures.plan_seconds, middle)},
                  {"order_in_products", in_products(report.order.all(), middle)},
                  {"sum", figures.sum},
                  {"sumsq", figures.sumsq},
                  {"not_finite", figures.not_finite},
                  {"max_relative_error", if_verified(product.verify, figures.error)}});
}

std::string overflow_warning(const ProductReport& report) {
  const std::uint64_t count = report.figures.not_finite;
  const std::string& type = report.product.type;
  if (count == 0) return {};
  const std::string cure =
      type == "float16" ? "float16 holds numbers up to 65504, --type bfloat16 and float32 up to "
                          "3.4e38"
                        : type + " holds numbers up to 3.4e38: make the weights smaller";
  return fmt::format("{} of the result {} no finite numbers: {}",
                     counted(count, "element", "elements"), count == 1 ? "is" : "are", cure);
}

std::string to_json(const ProductOptions& product, const graph::PartitionQuality& quality) {
  return written({{"workgroup", product.workgroup},
                  {"slow", product.slow},
                  {"volume", rows_json(quality.moved)},
                  {"volume_between_workgroups", rows_json(quality.between)}});
}

}  // namespace warren::api
