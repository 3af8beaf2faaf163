# SPDX-License-Identifier: Apache-2.0
"""Interpreters as ranks of one team: the variables are those that torchrun sets."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HANG_SECONDS, PACKAGE, environment
from rank_processes import start

import warren

PLUGIN = Path(os.environ.get("WARREN_MPI") or PACKAGE / "libwarren_mpi.so")

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


def test_each_gets_the_whole_result():
    alone = json.loads(subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout)
    assert (alone["rank"], alone["size"], alone["launcher"]) == (0, 1, "")
    for rank, (status, out, err) in enumerate(start(SCRIPT, 3)):
        assert (status, err) == (0, "")
        found = json.loads(out)
        assert (found["rank"], found["size"], found["launcher"]) == (rank, 3, "torchrun")
        assert found["depth"] == alone["depth"] and found["reached"] == alone["reached"]
        assert found["rank_sum"] == pytest.approx(alone["rank_sum"])


RANGES = """
import json, sys, warren
ranks = warren.join_processes()
told = {}
for name in (sys.argv[1], "kron:9"):
    options = {"symmetrize": True, "weights": None if name.endswith("wgr") else "uniform:1:9"}
    own, whole = (warren.read(name, **options, edges=edges) for edges in ("ranges", "memory"))
    assert (own.edges_in, own.edges_reason, whole.edges_in) == ("ranges", "", "memory") if ranks.size > 1 else own.edges_in == "memory"
    assert ranks.size == 1 or "not counted" in repr(own)
    assert list(own.bfs(3).depth) == list(whole.bfs(3).depth) and list(own.sssp(3).distance) == list(whole.sssp(3).distance)
    assert list(own.connected_components().label) == list(whole.connected_components().label)
    told[name] = [float(rank) for rank in own.pagerank().rank]
    assert told[name] == [float(rank) for rank in whole.pagerank().rank]
    assert own.num_edges == whole.num_edges and str(own.num_edges) in repr(own) and own.is_weighted
    # What asks for the arrays reads them all.
    assert (own.to_scipy() != whole.to_scipy()).nnz == 0 and own.edges_in == ("ranges" if ranks.size > 1 else "memory")
other = warren.read(sys.argv[2], edges="ranges")
assert other.edges_in == "memory" and (ranks.size == 1) == (other.edges_reason == ""), other.edges_reason
print(json.dumps([round(sum(rank), 5) for rank in told.values()]))
"""


def test_ranks_that_have_their_own_rows(tmp_path):
    graph = warren.generate("kron:8", symmetrize=True, weights="uniform:1:9", seed=2)
    for name in ("graph.wgr", "graph.mtx"):
        graph.save(tmp_path / name)
    for ranks in (1, 3):
        told = start(RANGES, ranks, str(tmp_path / "graph.wgr"), str(tmp_path / "graph.mtx"))
        assert [(status, json.loads(out)) for status, out, _ in told] == [(0, [1.0, 1.0])] * ranks, told
    for make, name in ((warren.read, "kron:4"), (warren.generate, "kron:4")):
        with pytest.raises(ValueError, match="edges: got 'rows', expected .*ranges"):
            make(name, edges="rows")
    with pytest.raises(ValueError, match="edges: got 'file', expected .*ranges"):
        warren.generate("kron:4", edges="file")


def test_an_exception_of_one_ends_the_calls_of_all():
    first, second = start(FAILS, 2)
    assert second[0] == 1 and "lost my way" in second[2]
    assert first[0] == 0 and "told:" in first[1] and "lost my way" in first[1]


OWN = """
import json, warren
import numpy as np
ranks = warren.join_processes()
graph = warren.generate("kron:8", symmetrize=True)
table = warren.Table(np.arange(3000, dtype=np.float32).reshape(1000, 3))
ids = np.arange(ranks.rank, 1000, 7)
assert np.array_equal(table.gather(ids, own=True), np.arange(3000, dtype=np.float32).reshape(1000, 3)[ids])
found = []
# Each as often as it likes, but for the first time.
for at in range(1 + 2 * ranks.rank):
    seeds = np.arange(10 * ranks.rank, 10 * ranks.rank + 40 - at)
    batches = warren.sample_batches(graph, seeds, [4, 3], batch_size=16, in_flight=2, own=True, edge_ids=True)
    assert len(batches) == 3
    offsets, targets = graph.to_csr()[:2]
    for number in range(3):
        batch = batches[number]
        assert list(batch.vertices[:len(seeds[16 * number:16 * number + 16])]) == list(seeds[16 * number:16 * number + 16])
        found.append([int(v) for v in batch.vertices])
    assert len(table.gather(np.zeros(at, dtype=np.int64), own=True)) == at
same = warren.sample_batches(graph, np.arange(40), [4, 3], batch_size=16, in_flight=2, own=True)
print(json.dumps({"found": found, "same": [int(v) for v in same[0].vertices]}))
"""


def test_each_samples_and_gathers_for_itself():
    told = start(OWN, 3)
    assert [(status, err) for status, _, err in told] == [(0, "")] * 3
    drawn = [json.loads(out) for _, out, _ in told]
    assert [len(rank["found"]) for rank in drawn] == [3, 9, 15]
    # Of the same seeds with the same number each draws its own.
    assert len({tuple(rank["same"]) for rank in drawn}) == 3


HOSTS = """
import json, warren
import numpy as np
ranks = warren.join_processes()
graph = warren.generate("kron:8", symmetrize=True)
values = np.arange(3000, dtype=np.float32).reshape(1000, 3)
table = warren.Table(values)
ids = np.arange(0, 1000, 7)
assert np.array_equal(table.gather(ids), values[ids])
assert np.array_equal(table.gather(ids + ranks.rank, own=True), values[ids + ranks.rank])
sums = warren.lookup(table, ids, np.arange(0, len(ids), 5))
batches = warren.sample_batches(graph, np.arange(40), [4, 3], batch_size=16)
# Each as often as it likes, but for the first time.
for at in range(1 + 2 * ranks.rank):
    own = warren.sample_batches(graph, np.arange(40), [4, 3], batch_size=16, own=True)
data = warren.read_dataset("community:600,6", features=5, classes=3)
where = {"devices": 4} if ranks.size == 1 else {}
trained = warren.train(data, "sage", "sampled", fanout=[4, 3], batch=5, hidden=8, epochs=2, device="cpu", **where)
print(json.dumps({"sums": np.asarray(sums).tolist(), "vertices": [[int(v) for v in batch.vertices] for batch in batches], "losses": [epoch["loss"] for epoch in trained.history]}))
"""


def documents(out):
    """The JSON objects that several processes printed, whose lines a launcher may join."""
    decoder, found, at = json.JSONDecoder(), [], out.find("{")
    while at >= 0:
        value, end = decoder.raw_decode(out, at)
        found.append(value)
        at = out.find("{", end)
    return found


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
@pytest.mark.skipif(not PLUGIN.exists(), reason="this build found no MPI")
def test_on_several_hosts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HOSTS, encoding="utf-8")
    variables = {"WARREN_TEST_HOSTS": "2", "WARREN_MPI": str(PLUGIN), "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4", sys.executable, str(script)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_SECONDS, env={**environment(), **variables}).stdout
    told = documents(out)
    assert len(told) == 4 and all(rank == told[0] for rank in told)
    alone = json.loads(subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment()).stdout)
    assert told[0]["sums"] == alone["sums"] and told[0]["vertices"] == alone["vertices"]
    assert told[0]["losses"] == pytest.approx(alone["losses"], rel=5e-5)


def test_own_without_processes():
    import numpy as np

    import warren
    graph = warren.generate("kron:6", symmetrize=True)
    alone = warren.sample_batches(graph, [1, 2, 3], [3], batch_size=2, own=True)
    assert len(alone) == 2
    assert list(warren.Table(np.arange(4.0)).gather([2], own=True)) == [2.0]
    session = warren.Session(device="cpu", devices=2)
    with pytest.raises(ValueError, match="own: ranks of one process have one caller"):
        warren.sample_batches(graph, [1, 2, 3], [3], own=True, session=session)
    with pytest.raises(ValueError, match="edge_times: got an array with own"):
        warren.sample_batches(graph, [1, 2, 3], [3], own=True, edge_times=np.zeros(graph.num_edges, np.int64), seed_times=1)
    with pytest.raises(ValueError, match="own: ranks of one process"):
        warren.Table(np.arange(4.0), session=session).gather([2], own=True)


def test_bad_input():
    late = "import warren\nwarren.generate('kron:4').bfs(0)\ntry:\n    warren.join_processes()\nexcept ValueError as error:\n    print(error)\n"
    assert all("before the first other call" in out for _, out, _ in start(late, 2))
    one = "import warren\ntry:\n    warren.join_processes()\nexcept ValueError as error:\n    print(error)\n"
    (only,) = start(one, 1, WORLD_SIZE="two")
    assert "WORLD_SIZE: got 'two'" in only[1]
    differ = "import sys, os\nsys.argv.append(os.environ['RANK'])\n" + one
    assert all("rank 1 was started with '-c 1', and rank 0 with '-c 0'" in out for _, out, _ in start(differ, 2))
