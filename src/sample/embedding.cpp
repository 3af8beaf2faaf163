// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/embedding.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "warren/core/error.hpp"

#include "sample/embedding_kernels.hpp"

namespace warren::sample {
namespace {

using Kind = SparseOptimizer::Kind;

memory::Placement checked(memory::Placement placement, const SparseOptimizer& optimizer) {
  require(placement != memory::Placement::replicated,
          "an embedding's rows live in one place each: a replicated one cannot be stepped");
  const auto is_share = [](float beta) { return beta >= 0.0f && beta < 1.0f; };
  require(optimizer.learning_rate > 0.0f && optimizer.epsilon > 0.0f && is_share(optimizer.beta1) &&
              is_share(optimizer.beta2),
          "an optimiser's rates are above 0, its betas in [0, 1)");
  return placement;
}

std::vector<std::uint64_t> one_each(int ranks) {
  std::vector<std::uint64_t> cuts(static_cast<std::size_t>(ranks) + 1);
  std::iota(cuts.begin(), cuts.end(), std::uint64_t{0});
  return cuts;
}

template <class T>
void clear(const exec::Stream& stream, memory::Buffer<T>& buffer) {
  exec::fill_bytes(stream, buffer.data(), 0, buffer.bytes());
}

}  // namespace

Embedding::Embedding(team::Team& team, std::span<const std::uint64_t> cuts, std::uint64_t width,
                     const SparseOptimizer& optimizer, memory::Placement placement)
    : optimizer_(optimizer),
      table_(team, cuts, width, checked(placement, optimizer)),
      gradients_(team, cuts, width, memory::Placement::device),
      touched_(team, cuts, 1, memory::Placement::device),
      list_(team, cuts, 1, memory::Placement::device),
      listed_(team, one_each(team.size()), 1, memory::Placement::device) {
  const exec::Stream stream(team.device());
  const auto moment = [&] {
    const auto kind = placement == memory::Placement::host ? memory::MemoryKind::pinned
                                                           : memory::MemoryKind::device;
    memory::Buffer<float> made(team.device(), kind, table_.local_size());
    clear(stream, made);
    return made;
  };
  if (optimizer.kind == Kind::adam) first_moment_ = moment();
  if (optimizer.kind != Kind::sgd) second_moment_ = moment();
  clear(stream, table_.buffer());
  clear(stream, gradients_.buffer());
  clear(stream, touched_.buffer());
  clear(stream, listed_.buffer());
  stream.synchronize();
  team.barrier();
}

void Embedding::add_gradients(const exec::Stream& stream, const Vertex* rows, std::uint64_t count,
                              const float* gradients) {
  if (count == 0) return;
  require(rows != nullptr && gradients != nullptr, "gradients need rows and values");
  const detail::AddGradient kernel{
      gradients_.view(), touched_.view(), list_.view(), listed_.view(), rows, gradients};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::add_gradients<decltype(backend)>(stream, kernel, count);
  });
}

void Embedding::step(team::Team& team, const exec::Stream& stream) {
  stream.synchronize();
  team.barrier();  // All additions are there.
  ++steps_;
  const std::uint32_t count = listed_.buffer().to_host(stream)[0];
  const auto left = [&](float beta) {
    return static_cast<float>(1.0 -
                              std::pow(static_cast<double>(beta), static_cast<double>(steps_)));
  };
  const detail::StepRow kernel{
      optimizer_,           left(optimizer_.beta1), left(optimizer_.beta2), table_.view().width,
      list_.local_data(),   touched_.local_data(),  table_.local_data(),    gradients_.local_data(),
      first_moment_.data(), second_moment_.data()};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::step_rows<decltype(backend)>(stream, kernel, count);
  });
  clear(stream, listed_.buffer());
  stream.synchronize();
  team.barrier();  // Nobody adds to what is still being stepped.
}

}  // namespace warren::sample
