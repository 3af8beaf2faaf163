# SPDX-License-Identifier: Apache-2.0
"""Parts and orders of vertices against counts by NumPy; names that graphs in another order keep; and arguments that are refused."""
import networkx as nx
import numpy as np
import pytest

import warren

RNG = np.random.default_rng(9)
GRAPHS = {"directed": warren.from_edges(*RNG.integers(0, 120, (2, 700)), num_vertices=130), "weighted": warren.from_edges(*RNG.integers(0, 50, (2, 200)), RNG.integers(1, 9, 200), symmetrize=True),
          "grid": warren.read("grid:12x9"), "one vertex": warren.from_edges([0], [0]), "without edges": warren.from_edges([], [], num_vertices=7), "empty": warren.from_edges([], [])}


def metis_or_skip(graph, parts):
    try:
        return graph.partition(parts, "metis")
    except ValueError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("method", ["ranges", "random", "degree", "rabbit", "metis"])
def test_partition(name, method):
    graph = GRAPHS[name]
    src, dst, _ = graph.to_edges()
    for parts in (1, 2, 4):
        found = metis_or_skip(graph, parts) if method == "metis" else graph.partition(parts, method)
        part = found.part
        assert part.dtype == np.int32 and part.shape == (graph.num_vertices,) and found.cuts[0] == 0 and found.cuts[-1] == graph.num_vertices
        assert np.array_equal(np.sort(found.new_id), np.arange(graph.num_vertices))
        assert np.array_equal(np.searchsorted(found.cuts, found.new_id, side="right") - 1, part)
        is_cut = part[src] != part[dst]
        halo = len(set(zip(part[src[is_cut]].tolist(), dst[is_cut].tolist())))
        assert (found.cut_edges, found.halo_rows) == (is_cut.sum(), halo)
        assert (found.volume["per_edge"], found.volume["once"], found.volume["broadcast"]) == (is_cut.sum(), halo, graph.num_vertices * (parts - 1))
        if graph.num_edges > 0:
            assert found.imbalance == pytest.approx(np.bincount(part[src], minlength=parts).max() * parts / graph.num_edges)
        assert np.array_equal(warren.partition(graph, parts, method).part, part)
        info = found.info
        assert (info["command"], info["parts"], info["method"], info["cut_edges"]) == ("partition", parts, method, found.cut_edges)
        assert found.to_dict() == dict(enumerate(part.tolist()))


def test_partition_options():
    grid = GRAPHS["grid"]
    found = grid.partition(4, workgroup=2)
    assert 0 < found.volume_between["once"] < found.volume["once"] and found.volume["cover"] > 0
    assert grid.partition(4, cover=False).volume["cover"] == 0
    assert not np.array_equal(grid.partition(method="random", seed=1).part, grid.partition(method="random", seed=2).part)
    assert "4 parts by ranges" in repr(found)


@pytest.mark.parametrize("order", ["rabbit", "degree", "random"])
@pytest.mark.parametrize("name", GRAPHS)
def test_reorder(name, order):
    graph = GRAPHS[name]
    found = graph.reorder(order, return_graph=True)
    assert np.array_equal(found.new_id[found.old_id], np.arange(graph.num_vertices)) and found.info["order"] == order
    before, after = graph.to_edges(), found.graph.to_edges()
    keys = [list(zip(*(array.tolist() for array in edges if array is not None))) for edges in ((found.new_id[before[0]], found.new_id[before[1]], before[2]), after)]
    assert sorted(keys[0]) == sorted(keys[1])
    if order == "degree":
        assert np.array_equal(found.old_id, np.argsort(-graph.degree(), kind="stable"))
    assert warren.reorder(graph, order).graph is None
    assert found.graph.is_symmetric == graph.is_symmetric


def test_names_are_kept(tmp_path):
    G = nx.karate_club_graph()
    club = warren.from_networkx(nx.relabel_nodes(G, {v: f"member {v}" for v in G}), weight=None)
    turned = club.reorder("degree", return_graph=True).graph
    assert turned.bfs("member 5").to_dict() == club.bfs("member 5").to_dict() and turned.names != club.names
    words = tmp_path / "words.el"
    words.write_text("b a\na c\nc d\nc a\n")
    graph = warren.read(words, ids="words")
    turned = graph.reorder("degree", return_graph=True).graph
    assert sorted(turned.names) == sorted(graph.names) and turned.bfs("b").to_dict() == graph.bfs("b").to_dict()
    gaps = tmp_path / "gaps.el"
    gaps.write_text("10 70\n70 90\n70 10\n")
    graph = warren.read(gaps, compact=True)
    turned = graph.reorder("degree", return_graph=True).graph
    assert turned.labels() == [70, 10, 90]


@pytest.mark.parametrize("call, message", [
    (lambda g: g.partition(0), "parts: got 0"), (lambda g: g.partition(1025), "parts: got 1025"), (lambda g: g.partition(2.0), "parts: got 2.0"), (lambda g: g.partition(method="rangs"), "method: got 'rangs'"),
    (lambda g: g.partition(4, workgroup=3), "workgroup: got 3"), (lambda g: g.partition(seed=-1), "seed: got -1"), (lambda g: g.reorder("none"), "order: got 'none'"),
    (lambda g: g.reorder("random", seed=2**64), "seed: got"), (lambda g: g.reorder("degree", seed=3), 'seed: got 3, but order "degree" draws nothing'),
    (lambda g: g.partition(seed=1), 'seed: got 1, but method "ranges" draws nothing'), (lambda g: g.betweenness(seed=1), "seed: got 1, but nothing is drawn"),
    (lambda g: g.betweenness([0, 1], seed=1), "seed: got 1, but nothing is drawn"), (lambda g: warren.partition(3), "graph: got int"), (lambda g: warren.reorder("debian"), "graph: got str"),
    (lambda g: g.partition(session=3), "session: got 3")])
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(GRAPHS["grid"])
