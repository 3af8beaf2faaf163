// SPDX-License-Identifier: Apache-2.0
// The distribution of sampled neighbours: chi-square over a given number of draws for lists of 1 to
// 4096 places of which 1 to 256 are chosen, uniformly and by weights. So many tests have some P
// below 0.001 by chance: all together fail, and it ends with 1, where the least P times their
// number, which bounds the chance of one so small among them (Bonferroni), is 0.001 or less.
//
//   bench_sample_statistics --draws 1000000 --seed 1 --out FILE
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report.hpp"
#include "sample/draw_statistics.hpp"

namespace warren::bench {
namespace {

constexpr double kLeastP = 0.001;

struct Options {
  std::uint64_t draws = 1'000'000;
  std::uint64_t seed = 1;
  std::string out;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  nlohmann::json run() {
    using namespace sample::detail;
    for (std::uint32_t n = 1; n <= 4096; n *= 2) {
      for (std::uint32_t m = 1; m <= 256; m *= 2) {
        // Each place is to be expected five times at least.
        const std::uint64_t trials =
            std::max<std::uint64_t>(options_.draws / m, std::uint64_t{n} * 5 / m + 1);
        const UniformP best = uniform_p(options_.seed, n, m, trials, Algorithm::best);
        const UniformP paper = uniform_p(options_.seed, n, m, trials, Algorithm::path_doubling);
        add("uniform", n, m, trials, best.inclusion);
        add("uniform, path doubling", n, m, trials, paper.inclusion);
        if (trials >= std::uint64_t{n} * 5) add("uniform, last draw", n, m, trials, best.last);
        add("with replacement", n, m, trials, replacement_p(options_.seed, n, m, trials));
        add("weighted with replacement", n, m, trials * 4,
            weighted_replacement_p(options_.seed, n, m, trials * 4));
      }
      for (std::uint32_t m = 1; m <= 256; m *= 2) {
        // Keys are as many as places: this is the slow one.
        const std::uint64_t trials = std::max<std::uint64_t>(options_.draws / n, n * 64);
        const WeightedP weighted = weighted_p(options_.seed, n, m, trials);
        add("weighted, first draw", n, m, trials, weighted.first);
        if (n > 1 && m > 1) add("weighted, second draw", n, m, trials, weighted.second);
      }
    }
    const double family = std::min(1.0, least_ * static_cast<double>(results_.size()));
    return {{"command", fmt::format("bench_sample_statistics --draws {} --seed {}", options_.draws,
                                    options_.seed)},
            {"tests", results_.size()},
            {"least_p", least_},
            {"below", below_},
            {"family_p", family},
            {"passed", family > kLeastP},
            {"results", results_}};
  }

 private:
  void add(const char* what, std::uint32_t n, std::uint32_t m, std::uint64_t trials, double p) {
    least_ = std::min(least_, p);
    if (!(p > kLeastP)) {
      ++below_;
      fmt::print("{}, {} of {}: P = {:.3g}\n", what, m, n, p);
    }
    results_.push_back({{"what", what}, {"n", n}, {"m", m}, {"trials", trials}, {"p", p}});
  }

  Options options_;
  double least_ = 1.0;
  std::uint64_t below_ = 0;  ///< P values of kLeastP and less.
  nlohmann::json results_ = nlohmann::json::array();
};

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"The distribution of sampled neighbours"};
  app.add_option("--draws", options.draws, "Of each test");
  app.add_option("--seed", options.seed, "Of the draws");
  app.add_option("--out", options.out, "Writes the P values as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  const nlohmann::json results = bench::Bench(options).run();
  fmt::print("{} tests, {} of P <= {}, least P {:.3g}, all together {:.3g}\n",
             results["tests"].get<std::size_t>(), results["below"].get<std::size_t>(),
             bench::kLeastP, results["least_p"].get<double>(), results["family_p"].get<double>());
  bench::write_report(options.out, results, exec::DeviceKind::cpu);
  return results["passed"].get<bool>() ? 0 : 1;
}
