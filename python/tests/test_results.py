# SPDX-License-Identifier: Apache-2.0
"""Arrays out: of which library, where they are, and how long they live."""
import copy
import gc
import pickle
import sys
import types

import networkx as nx
import numpy as np
import pytest

import warren
from warren._libraries import library_of, to_library

ARRAYS = {"bfs": ("depth", "parent"), "sssp": ("distance",), "connected_components": ("label",), "pagerank": ("rank",), "betweenness": ("score",),
          "core_number": ("core",), "triangles": ("count",)}


@pytest.fixture(name="graph")
def a_graph():
    return warren.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], num_vertices=5, symmetrize=True)


def calls(graph, device="auto"):
    for name, columns in ARRAYS.items():
        yield getattr(graph, name)(*((0,) if name in ("bfs", "sssp") else ()), device=device), columns


def test_each_array_in_each_way(graph):
    for result, columns in calls(graph, "cpu"):  # NumPy takes nothing that is on a GPU.
        for name in columns:
            values = getattr(result, name)
            assert isinstance(values, np.ndarray) and values.shape == (5,) and values.flags.writeable
            shared = np.from_dlpack(result.array(name, "dlpack"))
            assert shared.dtype == values.dtype and np.array_equal(shared, values)
            assert np.shares_memory(values, getattr(result, name))  # Made once.


def test_arrays_outlive_results():
    session = warren.Session(device="cpu")
    graph = warren.generate("grid:30x30")
    depth = graph.bfs(0, session=session).array("depth", "dlpack")
    label = graph.connected_components(session=session).label
    session.close()
    del graph
    gc.collect()
    assert np.from_dlpack(depth).max() == 58 and not label.any()


class Other:
    """A library that takes arrays by DLPack or NumPy, and tells by which."""

    def __init__(self, monkeypatch, name):
        self.module = types.ModuleType(name)
        self.array = type("Array", (), {"__module__": f"{name}.of_it", "__init__": lambda this, values, way: (setattr(this, "values", values), setattr(this, "way", way), None)[2],
                                        "__array__": lambda this, dtype=None, copy=None: np.asarray(this.values, dtype)})
        self.module.from_numpy = self.module.asarray = lambda values: self.array(values, "numpy")
        self.module.from_dlpack = lambda values: self.array(values, "dlpack")
        self.module.numpy = self.module.dlpack = self.module
        monkeypatch.setitem(sys.modules, name, self.module)


@pytest.mark.parametrize("name", ["torch", "cupy", "jax"])
def test_results_are_of_the_library_that_came_in(monkeypatch, name):
    other = Other(monkeypatch, name)
    ids = other.array(np.array([1, 2, 3]), "")
    assert library_of([0], ids) == name and library_of([0], np.zeros(1), None) == "numpy"
    for graph in (warren.from_edges([0, 1, 2], ids), warren.from_csr(np.array([0, 1, 2, 3, 3]), ids)):
        assert graph.arrays == name and graph.reversed().arrays == name
        found = graph.bfs(0, device="cpu")
        assert isinstance(found.depth, other.array) and found.depth.way == "numpy" and found.depth.values.tolist() == [0, 1, 2, 3]
        assert found.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3} and found.info["sum_depth"] == 6 and "reached 4 of 4" in repr(found)
        assert np.asarray(found).tolist() == [0, 1, 2, 3]
        graph.arrays = "numpy"
        assert isinstance(graph.bfs(0).depth, np.ndarray) and isinstance(found.depth, np.ndarray)
    several = warren.from_edges([0, 1, 2], ids).bfs([0, 3])
    assert isinstance(several.depth, other.array) and several.depth.values.shape == (2, 4)


def test_what_lies_on_a_gpu_is_handed_over_there(monkeypatch):
    class OnGpu:
        gpu = 1

        def dlpack(self):
            return "there"

        def numpy(self):
            raise AssertionError("copied to the host")

    monkeypatch.setattr(warren._core, "Array", OnGpu)
    for name in ("torch", "cupy", "jax"):
        array = to_library(OnGpu(), Other(monkeypatch, name).module.__name__)
        assert (getattr(array.values, "_array", array.values), array.way) == ("there", "dlpack")
    assert to_library(OnGpu(), "dlpack") == "there"


def test_bad_names(graph):
    found = graph.bfs(0)
    with pytest.raises(ValueError, match=r"name: got 'depths', expected one of 'depth', 'parent'"):
        found.array("depths")
    with pytest.raises(ValueError, match=r"library: got 'tensorflow', expected one of 'numpy', 'torch', 'cupy', 'jax', 'dlpack'"):
        found.array("depth", "tensorflow")
    with pytest.raises(ValueError, match="arrays: got 3"):
        graph.arrays = 3
    assert graph.arrays == "numpy"


def test_an_absent_library_is_named(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="cupy"):
        graph.bfs(0).array("depth", "cupy")


@pytest.mark.parametrize("name", ["torch", "cupy", "jax"])
def test_real_libraries(graph, name):
    pytest.importorskip(name)
    graph.arrays = name
    for result, columns in calls(graph):
        for column in columns:
            got = getattr(result, column)
            assert type(got).__module__.partition(".")[0] in (name, "jaxlib")
            got = got.get() if name == "cupy" else got.cpu() if name == "torch" else got
            assert np.array_equal(np.asarray(got), result.array(column, "numpy"))


def test_pickled(tmp_path):
    """Graphs by their arrays, names and ids, results by their arrays and graph; copies are made in the same way."""
    path = tmp_path / "edges.wel"
    path.write_text("10 20 1\n20 30 2\n30 40 3\n")
    words = tmp_path / "words.el"
    words.write_text("a b\nb c\nc d\n")
    for graph, source in ((warren.read(path, compact=True), 20), (warren.read(words, ids="words"), "b"), (warren.from_networkx(nx.path_graph(["x", "y", ("z", 1)])), "y"),
                          (warren.from_edges([0, 0], [1, 1], [0.1, 0.2], keep_duplicates=True), 0), (warren.from_edges([], []), None)):
        for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)):
            assert [None if a is None else a.tolist() for a in again.to_csr()] == [None if a is None else a.tolist() for a in graph.to_csr()]
            assert again.labels() == graph.labels() and again.names == graph.names
            if source is None:
                continue
            found = graph.bfs(source)
            back = pickle.loads(pickle.dumps(again.bfs(source)))
            assert (back.to_dict(), back.source, back.info["reached"], repr(back).split(",")[0]) == (found.to_dict(), found.source, found.reached, repr(found).split(",")[0])
            with pytest.raises(warren.VertexError):
                again.bfs("no vertex")
    ranks = warren.generate("grid:5x5").pagerank()
    assert np.array_equal(copy.deepcopy(ranks).rank, ranks.rank) and copy.deepcopy(ranks).top(2) == ranks.top(2)


def test_texts_of_results_whose_arrays_were_written():
    graph = warren.from_edges([0, 1, 3], [1, 2, 4], symmetrize=True)
    found = graph.connected_components(device="cpu")
    found.label[found.label == 0] = -1
    for tell in (str, pickle.dumps):
        with pytest.raises(ValueError, match="labels of the result were changed"):
            tell(found)
    search = graph.bfs(0, device="cpu")
    search.depth[search.depth >= 0] = 10**6
    with pytest.raises(ValueError, match="depths of the result were changed"):
        str(search)


def test_sampled_batches_and_walks_are_pickled():
    graph = warren.read("kron:6", seed=2)
    walks = graph.random_walks([1, 2, 3], length=4)
    batches = graph.sample_batches(range(9), fanouts=[2, 2], batch_size=4, edge_ids=True)
    for again in (pickle.loads(pickle.dumps(walks)), copy.deepcopy(walks)):
        assert np.array_equal(again.walks, walks.walks) and again.info["walks"] == 3 and again.seconds == walks.seconds
    for again in (pickle.loads(pickle.dumps(batches)), copy.deepcopy(batches)):
        assert len(again) == len(batches) and again.info == batches.info
        for mine, theirs in zip(again, batches):
            assert np.array_equal(mine.vertices, theirs.vertices)
            for a, b in zip(mine.layers, theirs.layers):
                assert np.array_equal(a.offsets, b.offsets) and np.array_equal(a.targets, b.targets) and np.array_equal(a.edge_ids, b.edge_ids)
    one = graph.sample([0, 1], fanouts=[2])
    assert np.array_equal(pickle.loads(pickle.dumps(one)).vertices, one.vertices)


def test_models_are_pickled():
    data = warren.read_dataset("community:600,6", features=4, classes=2)
    result = warren.train(data, epochs=2, hidden=4)
    for model in (pickle.loads(pickle.dumps(result.model)), copy.deepcopy(result.model)):
        assert model.facts == result.model.facts
        assert np.array_equal(warren.predict(data, model).scores, warren.predict(data, result.model).scores)
    for kept, how in ((data, "read_dataset"), (result, "save"), (warren.Table(np.ones((2, 2))), "array"), (warren.Session(device="cpu"), "another"),
                      (warren.EdgeTimes([1]), "array")):
        for tell in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"^{type(kept).__name__}: is not pickled or copied; .*{how}"):
                tell(kept)


def test_sizes_of_a_graph_are_not_set():
    graph = warren.from_edges([0], [1])
    for name in ("num_vertices", "num_edges", "is_symmetric", "array", "bfs"):
        with pytest.raises(AttributeError, match=name):
            setattr(graph, name, 99)
    graph.arrays = "numpy"
    assert (graph.num_vertices, graph.num_edges) == (2, 1)


def fixed():
    """One of each kind of object that does not change."""
    graph = warren.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], symmetrize=True)
    data = warren.read_dataset("community:600,6", features=4, classes=2)
    trained = warren.train(data, epochs=1, hidden=4)
    batches = graph.sample_batches([0, 1, 2], fanouts=[2], batch_size=2)
    yield from (found for found, _ in calls(graph))
    yield from (graph.bfs([0, 1]), graph.sssp([0, 1]), graph.partition(2), graph.reorder(return_graph=True), graph.random_walks([0], length=2), batches, batches[0], batches[0].layers[0],
                graph.sample([0], fanouts=[1]), data, trained, trained.model, trained.predict(), warren.Table(np.ones((2, 2))), warren.EdgeTimes([1]), warren.Session(device="cpu"))


def public(found):
    return [name for name in dir(found) if not name.startswith("_")]


def test_attributes_are_neither_set_nor_deleted():
    for found in fixed():
        kind = type(found).__name__
        for name in [*public(found), "mistyped"]:
            before = None if name == "mistyped" else getattr(found, name)
            with pytest.raises(AttributeError, match=f"^{name}: a {kind} does not change, and no attribute of it can be set; keep"):
                setattr(found, name, -5)
            with pytest.raises(AttributeError, match=f"^{name}: a {kind} does not change, and no attribute of it can be deleted; keep"):
                delattr(found, name)
            assert name == "mistyped" or isinstance(before, (int, float, str, type(None))) is False or getattr(found, name) == before
    graph = warren.from_edges([0], [1])
    for name in ("num_vertices", "arrays", "bfs", "mistyped"):
        with pytest.raises(AttributeError, match=f"^{name}: of a graph, no attribute can be deleted"):
            delattr(graph, name)


def test_copies_do_not_change_either():
    graph = warren.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], symmetrize=True)
    for found in (*(found for found, _ in calls(graph)), graph.partition(2), graph.random_walks([0], length=2), graph.sample([0], fanouts=[1]), graph.sample_batches([0], fanouts=[1])):
        for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
            assert type(again) is type(found) and again.seconds == found.seconds
            with pytest.raises(AttributeError, match="does not change"):
                again.seconds = 1
    assert pickle.loads(pickle.dumps(graph.bfs(0))).reached == 4


def test_a_class_of_ones_own_has_its_attributes_from_the_start():
    class Named(warren.Session):
        def __init__(self, name):
            super().__init__(device="cpu")
            self.name = name

    session = Named("of mine")
    assert session.name == "of mine" and warren.generate("grid:3x3").bfs(0, session=session).reached == 9
    with pytest.raises(AttributeError, match="name: a Named does not change"):
        session.name = "another"
