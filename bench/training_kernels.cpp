// SPDX-License-Identifier: Apache-2.0
// What training does beside products, each alone: sums over columns, epilogues forward and
// backward, batch norm, copies of rows, and attention on a generated graph. Prints milliseconds,
// the bytes that must move at least, and GB/s of those.
//
//   bench_training_kernels --device cuda --graph community:2449029,25.2586392 --columns 256 --heads
//   4
//   --repeat 20 --out FILE
#include <algorithm>
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/generate.hpp"
#include "warren/learn/attention.hpp"
#include "warren/learn/norm.hpp"

#include "report.hpp"

namespace warren::bench {
namespace {

struct Options {
  std::string device = "cpu";
  std::string graph = "community:100000,8";
  std::uint64_t columns = 256;
  std::uint64_t heads = 4;
  int repeat = 10;
  std::string out;
};

class Bench {
 public:
  Bench(team::Team& team, const Options& options)
      : options_(options), team_(team), context_(team), stream_(context_.stream()) {}

  nlohmann::json run() {
    const auto spec = graph::parse_generator(options_.graph, 1);
    if (!spec) throw UsageError(fmt::format("\"{}\" is no generator", options_.graph));
    exec::ThreadPool& pool = team_.device().pool();
    const graph::BuildOptions build{.symmetrize = true, .drop_self_loops = true};
    learn::GraphPair graphs;
    graphs.out = graphs.in = std::make_shared<const graph::Graph>(
        graph::build(*graph::make_source(*spec), graph::effective_options(*spec, build), pool));
    n_ = graphs.out->vertices;
    graphs.cuts = {0, n_};
    context_.set_rows(n_, nullptr);
    context_.begin(1, 1, true);
    rows();
    attention(graphs);
    return {{"command",
             fmt::format("bench_training_kernels --device {} --graph {} --columns {} --heads {} "
                         "--repeat {}",
                         options_.device, options_.graph, options_.columns, options_.heads,
                         options_.repeat)},
            {"device", team_.device().name()},
            {"rows", n_},
            {"columns", options_.columns},
            {"results", results_}};
  }

 private:
  /// Random numbers, again and again the same million.
  [[nodiscard]] memory::Buffer<float> matrix(std::uint64_t size) const {
    memory::Buffer<float> buffer(team_.device(), size);
    std::vector<float> values(std::min(size, std::uint64_t{1} << 20));
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = learn::uniform(learn::random_key(1, 2, 3), i) - 0.5f;
    for (std::uint64_t i = 0; i < size; i += values.size())
      exec::copy(stream_, buffer.data() + i, values.data(),
                 std::min<std::uint64_t>(values.size(), size - i) * sizeof(float));
    stream_.synchronize();
    return buffer;
  }

  /// `passes`: of n x columns matrices, read or written; `bytes` beside them.
  void measure(const char* what, double passes, double bytes, const std::function<void()>& work) {
    work();
    double best = 1e30;
    exec::Event begin(team_.device()), end(team_.device());
    for (int i = 0; i < options_.repeat; ++i) {
      begin.record(stream_);
      work();
      end.record(stream_);
      stream_.synchronize();
      best = std::min(best, end.seconds_since(begin));
    }
    const double moved =
        passes * static_cast<double>(n_ * options_.columns) * sizeof(float) + bytes;
    results_.push_back({{"what", what},
                        {"milliseconds", best * 1e3},
                        {"bytes", moved},
                        {"gigabytes_per_second", moved / best * 1e-9}});
    fmt::print("{:<40} {:>9.3f} ms {:>8.0f} GB/s\n", what, best * 1e3, moved / best * 1e-9);
  }

  void rows() {
    const std::uint64_t k = options_.columns;
    const auto x = matrix(n_ * k), y = matrix(n_ * k), bias = matrix(k), sums = matrix(k);
    const auto scale = matrix(n_);
    learn::ColumnSums adder;
    learn::Epilogue relu{.bias = bias.data(), .activation = learn::Activation::relu};
    measure("column sums", 1, 0,
            [&] { adder.add(stream_, {.k = k, .a = x.data()}, n_, sums.data()); });
    measure("bias, ReLU", 2, 0, [&] { apply(stream_, relu, n_, k, y.data()); });
    relu.dropout = context_.dropout(0.5f, 1);
    measure("bias, ReLU, dropout", 2, 0, [&] { apply(stream_, relu, n_, k, y.data()); });
    measure("their gradients and the bias's", 3, 0,
            [&] { adder.apply_backward(stream_, relu, n_, k, y.data(), x.data(), sums.data()); });
    learn::Epilogue elu = relu;
    elu.activation = learn::Activation::elu;
    measure("bias, ELU, dropout", 2, 0, [&] { apply(stream_, elu, n_, k, y.data()); });
    measure("dropout", 2, 0,
            [&] { learn::drop(stream_, relu.dropout, n_, k, x.data(), y.data()); });
    measure("scaled rows", 2, 0,
            [&] { learn::scale_rows(stream_, n_, k, k, scale.data(), x.data(), y.data()); });
    learn::Parameters parameters;
    learn::Norm norm(parameters, learn::NormKind::batch, "norm", k);
    parameters.allocate(stream_, 1);
    float* input = norm.input(context_, n_, y.data()).as<float>();
    exec::copy(stream_, input, x.data(), x.bytes());
    measure("batch norm, bias, ReLU, dropout", 3, 0,
            [&] { norm.forward(context_, relu, n_, y.data()); });
    measure("their gradients, all", 7, 0,
            [&] { norm.backward(context_, relu, n_, y.data(), x.data(), sums.data()); });
  }

  void attention(const learn::GraphPair& graphs) {
    const std::uint64_t k = options_.columns, heads = options_.heads;
    const learn::Neighbourhood neighbourhood(team_, stream_, graphs);
    learn::Attention attention(neighbourhood, {.heads = heads, .width = k / heads});
    const auto z = matrix(n_ * k), y = matrix(n_ * k), dz = matrix(n_ * k);
    const auto left = matrix(k), right = matrix(k), r = matrix(n_ * heads);
    const auto dl = matrix(n_ * heads), dr = matrix(n_ * heads);
    const auto m = static_cast<double>(graphs.out->offsets[n_]);
    // A row and a column's number for each edge, and what of each head is read beside them.
    const double gather = m * static_cast<double>(k * sizeof(float) + sizeof(Vertex));
    const double head_bytes = m * static_cast<double>(heads * sizeof(float));
    for (const float p : {0.0f, 0.5f}) {
      const learn::Dropout dropout = context_.dropout(p, 2);
      measure(p == 0.0f ? "attention" : "attention, dropout", 4, gather + head_bytes, [&] {
        attention.forward(context_, dropout, z.data(), left.data(), right.data(), nullptr, r.data(),
                          y.data());
      });
      measure(p == 0.0f ? "attention backward" : "attention backward, dropout", 9,
              gather + 4 * head_bytes, [&] {
                attention.backward(context_, dropout, z.data(), left.data(), right.data(), nullptr,
                                   r.data(), y.data(), dz.data(), dl.data(), dr.data());
              });
    }
  }

  Options options_;
  team::Team& team_;
  learn::Context context_;
  const exec::Stream& stream_;
  std::uint64_t n_ = 0;
  nlohmann::json results_ = nlohmann::json::array();
};

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"What training does beside products"};
  app.add_option("--device", options.device)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--graph", options.graph, "A generator; its vertices are the rows");
  app.add_option("--columns", options.columns);
  app.add_option("--heads", options.heads, "They divide the columns");
  app.add_option("--repeat", options.repeat);
  app.add_option("--out", options.out);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto kind = options.device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
    team::run_team({kind, 1, 0}, [&](team::Team& team) {
      const nlohmann::json result = bench::Bench(team, options).run();
      bench::write_report(options.out, result, kind);
    });
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
