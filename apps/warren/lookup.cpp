// SPDX-License-Identifier: Apache-2.0
// warren lookup: how fast bags of rows of a table over all ranks are summed.
#include "warren/sparse/lookup.hpp"

#include <cmath>
#include <memory>

#include "warren/core/error.hpp"
#include "warren/graph/draw.hpp"

#include "command.hpp"
#include "sparse_input.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 48;  // Elements of the table and of a batch.

struct LookupCommand {
  CommonOptions common;
  std::uint64_t rows = 1'000'000;
  std::uint64_t k = 64;
  std::uint64_t batch = 4096;
  std::uint64_t bag = 32;
  double skew = 0.0;
  std::string strategy = "auto";
  std::string type = "float32";
  bool verify = false;
};

struct LookupOutcome {
  std::vector<double> seconds;
  std::uint64_t rows_moved = 0;
  double error = 0.0;
};

/// Small whole numbers, so that sums of any order are exact in float32.
float element(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(static_cast<std::int64_t>((row * 31 + column) % 17) - 8);
}

template <class T>
class LookupRank {
 public:
  LookupRank(const LookupCommand& command, team::Team& team)
      : command_(command),
        team_(team),
        stream_(team.device()),
        table_(team, graph::dealt_cuts(command.rows, team.size()), command.k,
               memory::Placement::device),
        out_(team.device(), command.batch * command.k) {
    fill();
  }

  void run(LookupOutcome& outcome) {
    std::vector<EdgeOffset> offsets;
    for (std::uint64_t i = 0; i <= command_.batch; ++i) offsets.push_back(i * command_.bag);
    const sparse::BagLookup lookup(stream_, offsets);
    memory::Buffer<std::uint64_t> moved(team_.device(), 1);
    LookupOutcome mine;
    mine.seconds = timed_runs(team_, command_.common.repeat, "lookup", [&] {
      exec::fill_bytes(stream_, moved.data(), 0, sizeof(std::uint64_t));
      lookup.run(stream_, table_.view(), indices_.data(), out_.data(), moved.data());
      stream_.synchronize();
      team_.barrier();
    });
    std::uint64_t sum[] = {moved.to_host(stream_)[0]};
    team_.sum(sum);
    mine.rows_moved = sum[0];
    if (command_.verify) mine.error = largest(team_, largest_error());
    team_.barrier();
    if (team_.rank() == 0) outcome = mine;
  }

 private:
  void fill() {
    const auto& view = table_.view();
    const std::uint64_t k = command_.k;
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20) / k);
    std::vector<T> part;
    for (std::uint64_t begin = 0; begin < view.local_rows(); begin += piece) {
      const std::uint64_t end = std::min(view.local_rows(), begin + piece);
      part.resize((end - begin) * k);
      for (std::size_t i = 0; i < part.size(); ++i)
        part[i] = from_float<T>(element(view.first() + begin + i / k, i % k));
      table_.buffer().upload(stream_, part, begin * k);
      stream_.synchronize();
    }
    graph::detail::DrawStream draws(graph::detail::mix(
        command_.common.seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(team_.rank())));
    rows_.resize(command_.batch * command_.bag);
    for (Vertex& row : rows_) {
      const double place = std::pow(draws.uniform(), 1.0 + command_.skew);
      const auto drawn = static_cast<std::uint64_t>(place * static_cast<double>(command_.rows));
      row = static_cast<Vertex>(std::min(drawn, command_.rows - 1));
    }
    indices_ = memory::Buffer<Vertex>(team_.device(), rows_.size());
    indices_.upload(stream_, rows_);
    stream_.synchronize();
    team_.barrier();
  }

  [[nodiscard]] double largest_error() const {
    const std::vector<T> found = out_.to_host(stream_);
    double worst = 0.0;
    for (std::uint64_t i = 0; i < command_.batch; ++i) {
      for (std::uint64_t c = 0; c < command_.k; ++c) {
        double sum = 0.0;
        double size = 0.0;
        for (std::uint64_t j = i * command_.bag; j < (i + 1) * command_.bag; ++j) {
          const auto term = static_cast<double>(element(rows_[j], c));
          sum += term;
          size += std::abs(term);
        }
        const double off = std::abs(static_cast<double>(to_float(found[i * command_.k + c])) - sum);
        const double error = off == 0.0 ? 0.0 : off / size;
        if (!(error <= worst)) worst = error;
      }
    }
    return worst;
  }

  const LookupCommand& command_;
  team::Team& team_;
  exec::Stream stream_;
  memory::GlobalArray<T> table_;
  memory::Buffer<T> out_;
  memory::Buffer<Vertex> indices_;
  std::vector<Vertex> rows_;
};

void check(const LookupCommand& command) {
  check_choice("--strategy", command.strategy, {"auto", "pull"}, {"owners", "all-to-all"});
  check_choice("--type", command.type, {"float32", "float16", "bfloat16"}, {});
  require(command.rows <= kMost / command.k && command.batch <= kMost / command.k &&
              command.batch <= kMost / command.bag,
          fmt::format("--rows {}, --batch {}, --bag {}: with --k {} there are more than 2^48 "
                      "elements; ask for fewer",
                      command.rows, command.batch, command.bag, command.k));
  require(command.skew >= 0.0 && command.skew <= 100.0, "--skew should be from 0 to 100");
}

ExitStatus run_lookup(const LookupCommand& command) {
  check(command);
  Session session("lookup", command.common);
  LookupOutcome outcome;
  std::uint64_t element_bytes = 0;
  {
    const auto progress = session.progress("looking up");
    with_element(command.type, [&](auto kind) {
      element_bytes = sizeof kind;
      team::run_team(session.team(), [&](team::Team& team) {
        LookupRank<decltype(kind)>(command, team).run(outcome);
      });
    });
  }
  const double middle = median(outcome.seconds);
  const double lookups = static_cast<double>(command.batch) * static_cast<double>(command.bag) *
                         static_cast<double>(session.team().ranks);
  const double rate = middle > 0.0 ? lookups / middle : 0.0;
  const double bytes = rate * static_cast<double>(command.k * element_bytes);
  const bool is_right = outcome.error <= sparse_tolerance(command.type, 1);
  Json& json = session.json();
  json["seconds"] = outcome.seconds;
  json["rows"] = command.rows;
  json["k"] = command.k;
  json["batch"] = command.batch;
  json["bag"] = command.bag;
  json["skew"] = command.skew;
  json["type"] = command.type;
  json["strategy"] = "pull";
  json["lookups_per_second"] = rate;
  json["bytes_per_second"] = bytes;
  json["rows_moved"] = outcome.rows_moved;
  json["max_relative_error"] = command.verify ? Json(outcome.error) : Json(nullptr);
  json["verified"] = command.verify ? Json(is_right) : Json(nullptr);

  Table table;
  table.row("table", fmt::format("{} of {} {}", counted(command.rows, "row", "rows"), command.k,
                                 command.type));
  table.row("looked up",
            fmt::format("{} of {} on each of {}", counted(command.batch, "bag", "bags"),
                        counted(command.bag, "row", "rows"), session.place()));
  table.row("time", duration(middle));
  table.row("rate", fmt::format("{}rows/s, {}B/s of table rows, all ranks together",
                                with_prefix(rate), with_prefix(bytes)));
  table.row("moved", counted(outcome.rows_moved, "row", "rows"));
  if (command.verify) table.row("verified", is_right ? "yes, every element" : "NO");
  session.print("{}", table.text());
  session.finish();
  if (!command.verify || is_right) return ExitStatus::done;
  fmt::print(stderr, "warren: error: the sums are off by {:.3g} of their terms' sizes\n",
             outcome.error);
  return ExitStatus::not_verified;
}

}  // namespace

void add_lookup(CLI::App& program, Action& action) {
  auto command = std::make_shared<LookupCommand>();
  CLI::App* lookup =
      program.add_subcommand("lookup", "Sums of bags of rows of a table over all ranks");
  add_number(*lookup, "--rows", command->rows, "Rows of the table (1000000)", "N", 1, kMaxVertices);
  add_number(*lookup, "--k", command->k, "Elements of a row (64)", "K", 1, std::uint64_t{1} << 24);
  add_number(*lookup, "--batch", command->batch, "Bags that each rank looks up (4096)", "B", 1,
             kMaxVertices);
  add_number(*lookup, "--bag", command->bag, "Rows of a bag (32)", "L", 1, kMost);
  lookup
      ->add_option("--skew", command->skew,
                   "0: rows are drawn uniformly; row number (a uniform one)^(1 + skew) otherwise")
      ->type_name("S");
  lookup->add_option("--type", command->type, "Storage: float32, float16, bfloat16")
      ->type_name("TYPE");
  lookup->add_option("--strategy", command->strategy, "auto, pull (rows are read where they lie)")
      ->type_name("NAME");
  lookup->add_flag("--verify", command->verify, "Look at every element (exit status 4)");
  add_common_options(*lookup, command->common);
  lookup->footer("Example:\n  warren lookup --rows 1000000 --k 64 --batch 4096 --bag 32 --verify");
  lookup->callback([command, &action] { action = [command] { return run_lookup(*command); }; });
}

}  // namespace warren::app
