# SPDX-License-Identifier: Apache-2.0
"""Random walks from vertices: plain ones, by weights, and node2vec's."""
from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import bounded_number, flag, real_number, seed_number
from ._fixed import Fixed
from ._graph import Graph, check_graph
from ._libraries import check_library, to_library
from ._progress import AskedProgress, Telling
from ._results import run_info
from ._sample import _batch_number, _seeds_of
from ._session import Session, run_of

MOST_STEPS = 2**18


class RandomWalks(Fixed):
    """walks (int32): a row a start, each with the start and the vertex after each step. It is of the library that the graph's arrays came from (Graph.arrays),
    in whose memory it stays; array() gives it of another. `seconds`, and `info`."""

    def __init__(self, graph: Graph, starts: int, length: int, found: tuple[Any, ...]):
        self._graph = graph
        self._shape = (starts, length + 1)
        self._walks, self._ran = found
        self._told: Any = None

    def array(self, library: str | None = None) -> Any:
        """The walks as an array of `library` ("numpy", "torch", "cupy", "jax"; None: as they are told)."""
        return to_library(self._walks, self._graph.arrays if library is None else check_library("library", library)).reshape(self._shape)

    @property
    def walks(self) -> Any:
        if self._told is None:
            self._told = self.array()
        return self._told

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        return {**run_info("random_walks", self._graph, self._ran), "walks": self._shape[0], "steps": self._shape[1] - 1}

    def __getstate__(self) -> dict[str, Any]:
        """Pickled with its walks, in host memory, and its graph."""
        return {**self.__dict__, "_walks": to_library(self._walks, "numpy"), "_told": None}

    def __len__(self) -> int:
        return self._shape[0]

    def __repr__(self) -> str:
        return f"<warren.RandomWalks {self._shape[0]} walks of {self._shape[1] - 1} steps>"


def random_walks(graph: Graph, starts: Any, length: int = 80, weighted: bool = False, p: float = 1.0, q: float = 1.0, seed: int = 1, batch: int = 0, device: str = "auto",
                 devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, progress: AskedProgress = None) -> RandomWalks:
    """Walks of `length` steps from vertices, along edges.

    A step goes from v to a neighbour x with a probability in proportion to a(x) w(v, x). w is 1, or with `weighted` the edge's weight, which is 0 or more. a is 1 in the first step, and later, where
    the walk came to v from t, 1 / p for x = t, 1 where t has an edge to x, and 1 / q for all others: node2vec (Grover and Leskovec, KDD 2016). At a vertex without edges a walk stays.
    starts: a vertex, or a list or an array of them, which may repeat; names where the graph has some. seed, batch: walks of one seed differ by the batch's number. The result is a function of the graph,
    these two and the starts alone: the same on every device and number of ranks. It stays on the device.
    progress: as of sample_batches(), the unit being "walks".
    Raises VertexError (an IndexError) for a start that is no vertex; ValueError (argument: got, expected) for no starts, a length above 2**18, p or q not from 1e-100 to 1e100, and `weighted` for a graph without weights, with a
    negative one or with none above 0; MemoryError.
    """
    check_graph(graph)
    run = run_of("auto", edges, device, devices, session)
    chosen = _seeds_of(graph, starts, "starts")
    steps = bounded_number("length", length, 0, MOST_STEPS)
    back, out = (real_number(name, value, "a finite number above 0") for name, value in (("p", p), ("q", q)))
    with Telling(progress):
        found = _core.random_walks(graph._core, chosen, steps, flag("weighted", weighted), back, out, seed_number(seed), _batch_number(batch), run)
    return RandomWalks(graph, chosen.size, steps, found)
