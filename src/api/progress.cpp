// SPDX-License-Identifier: Apache-2.0
#include "api/progress.hpp"

#include <algorithm>
#include <utility>

namespace warren {
namespace {

thread_local const TellProgress::Tell* told_here = nullptr;

}  // namespace

TellProgress::TellProgress(Tell tell)
    : tell_(std::move(tell)), before_(std::exchange(told_here, tell_ ? &tell_ : nullptr)) {}
TellProgress::~TellProgress() { told_here = before_; }

namespace api {

void tell_progress(const ProgressCount& count) {
  const char* const unit = count.unit();
  const std::uint64_t done = count.done();
  if (told_here == nullptr || unit == nullptr || done == 0) return;
  (*told_here)({unit, done, std::max(done, count.total())});
}

}  // namespace api
}  // namespace warren
