// SPDX-License-Identifier: Apache-2.0
// Archives as SciPy writes them, and archives that no reader may trust; the files that SciPy itself
// wrote are among the inputs of the fuzz targets.
#include <map>
#include <string>
#include <vector>

#include "warren/files/npy.hpp"

#include "graph/io_support.hpp"
#include "support/archives.hpp"

namespace warren::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using testing_support::archive;
using testing_support::vector_npy;

// The members of the matrix with entries (0, 1), (0, 3), (1, 2), (3, 0).
std::map<std::string, std::string> small_matrix() {
  return {{"format.npy", files::npy_header("|S3", "()") + "csr"},
          {"shape.npy", vector_npy<std::int64_t>("<i8", {4, 4})},
          {"indptr.npy", vector_npy<std::int32_t>("<i4", {0, 2, 3, 3, 4})},
          {"indices.npy", vector_npy<std::int32_t>("<i4", {1, 3, 2, 0})},
          {"data.npy", vector_npy<double>("<f8", {0.5, 1, 2, 3})}};
}

class Scipy : public testing::Test {
 protected:
  Graph read(const std::string& bytes) {
    write_bytes(path_, bytes);
    return read_graph(path_, {}, pool_);
  }
  std::string refused(const std::string& bytes) {
    write_bytes(path_, bytes);
    return refusal(path_);
  }
  std::string refused_with(const std::string& member, const std::string& bytes) {
    auto members = small_matrix();
    members[member] = bytes;
    const std::string message = refused(archive(members));
    EXPECT_THAT(message, testing::StartsWith(path_ + ": "));
    return message;
  }

  exec::ThreadPool pool_{2};
  TemporaryFolder folder_;
  std::string path_ = folder_.file("g.npz");
};

TEST_F(Scipy, StoredAndDeflatedMembers) {
  for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
    const Graph graph = read(archive(small_matrix(), method));
    EXPECT_THAT(graph.offsets.span(), ElementsAre(0u, 2u, 3u, 3u, 4u));
    EXPECT_THAT(graph.targets.span(), ElementsAre(1u, 3u, 2u, 0u));
    EXPECT_THAT(graph.weights_float.span(), ElementsAre(0.5f, 1.0f, 2.0f, 3.0f));
  }
}

TEST_F(Scipy, UnsortedIndicesAreSorted) {
  auto members = small_matrix();
  members["indices.npy"] = vector_npy<std::int32_t>("<i4", {3, 1, 2, 0});
  const Graph graph = read(archive(members));
  EXPECT_THAT(graph.targets.span(), ElementsAre(1u, 3u, 2u, 0u));
  EXPECT_THAT(graph.weights_float.span(), ElementsAre(1.0f, 0.5f, 2.0f, 3.0f));
}

template <class T>
void put_integers(std::map<std::string, std::string>& members, const std::string& type) {
  members["data.npy"] = vector_npy<T>(type, {T{1}, T{2}, T{3}, T{100}});
}

TEST_F(Scipy, EveryTypeOfData) {
  auto members = small_matrix();
  const std::vector<
      std::pair<std::string, void (*)(std::map<std::string, std::string>&, const std::string&)>>
      types{{"|i1", put_integers<std::int8_t>},   {"<i2", put_integers<std::int16_t>},
            {"<i4", put_integers<std::int32_t>},  {"<i8", put_integers<std::int64_t>},
            {"|u1", put_integers<std::uint8_t>},  {"<u2", put_integers<std::uint16_t>},
            {"<u4", put_integers<std::uint32_t>}, {"<u8", put_integers<std::uint64_t>}};
  for (const auto& [type, fill] : types) {
    fill(members, type);
    EXPECT_THAT(read(archive(members)).weights_int.span(), ElementsAre(1, 2, 3, 100)) << type;
  }
  members["data.npy"] = vector_npy<float>("<f4", {1.5f, -2.0f, 0.0f, 1e30f});
  EXPECT_THAT(read(archive(members)).weights_float.span(), ElementsAre(1.5f, -2.0f, 0.0f, 1e30f));
  members["data.npy"] = vector_npy<std::uint16_t>("<f2", {0x3e00, 0xc000, 0x0001, 0x7bff});
  EXPECT_THAT(read(archive(members)).weights_float.span(),
              ElementsAre(1.5f, -2.0f, 0x1p-24f, 65504.0f));
  members["data.npy"] = vector_npy<char>("|b1", {1, 1, 1, 1});
  EXPECT_EQ(read(archive(members)).weight_type, WeightType::none);
}

TEST_F(Scipy, WrongArrays) {
  EXPECT_THAT(refused_with("format.npy", files::npy_header("|S3", "()") + "csc"),
              HasSubstr("in 'csc' form; save it as CSR"));
  EXPECT_THAT(refused_with("format.npy", files::npy_header("<i4", "()") + "\1\2\3\4"),
              HasSubstr("the format is no string"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<std::int64_t>("<i8", {4, 5})),
              HasSubstr("4 rows and 5 columns"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<std::int64_t>("<i8", {0, 0})),
              HasSubstr("0 rows"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<std::int64_t>("<i8", {-4, -4})),
              HasSubstr("-4 rows"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<std::int64_t>("<i8", {1L << 40, 1L << 40})),
              HasSubstr("4294967295 vertices"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<std::int64_t>("<i8", {1 << 30, 1 << 30})),
              HasSubstr("indptr: 5 elements in 1 dimensions; 1073741825 in one would be right"));
  EXPECT_THAT(refused_with("shape.npy", vector_npy<double>("<f8", {4, 4})),
              HasSubstr("not two integers"));
  EXPECT_THAT(refused_with("indptr.npy", vector_npy<float>("<f4", {0, 2, 3, 3, 4})),
              HasSubstr("type f4; i4 or i8"));
  EXPECT_THAT(refused_with("indptr.npy", vector_npy<std::int32_t>("<i4", {0, 2, 3, 4})),
              HasSubstr("5 in one"));
  EXPECT_THAT(refused_with("indptr.npy", vector_npy<std::int32_t>("<i4", {0, 3, 2, 3, 4})),
              HasSubstr("indptr, element 2: row 1"));
  EXPECT_THAT(refused_with("indptr.npy", vector_npy<std::int32_t>("<i4", {0, -3, 2, 3, 4})),
              HasSubstr("indptr, element 1: row 0"));
  EXPECT_THAT(refused_with("indptr.npy", vector_npy<std::int32_t>("<i4", {0, 2, 3, 3, 5})),
              HasSubstr("indptr, element 4"));
  EXPECT_THAT(refused_with("indices.npy", vector_npy<std::int32_t>("<i4", {1, 4, 2, 0})),
              HasSubstr("element 1 is 4"));
  EXPECT_THAT(refused_with("indices.npy", vector_npy<std::int64_t>("<i8", {1, -1, 2, 0})),
              HasSubstr("element 1 is -1"));
  EXPECT_THAT(refused_with("data.npy", vector_npy<double>("<f8", {1, 2, 3})),
              HasSubstr("3 elements in 1 dimensions; 4 in one"));
  EXPECT_THAT(refused_with("data.npy", vector_npy<double>("<f8", {1, 2, 3, 1e39})),
              HasSubstr("element 3 is 1e+39"));
  EXPECT_THAT(refused_with("data.npy", vector_npy<std::int64_t>("<i8", {1, 2, 3, 1L << 31})),
              HasSubstr("element 3 is 2147483648"));
  EXPECT_THAT(refused_with("data.npy", vector_npy<char>("|b1", {1, 0, 1, 1})),
              HasSubstr("element 1 is False"));
  EXPECT_THAT(refused_with("data.npy", files::npy_header("<c8", "(4,)") + std::string(32, '\0')),
              HasSubstr("type c8"));
  EXPECT_THAT(refused_with("data.npy", files::npy_header(">f4", "(4,)") + std::string(16, '\0')),
              HasSubstr("'>f4' cannot be read"));
  EXPECT_THAT(refused_with("data.npy", "no array at all"), HasSubstr("no NumPy array"));
  EXPECT_THAT(refused_with("data.npy", files::npy_header("<f4", "(9999999999999999999,)")),
              HasSubstr("elements of 4 bytes are announced"));
  EXPECT_THAT(refused_with("data.npy", files::npy_header("<f4", "(9999999999, 9999999999)")),
              HasSubstr("shape cannot be read"));
  EXPECT_THAT(refused_with("data.npy", files::npy_header("<f4", "4")),
              HasSubstr("shape cannot be read"));
}

TEST_F(Scipy, WrongArchives) {
  auto members = small_matrix();
  EXPECT_THAT(refused(archive(members, 12)), HasSubstr("compressed by method 12"));
  EXPECT_THAT(refused(archive(members, 0, 5)), HasSubstr("of two sizes"));
  EXPECT_THAT(refused(archive(members, 8, 5)), HasSubstr("does not inflate to its"));
  EXPECT_THAT(refused(archive(members, 8, 2'000'000'000)),
              HasSubstr("compressed bytes cannot hold"));
  members.erase("indices.npy");
  EXPECT_THAT(refused(archive(members)), HasSubstr("no member 'indices.npy'"));
  members.erase("format.npy");
  EXPECT_THAT(refused(archive(members)), HasSubstr("scipy.sparse.save_npz"));
  EXPECT_THAT(refused("PK"), HasSubstr("too short for an .npz"));
  EXPECT_THAT(refused(std::string(100000, 'x')), HasSubstr("no archive directory"));
}

}  // namespace
}  // namespace warren::graph
