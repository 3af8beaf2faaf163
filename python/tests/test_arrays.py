# SPDX-License-Identifier: Apache-2.0
"""Arrays in: what is taken as it is, what is converted, and what is refused."""
import array
import gc
import time
import weakref

import numpy as np
import pytest
from conftest import HANG_SECONDS, ranks, run

import warren

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
PATH = [1, 2, 3]


class Exporter:
    """An array of another library, with one way out of it."""

    def __init__(self, values, way, device=1):
        self.values = np.asarray(values)
        self.device = device

    def __new__(cls, values, way, device=1):
        ways = {
            "dlpack": {"__dlpack__": lambda self, **options: self.values.__dlpack__(**{k: v for k, v in options.items() if k == "stream"}),
                       "__dlpack_device__": lambda self: (self.device, 0)},
            "array": {"__array__": lambda self, dtype=None, copy=None: self.values},
            "cuda": {"__cuda_array_interface__": property(lambda self: {"shape": self.values.shape, "typestr": "<i4", "data": (0, False), "version": 3}),
                     "get": lambda self: self.values},
            "cuda only": {"__cuda_array_interface__": property(lambda self: {})},
        }
        return object.__new__(type(f"Exporter_{way.replace(' ', '_')}", (cls,), ways[way]))


def depths(graph):
    return graph.bfs(0).depth.tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("make", [lambda a: a, lambda a: a.astype(a.dtype.newbyteorder()), lambda a: np.repeat(a, 2)[::2], lambda a: a[::-1].copy()[::-1]])
def test_integer_types_and_layouts(dtype, make):
    src, dst = make(np.array([0, 1, 2], dtype)), make(np.array(PATH, dtype))
    dst.flags.writeable = False
    assert depths(warren.from_edges(src, dst)) == [0, 1, 2, 3]
    offsets = make(np.array([0, 1, 2, 3, 3], dtype))
    assert depths(warren.from_csr(offsets, dst)) == [0, 1, 2, 3]


@pytest.mark.parametrize("ids", [PATH, tuple(PATH), range(1, 4), array.array("q", PATH), memoryview(array.array("i", PATH)), Exporter(PATH, "dlpack"),
                                 Exporter(PATH, "array"), Exporter(PATH, "cuda"), np.ma.array(PATH)])
def test_other_arrays(ids):
    assert depths(warren.from_edges([0, 1, 2], ids)) == [0, 1, 2, 3]


def test_pandas_series():
    pandas = pytest.importorskip("pandas")
    assert depths(warren.from_edges(pandas.Series([0, 1, 2]), pandas.Series(PATH, dtype="Int64"))) == [0, 1, 2, 3]


@pytest.mark.parametrize("weights, dtype", [([1, 2, 3], np.int32), (np.array([1, 2, 3], np.uint8), np.int32), (np.array([True, False, True]), np.int32), ([1, 2, 2**31], np.float32),
                                            ([0.5, 1, 2], np.float32), (np.array([1, 2, 3], np.float16), np.float32), (np.array([1, 2, 3], ">i8"), np.int32),
                                            (np.array([1, 2, 3], np.longdouble), np.float32)])
def test_weight_types(weights, dtype):
    graph = warren.from_edges([0, 1, 2], PATH, weights)
    assert graph.is_weighted
    assert graph.to_edges()[2].dtype == dtype
    assert np.array_equal(graph.to_edges()[2], np.asarray(weights, dtype))


def test_infinite_weights_are_an_edge_that_sssp_refuses():
    graph = warren.from_edges([0, 1], [1, 2], [1.0, np.inf])
    with pytest.raises(ValueError, match="weight"):
        graph.sssp(0)


@pytest.mark.parametrize("dtype, weight_type", [(np.int32, np.int32), (np.uint32, np.float32)])
def test_csr_is_shared_where_that_is_asked_for(dtype, weight_type):
    offsets, targets, weights = np.array([0, 2, 3, 3]), np.array([1, 2, 2], dtype), np.array([5, 6, 7], weight_type)
    graph = warren.from_csr(offsets, targets, weights, copy=False)
    inside = graph.to_csr(copy=False)
    for given, held in zip((offsets, targets, weights), inside):
        assert np.shares_memory(given, held)
        assert not held.flags.writeable
    assert not np.shares_memory(graph.to_csr()[1], targets)


def test_read_only_csr_is_not_copied():
    targets = np.array([1, 0], np.int32)
    targets.flags.writeable = False
    assert np.shares_memory(warren.from_csr([0, 1, 2], targets, copy=False).to_csr(copy=False)[1], targets)


def test_what_is_written_later_is_not_the_graphs():
    offsets, targets, weights = np.array([0, 2, 3, 3]), np.array([1, 2, 2], np.int32), np.array([5, 6, 7], np.float32)
    graph = warren.from_csr(offsets, targets, weights)
    assert not any(np.shares_memory(given, held) for given, held in zip((offsets, targets, weights), graph.to_csr(copy=False)))
    assert graph.sssp(0).distance.tolist() == [0, 5, 6]
    offsets[:], targets[:], weights[:] = 10**9, 10**9, -1
    assert graph.sssp(0, **ranks(2)).distance.tolist() == [0, 5, 6] and graph.reversed().bfs(2).depth.tolist() == [1, 1, 0]


def test_unsorted_csr_is_left_alone():
    targets, weights = np.array([2, 1, 1], np.int32), np.array([5, 9, 3], np.int32)
    graph = warren.from_csr([0, 3, 3, 3], targets, weights)
    assert targets.tolist() == [2, 1, 1] and weights.tolist() == [5, 9, 3]
    assert [part.tolist() for part in graph.to_edges()] == [[0, 0], [1, 2], [3, 5]]


def test_arrays_live_as_long_as_the_graph():
    targets = np.array([1, 2, 0], np.int32)
    alive = weakref.ref(targets)
    graph = warren.from_csr([0, 1, 2, 3], targets, copy=False)
    del targets
    gc.collect()
    assert alive() is not None and depths(graph) == [0, 1, 2]
    with warren.Session(**ranks(2)) as session:
        assert graph.bfs(0).reached == 3
        view = graph.to_csr(copy=False)[1]
        del graph
        gc.collect()
        assert alive() is not None and view.tolist() == [1, 2, 0]
        del view
        session.close()
    deadline = time.monotonic() + HANG_SECONDS
    while alive() is not None and time.monotonic() < deadline:
        time.sleep(0.01)  # A rank of the standard session lets go of it in its own time.
        warren.from_edges([], [])
    assert alive() is None


def test_results_outlive_graph_and_result():
    depth = warren.from_edges([0, 1], [1, 2]).bfs(0).depth
    gc.collect()
    assert depth.tolist() == [0, 1, 2] and depth.flags.writeable
    assert np.from_dlpack(depth).tolist() == [0, 1, 2]


def test_empty():
    for graph in (warren.from_edges([], []), warren.from_csr([0], []), warren.from_edges(np.zeros(0, np.int32), np.zeros(0, np.int32), [])):
        assert (graph.num_vertices, graph.num_edges) == (0, 0)
    graph = warren.from_edges([], [], num_vertices=3)
    assert depths(graph) == [0, -1, -1] and graph.num_vertices == 3


def test_options():
    graph = warren.from_edges([0, 0, 0, 1], [1, 1, 0, 0], [4, 3, 2, 1])
    assert [part.tolist() for part in graph.to_edges()] == [[0, 0, 1], [0, 1, 0], [2, 3, 1]]
    assert warren.from_edges([0, 0], [1, 1], [4, 3], sum_duplicates=True).to_edges()[2].tolist() == [7]
    assert warren.from_edges([0, 0], [1, 1], [4, 3], keep_duplicates=True).to_edges()[2].tolist() == [3, 4]
    assert warren.from_edges([0, 0], [1, 0], drop_self_loops=True).num_edges == 1
    both = warren.from_csr([0, 1, 1], [1], symmetrize=True)
    assert both.num_edges == 2 and both.is_symmetric and not graph.is_symmetric


MATRIX = np.zeros((2, 2), np.int32)


@pytest.mark.parametrize("call, error, text", [
    (lambda: warren.from_edges([0, -1], [1, 2]), IndexError, r"src\[1\]: got -1"),
    (lambda: warren.from_edges([0, 1], [1, 2**32 - 1]), IndexError, r"dst\[1\]: got 4294967295"),
    (lambda: warren.from_edges([0, 1], [1, 5], num_vertices=5), IndexError, r"dst\[1\]: got 5, expected ids of 0 to 4"),
    (lambda: warren.from_edges([0], np.array([2**63], np.uint64)), IndexError, r"dst\[0\]"),
    (lambda: warren.from_edges([0], [1], num_vertices=0), IndexError, "there are no vertices"),
    (lambda: warren.from_edges([0], [1], num_vertices=-1), ValueError, "num_vertices: got -1"),
    (lambda: warren.from_edges([0], [1], num_vertices=2.5), ValueError, "num_vertices: got 2.5"),
    (lambda: warren.from_edges([0], [1], num_vertices=2**33), ValueError, "num_vertices"),
    (lambda: warren.from_edges([0.5], [1]), ValueError, "src: got elements of type float64, expected integers"),
    (lambda: warren.from_edges([True], [1]), ValueError, "src: got elements of type bool"),
    (lambda: warren.from_edges(["a"], [1]), ValueError, "src: got elements of type <U1"),
    (lambda: warren.from_edges([0, [1]], [1]), ValueError, "src"),
    (lambda: warren.from_edges(None, [1]), ValueError, "src"),
    (lambda: warren.from_edges(MATRIX, [1]), ValueError, r"src: got an array of shape \(2, 2\), expected one dimension"),
    (lambda: warren.from_edges([0, 1], [1]), ValueError, "dst: got 1 ids, expected as many as src has, 2"),
    (lambda: warren.from_edges([0], [1], [1, 2]), ValueError, "weights: got 2 weights, expected one an edge, 1"),
    (lambda: warren.from_edges([0, 2**70], [1, 2]), ValueError, r"src\[1\]: got 1180591620717411303424, expected integers of 64 bits"),
    (lambda: warren.from_edges([-1, 2**63], [1, 2]), ValueError, "src: got integers of which no type of 64 bits holds all"),
    (lambda: warren.from_edges([0, 1], [1, 2], [2**70]), ValueError, "weights: got 1 weight, expected one an edge, 2"),
    (lambda: warren.from_edges([0, 1], [1, 2], [1, 10**400]), ValueError, r"weights\[1\]: got 1000.*\(401 characters\), expected numbers that float32 holds"),
    (lambda: warren.from_edges([0, 1], [1, 2], [1, None]), ValueError, r"weights\[1\]: got None, expected real numbers"),
    (lambda: warren.Table(np.ones((3, 2)), "cached", [0, -1], "cpu"), IndexError, r"cached\[1\]: got -1, expected a row, 0 to 2"),
    (lambda: warren.Table(np.ones((3, 2)), "cached", [3], "cpu"), IndexError, r"cached\[0\]: got 3, expected a row, 0 to 2"),
    (lambda: warren.Table(np.ones((3, 2)), "cached", [2**70], "cpu"), ValueError, r"cached\[0\]: got 1180591620717411303424"),
    (lambda: warren.lookup(np.ones((3, 2), np.float32), [0, 1], [-1, 2**63]), ValueError, "offsets: got integers of which no type"),
    (lambda: warren.Dataset(warren.generate("grid:2x2"), np.full((4, 2), 1e300)), ValueError, r"features: got 1e\+300 in row 0, column 0, expected finite numbers, up to 3.403e\+38"),
    (lambda: warren.from_edges([0], [1], [np.nan]), ValueError, r"weights\[0\]: got NaN"),
    (lambda: warren.from_edges([0], [1], [1j]), ValueError, "weights: got elements of type complex128"),
    (lambda: warren.from_edges([0], [1], ["x"]), ValueError, "weights"),
    (lambda: warren.from_edges([0], [1], MATRIX), ValueError, "weights"),
    (lambda: warren.from_edges([0], [1], keep_duplicates=True, sum_duplicates=True), ValueError, "keep_duplicates and sum_duplicates"),
    (lambda: warren.from_edges(np.ma.array([1, 2], mask=[0, 1]), [1, 2]), ValueError, "src: got a masked array"),
    (lambda: warren.from_edges(Exporter([0], "cuda only"), [1]), ValueError, "src: got .* in a GPU's memory"),
    (lambda: warren.from_csr([], []), ValueError, "offsets: got none"),
    (lambda: warren.from_csr([0, 2, 1, 3], [0, 1, 2]), ValueError, r"offsets\[2\]"),
    (lambda: warren.from_csr([1, 2], [0, 0]), ValueError, r"offsets\[0\]"),
    (lambda: warren.from_csr([0, 1], [0, 0]), ValueError, r"offsets\[1\]"),
    (lambda: warren.from_csr([0, -1], [0]), ValueError, r"offsets\[1\]: got -1"),
    (lambda: warren.from_csr([0, 1], np.array([-1], np.int32)), IndexError, r"targets\[0\]: got -1"),
    (lambda: warren.from_csr([0, 1], np.array([1], np.int32)), IndexError, r"targets\[0\]: got 1"),
    (lambda: warren.from_csr([0, 1], [7]), IndexError, r"targets\[0\]: got 7"),
    (lambda: warren.from_csr([0.0, 1.0], [0]), ValueError, "offsets: got elements of type float64"),
    (lambda: warren.from_csr(MATRIX, [0]), ValueError, "offsets"),
    (lambda: warren.from_csr([0, 1], MATRIX), ValueError, "targets"),
    (lambda: warren.from_csr([0, 1], [0], [1, 2]), ValueError, "weights"),
    (lambda: warren.from_edges([0, 1], [1, 0], [1.0, 1e39]), ValueError, r"weights\[1\]: got 1e\+39, expected numbers that float32 holds, up to 3.403e\+38"),
])
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_weights_that_float32_loses_are_told(caplog):
    graph = warren.from_edges([0, 1], [1, 0], [1e-46, 1.0])
    assert graph.to_edges()[2].tolist() == [0, 1] and "weights[0]: 1e-46 is held as 0 in float32" in caplog.text
    assert warren.from_edges([0], [1], [np.inf]).to_edges()[2].tolist() == [np.inf]


def test_memory_that_is_short():
    status, out, err = run("""
        import resource, warren
        graph = warren.from_edges([0], [1])
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        try:
            warren.from_edges([0], [2**31])
        except MemoryError as error:
            print(error)
        print(graph.bfs(0).reached)
    """)
    assert (status, err) == (0, ""), err
    said, reached = out.strip().split("\n")
    assert "memory" in said and reached == "2"


META = [
    ("src", lambda ids, x, graph: warren.from_edges(ids, ids)), ("offsets", lambda ids, x, graph: warren.from_csr(ids, ids)), ("weights", lambda ids, x, graph: warren.from_edges([0] * 4, [1] * 4, x[:, 0])),
    ("values", lambda ids, x, graph: warren.Table(x)), ("table", lambda ids, x, graph: warren.gather(x, [0])), ("ids", lambda ids, x, graph: warren.gather(np.ones((4, 2)), ids)),
    ("B", lambda ids, x, graph: graph.spmm(x)), ("X", lambda ids, x, graph: graph.sddmm(x, x)), ("source", lambda ids, x, graph: graph.bfs(ids)), ("seeds", lambda ids, x, graph: graph.sample(ids, [2])),
    ("starts", lambda ids, x, graph: graph.random_walks(ids)), ("personalization", lambda ids, x, graph: graph.pagerank(personalization=x[:, 0])),
    ("features", lambda ids, x, graph: warren.Dataset(graph, x)), ("times", lambda ids, x, graph: warren.EdgeTimes(ids))]


@pytest.mark.parametrize("name, call", META)
def test_tensors_without_elements(name, call):
    torch = pytest.importorskip("torch")
    graph = warren.from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], symmetrize=True)
    with pytest.raises(ValueError, match=f"^{name}: got a tensor on the device meta, which has a shape and no elements; expected an array in memory"):
        call(torch.zeros(4, dtype=torch.int64, device="meta"), torch.zeros((4, 2), device="meta"), graph)


def test_numbers_without_a_value():
    torch = pytest.importorskip("torch")
    number, graph = torch.zeros((), device="meta"), warren.from_edges([0, 1], [1, 2], [1, 2])
    for name, call in (("source", lambda: graph.bfs(number.long())), ("damping", lambda: graph.pagerank(damping=number)), ("length", lambda: graph.random_walks([0], length=number.long()))):
        with pytest.raises(ValueError, match=f"^{name}: got tensor"):
            call()


def test_objects_that_are_integers():
    """An array of Python's integers is taken where a type of 64 bits holds all, and refused by the element that is none."""
    ids = np.array([0, 1, 2], object)
    assert warren.from_edges(ids, [1, 2, 0]).to_edges()[0].tolist() == [0, 1, 2]
    assert warren.from_csr(np.array([0, 1, 2], object), np.array([1, np.uint8(0)], object)).num_edges == 2
    assert warren.gather(np.arange(6).reshape(3, 2), ids.reshape(1, 3)[:, ::-1]).tolist() == [[[4, 5], [2, 3], [0, 1]]]
    assert warren.gather(np.arange(6).reshape(3, 2), np.zeros(0, object)).shape == (0, 2)
    for call, name in ((lambda given: warren.from_edges([1, 2], given), "dst"), (lambda given: warren.gather(np.ones((3, 1)), given), "ids")):
        with pytest.raises(ValueError, match=rf"^{name}\[1\]: got None, expected integers of 64 bits"):
            call(np.array([1, None], object))
        with pytest.raises(ValueError, match=f"^{name}: got integers of which no type of 64 bits holds all"):
            call(np.array([-1, 2**63], object))
        with pytest.raises(IndexError, match=rf"^{name}\[1\]: got {2**63}"):
            call(np.array([1, 2**63], object))
