# SPDX-License-Identifier: Apache-2.0
"""A graph cut into parts, and a graph's vertices in another order. Both work on the host's threads of the session, and end at Ctrl-C, but for METIS, which goes on until it is done."""
from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from . import _core
from ._arrays import flag, seed_number, whole_number
from ._graph import Graph, check_graph
from ._results import Result
from ._session import Session, choice, run_of

METHODS = {"ranges": 0, "random": 1, "degree": 2, "rabbit": 3, "metis": 4}
ORDERS = {"rabbit": 0, "degree": 1, "random": 2}
VOLUMES = ("broadcast", "per_edge", "once", "fused", "cover")
MAX_PARTS = _core.max_parts()


class _HostResult(Result):
    """A result that ranks had no part in."""

    def __init__(self, graph: Graph, report: _core.Report, seconds: float, *values: np.ndarray):
        super().__init__(graph, report, (False, 1, "on the host's threads", 0, False, "", 0, 0, seconds), *values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._summary()}, {self.seconds:.3g} s>"


class PartitionResult(_HostResult):
    """part, n elements (int32): each vertex' part, 0 to parts - 1. new_id, n elements (int32, int64 for 2^31 vertices or more): ids with which part p has
    those from cuts[p] to cuts[p + 1]; cuts (int64, parts + 1).

    cut_edges: directed edges between parts. halo_rows: for each part the vertices of others that its edges lead to, summed. imbalance: edges out of the fullest
    part over the mean. volume, volume_between: dicts of the rows that cross in one product with the graph's matrix, by the ways to exchange them
    (docs/sparse.md): between all parts, and between workgroups. seconds: cutting alone.
    """

    _columns = ("part", "new_id")

    def __init__(self, graph: Graph, parts: int, method: str, workgroup: int, found: tuple[Any, ...]):
        report, part, new_id, cuts, cut_edges, halo_rows, imbalance, volume, between, seconds = found
        super().__init__(graph, report, seconds, part, new_id)
        self.parts = parts
        self.method = method
        self.workgroup = workgroup
        self.cuts: np.ndarray = cuts
        self.cut_edges: int = cut_edges
        self.halo_rows: int = halo_rows
        self.imbalance: float = imbalance
        self.volume: dict[str, int] = dict(zip(VOLUMES, volume))
        self.volume_between: dict[str, int] = dict(zip(VOLUMES, between))

    @property
    def part(self) -> Any:
        return self.array("part")

    @property
    def new_id(self) -> Any:
        return self.array("new_id")

    def _summary(self) -> str:
        return f"{self.parts} parts by {self.method}, {self.cut_edges} of {self._graph.num_edges} edges cut, imbalance {self.imbalance:.3f}"


class ReorderResult(_HostResult):
    """new_id, n elements (int32, int64 for 2^31 vertices or more): each vertex' place in the order, a permutation; old_id, its inverse.

    graph: with vertex v as new_id[v], its weights and its name (its id in the file, where that is another); None unless it was asked for. seconds: finding
    the order alone.
    """

    _columns = ("new_id", "old_id")

    def __init__(self, graph: Graph, order: str, found: tuple[Any, ...]):
        report, new_id, old_id, turned, seconds = found
        super().__init__(graph, report, seconds, new_id, old_id)
        self.order = order
        self.graph = None if turned is None else _in_order(graph, old_id, turned)

    @property
    def new_id(self) -> Any:
        return self.array("new_id")

    @property
    def old_id(self) -> Any:
        return self.array("old_id")

    def _summary(self) -> str:
        return f"{self._graph.num_vertices} vertices by {self.order}"


def _in_order(graph: Graph, old_id: np.ndarray, core: _core.Graph) -> Graph:
    has_names = graph.names is not None or graph.original_ids is not None
    labels: list[Hashable] | None = graph.labels(old_id) if has_names else None
    turned = Graph(core, labels, graph.arrays)
    turned._is_rounded = graph._is_rounded
    if labels is not None and (graph._has_nodes() or graph.names is None):
        turned._index = {node: v for v, node in enumerate(labels)}
    return turned


def _seed(seed: int | None) -> int | None:
    return None if seed is None else seed_number(seed)


def partition(graph: Graph, parts: int = 2, method: str = "ranges", seed: int | None = None, workgroup: int | None = None, cover: bool = True,
              session: Session | None = None) -> PartitionResult:
    """part(v) in 0 .. parts - 1 for every vertex, and what the cut costs.

    parts: 1 to 1024. method: "ranges" (of about equal edges), "random" (a permutation, then equal ranges), "degree" (dealt out by descending degree), "rabbit"
    (communities together, then ranges), "metis" (few cut edges; needs the METIS library). seed: of "random" and "metis", 1 where it is None.
    workgroup: parts of a workgroup, for volume["fused"] and volume_between; None: all. cover: False leaves out volume["cover"], which takes the most time.
    Arrays are in host memory. Repeats bit for bit for the same seed.
    Raises ValueError for an option out of range, for a seed of a method that draws nothing, and for "metis" where it is missing or the graph too large for it; MemoryError.
    """
    check_graph(graph)
    number = whole_number("parts", parts, 1, f"1 to {MAX_PARTS}")
    if number > MAX_PARTS:
        raise ValueError(f"parts: got {number}, expected 1 to {MAX_PARTS}")
    choice("method", method, METHODS)
    group = number if workgroup is None else whole_number("workgroup", workgroup, 1, "None, or a divisor of the number of parts")
    if number % group != 0:
        raise ValueError(f"workgroup: got {group}, expected a divisor of the number of parts, {number}")
    run = run_of("auto", "auto", "auto", "auto", session)
    return PartitionResult(graph, number, method, group, _core.partition(graph._core, number, method, _seed(seed), group, flag("cover", cover), run))


def reorder(graph: Graph, order: str = "rabbit", seed: int | None = None, return_graph: bool = False, session: Session | None = None) -> ReorderResult:
    """new_id[v] = the place of v in an order of the vertices.

    order: "rabbit" (neighbours near each other: a walk over a hierarchy of communities), "degree" (by descending out-degree, ties by id), "random".
    seed: of "random", 1 where it is None. return_graph: the result's `graph` is made, with vertices in this order.
    Arrays are in host memory. Repeats bit for bit for the same seed, on any number of threads.
    Raises ValueError for an order that is none, and for a seed of one that draws nothing; MemoryError.
    """
    check_graph(graph)
    choice("order", order, ORDERS)
    run = run_of("auto", "auto", "auto", "auto", session)
    return ReorderResult(graph, order, _core.reorder(graph._core, order, _seed(seed), flag("return_graph", return_graph), run))
