# SPDX-License-Identifier: Apache-2.0
"""Graphs that are read, generated or converted, and what they are asked."""
import gzip
import re
import time

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import ranks, run
from hypothesis import given, strategies as st
from scipy.sparse import coo_array, csr_array

import warren


def test_properties():
    graph = warren.from_edges([0, 1, 1], [1, 0, 3], [1, 1, 2])
    assert (graph.num_vertices, graph.num_edges, len(graph)) == (4, 3, 4)
    assert (graph.is_weighted, graph.is_symmetric, graph.names, graph.original_ids) == (True, False, None, None)
    assert graph.degree().tolist() == [1, 2, 0, 0] and graph.degree().dtype == np.int64
    assert repr(graph) == "<warren.Graph 4 vertices, 3 edges, weighted>"
    sources, targets, weights = graph.to_edges()
    assert (sources.tolist(), targets.tolist(), weights.tolist()) == ([0, 1, 1], [1, 0, 3], [1, 1, 2])
    assert sources.dtype == targets.dtype == np.int32
    with pytest.raises(TypeError, match="graphs are made by"):
        warren.Graph(3)


def test_shipped_dataset():
    graph = warren.read("debian")
    assert graph.num_vertices == len(graph.names) > 60_000
    assert graph.names[graph.vertex("libc6")] == "libc6"
    found = graph.bfs("0ad", depth_limit=1)
    assert found.to_dict()["0ad"] == 0 and found.to_dict()["libc6"] == 1
    assert graph.pagerank().top(1)[0][0] == "libc6"
    with pytest.raises(IndexError, match="no vertex has this name"):
        graph.bfs("libc7777")


def test_reading_options(tmp_path):
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"from,to,km\n10,20,1.5\n20,10,2.5\n20,20,1\n"))
    graph = warren.read(path, compact=True, headings=True)
    assert graph.original_ids.tolist() == [10, 20] and graph.num_edges == 3
    assert graph.bfs(10).to_dict() == {10: 0, 20: 1}
    assert warren.read(str(path), compact=True, drop_self_loops=True, weights="none").num_edges == 2
    assert not warren.read(path, compact=True, weights="none").is_weighted
    words = warren.read(path, ids="words")
    assert words.names == ["10", "20"] and words.bfs("20").to_dict() == {"10": 1, "20": 0}
    assert warren.read(path, format="csv", symmetrize=True).is_symmetric
    drawn = warren.read(path, compact=True, weights="uniform:3:3", seed=7)
    assert drawn.to_edges()[2].tolist() == [3, 3, 3]


def test_one_based(tmp_path):
    path = tmp_path / "edges.el"
    path.write_text("1 2\n2 3\n")
    graph = warren.read(path, one_based=True)
    assert graph.num_vertices == 3 and graph.bfs(1).depth.tolist() == [0, 1, 2]


def test_calls_take_the_ids_of_the_file(tmp_path):
    """As the command line does, and as results tell them."""
    path = tmp_path / "edges.wel"
    path.write_text("10 20 1\n20 30 2\n30 40 3\n20 10 1\n")
    graph = warren.read(path, compact=True)
    found = graph.bfs(20)
    assert found.to_dict() == {10: 1, 20: 0, 30: 1, 40: 2} and (found.source, found.info["source"], graph.vertex(30)) == (20, 20, 2)
    assert found.to_frame().to_dict("list") == {"vertex": [10, 20, 30, 40], "depth": [1, 0, 1, 2], "parent": [20, 20, 20, 30]}
    assert graph.bfs(30).to_frame()["parent"].tolist() == [-1, -1, 30, 30]
    assert graph.bfs([10, 40]).source == [10, 40] and graph.bfs(np.array([40, 10])).depth[0].tolist() == [-1, -1, -1, 0]
    assert graph.bfs(10, targets=[20]).reached == 2 and graph.sssp(20, targets=30).to_dict() == {10: 1, 20: 0, 30: 2} and graph.sssp(30).source == 30
    assert graph.pagerank(personalization={20: 1}, max_iterations=500).top(1)[0][0] == graph.pagerank(personalization=[0, 1, 0, 0], max_iterations=500).info["top"][0][0]
    assert graph.betweenness(sources=[20]).sources.tolist() == [1]
    assert graph.sample([20, 40], [1]).vertices[:2].tolist() == graph.sample(np.array([20, 40]), [1]).vertices[:2].tolist() == [1, 3]
    assert graph.sample_batches([40, 10], [1], batch_size=1)[0].vertices.tolist() == [3] and graph.random_walks([40], 1).walks.tolist() == [[3, 3]]
    assert graph.busiest_vertex() == 20 and sorted(graph.random_sources(3).tolist()) == [10, 20, 30]
    assert graph.reversed().bfs(40).to_dict() == {10: 3, 20: 2, 30: 1, 40: 0}
    assert graph.reorder("degree", return_graph=True).graph.bfs(20).to_dict() == found.to_dict()
    assert graph.connected_components().to_frame()["label"].tolist() == [10] * 4
    for wrong in (0, 15, -1, 2**64, 50):
        with pytest.raises(warren.VertexError, match=f"source: got {wrong}, expected an id of the file's, 10 to 40"):
            graph.bfs(wrong)
    with pytest.raises(warren.VertexError, match=r"seeds\[1\]: got 11"):
        graph.sample(np.array([10, 11]))


def test_frames_tell_vertices_by_one_kind_of_name():
    graph = warren.from_networkx(nx.path_graph(["x", "y", "z"], create_using=nx.DiGraph))
    frame = graph.bfs("y").to_frame()
    assert frame["vertex"].tolist() == ["x", "y", "z"] and frame["parent"].isna().tolist() == [True, False, False] and frame["parent"].tolist()[1:] == ["y", "y"]
    assert graph.connected_components().to_frame().to_dict("list") == {"vertex": ["x", "y", "z"], "label": ["x", "x", "x"]}
    assert graph.bfs("y").source == "y" and graph.busiest_vertex() == "x" and sorted(graph.random_sources(2)) == ["x", "y"]
    assert warren.from_edges([0], [1]).bfs(1).to_frame()["parent"].tolist() == [-1, 1]


@pytest.mark.parametrize("ending", [".wgr", ".npz", ".mtx", ".wel", ".el.gz"])
def test_save_and_read(tmp_path, ending):
    graph = warren.from_edges([0, 1, 2], [1, 2, 0], [4, 5, 6])
    assert graph.save(tmp_path / f"x{ending}") > 0
    again = warren.read(tmp_path / f"x{ending}")
    assert [part.tolist() for part in again.to_edges()[:2]] == [part.tolist() for part in graph.to_edges()[:2]]
    assert ending == ".el.gz" or again.to_edges()[2].tolist() == [4, 5, 6]


def test_generate():
    graph = warren.generate("kron:8", seed=3, symmetrize=True, drop_self_loops=True, weights="uniform:1:9")
    assert graph.num_vertices == 256 and graph.is_symmetric and graph.is_weighted
    assert np.array_equal(graph.to_edges()[1], warren.read("kron:8", seed=3, symmetrize=True, drop_self_loops=True).to_edges()[1])
    assert warren.generate("grid:3x2").num_edges == 14


@pytest.mark.parametrize("call, error, text", [
    (lambda: warren.read("missing.mtx"), FileNotFoundError, "missing.mtx: there is no such file"),
    (lambda: warren.read("no/such"), FileNotFoundError, "no/such"),
    (lambda: warren.read("nonsense"), FileNotFoundError, "is no file, generator or dataset"),
    (lambda: warren.read("missing", format="el"), FileNotFoundError, "missing"),
    (lambda: warren.read("kron:many"), ValueError, "kron:many"),
    (lambda: warren.read("kron:4", format="doc"), ValueError, "doc"),
    (lambda: warren.read("kron:4", weights="some"), ValueError, "weights"),
    (lambda: warren.read("kron:4", weights="file"), ValueError, "weights"),
    (lambda: warren.read("kron:4", weights=3), ValueError, "weights: got 3"),
    (lambda: warren.read("kron:4", seed=-1), ValueError, "seed: got -1"),
    (lambda: warren.read("kron:4", ids="names"), ValueError, "ids: got 'names'"),
    (lambda: warren.read("kron:4", keep_duplicates=True, sum_duplicates=True), ValueError, "keep_duplicates and sum_duplicates"),
    (lambda: warren.read(7), ValueError, "name: got 7"),
    (lambda: warren.read(b"x"), ValueError, "name"),
    (lambda: warren.generate("debian"), ValueError, "spec: got 'debian'"),
    (lambda: warren.generate("kron:99"), ValueError, "kron:99"),
    (lambda: warren.from_edges([0], [1]).save("/no/such/folder/x.wgr"), FileNotFoundError, "/no/such/folder"),
    (lambda: warren.read("missing\0.mtx"), ValueError, "name: got"),
    (lambda: warren.from_edges([0], [1]).save("x\0.wgr"), ValueError, "path: got"),
    (lambda: warren.read("caf\udce9.mtx"), ValueError, "not UTF-8"),
    (lambda: warren.from_edges([0], [1]).save("caf\udce9.wgr"), ValueError, "not UTF-8"),
    (lambda: warren.from_edges([0], [1]).save(b"x.wgr"), ValueError, "path: got"),
    (lambda: warren.from_edges([0], [1]).save(3), ValueError, "path: got 3, expected a str or a path"),
    (lambda: warren.from_edges([0], [1]).save("x.doc"), ValueError, "x.doc"),
    (lambda: warren.from_edges([0], [1]).save("x.graph"), ValueError, "directed"),
    (lambda: warren.from_scipy(np.eye(2)), ValueError, "A: got numpy.ndarray"),
    (lambda: warren.from_scipy(csr_array((2, 3))), ValueError, "expected a square matrix"),
    (lambda: warren.from_scipy(csr_array((2, 2), dtype=complex)), ValueError, "real numbers"),
    (lambda: warren.from_scipy(csr_array([[0, np.nan], [0, 0]])), ValueError, r"^A\[0, 1\]: got NaN, expected numbers$"),
    (lambda: warren.from_scipy(coo_array((np.array([np.nan, 1, 2], np.float32), ([2, 0, 1], [1, 2, 0])), shape=(3, 3))), ValueError, r"^A\[2, 1\]: got NaN, expected numbers$"),
    (lambda: warren.from_networkx(nx.Graph([("a", "b"), ("b", "c", {"weight": float("nan")})])), ValueError, r"^attribute 'weight' of the edge \('b', 'c'\): got NaN, expected numbers$"),
    (lambda: warren.from_networkx(nx.MultiDiGraph([(0, 1), (0, 1, {"far": 1}), (1, 2, {"far": 1e300})]), "far"), ValueError, r"^attribute 'far' of the edge \(1, 2\): got 1e\+300"),
    (lambda: warren.from_networkx([1, 2]), ValueError, "G: got list"),
    (lambda: warren.from_networkx(nx.Graph([(0, 1, {"weight": "far"})])), ValueError, "weight: got 'far'"),
    (lambda: warren.from_networkx(nx.Graph([(0, 1), (1, 2, {"weight": None})])), ValueError, r"weight: got None for the edge \(1, 2\)"),
    (lambda: warren.from_networkx(nx.Graph([(0, 1, {"weight": 1}), (1, 2, {"weight": 2**70})])), ValueError, rf"^weight: got {2**70} for the edge \(1, 2\), expected a number, an integer of 64 bits"),
    (lambda: warren.from_networkx(nx.Graph([(0, 1, {"weight": [1]}), (1, 2, {"weight": [1, 2]})])), ValueError, r"weight: got \[1\] for the edge \(0, 1\)"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": [0]}), "a", "b"), ValueError, "target: got 'b'"),
    (lambda: warren.from_pandas(pandas.DataFrame([[0, 1, 2]], columns=["a", "a", "b"]), "a", "b"), ValueError, "source: got 'a', the name of 2 columns, expected that of one"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": [-1], "b": [0]}), "a", "b", num_vertices=3), IndexError, r"^df\['a'\]\[0\]: got -1"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": [0, 1], "b": [1, 7]}), "a", "b", num_vertices=3), IndexError, r"^df\['b'\]\[1\]: got 7, expected ids of 0 to 2$"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": [0, 1], "b": [1, 0], "w": [1, None]}), "a", "b", "w"), ValueError, r"^df\['w'\]\[1\]: got NaN, expected numbers$"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": ["x", "y"], "b": ["y", "x"], "w": [1, 1e300]}), "a", "b", "w"), ValueError, r"^df\['w'\]\[1\]: got 1e\+300"),
    (lambda: warren.from_edges([0], [1]).save("x.zzz"), ValueError, r"\.npy or \.wgr$"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": [0, None], "b": [1, 2]}), "a", "b"), ValueError, "row 1"),
    (lambda: warren.from_pandas(pandas.DataFrame({"a": ["x"], "b": ["y"]}), "a", "b", num_vertices=9), ValueError, "num_vertices"),
    (lambda: warren.from_pyg(object()), ValueError, "edge_index"),
    (lambda: warren.from_cugraph(object()), ValueError, "cugraph"),
])
def test_refused(call, error, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        call()


def test_a_broken_file_names_its_line(tmp_path):
    path = tmp_path / "broken.el"
    path.write_text("0 1\n2 x\n")
    with pytest.raises(ValueError, match="broken.el.*2"):
        warren.read(path)


@given(st.integers(1, 10), st.data(), st.sampled_from(["csr", "csc", "coo", "lil", "dok"]), st.sampled_from([np.int32, np.int64, np.float32, np.float64, bool, np.uint8]))
def test_scipy_there_and_back(n, data, format, dtype):
    ids = st.lists(st.integers(0, n - 1), min_size=12, max_size=12)
    matrix = coo_array((np.array(data.draw(st.lists(st.integers(1, 5), min_size=12, max_size=12)), dtype), (data.draw(ids), data.draw(ids))), shape=(n, n))
    if format != "coo":
        matrix = matrix.asformat(format)
    graph = warren.from_scipy(matrix)
    back = graph.to_scipy()
    assert graph.is_weighted == (dtype is not bool)
    assert np.array_equal(back.toarray(), matrix.toarray())
    assert back.has_canonical_format and back.indices.dtype == np.int32


def test_scipy_without_a_copy():
    matrix = csr_array((np.array([1, 2], np.float32), np.array([1, 0], np.int32), np.array([0, 1, 2], np.int32)), shape=(2, 2))
    _, targets, weights = warren.from_scipy(matrix, copy=False).to_csr(copy=False)
    assert np.shares_memory(targets, matrix.indices) and np.shares_memory(weights, matrix.data)
    for dtype in (np.int32, np.float32, np.float64, bool):
        messy = csr_array((np.array([1, 2, 4], dtype), np.array([1, 0, 1], np.int32), np.array([0, 3, 3], np.int32)), shape=(2, 2))
        assert np.array_equal(warren.from_scipy(messy).to_scipy().toarray(), messy.toarray()) and messy.nnz == 3 and messy.indices.tolist() == [1, 0, 1]
        both = warren.from_scipy(messy, symmetrize=True)
        assert np.array_equal(warren.from_scipy(both.to_scipy(), symmetrize=True).to_scipy().toarray(), both.to_scipy().toarray())
        assert np.array_equal(both.to_scipy().toarray(), [[2, 5], [5, 0]] if dtype is not bool else [[1, 1], [1, 0]])
    assert warren.from_scipy(scipy.sparse.csr_matrix(matrix)).num_edges == 2


def test_scipy_matrices_may_be_written_later():
    matrix = csr_array((np.array([1, 2], np.float32), np.array([1, 0], np.int32), np.array([0, 1, 2], np.int32)), shape=(2, 2))
    graph = warren.from_scipy(matrix)
    matrix.data *= -1
    matrix.indices[:] = 10**9
    assert graph.sssp(0, **ranks(2)).distance.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [np.int64, np.int32])
@pytest.mark.parametrize("name, at, value", [("indptr", 1, 9), ("indptr", 1, -1), ("indptr", 3, 40), ("indices", 0, 7), ("indices", 0, -1)])
def test_damaged_scipy_matrices_are_refused(kind, name, at, value):
    matrix = scipy.sparse.csr_matrix((np.ones(3, kind), np.array([1, 2, 0], np.int32), np.array([0, 1, 2, 3], np.int32)), shape=(3, 3))
    getattr(matrix, name)[at] = value
    with pytest.raises((ValueError, IndexError)):
        warren.from_scipy(matrix)


def test_scipy_booleans_that_are_false_are_no_edges():
    matrix = csr_array(np.array([[0, 1, 9], [0, 0, 1], [0, 0, 0]])) > 5
    for stored in (matrix, csr_array((np.array([False, True, False]), np.array([1, 2, 2], np.int32), np.array([0, 2, 3, 3], np.int32)), shape=(3, 3))):
        kept = stored.nnz
        assert np.array_equal(warren.from_scipy(stored).to_scipy().toarray(), stored.toarray()) and stored.nnz == kept
    twice = csr_array((np.array([False, True]), np.array([1, 1], np.int32), np.array([0, 2, 2], np.int32)), shape=(2, 2))
    assert warren.from_scipy(twice).num_edges == 1


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx(kind):
    G = kind()
    G.add_node("alone")
    G.add_weighted_edges_from([("a", "b", 3), ("b", (1, 2), 0.5), ("b", "b", 2)])
    G.add_edge("a", (1, 2))
    if G.is_multigraph():
        G.add_edge("a", "b", weight=1)
    graph = warren.from_networkx(G)
    assert graph.names == list(G) and graph.is_symmetric != G.is_directed()
    found = graph.sssp("a")
    assert found.to_dict() == nx.single_source_dijkstra_path_length(G, "a")
    assert graph.bfs((1, 2)).to_dict() == nx.single_source_shortest_path_length(G, (1, 2))
    assert graph.bfs(["a", (1, 2)]).depth.shape == (2, 4)
    assert graph.connected_components().to_dict() == {"alone": "alone", "a": "a", "b": "a", (1, 2): "a"}
    assert set(graph.to_networkx().edges()) == set((nx.DiGraph if G.is_directed() else nx.Graph)(G).edges())
    with pytest.raises(IndexError, match="source: got 'z', expected a node"):
        graph.bfs("z")
    with pytest.raises(IndexError, match="expected a node"):
        graph.bfs(0)


def test_networkx_numbers_as_nodes():
    graph = warren.from_networkx(nx.DiGraph([(7, 3), (3, 5)]), weight=None)
    assert graph.bfs(7).to_dict() == {7: 0, 3: 1, 5: 2} and graph.bfs(3).source == 3
    plain = warren.from_networkx(nx.path_graph(4))
    assert plain.names is None and plain.bfs(0).to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}
    assert warren.from_networkx(nx.Graph()).num_vertices == 0


@pytest.mark.parametrize("view", [lambda G: G.subgraph([9, 2, 3, 4]), lambda G: nx.subgraph_view(G, filter_edge=lambda u, v: u != 2), lambda G: G.reverse(copy=False),
                                  lambda G: G.to_undirected(as_view=True), nx.freeze])
def test_networkx_views(view):
    G = view(nx.gnp_random_graph(12, 0.3, seed=2, directed=True))
    found = warren.from_networkx(G, weight=None)
    assert found.bfs(2).to_dict() == nx.single_source_shortest_path_length(G, 2)
    assert sorted(found.to_networkx().edges()) == sorted(type(found.to_networkx())(G).edges())


def test_pandas():
    graph = warren.from_pandas(pandas.DataFrame({"from": [0, 1], "to": [1, 2], "km": [1.5, 2]}), "from", "to", "km")
    frame = graph.sssp(0).to_frame()
    assert frame["vertex"].tolist() == [0, 1, 2] and frame["distance"].tolist() == [0, 1.5, 3.5]
    named = warren.from_pandas(pandas.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}), "a", "b", symmetrize=True)
    assert named.names == ["x", "y", "z"] and named.bfs("z").to_dict() == {"x": 2, "y": 1, "z": 0}
    assert named.bfs("x").to_frame().columns.tolist() == ["vertex", "depth", "parent"]


def edges_by_label(graph):
    sources, targets, weights = graph.to_edges()
    return sorted(zip(graph.labels(sources), graph.labels(targets), [1] * graph.num_edges if weights is None else weights.tolist()))


@pytest.mark.parametrize("make", [
    lambda: warren.read("kron:5", symmetrize=True), lambda: warren.read("grid:5x4", weights="uniform:1:9", seed=3), lambda: warren.from_edges([], [], num_vertices=3),
    lambda: warren.from_edges([0, 4], [4, 2], [0.5, 2.25]), lambda: warren.from_networkx(nx.Graph([("x", "y"), ("y", "z")])),
    lambda: warren.from_networkx(nx.DiGraph([(10, 30), (30, 20)]))])
def test_to_pandas_and_back(make):
    graph = make()
    frame = graph.to_pandas()
    assert frame.columns.tolist() == ["source", "target", *(["weight"] if graph.is_weighted else [])] and len(frame) == graph.num_edges
    weight = "weight" if graph.is_weighted else None
    back = warren.from_pandas(frame, "source", "target", weight, num_vertices=graph.num_vertices if graph._is_told_by_numbers() else None)
    assert edges_by_label(back) == edges_by_label(graph)
    if graph._is_told_by_numbers():
        assert back.num_vertices == graph.num_vertices


@pytest.mark.parametrize("weights", [None, [1, 2], [0.5, 2.25]])
@pytest.mark.parametrize("names", [None, ["x", "y", "z", "alone"]])
def test_to_pyg_and_back(weights, names):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    G = nx.DiGraph()
    G.add_nodes_from(names or range(4))
    ends = list(G)
    for at, (u, v) in enumerate([(0, 1), (1, 2)]):
        G.add_edge(ends[u], ends[v], **({} if weights is None else {"weight": weights[at]}))
    graph = warren.from_networkx(G)
    data = graph.to_pyg()
    assert data.edge_index.tolist() == [[0, 1], [1, 2]] and data.edge_index.dtype == torch.int64 and data.num_nodes == 4 and data.validate()
    assert ("edge_weight" in data) == (weights is not None) and ("node_names" in data) == (names is not None)
    back = warren.from_pyg(data)
    assert edges_by_label(back) == edges_by_label(graph) and back.labels() == graph.labels() and back.names == graph.names
    assert back.is_weighted == graph.is_weighted


@pytest.mark.parametrize("names", [["x"], ["x", "x"], "xy"])
def test_names_of_pyg_that_are_none(names):
    with pytest.raises(ValueError, match="data.node_names: got .*, expected a list of 2 different names"):
        warren.from_pyg(Data(edge_index=np.array([[0], [1]]), num_nodes=2, node_names=names))


class Data:
    """As torch_geometric.data.Data."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def test_pyg():
    graph = warren.from_pyg(Data(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=5, edge_attr=np.array([[1.0], [2.0]], np.float32)))
    assert (graph.num_vertices, graph.is_weighted) == (5, True) and graph.sssp(0).distance[2] == 3
    wide = Data(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=3, edge_attr=np.array([[1.0, 5.0], [2.0, 6.0]], np.float32))
    with pytest.raises(ValueError, match=r"^data\.edge_attr: got the shape \(2, 2\), expected a weight an edge.*weights=data\.edge_attr\[:, 0\].*weights=None"):
        warren.from_pyg(wide)
    assert warren.from_pyg(wide, weights=wide.edge_attr[:, 1]).to_edges()[2].tolist() == [5, 6]
    assert not warren.from_pyg(wide, weights=None).is_weighted
    with pytest.raises(ValueError, match=r"^data\.edge_weight: got the shape \(3,\)"):
        warren.from_pyg(Data(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=3, edge_weight=np.ones(3)))
    with pytest.raises(ValueError, match="^weights: got 'edge_attr'"):
        warren.from_pyg(wide, weights="edge_attr")
    assert warren.from_pyg(Data(edge_index=np.array([[0], [1]]), edge_weight=np.array([2]), num_nodes=None)).to_edges()[2].tolist() == [2]
    ends = np.array([[0, 1, 2], [1, 2, 0]])
    for options, error, text in (({"num_nodes": 2}, IndexError, r"data\.edge_index\[0\]\[2\]: got 2, expected ids of 0 to 1; data\.num_nodes is 2"), ({"num_nodes": -1}, ValueError, r"data\.num_nodes: got -1"),
                                 ({"num_nodes": 3, "edge_weight": np.array([1, np.nan, 2])}, ValueError, r"data\.edge_weight\[1\]: got NaN")):
        with pytest.raises(error, match=f"^{text}"):
            warren.from_pyg(Data(edge_index=ends, **options))


def test_cugraph():
    frame = pandas.DataFrame({"src": [0, 1], "dst": [1, 2], "weights": [1.0, 2.0]})

    class Device:
        columns = frame.columns

        def to_pandas(self):
            return frame

    graph = warren.from_cugraph(Data(view_edge_list=Device, is_directed=lambda: False))
    assert graph.num_edges == 4 and graph.sssp(2).distance.tolist() == [3, 2, 0]


@pytest.mark.parametrize("ids", [[10**12, 5, 7], [-1, 5, 7], [2**32 - 1, 5, 7]])
def test_pandas_ids_that_are_no_numbers_of_vertices_are_names(ids):
    graph = warren.from_pandas(pandas.DataFrame({"a": ids[:2], "b": ids[1:]}), "a", "b")
    assert graph.num_vertices == 3 and graph.bfs(ids[0]).to_dict() == {ids[0]: 0, 5: 1, 7: 2}


def test_pandas_columns_of_pyarrow():
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1, 2]}).astype({name: "int64[pyarrow]" for name in "abw"})
    assert [part.tolist() for part in warren.from_pandas(frame, "a", "b", "w").to_edges()] == [[0, 1], [1, 2], [1, 2]]


@pytest.mark.parametrize("name", ["kron:31", "urand:31,64", "grid:65535x65535", "kron:25,1000", "community:4000000000,60"])
def test_a_generated_graph_that_does_not_fit_is_refused_before_it_is_drawn(name):
    for read in (lambda: warren.read(name, host_memory=2**30), lambda: warren.read(name, host_memory=2**30, weights="uniform:1:9")):
        begin = time.monotonic()
        with pytest.raises(MemoryError, match=f"not enough memory on the host: .* bytes asked .* bytes free .*; draw a smaller one, raise host_memory, or .*warren.read\\(.{name}.\\).save\\(.OUT.wgr.\\)"):
            read()
        assert time.monotonic() - begin < 5
        with pytest.raises(MemoryError, match="; (?!.*host_memory)"):
            warren.read("kron:31,1000")
    assert warren.read("kron:10", host_memory=2**33).num_vertices == 1024


def test_what_a_header_announces_is_refused_where_there_is_less_memory(tmp_path):
    """Before the entries are read, which are none here. In a process of its own, as the limit is one of all its graphs."""
    for name, text in (("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n100000 100000 300000\n" + "no entry\n" * 300000), ("a.graph", "100000 300000\n" + "no line of a vertex\n" * 200000)):
        path = tmp_path / name
        path.write_text(text)
        status, out, err = run(f"""
            import warren
            try:
                warren.read({str(path)!r}, edges="memory", host_memory=2**20)
            except MemoryError as error:
                print(error)
        """)
        assert status == 0, err
        assert re.search(f"bytes free .*; {path} announces 100000 vertices and 300000 entries in line ., which take at least that: use a host with more memory, or let it take more .host_memory.", out), out
        with pytest.raises(ValueError, match=f"{path}:"):
            warren.read(path)
