// SPDX-License-Identifier: Apache-2.0
#include "warren/core/progress.hpp"

#include <utility>

namespace warren {
namespace {

thread_local ProgressCount* counted_here = nullptr;

}  // namespace

ProgressCount* ProgressCount::current() noexcept { return counted_here; }

CountsProgress::CountsProgress(ProgressCount* count) noexcept
    : before_(std::exchange(counted_here, count)) {}
CountsProgress::~CountsProgress() { counted_here = before_; }

}  // namespace warren
