# SPDX-License-Identifier: Apache-2.0
"""Answers for public graphs against those of other programs (GOLDEN.json in the folder that WARREN_TEST_DATA names)."""
import json
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import ranks

import warren

DATA = Path(os.environ.get("WARREN_TEST_DATA", "/none"))
GOLDEN = json.loads((DATA / "GOLDEN.json").read_text(encoding="utf-8"))["graphs"] if (DATA / "GOLDEN.json").is_file() else {}
LARGE = 3_000_000

if not GOLDEN:
    pytest.skip(f"there is no GOLDEN.json in \"{os.environ.get('WARREN_TEST_DATA', '')}\"; name its folder with WARREN_TEST_DATA", allow_module_level=True)


@pytest.fixture(scope="module", params=[name for name, golden in GOLDEN.items() if golden["arcs"] <= LARGE])
def case(request):
    """(the golden answers, the graph)"""
    golden = GOLDEN[request.param]
    name = golden["file"]
    symmetrize = ".txt" in name and not golden["directed"] and golden["edge_lines_or_entries"] < golden["arcs"]
    return golden, warren.read(DATA / "graphs" / name, compact=golden["n"] <= golden["max_id"], symmetrize=symmetrize)


def test_shape(case):
    golden, graph = case
    assert (graph.num_vertices, graph.num_edges) == (golden["n"], golden["arcs"])
    assert graph.degree().max() == golden["max_out_degree"]


@pytest.mark.parametrize("devices", [1, 3])
def test_bfs(case, devices):
    golden, graph = case
    for wanted in golden["bfs"]:
        info = graph.bfs(wanted["source"], **ranks(devices)).info
        assert [info[field] for field in ("reached", "max_depth", "sum_depth")] == [wanted[field] for field in ("reached", "max_depth", "sum_depth")]


def test_components(case):
    golden, graph = case
    found = graph.connected_components(**ranks(2))
    assert (found.num_components, found.largest) == (golden["wcc"]["count"], golden["wcc"]["largest"])


def test_sssp(case):
    golden, graph = case
    if "sssp_file_weights" not in golden:
        sources, targets, _ = graph.to_edges()
        ids = np.arange(graph.num_vertices, dtype=np.uint64) if graph.original_ids is None else graph.original_ids
        ends = ids[sources], ids[targets]
        low, high = np.minimum(*ends), np.maximum(*ends)
        mask = np.uint64(0xffffffff)
        hashed = ((low * np.uint64(73856093)) & mask) ^ ((high * np.uint64(19349663)) & mask)
        offsets, targets, _ = graph.to_csr()
        graph = warren.from_csr(offsets, targets, (1 + hashed % np.uint64(255)).astype(np.int32))
        vertices = [int(np.flatnonzero(ids == wanted["source"])[0]) for wanted in golden.get("sssp_hash_weights", [])]
        answers = golden.get("sssp_hash_weights", [])
    else:
        answers = golden["sssp_file_weights"]
        vertices = [wanted["source"] for wanted in answers]
    for v, wanted in zip(vertices, answers):
        info = graph.sssp(v, **ranks(2)).info
        assert [info[field] for field in ("reached", "max_distance", "sum_distance")] == [wanted[field] for field in ("reached", "max_distance", "sum_distances")]


def test_pagerank(case):
    golden, graph = case
    found = graph.pagerank(tolerance=1e-12, max_iterations=500)
    top = golden["pagerank"]["top10"]
    assert found.converged
    ranked = found.top(len(top))
    assert [label for label, _ in ranked] == [label for label, _ in top]
    assert np.allclose([rank for _, rank in ranked], [rank for _, rank in top], rtol=1e-6, atol=0)
