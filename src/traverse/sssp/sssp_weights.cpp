// SPDX-License-Identifier: Apache-2.0
// The weights of a shard, looked at on its device.
#include "traverse/sssp/sssp_weights.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
namespace {

/// One element from the device.
template <class T>
T read(const exec::Stream& stream, const T* address) {
  T value;
  exec::copy(stream, &value, address, sizeof value);
  stream.synchronize();
  return value;
}

/// The target of an edge of a local row whose list begins with edge `begin`.
Vertex target_of(const exec::Stream& stream, const graph::Shard& shard, Vertex row, EdgeOffset edge,
                 EdgeOffset begin) {
  if (shard.edges_placement != graph::EdgesPlacement::compressed_host)
    return read(stream, shard.out.targets + edge);
  const graph::CompressedView view = shard.out_storage->compressed->view();
  const graph::CompressedRow list = view.row(shard.out.first + row);
  const EdgeOffset index = edge - begin;
  graph::CompressedCursor cursor(view, view.block(list, index / graph::kCompressedBlock));
  Vertex target = cursor.next();
  for (EdgeOffset k = 0; k < index % graph::kCompressedBlock; ++k) target = cursor.next();
  return target;
}

template <class Metric>
SsspWeights survey(team::Team& team, const graph::Shard& shard, const exec::Stream& stream,
                   const std::string& who) {
  using Weight = typename Metric::Weight;
  memory::Buffer<WeightFacts> shared(team.device(), 1);
  WeightFacts facts;
  exec::copy(stream, shared.data(), &facts, sizeof facts);
  const Weight* weights = Metric::weights(shard.out);
  std::uint64_t sources = 0;
  exec::with_backend(team.device(), [&](auto backend) {
    sources = SsspRun<decltype(backend), Metric>::survey(team, stream,
                                                         {shard.out, weights, shared.data()})
                  .sources;
  });
  facts = read(stream, shared.data());
  struct Bad {
    bool is_bad = false;
    std::uint64_t from = 0, to = 0;
    double weight = 0.0;
  } bad;
  if (facts.first_bad != WeightFacts{}.first_bad) {
    std::vector<EdgeOffset> offsets(std::uint64_t{shard.out.count} + 1);
    exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
    const double weight = static_cast<double>(read(stream, weights + facts.first_bad));
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), facts.first_bad) - 1;
    const auto row = static_cast<Vertex>(after - offsets.begin());
    bad = {true, std::uint64_t{shard.out.first} + row,
           target_of(stream, shard, row, facts.first_bad, *after), weight};
  }
  for (const Bad& found : team.all_gather(bad)) {
    require(
        !found.is_bad,
        fmt::format("the edge from {} to {} has the weight {}; {} need weights that are finite and "
                    "not negative",
                    found.from, found.to, found.weight, who));
  }
  double sum = 0.0;
  for (const double part : team.all_gather(facts.sum)) sum += part;
  SsspWeights result;
  result.is_integer = std::is_integral_v<Weight>;
  result.largest = team.all_reduce(facts.largest, exec::Maximum{});
  if (shard.edges > 0) result.mean = sum / static_cast<double>(shard.edges);
  if (sources > 0)
    result.mean_degree = static_cast<double>(shard.edges) / static_cast<double>(sources);
  return result;
}

}  // namespace

SsspWeights survey_weights(team::Team& team, const graph::Shard& shard, const exec::Stream& stream,
                           const std::string& who) {
  require(shard.weight_type != graph::WeightType::none || shard.edges == 0,
          who + " need a shard with weights");
  if (shard.has_byte_weights) return survey<ByteMetric>(team, shard, stream, who);
  return shard.weight_type == graph::WeightType::float32
             ? survey<RealMetric>(team, shard, stream, who)
             : survey<IntegerMetric<std::uint32_t>>(team, shard, stream, who);
}

}  // namespace warren::traverse
