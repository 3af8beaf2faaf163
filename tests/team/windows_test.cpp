// SPDX-License-Identifier: Apache-2.0
// Windows of ranks that do not reach each other's memory: what a rank reads is what was published,
// in its own memory, and nothing else is touched.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::team {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<std::uint32_t>;

TeamOptions apart(exec::DeviceKind kind, int ranks) {
  TeamOptions options{kind, ranks, kind == exec::DeviceKind::cpu ? ranks : 0};
  options.are_apart = true;
  if (kind == exec::DeviceKind::cuda && ranks > exec::cuda_device_count())
    options.sharing = Sharing::turns;
  return options;
}

/// One rank's array, of length 10 (rank + 1), and how the others see it.
class Shared {
 public:
  static constexpr std::uint32_t kUntouched = 7;

  explicit Shared(Team& team)
      : team_(team), stream_(team.device()), array_(team.device(), length(team.rank())) {}

  [[nodiscard]] static std::uint64_t length(int rank) {
    return 10 * (static_cast<std::uint64_t>(rank) + 1);
  }
  /// Element i of rank q's array in round r.
  [[nodiscard]] static std::uint32_t value(int q, std::uint64_t i, std::uint32_t round) {
    return 10'000 * (static_cast<std::uint32_t>(q) + 1) + 100 * round +
           static_cast<std::uint32_t>(i);
  }
  void share(std::uint64_t first, std::uint64_t end) {
    windows_ = team_.share_windows({.data = array_.data(),
                                    .bytes = array_.bytes(),
                                    .first = first * sizeof(std::uint32_t),
                                    .end = end * sizeof(std::uint32_t)});
    // What nobody has published is still what it was.
    for (int q = 0; q < team_.size(); ++q) {
      if (q == team_.rank()) continue;
      const std::uint64_t last = std::min(end, length(q));
      if (first < last) put(q, first, Values(last - first, kUntouched));
    }
  }
  void fill(std::uint32_t round) {
    Values values;
    for (std::uint64_t i = 0; i < array_.size(); ++i)
      values.push_back(value(team_.rank(), i, round));
    array_.upload(stream_, std::span<const std::uint32_t>(values));
    stream_.synchronize();
  }
  [[nodiscard]] Shown shown(int to, std::uint64_t first, std::uint64_t count) const {
    return {to, array_.data() + first, count * sizeof(std::uint32_t)};
  }
  [[nodiscard]] Values seen(int q, std::uint64_t first, std::uint64_t count) const {
    Values values(count);
    exec::copy(stream_, values.data(), at(q, first), count * sizeof(std::uint32_t));
    stream_.synchronize();
    return values;
  }
  [[nodiscard]] void* of(int q) const { return windows_.of[static_cast<std::size_t>(q)]; }
  [[nodiscard]] memory::Buffer<std::uint32_t>& array() { return array_; }

 private:
  [[nodiscard]] std::uint32_t* at(int q, std::uint64_t i) const {
    return static_cast<std::uint32_t*>(of(q)) + i;
  }
  void put(int q, std::uint64_t first, const Values& values) {
    exec::copy(stream_, at(q, first), values.data(), values.size() * sizeof(std::uint32_t));
    stream_.synchronize();
  }

  Team& team_;
  exec::Stream stream_;
  memory::Buffer<std::uint32_t> array_;
  Windows windows_;
};

void check_mirrors(exec::DeviceKind kind, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  run_team(apart(kind, ranks), [](Team& team) {
    EXPECT_TRUE(team.needs_windows());
    EXPECT_FALSE(team.spans_hosts());
    EXPECT_FALSE(team.kernels_may_wait());
    const int me = team.rank();
    Shared all(team), part(team);
    all.share(0, ~std::uint64_t{0} / sizeof(std::uint32_t));
    part.share(4, 8);
    EXPECT_EQ(all.of(me), all.array().data());
    for (std::uint32_t round = 1; round <= 3; ++round) {
      all.fill(round);
      part.fill(round);
      // To all the own first elements, to the next rank alone two more, which others do not see.
      const int next = (me + 1) % team.size();
      const std::vector<Shown> shown{all.shown(-1, 0, 3), all.shown(next, 5, 2),
                                     part.shown(-1, 4, 4), all.shown(-1, 9, 0)};
      team.publish(shown);
      for (int q = 0; q < team.size(); ++q) {
        if (q == me) continue;
        EXPECT_NE(all.of(q), nullptr);
        EXPECT_EQ(all.seen(q, 0, 4), (Values{Shared::value(q, 0, round), Shared::value(q, 1, round),
                                             Shared::value(q, 2, round), Shared::kUntouched}));
        const bool is_mine = (q + 1) % team.size() == me;
        EXPECT_EQ(all.seen(q, 5, 2),
                  is_mine ? (Values{Shared::value(q, 5, round), Shared::value(q, 6, round)})
                          : (Values{Shared::kUntouched, Shared::kUntouched}));
        EXPECT_EQ(part.seen(q, 4, 1), Values{Shared::value(q, 4, round)});
        EXPECT_EQ(part.seen(q, 7, 1), Values{Shared::value(q, 7, round)});
      }
      team.barrier();
    }
  });
}

/// Every rank has all rows, and gets the others' at their places.
void check_replicas(exec::DeviceKind kind, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  run_team(apart(kind, ranks), [](Team& team) {
    constexpr std::uint64_t kRows = 5;
    const auto me = static_cast<std::uint64_t>(team.rank());
    const auto size = static_cast<std::uint64_t>(team.size());
    const exec::Stream stream(team.device());
    memory::Buffer<std::uint32_t> rows(team.device(), kRows * size);
    const Windows windows =
        team.share_windows({.data = rows.data(), .bytes = rows.bytes(), .is_replica = true});
    for (const void* of : windows.of) EXPECT_EQ(of, rows.data());
    const Values mine(kRows * size, static_cast<std::uint32_t>(me) + 1);
    rows.upload(stream, std::span<const std::uint32_t>(mine));
    stream.synchronize();
    const Shown shown{-1, rows.data() + me * kRows, kRows * sizeof(std::uint32_t)};
    team.publish({&shown, 1});
    const Values found = rows.to_host(stream);
    for (std::uint64_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i / kRows + 1);
    team.barrier();
  });
}

/// What may come later is there after the next call, whatever that shows.
void check_later(exec::DeviceKind kind, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  run_team(apart(kind, ranks), [](Team& team) {
    Shared first(team), second(team);
    first.share(0, 10);
    second.share(0, 10);
    for (std::uint32_t round = 1; round <= 20; ++round) {
      first.fill(round);
      const Shown one = first.shown(-1, 0, 10);
      team.publish({&one, 1}, true);
      second.fill(round);  // Meanwhile.
      team.barrier();
      const Shown two = second.shown(-1, 0, 10);
      if (round % 2 == 0) {
        team.publish({&two, 1});
      } else {
        team.publish({});
      }
      for (int q = 0; q < team.size(); ++q) {
        if (q == team.rank()) continue;
        EXPECT_EQ(first.seen(q, 9, 1), Values{Shared::value(q, 9, round)});
        if (round % 2 == 0) {
          EXPECT_EQ(second.seen(q, 9, 1), Values{Shared::value(q, 9, round)});
        }
      }
      team.barrier();
    }
  });
}

/// What `body` throws on a team of two.
template <class Body>
std::string refusal(Body&& body) {
  try {
    run_team(apart(exec::DeviceKind::cpu, 2), body);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Windows, AreMirrorsWhereMemoryIsNotReached) {
  for (const int ranks : {2, 3, 4}) {
    check_mirrors(exec::DeviceKind::cpu, ranks);
    check_replicas(exec::DeviceKind::cpu, ranks);
    check_later(exec::DeviceKind::cpu, ranks);
  }
}

TEST(WindowsCuda, AreMirrorsWhereMemoryIsNotReached) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const int ranks : {2, 3}) {
    check_mirrors(exec::DeviceKind::cuda, ranks);
    check_replicas(exec::DeviceKind::cuda, ranks);
    check_later(exec::DeviceKind::cuda, ranks);
  }
}

TEST(Windows, AreTheMemoryItselfElsewhere) {
  run_team({exec::DeviceKind::cpu, 3, 3}, [](Team& team) {
    EXPECT_FALSE(team.needs_windows());
    std::uint32_t mine = 0;
    const Windows windows = team.share_windows({.data = &mine, .bytes = sizeof mine});
    EXPECT_EQ(windows.of, team.share(&mine));
    team.barrier();
  });
  // One rank has no others.
  run_team(apart(exec::DeviceKind::cpu, 1), [](Team& team) { EXPECT_FALSE(team.needs_windows()); });
}

TEST(Windows, OfWhichNothingElseIsPublished) {
  const auto publish = [](Team& team, const Shown& shown) { team.publish({&shown, 1}); };
  std::uint32_t elsewhere = 0;
  EXPECT_THAT(refusal([&](Team& team) {
                publish(team, {-1, &elsewhere, sizeof elsewhere});
              }),
              HasSubstr("Team::share_windows()"));
  EXPECT_THAT(refusal([&](Team& team) {
                Shared array(team);
                array.share(0, 8);
                publish(team, array.shown(-1, 9, 5));  // Past the end of rank 0's.
              }),
              HasSubstr("Team::share_windows()"));
  EXPECT_THAT(refusal([&](Team& team) {
                Shared array(team);
                array.share(0, 8);
                publish(team, array.shown(-1, 7, 2));
              }),
              HasSubstr("of which rank"));
  // Windows that are gone.
  EXPECT_THAT(refusal([&](Team& team) {
                Shared array(team);
                array.share(0, 8);
                array.share(0, 4);
                publish(team, array.shown(-1, 0, 8));
              }),
              HasSubstr("reads 0 to 16"));
}

}  // namespace
}  // namespace warren::team
