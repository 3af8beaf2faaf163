# SPDX-License-Identifier: Apache-2.0
"""The JSON of results is the library's: field by field what the command line writes of the same work."""
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import PACKAGE, environment

import warren

GRAPH = ["kron:7", "--symmetrize", "--weights", "uniform:1:9"]
# What runs of the same work differ in.
VARYING = {"seconds", "date", "threads", "devices_reason", "memory_plan", "teps"}
# What the command line alone knows, and the figures that it asks searches for.
OF_THE_PROGRAM = {"graph", "method", "reorder", "method_chosen", "traversed_edges", "teps", "delta", "relaxed_edges", "partition", "symmetrized", "weights"}


@pytest.fixture(scope="module")
def graph():
    return warren.read("kron:7", symmetrize=True, weights="uniform:1:9")


def command_line(*arguments, cwd=None):
    if not (PACKAGE / "bin" / "warren").is_file():
        pytest.skip("the command line is only in the installed package")
    ran = subprocess.run([sys.executable, "-m", "warren", *arguments, "--json", "-"], env=environment(), capture_output=True, text=True, cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def assert_same(ours, theirs, of_the_program=OF_THE_PROGRAM):
    assert set(theirs) - of_the_program <= set(ours) <= set(theirs), set(ours) ^ set(theirs)
    for name, value in ours.items():
        if name in VARYING:
            assert type(value) is type(theirs[name]), name
        elif name == "sources":
            assert len(value) == len(theirs[name])
            for mine, other in zip(value, theirs[name]):
                sizes = mine.pop("levels", None)  # The program tells those of the first search.
                assert sizes == other.pop("levels", sizes)
                assert_same(mine, other)
        else:
            assert value == theirs[name], name


@pytest.mark.parametrize("method", ["ranges", "degree", "random"])
def test_partition(graph, method):
    found = graph.partition(4, method, workgroup=2)
    theirs = command_line("partition", *GRAPH, "--parts", "4", "--method", method, "--workgroup", "2", "--device", "cpu")
    # The program tells of its session, whose ranks have no part in the work.
    assert_same(found.info, theirs, OF_THE_PROGRAM - {"method"} | {"devices", "devices_reason", "warren", "machine", "date", "threads"})
    assert found.info["seconds"] == [found.seconds] and found.info["volume"] == found.volume and found.info["volume_between_workgroups"] == found.volume_between
    lines = str(found)
    assert f"{method}, 4 parts" in lines and "in workgroups of 2" in lines


def test_reorder(graph):
    found = graph.reorder("degree")
    assert found.info == {"command": "reorder", "device": "cpu", "vertices": 128, "edges": graph.num_edges, "seconds": [found.seconds], "order": "degree"}
    assert "degree, of 128 vertices" in str(found)


def test_searches_of_several_sources(graph):
    sources = graph.random_sources(3).tolist()
    for name, call in (("bfs", graph.bfs), ("sssp", graph.sssp)):
        theirs = command_line(name, *GRAPH, "--sources", "3", "--verify", "--device", "cpu", "--mode", "sync")
        found = call(sources, verify=True, device="cpu", mode="sync")
        assert_same(found.info, theirs)
        assert [row["source"] for row in found.info["sources"]] == sources and found.verified and found.info["verified"] is True
        assert len(str(found).strip().splitlines()) == 4
        far = call(sources, device="cpu", mode="sync", **({"depth_limit": 1} if name == "bfs" else {"cutoff": 4}))
        assert far.info["depth_limit" if name == "bfs" else "cutoff"] in (1, 4) and far.info["verified"] is None


def test_distances_of_several_sources_are_told_in_the_files_units():
    src, dst = np.arange(5), np.arange(1, 6)
    path = warren.from_edges(src, dst, np.full(5, 0.1))
    told = path.sssp([0, 5], device="cpu")
    assert [row["max_distance"] for row in told.info["sources"]] == pytest.approx([0.5, 0]) and [row["reached"] for row in told.info["sources"]] == [6, 1]
    assert "0.5" in str(told)


@pytest.mark.parametrize("task", ["node", "link"])
def test_predict(tmp_path, task):
    name, sizes = "community:300,4", {"features": 8, "classes": 3}
    options = {"task": task, "model": "sage", "mode": "sampled" if task == "link" else "full", "hidden": 16, "epochs": 2, "device": "cpu"}
    warren.train(name, **sizes, **options, checkpoint=tmp_path / "model")
    found = warren.predict(name, tmp_path / "model", device="cpu")
    more = ["--embeddings", "z.npy"] if task == "link" else []
    theirs = command_line("predict", name, "--checkpoint", "model", "--device", "cpu", *more, cwd=tmp_path)
    assert_same(found.info, theirs)
    assert found.info["task"] == task and found.info["seconds"] == [found.seconds] and "sage, on cpu" in str(found)
    if task == "node":
        assert found.info["test_accuracy"] == found.test_accuracy and found.info["trained_on"] is True
