// SPDX-License-Identifier: Apache-2.0
#include "warren/api/predictions.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "warren/api/vertex_names.hpp"
#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/dataset/npy.hpp"
#include "warren/files/mapped_file.hpp"

namespace warren::api {
namespace {

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

}  // namespace

NamedPairs read_pairs(const std::string& path, std::uint64_t vertices,
                      std::span<const std::string> names) {
  const files::MappedFile file(path, files::MappedFile::Pipes::read);
  const std::string_view text(file.data(), file.size());
  std::unordered_map<std::string_view, Vertex> by_name;
  for (std::size_t v = 0; v < names.size(); ++v) by_name.emplace(names[v], static_cast<Vertex>(v));
  const auto vertex = [&](const std::string& cell) {
    std::uint64_t v = 0;
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, v);
    if (error == std::errc{} && stop == end && v < vertices) return static_cast<Vertex>(v);
    const auto named = by_name.find(cell);
    const bool is_number = cell.find_first_not_of("0123456789") == std::string::npos;
    return named == by_name.end() || is_number ? kNoVertex : named->second;
  };
  NamedPairs pairs;
  std::vector<std::string> cells;
  bool may_be_headings = true;
  each_line(text, [&](std::uint64_t number, std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    const auto fail = [&](const std::string& what) {
      throw InputError(fmt::format("{}: line {}: {} in \"{}\"", path, number, what,
                                   printable(line.substr(0, 60))));
    };
    if (!split_cells(line, 2, cells)) fail("quotes do not match");
    const bool is_first = std::exchange(may_be_headings, false);
    if (is_first && cells.size() == 2 && are_edge_headings(cells) && vertex(cells[0]) == kNoVertex)
      return;
    if (cells.size() > 2) fail("there is more than two vertices");
    const auto link = cells.size() == 2 ? learn::Link{vertex(cells[0]), vertex(cells[1])}
                                        : learn::Link{kNoVertex, kNoVertex};
    if (link.source == kNoVertex || link.target == kNoVertex)
      fail(fmt::format("two vertices would be right, of 0 to {}{},", vertices - 1,
                       names.empty() ? "" : " or names of names.txt"));
    pairs.links.push_back(link);
    pairs.names.insert(pairs.names.end(), cells.begin(), cells.end());
  });
  return pairs;
}

PairScores pair_scores(const NamedPairs& pairs, std::span<const float> embeddings,
                       std::uint64_t width) {
  PairScores scores{pair_scores(pairs.links, embeddings, width), 0};
  for (const float logit : scores.logits) scores.likely += logit > 0.0f ? 1 : 0;
  return scores;
}

void write(const PredictionFiles& files, const NamedPairs& pairs, const PairScores& scores) {
  if (!files.text.empty()) {
    OutputFile file(files.text, OutputFile::Special::in_place);
    std::string text;
    for (std::size_t i = 0; i < pairs.links.size(); ++i) {
      text += fmt::format("{} {} {:.6g}\n", as_cell(pairs.names[2 * i]),
                          as_cell(pairs.names[2 * i + 1]), probability_of(scores.logits[i]));
    }
    file.write(text);
    (void)file.commit();
  }
  if (!files.scores.empty()) learn::write_npy(files.scores, pairs.links.size(), 1, scores.logits);
}

void write(const PredictionFiles& files, const learn::Dataset& dataset,
           const learn::ModelOptions& model, bool is_of_links, const Prediction& prediction) {
  if (is_of_links) {
    if (!files.embeddings.empty())
      learn::write_npy(files.embeddings, dataset.vertices, model.classes, prediction.rows);
    return;
  }
  if (!files.text.empty()) write_classes(files.text, dataset, prediction.rows);
  if (!files.scores.empty())
    learn::write_npy(files.scores, dataset.vertices, model.classes, prediction.rows);
  if (!files.embeddings.empty())
    learn::write_npy(files.embeddings, dataset.vertices, model.hidden, prediction.embeddings);
}

}  // namespace warren::api
