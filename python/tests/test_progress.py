# SPDX-License-Identifier: Apache-2.0
"""What long calls tell of how far they have come, to a function or to a bar of tqdm's."""
import sys
import threading
import types

import numpy as np
import pytest
from conftest import ranks

import warren

GRAPH = warren.read("kron:9", symmetrize=True, weights="uniform:1:9")
DATASET = warren.read_dataset("community:600,6", features=4, classes=2)
UNLABELLED = warren.read_dataset("community:600,6", features=4)
MODEL = warren.train(DATASET, epochs=2, hidden=4).model
CALLS = [
    ("iterations", lambda tell, **where: GRAPH.pagerank(tolerance=0, max_iterations=30, progress=tell, **where)),
    ("sources", lambda tell, **where: GRAPH.betweenness(20, progress=tell, **where)),
    ("sources", lambda tell, **where: GRAPH.bfs([0, 1, 2], progress=tell, **where)),
    ("sources", lambda tell, **where: GRAPH.sssp([0, 1, 2], progress=tell, **where)),
    ("batches", lambda tell, **where: GRAPH.sample_batches(range(100), fanouts=[3], batch_size=9, progress=tell, **where)),
    ("walks", lambda tell, **where: GRAPH.random_walks(range(100), length=5, progress=tell, **where)),
    ("passes", lambda tell, **where: warren.predict(DATASET, MODEL, progress=tell, **where)),
    ("passes", lambda tell, **where: warren.predict(DATASET, MODEL, embeddings=True, progress=tell, **where)),
    ("passes", lambda tell, **where: warren.predict(UNLABELLED, MODEL, progress=tell, **where)),
]


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("unit, call", CALLS)
def test_it_is_told_to_the_end(unit, call, devices):
    told, threads = [], set()

    def tell(progress):
        told.append(progress)
        threads.add(threading.get_ident())

    call(tell, **ranks(devices))
    assert {progress["unit"] for progress in told} == {unit} and threads == {threading.get_ident()}
    assert told[-1]["done"] == told[-1]["total"] > 0
    assert [progress["done"] for progress in told] == sorted(progress["done"] for progress in told)


def test_the_passes_of_a_prediction():
    for (dataset, options), passes in zip(((DATASET, {}), (DATASET, {"embeddings": True}), (UNLABELLED, {}), (UNLABELLED, {"embeddings": True})), (3, 4, 2, 3)):
        told = []
        warren.predict(dataset, MODEL, progress=told.append, allow_changes=True, **options)
        assert told[-1] == {"unit": "passes", "done": passes, "total": passes}


@pytest.mark.parametrize("unit, call", CALLS)
def test_results_are_the_same(unit, call):
    for told, plain in zip(arrays(call(lambda progress: None)), arrays(call(None))):
        assert np.array_equal(told, plain), unit


def arrays(found):
    if isinstance(found, warren.SampledBatches):
        return [found.vertices]
    return [found.walks] if isinstance(found, warren.RandomWalks) else [np.asarray(found)]


@pytest.mark.parametrize("unit, call", CALLS)
def test_what_its_function_raises_ends_the_call(unit, call):
    def tell(progress):
        raise KeyError(progress["unit"])

    with pytest.raises(KeyError, match=unit):
        call(tell)
    assert GRAPH.bfs(0).reached > 1


@pytest.mark.parametrize("unit, call", CALLS)
def test_its_function_may_make_calls(unit, call):
    reached = []
    call(lambda progress: reached.append(GRAPH.bfs(0).reached))
    assert reached and set(reached) == {GRAPH.bfs(0).reached}, unit


def test_a_long_call_tells_while_it_works():
    told = []

    class Enough(Exception):
        pass

    def tell(progress):
        told.append(progress["done"])
        if len(told) == 3:
            raise Enough

    star = warren.from_edges([0] * 9, range(1, 10), symmetrize=True)
    with pytest.raises(Enough):
        star.pagerank(damping=1 - 1e-12, tolerance=0, max_iterations=2**32 - 1, personalization=[1] * 10, device="cpu", progress=tell)
    assert len(set(told)) == 3


@pytest.mark.parametrize("unit, call", CALLS)
def test_a_bar(unit, call, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, unit):
            self.total, self.unit, self.n, self.is_closed = total, unit, 0, False
            bars.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            self.is_closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    call(True)
    (bar,) = bars
    assert bar.n == bar.total > 0 and bar.is_closed and bar.unit in ("iteration", "source", "batch", "walk", "pass")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    call(True)  # Without tqdm there is none.
    call(False)
    assert len(bars) == 1


@pytest.mark.parametrize("call", [
    lambda: GRAPH.bfs(0, progress=print),
    lambda: GRAPH.sssp(0, progress=True),
    lambda: GRAPH.bfs([0, 1], nearest=True, progress=print),
    lambda: GRAPH.bfs([0, 1], progress="bar"),
    lambda: GRAPH.bfs(0, progress=3),
    lambda: GRAPH.pagerank(progress="bar"),
    lambda: GRAPH.pagerank(mode="async", progress=print),
    lambda: GRAPH.betweenness(2, progress=3),
    lambda: GRAPH.sample_batches([0], progress=[]),
    lambda: GRAPH.random_walks([0], progress=1),
    lambda: warren.predict(DATASET, MODEL, progress="bar"),
])
def test_what_tells_nothing_is_refused(call):
    with pytest.raises(ValueError, match="^progress: got "):
        call()
