# SPDX-License-Identifier: Apache-2.0
"""Memory of other libraries' allocators: a played one, of which the engine takes its device memory on the CPU, and those of PyTorch and CuPy where there is a GPU."""
import sys
import types

import numpy as np
import pytest
from conftest import run

import warren
from warren import _allocator, _core

HAS_GPU = _core.gpu_count() > 0


class Pool:
    """Counts what it gave, and what has come back."""

    def __init__(self):
        self.given, self.back, self.limit = 0, 0, 2**40

    def __call__(self, device, size):
        if size > self.limit:
            raise RuntimeError(f"no {size} bytes here")
        pool = self

        class Block:
            def __init__(self):
                self.bytes = np.empty(size + 256, np.uint8)
                pool.given += 1

            def __del__(self):
                pool.back += 1

        block = Block()
        address = block.bytes.ctypes.data
        return address + -address % 256, block


@pytest.fixture
def pool():
    made = Pool()
    _core.set_allocator(_core.Allocator(made), True)
    yield made
    _core.set_allocator(None, True)


def multiply(graph, session=None):
    """Of two ranks, which have rows of B and C in their devices' memory."""
    return graph.spmm(np.ones((graph.num_vertices, 4)), strategy="staged", devices=2, device="cpu", session=session).sum()


def test_blocks_come_from_the_pool_and_go_back_there(pool):
    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    with warren.Session(device="cpu") as session:
        assert multiply(graph) == 12 and pool.given > 0
        first, kept = pool.given, pool.given - pool.back
        assert kept > 0
        other = Pool()
        _core.set_allocator(_core.Allocator(other), True)  # While the session holds blocks of the first one.
        assert multiply(warren.from_edges([0, 1], [1, 2])) == 8 and other.given > 0 and pool.given == first
        _core.set_allocator(None, True)
        now = other.given
        assert multiply(warren.from_edges([0], [1])) == 4 and other.given == now
        session.close()
    warren.from_edges([0], [1])  # What was let go of is given back by the next call.
    assert (pool.back, other.back) == (pool.given, other.given)


def test_a_pool_that_has_no_more(pool):
    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    pool.limit = 8
    with warren.Session(device="cpu"):
        with pytest.raises(MemoryError, match="^not enough memory on cpu"):
            multiply(graph)
        pool.limit = 2**40
        assert multiply(graph) == 12


class Untold(Exception):
    def __str__(self):
        raise KeyError("no text")


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("error, told", [(RuntimeError("none here"), "RuntimeError: none here"), (ValueError(), "ValueError"), (Untold(), "Untold"), (KeyError("é\n" + "long " * 99), r"KeyError: .*\.\.\.$")])
def test_what_an_allocator_raises_is_the_cause(error, told, own, devices):
    def allocate(gpu, size):
        raise error

    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    try:
        if not own:
            _core.set_allocator(_core.Allocator(allocate), True)
        with warren.Session(device="cpu", allocator=allocate if own else None):
            for call in (lambda: graph.spmm(np.ones((4, 4)), strategy="staged", devices=devices), lambda: graph.sample_batches([0, 1], fanouts=[2], devices=devices)):
                with pytest.raises(MemoryError, match="^not enough memory on cpu.*bytes asked.*; it raised " + told) as raised:
                    call()
                assert raised.value.__cause__ is error and ("of the session" in str(raised.value)) == own
    finally:
        _core.set_allocator(None, True)


@pytest.mark.parametrize("given", [5, None, (1,), ("a", 1), (0, 1), (257, 1), (-256, 1), (2**64, 1), (256, 1, 1)])
def test_what_is_no_memory(given):
    with warren.Session(device="cpu", allocator=lambda gpu, size: given), pytest.raises(MemoryError, match="; it raised ValueError: allocator: got ") as raised:
        multiply(warren.from_edges([0, 1, 2], [1, 2, 3]))
    assert isinstance(raised.value.__cause__, ValueError) and str(raised.value.__cause__).startswith(f"allocator: got {given!r}, expected a pair: the address of the memory, a multiple of 256")


def test_an_older_exception_is_no_cause():
    """Of a call that found memory elsewhere, or of another one."""
    pool = Pool()
    pool.limit = 8
    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    with warren.Session(device="cpu", allocator=pool), pytest.raises(MemoryError):
        multiply(graph)
    with pytest.raises(MemoryError) as raised:
        warren.read("kron:16", host_memory=2**20)
    assert raised.value.__cause__ is None


LIMITED = """
import resource
import numpy as np
import warren

def pages():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0])

calls = (lambda: warren.read_dataset("community:60000,6", features=40, classes=2), lambda: warren.generate("kron:14"), lambda: warren.from_edges(np.arange(10**6), np.arange(10**6)))
with warren.Session(device="cpu", threads=2):
    for call in calls:
        call()
        for more in (2**18, 2**19, 2**20, 2**21, 3 * 2**20, 2**22, 3 * 2**21, 2**23, 3 * 2**22, 2**24):
            resource.setrlimit(resource.RLIMIT_AS, (pages() * resource.getpagesize() + more, resource.RLIM_INFINITY))
            error = None
            try:
                call()
            except Exception as caught:
                error = caught
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            if error is not None:
                print(type(error).__name__, error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux'")
def test_in_little_space_for_addresses():
    status, out, err = run(LIMITED)
    assert status == 0, err
    told = [line for line in out.splitlines() if "Unable to allocate" not in line]  # NumPy's.
    assert told and "std::" not in out
    for line in told:
        assert line.startswith("MemoryError not enough memory on the host: ") and "raise that limit (RLIMIT_AS, ulimit -v)" in line, line


def test_each_session_has_its_own():
    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    first, second = Pool(), Pool()
    with warren.Session(device="cpu", allocator=first) as one, warren.Session(device="cpu", allocator=second) as other:
        assert multiply(graph, one) == 12 and first.given > 0 and second.given == 0
        before = first.given
        assert multiply(graph, other) == 12 and second.given > 0 and first.given == before
        with warren.Session(device="cpu") as plain:
            assert multiply(graph, plain) == 12 and first.given == before
        one.close()
        warren.from_edges([0], [1])
        assert first.back == first.given and second.back < second.given
        with pytest.raises(ValueError, match="the session is closed"):
            multiply(graph, one)
        assert multiply(graph, other) == 12
    warren.from_edges([0], [1])  # What was let go of is given back by the next call.
    assert second.back == second.given


def test_a_session_s_comes_before_the_process_s(pool):
    own = Pool()
    with warren.Session(device="cpu", allocator=own) as session:
        assert multiply(warren.from_edges([0, 1], [1, 2]), session) == 8 and own.given > 0
    assert pool.given == 0


def test_tensors_of_torch_as_a_session_s_memory():
    torch = pytest.importorskip("torch")
    taken = []

    def tensor(device, size):
        block = torch.empty(size + 256, dtype=torch.uint8)
        taken.append(size)
        return block.data_ptr() + -block.data_ptr() % 256, block

    graph = warren.generate("kron:8")
    with warren.Session(device="cpu", allocator=tensor) as session:
        assert np.array_equal(graph.bfs(0, devices=2, session=session).depth, graph.bfs(0, device="cpu").depth)
    assert taken


def test_a_session_s_pool_that_has_no_more():
    graph, own = warren.from_edges([0, 1, 2], [1, 2, 3]), Pool()
    own.limit = 8
    with warren.Session(device="cpu", allocator=own) as session:
        with pytest.raises(MemoryError, match="^not enough memory on .*the allocator of the session has none to give: empty its cache, or make the session without it"):
            multiply(graph, session)
        own.limit = 2**40
        assert multiply(graph, session) == 12


def test_a_function_that_gives_what_is_no_block():
    for wrong in (lambda device, size: None, lambda device, size: (64, object()), lambda device, size: 1 / 0):
        with warren.Session(device="cpu", allocator=wrong) as session, pytest.raises(MemoryError, match="allocator of the session"):
            multiply(warren.from_edges([0, 1], [1, 2]), session)


def test_refused():
    for library, got in ((np, "numpy"), (3, "int"), ("torch", "str")):
        with pytest.raises(ValueError, match=f"^library: got {got}, expected the module torch or cupy, \"pool\", a function, or None$"):
            warren.set_allocator(library)
    if not HAS_GPU:
        with pytest.raises(ValueError, match="^library: got torch, but there is no GPU"):
            warren.set_allocator(types.ModuleType("torch"))
        for given in ("pool", Pool()):
            with pytest.raises(ValueError, match="^library: got .*, but there is no GPU"):
                warren.set_allocator(given)
        with pytest.raises(ValueError, match='^allocator: got "pool", which gives memory of GPUs, and the session runs on the CPU; expected a function, or None$'):
            warren.Session(allocator="pool")
    for wrong, got in ((np, "numpy"), (object(), "object"), ("torch", "str"), (np.zeros(3), "numpy.ndarray")):
        with pytest.raises(ValueError, match=f"^allocator: got {got}, expected the module torch"):
            warren.Session(allocator=wrong)
    with pytest.raises(ValueError, match="^allocator: got torch, which gives memory of GPUs"):
        warren.Session(device="cpu", allocator=types.ModuleType("torch"))
    warren.set_allocator(None)
    assert "cupy" not in sys.modules or HAS_GPU
    assert set(_allocator.ALLOCATORS) == {"torch", "cupy"}


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_gpu(library):
    module = pytest.importorskip(library)
    used = module.cuda.memory_allocated if library == "torch" else module.get_default_memory_pool().used_bytes
    before = used()
    graph = warren.generate("kron:14")
    rows = np.ones((graph.num_vertices, 32), np.float32)
    expected = graph.spmm(rows, device="cpu")
    try:
        warren.set_allocator(module)
        with warren.Session(device="cuda") as session:
            table = warren.Table(rows)
            assert np.array_equal(graph.spmm(rows), expected) and np.array_equal(table.gather(np.arange(9)), rows[:9])
            depth = graph.bfs(0)
            assert used() - before > rows.nbytes
            warren.set_allocator(None)  # While blocks live.
            assert np.array_equal(graph.spmm(rows[:, :5].copy()), expected[:, :5]) and depth.depth[0] == 0
            warren.set_allocator(module)
            if library == "torch":
                module.cuda.set_per_process_memory_fraction(1e-6)
                with pytest.raises(MemoryError, match="allocator that was set"):
                    warren.generate("kron:18").pagerank()
                module.cuda.set_per_process_memory_fraction(1.0)
            del depth, table
            session.close()
    finally:
        warren.set_allocator(None)
    warren.from_edges([0], [1])
    assert used() <= before + 2**20


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
def test_gpu_sessions_have_their_own():
    torch = pytest.importorskip("torch")
    graph = warren.generate("kron:14")
    expected = graph.bfs(0, device="cpu").depth
    before = torch.cuda.memory_allocated()
    with warren.Session(device="cuda", allocator=torch) as one, warren.Session(device="cuda", allocator="pool") as other:
        assert np.array_equal(graph.bfs(0, session=other).depth, expected)
        assert torch.cuda.memory_allocated() == before
        for _ in range(3):
            assert np.array_equal(graph.bfs(0, session=one).depth, expected)
            assert np.array_equal(graph.bfs(0, session=other).depth, expected)
        assert torch.cuda.memory_allocated() > before
    warren.from_edges([0], [1])
    assert torch.cuda.memory_allocated() == before
