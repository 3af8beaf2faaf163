// SPDX-License-Identifier: Apache-2.0
// What the copies of one warren::DistributedGraph share, and what its ranks hold of the matrix. A
// call begins with what each rank wants of it: where that does not go together nobody has begun,
// and all ranks refuse alike.
#include "warren/api/distributed_graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/exec/memory.hpp"
#include "warren/sparse/distributed_matrix.hpp"
#include "warren/team/processes.hpp"

#include "api/arrive.hpp"
#include "api/call.hpp"
#include "api/library_words.hpp"
#include "api/own_shard.hpp"
#include "api/product_way.hpp"

namespace warren::api {
namespace {

enum class What : std::uint32_t { make, multiply, multiply_transposed, pull, push, refuse };

std::string_view name_of(What what) {
  constexpr std::array<std::string_view, 6> kNames{"makes a distributed graph",
                                                   "multiplies",
                                                   "multiplies by the transpose",
                                                   "pulls",
                                                   "pushes",
                                                   "refuses"};
  return kNames.at(static_cast<std::size_t>(what));
}

/// What a rank wants of a call. Trivially copyable.
struct Asked {
  What what = What::make;
  std::int32_t gpu = -1;  ///< Of the arrays.
  std::uint64_t k = 1;
  std::uint64_t options = 0;  ///< A hash of what the graph is made with.
  std::uint64_t read = 0, reads = 0, written = 0, writes = 0;  ///< Elements: given, and expected.
  std::int32_t own_gpu = -1;                                   ///< The rank's device.
};

/// What is wrong with an array of rank q; empty: nothing.
std::string complaint(std::string_view array, std::size_t q, std::uint64_t size,
                      std::uint64_t expected, std::uint64_t k) {
  if (size == expected) return {};
  return fmt::format("{}: rank {} gives {} numbers, expected {} rows of {}", array, q, size,
                     expected / k, k);
}

/// What is wrong with rank q's wish beside rank 0's.
std::string complaint(std::size_t q, const Asked& asked, const Asked& first) {
  if (asked.what != first.what)
    return fmt::format("the ranks make different calls: rank {} {}, rank 0 {}", q,
                       name_of(asked.what), name_of(first.what));
  if (asked.options != first.options)
    return fmt::format("strategy, weighted: rank {} and rank 0 give different ones", q);
  if (asked.k != first.k)
    return fmt::format("k: rank {} has {} columns, rank 0 {}", q, asked.k, first.k);
  if (asked.k == 0) return "k: got 0, expected one column or more";
  const bool reads_halo = asked.what == What::push, writes_halo = asked.what == What::pull;
  std::string found =
      complaint(reads_halo ? "halo_rows" : "x", q, asked.read, asked.reads, asked.k);
  if (found.empty())
    found = complaint(writes_halo ? "halo_rows" : "y", q, asked.written, asked.writes, asked.k);
  if (!found.empty() || asked.gpu < 0 || asked.gpu == asked.own_gpu) return found;
  return fmt::format("place: rank {}'s arrays are on GPU {}, expected {} or host memory", q,
                     asked.gpu,
                     asked.own_gpu < 0 ? "none: the rank runs on the CPU"
                                       : fmt::format("GPU {}, the rank's", asked.own_gpu));
}

/// Why the ranks' wishes do not go together, the same text on all ranks; empty: they do. `reason`:
/// of who refuses. Collective.
std::string disagreement(team::Team& team, Asked mine, const std::string& reason) {
  mine.own_gpu = team.device().is_cuda() ? team.device().index() : -1;
  const std::vector<Asked> all = team.all_gather(mine);
  if (std::ranges::count(all, What::refuse, &Asked::what) > 0) {
    for (const auto& told : team.all_gather_v(std::span<const char>(reason)))
      if (!told.empty()) return {told.begin(), told.end()};
  }
  for (std::size_t q = 0; q < all.size(); ++q) {
    std::string found = complaint(q, all[q], all.front());
    if (!found.empty()) return found;
  }
  return {};
}

/// One way of products, and how they are made.
struct OneWay {
  std::unique_ptr<sparse::DistributedMatrix> matrix;
  bool is_set = false;  ///< The strategy.
};

/// What one rank holds.
struct RankParts {
  explicit RankParts(team::Team& team) : stream(team.device()) {}
  exec::Stream stream;
  OneWay out, in;              ///< Of A, and of its transpose; `in` is empty where they are one.
  memory::Buffer<float> x, y;  ///< As the ranks read each other's, and for arrays elsewhere.
};

}  // namespace

class DistributedState {
 public:
  DistributedState(const Graph& graph, const DistributedGraphOptions& options)
      : number_(next_owner()),
        graph_(graph),
        options_(options),
        teams_(session_of(options.session).teams()) {
    if (options.strategy != "auto") (void)sparse::parse_strategy(options.strategy);
    const exec::KeepCurrentDevice current;
    RunInfo info;
    place_ = place_of(*teams_, options.device, 0, info, options.gpu);
    require(place_.ranks == 1 || team::Processes::current() != nullptr,
            fmt::format("session: its {} ranks are of one process, which has one caller: start a "
                        "process for each rank (torchrun, mpirun), or take a session of one rank",
                        place_.ranks));
    if (!has_own_rows()) {
      cut_ = graph.state()->source(place_.ranks, Edges::device, GraphState::InEdges::host, teams_);
      is_symmetric_ = cut_->in == cut_->out;
    }
    const std::size_t method = std::hash<std::string>{}(options.strategy);
    run({.what = What::make, .options = method * 2 + (options.weighted ? 1 : 0)},
        [](team::Team&, RankParts&) {});
  }
  ~DistributedState() { teams_->forget(number_); }
  DistributedState(const DistributedState&) = delete;
  DistributedState& operator=(const DistributedState&) = delete;

  [[nodiscard]] std::uint64_t vertices() const { return graph_.vertices(); }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::span<const Vertex> halo() const { return halo_; }
  [[nodiscard]] std::string strategy(bool transpose) const {
    return strategy_[transpose && !is_symmetric_ ? 1 : 0];
  }

  void multiply(const ArrayPlace& place, std::span<const float> x, std::span<float> y,
                std::uint64_t k, bool transpose) {
    const What what = transpose ? What::multiply_transposed : What::multiply;
    const Asked asked = wish(what, place, k, {x.size(), rows_}, {y.size(), rows_});
    run(asked, [&](team::Team& team, RankParts& parts) {
      OneWay& way = way_of(team, parts, transpose && !is_symmetric_);
      if (!way.is_set) set_way(team, parts, way, k, strategy_[&way == &parts.in ? 1 : 0]);
      meet(team, parts, [&] {
        const float* const here = bring(parts, place, x);
        write(parts, place, y, [&](float* out) {
          way.matrix->multiply<float>(parts.stream,
                                      {.x = here, .x_stride = k, .y = out, .y_stride = k, .k = k});
        });
      });
    });
  }

  void pull(const ArrayPlace& place, std::span<const float> x, std::span<float> halo_rows,
            std::uint64_t k) {
    const Asked asked =
        wish(What::pull, place, k, {x.size(), rows_}, {halo_rows.size(), halo_.size()});
    run(asked, [&](team::Team& team, RankParts& parts) {
      meet(team, parts, [&] {
        const void* const pulled =
            parts.out.matrix->pull(parts.stream, bring(parts, place, x), k * sizeof(float));
        exec::copy(parts.stream, halo_rows.data(), pulled, halo_rows.size_bytes());
      });
    });
  }

  void push(const ArrayPlace& place, std::span<const float> halo_rows, std::span<float> y,
            std::uint64_t k) {
    const Asked asked =
        wish(What::push, place, k, {halo_rows.size(), halo_.size()}, {y.size(), rows_});
    run(asked, [&](team::Team& team, RankParts& parts) {
      meet(team, parts, [&] {
        const float* const here = bring(parts, place, halo_rows);
        write(parts, place, y,
              [&](float* out) { parts.out.matrix->push(parts.stream, here, out, k); });
      });
    });
  }

  void refuse(const std::string& reason) {
    run(
        {.what = What::refuse}, [](team::Team&, RankParts&) {}, reason);
  }

 private:
  struct Size {
    std::uint64_t given, rows;
  };
  static Asked wish(What what, const ArrayPlace& place, std::uint64_t k, Size read, Size written) {
    return {.what = what,
            .gpu = place.gpu,
            .k = k,
            .read = read.given,
            .reads = read.rows * k,
            .written = written.given,
            .writes = written.rows * k};
  }

  /// Runs `work` on the rank. Throws UsageError where the ranks do not agree. Collective.
  void run(const Asked& asked, const std::function<void(team::Team&, RankParts&)>& work,
           const std::string& reason = {}) {
    told_in_library_words([&] {
      std::string refusal;
      teams_->run(place_, number_, [&](team::Team& team, RankStore& store) {
        refusal = disagreement(team, asked, reason);
        if (!refusal.empty()) return;
        std::shared_ptr<void>& kept = store[{number_, 0}];
        if (kept == nullptr) {
          refusal = difference(team);
          if (!refusal.empty()) return;
          kept = make(team);
        }
        work(team, *static_cast<RankParts*>(kept.get()));
      });
      require(refusal.empty(), refusal);
    });
  }

  /// Whether each rank reads or draws its own rows alone.
  [[nodiscard]] bool has_own_rows() const {
    return graph_.state()->is_by_ranges() && are_in_ranges({});
  }

  /// What is refused on all ranks alike: graphs that are not the same. Has the rank's own rows read
  /// or drawn.
  std::string difference(team::Team& team) {
    try {
      if (has_own_rows()) {
        own_ = own_shard(team, *graph_.state(), {}, true);
        is_symmetric_ = own_->is_symmetric;
      } else if (team.spans_processes()) {
        check_same_graph(team, *cut_);
      }
      return {};
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  std::shared_ptr<RankParts> make(team::Team& team) {
    auto parts = std::make_shared<RankParts>(team);
    const sparse::DistributedMatrix& matrix = *way_of(team, *parts, false).matrix;
    first_ = matrix.first();
    rows_ = matrix.rows();
    halo_ = matrix.halo_ids();
    return parts;
  }

  /// A's matrix or its transpose's, made where it is not there. Collective.
  OneWay& way_of(team::Team& team, RankParts& parts, bool is_turned) {
    OneWay& way = is_turned ? parts.in : parts.out;
    if (way.matrix != nullptr) return way;
    const sparse::Rows rows =
        sparse::make_rows(team, shard_of(team, is_turned), {}, options_.weighted);
    way.matrix = std::make_unique<sparse::DistributedMatrix>(team, parts.stream, rows);
    return way;
  }

  /// Of A or its transpose, without in-edges. Collective.
  [[nodiscard]] graph::Shard shard_of(team::Team& team, bool is_turned) const {
    if (!own_)
      return graph::make_shard(team, {is_turned ? cut_->in : cut_->out, nullptr, cut_->cuts});
    graph::Shard shard = *own_;
    if (is_turned) {
      shard.out = shard.in;
      shard.out_storage = shard.in_storage;
    }
    return shard;
  }

  /// Chooses how products are made. Collective.
  void set_way(team::Team& team, const RankParts& parts, OneWay& way, std::uint64_t k,
               std::string& name) const {
    way.is_set = true;
    name = "local";
    if (!way.matrix->is_shared()) return;
    sparse::DistributedOptions chosen;
    if (options_.strategy != "auto") {
      chosen = named_way(team, options_.strategy);
    } else {
      const sparse::Rows rows = way.matrix->rows_on_host(parts.stream);
      memory::GlobalArray<float> b(team, rows.cuts, k, memory::Placement::device,
                                   memory::Reach::moved);
      const memory::Buffer<float> c(team.device(), exec::bytes_of(rows.count, k));
      chosen = measured_way(team, parts.stream, rows, b, c.data());
    }
    way.matrix->set_strategy<float>(chosen);
    name = sparse::name_of(chosen.strategy);
  }

  /// Runs `work`, in which ranks read each other's arrays, to its end on the device. Collective.
  template <class Work>
  static void meet(team::Team& team, const RankParts& parts, Work&& work) {
    team.with_peer_memory([&] {
      team.barrier();
      work();
      parts.stream.synchronize();
      team.barrier();
    });
  }

  /// A copy of the caller's array in memory that ranks show to each other.
  static const float* bring(RankParts& parts, const ArrayPlace& place,
                            std::span<const float> array) {
    float* const here = memory::at_least(parts.stream, parts.x, array.size());
    if (place.gpu >= 0) parts.stream.wait(place.gpu, place.stream);
    exec::copy(parts.stream, here, array.data(), array.size_bytes());
    return here;
  }

  /// Calls work(out) with where the device writes the caller's array, or a copy of it.
  template <class Work>
  static void write(RankParts& parts, const ArrayPlace& place, std::span<float> array,
                    Work&& work) {
    const ArrayView<float> given(array.data(), array.size(), place.gpu, place.stream);
    if (is_in_place(parts.stream.device(), given)) return work(array.data());
    float* const here = memory::at_least(parts.stream, parts.y, array.size());
    work(here);
    exec::copy(parts.stream, array.data(), here, array.size_bytes());
  }

  const std::uint64_t number_;
  const Graph graph_;
  const DistributedGraphOptions options_;
  const std::shared_ptr<Teams> teams_;
  Place place_;
  std::shared_ptr<const CutGraph> cut_;  ///< Where each process has the whole graph;
  std::optional<graph::Shard> own_;      ///< where not, this one's rows.
  bool is_symmetric_ = false;
  std::uint64_t first_ = 0, rows_ = 0;
  std::vector<Vertex> halo_;
  std::array<std::string, 2> strategy_;  ///< Of A and its transpose.
};

}  // namespace warren::api

namespace warren {

DistributedGraph::DistributedGraph(const Graph& graph, const DistributedGraphOptions& options)
    : state_(std::make_shared<api::DistributedState>(graph, options)) {}

std::uint64_t DistributedGraph::vertices() const { return state_->vertices(); }
std::uint64_t DistributedGraph::first() const { return state_->first(); }
std::uint64_t DistributedGraph::rows() const { return state_->rows(); }
std::span<const Vertex> DistributedGraph::halo() const { return state_->halo(); }
std::string DistributedGraph::strategy(bool transpose) const { return state_->strategy(transpose); }

void DistributedGraph::multiply(const ArrayPlace& place, std::span<const float> x,
                                std::span<float> y, std::uint64_t k, bool transpose) const {
  state_->multiply(place, x, y, k, transpose);
}
void DistributedGraph::pull(const ArrayPlace& place, std::span<const float> x,
                            std::span<float> halo_rows, std::uint64_t k) const {
  state_->pull(place, x, halo_rows, k);
}
void DistributedGraph::push(const ArrayPlace& place, std::span<const float> halo_rows,
                            std::span<float> y, std::uint64_t k) const {
  state_->push(place, halo_rows, y, k);
}
void DistributedGraph::refuse(const std::string& reason) const { state_->refuse(reason); }

}  // namespace warren
