// SPDX-License-Identifier: Apache-2.0
#include "warren/api/graph.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/core/nearest.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/arrays.hpp"
#include "warren/graph/generated_size.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"
#include "warren/traverse/verify.hpp"

#include "api/graph_state.hpp"
#include "api/library_words.hpp"

namespace warren {
namespace api {

void check_duplicates(const graph::BuildOptions& options) {
  require(!options.keep_duplicates || !options.sum_duplicates,
          "keep_duplicates and sum_duplicates: parallel edges are kept or added up, not both");
}

graph::BuildOptions build_options(const ReadOptions& options) {
  graph::BuildOptions build;
  build.symmetrize = options.symmetrize;
  build.drop_self_loops = options.drop_self_loops;
  build.keep_duplicates = options.keep_duplicates;
  build.sum_duplicates = options.sum_duplicates;
  check_duplicates(build);
  return build;
}

namespace {

/// The whole graph, in host memory.
graph::Graph build_drawing(const Drawing& drawing, exec::ThreadPool& pool) {
  graph::check_host_memory(drawing.spec, drawing.build, drawing.weights.has_value(),
                           "the generated graph", "use a host with more memory");
  graph::Graph graph = graph::build(*graph::make_source(drawing.spec), drawing.build, pool);
  if (drawing.weights)
    graph::set_uniform_weights(graph, drawing.weights->low, drawing.weights->high,
                               drawing.weights->seed, pool);
  return graph;
}

}  // namespace

GraphState::GraphState(graph::Graph csr, GraphFacts facts)
    : number_(next_owner()),
      facts_(std::move(facts)),
      vertices_(csr.vertices),
      symmetry_(csr.symmetry) {
  require(facts_.names.empty() || facts_.names.size() == vertices_,
          fmt::format("{} names for {} vertices; give one each", facts_.names.size(), vertices_));
  keep_csr(std::move(csr));
}

GraphState::GraphState(const Drawing& drawing, GraphFacts facts)
    : number_(next_owner()),
      drawing_(drawing),
      facts_(std::move(facts)),
      vertices_(drawing.spec.vertices),
      symmetry_(graph::Symmetry::unknown) {
  has_good_weights_ = drawing.weights.has_value();  // From 0 on.
}

GraphState::GraphState(FileGraph in_file, GraphFacts facts)
    : number_(next_owner()),
      in_file_(std::move(in_file)),
      facts_(std::move(facts)),
      vertices_(in_file_.rows ? in_file_.rows->vertices() : in_file_.file->vertices()),
      drawn_edges_(in_file_.rows ? in_file_.rows->edges() : in_file_.file->edges()),
      symmetry_(in_file_.rows ? in_file_.rows->symmetry() : in_file_.file->symmetry()) {
  has_good_weights_ = in_file_.weights.has_value();
}

GraphState::~GraphState() { release(); }

void GraphState::keep_csr(graph::Graph csr) {
  symmetry_ = csr.symmetry;
  csr_ = std::make_shared<const graph::Graph>(std::move(csr));
  has_csr_ = true;
}

void GraphState::on_host(const std::function<void(exec::ThreadPool&)>& work) const {
  const bool is_there = facts_.session && !facts_.session->is_closed();
  (is_there ? *facts_.session : Session::standard()).teams()->on_host(work);
}

void GraphState::set_csr(graph::Graph csr) {
  const std::scoped_lock lock(mutex_);
  if (!has_csr_) keep_csr(std::move(csr));
}

const graph::Graph& GraphState::csr() {
  if (has_csr_) return *csr_;
  on_host([&](exec::ThreadPool& pool) {
    const std::scoped_lock lock(mutex_);
    if (has_csr_) return;
    keep_csr(drawing_ ? build_drawing(*drawing_, pool) : in_file_.read(pool));
  });
  return *csr_;
}

graph::WeightType GraphState::weight_type() {
  if (in_file_.weights) return graph::WeightType::int32;
  if (in_file_.rows) return in_file_.rows->weight_type();
  if (!drawing_) return csr().weight_type;
  return drawing_->weights ? graph::WeightType::int32 : graph::WeightType::none;
}

std::uint64_t GraphState::edges() {
  const std::uint64_t drawn = drawn_edges_;
  return drawn != kUnknown ? drawn : csr().edges();
}

void GraphState::release() {
  std::vector<std::weak_ptr<Teams>> sessions;
  std::shared_ptr<GraphState> reversed, unweighted;  // Go without the lock.
  {
    const std::scoped_lock lock(mutex_);
    sessions.swap(sessions_);
    sources_.clear();
    reversed.swap(reversed_);
    unweighted.swap(unweighted_);
    in_.reset();
    compressed_out_.reset();
    compressed_in_.reset();
  }
  for (const auto& session : sessions) {
    if (const auto teams = session.lock()) teams->forget(number_);
  }
}

Vertex GraphState::find(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (by_name_.empty()) {
    by_name_.reserve(names().size());
    for (std::size_t v = 0; v < names().size(); ++v)
      by_name_.emplace(names()[v], static_cast<Vertex>(v));  // The first of equal names.
  }
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  if (names().empty())
    throw VertexError(
        fmt::format("name: got \"{}\", but the graph has no names; give the vertex' number", name));
  throw VertexError(
      fmt::format("name: got \"{}\", but no vertex has this name; there is \"{}\", say", name,
                  names().front()));
}

bool GraphState::find_symmetry(exec::ThreadPool& pool) {
  if (known_ == nullptr) {
    auto known = std::make_shared<graph::Graph>(*csr_);
    const bool is_new = known->symmetry == graph::Symmetry::unknown;
    const bool is_own_reverse = graph::is_symmetric(*known, pool);
    if (is_new && is_logged(LogLevel::debug))
      log_debug(fmt::format("looked at {} edges: the graph is {}", csr_->edges(),
                            is_own_reverse ? "symmetric" : "directed"));
    symmetry_ = known->symmetry;
    known_ = std::move(known);
  }
  return symmetry_ == graph::Symmetry::symmetric;
}

bool GraphState::is_symmetric(exec::ThreadPool& pool) {
  const std::scoped_lock lock(mutex_);
  return find_symmetry(pool);
}

std::optional<bool> GraphState::known_symmetry() {
  if (drawing_ && drawing_->is_symmetric()) return true;
  const auto known = [](const auto& file) {
    return file != nullptr && file->symmetry() != graph::Symmetry::unknown;
  };
  if (known(in_file_.file)) return in_file_.file->symmetry() == graph::Symmetry::symmetric;
  if (known(in_file_.rows)) return in_file_.rows->symmetry() == graph::Symmetry::symmetric;
  const std::scoped_lock lock(mutex_);
  if (known_ == nullptr) return std::nullopt;
  return symmetry_ == graph::Symmetry::symmetric;
}

void GraphState::check_weights(exec::ThreadPool& pool) {
  const std::scoped_lock lock(mutex_);
  if (has_good_weights_) return;
  const traverse::Verdict verdict = traverse::check_weights(*csr_, pool);
  require(verdict.correct, verdict.message);
  has_good_weights_ = true;
}

void GraphState::find_in(exec::ThreadPool& pool) {
  if (find_symmetry(pool) || in_ != nullptr) return;
  const double begin = now_seconds();
  in_ = std::make_shared<const graph::Graph>(graph::transpose(*known_, pool));
  if (is_logged(LogLevel::info))
    log_info(fmt::format("made and keeps the transpose of a graph of {} edges in {:.3g} s",
                         csr_->edges(), now_seconds() - begin));
}

std::shared_ptr<GraphState> GraphState::reversed(exec::ThreadPool& pool) {
  const std::scoped_lock lock(mutex_);
  find_in(pool);
  if (in_ != nullptr && reversed_ == nullptr) {
    reversed_ = std::make_shared<GraphState>(*in_, facts_);
    reversed_->known_ = in_;
    reversed_->in_ = known_;  // Its transpose is here.
  }
  return reversed_;
}

std::shared_ptr<GraphState> GraphState::without_weights() {
  const std::scoped_lock lock(mutex_);
  if (unweighted_ == nullptr && drawing_ && !has_csr_) {
    unweighted_ = std::make_shared<GraphState>(
        Drawing{drawing_->spec, drawing_->build, std::nullopt, drawing_->by_ranges}, facts_);
  } else if (unweighted_ == nullptr) {
    graph::Graph plain = *csr_;
    graph::drop_weights(plain);
    if (plain.symmetry == graph::Symmetry::directed) plain.symmetry = graph::Symmetry::unknown;
    unweighted_ = std::make_shared<GraphState>(std::move(plain), facts_);
  }
  return unweighted_;
}

std::size_t GraphState::place_of(const PlacementOptions& placement) {
  if (placement == placements_.front()) return 0;  // Mostly.
  PlacementOptions key = placement;
  if (key.method == "ranges") key.method.clear();
  if (key.method != "random" && key.method != "metis") key.seed = PlacementOptions{}.seed;
  const auto known = std::ranges::find(placements_, key);
  const auto place = static_cast<std::size_t>(known - placements_.begin());
  if (known == placements_.end()) placements_.push_back(std::move(key));
  return place;
}

int GraphState::part_of(Edges edges, const PlacementOptions& placement,
                        const std::shared_ptr<Teams>& teams) {
  constexpr int kEdges = 4;
  const std::scoped_lock lock(mutex_);
  note(teams);
  return static_cast<int>(place_of(placement)) * kEdges + static_cast<int>(edges);
}

CutGraph GraphState::relabelled(std::shared_ptr<const graph::Partition> order, InEdges in_edges,
                                exec::ThreadPool& pool) const {
  CutGraph cut;
  graph::Graph graph = graph::relabel(*known_, order->new_id.span(), pool);
  if (in_edges == InEdges::device) {
    cut.out = std::make_shared<const graph::Graph>(std::move(graph));
    cut.cuts = order->cuts;
  } else {
    static_cast<graph::ShardSource&>(cut) =
        graph::shard_source(std::move(graph), order->cuts, pool);
  }
  cut.order = std::move(order);
  return cut;
}

std::shared_ptr<const CutGraph> GraphState::source(int ranks, Edges edges, InEdges in_edges,
                                                   const std::shared_ptr<Teams>& teams,
                                                   const PlacementOptions& placement) {
  (void)csr();
  std::unique_lock lock(mutex_);
  const std::tuple key{ranks, edges, in_edges, place_of(placement)};
  const auto kept = sources_.find(key);
  if (kept != sources_.end()) {
    note(teams);
    return kept->second;
  }
  lock.unlock();
  std::shared_ptr<const CutGraph> all;
  teams->on_host([&](exec::ThreadPool& pool) {
    const TraceSpan span("prepare graph", 0);
    const std::scoped_lock made(mutex_);
    CutGraph source;
    const bool is_own_reverse = find_symmetry(pool);
    const std::string method = placement.method.empty() ? "ranges" : placement.method;
    auto order = std::make_shared<const graph::Partition>(
        graph::make_partition(*known_, method, ranks, placement.seed));
    if (order->identity()) {
      if (in_edges == InEdges::host) find_in(pool);
      source.out = known_;
      source.in = is_own_reverse ? known_ : in_;
      source.cuts = order->cuts;
    } else {
      source = relabelled(std::move(order), in_edges, pool);
    }
    if (edges == Edges::compressed_host) {
      const bool is_as_given = source.order == nullptr;
      if (is_as_given) {
        source.compressed_out = compressed_out_;
        source.compressed_in = compressed_in_;
      }
      graph::compress_lists(source, pool);
      if (is_as_given) {
        compressed_out_ = source.compressed_out;
        compressed_in_ = source.compressed_in;
      }
    }
    all = std::make_shared<const CutGraph>(std::move(source));
    sources_[key] = all;
    note(teams);
  });
  return all;
}

void GraphState::note(const std::shared_ptr<Teams>& teams) {
  const bool is_noted =
      std::ranges::any_of(sessions_, [&](const auto& session) { return session.lock() == teams; });
  if (!is_noted) sessions_.push_back(teams);
}

}  // namespace api

namespace {

/// Of work that belongs to no session: the standard one has threads.
template <class F>
auto on_host(F&& work) {
  decltype(work(std::declval<exec::ThreadPool&>())) result{};
  Session::standard().teams()->on_host([&](exec::ThreadPool& pool) { result = work(pool); });
  return result;
}

template <class T>
memory::HostArray<T> copied(std::span<const T> values) {
  memory::HostArray<T> array(values.size());
  std::ranges::copy(values, array.begin());
  return array;
}

graph::Graph csr_of(std::span<const EdgeOffset> offsets, std::span<const Vertex> targets) {
  require(!offsets.empty(), "from_csr: no offsets; give one more than vertices");
  require(offsets.size() - 1 <= kMaxVertices,
          fmt::format("from_csr: {} offsets; a graph has at most {} vertices", offsets.size(),
                      kMaxVertices));
  graph::Graph raw;
  raw.vertices = static_cast<Vertex>(offsets.size() - 1);
  raw.offsets = copied(offsets);
  raw.targets = copied(targets);
  return raw;
}

}  // namespace

Graph::Graph(graph::Graph csr, std::vector<std::string> names)
    : state_(std::make_shared<api::GraphState>(std::move(csr),
                                               api::GraphFacts{.names = std::move(names)})) {}

std::uint64_t Graph::vertices() const { return state_->vertices(); }
std::uint64_t Graph::edges() const { return state_->edges(); }
bool Graph::is_weighted() const {
  if (state_->file() != nullptr && !state_->has_csr()) return false;
  return state_->weight_type() != graph::WeightType::none;
}
bool Graph::are_names_ids() const { return state_->facts().are_names_ids; }
const graph::WeightReport& Graph::weights_read() const { return state_->facts().weights; }
bool Graph::is_symmetric() const {
  if (const std::optional<bool> known = state_->known_symmetry()) return *known;
  (void)csr();  // Drawn before the host's threads are taken.
  bool is_symmetric = false;
  state_->on_host([&](exec::ThreadPool& pool) { is_symmetric = state_->is_symmetric(pool); });
  return is_symmetric;
}
void Graph::check_weights() const {
  if (state_->has_good_weights()) return;
  (void)csr();
  state_->on_host([&](exec::ThreadPool& pool) { state_->check_weights(pool); });
}
const graph::Graph& Graph::csr() const { return state_->csr(); }
std::shared_ptr<const graph::EdgeFile> Graph::file() const { return state_->file(); }
const std::string& Graph::lists_reason() const { return state_->facts().lists_reason; }
bool Graph::is_read_by_ranges() const { return state_->is_by_ranges(); }
std::uint64_t Graph::original_id(Vertex v) const {
  if (state_->rows() != nullptr) return state_->rows()->graph()->original_id(v);
  if (state_->drawing() != nullptr) return v;
  if (state_->file() == nullptr) return csr().original_id(v);
  const auto& ids = state_->file()->original_ids();
  return ids.empty() ? v : ids[v];
}
std::span<const std::string> Graph::names() const { return state_->names(); }
Vertex Graph::find(const std::string& name) const { return state_->find(name); }
Graph Graph::reversed() const {
  (void)csr();
  const auto turned = on_host([&](exec::ThreadPool& pool) { return state_->reversed(pool); });
  return turned == nullptr ? *this : Graph(turned);
}
Graph Graph::without_weights() const {
  if (!is_weighted()) return *this;
  if (state_->drawing() == nullptr) (void)csr();
  return Graph(state_->without_weights());
}
void Graph::release() const { state_->release(); }

std::uint64_t Graph::save(const std::string& path) const {
  const graph::Graph& arrays = csr();
  return api::told_in_library_words([&] {
    return on_host([&](exec::ThreadPool& pool) { return graph::write_graph(arrays, path, pool); });
  });
}

SaveResult Graph::save(const std::string& path, const SaveOptions& options) const {
  require(options.repeat >= 1, fmt::format("repeat: got {}, expected 1 or more", options.repeat));
  require(!options.compress || path.ends_with(".wgr"),
          fmt::format("compress: only a .wgr file holds compressed neighbour lists; {} ends "
                      "otherwise",
                      path));
  const graph::Graph& arrays = csr();
  SaveResult result;
  api::session_of(options.session).teams()->on_host([&](exec::ThreadPool& pool) {
    for (int run = 0; run < options.repeat; ++run) {
      const TraceSpan span("write graph", 0);
      const double begin = now_seconds();
      if (options.compress) {
        const graph::CompressedGraph packed = graph::compress(arrays, pool);
        result.bits_per_edge = packed.bits_per_edge();
        result.bytes = graph::write_compressed(packed, path, pool);
      } else {
        result.bytes = graph::write_graph(arrays, path, pool);
      }
      result.run_seconds.push_back(now_seconds() - begin);
    }
  });
  return result;
}

Graph from_csr(graph::Graph arrays, const ArrayOptions& options) {
  api::check_duplicates(options);
  return Graph(on_host(
      [&](exec::ThreadPool& pool) { return graph::from_csr(std::move(arrays), options, pool); }));
}

Graph from_csr(std::span<const EdgeOffset> offsets, std::span<const Vertex> targets,
               const Weights& weights, const ArrayOptions& options) {
  graph::Graph raw = csr_of(offsets, targets);
  if (!weights.ints().empty()) raw.weight_type = graph::WeightType::int32;
  if (!weights.floats().empty()) raw.weight_type = graph::WeightType::float32;
  raw.weights_int = copied(weights.ints());
  raw.weights_float = copied(weights.floats());
  return from_csr(std::move(raw), options);
}

Graph from_edges(std::span<const Vertex> sources, std::span<const Vertex> targets,
                 const Weights& weights, std::uint64_t vertices, const ArrayOptions& options) {
  api::check_duplicates(options);
  const graph::EdgeColumns edges{vertices, sources, targets, weights.ints(), weights.floats()};
  return Graph(
      on_host([&](exec::ThreadPool& pool) { return graph::from_edges(edges, options, pool); }));
}

}  // namespace warren
