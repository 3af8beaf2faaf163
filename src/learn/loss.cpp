// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/loss.hpp"

#include "learn/loss_kernels.hpp"

namespace warren::learn {

void Loss::run(Context& context, const Targets& targets, const float* scores, std::uint64_t columns,
               float* gradient) {
  const exec::Stream& stream = context.stream();
  const std::uint64_t n = context.rows();
  if (rows_.size() < n * detail::kRowNumbers) {
    rows_ = memory::Buffer<float>(stream.device(), n * detail::kRowNumbers);
    chunks_ = (n + detail::LossSumsKernel::kChunk - 1) / detail::LossSumsKernel::kChunk;
    partial_ = memory::Buffer<double>(stream.device(), chunks_ * kSplits * detail::kRowNumbers);
  }
  const float factor = targets.counts[0] == 0 ? 0.0f : 1.0f / static_cast<float>(targets.counts[0]);
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_loss<decltype(backend)>(
        stream, n,
        detail::LossKernel{kind_, columns, scores, targets.classes.data(), targets.values.data(),
                           targets.splits.data(), gradient, factor, rows_.data()});
    detail::run_loss<decltype(backend)>(
        stream, chunks_,
        detail::LossSumsKernel{n, targets.splits.data(), rows_.data(), partial_.data()});
  });
}

Scores Loss::result(Context& context, const Targets& targets) const {
  struct Numbers {
    double sum[kSplits * detail::kRowNumbers] = {};
  };
  Numbers mine;
  const std::vector<double> partial = partial_.to_host(context.stream());
  for (std::size_t i = 0; i < partial.size(); ++i) mine.sum[i % std::size(mine.sum)] += partial[i];
  const Numbers all = context.team().all_reduce(mine, [](Numbers a, const Numbers& b) {
    for (std::size_t i = 0; i < std::size(a.sum); ++i) a.sum[i] += b.sum[i];
    return a;
  });
  Scores scores;
  for (std::size_t s = 0; s < kSplits; ++s) {
    const double* of = all.sum + s * detail::kRowNumbers;
    if (targets.counts[s] != 0) scores[s].loss = of[0] / static_cast<double>(targets.counts[s]);
    if (of[1] + of[2] > 0.0) scores[s].accuracy = of[1] / (of[1] + of[2]);
  }
  return scores;
}

}  // namespace warren::learn
