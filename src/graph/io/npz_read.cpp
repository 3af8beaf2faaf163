// SPDX-License-Identifier: Apache-2.0
// SciPy's sparse matrices (scipy.sparse.save_npz) in CSR form: an archive of the arrays indptr,
// indices, data, shape and format. Data of booleans is a pattern: a graph without weights.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/files/npy.hpp"
#include "warren/files/zip_reader.hpp"

#include "graph/io/csr.hpp"
#include "graph/io/decimal_scale.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint64_t kGrain = std::uint64_t{1} << 16;

// A member and the array in it.
struct Member {
  Member(const files::ZipReader& zip, const std::string& path, const char* name_in_messages)
      : label(path + ": " + name_in_messages),
        bytes(zip.load(std::string(name_in_messages) + ".npy")),
        array(files::parse_npy(bytes.data, bytes.size, label)) {}
  [[noreturn]] void fail(const std::string& what) const { throw InputError(label + ": " + what); }
  void require_vector(std::uint64_t length) const {
    if (array.shape.size() != 1 || array.count != length) {
      fail(fmt::format("{} elements in {} dimensions; {} in one would be right", array.count,
                       array.shape.size(), length));
    }
  }
  std::string label;
  files::ZipMember bytes;
  files::NpyArray array;
};

void check_format(const Member& format) {
  std::string text;
  const files::NpyArray& a = format.array;
  if (a.count != 1 || (a.kind != 'S' && a.kind != 'U'))
    format.fail("the format is no string; save the matrix with scipy.sparse.save_npz");
  for (std::uint64_t i = 0; i < a.width; i += a.kind == 'U' ? 4 : 1) {
    if (a.data[i] >= 0x20 && a.data[i] < 0x7f) text += a.data[i];
  }
  if (text != "csr")
    format.fail(
        fmt::format("the matrix is in '{}' form; save it as CSR: save_npz(file, matrix.tocsr())",
                    text.substr(0, 24)));
}

std::uint64_t read_vertices(const Member& shape, std::uint64_t max_vertices) {
  const files::NpyArray& a = shape.array;
  if (a.count != 2 || (a.kind != 'i' && a.kind != 'u') || (a.width != 4 && a.width != 8))
    shape.fail("the shape is not two integers");
  const std::int64_t rows = a.width == 8 ? a.at<std::int64_t>(0) : a.at<std::int32_t>(0);
  const std::int64_t columns = a.width == 8 ? a.at<std::int64_t>(1) : a.at<std::int32_t>(1);
  if (rows != columns)
    shape.fail(fmt::format("the matrix has {} rows and {} columns; the matrix of a graph is square",
                           rows, columns));
  if (rows < 1 || static_cast<std::uint64_t>(rows) > max_vertices)
    shape.fail(fmt::format("{} rows; a graph has 1 to {} vertices", rows, max_vertices));
  return static_cast<std::uint64_t>(rows);
}

// Calls f.template operator()<T>() for the integer type of an index array.
template <class F>
void with_index_type(const Member& member, F&& f) {
  const files::NpyArray& a = member.array;
  if (a.kind == 'i' && a.width == 4) return f(std::int32_t{});
  if (a.kind == 'i' && a.width == 8) return f(std::int64_t{});
  member.fail(fmt::format("the elements are of type {}; i4 or i8 would be right", a.type()));
}

void read_offsets(const Member& indptr, Graph& graph, exec::ThreadPool& pool) {
  indptr.require_vector(std::uint64_t{graph.vertices} + 1);
  graph.offsets = memory::HostArray<EdgeOffset>(indptr.array.count);
  with_index_type(indptr, [&]<class T>(T) {
    // A negative offset becomes a huge one, which is refused with those that do not ascend.
    pool.parallel_for(0, indptr.array.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        graph.offsets[i] =
            static_cast<EdgeOffset>(static_cast<std::int64_t>(indptr.array.at<T>(i)));
    });
  });
}

void read_targets(const Member& indices, Graph& graph, exec::ThreadPool& pool) {
  indices.require_vector(indices.array.count);
  graph.targets = memory::HostArray<Vertex>(indices.array.count);
  with_index_type(indices, [&]<class T>(T) {
    pool.parallel_for(0, indices.array.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto target = static_cast<std::int64_t>(indices.array.at<T>(i));
        if (target < 0 || target >= static_cast<std::int64_t>(graph.vertices)) {
          indices.fail(fmt::format("element {} is {}; column indices go from 0 to {}", i, target,
                                   graph.vertices - 1));
        }
        graph.targets[i] = static_cast<Vertex>(target);
      }
    });
  });
}

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double mantissa = bits & 0x3ff;
  double value = 0.0;
  if (exponent == 0x1f) {
    value = mantissa == 0.0 ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  } else {
    value =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024.0, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class T>
void read_integers(const Member& data, Graph& graph, exec::ThreadPool& pool) {
  graph.weight_type = WeightType::int32;
  graph.weights_int = memory::HostArray<std::int32_t>(data.array.count);
  pool.parallel_for(0, data.array.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const T value = data.array.at<T>(i);
      if (!std::in_range<std::int32_t>(value))
        data.fail(
            fmt::format("element {} is {}; weights are integers of 32 bits, or floats", i, value));
      graph.weights_int[i] = static_cast<std::int32_t>(value);
    }
  });
}

template <class T>
void read_floats(const Member& data, Graph& graph, exec::ThreadPool& pool) {
  graph.weight_type = WeightType::float32;
  graph.weights_float = memory::HostArray<float>(data.array.count);
  pool.parallel_for(0, data.array.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      double value;
      if constexpr (std::is_same_v<T, std::uint16_t>) {
        value = half_to_double(data.array.at<T>(i));
      } else {
        value = static_cast<double>(data.array.at<T>(i));
      }
      if (!(std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max()))) {
        data.fail(fmt::format(
            "element {} is {}; weights are finite and within the range of float32", i, value));
      }
      graph.weights_float[i] = static_cast<float>(value);
    }
  });
}

/// Tells of float64 that float32 does not hold, or, where that is asked for and exact, makes
/// integers of its decimals.
void fit_doubles(const Member& data, Graph& graph, WeightReport& report) {
  if (!report.takes_decimals) return;
  DecimalScale decimals;
  std::uint64_t rounded = data.array.count;
  for (std::uint64_t i = 0; i < data.array.count; ++i) {
    const double value = data.array.at<double>(i);
    decimals.add(value);
    if (rounded == data.array.count && static_cast<double>(graph.weights_float[i]) != value)
      rounded = i;
  }
  if (rounded == data.array.count) return;
  if (const auto scale = decimals.scale()) {
    report.scale = *scale;
    graph.weight_type = WeightType::int32;
    graph.weights_int = memory::HostArray<std::int32_t>(data.array.count);
    for (std::uint64_t i = 0; i < data.array.count; ++i)
      graph.weights_int[i] = DecimalScale::units(data.array.at<double>(i), *scale);
    graph.weights_float = {};
    return;
  }
  const auto text = [&](std::uint64_t i) {
    return fmt::format("data, element {}: float32 holds {} as {}", i, data.array.at<double>(i),
                       static_cast<double>(graph.weights_float[i]));
  };
  report.first_rounded = text(rounded);
  for (std::uint64_t i = rounded; i < data.array.count; ++i) {
    const double value = data.array.at<double>(i);
    const auto held = static_cast<double>(graph.weights_float[i]);
    if (held == value) continue;
    report.rounding = std::max(report.rounding, std::fabs(value - held) / std::fabs(value));
    if (report.first_lost.empty() && !has_few_digits(value)) report.first_lost = text(i);
  }
}

void read_weights(const Member& data, Graph& graph, exec::ThreadPool& pool, WeightReport* report) {
  const files::NpyArray& a = data.array;
  data.require_vector(graph.edges());
  const std::string type = a.type();
  if (type == "b1") {
    const void* absent = std::memchr(a.data, 0, a.count);
    if (a.count != 0 && absent != nullptr) {
      data.fail(
          fmt::format("element {} is False: an edge or none? Call eliminate_zeros() before saving",
                      static_cast<const char*>(absent) - a.data));
    }
    return;
  }
  if (type == "i1") return read_integers<std::int8_t>(data, graph, pool);
  if (type == "i2") return read_integers<std::int16_t>(data, graph, pool);
  if (type == "i4") return read_integers<std::int32_t>(data, graph, pool);
  if (type == "i8") return read_integers<std::int64_t>(data, graph, pool);
  if (type == "u1") return read_integers<std::uint8_t>(data, graph, pool);
  if (type == "u2") return read_integers<std::uint16_t>(data, graph, pool);
  if (type == "u4") return read_integers<std::uint32_t>(data, graph, pool);
  if (type == "u8") return read_integers<std::uint64_t>(data, graph, pool);
  if (type == "f2") return read_floats<std::uint16_t>(data, graph, pool);
  if (type == "f4") return read_floats<float>(data, graph, pool);
  if (type == "f8") {
    read_floats<double>(data, graph, pool);
    if (report != nullptr) fit_doubles(data, graph, *report);
    return;
  }
  data.fail(
      fmt::format("the elements are of type {}; booleans, integers and floats can be read", type));
}

}  // namespace

Graph read_scipy(const ReadRequest& request) {
  const MappedFile file(request.path, pipes_of(request.kind));
  const files::ZipReader zip(file);
  if (!zip.contains("format.npy") || !zip.contains("shape.npy")) {
    throw InputError(request.path +
                     ": the archive has no members 'format.npy' and 'shape.npy'; save a matrix "
                     "with scipy.sparse.save_npz");
  }
  check_format(Member(zip, request.path, "format"));
  Graph graph;
  graph.vertices =
      static_cast<Vertex>(read_vertices(Member(zip, request.path, "shape"), request.max_vertices));
  read_offsets(Member(zip, request.path, "indptr"), graph, request.pool);
  read_targets(Member(zip, request.path, "indices"), graph, request.pool);
  if (request.options.read_weights) {
    read_weights(Member(zip, request.path, "data"), graph, request.pool, request.options.weights);
  } else if (zip.contains("data.npy") && Member(zip, request.path, "data").array.type() != "b1") {
    note_weights(request);
  }
  const CsrPlaces places{[](std::uint64_t i) { return fmt::format("indptr, element {}", i); },
                         [](std::uint64_t i) { return fmt::format("indices, element {}", i); }};
  return finish_csr(std::move(graph), request.path, places, request.options.build, request.pool);
}

}  // namespace warren::graph::io
