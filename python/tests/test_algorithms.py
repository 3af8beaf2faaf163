# SPDX-License-Identifier: Apache-2.0
"""Answers against NetworkX's and SciPy's on random graphs, on one to three ranks; and options that are refused."""
import json
import pickle
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from conftest import ranks
from hypothesis import given, strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

import warren


@st.composite
def graphs(draw, least=0):
    """(vertices, sources, targets, integer weights) with self-loops, duplicates and isolated vertices."""
    n = draw(st.integers(least, 14))
    ids = st.integers(0, max(0, n - 1))
    edges = draw(st.lists(st.tuples(ids, ids, st.integers(0, 9)), max_size=40 if n > 0 else 0))
    columns = np.array(edges, np.int64).reshape(-1, 3)
    return n, columns[:, 0], columns[:, 1], columns[:, 2]


@pytest.fixture(scope="module")
def session():
    with warren.Session(device="cpu", threads=2) as made:
        yield made


def smallest(n, src, dst, weights, symmetrize):
    """NetworkX's graph with the smallest of parallel edges' weights."""
    G = nx.Graph() if symmetrize else nx.DiGraph()
    G.add_nodes_from(range(n))
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist()):
        G.add_edge(u, v, weight=min(w, G.edges[u, v]["weight"]) if G.has_edge(u, v) else w)
    return G


common = given(graphs(least=1), st.booleans(), st.integers(1, 3), st.data())


@pytest.mark.parametrize("mode", ["auto", "sync", "async"])
def test_targets_end_a_search(mode, session):
    grid = warren.read("grid:9x7", weights="uniform:1:9", seed=4)
    whole, paths = grid.bfs(3, session=session).depth, grid.sssp(3, session=session).distance
    for targets in (3, [10, 4], np.array([30, 12, 30])):
        limit = whole[targets].max()
        near = grid.bfs(3, targets=targets, mode=mode, devices=2, session=session)
        assert np.array_equal(near.depth, np.where(whole <= limit, whole, -1))
        assert near.reached == (whole <= limit).sum() and near.max_depth == limit
        assert ((near.parent >= 0) == (near.depth >= 0)).all()
        cheap = grid.sssp(3, targets=targets, mode=mode, devices=2, session=session)
        assert np.array_equal(cheap.distance, np.where(paths <= paths[targets].max(), paths, -1))
        assert cheap.reached == (cheap.distance >= 0).sum()
    assert grid.bfs(3, 1, targets=62, session=session).max_depth == 1


def test_sources_are_those_of_the_command_line(tmp_path):
    graph = warren.read("kron:8", symmetrize=True)
    command = [sys.executable, "-m", "warren", "bfs", "kron:8", "--symmetrize", "--seed", "1", "--json", "-"]
    run = json.loads(subprocess.run([*command, "--sources", "5"], check=True, capture_output=True).stdout)
    assert [row["source"] for row in run["sources"]] == graph.random_sources(5).tolist() and (graph.degree()[graph.random_sources(5)] > 0).all()
    assert json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["source"] == graph.busiest_vertex() == graph.degree().argmax()
    with pytest.raises(ValueError, match="count 257: only"):
        graph.random_sources(257)


def test_bfs_from_the_nearest_source(session):
    grid = warren.read("grid:9x7")
    sources = [40, 3, 62, 3]
    nearest = grid.bfs(sources, nearest=True, devices=2, session=session)
    assert np.array_equal(nearest.depth, grid.bfs(sources).depth.min(axis=0))
    assert nearest.reached == 63 and nearest.max_depth == nearest.depth.max()
    assert nearest.parent[[40, 3, 62]].tolist() == [40, 3, 62]
    assert nearest.to_dict()[40] == 0 and len(nearest.to_dict()) == 63
    assert nearest.info["source"] == sources
    tree = grid.bfs(0, deterministic=True, session=session)  # To a vertex from the left, or from above: of two the one above is smaller.
    assert tree.parent.tolist() == [0, *range(8), *range(54)]
    assert grid.bfs([0, 62], 1, nearest=True).reached == 6


def test_sssp_of_several_sources(session):
    drawn = warren.read("grid:9x7", weights="uniform:0:9", seed=4)
    src, dst, weights = drawn.to_edges()
    for grid in (drawn, warren.from_edges(src, dst, weights * 0.37)):
        sources = [40, 3, 62, 3]
        each = grid.sssp(sources, devices=2, session=session)
        assert np.array_equal(each.distance, [grid.sssp(v).distance for v in sources]) and each.reached.tolist() == [63] * 4 and each.source == sources
        told = each.info["sources"]
        assert each.distance.dtype == grid.sssp(3).distance.dtype and [row["source"] for row in told] == sources and [row["reached"] for row in told] == [63] * 4
        assert [row["max_distance"] for row in told] == pytest.approx(each.distance.max(axis=1).tolist()) and [row["sum_distance"] for row in told] == pytest.approx(each.distance.sum(axis=1).tolist())
        with pytest.raises(ValueError, match="to_dict: got a result of several sources"):
            each.to_dict()
        for devices in (1, 2, 3):
            nearest = grid.sssp(sources, nearest=True, devices=devices, session=session)
            assert np.array_equal(nearest.distance, each.distance.min(axis=0)) and nearest.reached == 63 and nearest.info["source"] == sources
        limit = float(np.median(each.distance))
        near = grid.sssp([0, 62], cutoff=limit, session=session)
        assert near.reached.tolist() == [grid.sssp(v, cutoff=limit).reached for v in (0, 62)]
    with pytest.raises(ValueError, match="mode"):
        grid.sssp([0, 1], nearest=True, mode="async", session=session)
    for wrong, error, text in (([], ValueError, "source: got no sources"), ([0, 99], IndexError, r"source\[1\]: got 99")):
        with pytest.raises(error, match=text):
            grid.sssp(wrong, session=session)
    with pytest.raises(ValueError, match="nearest: got True with one source, 0; expected a list of sources"):
        grid.sssp(0, nearest=True, session=session)


CHECKED = [lambda g, **run: g.bfs(0, **run), lambda g, **run: g.bfs([0, 9], **run), lambda g, **run: g.bfs([0, 9], nearest=True, **run),
           lambda g, **run: g.sssp(0, **run), lambda g, **run: g.sssp([0, 9], **run), lambda g, **run: g.sssp([0, 9], nearest=True, cutoff=9, **run),
           lambda g, **run: g.connected_components(**run), lambda g, **run: g.pagerank(dangling={0: 1}, nstart={3: 1}, weighted=True, **run),
           lambda g, **run: g.betweenness(9, **run), lambda g, **run: g.core_number(**run), lambda g, **run: g.triangles(**run)]


@pytest.mark.parametrize("call", CHECKED)
def test_results_are_checked(call, session, monkeypatch):
    graph = warren.read("grid:9x7", weights="uniform:1:9", seed=4)
    found = call(graph, verify=True, devices=2, session=session)
    assert found.verified is True and found.info["verified"] is True
    assert pickle.loads(pickle.dumps(found)).verified is True
    assert call(graph, session=session).verified is None and call(graph, session=session).info["verified"] is None
    with pytest.raises(ValueError, match="verify: got 1"):
        call(graph, verify=1, session=session)

    class Wrong:
        """The library, whose check finds something."""

        def __getattr__(self, name):
            made = getattr(warren._core, name)
            if not callable(made) or isinstance(made, type):
                return made
            return lambda *arguments: (lambda told: (told[0], (*told[1][:9], "vertex 3 has depth 4"), *told[2:]))(made(*arguments))

    monkeypatch.setattr(warren._algorithms, "_core", Wrong())
    with pytest.raises(warren.VerificationError, match="the result is wrong: vertex 3 has depth 4"):
        call(graph, verify=True, session=session)


@common
def test_bfs(session, graph, symmetrize, devices, data):
    n, src, dst, weights = graph
    source = data.draw(st.integers(0, n - 1))
    limit = data.draw(st.none() | st.integers(0, 5))
    mode = data.draw(st.sampled_from(["auto", "sync", "async"]))
    G = smallest(n, src, dst, weights, symmetrize)
    expected = nx.single_source_shortest_path_length(G, source, limit)
    result = warren.from_edges(src, dst, num_vertices=n, symmetrize=symmetrize).bfs(source, limit, devices=devices, mode=mode, session=session)
    assert result.to_dict() == expected
    assert (result.reached, result.max_depth) == (len(expected), max(expected.values()))
    assert result.depth.dtype == result.parent.dtype == np.int32
    for v, depth in enumerate(result.depth.tolist()):
        parent = int(result.parent[v])
        assert parent == (-1 if depth < 0 else v if v == source else parent)
        assert depth <= 0 or (G.has_edge(parent, v) and result.depth[parent] == depth - 1)


@common
def test_sssp(session, graph, symmetrize, devices, data):
    n, src, dst, weights = graph
    source = data.draw(st.integers(0, n - 1))
    cutoff = data.draw(st.none() | st.integers(0, 20))
    scale = data.draw(st.sampled_from([1, 0.5]))
    G = smallest(n, src, dst, weights * scale, symmetrize)
    expected = nx.single_source_dijkstra_path_length(G, source, cutoff)
    made = warren.from_edges(src, dst, weights * scale, num_vertices=n, symmetrize=symmetrize)
    result = made.sssp(source, cutoff=cutoff, devices=devices, session=session)
    assert result.to_dict() == expected and result.reached == len(expected)
    assert result.distance.dtype == (np.float64 if scale == 0.5 and made.num_edges > 0 else np.int64)
    if scale == 1 and cutoff is None and made.num_edges > 0:
        # SciPy takes a weight of 0 for no edge.
        positive = warren.from_edges(src, dst, weights + 1, num_vertices=n, symmetrize=symmetrize)
        reference = dijkstra(positive.to_scipy(), indices=source)
        ours = positive.sssp(source, devices=devices, session=session).distance
        assert np.array_equal(np.where(ours < 0, np.inf, ours), reference)


@given(graphs(), st.booleans(), st.integers(1, 3))
def test_components(session, graph, symmetrize, devices):
    n, src, dst, _ = graph
    result = warren.from_edges(src, dst, num_vertices=n, symmetrize=symmetrize).connected_components(devices=devices, session=session)
    matrix = coo_array((np.ones(src.size, np.int8), (src, dst)), shape=(n, n))
    count, labels = connected_components(matrix, directed=True, connection="weak") if n > 0 else (0, np.zeros(0, int))
    assert result.num_components == count
    assert result.label.tolist() == [int(np.flatnonzero(labels == label)[0]) for label in labels]
    assert result.largest == (np.bincount(labels).max() if n > 0 else 0)
    assert result.form in ("forest", "search") and result.info["form"] == result.form


@given(graphs(), st.integers(1, 3))
def test_components_by_forms(session, graph, devices):
    n, src, dst, _ = graph
    made = warren.from_edges(src, dst, num_vertices=n, symmetrize=True)
    found = {form: made.connected_components(devices=devices, session=session, form=form) for form in ("auto", "forest", "search")}
    assert found["forest"].form == "forest" and found["search"].form == "search"
    for result in found.values():
        assert np.array_equal(result.label, found["forest"].label) and result.num_components == found["forest"].num_components


def test_components_of_a_form_that_cannot_run():
    directed = warren.from_edges([0, 1], [1, 2])
    with pytest.raises(ValueError, match="form=.search..*both ways"):
        directed.connected_components(form="search")
    with pytest.raises(ValueError, match="form: got 'tree', expected"):
        directed.connected_components(form="tree")


@common
def test_pagerank(session, graph, symmetrize, devices, data):
    n, src, dst, weights = graph
    weighted = data.draw(st.booleans())
    starts = data.draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    G = smallest(n, src, dst, weights, symmetrize)
    expected = nx.pagerank(G, tol=1e-12 / n, max_iter=1000, weight="weight" if weighted else None, personalization=None if starts is None else dict(enumerate(starts)))
    made = warren.from_edges(src, dst, weights, num_vertices=n, symmetrize=symmetrize)
    if weighted and not made.is_weighted:
        made = warren.from_edges([0], [0], [1], num_vertices=n) if n == 1 and src.size else made
        weighted = made.is_weighted
    result = made.pagerank(tolerance=1e-12, max_iterations=1000, weighted=weighted, personalization=starts, devices=devices, session=session)
    assert result.converged
    assert np.allclose(result.rank, [expected[v] for v in range(n)], rtol=0, atol=1e-9)
    assert abs(result.rank.sum() - 1) < 1e-9


@common
def test_betweenness(session, graph, symmetrize, devices, data):
    n, src, dst, weights = graph
    made = warren.from_edges(src, dst, num_vertices=n, symmetrize=symmetrize)
    G = smallest(n, src, dst, weights, symmetrize)
    found = made.betweenness(devices=devices, session=session)
    expected = nx.betweenness_centrality(G)
    assert np.allclose(found.score, [expected[v] for v in range(n)], rtol=1e-9, atol=1e-12)
    # All vertices as a list, or drawn, are all vertices.
    for sources in (list(range(n)), n):
        assert np.allclose(made.betweenness(sources, devices=devices, session=session).score, found.score, rtol=1e-9, atol=1e-12)
    some = made.betweenness(data.draw(st.integers(1, n)), normalized=False, seed=3, session=session)
    again = made.betweenness(some.sources, normalized=False, session=session)
    assert np.allclose(some.score, again.score, rtol=1e-9, atol=1e-12) and some.scale == again.scale


@given(graphs(), st.integers(1, 3))
def test_counts(session, graph, devices):
    n, src, dst, weights = graph
    made = warren.from_edges(src, dst, num_vertices=n, symmetrize=True)
    G = smallest(n, src, dst, weights, True)
    found = made.triangles(devices=devices, session=session)
    assert found.to_dict() == nx.triangles(G) and found.triangles * 3 == found.count.sum() and found.count.dtype == np.int64
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    cores = made.core_number(devices=devices, session=session)
    assert cores.to_dict() == nx.core_number(G) and cores.core.dtype == np.int32
    assert n == 0 or (cores.largest, cores.innermost) == (cores.core.max(), np.count_nonzero(cores.core == cores.core.max()))
    # Whatever the edges' direction.
    assert np.array_equal(warren.from_edges(src, dst, num_vertices=n).core_number(devices=devices, session=session).core, cores.core)


def test_results_are_arrays_to_numpy():
    graph = warren.from_edges([0, 1], [1, 2], symmetrize=True)
    assert np.asarray(graph.bfs(0)) is graph.bfs(0).depth or np.asarray(graph.bfs(0)).tolist() == [0, 1, 2]
    assert np.asarray(graph.core_number(), np.float32).dtype == np.float32
    assert np.array(graph.triangles()).tolist() == [0, 0, 0]


def test_many_sources(session):
    graph = warren.generate("kron:8", symmetrize=True)
    single = [graph.bfs(v) for v in (3, 0, 7)]
    many = graph.bfs([3, 0, 7], session=session)
    assert many.depth.shape == many.parent.shape == (3, 256)
    for row, one in enumerate(single):
        assert np.array_equal(many.depth[row], one.depth)
        assert (many.reached[row], many.max_depth[row]) == (one.reached, one.max_depth)
    assert np.array_equal(graph.bfs(np.array([3, 0, 7], np.uint8)).depth, many.depth)
    assert [row["reached"] for row in many.info["sources"]] == [one.reached for one in single] and len(many.info["seconds"]) == 3
    assert [row["levels"] for row in many.info["sources"]] == [one.info["levels"] for one in single]
    assert all(str(one.reached) in line for one, line in zip(single, str(many).strip().splitlines()[1:], strict=True))
    with pytest.raises(ValueError, match="several sources"):
        many.to_dict()


def test_functions_are_the_methods():
    graph = warren.from_edges([0, 1], [1, 0], [1, 2])
    assert np.array_equal(warren.bfs(graph, 0).depth, graph.bfs(0).depth)
    assert np.array_equal(warren.sssp(graph, 1).distance, graph.sssp(1).distance)
    assert np.array_equal(warren.connected_components(graph).label, graph.connected_components().label)
    assert np.array_equal(warren.pagerank(graph).rank, graph.pagerank().rank)


def test_placements():
    graph = warren.generate("kron:8")
    expected = graph.bfs(1).depth
    for edges in ("auto", "device", "host", "compressed-host"):
        result = graph.bfs(1, edges=edges)
        assert np.array_equal(result.depth, expected)
        assert result.info["edges_placement"] == ("device" if edges == "auto" else edges)


def test_no_convergence_is_told():
    result = warren.generate("kron:8").pagerank(tolerance=0, max_iterations=3)
    assert (result.iterations, result.converged) == (3, False)


def test_starts_of_any_size():
    """Their sum need not be a number that float64 holds, and nothing is said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = GRAPH.pagerank(personalization={0: 1e308, 1: 1.5e308, 2: 1e308}).rank
    np.testing.assert_allclose(large, GRAPH.pagerank(personalization={0: 2, 1: 3, 2: 2}).rank, rtol=1e-12)


def test_info_has_the_names_of_the_command_line():
    graph = warren.from_edges([0, 1, 2], [1, 2, 0], [1, 1, 1])
    info = graph.bfs(0, device="cpu", devices=2).info
    assert (info["command"], info["device"], info["devices"], info["vertices"], info["edges"]) == ("bfs", "cpu", 2, 3, 3)
    assert (info["source"], info["reached"], info["max_depth"], info["sum_depth"]) == (0, 3, 2, 3)
    assert info["seconds"] == [graph.bfs(0).seconds] or info["seconds"][0] > 0
    assert graph.sssp(0).info["sum_distance"] == 3 and graph.sssp(0).info["max_distance"] == 2
    assert graph.connected_components().info["components"] == 1
    assert graph.pagerank().info["top"][0][0] == 0
    for call in (graph.bfs(0), graph.sssp(0), graph.connected_components(), graph.pagerank(), graph.bfs([0, 1])):
        assert call.seconds >= 0 and ("GPU" if call.info["device"] == "cuda" else "CPU rank") in repr(call)


GRAPH = warren.from_edges([0, 1], [1, 2], [1, 2])
PLAIN = warren.from_edges([0, 1], [1, 2])
EMPTY = warren.from_edges([], [])
NEGATIVE = warren.from_edges([0, 1], [1, 2], [1, -2])


@pytest.mark.parametrize("call, error, text", [
    (lambda: GRAPH.bfs(-1), IndexError, "source: got -1, expected a vertex, 0 to 2"),
    (lambda: GRAPH.bfs(3), IndexError, "source: got 3"),
    (lambda: GRAPH.bfs(2**70), IndexError, "source"),
    (lambda: EMPTY.bfs(0), IndexError, "the graph has no vertices"),
    (lambda: GRAPH.bfs([0, 3]), IndexError, r"source\[1\]: got 3"),
    (lambda: GRAPH.bfs([]), ValueError, "no sources"),
    (lambda: GRAPH.bfs([], nearest=True), ValueError, "no sources"),
    (lambda: GRAPH.bfs(0, nearest=True), ValueError, "nearest: got True with one source"),
    (lambda: GRAPH.bfs([0, 1], nearest=True, mode="async"), ValueError, "sources"),
    (lambda: GRAPH.bfs(0, targets=3), IndexError, "targets: got 3"),
    (lambda: GRAPH.bfs(0, targets=[1, 3]), IndexError, r"targets\[1\]: got 3"),
    (lambda: GRAPH.bfs(0, targets=[]), ValueError, "targets: got no targets"),
    (lambda: GRAPH.sssp(0, targets=3), IndexError, "targets: got 3"),
    (lambda: GRAPH.bfs(np.zeros((1, 1), int)), ValueError, "source"),
    (lambda: GRAPH.bfs(0.0), ValueError, "source: got 0.0 of type float"),
    (lambda: GRAPH.bfs(True), ValueError, "source"),
    (lambda: GRAPH.bfs(None), ValueError, "source"),
    (lambda: GRAPH.bfs("zero"), IndexError, 'source: got "zero", but the graph has no names'),
    (lambda: GRAPH.bfs(0, targets=["zero"]), IndexError, r'targets\[0\]: got "zero"'),
    (lambda: GRAPH.bfs(0, depth_limit=-1), ValueError, "depth_limit: got -1"),
    (lambda: GRAPH.bfs(0, depth_limit=1.5), ValueError, "depth_limit"),
    (lambda: GRAPH.bfs(0, device="gpu"), ValueError, 'device: got \'gpu\', expected "auto" or "cpu" or "cuda"'),
    (lambda: GRAPH.bfs(0, devices=0), ValueError, "devices: got 0"),
    (lambda: GRAPH.bfs(0, devices=33), ValueError, "devices"),
    (lambda: GRAPH.bfs(0, devices="all"), ValueError, "devices"),
    (lambda: GRAPH.bfs(0, mode="fast"), ValueError, "mode"),
    (lambda: GRAPH.bfs(0, edges="disk"), ValueError, "edges"),
    (lambda: GRAPH.bfs(0, mode="async", edges="compressed-host"), ValueError, "async"),
    (lambda: GRAPH.bfs(0, session=3), ValueError, "session"),
    (lambda: warren.bfs(3, 0), ValueError, "graph"),
    (lambda: PLAIN.sssp(0), ValueError, "no weights"),
    (lambda: NEGATIVE.sssp(0), ValueError, "weight"),
    (lambda: GRAPH.sssp(0, delta=-1), ValueError, "delta"),
    (lambda: GRAPH.sssp(0, delta=0), ValueError, "delta"),
    (lambda: GRAPH.sssp(0, delta="x"), ValueError, "delta"),
    (lambda: GRAPH.sssp(0, cutoff=-1), ValueError, "cutoff"),
    (lambda: GRAPH.sssp(0, cutoff=float("nan")), ValueError, "cutoff"),
    (lambda: GRAPH.sssp([]), ValueError, "source: got no sources, expected one or more"),
    (lambda: GRAPH.betweenness(0), ValueError, "sources: got 0"),
    (lambda: GRAPH.betweenness(4), ValueError, "sources: got 4, expected at most the number of vertices, 3"),
    (lambda: GRAPH.betweenness([]), ValueError, "no sources"),
    (lambda: GRAPH.betweenness([0, 3]), IndexError, r"sources\[1\]: got 3"),
    (lambda: GRAPH.betweenness(1.5), ValueError, "sources: got 1.5"),
    (lambda: GRAPH.betweenness(seed=-1), ValueError, "seed: got -1"),
    (lambda: GRAPH.triangles(), ValueError, "undirected"),
    (lambda: GRAPH.core_number(edges="compressed-host"), ValueError, "edges"),
    (lambda: GRAPH.pagerank(damping=1), ValueError, "damping: got 1, expected 0 or more, and less than 1; weighted, and with a personalization, it may be 1"),
    (lambda: GRAPH.pagerank(damping=1.5, nstart=[1] * GRAPH.num_vertices), ValueError, "damping: got 1.5, expected 0 or more, and less than 1$"),
    (lambda: GRAPH.pagerank(tolerance=-1), ValueError, "tolerance"),
    (lambda: GRAPH.pagerank(tolerance="x"), ValueError, "tolerance"),
    (lambda: GRAPH.pagerank(max_iterations=-1), ValueError, "max_iterations"),
    (lambda: PLAIN.pagerank(weighted=True), ValueError, "weights"),
    (lambda: NEGATIVE.pagerank(weighted=True), ValueError, "weight"),
    (lambda: GRAPH.pagerank(personalization=[1, 2]), ValueError, "personalization: got int64 of shape"),
    (lambda: GRAPH.pagerank(dangling=[1, 2]), ValueError, "dangling: got int64 of shape"),
    (lambda: GRAPH.pagerank(nstart=[0, 0, 0]), ValueError, "nstart: got numbers with the sum 0.0, expected"),
    (lambda: GRAPH.pagerank(nstart={5: 1}), IndexError, "nstart: got 5"),
    (lambda: GRAPH.pagerank(dangling={0: 1}, mode="async"), ValueError, 'dangling: mode="async" has no form of it; give mode="sync"'),
    (lambda: GRAPH.pagerank(personalization=[0, 0, 0]), ValueError, "personalization: got numbers with the sum 0.0, expected"),
    (lambda: GRAPH.pagerank(personalization=[1, -1, 1]), ValueError, "personalization: got -1.0 for vertex 1, expected"),
    (lambda: GRAPH.pagerank(personalization={2: np.nan}), ValueError, "personalization: got nan for vertex 2, expected"),
    (lambda: GRAPH.sample_batches([0, 1, 2], batch_size=2)[2], IndexError, "batch: got 2, expected the number of a batch, 0 to 1"),
    (lambda: GRAPH.sample_batches([0, 1, 2], batch_size=2)[-3], IndexError, "batch: got -3, expected"),
    (lambda: GRAPH.sample_batches([0, 1, 2])["a"], ValueError, "batch: got 'a', expected"),
    (lambda: warren.from_pandas(3, "a", "b"), ValueError, "df: got int, expected a data frame"),
    (lambda: warren.train(GRAPH), ValueError, r"dataset: got warren\S*Graph, expected a warren.Dataset"),
    (lambda: warren.report(GRAPH, 3), ValueError, "out: got 3, expected the path of a file"),
    (lambda: GRAPH.pagerank(personalization={5: 1}), IndexError, "personalization: got 5"),
])
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_gpu_that_is_not_there():
    if warren.bfs(GRAPH, 0).info["device"] == "cuda":
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="GPU"):
        GRAPH.bfs(0, device="cuda")


def test_cutoff_of_weights_that_are_rounded():
    """One-decimal weights, which float32 holds as other numbers: what is within the cutoff by SciPy is reached, and what is farther by more than rounding is not."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        matrix = scipy.sparse.random_array((25, 25), density=0.12, rng=rng, format="csr")
        matrix.data = np.round(matrix.data * 10 + 1) / 10
        graph, cutoff = warren.from_scipy(matrix), float(rng.integers(1, 20) / 10)
        expected = dijkstra(matrix, indices=0, limit=cutoff * (1 + 1e-9))
        for found in (graph.sssp(0, cutoff=cutoff), graph.sssp(0, cutoff=cutoff, mode="async")):
            assert np.array_equal(np.isfinite(found.distance), np.isfinite(expected)) and found.reached == np.isfinite(expected).sum()
    named = warren.from_networkx(nx.Graph([("a", "b", {"weight": 0.1}), ("b", "c", {"weight": 0.2})]))
    assert set(named.sssp("a", cutoff=0.1).to_dict()) == {"a", "b"} and set(named.reversed().sssp("a", cutoff=0.1).to_dict()) == {"a", "b"}
    exact = warren.from_edges([0, 1], [1, 2], np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32))
    assert exact.sssp(1, cutoff=1.0).reached == 1


def test_cutoff_of_a_files_weights(tmp_path):
    path = tmp_path / "edges.wel"
    path.write_text("0 1 0.1\n1 2 0.2\n")
    assert warren.read(path).sssp(0, cutoff=0.1).distance[1] == pytest.approx(0.1)
    assert warren.read(path).sssp(0, cutoff=0.1, mode="async").reached == 2


def test_what_ignores_weights_takes_edges_whose_weights_differ_by_direction():
    src, dst, weights = [0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2], [1, 2, 1, 1, 1, 1, 4, 5]
    graph, plain = warren.from_edges(src, dst, weights), warren.from_edges(src, dst)
    assert not graph.is_symmetric and plain.is_symmetric
    for devices in (1, 2):
        assert graph.triangles(**ranks(devices)).to_dict() == {0: 1, 1: 1, 2: 1, 3: 0}
        assert np.array_equal(graph.betweenness(normalized=False, **ranks(devices)).score, plain.betweenness(normalized=False).score)
    assert graph.sssp(1).distance.tolist() == [2, 0, 1, 5]
    graph.release()
    assert graph.triangles().triangles == 1
    with pytest.raises(ValueError, match="an edge without its reverse"):
        warren.from_edges([0, 1], [1, 2], [1, 2]).triangles()


@pytest.mark.parametrize("call, message", [
    (lambda g: g.pagerank(weighted="weight"), "weighted: got 'weight', expected True or False"), (lambda g: g.bfs(0, deterministic="no"), "deterministic: got 'no'"),
    (lambda g: g.bfs([0], nearest=1), "nearest: got 1"), (lambda g: g.betweenness(normalized=None), "normalized: got None"), (lambda g: g.spmm([1, 1], weighted="weight"), "weighted: got"),
    (lambda g: g.sample([0], replace="yes"), "replace: got 'yes'"), (lambda g: g.random_walks([0], weighted=2), "weighted: got 2"), (lambda g: g.partition(cover=0), "cover: got 0"),
    (lambda g: warren.from_edges([0], [1], symmetrize="no"), "symmetrize: got 'no'"), (lambda g: warren.generate("grid:3x3", drop_self_loops="no"), "drop_self_loops: got 'no'"),
    (lambda g: warren.Session(share_devices=3), "share_devices: got 3"), (lambda g: warren.Session(threads=2**40), "threads: got 1099511627776, expected a number from 1 to 65536"),
    (lambda g: g.sssp(0, cutoff=2**2000), "cutoff: got a number past what float64 holds"), (lambda g: g.pagerank(personalization={0: 10**400}), "personalization: got a number past")])
def test_arguments_of_another_kind(call, message):
    with pytest.raises(ValueError, match=message):
        call(warren.from_edges([0], [1], [1]))


@pytest.mark.parametrize("devices", [1, 2])
def test_ranks_without_a_new_start(devices):
    """By the degrees where the graph is connected, undirected and not bipartite; on a cycle of two they change places for ever."""
    graph = warren.from_edges([0, 1, 2, 2], [1, 2, 0, 3], symmetrize=True)
    found = graph.pagerank(damping=1, nstart=[1, 0, 0, 0], tolerance=1e-12, max_iterations=10000, verify=True, **ranks(devices))
    assert found.converged and found.verified and np.allclose(found.rank, np.array([2, 2, 3, 1]) / 8, atol=1e-9)
    swing = warren.from_edges([0, 1], [1, 0]).pagerank(damping=1, nstart=[1, 0], max_iterations=7, **ranks(devices))
    assert not swing.converged and swing.residual == 2 and swing.rank.tolist() == [0, 1]
    weighted = warren.from_edges([0, 0, 1, 2], [1, 2, 0, 0], [3, 1, 1, 1]).pagerank(damping=1, weighted=True, max_iterations=1, **ranks(devices))
    assert np.allclose(weighted.rank, [2 / 3, 1 / 4, 1 / 12])
    none_left = warren.from_edges([0], [1]).pagerank(damping=1, personalization=[1, 0], max_iterations=2, **ranks(devices))  # The rank of a vertex without out-edges.
    assert np.allclose(none_left.rank, [0.5, 0.5])
