// SPDX-License-Identifier: Apache-2.0
// The ring by itself, between threads of the host: every task comes out once, in laps of a small
// ring, with and without pauses; a full ring says so.
#include "warren/schedule/ring.hpp"

#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace warren::schedule {
namespace {

/// A ring in host memory.
struct HostRing {
  HostRing(std::uint64_t capacity, std::uint64_t places)
      : tasks(places), segments(places / kSegmentTasks) {
    view.tasks = tasks.data();
    view.segments = segments.data();
    view.reader = &reader;
    view.writer = &writer;
    view.capacity = capacity;
    view.set_places(places);
  }
  std::vector<std::uint64_t> tasks;
  std::vector<RingSegment> segments;
  RingReader reader{};
  RingWriter writer{};
  RingView<std::uint64_t> view;
};

std::vector<std::uint64_t> pop(const RingView<std::uint64_t>& ring, std::uint64_t most) {
  const Claim claim = ring.claim(most);
  std::vector<std::uint64_t> got(claim.count);
  EXPECT_TRUE(got.empty() || ring.await(exec::Serial{}, claim));
  for (std::size_t i = 0; i < got.size(); ++i) got[i] = ring.place(claim.first + i);
  if (!got.empty()) {
    ring.release(claim);
    ring.tell_freed(exec::Serial{}, claim);
  }
  return got;
}

void push(const RingView<std::uint64_t>& ring, const std::vector<std::uint64_t>& tasks,
          std::uint64_t limit = 0) {
  const std::uint64_t first = ring.reserve(tasks.size(), limit);
  for (std::size_t i = 0; i < tasks.size(); ++i) ring.place(first + i) = tasks[i];
  ring.publish(first, tasks.size());
  ring.announce(tasks.size());
}

TEST(RingWord, SaysWhichPlacesAreThere) {
  // Every subset of the first ten places: a prefix is known as such, and nothing else is.
  for (std::uint32_t set = 0; set < 1024; ++set) {
    std::uint64_t word = 0;
    std::uint64_t count = 0;
    bool is_prefix = true;
    for (std::uint32_t i = 0; i < 10; ++i) {
      if ((set >> i & 1u) == 0) continue;
      word += detail::segment_word(i, i + 1);
      is_prefix = is_prefix && i == count;
      ++count;
    }
    EXPECT_EQ(detail::segment_prefix(word), is_prefix ? count : 0) << set;
  }
  EXPECT_EQ(detail::segment_word(0, kSegmentTasks), detail::kFullSegment);
  EXPECT_EQ(detail::segment_prefix(detail::kFullSegment), kSegmentTasks);
  EXPECT_EQ(detail::segment_prefix(2 * detail::kFullSegment), 0u);
}

TEST(RingWord, CountsOnOverLaps) {
  // Past 2^32 tasks the count runs into the sum, and both wrap: differences stay right.
  for (const std::uint64_t laps :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 26, ~std::uint64_t{0}}) {
    const std::uint64_t word = laps * detail::kFullSegment + detail::segment_word(0, 37);
    EXPECT_EQ(detail::segment_prefix(word - laps * detail::kFullSegment), 37u);
  }
}

TEST(Ring, KeepsTheOrderOfOneThread) {
  HostRing ring(300, 2 * kSegmentTasks);
  EXPECT_TRUE(pop(ring.view, 10).empty());
  std::uint64_t in = 0, out = 0;
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 5000; ++turn) {
    std::vector<std::uint64_t> tasks(random() % 150 + 1);
    std::iota(tasks.begin(), tasks.end(), in);
    if (ring.view.has_room()) {
      push(ring.view, tasks);
      in += tasks.size();
    }
    for (const std::uint64_t task : pop(ring.view, random() % 200 + 1)) EXPECT_EQ(task, out++);
    EXPECT_EQ(ring.view.waiting(), in - out);
    EXPECT_EQ(ring.view.used(), in - out);
  }
  EXPECT_GT(in, 100'000u) << "the ring went round";
}

TEST(Ring, IsFullAtItsCapacity) {
  for (const std::uint64_t capacity : {1, 2, 300, 511, 512, 513}) {
    HostRing ring(capacity, 4 * kSegmentTasks);
    std::uint64_t in = 0, out = 0;
    for (int lap = 0; lap < 40; ++lap) {
      while (ring.view.has_room()) push(ring.view, {in++});
      EXPECT_EQ(in - out, capacity);
      const std::uint64_t some = capacity / 3 + 1;
      for (const std::uint64_t task : pop(ring.view, some)) EXPECT_EQ(task, out++);
      EXPECT_EQ(in - out, capacity - some);
    }
  }
}

TEST(Ring, ThoseWhoLookTogetherPassTheCapacityOnce) {
  HostRing ring(10, 2 * kSegmentTasks);
  std::uint64_t next = 0;
  const auto some = [&](std::uint64_t count) {
    std::vector<std::uint64_t> tasks(count);
    std::iota(tasks.begin(), tasks.end(), next);
    next += count;
    return tasks;
  };
  for (int lap = 0; lap < 100; ++lap) {
    const std::uint64_t one = ring.view.room(), other = ring.view.room();
    ASSERT_NE(one, 0u);
    push(ring.view, some(10), one);
    EXPECT_FALSE(ring.view.has_room());
    push(ring.view, some(10), other);
    EXPECT_FALSE(ring.view.has_room());
    EXPECT_EQ(pop(ring.view, 10).size(), 10u);
    EXPECT_FALSE(ring.view.has_room()) << "as many as fit are left";
    EXPECT_EQ(pop(ring.view, 5).size(), 5u);
    push(ring.view, some(4), ring.view.room());
    EXPECT_TRUE(ring.view.has_room());
    push(ring.view, some(1), ring.view.room());
    EXPECT_FALSE(ring.view.has_room());
    EXPECT_EQ(pop(ring.view, 10).size(), 10u);
    EXPECT_EQ(ring.view.used(), 0u);
  }
}

/// Workers that know of room do not look, and pass the capacity once each all the same.
TEST(Ring, WhoKnowsOfRoomPassesTheCapacityOnce) {
  HostRing ring(1000, 4 * kSegmentTasks);
  std::uint64_t known[3] = {};
  const auto take = [&](int worker, std::uint64_t count) {
    const std::uint64_t first = ring.view.take_places(count, known[worker]);
    if (first == RingView<std::uint64_t>::kNoPlace) return false;
    for (std::uint64_t i = 0; i < count; ++i) ring.view.place(first + i) = first + i;
    ring.view.publish(first, count);
    return true;
  };
  std::uint64_t out = 0;
  for (int lap = 0; lap < 100; ++lap) {
    for (int worker = 0; worker < 3; ++worker) {
      ASSERT_TRUE(take(worker, 10));
      EXPECT_NE(known[worker], 0u);
    }
    EXPECT_TRUE(take(0, 970));
    EXPECT_EQ(known[0], 0u) << "it took the last place";
    EXPECT_FALSE(take(0, 1));
    EXPECT_TRUE(take(1, 40)) << "what it knows is old";
    EXPECT_FALSE(take(1, 1));
    EXPECT_TRUE(take(2, 40));
    EXPECT_FALSE(take(2, 1));
    EXPECT_EQ(ring.view.used(), 1080u);
    for (const std::uint64_t task : pop(ring.view, 1080)) ASSERT_EQ(task, out++);
  }
}

TEST(Ring, ReadersTellWhatIsFree) {
  constexpr std::uint64_t kCapacity = 1000;
  HostRing ring(kCapacity, 4 * kSegmentTasks);
  for (std::uint64_t done = 0; done < 20'000; done += 40) {
    push(ring.view, std::vector<std::uint64_t>(40));
    EXPECT_EQ(pop(ring.view, 40).size(), 40u);
    // As far as the last segment that has been read to its end, after the first lap.
    const std::uint64_t whole = (done + 40) / kSegmentTasks * kSegmentTasks;
    if (done + 40 >= kCapacity + kSegmentTasks) {
      EXPECT_GE(ring.writer.freed, whole) << done;
    }
    EXPECT_LE(ring.writer.freed, done + 40);
  }
}

TEST(Ring, PartsReleasedOutOfOrderFreeNothingTooSoon) {
  HostRing ring(200, 2 * kSegmentTasks);
  while (ring.view.has_room()) push(ring.view, {0});
  const Claim a = ring.view.claim(50), b = ring.view.claim(100);
  ASSERT_EQ(a.count, 50u);
  ASSERT_EQ(b.count, 100u);
  ring.view.release(b);
  EXPECT_FALSE(ring.view.has_room());
  ring.view.release(a);
  EXPECT_TRUE(ring.view.has_room());
  EXPECT_EQ(ring.view.used(), 50u);
}

/// `writers` and `readers` threads over one small ring; pauses where `injected_delay`.
void expect_all_once(int writers, int readers, std::uint64_t each, std::uint64_t capacity,
                     std::uint32_t injected_delay) {
  SCOPED_TRACE(testing::Message() << writers << " writers, " << readers << " readers, capacity "
                                  << capacity << ", pauses " << injected_delay);
  constexpr std::uint64_t kMostPushed = 150;
  std::uint64_t places = kSegmentTasks;
  while (places < capacity + 2 * static_cast<std::uint64_t>(writers) * kMostPushed + kSegmentTasks)
    places *= 2;
  HostRing ring(capacity, places);
  ring.view.injected_delay = injected_delay;
  const std::uint64_t total = each * static_cast<std::uint64_t>(writers);
  std::vector<std::atomic<std::uint32_t>> seen(total);
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      std::mt19937_64 random(static_cast<std::uint64_t>(w));
      std::uint64_t next = each * static_cast<std::uint64_t>(w);
      const std::uint64_t end = next + each;
      std::uint64_t known = 0;
      while (next < end) {
        // Every other one looks each time.
        if (w % 2 == 0) known = 0;
        const std::uint64_t count = std::min(end - next, random() % kMostPushed + 1);
        const std::uint64_t first = ring.view.take_places(count, known);
        if (first == RingView<std::uint64_t>::kNoPlace) {
          std::this_thread::yield();
          continue;
        }
        for (std::uint64_t i = 0; i < count; ++i) ring.view.place(first + i) = next + i;
        ring.view.publish(first, count);
        next += count;
      }
    });
  }
  for (int r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] {
      std::mt19937_64 random(static_cast<std::uint64_t>(100 + r));
      while (taken.load() < total) {
        const auto got = pop(ring.view, random() % 100 + 1);
        for (const std::uint64_t task : got) seen.at(task).fetch_add(1);
        taken.fetch_add(got.size());
        if (got.empty()) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), total);
  for (std::uint64_t i = 0; i < total; ++i) ASSERT_EQ(seen[i].load(), 1u) << "task " << i;
  EXPECT_FALSE(ring.view.has_tasks());
  EXPECT_EQ(ring.view.used(), 0u);
}

TEST(Ring, EveryTaskComesOutOnce) {
  for (const auto& [writers, readers] : {std::pair{1, 1}, {1, 3}, {3, 1}, {4, 4}}) {
    for (const std::uint64_t capacity : {1, 100, 1000}) {
      expect_all_once(writers, readers, 60'000, capacity, 0);
      expect_all_once(writers, readers, 3000, capacity, 5'000);
    }
  }
}

/// Who looks sees one word after the other, and others come between. With one task in the ring at a
/// time no look finds more than that and a segment, which is told to be free as a whole.
TEST(Ring, UsedIsNoMoreThanThereWas) {
  HostRing ring(8, 4 * kSegmentTasks);
  RingView<std::uint64_t> slow = ring.view;
  slow.injected_delay = 30'000;
  std::atomic<bool> has_ended{false};
  std::thread busy([&] {
    while (!has_ended) {
      push(ring.view, {1});
      EXPECT_EQ(pop(ring.view, 1).size(), 1u);
    }
  });
  for (int look = 0; look < 3000; ++look)
    ASSERT_LE(slow.used(), kSegmentTasks + 1) << "look " << look;
  has_ended = true;
  busy.join();
}

}  // namespace
}  // namespace warren::schedule
