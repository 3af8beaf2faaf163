// SPDX-License-Identifier: Apache-2.0
#include "team/host_notices.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

namespace warren::team {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLongest{1000};
/// What a rank that has left may have sent is taken to have come by then.
constexpr milliseconds kOnTheWay{3000};

bool claim(std::atomic<std::uint32_t>& word) noexcept {
  std::uint32_t nobody = 0;
  return word.compare_exchange_strong(nobody, 1);
}

}  // namespace

HostNotices::Notice HostNotices::notice(Kind kind) const noexcept {
  Notice made;
  made.kind = kind;
  made.host = control_.host;
  return made;
}

void HostNotices::tell_all(const Notice& said) noexcept {
  for (int rank = 0; rank < hosts_.size(); ++rank) {
    if (!hosts_.is_here(rank)) hosts_.notify(std::as_bytes(std::span(&said, 1)), rank);
  }
}

void HostNotices::tend() noexcept {
  Notice heard;
  for (int from = 0; from >= 0;) {
    from = hosts_.hear(std::as_writable_bytes(std::span(&heard, 1)));
    if (from >= 0) take(heard, from);
  }
  if (control_.is_over() && is_own_end() && claim(control_.is_end_sent)) {
    end_ = notice(Kind::end);
    end_.failed_rank = control_.failed_rank;
    end_.is_lost = control_.is_lost.load();
    end_.cause.length = std::min<std::uint32_t>(control_.cause_length,
                                                static_cast<std::uint32_t>(control_.cause.size()));
    std::copy_n(control_.cause.begin(), end_.cause.length, end_.cause.characters.begin());
    tell_all(end_);
  }
  if (control_.told_status.load() >= 0 && is_own_end() && claim(control_.is_told_sent)) {
    told_ = notice(Kind::told);
    told_.status = control_.told_status.load();
    tell_all(told_);
  }
}

void HostNotices::take(const Notice& heard, int from) noexcept {
  const auto host = static_cast<std::size_t>(std::clamp(heard.host, 0, kMaxRanks - 1));
  switch (heard.kind) {
    case Kind::end: {
      if (!control_.is_over() && heard.is_lost != 0) control_.is_lost.store(1);
      try {
        (void)control_.end(heard.failed_rank, heard.cause.get(), heard.host);
      } catch (const std::bad_alloc&) {
        (void)control_.end(heard.failed_rank, {}, heard.host);
      }
      control_.knows_end[host].store(1);
      if (is_own_end()) {
        // Both have a cause: the first host's counts, and each has said so to the other.
        if (heard.host < control_.host) control_.must_yield.store(1);
        return;
      }
      Notice& answer = answers_[static_cast<std::size_t>(from)];
      answer = notice(Kind::knows);
      hosts_.notify(std::as_bytes(std::span(&answer, 1)), from);
      return;
    }
    case Kind::knows:
      control_.knows_end[host].store(1);
      return;
    case Kind::told:
      control_.told_status.store(heard.status);
      return;
    case Kind::left:
      has_left_[static_cast<std::size_t>(from)].store(true);
      return;
  }
}

template <class F>
void HostNotices::tend_until(F&& is_done) noexcept {
  const auto end = Clock::now() + kLongest;
  for (;;) {
    tend();
    if (is_done() || Clock::now() > end) return;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

bool HostNotices::may_tell() noexcept {
  if (!control_.is_over()) return true;
  if (!is_own_end()) return false;
  const auto know = [&] {
    return std::all_of(control_.knows_end.begin(), control_.knows_end.begin() + control_.host,
                       [](const auto& knows) { return knows.load() != 0; });
  };
  tend_until([&] { return control_.must_yield.load() != 0 || know(); });
  return control_.must_yield.load() == 0;
}

void HostNotices::await_others() noexcept {
  tend_until([&] {
    for (int host = 0; host < hosts_.count(); ++host) {
      if (host != control_.host && control_.knows_end[static_cast<std::size_t>(host)].load() == 0)
        return false;
    }
    return true;
  });
}

void HostNotices::look() {
  tend();
  control_.check();
  const auto gone = [&](int rank) {
    if (!hosts_.is_here(rank)) return has_left_[static_cast<std::size_t>(rank)].load();
    const auto& here = hosts_.here();
    const auto at = std::ranges::find(here, rank) - here.begin();
    return control_.of(static_cast<int>(at)).has_left.load() != 0;
  };
  for (int rank = 0; rank < hosts_.size(); ++rank) {
    if (rank == hosts_.rank() || !gone(rank)) continue;
    const std::int64_t now =
        std::chrono::duration_cast<milliseconds>(Clock::now().time_since_epoch()).count();
    std::int64_t since = 0;
    if (missed_since_.compare_exchange_strong(since, now)) return;
    if (now - since < kOnTheWay.count()) return;
    control_.end(rank, fmt::format("rank {} of {} has ended, and rank {} waits for it: the ranks "
                                   "did not make the same calls",
                                   rank, hosts_.size(), hosts_.rank()));
    control_.check();
  }
}

void HostNotices::leave() noexcept {
  left_ = notice(Kind::left);
  tell_all(left_);
  for (int rank = 0; rank < hosts_.size(); ++rank) {
    while (!hosts_.is_here(rank) && !has_left_[static_cast<std::size_t>(rank)].load() &&
           !control_.is_over()) {
      tend();
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
}

}  // namespace warren::team
