// SPDX-License-Identifier: Apache-2.0
#include "sssp_report.hpp"

#include <algorithm>
#include <cmath>

#include "files.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kPathsShown = 5;

/// The reached vertices of the largest distances, ties by id.
std::vector<Vertex> farthest(const SsspOutcome& outcome, std::uint64_t vertices) {
  std::vector<Vertex> all;
  for (Vertex v = 0; v < vertices; ++v) {
    if (outcome.reached(v)) all.push_back(v);
  }
  const auto farther = [&](Vertex a, Vertex b) {
    if (outcome.is_integer) {
      return outcome.distance[a] != outcome.distance[b] ? outcome.distance[a] > outcome.distance[b]
                                                        : a < b;
    }
    return outcome.real_distance[a] != outcome.real_distance[b]
               ? outcome.real_distance[a] > outcome.real_distance[b]
               : a < b;
  };
  const std::size_t count = std::min(kPathsShown, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    farther);
  all.resize(count);
  return all;
}

bool has_whole_distances(const SsspOutcome& outcome) {
  return outcome.is_integer && outcome.scale == 1;
}

std::string largest_text(const SsspOutcome& outcome) {
  return has_whole_distances(outcome)
             ? thousands(outcome.result.max_distance)
             : fmt::format("{:.6g}", outcome.in_units(outcome.result.max_real_distance));
}

/// An integer that is `scale` times what is meant, a power of ten, as a decimal number.
std::string decimal_text(std::uint64_t distance, std::int32_t scale) {
  const auto unit = static_cast<std::uint64_t>(scale);
  std::string text = std::to_string(distance / unit);
  const std::uint64_t rest = distance % unit;
  if (rest == 0) return text;
  std::string digits = std::to_string(unit + rest).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

__extension__ using Wide = unsigned __int128;
Wide sum_of(const traverse::SsspResult& result) {
  return Wide{result.sum_distance_high} << 64 | result.sum_distance;
}

/// JSON's numbers end where 64 bits do for many readers: a longer sum is text, in a field of its
/// own.
void set_sum(Json& json, const traverse::SsspResult& result) {
  if (result.sum_distance_high == 0) {
    json["sum_distance"] = result.sum_distance;
    return;
  }
  json["sum_distance"] = nullptr;
  json["sum_distance_reason"] = "past 2^64 - 1: sum_distance_text has it in full";
  json["sum_distance_text"] = fmt::format("{}", sum_of(result));
}

}  // namespace

bool SsspOutcome::reached(Vertex v) const {
  return is_integer ? distance[v] != traverse::kUnreachedDistance : std::isfinite(real_distance[v]);
}

std::string SsspOutcome::distance_text(Vertex v) const {
  return is_integer ? decimal_text(distance[v], scale) : fmt::format("{}", real_distance[v]);
}

double SsspOutcome::teps() const {
  const double middle = median(seconds);
  return middle > 0.0 ? static_cast<double>(traversed_edges) / middle : 0.0;
}

void set_fields(Json& json, const SsspOutcome& outcome, const VertexNames& names) {
  const traverse::SsspResult& result = outcome.result;
  json["source"] = names.json_id(outcome.source);
  if (names.has_names()) json["source_name"] = names.name(outcome.source);
  json["reached"] = result.reached;
  if (has_whole_distances(outcome)) {
    json["max_distance"] = result.max_distance;
    set_sum(json, result);
  } else if (outcome.is_integer) {
    json["max_distance"] = outcome.in_units(static_cast<double>(result.max_distance));
    json["sum_distance"] = outcome.in_units(static_cast<double>(sum_of(result)));
  } else {
    json["max_distance"] = result.max_real_distance;
    json["sum_distance"] = result.sum_real_distance;
  }
  json["weights_rounded"] =
      outcome.first_rounded.empty() ? Json(nullptr) : Json(outcome.first_rounded);
  json["delta"] = outcome.in_units(result.delta);
  json["relaxed_edges"] = result.relaxed_edges;
  json["traversed_edges"] = outcome.traversed_edges;
  json["teps"] = outcome.teps();
  // The conditions hold of the weights as they are held; those of the file make distances that
  // differ by no more than the weights do.
  constexpr double kOfSums = 1e-15;  // And by what sums in double precision are off.
  json["verified_within"] = outcome.verdict
                                ? Json(outcome.rounding == 0.0 ? 0.0 : outcome.rounding + kOfSums)
                                : Json(nullptr);
  json["verified"] = outcome.verdict ? Json(outcome.verdict->correct) : Json(nullptr);
}

void print_outcome(Session& session, const SsspOutcome& outcome, const VertexNames& names) {
  if (!session.prints()) return;
  const traverse::SsspResult& result = outcome.result;
  if (outcome.has_distances()) {
    session.print("\n{:>16}  the farthest\n", "distance");
    for (const Vertex v : farthest(outcome, names.vertices()))
      session.print("{:>16}  {}\n", outcome.distance_text(v), names.name_and_id(v));
    session.print("\n");
  }
  Table table;
  table.row(
      "reached",
      fmt::format("{} of {} ({}), mean distance {:.6g}, largest {}", thousands(result.reached),
                  counted(names.vertices(), "vertex", "vertices"),
                  percent(result.reached, names.vertices()),
                  outcome.in_units(result.sum_real_distance) / static_cast<double>(result.reached),
                  largest_text(outcome)));
  const double looks = static_cast<double>(result.relaxed_edges) /
                       static_cast<double>(std::max<std::uint64_t>(1, result.edges));
  table.row("work", fmt::format("{} steps with bins of {:.4g}, each edge looked at {:.2f} times",
                                thousands(result.steps), outcome.in_units(result.delta), looks));
  table.row("time", fmt::format("{} for {}: {}edges/s ({})", duration(median(outcome.seconds)),
                                counted(outcome.traversed_edges, "edge", "edges"),
                                with_prefix(outcome.teps()), session.place()));
  if (outcome.verdict) {
    const std::string of_what = outcome.first_rounded.empty()
                                    ? ""
                                    : fmt::format(
                                          ", of weights rounded to float32: distances by the "
                                          "file's own differ by {:.2g} of their size "
                                          "at most",
                                          outcome.rounding);
    table.row("verified", outcome.verdict->correct ? "yes, by the edge conditions" + of_what
                                                   : "NO: " + outcome.verdict->message);
  }
  session.print("{}", table.text());
}

void write_sssp(const std::string& path, const SsspOutcome& outcome, const VertexNames& names) {
  write_lines(path, names.vertices(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   outcome.reached(v) ? outcome.distance_text(v) : "-1");
  });
}

}  // namespace warren::app
