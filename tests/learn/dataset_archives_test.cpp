// SPDX-License-Identifier: Apache-2.0
// Datasets in archives of NumPy arrays: pieces, directions of edges, and archives that are cut off
// or changed at any byte.
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/files/npy_stream.hpp"
#include "warren/graph/transform.hpp"

#include "fuzz/sign.hpp"
#include "graph/io_support.hpp"
#include "support/archives.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::archive;
using testing_support::bytes_of;
using testing_support::gzipped;
using testing_support::vector_npy;
using Members = std::map<std::string, std::string>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::string matrix_npy(const std::string& type, std::uint64_t rows, const std::vector<T>& values) {
  return files::npy_header(type, fmt::format("({}, {})", rows, values.size() / rows)) +
         bytes_of(values);
}

// 0 -> 1, 1 -> 2, 3 -> 2, 3 -> 0; vertex 3 has no label.
Members ogb_data() {
  return {{"edge_index.npy", matrix_npy<std::int64_t>("<i8", 2, {0, 1, 3, 3, 1, 2, 2, 0})},
          {"node_feat.npy", matrix_npy<float>("<f4", 4, {0, 1, 2, 3, 4, 5, 6, 7})},
          {"num_nodes_list.npy", vector_npy<std::int64_t>("<i8", {4})},
          {"num_edges_list.npy", vector_npy<std::int64_t>("<i8", {4})}};
}
Members ogb_labels() { return {{"node_label.npy", matrix_npy<float>("<f4", 4, {1, 0, 1, kNan})}}; }

// The same edges.
Members dgl_graph(const std::string& form) {
  Members all{{"format.npy", files::npy_header("|S3", "()") + form},
              {"shape.npy", vector_npy<std::int64_t>("<i8", {4, 4})}};
  if (form == "coo") {
    all["row.npy"] = vector_npy<std::int32_t>("<i4", {0, 1, 3, 3});
    all["col.npy"] = vector_npy<std::int32_t>("<i4", {1, 2, 2, 0});
  } else if (form == "csr") {
    all["indptr.npy"] = vector_npy<std::int32_t>("<i4", {0, 1, 2, 2, 4});
    all["indices.npy"] = vector_npy<std::int32_t>("<i4", {1, 2, 2, 0});
  } else {
    all["indptr.npy"] = vector_npy<std::int32_t>("<i4", {0, 1, 2, 4, 4});
    all["indices.npy"] = vector_npy<std::int32_t>("<i4", {3, 0, 1, 3});
  }
  return all;
}
Members dgl_data() {
  return {{"feature.npy", matrix_npy<double>("<f8", 4, {0, 1, 2, 3, 4, 5, 6, 7})},
          {"label.npy", vector_npy<std::int64_t>("<i8", {1, 0, 1, 0})},
          {"node_types.npy", vector_npy<std::int32_t>("<i4", {1, 2, 3, 1})}};
}

class Archives : public testing::Test {
 protected:
  Archives() {
    fs::create_directories(folder_.file("raw"));
    fs::create_directories(folder_.file("split/time"));
    int vertex = 0;
    for (const char* name : {"train", "valid", "test"})
      graph::write_bytes(folder_.file(fmt::format("split/time/{}.csv.gz", name)),
                         gzipped(fmt::format("{}\n", vertex++)));
    write("raw/data.npz", archive(ogb_data(), 8));
    write("raw/node-label.npz", archive(ogb_labels(), 8));
    write("reddit_graph.npz", archive(dgl_graph("coo"), 8));
    write("reddit_data.npz", archive(dgl_data(), 8));
  }

  void write(const std::string& name, const std::string& bytes) {
    fs::remove(folder_.file(name));  // A file that is cut and written anew may wait for the disk.
    graph::write_bytes(folder_.file(name), bytes);
  }
  std::string folder() const { return folder_.file(""); }

  void read_ogb() {
    graph_ = read_ogb_graph(folder(), {}, pool_);
    dataset_ = read_ogb_dataset(folder(), graph_.vertices);
  }
  void read_dgl() {
    graph_ = read_dgl_graph(folder(), {}, pool_);
    dataset_ = read_dgl_dataset(folder(), graph_.vertices);
  }
  void expect_edges() const {
    EXPECT_THAT(graph_.offsets.span(), ElementsAre(0u, 1u, 2u, 2u, 4u));
    EXPECT_THAT(graph_.targets.span(), ElementsAre(1u, 2u, 0u, 2u));
    EXPECT_THAT(dataset_.dense, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(dataset_.width, 2u);
    EXPECT_EQ(dataset_.classes, 2u);
  }

  /// Whether a message that names the folder refuses the file; what is read instead is a graph.
  bool refuses(const std::string& name, const std::string& bytes,
               const std::function<void()>& read) {
    write(name, bytes);
    try {
      read();
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(folder()));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return true;
    }
    EXPECT_NO_THROW(graph::validate(graph_, name, pool_));
    for (std::uint64_t v = 0; v < dataset_.labels.size(); ++v)
      EXPECT_TRUE(dataset_.labels[v] >= 0 || dataset_.splits[v] == kNoSplit);
    return false;
  }

  void hurt(const std::string& name, const std::string& whole, bool is_signed,
            const std::function<void()>& read) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_TRUE(refuses(name, whole.substr(0, size), read)) << name << " of " << size << " bytes";
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 0x81 : 0xff));
      if (is_signed) {
        // With sums that are right: what stands behind them is looked at.
        graph::sign_zip(reinterpret_cast<std::uint8_t*>(changed.data()), changed.size());
      }
      (void)refuses(name, changed, read);
    }
    EXPECT_FALSE(refuses(name, whole, read));
  }

  exec::ThreadPool pool_{1};
  graph::TemporaryFolder folder_;
  graph::Graph graph_;
  Dataset dataset_;
};

TEST_F(Archives, OpenGraphBenchmark) {
  for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
    write("raw/data.npz", archive(ogb_data(), method));
    write("raw/node-label.npz", archive(ogb_labels(), method));
    ASSERT_TRUE(is_ogb_folder(folder()));
    read_ogb();
    expect_edges();
    EXPECT_THAT(dataset_.labels, ElementsAre(1, 0, 1, -1));
    EXPECT_THAT(dataset_.splits, ElementsAre(kTrain, kValidation, kTest, kNoSplit));
  }
  // Of features alone, labels may be anything.
  write("raw/node-label.npz", "no archive");
  EXPECT_EQ(read_ogb_dataset(folder(), 4, Contents::features).dense.size(), 8u);
}

TEST_F(Archives, DeepGraphLibrary) {
  for (const std::string form : {"coo", "csr", "csc"}) {
    write("reddit_graph.npz", archive(dgl_graph(form)));
    ASSERT_TRUE(is_dgl_folder(folder()));
    read_dgl();
    expect_edges();
    EXPECT_THAT(dataset_.labels, ElementsAre(1, 0, 1, 0));
    EXPECT_THAT(dataset_.splits, ElementsAre(kTrain, kValidation, kTest, kTrain));
  }
  // Strings of wide characters, and the other name.
  fs::remove(folder_.file("reddit_graph.npz"));
  EXPECT_FALSE(is_dgl_folder(folder()));
  auto wide = dgl_graph("coo");
  wide["format.npy"] = files::npy_header("<U3", "()") + std::string("c\0\0\0o\0\0\0o\0\0\0", 12);
  write("reddit_self_loop_graph.npz", archive(wide));
  read_dgl();
  expect_edges();
}

TEST_F(Archives, CutOffOrChangedAtAnyByte) {
  const auto ogb = [&] { read_ogb(); };
  const auto dgl = [&] { read_dgl(); };
  for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
    const bool is_signed = method == 0;
    hurt("raw/data.npz", archive(ogb_data(), method), is_signed, ogb);
    hurt("raw/node-label.npz", archive(ogb_labels(), method), is_signed, ogb);
    for (const std::string form : {"coo", "csr", "csc"})
      hurt("reddit_graph.npz", archive(dgl_graph(form), method), is_signed, dgl);
    hurt("reddit_data.npz", archive(dgl_data(), method), is_signed, dgl);
  }
}

TEST_F(Archives, SizesThatAreNotSo) {
  for (const int claimed : {-1, 1, 7}) {
    for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
      write("raw/data.npz", archive(ogb_data(), method, static_cast<std::uint32_t>(claimed)));
      EXPECT_THROW(read_ogb(), InputError) << method << " " << claimed;
    }
  }
}

// An array of several pieces, of which the last is not full.
TEST_F(Archives, PiecesAreTheWhole) {
  std::vector<std::int32_t> values(700'001);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(i * 2654435761u);
  for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
    write("large.npz", archive({{"values.npy", vector_npy("<i4", values)},
                                {"wide.npy", files::npy_header("<U2", "(0,)")}},
                               method));
    const files::MappedFile file(folder_.file("large.npz"));
    const files::ZipReader zip(file);
    files::NpyStream stream(zip, file.path(), "values");
    EXPECT_THAT(stream.array().shape, ElementsAre(values.size()));
    std::vector<std::int32_t> found;
    int pieces = 0;
    for (auto piece = stream.next(); piece.count != 0; piece = stream.next(), ++pieces)
      for (std::uint64_t i = 0; i < piece.count; ++i) found.push_back(piece.at<std::int32_t>(i));
    EXPECT_EQ(found, values);
    EXPECT_GT(pieces, 2);
    EXPECT_EQ(files::NpyStream(zip, file.path(), "wide").next().count, 0u);
  }
}

}  // namespace
}  // namespace warren::learn
