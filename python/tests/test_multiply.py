# SPDX-License-Identifier: Apache-2.0
"""Products with a graph's matrix against SciPy's, on one to three ranks; and arguments that are refused."""
import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from conftest import ranks
from hypothesis import given, settings, strategies as st
from test_arrays import Exporter

import warren

STRATEGIES = ["broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover"]


@pytest.fixture(scope="module")
def session():
    with warren.Session(device="cpu", threads=2) as made:
        yield made


@st.composite
def matrices(draw):
    """A graph, the matrix that it stands for in float64, and how it is made: with duplicates added up or kept, weights or none, negative ones, empty rows."""
    n = draw(st.integers(0, 12))
    ids = st.integers(0, max(0, n - 1))
    kind = draw(st.sampled_from(["none", "int", "float", "negative"]))
    edges = draw(st.lists(st.tuples(ids, ids, st.integers(-9 if kind == "negative" else 0, 9)), max_size=40 if n > 0 else 0))
    src, dst, weights = np.array(edges, np.int64).reshape(-1, 3).T
    weights = {"none": None, "int": weights}.get(kind, weights * 0.25)
    how = draw(st.sampled_from(["sum_duplicates", "keep_duplicates"]))
    graph = warren.from_edges(src, dst, weights, num_vertices=n, symmetrize=draw(st.booleans()), **{how: True})
    rows, columns, values = graph.to_edges()
    A = np.zeros((n, n))
    np.add.at(A, (rows, columns), 1.0 if values is None else values)
    plain = np.zeros((n, n))
    np.add.at(plain, (rows, columns), 1.0)
    if how == "sum_duplicates" and values is not None:
        assert np.array_equal(A, graph.to_scipy().toarray())
    return graph, A, plain, kind


def expected_matrix(A, normalize, transpose, self_loops):
    A = A.T if transpose else A
    A = scipy.sparse.csr_array(A + np.eye(len(A)) if self_loops else A)
    degree = np.asarray(A.sum(axis=1)).reshape(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(degree == 0, 0, 1 / degree if normalize == "row" else 1 / np.sqrt(degree))
    if normalize is None:
        return A
    left = scipy.sparse.diags_array(scale) @ A
    return left if normalize == "row" else left @ scipy.sparse.diags_array(scale)


def dense(draw, n, columns):
    shape = (n,) if columns is None else (n, columns)
    return np.random.default_rng(draw(st.integers(0, 99))).integers(-8, 9, shape) * 0.125


def check_close(ours, expected, size):
    assert ours.dtype == np.float32 and ours.shape == expected.shape
    assert np.all(np.abs(ours - expected) <= 1e-5 * (1 + size))


columns = st.none() | st.sampled_from([1, 3, 8, 17])


@settings(max_examples=150)
@given(matrices(), columns, st.sampled_from([None, "row", "sym"]), st.booleans(), st.booleans(), st.booleans(), st.integers(1, 3), st.sampled_from(STRATEGIES), st.data())
def test_spmm(session, matrix, k, normalize, transpose, self_loops, weighted, devices, strategy, data):
    graph, A, plain, kind = matrix
    if kind == "negative" and weighted:
        normalize = None  # Degrees may be negative, or near 0.
    B = dense(data.draw, graph.num_vertices, k)
    M = expected_matrix(A if weighted else plain, normalize, transpose, self_loops)
    for _ in range(2):  # The second time with what is kept.
        C = graph.spmm(B, normalize, transpose, strategy, self_loops, weighted, devices=devices, session=session)
        check_close(C, M @ B, abs(M) @ np.abs(B))
        B = B[::-1]


@settings(max_examples=10)
@given(matrices(), st.integers(1, 3))
def test_spmm_that_is_measured(session, matrix, devices):
    graph, A, _, _ = matrix
    B = np.ones((graph.num_vertices, 4))
    C, info = graph.spmm(B, devices=devices, session=session, return_info=True)
    check_close(C, A @ B, np.abs(A) @ B)
    assert info["strategy"] in STRATEGIES or devices == 1 or graph.num_vertices == 0


@given(matrices(), columns, st.booleans(), st.integers(1, 3), st.data())
def test_sddmm(session, matrix, k, weighted, devices, data):
    graph, _, _, _ = matrix
    X, Y = dense(data.draw, graph.num_vertices, k), dense(data.draw, graph.num_vertices, k)
    rows, cols, weights = graph.to_edges()
    products = X[rows] * Y[cols] if k is None else (X[rows] * Y[cols]).sum(axis=1)
    factors = weights if weighted and weights is not None else np.ones(rows.size)
    sizes = np.abs(factors) * (np.abs(X[rows] * Y[cols]) if k is None else np.abs(X[rows] * Y[cols]).sum(axis=1))
    check_close(graph.sddmm(X, Y, weighted, devices=devices, session=session), factors * products, sizes)


@given(matrices())
def test_reversed(matrix):
    graph, A, _, _ = matrix
    turned = graph.reversed()
    rows, cols, values = turned.to_edges()
    B = np.zeros(A.shape)
    np.add.at(B, (rows, cols), 1.0 if values is None else values)
    assert np.array_equal(B, A.T)
    assert (turned is graph) == graph.is_symmetric


GRAPH = warren.from_edges([0, 0, 1, 2], [1, 2, 2, 0], [1, 2, 3, 4])
A = GRAPH.to_scipy().toarray()


def test_reversed_knows_its_nodes():
    G = nx.DiGraph([("a", "b"), ("b", "c")])
    turned = warren.from_networkx(G).reversed()
    assert turned.bfs("c").to_dict() == {"c": 0, "b": 1, "a": 2} and turned.names == ["a", "b", "c"]
    graph = warren.from_edges([0, 1], [1, 2])
    turned = graph.reversed()
    graph.release()
    del graph
    assert turned.bfs(2).depth.tolist() == [2, 1, 0]


def test_functions_are_the_methods():
    B = np.eye(3)
    assert np.array_equal(warren.spmm(GRAPH, B, transpose=True), GRAPH.spmm(B, transpose=True))
    assert np.array_equal(warren.sddmm(GRAPH, B, A), GRAPH.sddmm(B, A))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.longdouble, np.int8, np.uint64, np.bool_, ">f4", ">f8", ">i2"])
@pytest.mark.parametrize("make", [lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a[::-1].copy()[::-1], lambda a: np.ma.array(a)])
def test_types_and_layouts(dtype, make):
    B = make(np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype))
    B.flags.writeable = False
    assert np.array_equal(GRAPH.spmm(B), A @ np.array([[1, 0], [0, 1], [1, 1]]))
    assert GRAPH.spmm(B[:, 0]).shape == (3,)
    # e = (v, u): <B[v], B[u]>, times its weight.
    assert GRAPH.sddmm(B, B).tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize("B", [[1, 2, 3], ((1,), (2,), (3,)), Exporter(np.float32([1, 2, 3]), "dlpack"), Exporter([1, 2, 3], "array"), Exporter([1, 2, 3], "cuda"), np.matrix([[1], [2], [3]])])
def test_other_arrays(B):
    C = GRAPH.spmm(B)
    assert type(C) is np.ndarray and C.reshape(-1).tolist() == (A @ [1, 2, 3]).tolist()


def test_results_are_the_callers():
    B = np.ones((3, 2), np.float32)
    C = GRAPH.spmm(B)
    C += 1
    assert np.array_equal(B, np.ones((3, 2))) and np.array_equal(GRAPH.spmm(B), C - 1)
    assert np.from_dlpack(C).tolist() == C.tolist()


def test_numbers_that_float32_does_not_hold():
    assert GRAPH.spmm([1e300, 0, 0])[2] == np.inf
    assert np.isnan(GRAPH.spmm([np.nan, 0, 0])[2]) and GRAPH.spmm([np.nan, 0, 0])[1] == 0
    assert GRAPH.spmm(np.full(3, 0.1))[1] == np.float32(0.1) * 3


def test_info():
    C, info = GRAPH.spmm(np.ones((3, 5)), device="cpu", devices=2, strategy="staged", return_info=True)
    assert C.shape == (3, 5)
    assert (info["command"], info["device"], info["devices"], info["vertices"], info["edges"]) == ("spmm", "cpu", 2, 3, 4)
    assert (info["k"], info["type"], info["strategy"], info["weighted"]) == (5, "float32", "staged", True)
    assert len(info["seconds"]) == 1 and info["seconds"][0] > 0
    vals, info = GRAPH.sddmm(np.ones(3), np.ones(3), weighted=False, return_info=True)
    assert vals.tolist() == [1, 1, 1, 1] and (info["command"], info["k"], info["weighted"]) == ("sddmm", 1, False)


def test_empty():
    nothing, lonely = warren.from_edges([], []), warren.from_edges([], [], num_vertices=2)
    assert nothing.spmm([]).shape == (0,) and nothing.spmm(np.zeros((0, 4))).shape == (0, 4) and nothing.sddmm([], []).shape == (0,)
    assert nothing.spmm([], transpose=True, **ranks(2)).shape == (0,) and nothing.reversed() is nothing
    assert lonely.spmm([1, 2], **ranks(3)).tolist() == [0, 0] and lonely.spmm([1, 2], self_loops=True, normalize="sym").tolist() == [1, 2]
    assert lonely.sddmm([1, 2], [3, 4]).shape == (0,)


ONES = np.ones(3)
NEGATIVE = warren.from_edges([0, 1], [1, 0], [-1, 1])
LARGE = warren.from_edges([0], [1], [2**24 + 1])


@pytest.mark.parametrize("call, text", [
    (lambda: GRAPH.spmm(np.ones(4)), r"B: got an array of shape \(4,\), expected a dense array of shape \(3,\) or \(3, k\)"),
    (lambda: GRAPH.spmm(np.ones((2, 3))), r"B: got an array of shape \(2, 3\)"),
    (lambda: GRAPH.spmm(np.ones((3, 2, 1))), r"B: got an array of shape \(3, 2, 1\)"),
    (lambda: GRAPH.spmm(np.ones((3, 0))), r"B: got an array of shape \(3, 0\), expected .*, k being 1 or more"),
    (lambda: GRAPH.spmm(1.0), r"B: got an array of shape \(\)"),
    (lambda: GRAPH.spmm(None), "B: got"),
    (lambda: GRAPH.spmm("abc"), "B: got"),
    (lambda: GRAPH.spmm([[1], [2, 3], [4]]), "B"),
    (lambda: GRAPH.spmm(np.ones(3, complex)), "B: got elements of type complex128, expected real numbers"),
    (lambda: GRAPH.spmm(np.array(["a", "b", "c"])), "B: got elements of type <U1"),
    (lambda: GRAPH.spmm(np.array([1, 2, None])), "B: got elements of type object"),
    (lambda: GRAPH.spmm(np.ma.array(ONES, mask=[0, 1, 0])), "B: got a masked array"),
    (lambda: GRAPH.spmm(scipy.sparse.eye_array(3)), "B: got scipy.sparse.*expected a dense array"),
    (lambda: GRAPH.spmm(Exporter(ONES, "cuda only")), "B: got .* in a GPU's memory"),
    (lambda: GRAPH.spmm(ONES, normalize="rows"), """normalize: got 'rows', expected None or "row" or "sym\""""),
    (lambda: GRAPH.spmm(ONES, normalize=True), "normalize: got True"),
    (lambda: GRAPH.spmm(ONES, strategy="stagd"), """strategy: got 'stagd', expected "auto" or "broadcast".* or "cover\""""),
    (lambda: GRAPH.spmm(ONES, strategy=None), "strategy: got None"),
    (lambda: GRAPH.spmm(ONES, device="gpu"), "device"),
    (lambda: GRAPH.spmm(ONES, devices=0), "devices: got 0"),
    (lambda: GRAPH.spmm(ONES, session=3), "session"),
    (lambda: NEGATIVE.spmm([1, 2], normalize="sym"), "row 0"),
    (lambda: LARGE.spmm([1, 2]), "2\\^24"),
    (lambda: LARGE.sddmm([1, 2], [1, 2]), "2\\^24"),
    (lambda: warren.spmm(A, ONES), "graph: got numpy.ndarray, expected a warren.Graph"),
    (lambda: warren.sddmm(A, ONES, ONES), "graph"),
    (lambda: GRAPH.sddmm(np.ones(2), ONES), r"X: got an array of shape \(2,\)"),
    (lambda: GRAPH.sddmm(ONES, np.ones(2)), r"Y: got an array of shape \(2,\)"),
    (lambda: GRAPH.sddmm(ONES, np.ones((3, 1))), r"Y: got an array of shape \(3, 1\), expected X's, \(3,\)"),
    (lambda: GRAPH.sddmm(np.ones((3, 2)), np.ones((3, 4))), "Y: got"),
    (lambda: GRAPH.sddmm(np.ones((3, 0)), np.ones((3, 0))), "X: got"),
])
def test_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_after_a_refusal_the_session_is_good():
    for devices in (1, 2):
        with pytest.raises(ValueError, match="row 0"):
            NEGATIVE.spmm([1, 2], normalize="sym", strategy="staged", **ranks(devices))
        assert NEGATIVE.spmm([1, 2], strategy="staged", **ranks(devices)).tolist() == [-2, 1]
