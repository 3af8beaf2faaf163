// SPDX-License-Identifier: Apache-2.0
// Every rank fills its part of the table, draws its rows, and gathers them again and again.
#include "warren/api/measure_gather.hpp"

#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/graph/partition.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "api/measured.hpp"

namespace warren::api {
namespace {

memory::OrderOptions order_options(const GatherTrialOptions& options) {
  if (options.order == "auto") return {};
  return {options.order == "sorted" ? memory::RowOrder::sorted : memory::RowOrder::asked};
}

/// What stands in the table: any element tells its row and column, exactly in single precision.
float element(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>((row * 31 + column) & 0xffffff);
}

/// A row of [0, rows): uniformly for a skew of 0, else row r with a probability of about
/// (r + 1)^-skew: the integral of that, inverted.
std::uint64_t row_at(double uniform, double skew, std::uint64_t rows) {
  const auto n = static_cast<double>(rows);
  double place = uniform * n;
  if (skew != 0.0) {
    const double e = 1.0 - skew;
    const double x = std::abs(e) < 1e-9
                         ? std::pow(n + 1.0, uniform)
                         : std::pow(uniform * (std::pow(n + 1.0, e) - 1.0) + 1.0, 1.0 / e);
    place = x - 1.0;
  }
  return std::min(static_cast<std::uint64_t>(place), rows - 1);
}

std::uint64_t random_row(std::uint64_t seed, std::uint64_t i, std::uint64_t rows, double skew) {
  std::uint64_t x = seed * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return row_at(static_cast<double>(x >> 11) * 0x1p-53, skew, rows);
}

/// One rank's work.
class GatherRank {
 public:
  GatherRank(const GatherTrialOptions& options, team::Team& team)
      : options_(options),
        team_(team),
        stream_(team.device()),
        table_(timed_setup(team, setup_seconds_, [&] { return table_of(options, team); })),
        indices_(team.device(), options.count),
        out_(team.device(), options.count * options.k),
        ordered_(order_options(options)) {
    fill();
    if (!options.is_cached()) return;
    team.barrier();
    std::vector<std::uint64_t> hot(options.cached_rows());
    std::iota(hot.begin(), hot.end(), std::uint64_t{0});
    cached_.emplace(team.of_host(), table_, hot, memory::CacheSpread::automatic,
                    order_options(options));
  }

  [[nodiscard]] GatherFigures run() {
    const auto gather = [this] {
      if (options_.strategy == "messages") {
        return exchange_.gather(team_, stream_, table_.view(), indices_.data(), options_.count,
                                out_.data());
      }
      if (cached_) return cached_->gather(stream_, indices_.data(), options_.count, out_.data());
      ordered_.gather(stream_, table_, indices_.data(), options_.count, out_.data());
    };
    (void)slowest_time("gather", gather);  // Warms up.
    GatherFigures mine;
    for (int run = 0; run < options_.repeat; ++run)
      mine.seconds.push_back(slowest_time("gather", gather));
    mine.wrong = options_.verify ? team_.all_reduce(count_wrong(), std::plus<>()) : 0;
    (void)slowest_time("copy", [this] { copy(); });
    double copy_seconds = slowest_time("copy", [this] { copy(); });
    copy_seconds = std::min(copy_seconds, slowest_time("copy", [this] { copy(); }));
    const memory::CacheUse use = cached_ ? cached_->use(stream_) : memory::CacheUse{};
    std::uint64_t sums[] = {use.hits, use.rows};
    team_.sum(sums);
    mine.use = {sums[0], sums[1]};
    mine.steps = exchange_.times();
    mine.is_spread = cached_ && cached_->is_spread();
    mine.setup_seconds = setup_seconds_;
    const std::uint64_t row_bytes = options_.k * sizeof(float);
    mine.is_sorted = ordered_.sorts(team_.device(), options_.rows, row_bytes, options_.count);
    const double bytes = static_cast<double>(options_.count * row_bytes) * team_.size();
    mine.rate = rate(bytes, median(mine.seconds));
    mine.limit = rate(bytes, copy_seconds);
    mine.fraction = rate(mine.rate, mine.limit);
    return mine;
  }

 private:
  /// Every host has all rows, spread over its ranks; of messages they are spread over all ranks.
  [[nodiscard]] static memory::GlobalArray<float> table_of(const GatherTrialOptions& options,
                                                           team::Team& team) {
    if (options.strategy == "messages" && team.spans_hosts())
      return {team, graph::dealt_cuts(options.rows, team.size()), options.k,
              memory::Placement::device, memory::Reach::moved};
    team::Team& host = team.of_host();
    return {host, graph::dealt_cuts(options.rows, host.size()), options.k,
            options.placement == "device" ? memory::Placement::device : memory::Placement::host};
  }

  void fill() {
    const auto& view = table_.view();
    std::vector<float> part;
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / options_.k);
    for (std::uint64_t begin = 0; begin < view.local_rows(); begin += piece) {
      const std::uint64_t end = std::min(view.local_rows(), begin + piece);
      part.resize((end - begin) * options_.k);
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[i] = element(view.first() + begin + i / options_.k, i % options_.k);
      }
      table_.buffer().upload(stream_, part, begin * options_.k);
      stream_.synchronize();
    }
    rows_.resize(options_.count);
    const auto first = static_cast<std::uint64_t>(team_.rank()) * options_.count;
    for (std::uint64_t i = 0; i < options_.count; ++i) {
      rows_[i] = random_row(options_.seed, first + i, options_.rows, options_.skew);
    }
    indices_.upload(stream_, rows_);
    stream_.synchronize();
  }

  template <class Work>
  double slowest_time(const char* name, Work&& work) {
    return slowest(team_, timed(team_, name, [&] {
                     work();
                     stream_.synchronize();
                   }));
  }

  /// Copies an equal share of as many elements from each rank's part, front to back; instead of a
  /// part on another host from the own one.
  void copy() {
    const auto& view = table_.view();
    const std::uint64_t total = options_.count * options_.k;
    const auto ranks = static_cast<std::uint64_t>(view.ranks);
    for (std::uint64_t q = 0; q < ranks; ++q) {
      std::uint64_t at = total / ranks * q;
      const std::uint64_t end = q + 1 == ranks ? total : total / ranks * (q + 1);
      const std::uint64_t from =
          view.base[q] != nullptr ? q : static_cast<std::uint64_t>(view.rank);
      const std::uint64_t available = (view.cuts[from + 1] - view.cuts[from]) * options_.k;
      while (at < end && available > 0) {
        const std::uint64_t elements = std::min(end - at, available);
        copy_piece(out_.data() + at, view.base[from], elements);
        at += elements;
      }
    }
  }
  void copy_piece(float* target, const float* source, std::uint64_t elements) {
    if (team_.device().is_cuda()) {
      exec::copy(stream_, target, source, elements * sizeof(float));
      return;
    }
    // On the CPU a copy of the stream's is one thread's; a gather has all of the rank's.
    const exec::ThreadPool& pool = team_.device().pool();
    const std::uint64_t grain = elements / static_cast<std::uint64_t>(pool.size()) + 1;
    team_.device().pool().parallel_for(
        0, elements, grain, [&](std::uint64_t begin, std::uint64_t end) {
          std::memcpy(target + begin, source + begin, (end - begin) * sizeof(float));
        });
  }

  [[nodiscard]] std::uint64_t count_wrong() const {
    const std::vector<float> values = out_.to_host(stream_);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      wrong += values[i] == element(rows_[i / options_.k], i % options_.k) ? 0 : 1;
    }
    return wrong;
  }

  const GatherTrialOptions& options_;
  team::Team& team_;
  exec::Stream stream_;
  double setup_seconds_ = 0.0;
  memory::GlobalArray<float> table_;
  memory::Buffer<std::uint64_t> indices_;
  memory::Buffer<float> out_;
  std::optional<memory::CachedArray<float>> cached_;
  memory::OrderedGather ordered_;
  sample::ExchangeGather exchange_;
  std::vector<std::uint64_t> rows_;
};

}  // namespace

std::uint64_t GatherTrialOptions::cached_rows() const {
  return std::min(cached.value_or(rows / 10), rows);
}

void check(const GatherTrialOptions& options) {
  check_choice("--placement", options.placement, {"device", "host", "cached"});
  check_choice("--strategy", options.strategy, {"direct", "messages"});
  check_choice("--order", options.order, {"auto", "asked", "sorted"});
  require(options.rows > 0 && options.k > 0 && options.count > 0,
          "--rows, --k and --count should be 1 or more");
  check_skew(options.skew);
  check_repeat(options.repeat);
  require(options.order == "auto" || options.placement != "device",
          "--order is of rows in host memory: give --placement host or cached too");
  require(options.order != "sorted" || options.count < kNoVertex,
          "--order sorted is for a --count below 2^32 - 1");
  require(options.strategy == "direct" || options.placement == "device",
          "--strategy messages gathers from the devices' memory: leave --placement out");
  require(!options.cached || options.is_cached(),
          "--cached is of rows in host memory: give --placement cached too");
  require(options.rows < kNoVertex || !options.is_cached(),
          "--placement cached is for fewer than 2^32 - 1 rows");
  const auto fits = [](std::uint64_t a, std::uint64_t b) { return a <= kMostElements / b; };
  require(
      fits(options.rows, options.k) && fits(options.count, options.k),
      fmt::format("--rows {}, --count {}: with --k {} there are more than 2^48 elements; ask for "
                  "fewer",
                  options.rows, options.count, options.k));
}

GatherFigures measure_gather(const GatherTrialOptions& options) {
  check(options);
  const SessionRanks ranks(options.session, options.device, options.devices, true);
  GatherFigures figures;
  const std::uint64_t bytes = ranks.run([&](team::Team& team) {
    GatherFigures mine = GatherRank(options, team).run();
    if (team.reports()) figures = std::move(mine);
  });
  figures.bytes_between_hosts = bytes;
  return figures;
}

}  // namespace warren::api
