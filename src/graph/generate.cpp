// SPDX-License-Identifier: Apache-2.0
// Generators by name, and as sources of edges.
#include "warren/graph/generate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/generate_draws.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kMaxDegree = 0xffffffffull;  // Keeps vertices times degree below 2^64.
constexpr int kMaxScale = 31;
constexpr std::uint64_t kPieceDraws = std::uint64_t{1} << 16;
constexpr std::uint64_t kBatch = 2048;

class GeneratorSource final : public EdgeSource {
 public:
  explicit GeneratorSource(const GeneratorSpec& spec) : spec_(spec) {}

  [[nodiscard]] std::uint64_t vertices() const override { return spec_.vertices; }
  [[nodiscard]] WeightType weight_type() const override { return WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override {
    return (spec_.draws + kPieceDraws - 1) / kPieceDraws;
  }
  void read(std::uint64_t piece, EdgeSink& sink) override {
    std::array<Edge, kBatch> batch;
    const std::uint64_t last = std::min(spec_.draws, (piece + 1) * kPieceDraws);
    for (std::uint64_t k = piece * kPieceDraws; k < last; k += kBatch) {
      const std::span<Edge> edges(batch.data(), std::min(kBatch, last - k));
      detail::draw_edges(spec_, k, edges);
      sink.take(edges, {}, {});
    }
  }

 private:
  GeneratorSpec spec_;
};

// The parameters of a generator's text, with errors that say what its form is.
class Parameters {
 public:
  Parameters(std::string_view text, std::string_view form) : text_(text), form_(form) {}

  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("{}: {}; the form is {}", text_, why, form_));
  }

  [[nodiscard]] std::uint64_t whole(std::string_view name, std::string_view value,
                                    std::uint64_t low, std::uint64_t high) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < low ||
        number > high) {
      refuse(fmt::format("{} should be a whole number from {} to {}, not \"{}\"", name, low, high,
                         value));
    }
    return number;
  }
  [[nodiscard]] double real(std::string_view name, std::string_view value) const {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() ||
        !(number >= 0.0 && number <= static_cast<double>(kMaxDegree))) {
      refuse(
          fmt::format("{} should be a number from 0 to {}, not \"{}\"", name, kMaxDegree, value));
    }
    return number;
  }

 private:
  std::string_view text_;
  std::string_view form_;
};

// What stands before and after the first `mark`; nothing after where there is none.
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view text,
                                                                   char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

void parse_scale(std::string_view values, const Parameters& parameters, GeneratorSpec& spec) {
  const auto [scale, degree] = split(values, ',');
  spec.scale = static_cast<int>(parameters.whole("SCALE", scale, 0, kMaxScale));
  spec.vertices = std::uint64_t{1} << spec.scale;
  spec.draws = spec.vertices * (degree ? parameters.whole("DEGREE", *degree, 0, kMaxDegree) : 16);
}

void parse_grid(std::string_view values, const Parameters& parameters, GeneratorSpec& spec) {
  const auto [width, height] = split(values, 'x');
  if (!height) parameters.refuse("the height is missing");
  spec.width = parameters.whole("WIDTH", width, 1, kMaxVertices);
  const std::uint64_t rows = parameters.whole("HEIGHT", *height, 1, kMaxVertices);
  if (rows > kMaxVertices / spec.width)
    parameters.refuse(fmt::format("a graph has at most {} vertices", kMaxVertices));
  spec.vertices = spec.width * rows;
  spec.draws = 2 * spec.vertices;
}

void parse_community(std::string_view values, const Parameters& parameters, GeneratorSpec& spec) {
  const auto [vertices, degree] = split(values, ',');
  if (!degree) parameters.refuse("the degree is missing");
  spec.vertices = parameters.whole("VERTICES", vertices, 1, kMaxVertices);
  const double draws =
      std::round(static_cast<double>(spec.vertices) * parameters.real("DEGREE", *degree));
  if (draws > static_cast<double>(std::numeric_limits<std::int64_t>::max()))
    parameters.refuse("that is too many edges");
  spec.draws = static_cast<std::uint64_t>(draws);
}

}  // namespace

void check_uniform_weights(const UniformWeights& weights) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  require(0 <= weights.low && weights.low <= weights.high && weights.high <= kMost,
          fmt::format("uniform weights from {} to {}: should be 0 <= low <= high <= {}",
                      weights.low, weights.high, kMost));
}

std::optional<GeneratorSpec> parse_generator(const std::string& text, std::uint64_t seed) {
  const auto [name, values] = split(text, ':');
  if (!values) return std::nullopt;
  GeneratorSpec spec;
  spec.seed = seed;
  if (name == "kron") {
    spec.kind = GeneratorKind::kronecker;
    parse_scale(*values, Parameters(text, "kron:SCALE[,DEGREE]"), spec);
  } else if (name == "urand") {
    spec.kind = GeneratorKind::uniform;
    parse_scale(*values, Parameters(text, "urand:SCALE[,DEGREE]"), spec);
  } else if (name == "grid") {
    spec.kind = GeneratorKind::grid;
    parse_grid(*values, Parameters(text, "grid:WIDTHxHEIGHT"), spec);
  } else if (name == "community") {
    spec.kind = GeneratorKind::community;
    parse_community(*values, Parameters(text, "community:VERTICES,DEGREE"), spec);
  } else {
    return std::nullopt;
  }
  return spec;
}

std::unique_ptr<EdgeSource> make_source(const GeneratorSpec& spec) {
  return std::make_unique<GeneratorSource>(spec);
}

BuildOptions effective_options(const GeneratorSpec& spec, BuildOptions options) {
  if (spec.undirected()) {
    options.symmetrize = true;
    options.drop_self_loops = true;
  }
  return options;
}

}  // namespace warren::graph
