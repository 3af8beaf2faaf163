// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/loss.hpp"

#include "warren/core/error.hpp"

#include "learn/layers/loss_kernels.hpp"

namespace warren::learn {

namespace {

std::uint64_t chunks_of(std::uint64_t rows) {
  return (rows + detail::LossSumsKernel::kChunk - 1) / detail::LossSumsKernel::kChunk;
}

}  // namespace

void Loss::take(const exec::Device& device, std::uint64_t rows) {
  rows_ = memory::Buffer<float>(device, rows * detail::kRowNumbers);
  chunks_ = chunks_of(rows);
  partial_ = memory::Buffer<double>(device, chunks_ * kSplits * detail::kRowNumbers);
}

void Loss::weigh(const exec::Stream& stream, const std::vector<float>& by_class) {
  factors_ = memory::Buffer<float>(stream.device(), by_class.size());
  factors_.upload(stream, by_class);
  stream.synchronize();
}

void Loss::begin_batches(Context& context, std::uint64_t rows, const Sums& sums) {
  if (rows_.size() < rows * detail::kRowNumbers) take(context.stream().device(), rows);
  exec::fill_bytes(context.stream(), partial_.data(), 0, partial_.bytes());
  adds_ = true;
  before_ = sums;
}

void Loss::run(Context& context, const Targets& targets, ConstNumbers scores, std::uint64_t columns,
               Numbers gradient, const float* factor, const float* share) {
  const exec::Stream& stream = context.stream();
  const std::uint64_t n = context.rows();
  if (rows_.size() < n * detail::kRowNumbers) {
    require(!adds_, "a batch has more rows than were said at first");
    take(stream.device(), n);
  }
  exec::with_backend(stream.device(), [&](auto backend) {
    using Backend = decltype(backend);
    with_type(scores.type(), [&]<class T>(T) {
      detail::run_loss<Backend>(
          stream, n,
          detail::LossKernel<T>{kind_, columns, scores.as<T>(), targets.classes.data(),
                                targets.values.data(), targets.splits.data(), gradient.as<T>(),
                                share_of(targets.counts[0]), share, factor,
                                factors_.size() == 0 ? nullptr : factors_.data(), rows_.data()});
    });
    detail::run_loss<Backend>(
        stream, adds_ ? chunks_of(n) : chunks_,
        detail::LossSumsKernel{n, targets.splits.data(), rows_.data(), partial_.data(), adds_});
  });
}

Loss::Sums Loss::sums(Context& context) const {
  Sums mine{};
  const std::vector<double> partial = partial_.to_host(context.stream());
  for (std::size_t i = 0; i < partial.size(); ++i) mine.at(i % mine.size()) += partial[i];
  Sums all = context.team().all_reduce(mine, [](Sums a, const Sums& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a.at(i) += b.at(i);
    return a;
  });
  for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += before_.at(i);
  return all;
}

Scores Loss::result(Context& context, const Targets& targets) const {
  const Sums all = sums(context);
  Scores scores;
  for (std::size_t s = 0; s < kSplits; ++s) {
    const double* of = all.data() + s * detail::kRowNumbers;
    if (targets.counts[s] != 0) scores[s].loss = of[0] / static_cast<double>(targets.counts[s]);
    if (of[1] + of[2] > 0.0) scores[s].accuracy = of[1] / (of[1] + of[2]);
  }
  return scores;
}

}  // namespace warren::learn
