// SPDX-License-Identifier: Apache-2.0
#include "warren/api/graph_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/dataset/folders.hpp"
#include "warren/files/folder.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/transform.hpp"

namespace warren::api {
namespace {

namespace fs = std::filesystem;

/// Without their endings.
constexpr std::array<std::string_view, 10> kDatasetFiles = {
    "features", "labels",     "train",           "validation", "test",
    "names",    "train_mask", "validation_mask", "val_mask",   "test_mask"};

GraphPlace dataset_input(const std::string& folder) {
  const learn::DatasetFolder dataset = learn::open_dataset(folder);
  GraphPlace input;
  input.path = dataset.graph;
  input.names = dataset.names;
  input.least_vertices = dataset.least_vertices;
  for (const std::string& name : files::names_in(folder)) {
    if (std::ranges::find(kDatasetFiles, fs::path(name).stem().string()) != kDatasetFiles.end())
      input.files.push_back((fs::path(folder) / name).string());
  }
  return input;
}

/// A mistyped dataset, or generator before its colon.
std::string nearest_graph(const std::string& name, const std::vector<std::string>& datasets) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return did_you_mean(name, datasets);
  return did_you_mean(name.substr(0, colon + 1), {"kron:", "urand:", "grid:", "community:"});
}

GraphPlace find_by_name(const std::string& name) {
  std::error_code error;
  if (fs::is_directory(name, error)) {
    // A shipped dataset is not hidden by a folder of its name that is none.
    const auto shipped = learn::find_dataset(name);
    return dataset_input(shipped ? *shipped : name);
  }
  if (fs::exists(name, error)) {
    GraphPlace input;
    input.path = name;
    return input;
  }
  if (const auto folder = learn::find_dataset(name)) return dataset_input(*folder);
  if (graph::is_graph_file_name(name) || name.find('/') != std::string::npos) {
    throw InputError(fmt::format("{}: there is no such file; check the path", name));
  }
  const auto shipped = learn::dataset_names();
  throw InputError(fmt::format(
      "\"{}\" is no file, generator or dataset{}; generators are kron:SCALE[,DEGREE], "
      "urand:SCALE[,DEGREE], grid:WIDTHxHEIGHT and community:VERTICES,DEGREE, datasets here: {}",
      name, nearest_graph(name, shipped),
      shipped.empty() ? "none" : fmt::format("{}", fmt::join(shipped, ", "))));
}

bool ends_as(std::string name, std::initializer_list<const char*> endings) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  return std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); });
}

}  // namespace

bool GraphPlace::is_edge_list(const std::string& format) const {
  return !generator &&
         ends_as(format.empty() ? path : "." + format, {".el", ".wel", ".txt", ".tsv", ".csv"});
}

bool GraphPlace::is_matrix() const { return ends_as(path, {".mtx", ".npz", ".wgr"}); }

GraphPlace find_graph(const std::string& name, const std::string& format, std::uint64_t seed) {
  GraphPlace place;
  if (!format.empty()) {
    graph::check_format(format);
    place.path = name;
    return place;
  }
  place.generator = graph::parse_generator(name, seed);
  return place.generator ? place : find_by_name(name);
}

std::optional<graph::UniformWeights> parse_weights(const std::string& text,
                                                   const std::string& option, std::uint64_t seed) {
  if (text.empty() || text == "file") return std::nullopt;
  const auto refuse = [&] {
    throw UsageError(fmt::format(
        "{} \"{}\": give uniform:LO:HI with whole numbers 0 <= LO <= HI <= 2147483647, or "
        "file",
        option, text));
  };
  const std::string prefix = "uniform:";
  const std::size_t colon = text.find(':', prefix.size());
  if (!text.starts_with(prefix) || colon == std::string::npos) refuse();
  graph::UniformWeights weights;
  weights.seed = seed;
  const auto number = [&](const char* begin, const char* end, std::int64_t& value) {
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || begin == end) refuse();
  };
  number(text.data() + prefix.size(), text.data() + colon, weights.low);
  number(text.data() + colon + 1, text.data() + text.size(), weights.high);
  if (weights.low < 0 || weights.low > weights.high || weights.high > 2147483647) refuse();
  return weights;
}

void set_weights(graph::Graph& graph, const std::string& name, const std::string& text,
                 const std::string& option, std::uint64_t seed, exec::ThreadPool& pool) {
  if (const auto uniform = parse_weights(text, option)) {
    graph::set_uniform_weights(graph, uniform->low, uniform->high, seed, pool);
  } else if (text == "file" && graph.weight_type == graph::WeightType::none) {
    throw InputError(fmt::format(
        "{0}: it has no weights for {1} file; {1} uniform:LO:HI draws some", name, option));
  }
}

}  // namespace warren::api
