// SPDX-License-Identifier: Apache-2.0
// Throughput of queues under contention (Atos, figure 1): n threads push 10 times each, pop 10
// times each, or push and then pop, on the scheduler's ring, a compare-and-swap queue, a queue with
// a flag for each task in two forms, and that queue's bare minimum. What is popped is checked.
//
//   bench_queue --device cuda --low 10 --high 18 --repeat 20 --out FILE
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/trace.hpp"

#include "queue_cases.hpp"
#include "report.hpp"

namespace warren::bench {
namespace {

struct Options {
  std::string device = "cpu";
  unsigned low = 10, high = 18;
  int threads = 0;
  int repeat = 10;
  std::string out;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        device_(options.device == "cuda" ? exec::Device::cuda(0)
                                         : exec::Device::cpu(options.threads)),
        stream_(device_),
        // Nothing is freed while n threads push: every task has a place.
        places_((std::uint64_t{kTimes} << options.high) * 2),
        tasks_(device_, round_up(places_)),
        segments_(device_, round_up(places_) / schedule::kSegmentTasks),
        flags_(device_, round_up(places_)),
        reader_(device_, 1),
        writer_(device_, 1),
        counters_(device_, 1),
        sum_(device_, 1) {}

  nlohmann::json run() {
    nlohmann::json results = nlohmann::json::array();
    std::vector<WorkerKind> workers{WorkerKind::thread};
    if (device_.is_cuda()) workers = {WorkerKind::warp, WorkerKind::block};
    fmt::print("{:>14} {:>8} {:>8} {:>18} {:>12} {:>12}\n", "operation", "worker", "threads",
               "queue", "us", "Mtasks/s");
    for (const Operation operation : {Operation::push, Operation::pop, Operation::push_and_pop}) {
      for (const WorkerKind worker : workers) {
        for (unsigned log = options_.low; log <= options_.high; ++log) {
          for (const Kind kind : {Kind::ring, Kind::compare_and_swap, Kind::flags,
                                  Kind::eager_flags, Kind::bare_flags})
            results.push_back(measure(operation, worker, kind, std::uint64_t{1} << log));
        }
      }
    }
    return results;
  }

 private:
  static std::uint64_t round_up(std::uint64_t places) {
    std::uint64_t result = schedule::kSegmentTasks;
    while (result < places) result *= 2;
    return result;
  }

  void clear() {
    exec::fill_bytes(stream_, segments_.data(), 0, segments_.bytes());
    exec::fill_bytes(stream_, flags_.data(), 0, flags_.bytes());
    exec::fill_bytes(stream_, reader_.data(), 0, reader_.bytes());
    exec::fill_bytes(stream_, writer_.data(), 0, writer_.bytes());
    exec::fill_bytes(stream_, counters_.data(), 0, counters_.bytes());
    exec::fill_bytes(stream_, sum_.data(), 0, sum_.bytes());
  }

  void launch(Operation operation, WorkerKind worker, Kind kind, std::uint64_t threads) {
    schedule::RingView<std::uint64_t> ring;
    ring.tasks = tasks_.data();
    ring.segments = segments_.data();
    ring.reader = reader_.data();
    ring.writer = writer_.data();
    ring.capacity = places_;
    ring.set_places(round_up(places_));
    exec::with_backend(device_, [&](auto backend) {
      const auto go = [&]<class Queue>(const Queue& queue) {
        QueueBench<decltype(backend), Queue>::run(
            stream_, worker, threads, QueueKernel<Queue>{queue, operation, sum_.data()});
      };
      if (kind == Kind::ring) go(Ring{ring});
      if (kind == Kind::compare_and_swap)
        go(SwapQueue{tasks_.data(), flags_.data(), counters_.data(), ring.mask});
      if (kind == Kind::flags)
        go(FlagQueue<false>{tasks_.data(), flags_.data(), counters_.data(), ring.mask});
      if (kind == Kind::eager_flags)
        go(FlagQueue<true>{tasks_.data(), flags_.data(), counters_.data(), ring.mask});
      if (kind == Kind::bare_flags)
        go(BareFlagQueue{tasks_.data(), flags_.data(), counters_.data(), ring.mask});
    });
  }

  nlohmann::json measure(Operation operation, WorkerKind worker, Kind kind, std::uint64_t threads) {
    const char* const operations[] = {"push", "pop", "push_and_pop"};
    const char* const kinds[] = {"ring", "compare_and_swap", "flags", "eager_flags", "bare_flags"};
    const char* const workers[] = {"thread", "warp", "block"};
    std::vector<double> seconds;
    bool is_right = true;
    const std::uint64_t count = threads * kTimes;
    for (int run = -1; run < options_.repeat; ++run) {
      clear();
      if (operation == Operation::pop) launch(Operation::push, worker, kind, threads);
      stream_.synchronize();
      const double begin = now_seconds();
      launch(operation, worker, kind, threads);
      stream_.synchronize();
      if (run >= 0) seconds.push_back(now_seconds() - begin);
      if (operation != Operation::push)
        is_right = is_right && sum_.to_host(stream_)[0] == count * (count - 1) / 2;
    }
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[sorted.size() / 2];
    const auto o = static_cast<std::size_t>(operation), w = static_cast<std::size_t>(worker),
               k = static_cast<std::size_t>(kind);
    fmt::print("{:>14} {:>8} {:>8} {:>18} {:>12.1f} {:>12.1f}{}\n", operations[o], workers[w],
               threads, kinds[k], median * 1e6, static_cast<double>(count) / median * 1e-6,
               is_right ? "" : "  WRONG");
    return {{"operation", operations[o]}, {"worker", workers[w]},     {"threads", threads},
            {"queue", kinds[k]},          {"seconds", seconds},       {"tasks", count},
            {"is_right", is_right},       {"device", device_.model()}};
  }

  Options options_;
  exec::Device device_;
  exec::Stream stream_;
  std::uint64_t places_;
  memory::Buffer<std::uint64_t> tasks_;
  memory::Buffer<schedule::RingSegment> segments_;
  memory::Buffer<std::uint32_t> flags_;
  memory::Buffer<schedule::RingReader> reader_;
  memory::Buffer<schedule::RingWriter> writer_;
  memory::Buffer<Counters> counters_;
  memory::Buffer<std::uint64_t> sum_;
};

}  // namespace
}  // namespace warren::bench

int main(int argc, char** argv) {
  using namespace warren;
  bench::Options options;
  CLI::App app{"Throughput of queues under contention"};
  app.add_option("--device", options.device, "cpu or cuda");
  app.add_option("--threads", options.threads, "Of the CPU");
  app.add_option("--low", options.low, "Smallest number of threads, as a power of two");
  app.add_option("--high", options.high, "Largest");
  app.add_option("--repeat", options.repeat, "Measurements");
  app.add_option("--out", options.out, "Writes the results as JSON to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    const nlohmann::json results = bench::Bench(options).run();
    bench::write_report(options.out, results,
                        options.device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_queue: {}\n", error.what());
    return 1;
  }
}
