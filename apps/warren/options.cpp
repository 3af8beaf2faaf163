// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/parse_number.hpp"
#include "warren/core/types.hpp"

#include "command.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max();

}  // namespace

CLI::App* add_parser(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::string& examples) {
  CLI::App* parser = parent.add_subcommand(name, description);
  parser->footer(examples);
  return parser;
}

CLI::App* add_parser(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::string& examples, Action& action, Action what) {
  CLI::App* parser = add_parser(parent, name, description, examples);
  parser->callback([&action, what = std::move(what)] { action = what; });
  return parser;
}

OptionGroup::OptionGroup(CLI::App& command, const std::string& name)
    : command_(command), before_(command.option_defaults()->get_group()) {
  command.option_defaults()->group(name);
}

OptionGroup::~OptionGroup() { command_.option_defaults()->group(before_); }

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  // Writes the number anew: the parser takes digits behind a 0 for octal ones.
  const auto check = [low, high](std::string& text) -> std::string {
    const auto number = parse_number<std::uint64_t>(text);
    if (number && *number >= low && *number <= high) {
      text = std::to_string(*number);
      return {};
    }
    return fmt::format("\"{}\" should be a whole number from {} to {}", text, low, high);
  };
  return CLI::Validator(check, "");
}

namespace {

/// "auto" is 0, which nobody writes.
CLI::Validator ranks_or_auto() {
  const auto check = [](std::string& text) -> std::string {
    if (text == "auto") {
      text = "0";
      return {};
    }
    const std::string wrong = whole_number(1, kMaxRanks)(text);
    return wrong.empty() ? wrong : wrong + ", or auto";
  };
  return CLI::Validator(check, "");
}

}  // namespace

CLI::Validator real_number(double low, double high) {
  const auto check = [low, high](std::string& text) -> std::string {
    const auto number = parse_number<double>(text);
    // Not a number is in no range.
    if (number && *number >= low && *number <= high) return {};
    return fmt::format("\"{}\" should be a number from {:g} to {:g}", text, low, high);
  };
  return CLI::Validator(check, "");
}

CLI::Validator byte_count() {
  const auto check = [](std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    const std::string unit = CLI::detail::to_lower(std::string(end, last));
    const std::string prefixes[] = {"", "k", "m", "g", "t", "p", "e"};
    for (std::size_t i = 0; i < std::size(prefixes) && error == std::errc{}; ++i) {
      const std::string& prefix = prefixes[i];
      const bool is_unit = unit == prefix || unit == prefix + "b" || unit == prefix + "ib";
      if (!is_unit || number > kMostNumber >> 10 * i) continue;
      text = std::to_string(number << 10 * i);
      return {};
    }
    return fmt::format(
        "\"{}\" should be a whole number of bytes, below 2^64, as 65536, 512K, 80M or 2G", text);
  };
  return CLI::Validator(check, "");
}

std::vector<std::int64_t> parse_fanouts(const std::string& text) {
  const auto fanouts = parse_numbers<std::int64_t>(text);
  require(fanouts.has_value(),
          fmt::format("--fanout \"{}\" should be whole numbers with commas between, such as "
                      "15,10,5",
                      text));
  api::check_fanouts(*fanouts);
  return *fanouts;
}

bool CommonOptions::is_given(const std::string& option) const {
  return std::any_of(parsers.begin(), parsers.end(), [&](const CLI::App* parser) {
    const CLI::Option* found = parser->get_option_no_throw(option);
    return found != nullptr && found->count() > 0;
  });
}

void warn_without_effect(const CommonOptions& common, std::initializer_list<const char*> options,
                         const std::string& why) {
  for (const char* option : options) {
    if (common.is_given(option)) log_warning(fmt::format("{} has no effect: {}", option, why));
  }
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  const OptionGroup group(command, "Common options");
  options.parsers.push_back(&command);
  add_text(command, "--device", options.device_name, "auto (a GPU where there is one), cpu, cuda");
  add_text(command, "--devices", options.devices,
           "Ranks in this process, or auto (as many GPUs as make a traversal faster; else 1)",
           "N|auto")
      ->transform(ranks_or_auto());
  add_number(command, "--threads", options.threads, "CPU threads in all (0: all there are)", "N", 0,
             65536);
  command.add_flag("--share-devices", options.share_devices, "More ranks than GPUs: take turns");
  command.add_flag("--side-by-side", options.side_by_side,
                   "More ranks than GPUs: each on a part of one, as if on its own");
  command.add_flag("--no-peer", options.no_peer,
                   "Ranks do not reach each other's memory, as on GPUs without NVLink: for tests");
  add_real(command, "--slice-ms", options.slice_milliseconds,
           "A search's kernel leaves its GPU after so many milliseconds, and goes on", "X", 0.001,
           60000.0);
  add_number(command, "--seed", options.seed, "Fixes everything that is random (1)", "S", 0,
             kMostNumber);
  command.add_flag("--deterministic", options.deterministic, "Results repeat bit for bit");
  add_number(command, "--repeat", options.repeat, "Timed runs, after one warm-up (1)", "R", 1,
             1000000);
  add_text(command, "--json", options.json, "One JSON object to FILE, or - for standard output",
           "FILE|-");
  add_text(command, "--trace", options.trace, "A timeline to FILE, for Perfetto", "FILE");
  auto* quiet = command.add_flag("--quiet", options.quiet, "Print errors only");
  command.add_flag("--verbose", options.verbose, "Say more on standard error")->excludes(quiet);
}

warren::ReadOptions GraphOptions::reading(std::uint64_t draws_by) const {
  warren::ReadOptions read = *this;
  read.are_words = ids == "words";
  if (headings != "auto") read.has_headings = headings == "yes";
  read.seed = draws_by;
  return read;
}

void add_graph_options(CLI::App& command, GraphOptions& options) {
  const OptionGroup group(command, "Graph options");
  add_text(command, "graph", options.graph,
           "A file (.mtx .el .wel .txt .tsv .csv .gr .graph .sg .wsg .npz .npy .wgr; text also "
           ".gz, .zst), - or a pipe (with --format), a generator (kron:SCALE[,DEGREE] "
           "urand:SCALE[,DEGREE] grid:WIDTHxHEIGHT "
           "community:VERTICES,DEGREE), or a dataset: a folder, or a name such as debian",
           "GRAPH")
      ->required();
  command.add_flag("--symmetrize", options.symmetrize, "Add the reverse of every edge");
  command.add_flag("--drop-self-loops", options.drop_self_loops, "Leave self-loops out");
  add_text(command, "--format", options.format,
           "What GRAPH holds, where its name does not say it (el, wel, txt, tsv, csv, mtx, "
           "gr, graph, sg, wsg, npz, npy, wgr): GRAPH may be a pipe then, or - for standard input");
  auto* keep = command.add_flag("--keep-duplicates", options.keep_duplicates,
                                "Keep parallel edges (else merged, weights by minimum)");
  command
      .add_flag("--sum-duplicates", options.sum_duplicates,
                "Merge parallel edges, weights by sum (as SciPy does)")
      ->excludes(keep);
  command.add_flag("--one-based", options.one_based, "Edge lists: ids start at 1");
  command.add_flag("--compact", options.compact, "Edge lists: only ids that occur are vertices");
  add_text(command, "--ids", options.ids,
           "Edge lists: auto (words, where the first line's are), or words (numbers too)", "HOW");
  add_text(command, "--headings", options.headings,
           "Edge lists: whether the first line is one of headings: auto, yes, no", "HOW");
  add_text(command, "--id-map", options.id_map,
           "Edge lists: to FILE a line for every vertex, its number and its id or word", "FILE");
  add_text(command, "--weights", options.weights,
           "uniform:LO:HI (random integers, by --seed), or file (those of the file)", "HOW");
}

namespace {

/// An option that takes a number of bytes: whole, or with K, M, G (powers of 1024).
template <class Number>
void add_bytes(CLI::App& command, const std::string& name, Number& value,
               const std::string& description) {
  add_text(command, name, value, description, "BYTES")->transform(byte_count());
}

}  // namespace

void add_method(CLI::App& command, std::string& method) {
  add_text(command, "--method", method,
           "Partition over the ranks: ranges, random, degree, rabbit, metis");
}

void add_reorder(CLI::App& command, std::string& order) {
  add_text(command, "--reorder", order,
           "Order of the vertices before they are cut: none, rabbit, degree, random");
}

void add_traversal_options(CLI::App& command, TraversalOptions& options) {
  add_text(command, "--mode", options.mode,
           "auto, sync (one step after another), async (as tasks)");
  add_text(command, "--edges", options.edges,
           "Where neighbour lists live: device, host (pinned memory that kernels read in "
           "place: for graphs larger than the device), compressed-host; of bfs, cc and pagerank "
           "file (they stay in the .wgr file that GRAPH is, and are read from there: for graphs "
           "larger than the host's memory, of which that is the default)",
           "WHERE");
  add_bytes(command, "--cache", options.cache,
            "Of --edges host: device memory that holds lists all the same (default: what is free, "
            "less a margin; 0: none)");
  add_bytes(command, "--device-memory", options.device_memory,
            "Use at most this much memory of each device");
  add_bytes(
      command, "--host-memory", options.host_memory,
      "Use at most this much of the host's memory (default: what is free, within the limit of "
      "a control group)");
  add_method(command, options.method);
  command.add_flag("--verify", options.verify, "Check the result on the host (exit status 4)");
  add_text(command, "--output", options.output, "The result of every vertex, a line each", "FILE");
}

Mode TraversalOptions::mode_value() const {
  if (mode == "auto") return Mode::automatic;
  return mode == "sync" ? Mode::synchronous : Mode::asynchronous;
}

Edges TraversalOptions::edges_value() const {
  if (edges == "device") return Edges::device;
  if (edges == "file") return Edges::file;
  return edges == "host" ? Edges::host : Edges::compressed_host;
}

void check_traversal_options(const TraversalOptions& options, bool has_async, bool streams) {
  if (has_async) {
    check_choice("--mode", options.mode, {"auto", "sync", "async"}, {});
  } else {
    check_choice("--mode", options.mode, {"auto", "sync"}, {"async"});
  }
  require(streams || options.edges != "file",
          "--edges file: bfs, cc and pagerank read lists from a file, and this command does not; "
          "give device, host or compressed-host");
  check_choice("--edges", options.edges, {"device", "host", "compressed-host", "file"}, {});
  api::check_lists(options.mode_value(), options.edges_value(), options);
}

bool is_drawn(const std::string& method) { return method == "random" || method == "metis"; }

void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& available,
                  const std::vector<std::string>& later) {
  if (std::ranges::find(later, value) != later.end()) {
    throw UsageError(fmt::format("{} {} is not there yet; there is: {}", option, value,
                                 fmt::join(available, ", ")));
  }
  api::check_choice(option, value, available);
}

}  // namespace warren::app
