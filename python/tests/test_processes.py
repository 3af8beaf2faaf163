# SPDX-License-Identifier: Apache-2.0
"""Interpreters as ranks of one team: the variables are those that torchrun sets."""
import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, warren
ranks = warren.join_processes()
assert warren.join_processes() == ranks
graph = warren.generate("kron:8", symmetrize=True)
found = graph.bfs(3)
print(json.dumps({"rank": ranks.rank, "size": ranks.size, "launcher": ranks.launcher, "reached": found.reached, "depth": [int(d) for d in found.depth],
                  "rank_sum": float(graph.pagerank().rank.sum())}))
"""
FAILS = """
import warren
ranks = warren.join_processes()
graph = warren.generate("kron:6")
if ranks.rank == 1:
    raise KeyError("lost my way")
try:
    graph.bfs(0)
except warren.TeamError as error:
    print("told:", error)
"""
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


def test_each_gets_the_whole_result():
    alone = json.loads(subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout)
    assert (alone["rank"], alone["size"], alone["launcher"]) == (0, 1, "")
    for rank, (status, out, err) in enumerate(start(SCRIPT, 3)):
        assert (status, err) == (0, "")
        found = json.loads(out)
        assert (found["rank"], found["size"], found["launcher"]) == (rank, 3, "torchrun")
        assert found["depth"] == alone["depth"] and found["reached"] == alone["reached"]
        assert found["rank_sum"] == pytest.approx(alone["rank_sum"])


def test_an_exception_of_one_ends_the_calls_of_all():
    first, second = start(FAILS, 2)
    assert second[0] == 1 and "lost my way" in second[2]
    assert first[0] == 0 and "told:" in first[1] and "lost my way" in first[1]


def test_bad_input():
    late = "import warren\nwarren.generate('kron:4').bfs(0)\ntry:\n    warren.join_processes()\nexcept ValueError as error:\n    print(error)\n"
    assert all("before the first other call" in out for _, out, _ in start(late, 2))
    one = "import warren\ntry:\n    warren.join_processes()\nexcept ValueError as error:\n    print(error)\n"
    (only,) = start(one, 1, WORLD_SIZE="two")
    assert "WORLD_SIZE: got 'two'" in only[1]
    differ = "import sys, os\nsys.argv.append(os.environ['RANK'])\n" + one
    assert all("rank 1 was started with '-c 1', and rank 0 with '-c 0'" in out for _, out, _ in start(differ, 2))
