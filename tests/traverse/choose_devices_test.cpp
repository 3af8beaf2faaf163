// SPDX-License-Identifier: Apache-2.0
#include "warren/traverse/choose_devices.hpp"

#include <gtest/gtest.h>

#include "warren/team/team.hpp"

namespace warren {
namespace {

using traverse::choose_devices;
using traverse::Traversal;
using traverse::TraversalWork;

constexpr std::uint64_t kMillion = 1'000'000;

TEST(ChooseDevices, AsMeasured) {
  // Which of one and four GPUs was faster: bench/results/*x4.json.
  struct Row {
    TraversalWork work;
    int best;
  };
  const Row k22{{Traversal::bfs, false, false, 4 * kMillion, 128 * kMillion}, 4};
  const Row comm{{Traversal::bfs, false, false, 2'449'029, 103 * kMillion}, 4};
  const Row k24{{Traversal::bfs, false, false, 17 * kMillion, 520 * kMillion}, 4};
  const auto with = [](Row row, auto change, int best) {
    change(row.work);
    row.best = best;
    return row;
  };
  const auto is_sssp = [](TraversalWork& work) { work.traversal = Traversal::sssp; };
  const auto is_components = [](TraversalWork& work) { work.traversal = Traversal::components; };
  const auto is_pagerank = [](TraversalWork& work) { work.traversal = Traversal::pagerank; };
  const auto is_asynchronous = [](TraversalWork& work) { work.is_asynchronous = true; };
  const auto is_on_host = [](TraversalWork& work) { work.is_on_host = true; };
  for (const Row& row :
       {k22, comm, k24, Row{{Traversal::bfs, false, false, kMillion, 40 * kMillion}, 1},
        with(k22, is_sssp, 1), with(k24, is_sssp, 4), with(k24, is_components, 4),
        with(k22, is_components, 1), with(k22, is_pagerank, 4), with(comm, is_pagerank, 4),
        with(k22, is_asynchronous, 4), with(comm, is_asynchronous, 4), with(k24, is_on_host, 4),
        Row{{Traversal::bfs, false, false, 4'194'304, 16'769'024}, 1},  // grid:2048x2048
        Row{{Traversal::bfs, false, false, 268 * kMillion, 1'073 * kMillion}, 1}}) {
    EXPECT_EQ(choose_devices(row.work, 4).devices, row.best)
        << row.work.edges << ": " << choose_devices(row.work, 4).reason;
  }
}

TEST(ChooseDevices, ListsThatDoNotFitOneAreSharedOut) {
  TraversalWork work{Traversal::bfs, false,          false,          30 * kMillion,
                     100 * kMillion, 800 * kMillion, 1000 * kMillion};
  EXPECT_EQ(choose_devices(work, 2).devices, 1);
  work.list_bytes = 950 * kMillion;
  EXPECT_EQ(choose_devices(work, 2).devices, 2);
  work.is_on_host = true;
  EXPECT_EQ(choose_devices(work, 2).devices, 1);
  work = {Traversal::bfs, false, false, 30 * kMillion, 100 * kMillion, 950 * kMillion, 0};
  EXPECT_EQ(choose_devices(work, 2).devices, 1);
}

TEST(ChooseDevices, NoMoreThanThereAre) {
  const TraversalWork large{Traversal::pagerank, false, false, kMillion, 1000 * kMillion};
  for (const int gpus : {0, 1}) {
    const traverse::DeviceChoice choice = choose_devices(large, gpus);
    EXPECT_EQ(choice.devices, 1);
    EXPECT_NE(choice.reason.find("one GPU"), std::string::npos) << choice.reason;
  }
  EXPECT_EQ(choose_devices(large, 2).devices, 2);
  EXPECT_EQ(choose_devices({}, 8).devices, 1);
}

TEST(ChooseDevices, ConnectedOnesAreNoMoreThanPresent) {
  const int connected = team::connected_cuda_devices();
  EXPECT_LE(connected, exec::cuda_device_count());
  EXPECT_EQ(connected == 0, exec::cuda_device_count() == 0);
}

}  // namespace
}  // namespace warren
