// SPDX-License-Identifier: Apache-2.0
// Collectives on device buffers against sums and copies made on the host.
#pragma once

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "support/backends.hpp"
#include "support/on_device.hpp"

namespace warren::team {

using memory::Buffer;
using testing_support::kIsCuda;
using testing_support::on_device;

template <class T>
inline constexpr DataType kDataType = DataType::int32;
template <>
inline constexpr DataType kDataType<std::uint32_t> = DataType::uint32;
template <>
inline constexpr DataType kDataType<std::int64_t> = DataType::int64;
template <>
inline constexpr DataType kDataType<std::uint64_t> = DataType::uint64;
template <>
inline constexpr DataType kDataType<float> = DataType::float32;
template <>
inline constexpr DataType kDataType<double> = DataType::float64;

/// A value that no rank and no place has twice; exact in all types, sums included.
template <class T>
T value_of(int rank, std::uint64_t i) {
  return static_cast<T>((i * 7 + static_cast<std::uint64_t>(rank) * 131) % 1009);
}

template <class T>
void check_all_reduce(Team& team, const exec::Stream& stream, std::uint64_t count) {
  std::vector<T> mine(count);
  for (std::uint64_t i = 0; i < count; ++i) mine[i] = value_of<T>(team.rank(), i);
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::minimum, ReduceOp::maximum}) {
    std::vector<T> expected(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      T value = value_of<T>(0, i);
      for (int q = 1; q < team.size(); ++q) {
        const T other = value_of<T>(q, i);
        value = op == ReduceOp::sum       ? static_cast<T>(value + other)
                : op == ReduceOp::minimum ? std::min(value, other)
                                          : std::max(value, other);
      }
      expected[i] = value;
    }
    Buffer<T> send = on_device(stream, mine);
    Buffer<T> recv = on_device(stream, std::vector<T>(count, T{99}));
    team.all_reduce(stream, send.data(), recv.data(), count, kDataType<T>, op);
    EXPECT_EQ(recv.to_host(stream), expected);
    EXPECT_EQ(send.to_host(stream), mine) << "the source must not change";
    team.all_reduce(stream, send.data(), send.data(), count, kDataType<T>, op);
    EXPECT_EQ(send.to_host(stream), expected) << "in place";
  }
}

template <class Backend>
class DeviceCollectivesTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(DeviceCollectivesTest);

TYPED_TEST_P(DeviceCollectivesTest, AllReduce) {
  for (const TeamOptions& options : testing_support::teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    run_team(options, [](Team& team) {
      const exec::Stream stream(team.device());
      for (const std::uint64_t count : {0, 1, 2, 5, 1000, 70'001})
        check_all_reduce<float>(team, stream, count);
      check_all_reduce<double>(team, stream, 1001);
      check_all_reduce<std::int32_t>(team, stream, 1001);
      check_all_reduce<std::uint32_t>(team, stream, 1001);
      check_all_reduce<std::int64_t>(team, stream, 1001);
      check_all_reduce<std::uint64_t>(team, stream, 1001);
      const std::string name = team.collectives_name();
      if (!kIsCuda<TypeParam>) {
        EXPECT_EQ(name, "memory");
      } else if (!team.kernels_may_wait() || team.size() == 1) {
        EXPECT_EQ(name, "copies");
      } else {
        EXPECT_THAT(name, ::testing::AnyOf("nccl", "copies"));
      }
    });
  }
}

TYPED_TEST_P(DeviceCollectivesTest, AllGather) {
  for (const TeamOptions& options : testing_support::teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    run_team(options, [](Team& team) {
      const exec::Stream stream(team.device());
      const auto ranks = static_cast<std::uint64_t>(team.size());
      const auto rank = static_cast<std::uint64_t>(team.rank());
      for (const std::uint64_t count : {0, 1, 3, 4097, 600'000}) {
        std::vector<int> mine(count);
        std::vector<int> expected(count * ranks);
        for (std::uint64_t i = 0; i < count; ++i) mine[i] = value_of<int>(team.rank(), i);
        for (std::uint64_t i = 0; i < expected.size(); ++i)
          expected[i] = value_of<int>(static_cast<int>(i / count), i % count);
        const Buffer<int> send = on_device(stream, mine);
        Buffer<int> recv = on_device(stream, std::vector<int>(count * ranks, -1));
        team.all_gather(stream, send.data(), recv.data(), count * sizeof(int));
        EXPECT_EQ(recv.to_host(stream), expected);

        std::vector<int> in_place(count * ranks, -1);
        std::copy(mine.begin(), mine.end(),
                  in_place.begin() + static_cast<std::ptrdiff_t>(rank * count));
        Buffer<int> both = on_device(stream, in_place);
        team.all_gather(stream, both.data() + rank * count, both.data(), count * sizeof(int));
        EXPECT_EQ(both.to_host(stream), expected) << "in place";
      }
    });
  }
}

TYPED_TEST_P(DeviceCollectivesTest, AllToAll) {
  for (const TeamOptions& options : testing_support::teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    run_team(options, [](Team& team) {
      const exec::Stream stream(team.device());
      const auto ranks = static_cast<std::uint64_t>(team.size());
      const auto rank = static_cast<std::uint64_t>(team.rank());
      // Rank p sends (p * q) % 5 * scale words to rank q; some pairs have nothing to say.
      const auto words = [](std::uint64_t p, std::uint64_t q, std::uint64_t scale) {
        return p * q % 5 * scale;
      };
      for (const std::uint64_t scale : {0, 1, 30'001}) {
        std::vector<std::uint64_t> send_offsets = {0};
        std::vector<std::uint64_t> recv_offsets = {0};
        std::vector<std::uint64_t> outgoing;
        std::vector<std::uint64_t> expected;
        for (std::uint64_t q = 0; q < ranks; ++q) {
          for (std::uint64_t i = 0; i < words(rank, q, scale); ++i)
            outgoing.push_back(rank << 40 | q << 32 | i);
          for (std::uint64_t i = 0; i < words(q, rank, scale); ++i)
            expected.push_back(q << 40 | rank << 32 | i);
          send_offsets.push_back(outgoing.size() * 8);
          recv_offsets.push_back(expected.size() * 8);
        }
        const Buffer<std::uint64_t> send = on_device(stream, outgoing);
        Buffer<std::uint64_t> recv =
            on_device(stream, std::vector<std::uint64_t>(expected.size(), 7));
        team.all_to_all_v(stream, send.data(), send_offsets, recv.data(), recv_offsets);
        EXPECT_EQ(recv.to_host(stream), expected);
      }
    });
  }
}

REGISTER_TYPED_TEST_SUITE_P(DeviceCollectivesTest, AllReduce, AllGather, AllToAll);

}  // namespace warren::team
