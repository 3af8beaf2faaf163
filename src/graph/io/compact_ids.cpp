// SPDX-License-Identifier: Apache-2.0
// Gathering ids from many threads, and counting them.
#include "graph/io/compact_ids.hpp"

#include <algorithm>
#include <bit>

namespace warren::graph::io {

CompactIds::Page* CompactIds::make_page(std::uint64_t index) {
  const std::scoped_lock lock(mutex_);
  Page* page = pages_[index].load(std::memory_order_relaxed);
  if (page != nullptr) return page;  // Another thread was first.
  page = made_.emplace_back(std::make_unique<Page>()).get();
  page->index = index;
  pages_[index].store(page, std::memory_order_release);
  return page;
}

void CompactIds::add_large(std::vector<std::uint64_t>& large) {
  if (large.empty()) return;
  std::sort(large.begin(), large.end());
  large.erase(std::unique(large.begin(), large.end()), large.end());
  const std::scoped_lock lock(mutex_);
  const auto middle = static_cast<std::ptrdiff_t>(large_.size());
  large_.insert(large_.end(), large.begin(), large.end());
  std::inplace_merge(large_.begin(), large_.begin() + middle, large_.end());
  large_.erase(std::unique(large_.begin(), large_.end()), large_.end());
  large.clear();
}

std::uint64_t CompactIds::finish() {
  std::sort(made_.begin(), made_.end(),
            [](const auto& a, const auto& b) { return a->index < b->index; });
  small_ = 0;
  for (const auto& page : made_) {
    page->rank = small_;
    std::uint64_t within = 0;
    for (std::uint64_t w = 0; w < kWords; ++w) {
      page->before[w] = static_cast<std::uint16_t>(within);
      within += static_cast<std::uint64_t>(std::popcount(page->words[w].load()));
    }
    small_ += within;
  }
  return small_ + large_.size();
}

bool CompactIds::without_gaps() const {
  if (!large_.empty() || small_ == 0) return false;
  const std::uint64_t last = small_ - 1;
  if (made_.back()->index != last >> kPageBits) return false;
  // As many as there would be up to `last`: then `last` is the largest, or there is a larger one on
  // its page.
  const Page* page = made_.back().get();
  const std::uint64_t word = (last & kPageMask) >> 6;
  const int within = static_cast<int>(last & 63);
  return page->rank + page->before[word] +
             static_cast<std::uint64_t>(std::popcount(page->words[word].load() << (63 - within))) ==
         small_;
}

std::uint64_t CompactIds::rank(std::uint64_t id) const {
  if (id >> 32 != 0) {
    return small_ + static_cast<std::uint64_t>(std::lower_bound(large_.begin(), large_.end(), id) -
                                               large_.begin());
  }
  const Page* found = pages_[id >> kPageBits].load(std::memory_order_relaxed);
  if (found == nullptr) return 0;  // The file has changed since: build() finds out.
  const Page& page = *found;
  const std::uint64_t word = (id & kPageMask) >> 6;
  const std::uint64_t lower = (std::uint64_t{1} << (id & 63)) - 1;
  return page.rank + page.before[word] +
         static_cast<std::uint64_t>(
             std::popcount(page.words[word].load(std::memory_order_relaxed) & lower));
}

memory::HostArray<std::uint64_t> CompactIds::ids() const {
  memory::HostArray<std::uint64_t> all(small_ + large_.size());
  std::uint64_t at = 0;
  for (const auto& page : made_) {
    for (std::uint64_t w = 0; w < kWords; ++w) {
      for (std::uint64_t bits = page->words[w].load(); bits != 0; bits &= bits - 1) {
        all[at++] = (page->index << kPageBits) + w * 64 +
                    static_cast<std::uint64_t>(std::countr_zero(bits));
      }
    }
  }
  std::copy(large_.begin(), large_.end(), all.begin() + at);
  return all;
}

}  // namespace warren::graph::io
