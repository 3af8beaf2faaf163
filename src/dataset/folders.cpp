// SPDX-License-Identifier: Apache-2.0
#include "warren/dataset/folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/dataset/fetch.hpp"
#include "warren/files/folder.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/graph/io.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

/// The folder's file graph.* of a known format, the first by name where there are several; else
/// edge_index.npy.
std::string graph_file(const fs::path& folder) {
  for (const std::string& name : files::names_in(folder.string())) {
    if (name.starts_with("graph.") && graph::is_graph_file_name(name))
      return (folder / name).string();
  }
  const fs::path index = folder / "edge_index.npy";
  std::error_code error;
  return fs::is_regular_file(index, error) ? index.string() : std::string{};
}

std::vector<fs::path> roots() {
  std::vector<fs::path> roots;
  if (const char* named = std::getenv("WARREN_DATA"); named != nullptr && *named != '\0') {
    roots.emplace_back(named);
  }
  roots.emplace_back("data");
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) roots.push_back(program.parent_path().parent_path() / "share" / "warren");
  roots.emplace_back(WARREN_SOURCE_DATA);
  return roots;
}

}  // namespace

DatasetFolder open_dataset(const std::string& folder) {
  DatasetFolder dataset;
  dataset.graph = graph_file(folder);
  if (dataset.graph.empty()) {
    throw InputError(fmt::format(
        "{}: this folder is no dataset: it has no file graph.* of a known format and no "
        "edge_index.npy; name a graph file, or put graph.mtx or the like into it",
        folder));
  }
  if (dataset.graph.ends_with(".npy")) dataset.least_vertices = feature_rows(folder);
  const fs::path names = fs::path(folder) / "names.txt";
  std::error_code error;
  if (fs::is_regular_file(names, error)) dataset.names = names.string();
  return dataset;
}

std::optional<std::string> find_dataset(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return std::nullopt;
  }
  for (const fs::path& root : roots()) {
    const fs::path folder = root / name;
    if (!graph_file(folder).empty()) return folder.string();
  }
  return std::nullopt;
}

std::string find_training_folder(const std::string& name) {
  std::error_code error;
  const auto is_training_folder = [](const std::string& folder) {
    return is_ogb_folder(folder) || is_planetoid_folder(folder) || is_dgl_folder(folder) ||
           !graph_file(folder).empty();
  };
  if (fs::is_directory(name, error) && is_training_folder(name)) return name;
  if (const auto shipped = find_dataset(name)) return *shipped;
  std::vector<fs::path> places = roots();
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    places.push_back(fs::path(home) / ".cache" / "warren");
  // A download unpacks as ogbn_arxiv, arxiv, or papers100M-bin.
  std::vector<std::string> names = {name};
  if (name.starts_with("ogbn-")) {
    names.push_back("ogbn_" + name.substr(5));
    names.push_back(name.substr(5));
    names.push_back(name.substr(5) + "-bin");
  }
  for (const fs::path& root : places) {
    for (const std::string& one : names) {
      std::string folder = (root / one).string();
      if (one.find('/') == std::string::npos && is_training_folder(folder)) return folder;
    }
  }
  for (const std::string& known : public_datasets()) {
    if (name == known) {
      throw InputError(fmt::format(
          "{0} is not on this machine: \"warren fetch {0}\" brings it where there is a network, or "
          "put "
          "its folder into $WARREN_DATA or ~/.cache/warren (graph.* or edge_index.npy, "
          "features.npy, .npz or .csv, labels.npy or .csv, train.txt, validation.txt, test.txt, or "
          "as its "
          "authors publish it)",
          name));
    }
  }
  if (fs::exists(name, error)) (void)open_dataset(name);
  const std::vector<std::string> here = dataset_names();
  std::vector<std::string> known = public_datasets();
  known.insert(known.end(), here.begin(), here.end());
  throw InputError(fmt::format(
      "\"{}\" is no dataset: no folder, and none of the names here{}; there is: {}; a generator "
      "needs --features and --classes",
      name, did_you_mean(name, known), fmt::join(here, ", ")));
}

std::vector<std::string> read_names(const std::string& path) {
  const files::MappedFile file(path, files::MappedFile::Pipes::read);
  const std::string_view text(file.data(), file.size());
  std::vector<std::string> names;
  each_line(text, [&](std::uint64_t, std::string_view name) { names.emplace_back(name); });
  return names;
}

std::vector<std::string> read_names(const std::string& path, std::uint64_t vertices) {
  std::vector<std::string> names = read_names(path);
  if (names.size() != vertices) {
    throw InputError(fmt::format("{}: {} lines for {} vertices; give the name of a vertex a line",
                                 path, names.size(), vertices));
  }
  return names;
}

std::vector<std::string> dataset_names() {
  std::set<std::string> names;
  for (const fs::path& root : roots()) {
    for (const std::string& name : files::names_in(root.string())) {
      if (!graph_file(root / name).empty()) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace warren::learn
