// SPDX-License-Identifier: Apache-2.0
// Gathers batches of rows of a table in host memory, uniform and skewed ones, as asked and in the
// order of addresses, without and with the most wanted rows cached on the device; beside the
// sequential read of the same memory. Prints GB/s of gathered rows.
//
//   bench_host_gather --device cuda --out FILE
#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/memory/cached_array.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "host_gather_cases.hpp"
#include "run_benchmark.hpp"

namespace warren::bench {
namespace {

using memory::RowOrder;

struct Options {
  std::string device = "cpu";
  int threads = 0;
  std::uint64_t table_bytes = std::uint64_t{8} << 30;
  std::uint64_t rows = std::uint64_t{1} << 20;
  std::uint64_t row_bytes = 512;
  double skew = 1.1;
  double cached = 0.1;
  std::uint64_t bytes_in_flight = memory::OrderOptions{}.bytes_in_flight;
  int repeat = 15;
  std::string out;

  [[nodiscard]] std::uint64_t table_rows() const { return table_bytes / row_bytes; }
  [[nodiscard]] std::uint64_t width() const { return row_bytes / 4; }
};

enum class Drawn { sequential, uniform, zipf };

const char* name_of(Drawn drawn) {
  if (drawn == Drawn::sequential) return "sequential";
  return drawn == Drawn::uniform ? "uniform" : "zipf";
}
const char* name_of(RowOrder order) {
  if (order == RowOrder::automatic) return "auto";
  return order == RowOrder::asked ? "asked" : "sorted";
}

/// The table, and what is measured on it.
template <class Backend>
class Bench {
 public:
  Bench(team::Team& team, const Options& options)
      : options_(options),
        team_(team),
        stream_(team.device()),
        table_(team, std::vector<std::uint64_t>{0, options.table_rows()}, options.width(),
               memory::Placement::host),
        indices_(team.device(), options.rows),
        out_(team.device(), options.rows * options.width()),
        expected_(team.device(), options.rows * options.width()) {
    fill_words<Backend>(stream_, table_.local_data(), table_.local_size(), 0);
    stream_.synchronize();
  }

  nlohmann::json run() {
    results_ = nlohmann::json::array();
    measure_copy();
    measure(Drawn::sequential, RowOrder::asked);
    for (const Drawn drawn : {Drawn::uniform, Drawn::zipf}) {
      for (const RowOrder order : {RowOrder::asked, RowOrder::sorted, RowOrder::automatic})
        measure(drawn, order);
    }
    for (const RowOrder order : {RowOrder::asked, RowOrder::sorted, RowOrder::automatic})
      measure_cached(order);
    return results_;
  }

 private:
  /// Batch b of the kind, the same for every order.
  void draw(Drawn drawn, int b) {
    const std::uint64_t rows = options_.table_rows();
    const std::uint64_t seed = static_cast<std::uint64_t>(b + 1) << 40;
    if (drawn == Drawn::uniform)
      return draw_rows<Backend>(stream_, indices_.data(), options_.rows, rows, seed);
    if (drawn == Drawn::zipf)
      return draw_zipf<Backend>(stream_, indices_.data(), options_.rows, rows, seed, options_.skew);
    count_rows<Backend>(stream_, indices_.data(), options_.rows, rows,
                        static_cast<std::uint64_t>(b) * options_.rows);
  }

  /// Of the median batch. Another batch each time; the first, which takes memory, does not count,
  /// and is compared with a plain gather.
  template <class Gather>
  double gigabytes_per_second(Drawn drawn, Gather&& gather) {
    std::vector<double> seconds;
    for (int b = 0; b <= options_.repeat; ++b) {
      draw(drawn, b);
      exec::Event begin(stream_.device()), end(stream_.device());
      begin.record(stream_);
      gather();
      end.record(stream_);
      stream_.synchronize();
      if (b > 0) seconds.push_back(end.seconds_since(begin));
      if (b == 0) check();
    }
    std::sort(seconds.begin(), seconds.end());
    const auto bytes = static_cast<double>(options_.rows * options_.row_bytes);
    return bytes / seconds[seconds.size() / 2] * 1e-9;
  }

  void check() {
    memory::gather(stream_, table_.view(), indices_.data(), options_.rows, expected_.data());
    const std::uint64_t piece = std::min<std::uint64_t>(out_.size(), 1 << 22);
    std::vector<std::uint32_t> got(piece), expected(piece);
    for (const std::uint64_t first : {std::uint64_t{0}, out_.size() - piece}) {
      out_.download(stream_, got, first);
      expected_.download(stream_, expected, first);
      stream_.synchronize();
      require(got == expected, "the rows gathered are not the table's");
    }
  }

  void measure_copy() {
    std::vector<double> seconds;
    const std::uint64_t bytes = std::min(out_.bytes(), options_.table_bytes);
    for (int i = 0; i <= options_.repeat; ++i) {
      exec::Event begin(stream_.device()), end(stream_.device());
      begin.record(stream_);
      exec::copy(stream_, out_.data(), table_.local_data(), bytes);
      end.record(stream_);
      stream_.synchronize();
      seconds.push_back(end.seconds_since(begin));
    }
    std::sort(seconds.begin(), seconds.end());
    add("copy", "", static_cast<double>(bytes) / seconds[seconds.size() / 2] * 1e-9, {});
  }

  void measure(Drawn drawn, RowOrder order) {
    memory::OrderedGather ordered({order, options_.bytes_in_flight});
    const double rate = gigabytes_per_second(drawn, [&] {
      ordered.gather(stream_, table_, indices_.data(), options_.rows, out_.data());
    });
    add(name_of(drawn), name_of(order), rate, {});
  }

  void measure_cached(RowOrder order) {
    const auto cached =
        static_cast<std::uint64_t>(options_.cached * static_cast<double>(options_.table_rows()));
    std::vector<std::uint64_t> hot(cached);
    for (std::uint64_t rank = 0; rank < cached; ++rank)
      hot[rank] = row_of_rank(rank, options_.table_rows());
    memory::CachedArray<std::uint32_t> array(team_, table_, hot, memory::CacheSpread::automatic,
                                             {order, options_.bytes_in_flight});
    const double rate = gigabytes_per_second(
        Drawn::zipf, [&] { array.gather(stream_, indices_.data(), options_.rows, out_.data()); });
    add(name_of(Drawn::zipf), name_of(order), rate, array.use(stream_).hit_rate());
  }

  void add(const char* drawn, const char* order, double rate, std::optional<double> hit_rate) {
    nlohmann::json result = {{"rows", drawn}, {"gigabytes_per_second", rate}};
    if (*order != '\0') result["order"] = order;
    result["placement"] = hit_rate ? "cached" : "host";
    if (hit_rate) result["hit_rate"] = *hit_rate;
    fmt::print("{:10} {:6} {:6} {:8.1f} GB/s{}\n", drawn, hit_rate ? "cached" : "host", order, rate,
               hit_rate ? fmt::format(", {:.1f}% cached", 100.0 * *hit_rate) : "");
    results_.push_back(std::move(result));
  }

  const Options& options_;
  team::Team& team_;
  exec::Stream stream_;
  memory::GlobalArray<std::uint32_t> table_;
  memory::Buffer<std::uint64_t> indices_;
  memory::Buffer<std::uint32_t> out_;
  memory::Buffer<std::uint32_t> expected_;
  nlohmann::json results_;
};

nlohmann::json measure(team::Team& team, const Options& options) {
  require(options.row_bytes % 4 == 0 && options.rows > 0 && options.repeat > 0 &&
              options.table_rows() > 0 && options.table_rows() < kScatter,
          "rows are of whole words, and a table has from 1 to some 2^31 of them");
  require(options.skew != 1.0 && options.cached >= 0.0 && options.cached <= 1.0,
          "--skew is not 1, and --cached is from 0 to 1");
  nlohmann::json results;
  exec::with_backend(team.device(), [&](auto backend) {
    results = Bench<decltype(backend)>(team, options).run();
  });
  return {{"benchmark", "host_gather"},         {"check", "the rows gathered are the table's"},
          {"device", options.device},           {"model", team.device().model()},
          {"table_bytes", options.table_bytes}, {"row_bytes", options.row_bytes},
          {"rows_per_call", options.rows},      {"skew", options.skew},
          {"cached", options.cached},           {"bytes_in_flight", options.bytes_in_flight},
          {"repeat", options.repeat},           {"results", results}};
}

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Gathers random rows from host memory"};
  app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--threads", options.threads, "CPU threads; 0: all");
  app.add_option("--table-bytes", options.table_bytes, "Bytes of the table");
  app.add_option("--rows", options.rows, "Rows of a batch");
  app.add_option("--row-bytes", options.row_bytes, "Bytes of a row")->check(CLI::PositiveNumber);
  app.add_option("--skew", options.skew, "Of the skewed batches: Zipf's exponent");
  app.add_option("--cached", options.cached, "Part of the rows that is cached, the most wanted");
  app.add_option("--bytes-in-flight", options.bytes_in_flight,
                 "Of host memory, in sorted gathers of GPUs");
  app.add_option("--repeat", options.repeat, "Batches measured");
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  return bench::run_benchmark("bench_host_gather", options.device, {.threads = options.threads},
                              options.out,
                              [&](team::Team& team) { return bench::measure(team, options); });
}
