// SPDX-License-Identifier: Apache-2.0
// warren gather: how fast random rows come out of an array that is spread over the team, and how
// near that is to plain copies of as many bytes from the same places.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/memory/ordered_gather.hpp"
#include "warren/sample/exchange_gather.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "session.hpp"
#include "setup_time.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMostValues = std::uint64_t{1}
                                      << 48;  // Elements of the table and of what is gathered.

struct GatherCommand {
  CommonOptions common;
  std::uint64_t rows = 1'000'000;
  std::uint64_t k = 64;
  std::uint64_t count = 1'000'000;
  std::string placement = "device";
  std::string strategy = "direct";
  std::string order = "auto";
  std::optional<std::uint64_t> cached;  ///< Rows; not given: a tenth.
  double skew = 0.0;                    ///< Of Zipf's law; 0: uniform.
  bool verify = false;

  [[nodiscard]] std::uint64_t bytes() const { return count * k * sizeof(float); }
  [[nodiscard]] bool is_cached() const { return placement == "cached"; }
  [[nodiscard]] memory::OrderOptions order_options() const {
    if (order == "auto") return {};
    return {order == "sorted" ? memory::RowOrder::sorted : memory::RowOrder::asked};
  }
  [[nodiscard]] std::uint64_t cached_rows() const {
    return std::min(cached.value_or(rows / 10), rows);
  }
};

/// What the ranks find together, filled by rank 0.
struct GatherOutcome {
  std::vector<double> seconds;
  double copy_seconds = 0.0;
  std::uint64_t wrong = 0;  ///< Elements that are not the table's.
  memory::CacheUse use;     ///< Of all ranks.
  sample::ExchangeGatherTimes steps;
  bool is_spread = false;  ///< The cached rows are dealt out over the devices.
  double setup_seconds = 0.0;
  bool is_sorted = false;  ///< Rows in host memory were read in the order of addresses.
};

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

std::vector<std::uint64_t> equal_cuts(std::uint64_t rows, int parts) {
  std::vector<std::uint64_t> cuts;
  const auto count = static_cast<std::uint64_t>(parts);
  for (std::uint64_t p = 0; p <= count; ++p)
    cuts.push_back(rows / count * p + rows % count * p / count);
  return cuts;
}

/// One rank's work.
class GatherRank {
 public:
  GatherRank(const GatherCommand& command, team::Team& team)
      : command_(command),
        team_(team),
        stream_(team.device()),
        table_(timed_setup(team, setup_seconds_,
                           [&] {
                             return memory::GlobalArray<float>(
                                 team, equal_cuts(command.rows, team.size()), command.k,
                                 command.placement == "device" ? memory::Placement::device
                                                               : memory::Placement::host);
                           })),
        indices_(team.device(), command.count),
        out_(team.device(), command.count * command.k),
        ordered_(command.order_options()) {
    fill();
    if (!command.is_cached()) return;
    team.barrier();
    std::vector<std::uint64_t> hot(command.cached_rows());
    std::iota(hot.begin(), hot.end(), std::uint64_t{0});
    cached_.emplace(team, table_, hot, memory::CacheSpread::automatic, command.order_options());
  }

  void run(GatherOutcome& outcome) {
    const auto gather = [this] {
      if (command_.strategy == "messages") {
        return exchange_.gather(team_, stream_, table_.view(), indices_.data(), command_.count,
                                out_.data());
      }
      if (cached_) return cached_->gather(stream_, indices_.data(), command_.count, out_.data());
      ordered_.gather(stream_, table_, indices_.data(), command_.count, out_.data());
    };
    (void)timed("gather", gather);  // Warms up.
    std::vector<double> seconds(static_cast<std::size_t>(command_.common.repeat));
    for (double& time : seconds) time = timed("gather", gather);
    const std::uint64_t wrong =
        command_.verify ? team_.all_reduce(count_wrong(), std::plus<std::uint64_t>()) : 0;
    (void)timed("copy", [this] { copy(); });
    double copy_seconds = timed("copy", [this] { copy(); });
    copy_seconds = std::min(copy_seconds, timed("copy", [this] { copy(); }));
    std::uint64_t sums[] = {0, 0};
    if (cached_) {
      const memory::CacheUse use = cached_->use(stream_);
      sums[0] = use.hits;
      sums[1] = use.rows;
    }
    team_.sum(sums);
    if (team_.rank() == 0) {
      outcome = {std::move(seconds),
                 copy_seconds,
                 wrong,
                 {sums[0], sums[1]},
                 exchange_.times(),
                 cached_ && cached_->is_spread(),
                 setup_seconds_,
                 ordered_.sorts(team_.device(), command_.rows, command_.k * sizeof(float),
                                command_.count)};
    }
  }

 private:
  void fill() {
    const auto& view = table_.view();
    std::vector<float> part;
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / command_.k);
    for (std::uint64_t begin = 0; begin < view.local_rows(); begin += piece) {
      const std::uint64_t end = std::min(view.local_rows(), begin + piece);
      part.resize((end - begin) * command_.k);
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[i] = element(view.first() + begin + i / command_.k, i % command_.k);
      }
      table_.buffer().upload(stream_, part, begin * command_.k);
      stream_.synchronize();
    }
    rows_.resize(command_.count);
    const auto first = static_cast<std::uint64_t>(team_.rank()) * command_.count;
    for (std::uint64_t i = 0; i < command_.count; ++i) {
      rows_[i] = random_row(command_.common.seed, first + i, command_.rows, command_.skew);
    }
    indices_.upload(stream_, rows_);
    stream_.synchronize();
  }

  template <class Work>
  double timed(const char* name, Work&& work) {
    team_.barrier();
    const double begin = now_seconds();
    work();
    stream_.synchronize();
    const double end = now_seconds();
    trace_span(name, team_.rank(), begin, end);
    return team_.all_reduce(end - begin, exec::Maximum{});
  }

  /// Copies an equal share of as many elements from each rank's part, front to back.
  void copy() {
    const auto& view = table_.view();
    const std::uint64_t total = command_.count * command_.k;
    const auto ranks = static_cast<std::uint64_t>(view.ranks);
    for (std::uint64_t q = 0; q < ranks; ++q) {
      std::uint64_t at = total / ranks * q;
      const std::uint64_t end = q + 1 == ranks ? total : total / ranks * (q + 1);
      const std::uint64_t available = (view.cuts[q + 1] - view.cuts[q]) * command_.k;
      while (at < end && available > 0) {
        const std::uint64_t elements = std::min(end - at, available);
        copy_piece(out_.data() + at, view.base[q], elements);
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
      wrong += values[i] == element(rows_[i / command_.k], i % command_.k) ? 0 : 1;
    }
    return wrong;
  }

  const GatherCommand& command_;
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

void check(const GatherCommand& command) {
  check_choice("--placement", command.placement, {"device", "host", "cached"}, {});
  check_choice("--strategy", command.strategy, {"direct", "messages"}, {});
  check_choice("--order", command.order, {"auto", "asked", "sorted"}, {});
  require(command.order == "auto" || command.placement != "device",
          "--order is of rows in host memory: give --placement host or cached too");
  require(command.order != "sorted" || command.count < kNoVertex,
          "--order sorted is for a --count below 2^32 - 1");
  require(command.strategy == "direct" || command.placement == "device",
          "--strategy messages gathers from the devices' memory: leave --placement out");
  require(!command.cached || command.is_cached(),
          "--cached is of rows in host memory: give --placement cached too");
  require(command.rows < kNoVertex || !command.is_cached(),
          "--placement cached is for fewer than 2^32 - 1 rows");
  const auto fits = [](std::uint64_t a, std::uint64_t b) { return a <= kMostValues / b; };
  require(
      fits(command.rows, command.k) && fits(command.count, command.k),
      fmt::format("--rows {}, --count {}: with --k {} there are more than 2^48 elements; ask for "
                  "fewer",
                  command.rows, command.count, command.k));
}

ExitStatus run_gather(const GatherCommand& command) {
  check(command);
  Session session("gather", command.common);
  GatherOutcome outcome;
  {
    const auto progress = session.progress("gathering");
    team::run_team(session.team(),
                   [&](team::Team& team) { GatherRank(command, team).run(outcome); });
  }
  const double ranks = session.team().ranks;
  const double bytes = static_cast<double>(command.bytes()) * ranks;
  const double middle = median(outcome.seconds);
  const double rate = middle > 0.0 ? bytes / middle : 0.0;
  const double limit = outcome.copy_seconds > 0.0 ? bytes / outcome.copy_seconds : 0.0;
  const double fraction = limit > 0.0 ? rate / limit : 0.0;

  Json& json = session.json();
  json["seconds"] = outcome.seconds;
  json["setup_seconds"] = outcome.setup_seconds;
  json["rows"] = command.rows;
  json["k"] = command.k;
  json["count"] = command.count;
  json["placement"] = command.placement;
  json["strategy"] = command.strategy;
  json["skew"] = command.skew;
  if (command.placement != "device") json["order"] = outcome.is_sorted ? "sorted" : "asked";
  json["bytes_per_second"] = rate;
  json["limit_bytes_per_second"] = limit;
  json["fraction_of_limit"] = fraction;
  if (command.strategy == "messages") {
    json["breakdown"] = {{"bucket", outcome.steps.bucket},
                         {"exchange_rows", outcome.steps.exchange_rows},
                         {"gather", outcome.steps.gather},
                         {"exchange_data", outcome.steps.exchange_data},
                         {"reorder", outcome.steps.reorder}};
  }
  if (command.is_cached()) {
    json["cached_rows"] = command.cached_rows();
    json["cached_on"] = outcome.is_spread ? "spread" : "replicated";
    json["hit_rate"] = outcome.use.hit_rate();
  }
  json["verified"] = command.verify ? Json(outcome.wrong == 0) : Json(nullptr);

  Table table;
  table.row("table", fmt::format("{} of {} floats, in {} memory ({}B)",
                                 counted(command.rows, "row", "rows"), command.k, command.placement,
                                 with_prefix(static_cast<double>(command.rows * command.k) * 4.0)));
  table.row("gathered", fmt::format("{} on each of {}", counted(command.count, "row", "rows"),
                                    session.place()));
  table.row("time", duration(middle));
  table.row("bandwidth", fmt::format("{}B/s, all ranks together", with_prefix(rate)));
  table.row("limit", fmt::format("{}B/s, plain copies from the same places: {:.0f} % of it",
                                 with_prefix(limit), 100.0 * fraction));
  if (command.is_cached()) {
    table.row("cached", fmt::format("{}, {} of the rows gathered were among them",
                                    counted(command.cached_rows(), "row", "rows"),
                                    percent(outcome.use.hits, outcome.use.rows)));
  }
  if (command.verify) table.row("verified", outcome.wrong == 0 ? "yes, every element" : "NO");
  session.print("{}", table.text());
  session.finish();
  if (outcome.wrong == 0) return ExitStatus::done;
  print_error(fmt::format("{} gathered elements are not the table's", outcome.wrong));
  return ExitStatus::not_verified;
}

}  // namespace

void add_gather(CLI::App& program, Action& action) {
  auto command = std::make_shared<GatherCommand>();
  CLI::App* gather = add_command(program, "gather", "Random rows of an array over all ranks");
  add_number(*gather, "--rows", command->rows, "Rows of the table (1000000)", "N", 1, kMostValues);
  add_number(*gather, "--k", command->k, "Floats of a row (64)", "K", 1, kMostValues);
  add_number(*gather, "--count", command->count, "Rows that each rank gathers (1000000)", "C", 1,
             kMostValues);
  gather
      ->add_option("--placement", command->placement,
                   "Where the table lives: device, host, cached (host memory, with the first rows "
                   "on the devices)")
      ->type_name("WHERE");
  gather
      ->add_option(
          "--strategy", command->strategy,
          "direct (rows are read where they lie), messages (asked of their ranks and sent, "
          "for comparison)")
      ->type_name("NAME");
  gather
      ->add_option("--order", command->order,
                   "Of --placement host and cached: auto, asked, sorted (rows in host memory are "
                   "read in the order of addresses)")
      ->type_name("ORDER");
  add_number(*gather, "--cached", command->cached,
             "Of --placement cached: rows on the devices (a tenth)", "R", 0, kMostValues);
  gather
      ->add_option("--skew", command->skew,
                   "0: rows are drawn uniformly; S: by Zipf's law, row r with (r + 1)^-S")
      ->type_name("S")
      ->check(real_number(0.0, 100.0));
  gather->add_flag("--verify", command->verify, "Look at every element (exit status 4)");
  add_common_options(*gather, command->common);
  gather->footer("Example:\n  warren gather --rows 1000000 --k 64 --count 200000 --placement host");
  gather->callback([command, &action] { action = [command] { return run_gather(*command); }; });
}

}  // namespace warren::app
