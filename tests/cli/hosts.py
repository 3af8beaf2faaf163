# SPDX-License-Identifier: Apache-2.0
"""Starts ranks on several hosts: one machine whose ranks act as several."""

import bisect
import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

from support import PROGRAM, ProgramTest

MPIRUN = shutil.which("mpirun")
PLUGIN = Path(os.environ.get("WARREN_MPI") or Path(PROGRAM).with_name("libwarren_mpi.so"))
# All ranks end within this time of the first one's end, on a machine that is busy with other things.
SOON = 20
# Longer than any run takes.
PATIENCE = 120
ENDLESS = ("pagerank", "kron:12", "--tolerance", "1e-9", "--repeat", 1000000)
# Libraries of MPI keep memory until the process ends. Containers often refuse their copies from one process to another.
QUIET = {"LSAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_btl_base_warn_component_unused": "0", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class Hosts(ProgramTest):
    """Runs by mpirun."""

    def setUp(self):
        super().setUp()
        if MPIRUN is None:
            self.skipTest("there is no mpirun here (Debian: openmpi-bin)")
        if not PLUGIN.exists():
            self.skipTest(f"there is no {PLUGIN}: this build found no MPI (Debian: libopenmpi-dev)")

    def start(self, ranks, hosts, *arguments, environment=None, folders=None, commands=None):
        words = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        for rank in range(ranks if folders or commands else 1):
            words += [":"] if rank > 0 else []
            words += ["-n", str(1 if folders or commands else ranks)]
            words += ["-wdir", str(folders[rank])] if folders else []
            words += [PROGRAM, *map(str, commands[rank] if commands else arguments), "--device", "cpu"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                   env={**os.environ, **QUIET, "WARREN_TEST_HOSTS": str(hosts), **(environment or {})})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def is_rank(self, folder):
        """A process of this test that has met the others: it has the memory that they share."""
        try:
            return (folder / "cwd").readlink() == self.folder and "memfd:warren" in (folder / "maps").read_text()
        except OSError:
            return False

    def working_ranks(self, count):
        """The ranks' processes, in the order of their start, once all work."""
        last = time.monotonic() + PATIENCE
        ranks = []
        while len(ranks) < count and time.monotonic() < last:
            time.sleep(0.05)
            ranks = sorted(int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self.is_rank(folder))
        self.assertEqual(len(ranks), count)
        time.sleep(0.5)
        return ranks

    def finish(self, process):
        """The exit status, what was printed, and what warren said."""
        out, err = process.communicate(timeout=PATIENCE)
        # mpirun says on its own that a rank has failed.
        return process.returncode, out, [line for line in err.splitlines() if line.startswith("warren: ")]

    def run_hosts(self, ranks, hosts, *arguments, **options):
        status, out, said = self.finish(self.start(ranks, hosts, *arguments, **options))
        self.assertEqual((status, said), (0, []))
        return out

    def fail_hosts(self, status, ranks, hosts, *arguments, says, **options):
        found, out, said = self.finish(self.start(ranks, hosts, *arguments, **options))
        self.assertEqual((found, out, len(said)), (status, "", 1), said)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, said[0])


def owners_of(edges, ranks):
    """Whose vertices are which: ranges of about as many edges."""
    degrees = [0] * (1 + max(max(edge) for edge in edges))
    for u, _ in edges:
        degrees[u] += 1
    offsets = [0, *itertools.accumulate(degrees)]
    cuts = [bisect.bisect_left(offsets, len(edges) * part // ranks) for part in range(1, ranks)]
    return [bisect.bisect_right(cuts, v) for v in range(len(degrees))]


def necessary_rows(edges, ranks, hosts):
    """A row goes to a host once, where some rank of it names the row and none has it."""
    host = [rank % hosts for rank in owners_of(edges, ranks)]
    return len({(host[u], v) for u, v in edges if host[u] != host[v]})
