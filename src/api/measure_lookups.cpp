// SPDX-License-Identifier: Apache-2.0
// Every rank fills its part of the table, draws its bags, and sums them by one way after the other.
#include "warren/api/measure_lookups.hpp"

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/graph/draw.hpp"
#include "warren/graph/partition.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/sparse/interact.hpp"
#include "warren/sparse/lookup.hpp"

#include "api/measured.hpp"

namespace warren::api {
namespace {

float table_element(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(static_cast<std::int64_t>((row * 31 + column) % 17) - 8);
}

template <class T>
class LookupRank {
 public:
  LookupRank(const LookupTrialOptions& options, team::Team& team)
      : options_(options),
        team_(team),
        host_(team.of_host()),
        stream_(team.device()),
        table_(host_, graph::dealt_cuts(options.rows, host_.size()), options.k,
               memory::Placement::device),
        out_(team.device(), options.batch * options.k) {
    fill();
  }

  [[nodiscard]] LookupFigures run(const LookupCase& lookup) {
    draw(lookup);
    std::vector<EdgeOffset> offsets;
    for (std::uint64_t i = 0; i <= options_.batch; ++i) offsets.push_back(i * lookup.bag);
    LookupFigures mine;
    mine.lookup = lookup;
    const sparse::LookupChoice choice =
        lookup.strategy == "auto"
            ? sparse::choose_lookup(host_.size(), static_cast<double>(lookup.bag), sizeof(T),
                                    !team_.device().is_cuda())
            : sparse::LookupChoice{sparse::parse_lookup_strategy(lookup.strategy), ""};
    mine.strategy = name_of(choice.strategy);
    mine.why = choice.why;
    const auto way = sparse::make_lookup<T>(host_, stream_, offsets, options_.k, choice.strategy);
    memory::Buffer<std::uint64_t> moved(team_.device(), 1);
    exec::fill_bytes(stream_, moved.data(), 0, sizeof(std::uint64_t));
    way->run(table_.view(), indices_.data(), out_.data(), moved.data());
    std::uint64_t sum[] = {moved.to_host(stream_)[0]};
    team_.sum(sum);
    mine.rows_moved = sum[0];
    exec::fill_bytes(stream_, out_.data(), 0xff, out_.bytes());
    stream_.synchronize();
    mine.seconds = timed_repeatedly(team_, options_.repeat, "lookup", [&] {
      way->run(table_.view(), indices_.data(), out_.data());
      team_.barrier();
    });
    double error = options_.verify ? largest_error(lookup.bag) : 0.0;
    if (options_.interact) interact(mine, error);
    mine.error = largest(team_, error);
    mine.is_right = mine.error <= sum_tolerance(options_.type, 1);
    mine.rate =
        rate(static_cast<double>(options_.batch) * static_cast<double>(lookup.bag) * team_.size(),
             median(mine.seconds));
    mine.bytes = mine.rate * static_cast<double>(options_.k * sizeof(T));
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
    graph::detail::DrawStream draws(graph::detail::mix(options_.seed * 0x9e3779b97f4a7c15ull +
                                                       static_cast<std::uint64_t>(team_.rank())));
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
        double sum = 0.0, size = 0.0;
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
  void interact(LookupFigures& mine, double& worst) {
    const std::uint64_t features = options_.features;
    const std::uint64_t samples = options_.batch / features;
    memory::Buffer<float> products(team_.device(),
                                   exec::bytes_of(samples, sparse::pairs_of(features)));
    mine.interact_seconds = timed_repeatedly(team_, options_.repeat, "interact", [&] {
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
          double sum = 0.0, size = 0.0;
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

  const LookupTrialOptions& options_;
  team::Team& team_;
  team::Team& host_;  ///< Over whose ranks the table is spread: each host has all rows.
  exec::Stream stream_;
  memory::GlobalArray<T> table_;
  memory::Buffer<T> out_;
  memory::Buffer<Vertex> indices_;
  std::vector<Vertex> rows_;
};

}  // namespace

void check(const LookupTrialOptions& options, const LookupCase& lookup) {
  check_choice("--strategy", lookup.strategy, {"auto", "pull", "owner-sum", "messages"});
  check_choice("--type", options.type, {"float32", "float16", "bfloat16"});
  require(options.rows > 0 && options.k > 0 && options.batch > 0 && lookup.bag > 0 &&
              options.features > 0,
          "--rows, --k, --batch, --bag and --features should be 1 or more");
  check_skew(lookup.skew);
  check_repeat(options.repeat);
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

std::vector<LookupFigures> measure_lookups(const LookupTrialOptions& options,
                                           const std::vector<LookupCase>& cases) {
  for (const LookupCase& lookup : cases) check(options, lookup);
  const SessionRanks ranks(options.session, options.device, options.devices, true);
  std::vector<LookupFigures> figures(cases.size());
  with_element(options.type, [&](auto kind) {
    ranks.run([&](team::Team& team) {
      LookupRank<decltype(kind)> rank(options, team);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::uint64_t sent = team.bytes_between_hosts();
        LookupFigures mine = rank.run(cases[i]);
        if (team.spans_hosts()) mine.bytes_between_hosts = bytes_between_hosts(team, sent);
        if (team.reports()) figures[i] = std::move(mine);
      }
    });
  });
  return figures;
}

}  // namespace warren::api
