// SPDX-License-Identifier: Apache-2.0
// The launchers' variables: Open MPI's mpirun(1), MPICH's Hydra (whose MPI_LOCALNRANKS Intel MPI
// and MVAPICH share), srun(1) of Slurm, PyTorch's torchrun.
#include "warren/team/launcher.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/types.hpp"

namespace warren::team {
namespace {

struct Names {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_size;  ///< Ranks on this host; nullptr: see `hosts`.
  const char* hosts;       ///< Their number; nullptr: see `local_size`.
  const char* local_rank;  ///< Among those on this host.
  /// All of which together no other job has. Where they are not set, the process that started this
  /// one stands for the job.
  std::array<const char*, 3> job;
};

constexpr std::array kLaunchers = {
    Names{"Open MPI",
          "OMPI_COMM_WORLD_RANK",
          "OMPI_COMM_WORLD_SIZE",
          "OMPI_COMM_WORLD_LOCAL_SIZE",
          nullptr,
          "OMPI_COMM_WORLD_LOCAL_RANK",
          {"PMIX_NAMESPACE", "PMIX_SERVER_TMPDIR", "OMPI_MCA_orte_hnp_uri"}},
    Names{"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, "MPI_LOCALRANKID", {}},
    // Of a step: a shell within an allocation has SLURM_PROCID as well, and is no rank.
    Names{"Slurm",
          "SLURM_PROCID",
          "SLURM_STEP_NUM_TASKS",
          nullptr,
          "SLURM_STEP_NUM_NODES",
          "SLURM_LOCALID",
          {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_LAUNCHER_PORT"}},
    Names{"torchrun",
          "RANK",
          "WORLD_SIZE",
          "LOCAL_WORLD_SIZE",
          nullptr,
          "LOCAL_RANK",
          {"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}}};

constexpr const char* kTestHosts = "WARREN_TEST_HOSTS";

int number(const char* name, std::string_view text, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= least,
          fmt::format("{}: got '{}', expected a number of {} or more, as the launcher of the "
                      "processes sets it; unset it to start one process",
                      name, text, least));
  return value;
}

/// How many of the ranks are on this host; -1: nobody says.
int ranks_here(const Names& names, const Environment& environment, int size) {
  if (names.local_size != nullptr) {
    const char* text = environment(names.local_size);
    return text == nullptr ? -1 : number(names.local_size, text, 1);
  }
  const char* text = environment(names.hosts);
  if (text == nullptr) return -1;
  return number(names.hosts, text, 1) == 1 ? size : 0;
}

std::string job_of(const Names& names, const Environment& environment) {
  std::string job = names.launcher;
  bool has_any = false;
  for (const char* name : names.job) {
    const char* text = name == nullptr ? nullptr : environment(name);
    if (text == nullptr) continue;
    has_any = true;
    job += std::string("/") + text;
  }
  // A launcher starts the ranks of a host from one process.
  if (!has_any) job += fmt::format("/started by {}", getppid());
  return job;
}

}  // namespace

std::optional<Launch> find_launch(const Environment& environment) {
  for (const Names& names : kLaunchers) {
    const char* rank_text = environment(names.rank);
    const char* size_text = environment(names.size);
    if (rank_text == nullptr || size_text == nullptr) continue;
    // Both names are anybody's: torchrun sets this one beside them.
    const bool is_torchrun = std::string_view(names.launcher) == "torchrun";
    if (is_torchrun && environment("LOCAL_WORLD_SIZE") == nullptr) continue;
    const int size = number(names.size, size_text, 1);
    const int rank = number(names.rank, rank_text, 0);
    require(rank < size, fmt::format("{}: got {} of {} ranks ({}), which are numbered from 0",
                                     names.rank, rank, size, names.size));
    if (size == 1) return std::nullopt;
    Launch launch{names.launcher, job_of(names, environment), rank, size};
    const int here = ranks_here(names, environment, size);
    launch.spans_hosts = here >= 0 && here != size;
    if (const char* text = environment(names.local_rank))
      launch.is_first_here = number(names.local_rank, text, 0) == 0;
    require(!launch.spans_hosts || !is_torchrun,
            fmt::format("torchrun started {} ranks, of which {} are on this host: ranks on several "
                        "hosts speak by MPI, which torchrun does not start; start them by mpirun, "
                        "or by srun --mpi=pmix",
                        size, here));
    if (const char* text = environment(kTestHosts); text != nullptr && !is_torchrun) {
      launch.test_hosts = number(kTestHosts, text, 2);
      launch.spans_hosts = true;
    }
    require(
        size <= kMaxRanks,
        fmt::format("{} started {} ranks: the most is {}; start fewer, with several threads each "
                    "(--threads)",
                    names.launcher, size, kMaxRanks));
    return launch;
  }
  return std::nullopt;
}

std::optional<Launch> find_launch() {
  return find_launch([](const char* name) { return std::getenv(name); });
}

}  // namespace warren::team
