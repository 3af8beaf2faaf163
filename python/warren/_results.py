# SPDX-License-Identifier: Apache-2.0
"""What calls give back: arrays with an element a vertex, numbers, and what the call ran on."""
from __future__ import annotations

import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core
from ._arrays import whole_number
from ._errors import VerificationError
from ._fixed import Fixed
from ._libraries import check_library, to_library

if TYPE_CHECKING:
    import pandas

    from ._graph import Graph

Values = Union[_core.Array, np.ndarray]


def run_info(command: str, graph: Graph, ran: tuple[Any, ...]) -> dict[str, Any]:
    """What all calls tell of the run, by the names of the command line's JSON."""
    on_gpu, devices, devices_reason, threads = ran[:4]
    return {"command": command, "device": "cuda" if on_gpu else "cpu", "devices": devices, "devices_reason": devices_reason, "threads": threads,
            "vertices": graph.num_vertices, "edges": graph.num_edges, "seconds": [ran[8]]}


def check_verdict(ran: tuple[Any, ...]) -> None:
    """Raises VerificationError where the call was to be verified and its result is wrong."""
    if len(ran) > 9 and ran[9]:
        raise VerificationError(f"the result is wrong: {ran[9]}")


class Result(Fixed):
    """Base of the results. `verified` is True where the result was checked (verify=True), else None. `seconds` is the algorithm alone, on the slowest rank; `info` a dict with the fields of the command line's JSON, which to_json()
    gives as text; str() are the lines that it prints. Attributes cannot be set or deleted; what is written into an array, the result tells.

    Arrays are NumPy's, or of the library that the graph's arrays came from (Graph.arrays). After a call on GPUs they stay on one of them until they are
    asked for: only then are NumPy's copied to the host, while PyTorch, CuPy and JAX take them where they are.
    """

    _columns: tuple[str, ...] = ()
    _of_vertices: frozenset[str] = frozenset()  # The arrays that tell vertices.
    _graph: Graph
    _report: Any  # The library's; of a copy, and where the texts are there from the start, None.
    _ran: tuple[Any, ...]
    _values: dict[str, Any]
    _source: Any
    _texts: tuple[str, str] | None  # What to_json() and str() tell, then.

    def __init__(self, graph: Graph, report: Any, ran: tuple[Any, ...], *values: Any):
        check_verdict(ran)
        # At once: short calls make a result each, and set one by one these would be looked at one by one.
        self.__dict__.update(_graph=graph, _report=report, _ran=ran, _values=dict(zip(self._columns, values)), _source=None, _texts=None)

    def array(self, name: str, library: str | None = None) -> Any:
        """The array `name` ("depth") as an array of `library`: "numpy", "torch", "cupy", "jax"; None: the graph's.

        "dlpack": an object with `__dlpack__` that any library takes, on the device where it is. The memory is the result's: what is written there, the
        result tells. Raises ValueError for another name or library, ImportError where it is not installed.
        """
        if not isinstance(name, str) or name not in self._columns:
            raise ValueError(f"name: got {name!r}, expected one of " + ", ".join(map(repr, self._columns)))
        return to_library(self._value(name), self._graph.arrays if library is None else check_library("library", library))

    def _value(self, name: str) -> Any:
        """As the call gave it; of results that have NumPy's arrays the attribute."""
        return self._values[name] if name in self._values else getattr(self, name)

    def _host(self, name: str) -> np.ndarray:
        """The array in host memory."""
        array: np.ndarray = to_library(self._value(name), "numpy")
        return array

    @property
    def verified(self) -> bool | None:
        return None if len(self._ran) < 10 or self._ran[9] is None else True

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        """A new dict at each call, whose fields are those of the command line: device, devices, threads, seconds (a list, one a run), ..."""
        info: dict[str, Any] = json.loads(self.to_json())
        return info

    def to_json(self) -> str:
        """The JSON object that the command line writes, as text, but for what it alone knows: the graph's name and the partition's method.

        Vertices have the ids that calls take. What the arrays tell (a search's levels, the largest values) is looked up in host memory.
        """
        return self._report.json() if self._texts is None else self._texts[0]

    def __str__(self) -> str:
        return self._report.text() if self._texts is None else self._texts[1]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The first array, where NumPy wants one."""
        array = np.asarray(self._host(self._columns[0]), dtype)
        return array.copy() if copy else array

    def __getstate__(self) -> dict[str, Any]:
        """Pickled with its arrays, in host memory, its graph, and what it tells."""
        return {**self.__dict__, "_values": {name: self._host(name) for name in self._values}, "_report": None, "_texts": (self.to_json(), str(self))}

    def _reached(self) -> np.ndarray | None:
        """Which vertices to_dict() tells; None: all."""
        return None

    def to_dict(self) -> dict[Hashable, Any]:
        """{vertex: value} of the vertices that were reached, by their names where the graph has some."""
        values = self._host(self._columns[0])
        if values.ndim != 1:
            raise ValueError("to_dict: got a result of several sources, expected one of one source")
        reached = self._reached()
        keys = self._graph.labels(reached)
        return dict(zip(keys, (values if reached is None else values[reached]).tolist()))

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row a vertex: `vertex`, and the result's arrays as columns. Vertices are told by what labels() calls them, in the column `parent` and
        `label`, too; where there is none, by -1, or beside names by a missing value. Needs pandas."""
        import pandas

        if self._host(self._columns[0]).ndim != 1:
            raise ValueError("to_frame: got a result of several sources, expected one of one source")
        return pandas.DataFrame({"vertex": self._graph.labels(None), **{name: self._column(name) for name in self._columns}})

    def _column(self, name: str) -> Any:
        values = self._host(name)
        if name not in self._of_vertices or self._graph._is_told_by_numbers():
            return values
        is_one = values >= 0
        labels = iter(self._graph.labels(values[is_one]))
        nothing = -1 if self._graph.names is None else None
        return [next(labels) if known else nothing for known in is_one.tolist()]

    def _summary(self) -> str:
        return ""

    def __repr__(self) -> str:
        on_gpu, devices = self._ran[:2]
        where = f"{devices} {'GPU' if on_gpu else 'CPU rank'}{'s' if devices != 1 else ''}"
        return f"<{type(self).__name__} {self._summary()}, {self.seconds:.3g} s on {where}>"


class BfsResult(Result):
    """depth (int32; -1: not reached) and parent (int32, int64 for 2^31 vertices or more; -1: not reached; a source is its own), n elements each;
    reached, a number of vertices, and max_depth. For a list of k sources the arrays are k x n, and reached and max_depth are NumPy arrays of k."""

    _columns = ("depth", "parent")
    _of_vertices = frozenset({"parent"})
    reached: Any
    max_depth: Any

    def __init__(self, graph: Graph, source: Any, report: _core.Report, ran: tuple[Any, ...], depth: Values, parent: Values, reached: Any, max_depth: Any):
        super().__init__(graph, report, ran, depth, parent)
        self.__dict__.update(_source=source, reached=reached, max_depth=max_depth)

    @property
    def source(self) -> Any:
        """As calls take it (Graph): a number, the file's id, or NetworkX's node; a list of them for a list of sources."""
        return [self._graph._known_as(v) for v in self._source] if isinstance(self._source, list) else self._graph._known_as(self._source)

    @property
    def depth(self) -> Any:
        return self.array("depth")

    @property
    def parent(self) -> Any:
        return self.array("parent")

    def _reached(self) -> np.ndarray | None:
        return np.flatnonzero(self._host("depth") >= 0)

    def _summary(self) -> str:
        if isinstance(self._source, list):
            return f"of {len(self._source)} sources"
        return f"reached {self.reached} of {self._graph.num_vertices} vertices, max_depth {self.max_depth}"


class SsspResult(Result):
    """distance, n elements: int64 (-1: not reached) for graphs of integer weights, else float64 (inf: not reached); reached, a number of vertices. For a
    list of k sources distance is k x n, and reached a NumPy array of k."""

    _columns = ("distance",)
    reached: Any

    def __init__(self, graph: Graph, source: Any, report: _core.Report, ran: tuple[Any, ...], distance: Values, reached: Any):
        super().__init__(graph, report, ran, distance)
        self.__dict__.update(_source=source, reached=reached)

    @property
    def source(self) -> Any:
        """As calls take it (Graph): a number, the file's id, or NetworkX's node; a list of them for a list of sources."""
        return [self._graph._known_as(v) for v in self._source] if isinstance(self._source, list) else self._graph._known_as(self._source)

    @property
    def distance(self) -> Any:
        return self.array("distance")

    def _is_reached(self) -> np.ndarray:
        distance = self._host("distance")
        return distance >= 0 if distance.dtype.kind == "i" else np.isfinite(distance)

    def _reached(self) -> np.ndarray | None:
        return np.flatnonzero(self._is_reached())

    def _summary(self) -> str:
        if isinstance(self._source, list):
            return f"of {len(self._source)} sources"
        return f"reached {self.reached} of {self._graph.num_vertices} vertices"


class ComponentsResult(Result):
    """label, n elements (int32, int64 for 2^31 vertices or more): the smallest vertex of the component; num_components, and largest, the vertices of
    the largest one. form, what found them: "forest" or "search"; search_levels, those of a search, 0 where none was made."""

    _columns = ("label",)
    _of_vertices = frozenset({"label"})

    def __init__(self, graph: Graph, report: _core.Report, ran: tuple[Any, ...], label: Values, num_components: int, largest: int, is_search: bool, search_levels: int):
        super().__init__(graph, report, ran, label)
        self.num_components = num_components
        self.largest = largest
        self.form = "search" if is_search else "forest"
        self.search_levels = search_levels

    @property
    def label(self) -> Any:
        return self.array("label")

    def to_dict(self) -> dict[Hashable, Any]:
        """{vertex: the component's smallest vertex}, both by their names where the graph has some."""
        return dict(zip(self._graph.labels(None), self._graph.labels(self._host("label"))))

    def _summary(self) -> str:
        return f"{self.num_components} components, the largest of {self.largest} vertices"


class PageRankResult(Result):
    """rank, n elements (float64), which sum to 1; iterations; residual, the L1 change of the last one; converged, whether that is at most the tolerance."""

    _columns = ("rank",)

    def __init__(self, graph: Graph, report: _core.Report, ran: tuple[Any, ...], rank: Values, iterations: int, residual: float, converged: bool):
        super().__init__(graph, report, ran, rank)
        self.iterations = iterations
        self.residual = residual
        self.converged = converged

    @property
    def rank(self) -> Any:
        return self.array("rank")

    def top(self, count: int = 10) -> list[tuple[Hashable, float]]:
        """The `count` vertices of largest rank, all where there are fewer, equal ones by id. Raises ValueError for no number of 0 or more."""
        number = whole_number("count", count, 0, "a number of 0 or more")
        rank = self._host("rank")
        best = np.argsort(-rank, kind="stable")[:number]
        return list(zip(self._graph.labels(best), rank[best].tolist()))

    def _summary(self) -> str:
        return f"of {self._graph.num_vertices} vertices, {self.iterations} iterations{'' if self.converged else ', not converged'}"


class BetweennessResult(Result):
    """score, n elements (float64); sources, the vertices from which paths were counted (NumPy's int32, int64 for 2^31 vertices or more); scale, by which sums
    over them were multiplied."""

    _columns = ("score",)

    def __init__(self, graph: Graph, report: _core.Report, ran: tuple[Any, ...], score: Values, sources: np.ndarray, scale: float):
        super().__init__(graph, report, ran, score)
        self.sources = sources
        self.scale = scale

    @property
    def score(self) -> Any:
        return self.array("score")

    def _summary(self) -> str:
        return f"of {self._graph.num_vertices} vertices, from {len(self.sources) or self._graph.num_vertices} sources"


class CoreNumberResult(Result):
    """core, n elements (int32, int64 for 2^31 vertices or more); largest, the largest core number, and innermost, the number of vertices that have it."""

    _columns = ("core",)

    def __init__(self, graph: Graph, report: _core.Report, ran: tuple[Any, ...], core: Values, largest: int, innermost: int):
        super().__init__(graph, report, ran, core)
        self.largest = largest
        self.innermost = innermost

    @property
    def core(self) -> Any:
        return self.array("core")

    def _summary(self) -> str:
        return f"largest core {self.largest} of {self.innermost} vertices"


class TrianglesResult(Result):
    """count, n elements (int64): the triangles that a vertex is in; triangles, their number in the graph, a third of the sum of the counts."""

    _columns = ("count",)

    def __init__(self, graph: Graph, report: _core.Report, ran: tuple[Any, ...], count: Values, triangles: int):
        super().__init__(graph, report, ran, count)
        self.triangles = triangles

    @property
    def count(self) -> Any:
        return self.array("count")

    def _summary(self) -> str:
        return f"{self.triangles} triangles"

