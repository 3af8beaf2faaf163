// SPDX-License-Identifier: Apache-2.0
// Which rank of how many a launcher (mpirun, mpiexec, srun, torchrun) started this process as. All
// that ranks of one host need to find each other is in the environment: no library of MPI is
// opened. Ranks on several hosts find each other by MPI.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace warren::team {

/// What a launcher tells the processes that it starts.
struct Launch {
  std::string launcher;  ///< "Open MPI", "MPICH", "Slurm", "torchrun".
  std::string job;       ///< The same for all ranks of one start, another one for every start.
  int rank = 0;
  int size = 1;
  bool spans_hosts = false;   ///< Some ranks are on other hosts.
  bool is_first_here = true;  ///< Of this host's ranks, as far as the launcher says.
  /// Tests: the ranks of one machine act as so many hosts, which have no memory in common. 0: none.
  int test_hosts = 0;
};

/// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

/// The launcher's variables; nothing where no launcher started this process, or where it started
/// one process alone. Open MPI's count first, then those of MPICH and its kin, of a Slurm step, of
/// torchrun. Throws UsageError: a value that is no number, a rank outside of the job, ranks
/// that torchrun started on several hosts, more than kMaxRanks.
[[nodiscard]] std::optional<Launch> find_launch(const Environment& environment);
/// The same of this process's environment.
[[nodiscard]] std::optional<Launch> find_launch();

}  // namespace warren::team
