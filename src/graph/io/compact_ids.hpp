// SPDX-License-Identifier: Apache-2.0
// The set of ids that occur in a file, and their ranks: which vertex an id becomes when gaps are
// closed. Ids below 2^32 are bits in pages that exist where ids do, with counts along them, so that
// a rank is two loads; larger ids are a sorted list behind those.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::graph::io {

class CompactIds {
 public:
  CompactIds() : pages_(kPages) {}
  /// Adds an id. Any thread, at any time before finish(). Large ids are gathered in the caller's
  /// `large` first: see add_large().
  void add(std::uint64_t id, std::vector<std::uint64_t>& large) {
    if (id >> 32 != 0) {
      large.push_back(id);
      return;
    }
    Page* page = pages_[id >> kPageBits].load(std::memory_order_acquire);
    if (page == nullptr) page = make_page(id >> kPageBits);
    std::atomic<std::uint64_t>& word = page->words[(id & kPageMask) >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  }
  /// Takes a thread's large ids and empties the list.
  void add_large(std::vector<std::uint64_t>& large);

  /// Ends adding: counts. Returns how many ids there are.
  std::uint64_t finish();

  [[nodiscard]] std::uint64_t size() const { return small_ + large_.size(); }
  /// True if the ids are 0 .. size() - 1. After finish().
  [[nodiscard]] bool without_gaps() const;
  /// The rank of an id that was added.
  [[nodiscard]] std::uint64_t rank(std::uint64_t id) const;
  /// All ids, ascending.
  [[nodiscard]] memory::HostArray<std::uint64_t> ids() const;

 private:
  static constexpr int kPageBits = 16;
  static constexpr std::uint64_t kPageMask = (std::uint64_t{1} << kPageBits) - 1;
  static constexpr std::uint64_t kPages = std::uint64_t{1} << (32 - kPageBits);
  static constexpr std::uint64_t kWords = (kPageMask + 1) / 64;
  struct Page {
    std::array<std::atomic<std::uint64_t>, kWords> words{};
    std::array<std::uint16_t, kWords> before{};  ///< Ids of the page in front of each word.
    std::uint64_t rank = 0;                      ///< Ids in front of the page.
    std::uint64_t index = 0;                     ///< The upper bits of its ids.
  };
  Page* make_page(std::uint64_t index);

  std::vector<std::atomic<Page*>> pages_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Page>> made_;  // Ascending after finish().
  std::vector<std::uint64_t> large_;
  std::uint64_t small_ = 0;  // Ids below 2^32.
};

}  // namespace warren::graph::io
