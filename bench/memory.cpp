// SPDX-License-Identifier: Apache-2.0
// What memory costs to take and to give back, from the driver and from its stream-ordered pools:
// blocks of some sizes, and the first BFS of a new session, which takes all that a search holds.
// On the CPU there is the system's memory alone.
#include "warren/exec/memory.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/warren.hpp"

#include "report.hpp"

namespace {

using namespace warren;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Where memory comes from; no resource: the driver, or the system.
struct Source {
  std::string name;
  std::shared_ptr<exec::MemoryResource> resource;
};

/// Of blocks that are written to and waited for, one after the other: the block before is back.
nlohmann::json time_blocks(const Source& source, const exec::Device& device, std::uint64_t bytes,
                           int repeat) {
  const exec::Stream stream(device);
  std::vector<double> taken, given;
  for (int i = 0; i < repeat; ++i) {
    const double begin = now_seconds();
    void* const block = exec::allocate(device, exec::MemoryKind::device, bytes);
    const double has = now_seconds();
    exec::fill_bytes(stream, block, i, bytes);
    stream.synchronize();
    const double done = now_seconds();
    exec::deallocate(device, exec::MemoryKind::device, block, bytes);
    given.push_back(now_seconds() - done);
    taken.push_back(has - begin);
  }
  nlohmann::json row{{"memory", source.name},
                     {"block_bytes", bytes},
                     {"allocate_seconds", median(taken)},
                     {"deallocate_seconds", median(given)},
                     {"first_allocate_seconds", taken.front()},
                     {"repeat", repeat}};
  fmt::print("{:>7}: {:3d} MiB  allocate {:8.1f} us (the first {:.1f}), deallocate {:8.1f} us\n",
             source.name, bytes >> 20, median(taken) * 1e6, taken.front() * 1e6,
             median(given) * 1e6);
  return row;
}

/// Of new sessions: the first call has the graph's part to make and memory to take, the second one
/// has all it needs.
nlohmann::json time_sessions(const Source& source, DeviceKind kind, int threads,
                             const std::string& name, int sessions) {
  const Graph graph = read(name);
  std::vector<double> first, second, closing;
  std::uint64_t reached = 0;
  for (int i = 0; i < sessions; ++i) {
    Session session({.device = kind, .threads = threads, .memory = source.resource});
    const auto call = [&] {
      const double begin = now_seconds();
      reached = bfs(graph, {.source = 0, .devices = 1, .session = session}).reached;
      return now_seconds() - begin;
    };
    first.push_back(call());
    second.push_back(call());
    const double begin = now_seconds();
    session.close();
    closing.push_back(now_seconds() - begin);
  }
  fmt::print(
      "{:>7}: {} in a new session: first BFS {:.3f} ms (of the first session {:.3f}), "
      "second {:.3f} ms, close {:.3f} ms\n",
      source.name, name, median(first) * 1e3, first.front() * 1e3, median(second) * 1e3,
      median(closing) * 1e3);
  return {{"memory", source.name},
          {"graph", name},
          {"check", {{"reached", reached}}},
          {"first_seconds", median(first)},
          {"very_first_seconds", first.front()},
          {"second_seconds", median(second)},
          {"close_seconds", median(closing)},
          {"repeat", sessions}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What memory costs to take and to give back: the driver's, and its pools'");
  std::string graph = "kron:18", device = "cuda", out;
  std::vector<std::uint64_t> sizes{1, 64};
  int threads = 0, repeat = 200, sessions = 15;
  app.add_option("graph", graph, "A generator or a file (kron:18)");
  app.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--sizes", sizes, "Of blocks, in MiB (1 64)")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "Of the CPU (all)");
  app.add_option("--repeat", repeat, "Blocks of each size (200)")->check(CLI::PositiveNumber);
  app.add_option("--sessions", sessions, "New sessions (15)")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "A file for the results as JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    const DeviceKind kind = device == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
    std::vector<Source> sources{{kind == DeviceKind::cuda ? "driver" : "system", nullptr}};
    if (kind == DeviceKind::cuda) sources.push_back({"pool", exec::pool_resource()});
    nlohmann::json rows = nlohmann::json::array();
    for (const Source& source : sources) {
      const exec::Device one =
          (kind == DeviceKind::cuda ? exec::Device::cuda(0) : exec::Device::cpu(threads))
              .with_memory(source.resource);
      for (const std::uint64_t size : sizes)
        rows.push_back(time_blocks(source, one, size << 20, repeat));
      rows.push_back(time_sessions(source, kind, threads, graph, sessions));
    }
    bench::write_report(out, rows, kind);
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
