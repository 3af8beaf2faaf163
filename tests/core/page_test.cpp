// SPDX-License-Identifier: Apache-2.0
// Pages of memory, whatever the machine's are.
#include "warren/core/page.hpp"

#include <bit>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace warren {
namespace {

TEST(Page, WholePages) {
  const std::uint64_t page = bytes_of_page();
  EXPECT_TRUE(std::has_single_bit(page));
  EXPECT_EQ(in_pages(0), 0u);
  EXPECT_EQ(in_pages(1), page);
  EXPECT_EQ(in_pages(page), page);
  EXPECT_EQ(in_pages(page + 1), 2 * page);
}

TEST(Page, IsTheSystems) {
  const std::uint64_t page = bytes_of_page();
  void* const base =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(base, MAP_FAILED);
  // The middle of a page is refused.
  EXPECT_EQ(madvise(static_cast<char*>(base) + page, page, MADV_DONTNEED), 0);
  EXPECT_NE(madvise(static_cast<char*>(base) + page / 2, page / 2, MADV_DONTNEED), 0);
  EXPECT_EQ(munmap(base, 2 * page), 0);
}

}  // namespace
}  // namespace warren
