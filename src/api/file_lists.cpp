// SPDX-License-Identifier: Apache-2.0
#include "api/file_lists.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/exec/device.hpp"
#include "warren/team/processes.hpp"

#include "api/memory_limit.hpp"

namespace warren::api {
namespace {

/// What the host has for a graph.
std::uint64_t host_bytes(const ReadOptions& options) {
  const std::uint64_t free = exec::Device::cpu(1).memory().free;
  if (options.host_memory == 0) return free == 0 ? std::numeric_limits<std::uint64_t>::max() : free;
  return std::min(free, HostMemoryLimit::for_arrays(options.host_memory));
}

/// Of a traversal with the lists in memory: those, the reverse where it is made, and at most what
/// an algorithm and its result keep for each vertex.
std::uint64_t bytes_in_memory(const graph::EdgeFile& file) {
  constexpr std::uint64_t kVertex = 48;
  const bool has_reverse = file.symmetry() != graph::Symmetry::symmetric;
  return file.list_bytes() * (has_reverse ? 2 : 1) + file.vertices() * kVertex;
}

/// What a .wgr file of it takes.
std::string size_of(const GraphPlace& place, const ReadOptions& options) {
  if (!place.generator)
    return "8 bytes a vertex and 4 bytes a directed edge of disk, and as much memory while it is "
           "written";
  const bool doubles = options.symmetrize || place.generator->undirected();
  const std::uint64_t bytes = place.generator->vertices * sizeof(EdgeOffset) +
                              place.generator->draws * (doubles ? 2 : 1) * sizeof(Vertex);
  return fmt::format("{} of disk at most, and as much memory while it is written",
                     human_bytes(bytes));
}

std::string cure(const GraphPlace& place, const std::string& name, const ReadOptions& options) {
  return fmt::format(
      "write it once ('warren convert {} OUT.wgr{}{}', which takes {}) and name that "
      "file",
      name, options.symmetrize ? " --symmetrize" : "",
      options.drop_self_loops ? " --drop-self-loops" : "", size_of(place, options));
}

/// By the name alone, whatever is wanted of weights.
std::string why_no_such_file(const GraphPlace& place, const ReadOptions& options) {
  if (place.generator) return "a generator has none";
  const std::string ending = options.format.empty() ? place.path : "." + options.format;
  if (!ending.ends_with(".wgr")) return "it is no .wgr file";
  std::error_code error;
  if (!std::filesystem::is_regular_file(place.path, error))
    return "it is no regular file, which alone is read at places";
  return {};
}

/// What is wanted of the graph, and is not so in the file.
template <class File>
std::string why_not_as_wanted(const File& file, const ReadOptions& options) {
  if (options.symmetrize && file.symmetry() != graph::Symmetry::symmetric)
    return "the file does not say that it is symmetric, as --symmetrize would make it";
  if (options.drop_self_loops && file.may_have_self_loops())
    return "the file does not say that it has no self-loops, which --drop-self-loops leaves out";
  if (!options.keep_duplicates && file.may_have_parallel_edges())
    return "the file has parallel edges, which would be merged (--keep-duplicates keeps them)";
  return {};
}

}  // namespace

std::string why_not_in_file(const GraphPlace& place, const ReadOptions& options) {
  if (std::string why = why_no_such_file(place, options); !why.empty()) return why;
  if (!options.weights.empty() && options.weights != "none") return "weights are not read from it";
  return {};
}

std::string why_not_in_file(const graph::EdgeFile& file, const ReadOptions& options) {
  if (std::string why = why_not_as_wanted(file, options); !why.empty()) return why;
  if (options.lists == Lists::fitting && options.weights.empty() &&
      file.weight_type() != graph::WeightType::none)
    return "its weights would be left out";
  return {};
}

bool wants_ranges(const ReadOptions& options) {
  const auto* processes = team::Processes::current();
  return options.lists == Lists::ranges && processes != nullptr && processes->size() > 1;
}

std::shared_ptr<const graph::RowFile> rows_in_file(const GraphPlace& place,
                                                   const ReadOptions& options,
                                                   std::string& reason) {
  if (!wants_ranges(options)) return nullptr;
  reason = why_no_such_file(place, options);
  if (!reason.empty()) return nullptr;
  try {
    const bool reads_weights = options.weights.empty() || options.weights == "file";
    auto file = std::make_shared<const graph::RowFile>(place.path, reads_weights);
    reason = why_not_as_wanted(*file, options);
    // Who reads the whole file says that it has no weights.
    if (options.weights == "file" && file->weight_type() == graph::WeightType::none)
      reason = "it has no weights";
    if (reason.empty()) return file;
  } catch (const UsageError& error) {
    reason = error.what();
  }
  log_info(fmt::format("each rank reads all of {}: {}", place.path, reason));
  return nullptr;
}

std::string cure_by_file(const GraphPlace& place, const std::string& name,
                         const ReadOptions& options) {
  std::string others;
  if (place.generator) others += "draw a smaller one, ";
  if (options.host_memory != 0) others += "raise --host-memory, ";
  if (!others.empty()) others += "or ";
  return fmt::format(
      "{}use a host with more memory; bfs, components and pagerank with less read the lists from a "
      ".wgr file: {}",
      others, cure(place, name, options));
}

std::shared_ptr<const graph::EdgeFile> lists_in_file(const GraphPlace& place,
                                                     const std::string& name,
                                                     const ReadOptions& options,
                                                     std::string& reason) {
  if (options.lists == Lists::memory || options.lists == Lists::ranges) return nullptr;
  const bool is_asked = options.lists == Lists::file;
  const auto refuse = [&](const std::string& why) {
    const bool is_for_weights = !options.weights.empty() && options.weights != "none";
    throw UsageError(
        fmt::format("{}: its lists cannot stay in a file (--edges file): {}; {}", name, why,
                    is_for_weights ? "read it without --weights, or with its lists in memory"
                                   : cure(place, name, options)));
  };
  if (const std::string why = why_not_in_file(place, options); !why.empty()) {
    if (is_asked) refuse(why);
    return nullptr;
  }
  const std::uint64_t free = host_bytes(options);
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(place.path, error);
  // A file that is far from filling the memory need not be looked at.
  if (!is_asked && (error || bytes < free / 4)) return nullptr;
  std::shared_ptr<const graph::EdgeFile> file;
  try {
    file =
        std::make_shared<const graph::EdgeFile>(place.path, graph::EdgeFileOptions::within(free));
  } catch (const UsageError&) {
    if (is_asked) throw;
    return nullptr;
  }
  if (const std::string why = why_not_in_file(*file, options); !why.empty()) {
    if (is_asked) refuse(why);
    return nullptr;
  }
  const std::uint64_t wanted = bytes_in_memory(*file);
  if (is_asked) {
    reason = "asked for";
  } else if (wanted <= free) {
    return nullptr;
  } else {
    reason = fmt::format("in memory the graph takes {}, and the host has {}", human_bytes(wanted),
                         human_bytes(free));
    log_info(fmt::format("{}: its lists stay in the file: {}", name, reason));
  }
  return file;
}

}  // namespace warren::api
