# SPDX-License-Identifier: Apache-2.0
"""Memory of other libraries' allocators: a played one, of which the engine takes its device memory on the CPU, and those of PyTorch and CuPy where there is a GPU."""
import sys
import types

import numpy as np
import pytest

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
    _core.set_allocator(made, True)
    yield made
    _core.set_allocator(None, True)


def multiply(graph):
    """Of two ranks, which have rows of B and C in their devices' memory."""
    return graph.spmm(np.ones((graph.num_vertices, 4)), strategy="staged", devices=2, device="cpu").sum()


def test_blocks_come_from_the_pool_and_go_back_there(pool):
    graph = warren.from_edges([0, 1, 2], [1, 2, 3])
    with warren.Session(device="cpu") as session:
        assert multiply(graph) == 12 and pool.given > 0
        first, kept = pool.given, pool.given - pool.back
        assert kept > 0
        other = Pool()
        _core.set_allocator(other, True)  # While the session holds blocks of the first one.
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


def test_refused():
    for library, got in ((np, "numpy"), (3, "int"), ("torch", "str")):
        with pytest.raises(ValueError, match=f"^library: got {got}, expected the module torch or cupy, or None$"):
            warren.set_allocator(library)
    if not HAS_GPU:
        with pytest.raises(ValueError, match="^library: got torch, but there is no GPU"):
            warren.set_allocator(types.ModuleType("torch"))
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
