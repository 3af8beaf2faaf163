# SPDX-License-Identifier: Apache-2.0
"""Arrays that are on a GPU. Without one a library is played that says it has its arrays there; tests of PyTorch, CuPy and Numba are skipped then, which is told."""
import numpy as np
import pytest

import warren
from warren import _views

RNG = np.random.default_rng(1)
GRAPH = warren.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 3.0, 4.0])
HAS_GPU = _views._core.gpu_count() > 0
STREAM = 77


class Played:
    """An array of a library that says it is on GPU 0."""

    def __init__(self, values, asked, gpu=0):
        self.values, self.asked, self.gpu = np.asarray(values), asked, gpu
        self.dtype, self.shape, self.ndim = self.values.dtype, self.values.shape, self.values.ndim

    def __dlpack_device__(self):
        return (2, self.gpu)

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        return self.values.__dlpack__()

    def astype(self, dtype):
        return Played(self.values.astype(dtype), self.asked)


@pytest.fixture
def play(monkeypatch):
    """Makes arrays of that library; `.asked` has the streams on which the engine asked for them."""
    if HAS_GPU:
        pytest.skip("there is a GPU: it need not be played")
    asked = []
    monkeypatch.setattr(_views._core, "gpu_count", lambda: 1)
    monkeypatch.setattr(_views._core, "arrival_stream", lambda gpu: STREAM)

    def make(values, **options):
        return Played(values, asked, **options)

    make.asked = asked
    return make


def test_arrays_come_on_the_engines_stream(play):
    b = RNG.normal(size=(4, 3)).astype(np.float32)
    assert np.array_equal(GRAPH.spmm(play(b)), GRAPH.spmm(b)) and play.asked == [STREAM]
    assert np.array_equal(GRAPH.spmm(play(b.astype(np.float64))), GRAPH.spmm(b))
    assert np.array_equal(GRAPH.spmm(play(b[:, 0].copy()), devices=2), GRAPH.spmm(b[:, 0], devices=2))
    assert np.array_equal(GRAPH.sddmm(play(b), play(b)), GRAPH.sddmm(b, b)) and np.array_equal(GRAPH.sddmm(b, play(b)), GRAPH.sddmm(b, b))
    table = warren.Table(play(b))
    for ids in (np.array([[3, 0], [1, 1]], dtype) for dtype in (np.int32, np.int64, np.uint32, np.uint64, np.int8)):
        assert np.array_equal(table.gather(play(ids)), b[ids])
        assert np.array_equal(table.lookup(play(ids), mode="max"), b[ids].max(1))
    factors = np.float32([[2, 1], [0, 3]])
    assert np.allclose(table.lookup(play(ids), mode="sum", per_sample_weights=play(factors)), (b[ids] * factors[:, :, None]).sum(1))
    seeds = np.array([2, 0, 1])
    for here, there in ((GRAPH.sample(seeds, [2]), GRAPH.sample(play(seeds), [2])), *zip(GRAPH.sample_batches(seeds, [2], 2, edge_ids=True), GRAPH.sample_batches(play(seeds), [2], 2, edge_ids=True))):
        assert np.array_equal(here.vertices, there.vertices) and here.num_seeds == there.num_seeds
        assert all(np.array_equal(getattr(here.layers[0], name), getattr(there.layers[0], name)) for name in ("offsets", "targets", "edge_ids"))
    assert set(play.asked) == {STREAM}


@pytest.mark.parametrize("call, error, message", [
    (lambda play: GRAPH.spmm(play(np.ones((4, 2)), gpu=3)), ValueError, "^B: got an array on GPU 3, expected one of the GPUs that warren can use, 0 to 0$"),
    (lambda play: GRAPH.spmm(play(np.ones((3, 2)))), ValueError, r"^B: got an array of shape \(3, 2\), expected"),
    (lambda play: GRAPH.spmm(play(np.ones((4, 2), complex))), ValueError, "^B: got elements of type complex128, expected real numbers$"),
    (lambda play: GRAPH.spmm(play(np.ones((2, 4), np.float32).T)), ValueError, "^B: got an array with gaps between its elements"),
    (lambda play: warren.gather(np.ones(3), play([0.5])), ValueError, "^ids: got elements of type float64, expected integers$"),
    (lambda play: warren.gather(np.ones(3), play([True])), ValueError, "^ids: got elements of type bool, expected integers$"),
    (lambda play: warren.gather(np.ones(3), play([0, 3])), IndexError, r"^ids\[1\]: got 3, expected a row, 0 to 2$"),
    (lambda play: warren.gather(np.ones(3), play(np.int32([0, 0, -7]))), IndexError, r"^ids\[2\]: got -7, expected a row, 0 to 2$"),
    (lambda play: warren.lookup(np.ones((3, 1), np.float32), play([[3]])), IndexError, r"^ids\[0\]: got 3, expected a row"),
    (lambda play: warren.Table(play(np.float32(1))), ValueError, r"^values: got an array of shape \(\)"),
    (lambda play: GRAPH.sample(play([0, 9]), [1]), IndexError, r"^seeds\[1\]: got 9, expected a vertex, 0 to 3$"),
    (lambda play: GRAPH.sample(play([[0]]), [1]), ValueError, r"^seeds: got an array of shape \(1, 1\), expected one dimension$"),
    (lambda play: GRAPH.sample_batches(play(np.zeros(0, int)), [1]), ValueError, "^seeds: got none")])
def test_refused(play, call, error, message):
    with pytest.raises(error, match=message):
        call(play)


def test_cuda_array_interface(play):
    """Of which the engine is given the pointer; a build without GPUs takes it for one of the host's memory."""
    values = RNG.normal(size=(4, 2)).astype(np.float32)

    class Interface:
        dtype, shape = values.dtype, values.shape

        def __init__(self, **more):
            self.__cuda_array_interface__ = {"shape": values.shape, "typestr": "<f4", "data": (values.ctypes.data, True), "version": 3, "stream": 1, "strides": None, **more}

    assert np.array_equal(GRAPH.spmm(Interface()), GRAPH.spmm(values))
    for more, message in (({"strides": (4, 16)}, "gaps"), ({"mask": values}, "mask"), ({"data": None}, "does not hand over")):
        with pytest.raises(ValueError, match=f"^B: got Interface in a GPU's memory that its library does not hand over.*{message}|{message}"):
            GRAPH.spmm(Interface(**more))


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_gpu(library):
    """Arrays of PyTorch and CuPy on a stream of theirs that has much to do before they are complete, and results that are used on it at once."""
    module = pytest.importorskip(library)
    graph = warren.generate("kron:14", weights="uniform:1:9")
    n = graph.num_vertices
    host = RNG.normal(size=(n, 24)).astype(np.float32)
    ids = RNG.integers(0, n, 5000)
    if library == "torch":
        if not module.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        stream = module.cuda.Stream()
        on_gpu, within = lambda array: module.from_numpy(array).cuda(), module.cuda.stream(stream)
        to_host, is_there = lambda array: array.cpu().numpy(), lambda array: isinstance(array, module.Tensor) and array.is_cuda
    else:
        stream = module.cuda.Stream(non_blocking=True)
        on_gpu, within, to_host, is_there = module.asarray, stream, module.asnumpy, lambda array: isinstance(array, module.ndarray)
    noise = on_gpu(RNG.normal(size=(4096, 4096)).astype(np.float32))
    b, rows, seeds = on_gpu(host), on_gpu(ids), on_gpu(ids[:100].copy())
    product, entries, gathered = graph.spmm(host, device="cuda"), graph.sddmm(host, host, device="cuda"), host[ids]
    sampled = graph.sample(ids[:100], [5], device="cuda")
    with within:
        for _ in range(5):
            late = b * 0
            for _ in range(20):
                noise = noise @ noise * 1e-5
            late += b
            calls = ((lambda: graph.spmm(late), 2 * product), (lambda: graph.sddmm(late, late), 2 * entries), (lambda: warren.gather(late, rows), 2 * gathered),
                     (lambda: warren.gather(host, rows), 2 * gathered), (lambda: warren.lookup(late, rows.reshape(-1, 2), mode="max"), 2 * gathered.reshape(-1, 2, 24).max(1)))
            for call, twice in calls:
                found = call()
                assert is_there(found)
                used = found + found
                del found  # Its memory is used again only after the sum.
                assert np.array_equal(to_host(used), twice)
            batch = graph.sample(seeds, [5])
            assert is_there(batch.vertices) and np.array_equal(to_host(batch.vertices), sampled.vertices) and np.array_equal(to_host(batch.layers[0].targets), sampled.layers[0].targets)
        assert is_there(graph.spmm(late[:, :5])) and np.array_equal(to_host(graph.spmm(late[:, :5])), graph.spmm(host[:, :5].copy(), device="cuda"))
        with pytest.raises(IndexError, match=rf"^ids\[1\]: got {n}, expected a row"):
            warren.gather(late, on_gpu(np.array([0, n])))
        with pytest.raises(IndexError, match=r"^seeds\[0\]: got -1"):
            graph.sample(on_gpu(np.array([-1])), [1])
        for session in (warren.Session(device="cuda", devices=2, share_devices=True), warren.Session(device="cpu")):
            with session:
                assert np.allclose(to_host(graph.spmm(late, strategy="staged")), product, rtol=1e-4, atol=1e-3)
                assert np.array_equal(to_host(warren.gather(late, rows)), gathered)
        back = warren.from_csr(*(on_gpu(array) for array in graph.to_csr()))
        assert back.arrays == library and back.num_edges == graph.num_edges


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
def test_gpu_refuses_gradients():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"^B: got a tensor that requires a gradient.*detach"):
        GRAPH.spmm(torch.ones(4, 2, device="cuda", requires_grad=True))
