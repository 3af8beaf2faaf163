# SPDX-License-Identifier: Apache-2.0
"""Ranks that are processes: a script that a launcher starts several times over."""
from __future__ import annotations

import sys
from typing import NamedTuple

from . import _core
from ._version import __version__


_joined: Ranks | None = None


class Ranks(NamedTuple):
    """Which rank of how many this process is. launcher: who started them ("Open MPI", "MPICH", "Slurm", "torchrun"); "" for a process alone."""

    rank: int
    size: int
    launcher: str


def join_processes() -> Ranks:
    """Makes this process one rank of a team with the other processes that a launcher (mpirun, srun, torchrun) started, on one host; for bfs, sssp, components
    and pagerank also on several, by mpirun.

    From then on all processes make the same calls, in the same order, with the same arguments, and each gets the whole result; layers over a
    warren.torch.DistributedAdjacency take and give each its own rows. Ranks run on the host's GPUs, one
    each, where it has some and the session does not say device="cpu"; on the CPU, and on several hosts, they share the processors. A script that no launcher started several times is rank 0 of 1, and works as without this call. A second call tells the same again.

        ranks = warren.join_processes()          # mpirun -n 4 python script.py
        depth = warren.read("web.mtx").bfs(0).depth
        if ranks.rank == 0:
            print(depth.max())

    Where one process fails, the calls of the others raise warren.TeamError with the first cause, and the team has ended for good; a process that ends by an
    exception is such a failure. Raises ValueError: the launcher's variables make no sense, ranks are on several hosts and there is no MPI, there are more than
    MAX_DEVICES, warren has worked in this process before, not all ranks come within 30 seconds, or they run different scripts, arguments or versions.
    """
    global _joined
    _joined = Ranks(*_core.join_processes(f"warren {__version__} for Python", " ".join(sys.argv)))
    return _joined


def ranks_of() -> int:
    """How many processes the team has."""
    return 1 if _joined is None else _joined.size


def has_fellows() -> bool:
    """Whether this process is one rank of several."""
    return ranks_of() > 1


def leave() -> None:
    """At the end of the interpreter: tells the others what ended this rank, if an exception did."""
    error = getattr(sys, "last_value", None)
    _core.leave_processes("" if error is None else f"a rank failed: {type(error).__name__}: {error}")
