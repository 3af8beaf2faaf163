// SPDX-License-Identifier: Apache-2.0
// Reports of timed gathers, lookups, samples and searches by access pattern.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "warren/api/report.hpp"
#include "warren/api/report_measures.hpp"
#include "warren/core/quantity.hpp"

#include "api/report/run.hpp"

namespace warren::api {
namespace {

Json fields_of(const LookupTrialOptions& options, const LookupFigures& figures) {
  Json json = {{"seconds", figures.seconds},
               {"rows", options.rows},
               {"k", options.k},
               {"batch", options.batch},
               {"bag", figures.lookup.bag},
               {"skew", figures.lookup.skew},
               {"type", options.type},
               {"strategy", figures.strategy},
               {"lookups_per_second", figures.rate},
               {"bytes_per_second", figures.bytes},
               {"rows_moved", figures.rows_moved},
               {"max_relative_error", if_verified(options.verify, figures.error)},
               {"verified", if_verified(options.verify, figures.is_right)}};
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  if (!figures.why.empty()) json["why"] = figures.why;
  if (options.interact) {
    json["features"] = options.features;
    json["interact_seconds"] = figures.interact_seconds;
  }
  return json;
}

std::string command_of(const RunInfo& ran, const LookupTrialOptions& options,
                       const LookupCase& lookup) {
  return fmt::format(
      "warren lookup --rows {} --k {} --batch {} --bag {} --skew {} --type {} --strategy {} "
      "--devices {} --repeat {}",
      options.rows, options.k, options.batch, lookup.bag, lookup.skew, options.type,
      lookup.strategy, ran.devices, options.repeat);
}

Json fields_of(const PatternFigures& figures, std::uint64_t page_bytes) {
  Json fields = {{"pattern", figures.name},          {"mean_seconds", figures.mean_seconds},
                 {"bytes_read", figures.bytes},      {"amplification", figures.amplification},
                 {"bytes_per_second", figures.rate}, {"seconds", figures.seconds}};
  if (figures.has_pages) fields["page_bytes"] = page_bytes;
  if (!figures.has_requests) return fields;
  fields["requests"] = figures.requests;
  Json& by_bytes = fields["requests_by_bytes"];
  for (std::size_t i = 0; i < figures.by_size.size(); ++i)
    by_bytes[std::to_string(32 * (i + 1))] = figures.by_size[i];
  return fields;
}

}  // namespace

std::string to_json(const RunInfo& ran, const GatherTrialOptions& options,
                    const GatherFigures& figures) {
  Json json = document("gather", ran);
  json["seconds"] = figures.seconds;
  json["setup_seconds"] = figures.setup_seconds;
  json["rows"] = options.rows;
  json["k"] = options.k;
  json["count"] = options.count;
  json["placement"] = options.placement;
  json["strategy"] = options.strategy;
  json["skew"] = options.skew;
  if (options.placement != "device") json["order"] = figures.is_sorted ? "sorted" : "asked";
  json["bytes_per_second"] = figures.rate;
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  json["limit_bytes_per_second"] = figures.limit;
  json["fraction_of_limit"] = figures.fraction;
  if (options.strategy == "messages") {
    json["breakdown"] = {{"bucket", figures.steps.bucket},
                         {"exchange_rows", figures.steps.exchange_rows},
                         {"gather", figures.steps.gather},
                         {"exchange_data", figures.steps.exchange_data},
                         {"reorder", figures.steps.reorder}};
  }
  if (options.is_cached()) {
    json["cached_rows"] = options.cached_rows();
    json["cached_on"] = figures.is_spread ? "spread" : "replicated";
    json["hit_rate"] = figures.use.hit_rate();
  }
  json["verified"] = if_verified(options.verify, figures.wrong == 0);
  return written(json);
}

std::string to_text(const RunInfo& ran, const GatherTrialOptions& options,
                    const GatherFigures& figures) {
  Text text;
  text.row("table", "{} of {} floats, in {} memory ({}B)", counted(options.rows, "row", "rows"),
           options.k, options.placement,
           with_prefix(static_cast<double>(options.rows * options.k) * 4.0));
  text.row("gathered", "{} on each of {}", counted(options.count, "row", "rows"), place_of(ran));
  text.row("time", "{}", duration(median(figures.seconds)));
  text.row("bandwidth", "{}B/s, all ranks together", with_prefix(figures.rate));
  text.row("limit", "{}B/s, plain copies from the same places: {:.0f} % of it",
           with_prefix(figures.limit), 100.0 * figures.fraction);
  if (options.is_cached()) {
    text.row("cached", "{}, {} of the rows gathered were among them",
             counted(options.cached_rows(), "row", "rows"),
             percent(figures.use.hits, figures.use.rows));
  }
  if (options.verify) text.row("verified", "{}", figures.wrong == 0 ? "yes, every element" : "NO");
  return text.take();
}

std::string to_json(const RunInfo& ran, const LookupTrialOptions& options,
                    const LookupFigures& figures) {
  Json json = document("lookup", ran);
  json.update(fields_of(options, figures));
  return written(json);
}

std::string to_text(const RunInfo& ran, const LookupTrialOptions& options,
                    const LookupFigures& figures) {
  Text text;
  text.row("table", "{} of {} {}", counted(options.rows, "row", "rows"), options.k, options.type);
  text.row("looked up", "{} of {} on each of {}", counted(options.batch, "bag", "bags"),
           counted(figures.lookup.bag, "row", "rows"), place_of(ran));
  text.row("strategy", "{}", figures.strategy);
  if (!figures.why.empty()) text.row("why", "{}", figures.why);
  text.row("time", "{}", duration(median(figures.seconds)));
  text.row("rate", "{}rows/s, {}B/s of table rows, all ranks together", with_prefix(figures.rate),
           with_prefix(figures.bytes));
  text.row("moved", "{}", counted(figures.rows_moved, "row", "rows"));
  if (options.interact)
    text.row("interaction", "{}, pairs of {} bags", duration(median(figures.interact_seconds)),
             options.features);
  if (options.verify) text.row("verified", "{}", figures.is_right ? "yes, every element" : "NO");
  return text.take();
}

std::string to_json(const RunInfo& ran, const LookupTrialOptions& options,
                    const std::vector<LookupFigures>& cases) {
  Json json = document("lookup", ran);
  json["results"] = Json::array();
  for (const LookupFigures& figures : cases) {
    Json fields = fields_of(options, figures);
    fields["command"] = command_of(ran, options, figures.lookup);
    fields["bytes_per_second_per_rank"] = figures.bytes / ran.devices;
    json["results"].push_back(std::move(fields));
  }
  return written(json);
}

std::string to_text(const RunInfo& ran, const std::vector<LookupFigures>& cases) {
  Text text;
  text.print("{:>8} {:>6} {:<10} {:>12} {:>16} {:>14}\n", "bag", "skew", "strategy", "time",
             "GB/s per rank", "rows moved");
  for (const LookupFigures& figures : cases) {
    text.print("{:>8} {:>6} {:<10} {:>12} {:>16.2f} {:>14}\n", figures.lookup.bag,
               figures.lookup.skew, figures.strategy, duration(median(figures.seconds)),
               figures.bytes / ran.devices / 1e9, thousands(figures.rows_moved));
  }
  return text.take();
}

std::string to_json(const RunInfo& ran, const SamplingTrialOptions& options,
                    const WhereOptions& where, const SamplingFigures& figures) {
  const sample::SamplerOptions& sampler = figures.sampler;
  Json json = document("sample", ran);
  json["seconds"] = figures.seconds;
  json["setup_seconds"] = figures.setup_seconds;
  json["fanout"] = sampler.fanouts;
  json["batch"] = sampler.batch;
  json["batches"] = options.batches;
  json["in_flight"] = sampler.in_flight;
  json["table"] = options.table;
  json["replace"] = sampler.replace;
  json["weighted"] = sampler.weighted;
  json["disjoint"] = sampler.disjoint;
  json["labor"] = sampler.labor;
  json["layer_dependency"] = sampler.layer_dependency;
  json["temporal"] = sampler.temporal;
  json["temporal_last"] = sampler.temporal_last;
  json["edges_placement"] = name_of(where.edges);
  json["edges_per_second"] = figures.edges_per_second;
  json["batches_per_second"] = figures.batches_per_second;
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  json["sampled_edges"] = figures.edges;
  json["sampled_vertices"] = figures.vertices;
  json["sampler_bytes"] = figures.bytes;
  json["digest"] = if_verified(options.verify, fmt::format("{:016x}", figures.digest));
  json["verified"] = if_verified(options.verify, figures.wrong.empty());
  return written(json);
}

std::string to_text(const RunInfo& ran, const SamplingTrialOptions& options,
                    const SamplingFigures& figures) {
  Text text;
  text.print("\n");
  text.row("sampled", "{} of {}, fanout {}, on {}", counted(options.batches, "batch", "batches"),
           counted(figures.sampler.batch, "seed", "seeds"), fmt::join(figures.sampler.fanouts, ","),
           place_of(ran));
  text.row("found", "{}, {}", counted(figures.edges, "edge", "edges"),
           counted(figures.vertices, "vertex", "vertices"));
  text.row("time", "{}", duration(median(figures.seconds)));
  text.row("rate", "{}edges/s, {}batches/s, all ranks together",
           with_prefix(figures.edges_per_second), with_prefix(figures.batches_per_second));
  if (options.verify) text.row("verified", "{}", figures.wrong.empty() ? "yes, every batch" : "NO");
  return text.take();
}

std::string to_json(const PatternsResult& result, std::size_t sources) {
  Json json = Json::object();
  json["sources"] = sources;
  json["dataset_bytes"] = result.list_bytes;
  json["sequential_bytes_per_second"] = result.sequential_rate;
  json["results"] = Json::array();
  for (const PatternFigures& figures : result.figures)
    json["results"].push_back(fields_of(figures, result.page_bytes));
  if (!result.left_out.empty()) json["left_out"]["managed"] = result.left_out;
  return written(json);
}

std::string to_text(const PatternsResult& result, std::size_t sources) {
  Text text;
  text.print("read from first to last: {}B/s\n\n", with_prefix(result.sequential_rate));
  text.print("{:<22} {:>10} {:>9} {:>7}  {:>8} {:>8} {:>8} {:>8}\n", "traversal", "time", "GB/s",
             "read", "32 B", "64 B", "96 B", "128 B");
  for (const PatternFigures& figures : result.figures) {
    std::string shares;
    for (std::size_t i = 0; figures.has_requests && i < figures.by_size.size(); ++i)
      shares +=
          fmt::format(" {:>7.1f}%",
                      figures.requests > 0.0 ? 100.0 * figures.by_size[i] / figures.requests : 0.0);
    text.print("{:<22} {:>10} {:>9.2f} {:>6.2f}x {}\n", figures.name,
               duration(figures.mean_seconds), figures.rate * 1e-9, figures.amplification, shares);
  }
  if (!result.left_out.empty()) {
    text.print("\nmanaged: left out: {}\n", result.left_out);
  } else {
    text.print("\nmanaged: the pages of {} bytes read, the least that moved\n", result.page_bytes);
  }
  text.print("\ntimes are means over {} sources; read: bytes over those of all lists\n", sources);
  return text.take();
}

}  // namespace warren::api
