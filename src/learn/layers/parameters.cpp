// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/learn/random.hpp"

namespace warren::learn {
namespace {

// Distinguishes initial values from masks of dropout.
constexpr std::uint64_t kInitialValues = 0x696e6974;

float bound_of(const Parameter& p) {
  const double rows = static_cast<double>(p.rows);
  const double columns = static_cast<double>(p.columns);
  if (p.initial == Initial::glorot) return static_cast<float>(std::sqrt(6.0 / (rows + columns)));
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.fan_in)));
}

}  // namespace

std::size_t Parameters::add(Parameter parameter) {
  // Addresses are multiples of 16 bytes, as products like them.
  constexpr std::uint64_t kAlign = 4;
  parameter.offset = size_;
  size_ = (size_ + parameter.size() + kAlign - 1) / kAlign * kAlign;
  list_.push_back(std::move(parameter));
  return list_.size() - 1;
}

void Parameters::allocate(const exec::Stream& stream, std::uint64_t seed) {
  const exec::Device& device = stream.device();
  storage_ = std::make_shared<Storage>();
  storage_->values = memory::Buffer<float>(device, size_);
  storage_->gradients = memory::Buffer<float>(device, size_);
  storage_->decay = memory::Buffer<float>(device, size_);
  if (exec::DryRun::current() != nullptr) return;  // Nobody reads values.
  std::vector<float> values(size_, 0.0f);
  std::vector<float> decay(size_, 0.0f);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Parameter& p = list_[i];
    const std::uint64_t key = random_key(seed, kInitialValues, i);
    const bool is_random = p.initial == Initial::glorot || p.initial == Initial::fan_in;
    const float bound = is_random ? bound_of(p) : 0.0f;
    for (std::uint64_t j = 0; j < p.size(); ++j) {
      float value = p.initial == Initial::ones ? 1.0f : 0.0f;
      if (is_random) value = bound * (2.0f * uniform(key, j) - 1.0f);
      values[p.offset + j] = value;
      decay[p.offset + j] = p.decay;
    }
  }
  storage_->values.upload(stream, values);
  storage_->decay.upload(stream, decay);
  clear_gradients(stream);
  stream.synchronize();
}

void Parameters::share(const Parameters& other) {
  const auto is_same = [](const Parameter& a, const Parameter& b) {
    return a.name == b.name && a.rows == b.rows && a.columns == b.columns;
  };
  require(std::equal(list_.begin(), list_.end(), other.list_.begin(), other.list_.end(), is_same),
          "parameters are shared by models of the same layers");
  storage_ = other.storage_;
}

void Parameters::clear_gradients(const exec::Stream& stream) const {
  exec::fill_bytes(stream, storage_->gradients.data(), 0, storage_->gradients.bytes());
}

void Parameters::reduce_gradients(Context& context) const {
  context.measured(Part::communicate,
                   [&] { reduce_gradients(context.team(), context.stream(), 0, size_); });
}

void Parameters::reduce_gradients(team::Team& team, const exec::Stream& stream, std::uint64_t begin,
                                  std::uint64_t end) const {
  if (team.size() == 1 || begin == end) return;
  float* const gradients = storage_->gradients.data() + begin;
  team.all_reduce(stream, gradients, gradients, end - begin, team::DataType::float32,
                  team::ReduceOp::sum);
}

}  // namespace warren::learn
