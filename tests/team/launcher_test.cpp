// SPDX-License-Identifier: Apache-2.0
// The variables of launchers.
#include "warren/team/launcher.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

namespace warren::team {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Variables = std::map<std::string, std::string>;

std::optional<Launch> found(const Variables& variables) {
  return find_launch([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "2"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"PMIX_NAMESPACE", "725811201"},
                         {"PMIX_SERVER_TMPDIR", "/tmp/ompi"}, {"PMIX_RANK", "2"}};
const Variables kMpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}};
const Variables kSlurm{{"SLURM_PROCID", "3"},         {"SLURM_STEP_NUM_TASKS", "8"},
                       {"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_JOB_ID", "77"},
                       {"SLURM_STEP_ID", "5"},        {"SLURM_NTASKS", "16"}};
const Variables kTorchrun{{"RANK", "1"},
                          {"WORLD_SIZE", "2"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"MASTER_PORT", "29500"}};

void expect(const Variables& variables, const std::string& launcher, int rank, int size) {
  const auto launch = found(variables);
  ASSERT_TRUE(launch) << launcher;
  EXPECT_EQ(launch->launcher, launcher);
  EXPECT_EQ(launch->rank, rank) << launcher;
  EXPECT_EQ(launch->size, size) << launcher;
}

TEST(Launch, IsFound) {
  expect(kOpenMpi, "Open MPI", 2, 4);
  expect(kMpich, "MPICH", 1, 3);
  expect(kSlurm, "Slurm", 3, 8);
  expect(kTorchrun, "torchrun", 1, 2);
  // mpirun within an allocation of Slurm's: the ranks are mpirun's.
  Variables both = kSlurm;
  both.insert(kOpenMpi.begin(), kOpenMpi.end());
  expect(both, "Open MPI", 2, 4);
}

TEST(Launch, IsNoneForOneProcess) {
  EXPECT_FALSE(found({}));
  EXPECT_FALSE(found({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}));
  EXPECT_FALSE(found({{"OMPI_COMM_WORLD_SIZE", "4"}})) << "a size without a rank";
  // A shell in an allocation, and a pod that torchrun did not start.
  EXPECT_FALSE(found({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}));
  EXPECT_FALSE(found({{"RANK", "0"}, {"WORLD_SIZE", "4"}}));
}

TEST(Launch, JobIsThatOfAllRanksAndOfNoOtherStart) {
  const std::string job = found(kOpenMpi)->job;
  EXPECT_EQ(found(with(kOpenMpi, "OMPI_COMM_WORLD_RANK", "0"))->job, job);
  EXPECT_NE(found(with(kOpenMpi, "PMIX_NAMESPACE", "725811202"))->job, job);
  EXPECT_NE(found(with(kOpenMpi, "PMIX_SERVER_TMPDIR", "/tmp/other"))->job, job);
  EXPECT_NE(found(with(kSlurm, "SLURM_STEP_ID", "6"))->job, found(kSlurm)->job);
  EXPECT_EQ(found(with(kMpich, "PMI_RANK", "0"))->job, found(kMpich)->job);
}

void expect_refused(const Variables& variables, const std::string& says) {
  EXPECT_THAT([&] { (void)found(variables); }, ThrowsMessage<UsageError>(HasSubstr(says)));
}

TEST(Launch, BadValuesAreNamed) {
  expect_refused(with(kOpenMpi, "OMPI_COMM_WORLD_RANK", "two"), "OMPI_COMM_WORLD_RANK: got 'two'");
  expect_refused(with(kOpenMpi, "OMPI_COMM_WORLD_RANK", "4"), "got 4 of 4 ranks");
  expect_refused(with(kOpenMpi, "OMPI_COMM_WORLD_RANK", "-1"), "got '-1'");
  expect_refused(with(kOpenMpi, "OMPI_COMM_WORLD_SIZE", "0"), "OMPI_COMM_WORLD_SIZE: got '0'");
  expect_refused(with(kTorchrun, "WORLD_SIZE", ""), "WORLD_SIZE: got ''");
  expect_refused(
      with(with(kOpenMpi, "OMPI_COMM_WORLD_SIZE", "33"), "OMPI_COMM_WORLD_LOCAL_SIZE", "33"),
      "the most is 32");
}

TEST(Launch, SeveralHostsAreSeen) {
  for (const auto& launch : {kOpenMpi, kMpich, kSlurm, kTorchrun})
    EXPECT_FALSE(found(launch)->spans_hosts);
  EXPECT_TRUE(found(with(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "2"))->spans_hosts);
  EXPECT_TRUE(found(with(kMpich, "MPI_LOCALNRANKS", "1"))->spans_hosts);
  EXPECT_TRUE(found(with(kSlurm, "SLURM_STEP_NUM_NODES", "2"))->spans_hosts);
  EXPECT_TRUE(found(kOpenMpi)->is_first_here);
  EXPECT_FALSE(found(with(kSlurm, "SLURM_LOCALID", "1"))->is_first_here);
  // There is no MPI that its ranks could speak by.
  expect_refused(with(kTorchrun, "LOCAL_WORLD_SIZE", "1"), "1 are on this host");
}

TEST(Launch, TestsMakeHosts) {
  const auto launch = found(with(kOpenMpi, "WARREN_TEST_HOSTS", "2"));
  EXPECT_TRUE(launch->spans_hosts);
  EXPECT_EQ(launch->test_hosts, 2);
  EXPECT_EQ(found(kOpenMpi)->test_hosts, 0);
  expect_refused(with(kOpenMpi, "WARREN_TEST_HOSTS", "one"), "WARREN_TEST_HOSTS: got 'one'");
}

}  // namespace
}  // namespace warren::team
