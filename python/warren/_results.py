# SPDX-License-Identifier: Apache-2.0
"""What calls give back: arrays with an element a vertex, numbers, and what the call ran on."""
from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

    from ._graph import Graph

EDGES_NAMES = ("device", "host", "compressed-host")


def run_info(command: str, graph: Graph, ran: tuple[Any, ...]) -> dict[str, Any]:
    """What all calls tell of the run, by the names of the command line's JSON."""
    on_gpu, devices, devices_reason, threads = ran[:4]
    return {"command": command, "device": "cuda" if on_gpu else "cpu", "devices": devices, "devices_reason": devices_reason, "threads": threads,
            "vertices": graph.num_vertices, "edges": graph.num_edges, "seconds": [ran[8]]}


class Result:
    """Base of the results. `seconds` is the algorithm alone, on the slowest rank; `info` a dict with the fields of the command line's JSON."""

    _command = ""
    _columns: tuple[str, ...] = ()

    def __init__(self, graph: Graph, ran: tuple[Any, ...]):
        self._graph = graph
        self._ran = ran

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        """A new dict at each call, whose fields are those of the command line: device, devices, threads, seconds (a list, one a run), ..."""
        is_async, mode_reason, edges, bytes_read = self._ran[4:8]
        info = run_info(self._command, self._graph, self._ran)
        info.update(mode="async" if is_async else "sync", edges_placement=EDGES_NAMES[edges], bytes_read=bytes_read)
        if mode_reason:
            info["mode_reason"] = mode_reason
        info.update(self._facts())
        return info

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The first array, where NumPy wants one."""
        array = np.asarray(getattr(self, self._columns[0]), dtype)
        return array.copy() if copy else array

    def _facts(self) -> dict[str, Any]:
        return {}

    def _reached(self) -> np.ndarray | None:
        """Which vertices to_dict() tells; None: all."""
        return None

    def to_dict(self) -> dict[Hashable, Any]:
        """{vertex: value} of the vertices that were reached, by their names where the graph has some."""
        values = getattr(self, self._columns[0])
        if values.ndim != 1:
            raise ValueError("to_dict: got a result of several sources, expected one of one source")
        reached = self._reached()
        keys = self._graph.labels(reached)
        return dict(zip(keys, (values if reached is None else values[reached]).tolist()))

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row a vertex: `vertex` (its name where the graph has some), and the result's arrays as columns. Needs pandas."""
        import pandas

        if getattr(self, self._columns[0]).ndim != 1:
            raise ValueError("to_frame: got a result of several sources, expected one of one source")
        return pandas.DataFrame({"vertex": self._graph.labels(None), **{name: getattr(self, name) for name in self._columns}})

    def _summary(self) -> str:
        return ""

    def __repr__(self) -> str:
        on_gpu, devices = self._ran[:2]
        where = f"{devices} {'GPU' if on_gpu else 'CPU rank'}{'s' if devices != 1 else ''}"
        return f"<{type(self).__name__} {self._summary()}, {self.seconds:.3g} s on {where}>"


class BfsResult(Result):
    """depth (int32; -1: not reached) and parent (int32, int64 for 2^31 vertices or more; -1: not reached; a source is its own), n elements each;
    reached, a number of vertices, and max_depth. For a list of k sources the arrays are k x n, and reached and max_depth are arrays of k."""

    _command = "bfs"
    _columns = ("depth", "parent")

    def __init__(self, graph: Graph, source: Any, depth: np.ndarray, parent: np.ndarray, reached: Any, max_depth: Any, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.source = source
        self.depth = depth
        self.parent = parent
        self.reached = reached
        self.max_depth = max_depth

    def _reached(self) -> np.ndarray | None:
        return np.flatnonzero(self.depth >= 0)

    def _facts(self) -> dict[str, Any]:
        sum_depth = np.where(self.depth > 0, self.depth, 0).sum(axis=-1, dtype=np.int64).tolist()
        return {"source": self.source, "reached": _plain(self.reached), "max_depth": _plain(self.max_depth), "sum_depth": sum_depth}

    def _summary(self) -> str:
        if self.depth.ndim != 1:
            return f"of {len(self.depth)} sources"
        return f"reached {self.reached} of {len(self.depth)} vertices, max_depth {self.max_depth}"


class SsspResult(Result):
    """distance, n elements: int64 (-1: not reached) for graphs of integer weights, else float64 (inf: not reached); reached, a number of vertices."""

    _command = "sssp"
    _columns = ("distance",)

    def __init__(self, graph: Graph, source: int, distance: np.ndarray, reached: int, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.source = source
        self.distance = distance
        self.reached = reached

    def _is_reached(self) -> np.ndarray:
        return self.distance >= 0 if self.distance.dtype.kind == "i" else np.isfinite(self.distance)

    def _reached(self) -> np.ndarray | None:
        return np.flatnonzero(self._is_reached())

    def _facts(self) -> dict[str, Any]:
        reached = self.distance[self._is_reached()]
        return {"source": self.source, "reached": self.reached, "max_distance": reached.max().item(), "sum_distance": sum(reached.tolist())}

    def _summary(self) -> str:
        return f"reached {self.reached} of {len(self.distance)} vertices"


class ComponentsResult(Result):
    """label, n elements (int32, int64 for 2^31 vertices or more): the smallest vertex of the component; num_components, and largest, the vertices of
    the largest one."""

    _command = "cc"
    _columns = ("label",)

    def __init__(self, graph: Graph, label: np.ndarray, num_components: int, largest: int, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.label = label
        self.num_components = num_components
        self.largest = largest

    def to_dict(self) -> dict[Hashable, Any]:
        """{vertex: the component's smallest vertex}, both by their names where the graph has some."""
        return dict(zip(self._graph.labels(None), self._graph.labels(self.label)))

    def _facts(self) -> dict[str, Any]:
        return {"components": self.num_components, "largest": self.largest}

    def _summary(self) -> str:
        return f"{self.num_components} components, the largest of {self.largest} vertices"


class PageRankResult(Result):
    """rank, n elements (float64), which sum to 1; iterations; residual, the L1 change of the last one; converged, whether that is at most the tolerance."""

    _command = "pagerank"
    _columns = ("rank",)

    def __init__(self, graph: Graph, rank: np.ndarray, iterations: int, residual: float, converged: bool, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.rank = rank
        self.iterations = iterations
        self.residual = residual
        self.converged = converged

    def top(self, count: int = 10) -> list[tuple[Hashable, float]]:
        """The vertices of largest rank, equal ones by id."""
        best = np.argsort(-self.rank, kind="stable")[:count]
        return list(zip(self._graph.labels(best), self.rank[best].tolist()))

    def _facts(self) -> dict[str, Any]:
        best = np.argsort(-self.rank, kind="stable")[:10]
        return {"iterations": self.iterations, "residual": self.residual, "converged": self.converged, "top": [[int(v), float(self.rank[v])] for v in best]}

    def _summary(self) -> str:
        return f"of {len(self.rank)} vertices, {self.iterations} iterations{'' if self.converged else ', not converged'}"


class BetweennessResult(Result):
    """score, n elements (float64); sources, the vertices from which paths were counted (int32, int64 for 2^31 vertices or more); scale, by which sums
    over them were multiplied."""

    _command = "bc"
    _columns = ("score",)

    def __init__(self, graph: Graph, score: np.ndarray, sources: np.ndarray, scale: float, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.score = score
        self.sources = sources
        self.scale = scale

    def _facts(self) -> dict[str, Any]:
        return {"sources": len(self.sources) or self._graph.num_vertices}

    def _summary(self) -> str:
        return f"of {len(self.score)} vertices, from {len(self.sources) or len(self.score)} sources"


class CoreNumberResult(Result):
    """core, n elements (int32, int64 for 2^31 vertices or more); largest, the largest core number, and innermost, the number of vertices that have it."""

    _command = "core"
    _columns = ("core",)

    def __init__(self, graph: Graph, core: np.ndarray, largest: int, innermost: int, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.core = core
        self.largest = largest
        self.innermost = innermost

    def _facts(self) -> dict[str, Any]:
        return {"largest_core": self.largest, "innermost": self.innermost}

    def _summary(self) -> str:
        return f"largest core {self.largest} of {self.innermost} vertices"


class TrianglesResult(Result):
    """count, n elements (int64): the triangles that a vertex is in; triangles, their number in the graph, a third of the sum of the counts."""

    _command = "triangles"
    _columns = ("count",)

    def __init__(self, graph: Graph, count: np.ndarray, triangles: int, ran: tuple[Any, ...]):
        super().__init__(graph, ran)
        self.count = count
        self.triangles = triangles

    def _facts(self) -> dict[str, Any]:
        return {"triangles": self.triangles}

    def _summary(self) -> str:
        return f"{self.triangles} triangles"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
