// SPDX-License-Identifier: Apache-2.0
#include "lookup_input.hpp"

#include <cmath>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/draw.hpp"
#include "warren/sparse/interact.hpp"
#include "warren/sparse/lookup.hpp"

#include "option_rules.hpp"
#include "sparse_input.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1}
                                        << 48;  // Elements of the table and of a batch.

/// Small whole numbers, so that sums of any order are exact in float32.
float table_element(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(static_cast<std::int64_t>((row * 31 + column) % 17) - 8);
}

/// Of all errors, in units of what they are errors of.
void keep_worst(double& worst, double found, double expected, double size) {
  const double off = std::abs(found - expected);
  const double error = off == 0.0 ? 0.0 : off / size;
  if (!(error <= worst)) worst = error;
}

template <class T>
class LookupRank {
 public:
  LookupRank(const LookupOptions& options, team::Team& team)
      : options_(options),
        team_(team),
        stream_(team.device()),
        table_(team, graph::dealt_cuts(options.rows, team.size()), options.k,
               memory::Placement::device),
        out_(team.device(), options.batch * options.k) {
    fill();
  }

  LookupOutcome run(const LookupCase& lookup) {
    draw(lookup);
    std::vector<EdgeOffset> offsets;
    for (std::uint64_t i = 0; i <= options_.batch; ++i) offsets.push_back(i * lookup.bag);
    LookupOutcome mine;
    mine.lookup = lookup;
    const sparse::LookupChoice choice =
        lookup.strategy == "auto"
            ? sparse::choose_lookup(team_.size(), static_cast<double>(lookup.bag), sizeof(T),
                                    !team_.device().is_cuda())
            : sparse::LookupChoice{sparse::parse_lookup_strategy(lookup.strategy), ""};
    mine.strategy = name_of(choice.strategy);
    mine.why = choice.why;
    const auto way = sparse::make_lookup<T>(team_, stream_, offsets, options_.k, choice.strategy);
    memory::Buffer<std::uint64_t> moved(team_.device(), 1);
    exec::fill_bytes(stream_, moved.data(), 0, sizeof(std::uint64_t));
    way->run(table_.view(), indices_.data(), out_.data(), moved.data());
    std::uint64_t sum[] = {moved.to_host(stream_)[0]};
    team_.sum(sum);
    mine.rows_moved = sum[0];
    exec::fill_bytes(stream_, out_.data(), 0xff, out_.bytes());
    stream_.synchronize();
    mine.seconds = timed_runs(team_, options_.common.repeat, "lookup", [&] {
      way->run(table_.view(), indices_.data(), out_.data());
      team_.barrier();
    });
    double error = options_.verify ? largest_error(lookup.bag) : 0.0;
    if (options_.interact) interact(mine, error);
    mine.error = largest(team_, error);
    team_.barrier();
    return mine;
  }

 private:
  void fill() {
    const auto& view = table_.view();
    const std::uint64_t k = options_.k;
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / k);
    std::vector<T> part;
    for (std::uint64_t begin = 0; begin < view.local_rows(); begin += piece) {
      const std::uint64_t end = std::min(view.local_rows(), begin + piece);
      part.resize((end - begin) * k);
      team_.device().pool().parallel_for(
          begin, end, 64, [&](std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t i = first; i < last; ++i) {
              for (std::uint64_t c = 0; c < k; ++c)
                part[(i - begin) * k + c] = from_float<T>(table_element(view.first() + i, c));
            }
          });
      table_.buffer().upload(stream_, part, begin * k);
      stream_.synchronize();
    }
    team_.barrier();
  }

  void draw(const LookupCase& lookup) {
    graph::detail::DrawStream draws(graph::detail::mix(
        options_.common.seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(team_.rank())));
    rows_.resize(options_.batch * lookup.bag);
    for (Vertex& row : rows_) {
      const double place = std::pow(draws.uniform(), 1.0 + lookup.skew);
      const auto drawn = static_cast<std::uint64_t>(place * static_cast<double>(options_.rows));
      row = static_cast<Vertex>(std::min(drawn, options_.rows - 1));
    }
    indices_.reset();
    indices_ = memory::Buffer<Vertex>(team_.device(), rows_.size());
    indices_.upload(stream_, rows_);
    stream_.synchronize();
  }

  [[nodiscard]] double largest_error(std::uint64_t bag) const {
    const std::vector<T> found = out_.to_host(stream_);
    double worst = 0.0;
    for (std::uint64_t i = 0; i < options_.batch; ++i) {
      for (std::uint64_t c = 0; c < options_.k; ++c) {
        double sum = 0.0;
        double size = 0.0;
        for (std::uint64_t j = i * bag; j < (i + 1) * bag; ++j) {
          const auto term = static_cast<double>(table_element(rows_[j], c));
          sum += term;
          size += std::abs(term);
        }
        keep_worst(worst, static_cast<double>(to_float(found[i * options_.k + c])), sum, size);
      }
    }
    return worst;
  }

  /// Products of the sums that are there.
  void interact(LookupOutcome& mine, double& worst) {
    const std::uint64_t features = options_.features;
    const std::uint64_t samples = options_.batch / features;
    const std::uint64_t pairs = sparse::pairs_of(features);
    memory::Buffer<float> products(team_.device(), exec::bytes_of(samples, pairs));
    mine.interact_seconds = timed_runs(team_, options_.common.repeat, "interact", [&] {
      sparse::interact(stream_, out_.data(), samples, features, options_.k, products.data());
      stream_.synchronize();
    });
    if (!options_.verify) return;
    const std::vector<float> found = products.to_host(stream_);
    const std::vector<T> x = out_.to_host(stream_);
    std::size_t at = 0;
    for (std::uint64_t b = 0; b < samples; ++b) {
      for (std::uint64_t i = 0; i < features; ++i) {
        for (std::uint64_t j = 0; j < i; ++j) {
          double sum = 0.0;
          double size = 0.0;
          for (std::uint64_t c = 0; c < options_.k; ++c) {
            const double term =
                static_cast<double>(to_float(x[(b * features + i) * options_.k + c])) *
                static_cast<double>(to_float(x[(b * features + j) * options_.k + c]));
            sum += term;
            size += std::abs(term);
          }
          keep_worst(worst, static_cast<double>(found[at++]), sum, size);
        }
      }
    }
  }

  const LookupOptions& options_;
  team::Team& team_;
  exec::Stream stream_;
  memory::GlobalArray<T> table_;
  memory::Buffer<T> out_;
  memory::Buffer<Vertex> indices_;
  std::vector<Vertex> rows_;
};

}  // namespace

void add_lookup_options(CLI::App& command, LookupOptions& options) {
  add_number(command, "--rows", options.rows, "Rows of the table (1000000)", "N", 1, kMaxVertices);
  add_number(command, "--k", options.k, "Elements of a row (64)", "K", 1, std::uint64_t{1} << 24);
  add_number(command, "--batch", options.batch, "Bags that each rank looks up (4096)", "B", 1,
             kMaxVertices);
  command.add_option("--type", options.type, "Storage: float32, float16, bfloat16")
      ->type_name("TYPE");
  command.add_flag("--verify", options.verify, "Look at every element (exit status 4)");
  add_common_options(command, options.common);
}

void check_lookup_options(const LookupOptions& options, const LookupCase& lookup) {
  check_choice("--strategy", lookup.strategy, {"auto", "pull", "owner-sum", "messages"}, {});
  check_choice("--type", options.type, {"float32", "float16", "bfloat16"}, {});
  require(options.rows <= kMostElements / options.k && options.batch <= kMostElements / options.k &&
              options.batch <= kMostElements / lookup.bag,
          fmt::format("--rows {}, --batch {}, --bag {}: with --k {} there are more than 2^48 "
                      "elements; ask for fewer",
                      options.rows, options.batch, lookup.bag, options.k));
  require(
      options.batch % options.features == 0,
      fmt::format("--batch {} is no multiple of --features {}", options.batch, options.features));
  require(options.interact || options.features == 1,
          "--features says how many bags --interact multiplies with each other: give that too");
  require(!options.interact || options.features > 1,
          "--interact multiplies a sample's bags with each other: give --features, 2 or more");
}

Json LookupOutcome::fields(const LookupOptions& options) const {
  Json json = Json::object();
  json["seconds"] = seconds;
  json["rows"] = options.rows;
  json["k"] = options.k;
  json["batch"] = options.batch;
  json["bag"] = lookup.bag;
  json["skew"] = lookup.skew;
  json["type"] = options.type;
  json["strategy"] = strategy;
  json["lookups_per_second"] = rate;
  json["bytes_per_second"] = bytes;
  json["rows_moved"] = rows_moved;
  json["max_relative_error"] = options.verify ? Json(error) : Json(nullptr);
  json["verified"] = options.verify ? Json(is_right) : Json(nullptr);
  if (!why.empty()) json["why"] = why;
  if (options.interact) {
    json["features"] = options.features;
    json["interact_seconds"] = interact_seconds;
  }
  return json;
}

std::vector<LookupOutcome> measure_lookups(const Session& session, const LookupOptions& options,
                                           const std::vector<LookupCase>& cases) {
  std::vector<LookupOutcome> outcomes(cases.size());
  const auto progress = session.progress("looking up");
  with_element(options.type, [&](auto kind) {
    using T = decltype(kind);
    team::run_team(session.team(), [&](team::Team& team) {
      LookupRank<T> rank(options, team);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        LookupOutcome outcome = rank.run(cases[i]);
        const double middle = median(outcome.seconds);
        const double lookups =
            static_cast<double>(options.batch) * static_cast<double>(cases[i].bag) * team.size();
        outcome.rate = middle > 0.0 ? lookups / middle : 0.0;
        outcome.bytes = outcome.rate * static_cast<double>(options.k * sizeof(T));
        outcome.is_right = outcome.error <= sparse_tolerance(options.type, 1);
        if (team.rank() == 0) outcomes[i] = std::move(outcome);
      }
    });
  });
  return outcomes;
}

}  // namespace warren::app
