// SPDX-License-Identifier: Apache-2.0
// Where long work of the host may be ended.
#include "warren/core/interrupt_point.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

namespace warren {
namespace {

struct Ended {};

const std::function<void()> kEnds = [] { throw Ended(); };

/// Longer than the time between two questions.
void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

TEST(InterruptPoint, IsNothingWhereNobodyAsks) { interrupt_point(); }

TEST(InterruptPoint, AsksAboutTwentyTimesASecond) {
  int asked = 0;
  const std::function<void()> ask = [&] { ++asked; };
  const InterruptPoints points(ask);
  wait_a_little();
  for (int i = 0; i < 1000; ++i) interrupt_point();
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 50);
}

TEST(InterruptPoint, ThrowsWhatIsThrownThere) {
  const InterruptPoints points(kEnds);
  wait_a_little();
  EXPECT_THROW(interrupt_point(), Ended);
}

TEST(InterruptPoint, LooksAtItsFlag) {
  std::uint32_t flag = 0;
  const InterruptPoints points(flag, kEnds);
  interrupt_point();
  flag = 1;
  EXPECT_THROW(interrupt_point(), Ended);
  EXPECT_THROW(interrupt_point(), Ended) << "as long as it is set";
}

TEST(InterruptPoint, AsksThoseAroundItToo) {
  std::uint32_t outer_flag = 1, inner_flag = 0;
  const InterruptPoints outer(outer_flag, kEnds);
  {
    const std::function<void()> nothing = [] {};
    const InterruptPoints inner(inner_flag, nothing);
    EXPECT_THROW(interrupt_point(), Ended);
    outer_flag = 0;
    interrupt_point();
  }
  outer_flag = 1;
  EXPECT_THROW(interrupt_point(), Ended);
}

TEST(InterruptPoint, LetsDestructorsDoTheirWork) {
  std::uint32_t flag = 1;
  const InterruptPoints points(flag, kEnds);
  bool is_done = false;
  struct CleansUp {
    explicit CleansUp(bool& done) : is_done(done) {}
    ~CleansUp() {
      EXPECT_EQ(InterruptPoints::current(), nullptr);
      interrupt_point();
      is_done = true;
    }
    CleansUp(const CleansUp&) = delete;
    CleansUp& operator=(const CleansUp&) = delete;
    bool& is_done;
  };
  try {
    const CleansUp cleans_up(is_done);
    interrupt_point();
    ADD_FAILURE() << "not ended";
  } catch (const Ended&) {
    EXPECT_TRUE(is_done);
  }
}

TEST(InterruptPoint, IsOfOneThread) {
  std::uint32_t flag = 1;
  InterruptPoints points(flag, kEnds);
  std::thread([] { interrupt_point(); }).join();
  std::thread([&] {
    const HelpsInterrupted helps(&points);
    EXPECT_THROW(interrupt_point(), Ended);
    const HelpsInterrupted helps_nobody(nullptr);
    interrupt_point();
  }).join();
}

TEST(InterruptPoint, HelpersEndAfterTheThreadThatAsked) {
  int asked = 0;
  const std::function<void()> ask = [&] {
    ++asked;
    throw Ended();
  };
  InterruptPoints points(ask);
  const auto help = [&] {
    std::thread([&] {
      const HelpsInterrupted helps(&points);
      wait_a_little();
      if (asked == 0) {
        interrupt_point();
      } else {
        EXPECT_ANY_THROW(interrupt_point());
      }
    }).join();
  };
  help();
  EXPECT_EQ(asked, 0) << "by a helper";
  EXPECT_THROW(interrupt_point(), Ended);
  help();
  EXPECT_EQ(asked, 1);
}

TEST(InterruptPoint, PiecesCoverARange) {
  std::uint64_t next = 3;
  in_pieces(3, 20, 5, [&](std::uint64_t begin, std::uint64_t end) {
    EXPECT_EQ(begin, next);
    EXPECT_LE(end - begin, 5u);
    next = end;
  });
  EXPECT_EQ(next, 20u);
  in_pieces(7, 7, 5, [](std::uint64_t, std::uint64_t) { FAIL(); });
  std::uint32_t flag = 1;
  const InterruptPoints points(flag, kEnds);
  EXPECT_THROW(in_pieces(0, 1, 5, [](std::uint64_t, std::uint64_t) { FAIL(); }), Ended);
}

TEST(InterruptPoint, SeldomOnesComeAllTheSame) {
  std::uint32_t flag = 1;
  const InterruptPoints points(flag, kEnds);
  SeldomInterruptPoint point;
  EXPECT_THROW(for (int i = 0; i < 10'000; ++i) point(), Ended);
}

}  // namespace
}  // namespace warren
