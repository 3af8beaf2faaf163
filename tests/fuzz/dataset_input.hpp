// SPDX-License-Identifier: Apache-2.0
// One input of a fuzz target of datasets. Some are the bytes of a file; others are parts, each
// begun by "\n@@NAME@@\n", that are packed as the format packs them: what is fuzzed lies behind
// checksums and compression. Whatever they are, a reader refuses them with an InputError that names
// the folder, or returns what is a dataset.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/graph/transform.hpp"
#include "warren/learn/checkpoint.hpp"

#include "dataset/csv_file.hpp"
#include "dataset/unpack.hpp"
#include "support/archives.hpp"

namespace warren::learn {

using Parts = std::map<std::string, std::string>;

inline Parts parts_of(std::string_view input) {
  constexpr std::string_view kBegin = "\n@@", kEnd = "@@\n";
  Parts parts;
  for (std::size_t at = input.find(kBegin); at != std::string_view::npos;) {
    const std::size_t name = at + kBegin.size(), end = input.find(kEnd, name);
    if (end == std::string_view::npos) break;
    const std::size_t begin = end + kEnd.size();
    at = input.find(kBegin, begin);
    parts[std::string(input.substr(name, end - name))] =
        input.substr(begin, at == std::string_view::npos ? std::string_view::npos : at - begin);
  }
  return parts;
}

/// A folder that goes with the process.
class InputFolder {
 public:
  InputFolder() {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const auto root = std::filesystem::is_directory(memory, error)
                          ? memory
                          : std::filesystem::temp_directory_path();
    path_ = root / ("warren-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(path_ / "raw");
    std::filesystem::create_directories(path_ / "split" / "s");
  }
  ~InputFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream out(path_ / name, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) std::abort();
  }
  void remove(const std::string& name) const {
    std::error_code error;
    std::filesystem::remove_all(path_ / name, error);
  }

 private:
  std::filesystem::path path_;
};

/// Packs parts into the files of a folder; those that are not there go.
class Packer {
 public:
  Packer(const InputFolder& folder, const Parts& parts) : folder_(folder), parts_(parts) {}

  void text(const std::string& part, const std::string& file) const {
    const auto found = parts_.find(part);
    if (found == parts_.end()) return folder_.remove(file);
    folder_.write(file, testing_support::gzipped(found->second, 1));
  }
  void plain(const std::string& part, const std::string& file) const {
    const auto found = parts_.find(part);
    if (found == parts_.end()) return folder_.remove(file);
    folder_.write(file, found->second);
  }
  /// Members are the parts "PREFIX.MEMBER".
  void archive(const std::string& prefix, const std::string& file) const {
    std::map<std::string, std::string> members;
    for (const auto& [name, bytes] : parts_)
      if (name.starts_with(prefix + ".")) members[name.substr(prefix.size() + 1) + ".npy"] = bytes;
    if (members.empty()) return folder_.remove(file);
    folder_.write(file, testing_support::archive(members));
  }

 private:
  const InputFolder& folder_;
  const Parts& parts_;
};

[[noreturn]] inline void fail(const char* what, const char* detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail);
  std::abort();
}

inline void check_dataset(const Dataset& dataset) {
  const std::uint64_t values = dataset.is_sparse() ? dataset.sparse.offsets.size() - 1
                                                   : dataset.dense.size() / dataset.width;
  if (values != dataset.vertices || dataset.splits.size() != dataset.vertices)
    fail("not a dataset", "features or splits are of other vertices");
  for (std::uint64_t v = 0; v < dataset.labels.size(); ++v) {
    const bool is_class =
        dataset.labels[v] >= 0 && static_cast<std::uint64_t>(dataset.labels[v]) < dataset.classes;
    if (!is_class && dataset.splits[v] != kNoSplit)
      fail("not a dataset", "a vertex of a split has no class");
  }
}

/// Reads a graph, and then the dataset of as many vertices.
inline void read_both(const std::function<graph::Graph(exec::ThreadPool&)>& read_graph,
                      const std::function<Dataset(std::uint64_t)>& read_dataset) {
  static exec::ThreadPool pool(1);
  const graph::Graph graph = read_graph(pool);
  try {
    graph::validate(graph, "the input", pool);
  } catch (const Error& error) {
    fail("the reader let pass what is no graph", error.what());
  }
  check_dataset(read_dataset(graph.vertices));
}

inline void read_ogb(const InputFolder& folder) {
  read_both([&](auto& pool) { return read_ogb_graph(folder.path(), {}, pool); },
            [&](std::uint64_t vertices) { return read_ogb_dataset(folder.path(), vertices); });
}

inline void read_folder(const InputFolder& folder) {
  constexpr std::uint64_t kVertices = 6;
  for (const char* file : {"train.txt", "validation.txt", "test.txt"})
    folder.write(file, file[1] == 'r' ? "0\n1\n" : file[0] == 'v' ? "2\n3\n" : "4\n5\n");
  check_dataset(read_dataset(folder.path(), kVertices));
}

/// By name of the target: what is done with an input, in a folder.
inline const std::map<std::string, std::function<void(const InputFolder&, std::string_view)>>&
dataset_targets() {
  using View = std::string_view;
  using Folder = const InputFolder&;
  static const std::map<std::string, std::function<void(Folder, View)>> targets{
      {"pickle",  // Planetoid's files.
       [](Folder folder, View input) {
         const Parts parts = parts_of(input);
         for (const char* name : {"x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"})
           Packer(folder, parts).plain(name, std::string("ind.cora.") + name);
         if (!is_planetoid_folder(folder.path())) return;
         read_both([&](auto& pool) { return read_planetoid_graph(folder.path(), {}, pool); },
                   [&](std::uint64_t vertices) {
                     return read_planetoid_dataset(folder.path(), vertices);
                   });
       }},
      {"safetensors",
       [](Folder folder, View input) {
         folder.write("model.safetensors", input);
         const TensorFile file = read_tensors(folder.file("model.safetensors"));
         std::uint64_t bytes = 0;
         for (const NamedTensor& tensor : file.tensors) {
           if (tensor.values.size() != tensor.rows * tensor.columns)
             fail("not a tensor", tensor.name.c_str());
           bytes += tensor.values.size() * sizeof(float);
         }
         if (bytes > input.size()) fail("more came out than went in", "tensors");
         for (const char* key : {"epoch", "loss"}) {
           if (file.metadata.contains(key)) (void)file.real(key, folder.file("model.safetensors"));
         }
       }},
      {"npy",
       [](Folder folder, View input) {
         const Parts parts = parts_of(input);
         Packer(folder, parts).plain("features", "features.npy");
         Packer(folder, parts).plain("labels", "labels.npy");
         read_folder(folder);
       }},
      {"npz",
       [](Folder folder, View input) {
         const Parts parts = parts_of(input);
         Packer(folder, parts).archive("features", "features.npz");
         Packer(folder, parts).plain("labels", "labels.npy");
         read_folder(folder);
       }},
      {"csv",
       [](Folder folder, View input) {
         folder.write("raw/x.csv.gz", input);
         std::uint64_t lines = 0, numbers = 0;
         const std::uint64_t told =
             CsvFile(folder.file("raw/x.csv.gz")).each([&](std::uint64_t line, auto, double) {
               lines = line + 1;
               ++numbers;
             });
         if (told != lines || numbers < lines) fail("lines are miscounted", "csv");
       }},
      {"ogb",
       [](Folder folder, View input) {
         const Parts parts = parts_of(input);
         const Packer packer(folder, parts);
         for (const char* name :
              {"edge", "node-feat", "node-label", "num-node-list", "num-edge-list"})
           packer.text(name, std::string("raw/") + name + ".csv.gz");
         for (const char* name : {"train", "valid", "test"})
           packer.text(name, std::string("split/s/") + name + ".csv.gz");
         packer.archive("data", "raw/data.npz");
         packer.archive("label", "raw/node-label.npz");
         if (is_ogb_folder(folder.path())) read_ogb(folder);
       }},
      {"dgl",
       [](Folder folder, View input) {
         const Parts parts = parts_of(input);
         Packer(folder, parts).archive("graph", "reddit_graph.npz");
         Packer(folder, parts).archive("data", "reddit_data.npz");
         if (!is_dgl_folder(folder.path())) return;
         read_both(
             [&](auto& pool) { return read_dgl_graph(folder.path(), {}, pool); },
             [&](std::uint64_t vertices) { return read_dgl_dataset(folder.path(), vertices); });
       }},
      {"zip",
       [](Folder folder, View input) {
         folder.write("archive.zip", input);
         std::filesystem::create_directory(folder.file("unpacked"));
         unpack(folder.file("archive.zip"), folder.file("unpacked"));
       }},
  };
  return targets;
}

/// Aborts where what comes out is no dataset, or an error does not name the file.
inline void read_dataset_input(const std::string& target, const std::uint8_t* data,
                               std::size_t size) {
  static const InputFolder folder;
  try {
    dataset_targets().at(target)(folder, {reinterpret_cast<const char*>(data), size});
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    if (message.find(folder.path()) == std::string_view::npos &&
        message.find("archive.zip") == std::string_view::npos)
      fail("no file is named", error.what());
  }
  if (target == "zip") folder.remove("unpacked");
}

}  // namespace warren::learn
