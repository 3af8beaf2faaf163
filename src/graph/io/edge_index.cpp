// SPDX-License-Identifier: Apache-2.0
// An array of edges as PyTorch Geometric keeps them and NumPy saves them: edge_index.npy of 2 x
// edges, sources above targets; or of edges x 2, a pair a row. The array is read where it lies in
// the mapped file.
#include <algorithm>
#include <atomic>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/files/npy.hpp"
#include "warren/graph/builder.hpp"

#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

class EdgeIndexSource final : public EdgeSource {
 public:
  explicit EdgeIndexSource(const ReadRequest& request)
      : request_(request),
        file_(request.path, pipes_of(request.kind)),
        array_(files::parse_npy(file_.data(), file_.size(), request.path, files::AxisOrder::any)) {
    const auto& shape = array_.shape;
    if (shape.size() != 2 || (shape[0] != 2 && shape[1] != 2))
      fail("an array of 2 x edges (sources above targets) or of edges x 2 would be right");
    if ((array_.kind != 'i' && array_.kind != 'u') || array_.width > 8 ||
        (array_.width & (array_.width - 1)) != 0)
      fail(fmt::format("the elements are of type {}; vertex ids are integers of 8 to 64 bits",
                       array_.type()));
    is_columns_ = shape[0] == 2;
    are_pairs_ = is_columns_ == array_.first_axis_fastest;
    vertices_ = std::max(request.options.least_vertices, ids_end());
    if (vertices_ == 0) fail("the array has no edges, and so the graph no vertices");
  }

  [[nodiscard]] std::uint64_t vertices() const override { return vertices_; }
  [[nodiscard]] WeightType weight_type() const override { return WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override { return (edges() + kPiece - 1) / kPiece; }
  void read(std::uint64_t piece, EdgeSink& sink) override {
    const std::uint64_t first = piece * kPiece;
    std::vector<Edge> found(std::min(kPiece, edges() - first));
    for (std::uint64_t i = 0; i < found.size(); ++i)
      found[i] = {static_cast<Vertex>(element(place(first + i, 0))),
                  static_cast<Vertex>(element(place(first + i, 1)))};
    sink.take(found, {}, {});
  }

 private:
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;

  [[nodiscard]] std::uint64_t edges() const { return array_.count / 2; }
  /// Where an end of an edge stands among the elements.
  [[nodiscard]] std::uint64_t place(std::uint64_t edge, std::uint64_t end) const {
    return are_pairs_ ? 2 * edge + end : end * edges() + edge;
  }
  /// The largest id plus one. Refuses the first that is none.
  [[nodiscard]] std::uint64_t ids_end() const {
    std::atomic<std::uint64_t> first_bad{array_.count}, most{0};
    request_.pool.parallel_for(0, array_.count, kPiece, [&](std::uint64_t i, std::uint64_t end) {
      std::uint64_t here = 0;
      for (; i < end; ++i) {
        const std::uint64_t id = element(i);
        if (id >= request_.max_vertices) {
          for (auto bad = first_bad.load(); i < bad && !first_bad.compare_exchange_weak(bad, i);) {
          }
          break;
        }
        here = std::max(here, id + 1);
      }
      for (auto seen = most.load(); here > seen && !most.compare_exchange_weak(seen, here);) {
      }
    });
    if (first_bad.load() != array_.count) refuse_id(first_bad.load());
    return most.load();
  }
  [[noreturn]] void refuse_id(std::uint64_t at) const {
    const std::uint64_t edge = are_pairs_ ? at / 2 : at % edges();
    const std::uint64_t end = are_pairs_ ? at % 2 : at / edges();
    const std::uint64_t id = element(at);
    const std::string shown = array_.kind == 'i' ? fmt::format("{}", static_cast<std::int64_t>(id))
                                                 : fmt::format("{}", id);
    fail(fmt::format("row {}, column {} is {}; vertex ids go from 0 to {}",
                     is_columns_ ? end : edge, is_columns_ ? edge : end, shown,
                     request_.max_vertices - 1));
  }
  /// Negative ones come out as huge.
  [[nodiscard]] std::uint64_t element(std::uint64_t i) const {
    const bool has_sign = array_.kind == 'i';
    const auto as_signed = [&]<class T>(T) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(array_.at<T>(i)));
    };
    switch (array_.width) {
      case 1:
        return has_sign ? as_signed(std::int8_t{}) : array_.at<std::uint8_t>(i);
      case 2:
        return has_sign ? as_signed(std::int16_t{}) : array_.at<std::uint16_t>(i);
      case 4:
        return has_sign ? as_signed(std::int32_t{}) : array_.at<std::uint32_t>(i);
      default:
        return array_.at<std::uint64_t>(i);
    }
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(request_.path + ": " + what);
  }

  const ReadRequest& request_;
  MappedFile file_;
  files::NpyArray array_;
  bool is_columns_ = false;  ///< 2 x edges.
  bool are_pairs_ = false;   ///< The ends of an edge lie side by side.
  std::uint64_t vertices_ = 0;
};

}  // namespace

Graph read_edge_index(const ReadRequest& request) {
  EdgeIndexSource source(request);
  return build(source, request.options.build, request.pool);
}

}  // namespace warren::graph::io
