// SPDX-License-Identifier: Apache-2.0
#include "predict_output.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"

namespace warren::app {

std::vector<float> in_input_order(const TrainInput& input, std::vector<float> rows,
                                  std::uint64_t width) {
  const auto& ids = input.graphs.input_ids;
  if (ids.empty() || rows.empty()) return rows;
  std::vector<float> ordered(rows.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::copy_n(rows.data() + i * width, width, ordered.data() + ids[i] * width);
  return ordered;
}

void write_classes(const std::string& path, const learn::Dataset& dataset,
                   std::span<const float> scores) {
  const std::uint64_t classes = dataset.classes;
  OutputFile file(path, OutputFile::Special::in_place);
  std::string text;
  for (std::uint64_t v = 0; v < dataset.vertices; ++v) {
    const float* row = scores.data() + v * classes;
    text += fmt::format("{}", v);
    if (dataset.loss == learn::LossKind::binary) {
      for (std::uint64_t c = 0; c < classes; ++c) {
        if (row[c] > 0.0f) text += fmt::format(" {}", c);
      }
    } else {
      text += fmt::format(" {}", std::max_element(row, row + classes) - row);
    }
    text += '\n';
  }
  file.write(text);
  (void)file.commit();
}

std::vector<learn::Link> read_pairs(const std::string& path, std::uint64_t vertices) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": it cannot be read; give a file with two vertices a line");
  std::vector<learn::Link> pairs;
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    constexpr std::string_view kBetween = " \t\r,;";
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto skip = [&] {
      while (at < end && kBetween.find(*at) != std::string_view::npos) ++at;
    };
    skip();
    if (at == end || *at == '#') continue;
    const auto vertex = [&] {
      std::uint64_t v = 0;
      const auto [stop, error] = std::from_chars(at, end, v);
      const bool is_whole = stop == end || kBetween.find(*stop) != std::string_view::npos;
      if (error != std::errc{} || !is_whole || v >= vertices)
        throw InputError(fmt::format("{}: line {}: \"{}\" should be two vertices, of 0 to {}", path,
                                     number, line.substr(0, 60), vertices - 1));
      at = stop;
      skip();
      return static_cast<Vertex>(v);
    };
    const Vertex source = vertex();
    const Vertex target = vertex();
    if (at != end)
      throw InputError(fmt::format("{}: line {}: there is more than two vertices in \"{}\"", path,
                                   number, line.substr(0, 60)));
    pairs.push_back({source, target});
  }
  return pairs;
}

std::vector<float> pair_scores(std::span<const learn::Link> pairs,
                               std::span<const float> embeddings, std::uint64_t width) {
  std::vector<float> scores;
  scores.reserve(pairs.size());
  for (const learn::Link& pair : pairs) {
    const float* a = embeddings.data() + pair.source * width;
    const float* b = embeddings.data() + pair.target * width;
    double sum = 0.0;
    for (std::uint64_t i = 0; i < width; ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    scores.push_back(static_cast<float>(sum));
  }
  return scores;
}

void write_pairs(const std::string& path, std::span<const learn::Link> pairs,
                 std::span<const float> scores) {
  OutputFile file(path, OutputFile::Special::in_place);
  std::string text;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double probability = 1.0 / (1.0 + std::exp(-static_cast<double>(scores[i])));
    text += fmt::format("{} {} {:.6g}\n", pairs[i].source, pairs[i].target, probability);
  }
  file.write(text);
  (void)file.commit();
}

}  // namespace warren::app
