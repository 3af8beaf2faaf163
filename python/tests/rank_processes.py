# SPDX-License-Identifier: Apache-2.0
"""Starts the ranks of a test, a process each, as torchrun would."""
import os
import subprocess
import sys

JOB = 0


def start(script, ranks, *arguments, **variables):
    """What each process ended with, printed and said."""
    global JOB
    JOB += 1
    processes = []
    for rank in range(ranks):
        said = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_PORT": f"{os.getpid()}", "TORCHELASTIC_RUN_ID": f"test-{JOB}", **variables}
        processes.append(subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                          env={**os.environ, **{name: str(value) for name, value in said.items()}}))
    told = [process.communicate(timeout=120) for process in processes]
    return [(process.returncode, *texts) for process, texts in zip(processes, told, strict=True)]
