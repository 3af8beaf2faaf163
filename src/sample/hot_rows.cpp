// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/hot_rows.hpp"

#include <algorithm>
#include <numeric>

#include "sample/hot_rows_kernels.hpp"

namespace warren::sample {
std::vector<std::uint64_t> hot_rows_by_score(std::span<const std::uint64_t> scores,
                                             std::uint64_t count) {
  std::vector<std::uint64_t> rows(scores.size());
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  const auto kept = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, rows.size()));
  std::partial_sort(rows.begin(), rows.begin() + kept, rows.end(),
                    [&](std::uint64_t a, std::uint64_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                    });
  rows.resize(static_cast<std::size_t>(kept));
  return rows;
}

std::vector<std::uint64_t> hot_rows_by_degree(team::Team& team, const graph::Shard& shard,
                                              std::uint64_t count) {
  const graph::CsrView& csr = shard.has_in() ? shard.in : shard.out;
  const exec::Stream stream(team.device());
  std::vector<EdgeOffset> offsets(std::uint64_t{csr.count} + 1);
  exec::copy(stream, offsets.data(), csr.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  std::vector<std::uint64_t> degrees(csr.count);
  for (std::size_t row = 0; row < degrees.size(); ++row)
    degrees[row] = offsets[row + 1] - offsets[row];
  std::vector<std::uint64_t> all;
  for (const auto& part : team.all_gather_v(std::span<const std::uint64_t>(degrees)))
    all.insert(all.end(), part.begin(), part.end());
  return hot_rows_by_score(all, count);
}

UseCounter::UseCounter(const exec::Device& device, std::uint64_t vertices)
    : uses_(device, vertices) {
  const exec::Stream stream(device);
  exec::fill_bytes(stream, uses_.data(), 0, uses_.bytes());
  stream.synchronize();
}

void UseCounter::add(const exec::Stream& stream, const NeighbourSampler& sampler) {
  for (std::uint32_t b = 0; b < sampler.batches(); ++b) {
    const SampledBatch batch = sampler.batch(b);
    const detail::CountUses kernel{batch.vertices, batch.counts, sampler.hops(), uses_.size(),
                                   uses_.data()};
    exec::with_backend(stream.device(), [&](auto backend) {
      detail::count_uses<decltype(backend)>(stream, kernel, sampler.most_vertices());
    });
  }
}

std::vector<std::uint64_t> UseCounter::hot_rows(team::Team& team, const exec::Stream& stream,
                                                std::uint64_t count) const {
  const std::vector<std::uint32_t> mine = uses_.to_host(stream);
  std::vector<std::uint64_t> sums(mine.size());
  for (const auto& part : team.all_gather_v(std::span<const std::uint32_t>(mine))) {
    for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += part[v];
  }
  return hot_rows_by_score(sums, count);
}

}  // namespace warren::sample
