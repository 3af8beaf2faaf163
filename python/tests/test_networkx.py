# SPDX-License-Identifier: Apache-2.0
"""The backend of NetworkX: its answers, its exceptions, and what it leaves to NetworkX. The backend is called as NetworkX calls it, installed or not."""
import copy
import json
import os
import random
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import warren
from warren import nx_backend
from warren.nx_backend import SCALES_SAMPLES, NxGraph, backend
from warren.nx_info import FUNCTIONS, get_info

INSTALLED = "warren" in nx.config.backends


@st.composite
def graphs(draw):
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
    n = draw(st.integers(1, 10))
    ids = st.integers(0, n - 1)
    G = kind()
    names = draw(st.permutations([f"node {v}" for v in range(n)]))
    G.add_nodes_from(names)
    for u, v, w in draw(st.lists(st.tuples(ids, ids, st.none() | st.integers(1, 9) | st.sampled_from([0.5, 2.25])), max_size=25)):
        G.add_edge(names[u], names[v], **({} if w is None else {"weight": w}))
    return G


def convert(G, weight="weight"):
    return backend.convert_from_nx(G, edge_attrs=None if weight is None else {weight: 1})


@given(graphs(), st.sampled_from([None, "weight"]), st.sampled_from([0.85, 0.5]), st.booleans())
def test_pagerank(G, weight, alpha, starts):
    personalization = {node: 1 + place for place, node in enumerate(list(G)[::2])} if starts else None
    expected = nx.pagerank(G, alpha, personalization, weight=weight, max_iter=500, tol=1e-9)
    found = backend.pagerank(convert(G, weight), alpha, personalization, weight=weight, max_iter=500, tol=1e-9)
    assert list(found) == list(expected)
    assert max(abs(found[node] - expected[node]) for node in G) < 1e-7


@given(graphs(), st.sampled_from([None, "weight"]), st.booleans(), st.data())
def test_pagerank_that_starts_and_dangles_where_it_is_told(G, weight, personal, data):
    some = st.dictionaries(st.sampled_from(list(G)), st.integers(0, 9) | st.sampled_from([0.25, 1e-3]), min_size=1).filter(lambda values: any(values.values()))
    options = {"personalization": data.draw(some) if personal else None, "nstart": data.draw(st.none() | some), "dangling": data.draw(st.none() | some)}
    for limits in ({"max_iter": 500, "tol": 1e-9}, {"max_iter": 4, "tol": 1e-2}):
        assert backend.can_run("pagerank", (G,), {**options, **limits}) is True
        agree_closely(lambda: backend.pagerank(convert(G, weight), weight=weight, **options, **limits), lambda: nx.pagerank(G, weight=weight, **options, **limits))


@given(graphs(), st.none() | st.integers(-1, 4) | st.sampled_from([1.5, float("inf")]))
def test_searches(G, cutoff):
    source = next(iter(G))
    H = convert(G)
    depth = backend.single_source_shortest_path_length(H, source, cutoff)
    assert depth == nx.single_source_shortest_path_length(G, source, cutoff)
    assert list(depth.values()) == sorted(depth.values())
    for weight in (None, "weight"):
        distance = backend.single_source_dijkstra_path_length(convert(G, weight), source, cutoff, weight)
        expected = nx.single_source_dijkstra_path_length(G, source, cutoff, weight)
        assert distance == expected and list(distance.values()) == list(expected.values())


@given(graphs(), st.permutations(["weight", None]))
def test_one_graph_with_and_without_its_weights(G, order):
    """NetworkX keeps the graph that it converted for a call with weights, and hands it to calls without."""
    kept = convert(G)
    source = next(iter(G))
    for weight in [*order, *order]:
        expected = nx.pagerank(G, weight=weight, max_iter=500, tol=1e-9)
        assert backend.pagerank(kept, weight=weight, max_iter=500, tol=1e-9) == pytest.approx(expected, abs=1e-7)
        lengths = nx.single_source_dijkstra_path_length(G, source, weight=weight)
        assert backend.single_source_dijkstra_path_length(kept, source, weight=weight) == pytest.approx(lengths)
    with pytest.raises(ValueError, match="weight: got 'cost', expected 'weight'"):
        backend.pagerank(kept, weight="cost")


@given(graphs())
def test_components(G):
    H = convert(G, None)
    kind = "weakly_" if G.is_directed() else ""
    assert list(getattr(backend, f"{kind}connected_components")(H)) == list(getattr(nx, f"{kind}connected_components")(G))
    assert getattr(backend, f"number_{kind}connected_components")(H) == getattr(nx, f"number_{kind}connected_components")(G)
    assert getattr(backend, f"is_{kind}connected")(H) == getattr(nx, f"is_{kind}connected")(G)
    with pytest.raises(nx.NetworkXNotImplemented):
        getattr(backend, "is_connected" if G.is_directed() else "is_weakly_connected")(H)


@given(graphs(), st.booleans())
def test_betweenness(G, normalized):
    found, expected = backend.betweenness_centrality(convert(G, None), normalized=normalized), nx.betweenness_centrality(G, normalized=normalized)
    assert list(found) == list(expected) and np.allclose(list(found.values()), list(expected.values()), rtol=1e-9, atol=1e-12)


SEEDS = st.sampled_from([7, 2**40]) | st.builds(random.Random, st.integers(0, 9)) | st.builds(np.random.RandomState, st.integers(0, 9)) | st.builds(np.random.default_rng, st.integers(0, 9))


@pytest.mark.skipif(not SCALES_SAMPLES, reason="this NetworkX scales sampled sums otherwise")
@given(graphs(), st.none() | st.integers(-1, 11), st.booleans(), st.booleans(), SEEDS)
def test_betweenness_of_sampled_nodes_and_of_endpoints(G, k, normalized, endpoints, seed):
    options = {"k": k, "normalized": normalized, "endpoints": endpoints}
    kept = copy.deepcopy(seed)
    assert backend.can_run("betweenness_centrality", (G,), {**options, "seed": seed}) is True
    try:
        expected = nx.betweenness_centrality(G, **options, seed=seed)
    except (ValueError, ZeroDivisionError) as error:  # No such sample, or an empty one.
        with pytest.raises(type(error), match=re.escape(str(error))):
            backend.betweenness_centrality(convert(G, None), **options, seed=kept)
        return
    found = backend.betweenness_centrality(convert(G, None), **options, seed=kept)
    assert list(found) == list(expected) and np.allclose(list(found.values()), list(expected.values()), rtol=1e-9, atol=1e-12, equal_nan=True)
    if not isinstance(seed, int):  # As many numbers were drawn.
        assert kept.random() == seed.random()


def test_endpoints_of_a_directed_graph_whose_searches_do_not_fit_at_once(monkeypatch):
    G = nx.gnp_random_graph(40, 0.05, seed=2, directed=True)
    monkeypatch.setattr(nx_backend, "SEARCH_BYTES", 40 * 8 * 3)
    for k in (None, 7) if SCALES_SAMPLES else (None,):
        found = backend.betweenness_centrality(convert(G, None), k=k, endpoints=True, seed=1)
        assert found == pytest.approx(nx.betweenness_centrality(G, k=k, endpoints=True, seed=1), rel=1e-9)


@given(graphs())
def test_counts(G):
    H = convert(G, None)
    nodes = [*list(G)[::2], "no node"]
    for arguments in ((), (nodes[0],), (nodes,)):
        agree(lambda: backend.triangles(H, *arguments), lambda: nx.triangles(G, *arguments))
    agree(lambda: backend.core_number(H), lambda: nx.core_number(G))
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    agree(lambda: backend.core_number(convert(G, None)), lambda: nx.core_number(G))


@pytest.mark.parametrize("p", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_cores_of_directed_graphs(p, seed):
    G = nx.gnp_random_graph(60, p, seed=seed, directed=True)
    G.add_edges_from([(v, u) for u, v in list(G.edges)[::2]])  # Edges both ways count twice.
    assert backend.core_number(convert(G, None)) == nx.core_number(G)


def agree(ours, theirs):
    """In the answer and its order, or in the exception and its text."""
    try:
        expected = theirs()
    except nx.NetworkXException as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            ours()
    else:
        assert ours() == expected and list(map(repr, [ours()])) == list(map(repr, [expected]))


@given(graphs())
def test_there_and_back(G):
    back = backend.convert_to_nx(convert(G))
    assert type(back) is type(G) and list(back) == list(G)
    assert len(convert(G)) == len(G) and convert(G).number_of_edges() == G.number_of_edges()

    def edges(graph):
        return sorted((sorted((u, v)) if not graph.is_directed() else [u, v], w) for u, v, w in graph.edges(data="weight", default=1))

    assert edges(back) == edges(G)


def test_exceptions():
    H = convert(nx.path_graph(3))
    with pytest.raises(nx.NodeNotFound, match="Source 9 is not in G"):
        backend.single_source_shortest_path_length(H, 9)
    with pytest.raises(nx.NodeNotFound, match="Node 9 not found in graph"):
        backend.single_source_dijkstra_path_length(H, 9)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(H, max_iter=1)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(H, max_iter=0)
    with pytest.raises(ZeroDivisionError):
        backend.pagerank(H, personalization={"no node": 1})
    for option in ("nstart", "dangling"):
        with pytest.raises(NotImplementedError, match=f"{option}: got numbers with the sum 0.0"):
            backend.pagerank(H, **{option: {"no node": 1}})
        with pytest.raises(NotImplementedError, match=f"{option}: got -1.0 for vertex 0"):
            backend.pagerank(H, **{option: {0: -1}})
    assert backend.pagerank(convert(nx.Graph())) == {}
    for function in (backend.is_connected, backend.is_weakly_connected):
        with pytest.raises(nx.NetworkXPointlessConcept):
            function(convert(nx.Graph() if function is backend.is_connected else nx.DiGraph()))
    assert list(backend.connected_components(convert(nx.Graph()))) == []


@pytest.mark.parametrize("weight", ["far", float("nan"), None])
def test_weights_that_are_no_numbers(weight):
    G = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 2})])
    with pytest.raises(NotImplementedError, match="weight"):
        backend.pagerank(convert(G))


def test_cutoff_below_zero():
    """Such a cutoff leaves the source alone, but where a weight is below 0: that call is left to NetworkX."""
    G = nx.DiGraph([(0, 1, {"weight": 0.5})])
    assert backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=-1) == {0: 0}
    for wrong in (-1, -0.5, float("nan")):
        G.edges[0, 1]["weight"] = wrong
        with pytest.raises(NotImplementedError, match="cutoff"):
            backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=-1)
    assert backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=-1, weight=None) == {0: 0}
    with pytest.raises(ValueError, match="weight"):
        backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=-1, weight="other")


def test_the_source_is_at_the_int_0():
    for weight in (1, 0.5):
        G = nx.DiGraph([(0, 1, {"weight": weight})])
        expected = nx.single_source_dijkstra_path_length(G, 0)
        found = backend.single_source_dijkstra_path_length(convert(G), 0)
        assert found == expected and [type(value) for value in found.values()] == [type(value) for value in expected.values()]


def test_cutoff_of_weights_that_float32_does_not_hold():
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, 0.1, "weight")
    with pytest.raises(NotImplementedError, match="cutoff"):
        backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=0.1)
    assert list(backend.single_source_dijkstra_path_length(convert(G), 0)) == list(backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=float("inf"))) == [0, 1, 2, 3]
    nx.set_edge_attributes(G, 0.5, "weight")
    assert backend.single_source_dijkstra_path_length(convert(G), 0, cutoff=1) == nx.single_source_dijkstra_path_length(G, 0, cutoff=1)


def test_odd_arguments_are_answered_as_by_networkx():
    G = nx.gnp_random_graph(8, 0.6, seed=1)
    for nodes in (99, [[1]], [0, 99], "ab", iter([1, 2]), ({"a"},)):
        kept = list(nodes) if hasattr(nodes, "__next__") else nodes
        agree(lambda: backend.triangles(convert(G, None), kept), lambda: nx.triangles(G, kept))
    H = convert(G)
    assert backend.single_source_shortest_path_length(H, 0, -float("inf")) == nx.single_source_shortest_path_length(G, 0, -float("inf")) == {0: 0}
    for function in (nx.single_source_dijkstra_path_length, lambda _, source: backend.single_source_dijkstra_path_length(H, source)):
        with pytest.raises(TypeError, match="unhashable"):
            function(G, [1])


def test_personalized_ranks_after_a_few_iterations():
    """Both start from 1 / n, so that they need as many."""
    for seed in range(20):
        G = nx.gnp_random_graph(40, 0.05, seed=seed, directed=True)
        for options in ({}, {"tol": 1e-4}, {"max_iter": 30}, {"max_iter": 3, "tol": 1e-2}):
            agree_closely(lambda: backend.pagerank(convert(G), personalization={0: 1}, **options), lambda: nx.pagerank(G, personalization={0: 1}, **options))


def agree_closely(ours, theirs):
    try:
        expected = theirs()
    except nx.PowerIterationFailedConvergence:
        with pytest.raises(nx.PowerIterationFailedConvergence):
            ours()
    else:
        found = ours()
        assert max(abs(found[node] - rank) for node, rank in expected.items()) < 1e-9


def test_no_warning_for_parallel_edges(caplog):
    G = nx.MultiGraph([(0, 1, {"weight": 2}), (0, 1, {"weight": 3})])
    assert backend.single_source_dijkstra_path_length(convert(G), 0) == {0: 0, 1: 2} and warren.from_networkx(G).sssp(0).to_dict() == {0: 0, 1: 2}
    assert backend.pagerank(convert(G)) and not caplog.records


@pytest.mark.parametrize("weight", [-1, 2**40])
def test_weights_that_are_left_to_networkx(weight):
    with pytest.raises(NotImplementedError, match="weight"):
        backend.single_source_dijkstra_path_length(convert(nx.Graph([(0, 1, {"weight": weight})])), 0)


@pytest.mark.parametrize("name, args, kwargs", [
    ("pagerank", (), {"nstart": [1]}), ("pagerank", (), {"dangling": [1]}), ("pagerank", (), {"weight": len}), ("pagerank", (1.5,), {}), ("pagerank", (-0.1,), {}), ("pagerank", (), {"tol": -1}),
    ("pagerank", (), {"personalization": [1]}), ("single_source_shortest_path_length", (0, "far"), {}), ("single_source_dijkstra_path_length", (0,), {"weight": len}),
    ("single_source_dijkstra_path_length", (0,), {"cutoff": float("nan")}), ("pagerank", ("a",), {}),
    ("betweenness_centrality", (), {"weight": "weight"}), ("closeness_centrality", (), {})])
def test_what_it_cannot_run(name, args, kwargs):
    assert isinstance(backend.can_run(name, (None, *args), kwargs), str)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("directed", [False, True])
def test_ranks_without_damping(directed, weight):
    """No rank starts anew. Both converge in as many iterations, or neither."""
    ends = set()
    for seed in range(30):
        G = nx.gnp_random_graph(12, 0.15 + 0.01 * seed, seed=seed, directed=directed)
        for at, edge in enumerate(G.edges):
            G.edges[edge]["weight"] = 1 + at % 3
        for options in ({}, {"nstart": {0: 1, 1: 2}}, {"dangling": {0: 1}}, {"max_iter": 5}, {"tol": 1e-3}):
            assert backend.can_run("pagerank", (G, 1), {**options, "weight": weight}) is True
            agree_closely(lambda: backend.pagerank(convert(G, weight), 1, weight=weight, **options), lambda: nx.pagerank(G, 1, weight=weight, **options))
            try:
                ends.add(bool(nx.pagerank(G, 1, weight=weight, **options)))
            except nx.PowerIterationFailedConvergence:
                ends.add(False)
    assert ends == {True, False}
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(convert(nx.path_graph(4)), 1.0, nstart={0: 1})


# NetworkX's own tests of these functions, and of what they are used for.
TESTS_OF_NETWORKX = ("link_analysis/tests/test_pagerank.py", "centrality/tests/test_betweenness_centrality.py", "tests/test_core.py", "tests/test_cluster.py",
                     "components/tests/test_connected.py", "components/tests/test_weakly_connected.py", "shortest_paths/tests/test_unweighted.py",
                     "shortest_paths/tests/test_weighted.py")


@pytest.mark.skipif(not INSTALLED, reason="NetworkX does not know the backend: warren is not installed")
@pytest.mark.parametrize("fallback", ["True", ""])
def test_networkx_own_tests_pass(tmp_path, fallback):
    """With the backend on, which each of its functions is called by. Without the fallback tests of what the backend does not have are expected to fail."""
    folder = Path(nx.__file__).parent
    if not all((folder / "algorithms" / file).is_file() for file in TESTS_OF_NETWORKX):
        pytest.skip("this NetworkX came without its tests")
    script = textwrap.dedent("""
        import json, sys
        import pytest
        from warren.nx_backend import Backend
        from warren.nx_info import FUNCTIONS

        calls = dict.fromkeys(FUNCTIONS, 0)

        def counted(name, function):
            def call(*args, **kwargs):
                calls[name] += 1
                return function(*args, **kwargs)
            return staticmethod(call)

        for name in FUNCTIONS:
            setattr(Backend, name, counted(name, getattr(Backend, name)))
        status = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-c", sys.argv[1], "--tb=no", "--rootdir", sys.argv[2], *sys.argv[3:]])
        print("\\n" + json.dumps({"status": int(status), "calls": calls}))
    """)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    files = [str(folder / "algorithms" / file) for file in TESTS_OF_NETWORKX]
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "warren", "NETWORKX_FALLBACK_TO_NX": fallback}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "pytest.ini"), str(folder), *files], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == 0, done.stdout + done.stderr
    # Where functions call each other, NetworkX's own run; without them many tests do not reach the backend's.
    reached = all if fallback else any
    assert reached(told["calls"].values()), told["calls"]


def test_what_it_runs():
    G = nx.gnp_random_graph(200, 0.1, seed=1)
    for name in FUNCTIONS:
        assert backend.can_run(name, (G, 0) if "source" in name else (G,), {}) is True
        assert callable(getattr(backend, name))
    assert backend.should_run("pagerank", (G,), {}) is True
    assert isinstance(backend.should_run("pagerank", (nx.path_graph(3),), {}), str)
    assert set(get_info()["functions"]) == set(FUNCTIONS)


@pytest.mark.skipif(not INSTALLED, reason="the package is not installed, so that NetworkX does not know the backend")
class TestDispatch:
    def test_the_keyword_and_the_cache(self):
        G = nx.gnp_random_graph(300, 0.02, seed=1, directed=True)
        G.edges[next(iter(G.edges))]["weight"] = 3.5
        expected = nx.pagerank(G)
        found = nx.pagerank(G, backend="warren")
        assert max(abs(found[node] - expected[node]) for node in G) < 1e-6
        cached = next(iter(G.__networkx_cache__["backends"]["warren"].values()))
        assert isinstance(cached, NxGraph)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert nx.pagerank(G, backend="warren") == found
        G.add_edge(0, 1, weight=50)
        assert nx.pagerank(G, backend="warren") != found

    def test_refused_and_left_to_networkx(self):
        G = nx.path_graph(4)
        with pytest.raises(NotImplementedError):
            nx.pagerank(G, nstart={0: -1, 1: 3}, backend="warren")
        with nx.config(backend_priority=["warren"], fallback_to_nx=True):
            nx.set_edge_attributes(G, 2, "weight")
            assert nx.betweenness_centrality(G, weight="weight") == nx.betweenness_centrality(G, weight="weight", backend="networkx")
        assert nx.pagerank(nx.complete_graph(4), alpha=1, backend="warren") == pytest.approx(dict.fromkeys(range(4), 0.25))
        assert nx.core_number(nx.DiGraph(G), backend="warren") == nx.core_number(nx.DiGraph(G), backend="networkx")
        with pytest.raises(nx.NetworkXNotImplemented, match="^not implemented for directed type$"):
            nx.triangles(nx.DiGraph(G), backend="warren")
        for options in ({"nstart": {0: 1}}, {"dangling": {0: 1}}):
            expected, found = nx.pagerank(G, **options, backend="networkx"), nx.pagerank(G, **options, backend="warren")
            assert max(abs(found[node] - expected[node]) for node in G) < 1e-12

    def test_converted_by_hand(self):
        H = backend.convert_from_nx(nx.path_graph(4))
        assert nx.single_source_shortest_path_length(H, 0) == {0: 0, 1: 1, 2: 2, 3: 3}
        assert nx.is_connected(H)
        assert isinstance(warren.from_networkx(nx.path_graph(4)).bfs(0).depth, np.ndarray)
