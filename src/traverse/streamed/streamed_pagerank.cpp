// SPDX-License-Identifier: Apache-2.0
// The host side of PageRank over a file: two forms, an iteration of either being a pass.
#include <array>
#include <variant>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/streamed.hpp"

#include "traverse/streamed/list_stream.hpp"
#include "traverse/streamed/result_array.hpp"
#include "traverse/streamed/streamed_pagerank_kernels.hpp"

namespace warren::traverse {
namespace {

using Words = std::shared_ptr<memory::Buffer<std::uint64_t>>;

Words words(const exec::Device& device, std::uint64_t count) {
  return std::make_shared<memory::Buffer<std::uint64_t>>(device, count);
}
double* as_ranks(const Words& words) { return reinterpret_cast<double*>(words->data()); }

/// Of symmetric graphs.
template <class Real>
class PulledRanks {
 public:
  PulledRanks(const exec::Stream& stream, const graph::EdgeFile& file)
      : vertices_(file.vertices()),
        contribution_(stream.device(), vertices_),
        degree_(stream.device(), vertices_),
        arrived_(words(stream.device(), vertices_)) {
    std::vector<std::uint32_t> degrees;
    file.for_each_offsets([&](Vertex first, std::span<const EdgeOffset> offsets) {
      degrees.resize(offsets.size() - 1);
      for (std::size_t i = 0; i < degrees.size(); ++i)
        degrees[i] = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
      degree_.upload(stream, degrees, first);
      stream.synchronize();
    });
  }

  void begin(const ListStream& lists, double start) const {
    lists.each(vertex_tasks(vertices_), BeginPull<Real>{contribution_.data(), arrived_->data(),
                                                        degree_.data(), vertices_, start});
  }
  void iterate(ListStream& lists, const RankUpdate& update, StreamedSums* sums) {
    lists.pass(lists.all_chunks(), PullRanks<Real>{contribution_.data(), arrived_->data()});
    lists.each(vertex_tasks(vertices_), FinishPull<Real>{contribution_.data(), arrived_->data(),
                                                         degree_.data(), vertices_, update, sums});
  }
  [[nodiscard]] Words tell(const ListStream& lists, double base, double /*damping*/) const {
    lists.each(vertex_tasks(vertices_), TellPulled<Real>{contribution_.data(), degree_.data(),
                                                         as_ranks(arrived_), vertices_, base});
    return arrived_;
  }

 private:
  const std::uint64_t vertices_;
  memory::Buffer<Real> contribution_;
  memory::Buffer<std::uint32_t> degree_;
  Words arrived_;
};

/// Of all others.
class PushedRanks {
 public:
  PushedRanks(const exec::Stream& stream, const graph::EdgeFile& file)
      : vertices_(file.vertices()),
        arrived_{words(stream.device(), vertices_), words(stream.device(), vertices_)},
        host_has_edges_(file.has_edges().data()) {
    if (!stream.device().is_cuda()) return;
    has_edges_ = memory::Buffer<std::uint32_t>(stream.device(), file.has_edges().size());
    has_edges_.upload(stream, file.has_edges());
    stream.synchronize();
  }

  void begin(const ListStream& lists, double start) {
    base_ = start;
    for (const Words& each : arrived_)
      exec::fill_bytes(lists.stream(), each->data(), 0, each->bytes());
  }
  void iterate(ListStream& lists, const RankUpdate& update, StreamedSums* sums) {
    lists.pass(lists.all_chunks(),
               PushRanks{arrived_[0]->data(), arrived_[1]->data(), base_, update.damping});
    lists.each(vertex_tasks(vertices_),
               FinishPush{arrived_[0]->data(), arrived_[1]->data(),
                          has_edges_.size() > 0 ? has_edges_.data() : host_has_edges_, vertices_,
                          update, sums});
    std::swap(arrived_[0], arrived_[1]);
    base_ = update.base;
  }
  [[nodiscard]] Words tell(const ListStream& lists, double base, double damping) const {
    lists.each(vertex_tasks(vertices_),
               TellPushed{arrived_[0]->data(), as_ranks(arrived_[1]), vertices_, base, damping});
    return arrived_[1];
  }

 private:
  const std::uint64_t vertices_;
  std::array<Words, 2> arrived_;
  const std::uint32_t* host_has_edges_;
  memory::Buffer<std::uint32_t> has_edges_;  ///< Of a GPU.
  double base_ = 0.0;
};

bool pulls(const graph::EdgeFile& file) { return file.symmetry() == graph::Symmetry::symmetric; }

}  // namespace

class StreamedPageRankMemory {
 public:
  StreamedPageRankMemory(const exec::Device& device, const graph::EdgeFile& file,
                         const PageRankOptions& options, StreamCheck check)
      : file_(file),
        options_(options),
        stream_(device),
        lists_(stream_, file, std::move(check)),
        sums_(device, 1) {
    if (!pulls(file)) {
      ranks_.emplace<PushedRanks>(stream_, file);
    } else if (needs_double_precision(options.damping, options.tolerance)) {
      ranks_.emplace<PulledRanks<double>>(stream_, file);
    } else {
      ranks_.emplace<PulledRanks<float>>(stream_, file);
    }
  }

  StreamedPageRankResult run() {
    StreamedPageRankResult result;
    with_ranks([&](auto& ranks) { result = iterate(ranks); });
    return result;
  }
  [[nodiscard]] memory::HostArray<double> ranks() const {
    return on_host_as<double>(stream_, told_);
  }

 private:
  template <class F>
  void with_ranks(F&& f) {
    if (auto* pushed = std::get_if<PushedRanks>(&ranks_)) f(*pushed);
    if (auto* single = std::get_if<PulledRanks<float>>(&ranks_)) f(*single);
    if (auto* wide = std::get_if<PulledRanks<double>>(&ranks_)) f(*wide);
  }

  template <class Ranks>
  StreamedPageRankResult iterate(Ranks& ranks) {
    StreamedPageRankResult result;
    const auto n = static_cast<double>(file_.vertices());
    const double d = options_.damping;
    const std::uint64_t read_before = lists_.bytes_read();
    const double waited_before = lists_.waited_seconds();
    told_.reset();
    const double start = now_seconds();
    ranks.begin(lists_, 1.0 / n);
    double dangling = (n - static_cast<double>(file_.sources())) / n;
    double base = 1.0 / n;
    result.residual = 2.0;
    expect_progress("iterations", options_.max_iterations);
    while (result.iterations < options_.max_iterations && result.residual > options_.tolerance) {
      const double before = base;
      base = (1.0 - d + d * dangling) / n;
      exec::fill_bytes(stream_, sums_.data(), 0, sizeof(StreamedSums));
      ranks.iterate(lists_, {base, before, d}, sums_.data());
      const StreamedSums sums = sums_.to_host(stream_).front();
      result.residual = from_fixed(sums.residual);
      dangling = from_fixed(sums.dangling);
      ++result.iterations;
      advance_progress(1);
    }
    stream_.synchronize();
    result.seconds = now_seconds() - start;
    result.converged = result.residual <= options_.tolerance;
    result.bytes_read = lists_.bytes_read() - read_before;
    result.waited_seconds = lists_.waited_seconds() - waited_before;
    trace_span("streamed pagerank", 0, start, start + result.seconds,
               fmt::format("{{\"iterations\":{}}}", result.iterations));
    told_ = ranks.tell(lists_, base, d);
    return result;
  }

  const graph::EdgeFile& file_;
  const PageRankOptions options_;
  exec::Stream stream_;
  ListStream lists_;
  memory::Buffer<StreamedSums> sums_;
  std::variant<std::monostate, PushedRanks, PulledRanks<float>, PulledRanks<double>> ranks_;
  Words told_;
};

namespace {

PageRankOptions checked(const graph::EdgeFile& file, PageRankOptions options) {
  require(options.damping >= 0.0 && options.damping < 1.0,
          fmt::format("damping {}: give a value from 0 to below 1", options.damping));
  require(options.tolerance >= 0.0,
          fmt::format("tolerance {}: give a value of at least 0", options.tolerance));
  require(!options.weighted, "weighted: lists are read from the file without their weights");
  require(
      !options.has_vectors(),
      "personalization, dangling, start: ranks of a graph whose lists stay in a file have none");
  require(!pulls(file) || file.max_degree() <= ~std::uint32_t{0},
          fmt::format("{}: vertex {} has {} edges; fewer than 2^32 can be ranked from the file",
                      file.path(), file.busiest(), file.max_degree()));
  return options;
}

}  // namespace

StreamedPageRank::StreamedPageRank(const exec::Device& device, const graph::EdgeFile& file,
                                   const PageRankOptions& options, StreamCheck check)
    : memory_(std::make_unique<StreamedPageRankMemory>(device, file, checked(file, options),
                                                       std::move(check))) {}
StreamedPageRank::~StreamedPageRank() = default;

StreamMemory StreamedPageRank::memory(const graph::EdgeFile& file, exec::DeviceKind kind,
                                      const PageRankOptions& options) {
  const std::uint64_t n = file.vertices();
  const bool is_wide = pulls(file) && needs_double_precision(options.damping, options.tolerance);
  StreamMemory memory{file.window_memory(), n * (is_wide ? 20 : 16)};
  if (kind == exec::DeviceKind::cuda) {
    memory.device += ListStream::device_bytes(file) + n / 8;
    memory.host += n * sizeof(double);
  } else {
    memory.host += std::exchange(memory.device, 0);
  }
  return memory;
}

StreamedPageRankResult StreamedPageRank::run() { return memory_->run(); }
memory::HostArray<double> StreamedPageRank::ranks() const { return memory_->ranks(); }

}  // namespace warren::traverse
