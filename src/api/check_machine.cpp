// SPDX-License-Identifier: Apache-2.0
// The checks of a machine. Each is a function that returns what is wrong, empty for nothing;
// answers of searches are checked by the calls' own verifiers, those of the others against a
// formula. Graphs and tables are small: all of it is to take less than a minute.
#include "warren/api/check_machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/api/measure_gather.hpp"
#include "warren/api/measure_lookups.hpp"
#include "warren/api/measure_products.hpp"
#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/stop.hpp"
#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/processes.hpp"
#include "warren/warren.hpp"

#include "api/teams.hpp"

namespace warren {
namespace {

/// Where checks run.
struct CheckPlace {
  std::vector<exec::Device> devices;
  Session session;
  DeviceKind kind = DeviceKind::cpu;
  int ranks = 1;
};

CheckPlace place_of(const CheckOptions& options) {
  require(team::Processes::current() == nullptr,
          "check_machine: ranks that are processes are not there yet: start one process, with a "
          "number of devices");
  require(options.devices >= 0,
          fmt::format("devices: got {}, expected 1 or more, or 0 to choose", options.devices));
  CheckPlace place{{}, api::session_of(options.session)};
  const api::Teams& teams = *place.session.teams();
  place.kind = teams.kind(options.device);
  place.ranks = options.devices != 0 ? options.devices : teams.devices();
  if (place.ranks == 0) place.ranks = check_ranks(place.kind);
  if (place.kind == DeviceKind::cpu) {
    place.devices.push_back(exec::Device::cpu(1));
    return place;
  }
  const int gpus = std::max(1, exec::cuda_device_count());  // Without one the first says why.
  for (int i = 0; i < gpus; ++i) place.devices.push_back(exec::Device::cuda(i));
  return place;
}

constexpr std::uint64_t kWords = std::uint64_t{1} << 22;  // 16 MiB.

std::uint32_t word_of(std::uint64_t i) { return static_cast<std::uint32_t>(i * 2654435761u + 7); }

std::vector<std::uint32_t> pattern() {
  std::vector<std::uint32_t> words(kWords);
  for (std::uint64_t i = 0; i < kWords; ++i) words[i] = word_of(i);
  return words;
}

std::string compare(const std::vector<std::uint32_t>& found) {
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    if (found[i] != word_of(i)) {
      return fmt::format("word {} of {} is {:#010x}, and should be {:#010x}", i, found.size(),
                         found[i], word_of(i));
    }
  }
  return {};
}

/// What a verifier said.
std::string wrong_of(const RunInfo& info) {
  if (!info.verdict) return "it was not verified";
  return info.verdict->correct ? "" : info.verdict->message;
}

class Checks {
 public:
  explicit Checks(const CheckPlace& place) : place_(place) {
    if (const char* fault = std::getenv("WARREN_CHECK_FAULT"); fault != nullptr) fault_ = fault;
  }

  [[nodiscard]] std::vector<CheckResult> run() {
    for (const exec::Device& device : place_.devices) {
      one("memory", device.name(), [&] { return memory(device); });
      one("copies", device.name(), [&] { return copies(device); });
    }
    for (const exec::Device& from : place_.devices) {
      for (const exec::Device& to : place_.devices) {
        if (!(from == to))
          one("peers", from.name() + " to " + to.name(), [&] { return peers(from, to); });
      }
    }
    graph_ = read("kron:10", reading());
    for (const int ranks : place_.ranks == 1 ? std::vector{1} : std::vector{1, place_.ranks})
      algorithms(ranks);
    require(fault_.empty() || is_fault_met_,
            fmt::format("WARREN_CHECK_FAULT: got \"{}\"; give the first word of a check: {}",
                        printable(fault_), fmt::join(names_, ", ")));
    return std::move(results_);
  }

 private:
  using Check = std::function<std::string()>;

  [[nodiscard]] ReadOptions reading() const {
    ReadOptions options;
    options.symmetrize = true;
    options.drop_self_loops = true;
    options.weights = "uniform:1:64";
    options.session = place_.session;
    return options;
  }

  void one(const std::string& name, const std::string& where, const Check& check) {
    check_stop();
    is_spoilt_ = name == fault_;
    is_fault_met_ = is_fault_met_ || is_spoilt_;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    CheckResult result;
    result.name = fmt::format("{}, {}", name, where);
    const double begin = now_seconds();
    try {
      result.message = check();
      if (is_spoilt_ && result.message.empty())
        result.message = "WARREN_CHECK_FAULT spoilt this check's answer";
    } catch (const UsageError& error) {
      result.message = error.what();
      if (result.message.find("cannot address the") != std::string::npos)
        result.verdict = CheckVerdict::unavailable;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      result.message = error.what();
    }
    if (!result.message.empty() && result.verdict == CheckVerdict::passed)
      result.verdict = CheckVerdict::failed;
    result.seconds = now_seconds() - begin;
    results_.push_back(std::move(result));
  }

  /// A device keeps what it was given.
  [[nodiscard]] std::string memory(const exec::Device& device) const {
    const exec::Stream stream(device);
    memory::Buffer<std::uint32_t> buffer(device, kWords);
    std::vector<std::uint32_t> words = pattern();
    if (is_spoilt_) words[kWords / 2] ^= 1u;
    buffer.upload(stream, words);
    return compare(buffer.to_host(stream));
  }
  /// Through memory that a GPU reads in place, and within the device.
  [[nodiscard]] std::string copies(const exec::Device& device) const {
    const exec::Stream stream(device);
    memory::Buffer<std::uint32_t> pinned(device, memory::MemoryKind::pinned, kWords);
    memory::Buffer<std::uint32_t> first(device, kWords), second(device, kWords);
    const std::vector<std::uint32_t> words = pattern();
    std::copy(words.begin(), words.end(), pinned.data());
    first.upload(stream, {pinned.data(), kWords});
    exec::copy(stream, second.data(), first.data(), second.bytes());
    stream.synchronize();
    std::fill(pinned.data(), pinned.data() + kWords, 0u);
    second.download(stream, {pinned.data(), kWords});
    stream.synchronize();
    return compare({pinned.data(), pinned.data() + kWords});
  }
  /// From one GPU's memory to another's.
  [[nodiscard]] std::string peers(const exec::Device& from, const exec::Device& to) const {
    const exec::Stream here(from), there(to);
    memory::Buffer<std::uint32_t> source(from, kWords), target(to, kWords);
    const std::vector<std::uint32_t> words = pattern();
    source.upload(here, words);
    here.synchronize();
    exec::copy(here, target.data(), source.data(), target.bytes());
    here.synchronize();
    return compare(target.to_host(there));
  }

  template <class Options>
  [[nodiscard]] Options asked(int ranks) const {
    Options options;
    options.device = place_.kind;
    options.devices = ranks;
    options.session = place_.session;
    return options;
  }
  template <class Options>
  [[nodiscard]] Options verified(int ranks) const {
    auto options = asked<Options>(ranks);
    options.run.verify = true;
    return options;
  }

  void algorithms(int ranks) {
    const std::string where = ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks);
    const auto add = [&](const char* name, const Check& check) { one(name, where, check); };
    add("barriers", [&] { return barriers(ranks); });
    searches(ranks, add);
    add("components", [&] {
      return wrong_of(connected_components(*graph_, verified<ComponentsOptions>(ranks)).info);
    });
    add("betweenness", [&] {
      auto options = verified<BetweennessOptions>(ranks);
      options.sample = 4;
      return wrong_of(betweenness(*graph_, options).info);
    });
    add("core",
        [&] { return wrong_of(core_numbers(*graph_, verified<CoreNumbersOptions>(ranks)).info); });
    add("triangles",
        [&] { return wrong_of(triangles(*graph_, verified<TrianglesOptions>(ranks)).info); });
    products(ranks, add);
    tables(ranks, add);
    add("sample", [&] { return sample(ranks); });
    add("train", [&] { return training(ranks, "full"); });
    add("train-sampled", [&] { return training(ranks, "sampled"); });
  }

  /// Hundreds of levels, with a barrier of all ranks and all their threads after each.
  [[nodiscard]] std::string barriers(int ranks) const {
    ReadOptions plain;
    plain.session = place_.session;
    auto options = verified<BfsOptions>(ranks);
    options.mode = Mode::synchronous;
    const BfsResult found = bfs(read("grid:400x3", plain), options);
    if (found.max_depth != 401) return fmt::format("depth {}, should be 401", found.max_depth);
    return wrong_of(found.info);
  }

  void searches(int ranks, const std::function<void(const char*, const Check&)>& add) {
    const Vertex source = busiest_vertex(*graph_);
    for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
      const bool is_async = mode == Mode::asynchronous;
      add(is_async ? "bfs-async" : "bfs", [&] {
        auto options = verified<BfsOptions>(ranks);
        options.source = source;
        options.mode = mode;
        return wrong_of(bfs(*graph_, options).info);
      });
      add(is_async ? "sssp-async" : "sssp", [&] {
        auto options = verified<SsspOptions>(ranks);
        options.source = source;
        options.mode = mode;
        return wrong_of(sssp(*graph_, options).info);
      });
      add(is_async ? "pagerank-async" : "pagerank", [&] {
        auto options = verified<PageRankOptions>(ranks);
        options.mode = mode;
        return wrong_of(pagerank(*graph_, options).info);
      });
    }
  }

  void products(int ranks, const std::function<void(const char*, const Check&)>& add) {
    const auto right = [](const api::ProductFigures& figures) {
      return figures.is_right
                 ? std::string()
                 : fmt::format("error {:g}, above {:g}", figures.error, figures.tolerance);
    };
    for (const bool is_spmm : {true, false}) {
      add(is_spmm ? "spmm" : "sddmm", [&] {
        const api::MeasuredMatrix matrix(*graph_, asked<api::MatrixOptions>(ranks));
        api::ProductOptions options;
        options.strategy = "staged";
        options.verify = true;
        return right(is_spmm ? matrix.spmm(options) : matrix.sddmm(options));
      });
    }
  }

  void tables(int ranks, const std::function<void(const char*, const Check&)>& add) {
    add("gather", [&] {
      auto options = asked<api::GatherTrialOptions>(ranks);
      options.rows = options.count = 10'000;
      options.verify = true;
      const std::uint64_t wrong = api::measure_gather(options).wrong;
      return wrong == 0 ? std::string() : fmt::format("{} elements are not the table's", wrong);
    });
    add("lookup", [&] {
      auto options = asked<api::LookupTrialOptions>(ranks);
      options.rows = 10'000;
      options.batch = 512;
      options.verify = true;
      const auto found = api::measure_lookups(options, {api::LookupCase{}});
      return found.at(0).is_right ? std::string() : fmt::format("error {:g}", found[0].error);
    });
  }

  /// Every neighbour of a vertex is drawn where that many are asked for.
  [[nodiscard]] std::string sample(int ranks) const {
    auto options = asked<SampleOptions>(ranks);
    const Vertex seed = busiest_vertex(*graph_);
    options.seeds = {seed};
    options.fanouts = {-1};
    const SampleResult found = sample_neighbours(*graph_, options);
    const graph::Graph& csr = graph_->csr();
    const EdgeOffset degree = csr.offsets[seed + 1] - csr.offsets[seed];
    const std::uint64_t drawn = found.layers.at(0).targets.size();
    return drawn == degree ? std::string()
                           : fmt::format("{} of {} neighbours were drawn", drawn, degree);
  }

  /// A model learns: its loss falls.
  [[nodiscard]] std::string training(int ranks, const char* mode) const {
    DatasetOptions reading;
    reading.graph.session = place_.session;
    reading.features = 16;
    reading.classes = 4;
    const Dataset dataset = read_dataset("community:1000,10", reading);
    auto options = asked<TrainOptions>(ranks);
    options.mode = mode;
    options.hidden = 16;
    options.epochs = 10;
    const TrainResult found = train(dataset, options);
    const double first = found.history.front().loss, last = found.history.back().loss;
    return std::isfinite(last) && last < first
               ? std::string()
               : fmt::format("the loss went from {:g} to {:g} in {} epochs", first, last,
                             found.history.size());
  }

  const CheckPlace& place_;
  std::string fault_;
  bool is_spoilt_ = false;
  bool is_fault_met_ = false;
  std::vector<std::string> names_;
  std::optional<Graph> graph_;
  std::vector<CheckResult> results_;
};

}  // namespace

const char* name_of(CheckVerdict verdict) {
  constexpr const char* kNames[] = {"passed", "failed", "unavailable"};
  return kNames[static_cast<std::size_t>(verdict)];
}

int check_ranks(DeviceKind kind) {
  return kind == DeviceKind::cpu ? 2 : std::min(exec::cuda_device_count(), kMaxRanks);
}

std::vector<CheckResult> check_machine(const CheckOptions& options) {
  const CheckPlace place = place_of(options);
  return Checks(place).run();
}

}  // namespace warren
