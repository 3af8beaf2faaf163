# SPDX-License-Identifier: Apache-2.0
"""Graphs: what they are asked, and the algorithms as their methods."""
from __future__ import annotations

import operator
import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import MAX_VERTICES, as_numpy, bounded_number, is_utf8, path_text, seed_number, type_name
from ._errors import VertexError
from ._libraries import check_library
from ._progress import AskedProgress

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse
    import torch_geometric.data

    from ._partition import PartitionResult, ReorderResult
    from ._results import BetweennessResult, BfsResult, ComponentsResult, CoreNumberResult, PageRankResult, SsspResult, TrianglesResult
    from ._sample import Sample, SampledBatches
    from ._session import Session
    from ._walks import RandomWalks


class Graph:
    """A directed graph in host memory, with or without weights. It is immutable, and all functions may be called by several threads.

    Made by read, generate and the from_... functions. Vertices are 0 to num_vertices - 1, which is where arrays have them. Calls take a vertex by what labels() calls it: by
    the file's id where that is another number (original_ids), by the node of a graph from NetworkX, else by its number; a name may stand for one, too.
    What sessions keep of it on their devices is made when first needed, kept for later calls, and freed with the graph or by release().
    """

    def __setattr__(self, name: str, value: Any) -> None:
        # A graph does not change, and a mistyped name would set nothing that is read.
        if type(self) is Graph and not name.startswith("_") and name != "arrays":
            raise AttributeError(f"{name}: of a graph, arrays alone can be set: the library that results are arrays of")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{name}: of a graph, no attribute can be deleted")
        super().__delattr__(name)

    def __init__(self, core: _core.Graph, labels: list[Hashable] | None = None, arrays: str = "numpy"):
        if not isinstance(core, _core.Graph):
            raise TypeError("warren.Graph: graphs are made by warren.read, warren.generate, warren.from_edges and the like")
        self._core = core
        self._labels = labels
        self._index: dict[Hashable, int] | None = None
        self._ids: _Ids | None = None
        self._by_name: dict[Hashable, int] | None = None  # Of a graph that was pickled.
        self._arrays = arrays
        self._is_rounded = False  # Whether float32 holds other weights than were given.
        self._num_vertices: int = core.vertices
        self._num_edges: int | None = None if core.is_by_ranges else core.edges

    @property
    def num_vertices(self) -> int:
        """Vertices are 0 to num_vertices - 1."""
        return self._num_vertices

    @property
    def num_edges(self) -> int:
        """Directed edges: an undirected one counts as two. Of a generator's graph of which each rank has its own rows (edges_in) it is known after the
        first call; before, the whole graph is drawn to count them."""
        if self._num_edges is None:
            self._num_edges = self._core.edges
        return self._num_edges

    @property
    def edges_in(self) -> str:
        """Where the lists of edges are: "memory" (the host's), "file", or "ranges": each rank that is a process has its own rows. As read(edges=) asks,
        or chooses."""
        return "file" if self._core.is_in_file else "ranges" if self._core.is_by_ranges else "memory"

    @property
    def edges_reason(self) -> str:
        """Why they are there, where read() was asked for something else or has chosen; else empty."""
        return self._core.lists_reason

    @property
    def is_symmetric(self) -> bool:
        """True if every edge (u, v) has its (v, u), of equal weight. Found out once."""
        return self._core.is_symmetric()

    @property
    def is_weighted(self) -> bool:
        """True if edges have weights: int32 or float32."""
        return self._core.is_weighted

    @property
    def arrays(self) -> str:
        """The library of the arrays of results: "numpy", "torch", "cupy", "jax"; "dlpack" for objects that any library takes. That which the graph's own
        arrays came from, and may be set."""
        return self._arrays

    @arrays.setter
    def arrays(self, library: str) -> None:
        self._arrays = check_library("arrays", library)

    @property
    def names(self) -> list[Hashable] | None:
        """A name for each vertex, in a new list, where the source has them: ids that are words, a dataset's names, NetworkX's nodes. Else None."""
        return self._core.names() if self._labels is None else list(self._labels)

    @property
    def original_ids(self) -> np.ndarray | None:
        """The ids of the file (uint64), where they are not those of the vertices: `compact`, `one_based`. Else None."""
        return self._core.original_ids() if self._ids is None else self._ids.ids

    def labels(self, vertices: np.ndarray | None = None) -> list[Hashable]:
        """What people call these vertices, or all of them: by their names, else the file's ids, else themselves."""
        if self._labels is None:
            self._labels = self._core.names()
        if self._labels is not None:
            return list(self._labels) if vertices is None else [self._labels[v] for v in vertices.tolist()]
        ids = self.original_ids
        if ids is not None:
            found: list[Hashable] = (ids if vertices is None else ids[vertices]).tolist()
            return found
        return list(range(self.num_vertices)) if vertices is None else vertices.tolist()

    def vertex(self, source: Any, name: str = "source") -> int:
        """The number of the vertex that `source` means: a node of the NetworkX graph that this one comes from, else an id of the file where these are others
        (original_ids), a number, or a name. Raises VertexError, ValueError."""
        if self._has_nodes():
            return self._node(source, name)
        if isinstance(source, str):
            is_text = is_utf8(source)
            try:
                if self._by_name is not None:
                    return self._by_name[source]
                if is_text:
                    return self._core.find(source)
            except KeyError:
                pass
            except VertexError as error:
                raise VertexError(name + str(error).removeprefix("name")) from None
            said = f'"{source}"' if is_text else ascii(source)
            raise VertexError(f"{name}: got {said}, but no vertex has this name")
        try:
            if isinstance(source, (bool, np.bool_)):
                raise TypeError
            v = operator.index(source)
        except (TypeError, RuntimeError):  # The last of a tensor without numbers.
            raise ValueError(f"{name}: got {source!r} of type {type_name(source)}, expected the id or the name of a vertex") from None
        ids = self._original()
        if ids is not None:
            return ids.vertex(v, name)
        if 0 <= v < self.num_vertices:
            return v
        expected = f"a vertex, 0 to {self.num_vertices - 1}" if self.num_vertices > 0 else "none: the graph has no vertices"
        raise VertexError(f"{name}: got {v}, expected {expected}")

    def _has_nodes(self) -> bool:
        """Whether names are NetworkX's nodes, which may be numbers that are no ids."""
        return self._index is not None

    def _node(self, source: Any, name: str) -> int:
        assert self._index is not None
        try:
            return self._index[source]
        except (KeyError, TypeError):
            raise VertexError(f"{name}: got {source!r}, expected a node of the graph that was given") from None

    def _original(self) -> _Ids | None:
        """The file's ids, where they are not the vertices' numbers and calls take them."""
        if self._ids is None and not self._has_nodes():
            ids = self._core.original_ids()
            self._ids = None if ids is None else _Ids(ids)
        return self._ids

    def _is_told_by_numbers(self) -> bool:
        """Whether labels() are the vertices' numbers."""
        return self.names is None and self.original_ids is None

    def _id_of(self, vertex: Any) -> Any:
        """The file's id of the vertex with this number, where that is another; else the number."""
        ids = self._original()
        return vertex if ids is None else int(ids.ids[vertex])

    def _takes_numbers(self) -> bool:
        """Whether calls take vertices by their numbers."""
        return not self._has_nodes() and self._original() is None

    def _known_as(self, vertex: int) -> Any:
        """What calls take for the vertex with this number."""
        if self._has_nodes() and self._labels is not None:
            return self._labels[vertex]
        ids = self._original()
        return vertex if ids is None else int(ids.ids[vertex])

    def busiest_vertex(self) -> Any:
        """The vertex of the most out-edges, the first of several: where the command line starts a search if nobody says. As calls take it: a number, the file's id, or
        NetworkX's node. Raises ValueError for no vertices."""
        return self._known_as(_core.busiest_vertex(self._core))

    def random_sources(self, count: int, seed: int = 1) -> Any:
        """`count` different vertices with out-edges: a function of the graph and the seed alone, those of the command line's --sources.

        As calls take them: an array of numbers or of the file's ids, or a list of NetworkX's nodes. Raises ValueError where there are fewer.
        """
        vertices = _core.random_sources(self._core, bounded_number("count", count, 1, MAX_VERTICES, "a number of vertices, 1 or more"), seed_number(seed))
        if self._has_nodes():
            return self.labels(vertices)
        ids = self._original()
        return vertices if ids is None else ids.ids[vertices]

    def degree(self) -> np.ndarray:
        """degree[v] = the number of edges out of v: n elements, int64."""
        return np.diff(self._core.offsets())

    def to_edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(sources, targets, weights), an element an edge, by source and then by target: int32 (int64 for 2^31 vertices or more); weights int32,
        float32, or None. Copies."""
        targets = self._core.targets()
        targets = targets.copy() if targets.dtype == np.int32 else targets.astype(np.int64)
        sources = np.repeat(np.arange(self.num_vertices, dtype=targets.dtype), self.degree())
        weights = self._core.weights()
        return sources, targets, None if weights is None else weights.copy()

    def to_csr(self, copy: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(offsets, targets, weights): int64, int32 (uint32 for 2^31 vertices or more), and int32, float32 or None. Without a copy they are views
        that must not be written."""
        offsets, targets, weights = self._core.offsets(), self._core.targets(), self._core.weights()
        if not copy:
            return offsets, targets, weights
        return offsets.copy(), targets.copy(), None if weights is None else weights.copy()

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix, A[u, v] = the weight of (u, v), True for a graph without weights: n x n, int32, float32 or bool. Copies. Needs SciPy."""
        from scipy.sparse import csr_array

        offsets, targets, weights = self.to_csr()
        weights = np.ones(self.num_edges, np.bool_) if weights is None else weights
        if targets.dtype == np.int32 and self.num_edges < 2**31:
            offsets = offsets.astype(np.int32)  # SciPy has both of one type.
        return csr_array((weights, targets, offsets), shape=(self.num_vertices, self.num_vertices))

    def to_networkx(self) -> networkx.Graph | networkx.DiGraph:
        """A NetworkX Graph where the graph is symmetric, else a DiGraph; with names, or ids, as nodes, and the attribute "weight". Parallel edges
        become one. Needs NetworkX."""
        from ._convert import to_networkx

        return to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row an edge: `source` and `target`, as labels() calls the vertices, and `weight` where the graph has weights.

        An edge and its reverse are two rows, so that from_pandas(df, "source", "target", "weight") makes the same edges. Vertices without edges are in no
        row: give from_pandas their number where vertices are numbers. Copies. Needs pandas.
        """
        from ._convert import to_pandas

        return to_pandas(self)

    def to_pyg(self) -> torch_geometric.data.Data:
        """A PyTorch Geometric Data in host memory: edge_index (2 x m, int64), num_nodes, and edge_weight (int32 or float32) where the graph has weights.

        Of a graph with names `node_names` has them, a list of n, which from_pyg() takes back. Copies. Needs PyTorch Geometric.
        """
        from ._convert import to_pyg

        return to_pyg(self)

    def reversed(self) -> Graph:
        """The graph with every edge turned round: this one where it is symmetric. Made once, and kept; names and weights are the same."""
        if self.is_symmetric:
            return self
        turned = Graph(self._core.reversed(), self._labels, self._arrays)
        turned._index, turned._by_name = self._index, self._by_name
        turned._ids = self._original()
        turned._is_rounded = self._is_rounded
        return turned

    def save(self, path: str | os.PathLike[str]) -> int:
        """Writes the graph in the format that the ending of `path` names, and returns the bytes. Names are not written.

        Raises ValueError for a format that cannot hold the graph, FileNotFoundError where the folder is missing.
        """
        return self._core.save(path_text("path", path, "a str or a path"))

    def release(self) -> None:
        """Frees what sessions keep of it on their devices, and its transpose. The graph can be used as before."""
        self._core.release()

    def bfs(self, source: Any, depth_limit: int | None = None, device: str = "auto", devices: int | str = "auto", mode: str = "auto", edges: str = "auto",
            session: Session | None = None, *, targets: Any = None, nearest: bool = False, deterministic: bool = False,
            host_memory: int | None = None, verify: bool = False, progress: AskedProgress = None) -> BfsResult:
        """As warren.bfs(self, ...)."""
        from ._algorithms import bfs

        return bfs(self, source, depth_limit, device, devices, mode, edges, session, targets=targets, nearest=nearest, deterministic=deterministic,
                   host_memory=host_memory, verify=verify, progress=progress)

    def sssp(self, source: Any, delta: float | None = None, cutoff: float | None = None, device: str = "auto", devices: int | str = "auto", mode: str = "auto",
             edges: str = "auto", session: Session | None = None, *, targets: Any = None, nearest: bool = False, verify: bool = False,
             progress: AskedProgress = None) -> SsspResult:
        """As warren.sssp(self, ...)."""
        from ._algorithms import sssp

        return sssp(self, source, delta, cutoff, device, devices, mode, edges, session, targets=targets, nearest=nearest, verify=verify, progress=progress)

    def connected_components(self, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
                             form: str = "auto", host_memory: int | None = None, verify: bool = False) -> ComponentsResult:
        """As warren.connected_components(self, ...)."""
        from ._algorithms import connected_components

        return connected_components(self, device, devices, edges, session, form=form, host_memory=host_memory, verify=verify)

    def pagerank(self, damping: float = 0.85, tolerance: float = 1e-6, max_iterations: int = 100, personalization: Any = None, weighted: bool = False,
                 device: str = "auto", devices: int | str = "auto", mode: str = "auto", edges: str = "auto", session: Session | None = None, *,
                 host_memory: int | None = None, dangling: Any = None, nstart: Any = None, verify: bool = False, progress: AskedProgress = None) -> PageRankResult:
        """As warren.pagerank(self, ...)."""
        from ._algorithms import pagerank

        return pagerank(self, damping, tolerance, max_iterations, personalization, weighted, device, devices, mode, edges, session, host_memory=host_memory,
                        dangling=dangling, nstart=nstart, verify=verify, progress=progress)

    def betweenness(self, sources: Any = None, normalized: bool = True, seed: int | None = None, device: str = "auto", devices: int | str = "auto", edges: str = "auto",
                    session: Session | None = None, *, verify: bool = False, progress: AskedProgress = None) -> BetweennessResult:
        """As warren.betweenness(self, ...)."""
        from ._algorithms import betweenness

        return betweenness(self, sources, normalized, seed, device, devices, edges, session, verify=verify, progress=progress)

    def core_number(self, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
                    verify: bool = False) -> CoreNumberResult:
        """As warren.core_number(self, ...)."""
        from ._algorithms import core_number

        return core_number(self, device, devices, edges, session, verify=verify)

    def triangles(self, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
                  verify: bool = False) -> TrianglesResult:
        """As warren.triangles(self, ...)."""
        from ._algorithms import triangles

        return triangles(self, device, devices, edges, session, verify=verify)

    def spmm(self, B: Any, normalize: str | None = None, transpose: bool = False, strategy: str = "auto", self_loops: bool = False, weighted: bool = True,
             device: str = "auto", devices: int | str = "auto", session: Session | None = None, return_info: bool = False) -> Any:
        """As warren.spmm(self, ...)."""
        from ._multiply import spmm

        return spmm(self, B, normalize, transpose, strategy, self_loops, weighted, device, devices, session, return_info)

    def sample(self, seeds: Any, fanouts: Sequence[int] | int = (15, 10, 5), replace: bool = False, weighted: bool = False, disjoint: bool = False, seed: int = 1,
               batch: int = 0, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, once: bool = False, labor: bool = False, layer_dependency: bool = False,
               edge_times: Any = None, seed_times: Any = None, temporal_strategy: str = "uniform") -> Sample:
        """As warren.sample(self, ...)."""
        from ._sample import sample

        return sample(self, seeds, fanouts, replace, weighted, disjoint, seed, batch, device, devices, edges, session, once=once, labor=labor,
                      layer_dependency=layer_dependency, edge_times=edge_times, seed_times=seed_times, temporal_strategy=temporal_strategy)

    def random_walks(self, starts: Any, length: int = 80, weighted: bool = False, p: float = 1.0, q: float = 1.0, seed: int = 1, batch: int = 0, device: str = "auto",
                     devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, progress: AskedProgress = None) -> RandomWalks:
        """As warren.random_walks(self, ...)."""
        from ._walks import random_walks

        return random_walks(self, starts, length, weighted, p, q, seed, batch, device, devices, edges, session, progress=progress)

    def sample_batches(self, seeds: Any, fanouts: Sequence[int] | int = (15, 10, 5), batch_size: int = 1024, replace: bool = False, weighted: bool = False,
                       disjoint: bool = False, edge_ids: bool = False, seed: int = 1, batch: int = 0, in_flight: int = 0, device: str = "auto",
                       devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, once: bool = False, labor: bool = False, layer_dependency: bool = False,
                       edge_times: Any = None, seed_times: Any = None, temporal_strategy: str = "uniform", progress: AskedProgress = None) -> SampledBatches:
        """As warren.sample_batches(self, ...)."""
        from ._sample import sample_batches

        return sample_batches(self, seeds, fanouts, batch_size, replace, weighted, disjoint, edge_ids, seed, batch, in_flight, device, devices, edges, session, once=once,
                              labor=labor, layer_dependency=layer_dependency, edge_times=edge_times, seed_times=seed_times, temporal_strategy=temporal_strategy,
                              progress=progress)

    def sddmm(self, X: Any, Y: Any, weighted: bool = True, device: str = "auto", devices: int | str = "auto", session: Session | None = None,
              return_info: bool = False) -> Any:
        """As warren.sddmm(self, ...)."""
        from ._multiply import sddmm

        return sddmm(self, X, Y, weighted, device, devices, session, return_info)

    def partition(self, parts: int = 2, method: str = "ranges", seed: int | None = None, workgroup: int | None = None, cover: bool = True,
                  session: Session | None = None) -> PartitionResult:
        """As warren.partition(self, ...)."""
        from ._partition import partition

        return partition(self, parts, method, seed, workgroup, cover, session)

    def reorder(self, order: str = "rabbit", seed: int | None = None, return_graph: bool = False, session: Session | None = None) -> ReorderResult:
        """As warren.reorder(self, ...)."""
        from ._partition import reorder

        return reorder(self, order, seed, return_graph, session)

    def __len__(self) -> int:
        """num_vertices."""
        return self.num_vertices

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by its arrays, names and ids; what sessions keep of it is not."""
        return _restored, (*self.to_csr(copy=False), self.names, self._has_nodes(), self.original_ids, self._arrays, self._is_rounded)

    def __repr__(self) -> str:
        edges = "edges not counted yet" if self._num_edges is None else f"{self.num_edges} edges"
        return f"<warren.Graph {self.num_vertices} vertices, {edges}, {'weighted' if self.is_weighted else 'unweighted'}>"


def _restored(offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, names: list[Hashable] | None, has_nodes: bool, ids: np.ndarray | None, arrays: str,
              is_rounded: bool) -> Graph:
    """A graph that was pickled."""
    from ._build import from_csr

    if _core.is_forked():
        return _ForkedGraph(offsets, targets, weights, names, has_nodes, ids, arrays, is_rounded)
    graph = Graph(from_csr(offsets, targets, weights, keep_duplicates=True, copy=False)._core, names, arrays)
    if names is not None:
        index = {name: v for v, name in reversed(list(enumerate(names)))}  # The first of equal names.
        graph._index, graph._by_name = (index, None) if has_nodes else (None, index)
    graph._ids = None if ids is None or has_nodes else _Ids(ids)
    graph._is_rounded = is_rounded
    return graph


class _ForkedGraph(Graph):
    """A graph that was unpickled in a process which was forked off one that used warren: it may be handed on, and says at its first use why it has none.

    A multiprocessing.Pool whose workers fail while they unpickle a task waits for ever.
    """

    def __init__(self, *kept: Any):
        self._kept = kept
        self._num_vertices, self._num_edges = len(kept[0]) - 1, len(kept[1])
        self._labels = self._index = self._ids = self._by_name = None
        self._arrays, self._is_rounded = kept[6], kept[7]

    @property
    def _core(self) -> _core.Graph:  # type: ignore[override]
        _core.check_not_forked()
        raise AssertionError("not forked")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._kept

    def __repr__(self) -> str:
        return f"<warren.Graph {self.num_vertices} vertices, {self.num_edges} edges, in a process that was forked>"


class _Ids:
    """A file's ids of vertices, which are others than the vertices' numbers."""

    def __init__(self, ids: np.ndarray):
        self.ids = ids
        self._order = None if ids.size < 2 or bool((ids[1:] > ids[:-1]).all()) else np.argsort(ids, kind="stable")
        self._sorted = ids if self._order is None else ids[self._order]

    def vertex(self, number: int, name: str) -> int:
        """Raises VertexError for what is no id."""
        at = int(np.searchsorted(self._sorted, np.uint64(number))) if 0 <= number < 2**64 else 0
        if not (0 <= number < 2**64) or at == self._sorted.size or int(self._sorted[at]) != number:
            raise VertexError(f"{name}: got {number}, expected an id of the file's, {int(self._sorted[0])} to {int(self._sorted[-1])}")
        return at if self._order is None else int(self._order[at])

    def vertices(self, numbers: np.ndarray, name: str) -> np.ndarray:
        """Of an array of integers."""
        wanted = numbers.astype(np.uint64)
        at = np.minimum(np.searchsorted(self._sorted, wanted), self._sorted.size - 1)
        wrong = (self._sorted[at] != wanted) | (numbers < 0)
        if wrong.any():
            place = int(wrong.argmax())
            self.vertex(int(numbers[place]), f"{name}[{place}]")
        return (at if self._order is None else self._order[at]).astype(np.uint32)


def check_graph(graph: Any) -> None:
    """Raises ValueError for what is no Graph."""
    if not isinstance(graph, Graph):
        raise ValueError(f"graph: got {type_name(graph)}, expected a warren.Graph; warren.from_... make one")


def are_numbered(nodes: Sequence[Hashable]) -> bool:
    """True for 0 to n - 1, in order."""
    return all(type(node) is int and node == v for v, node in enumerate(nodes))


def with_nodes(plain: Graph, nodes: Sequence[Hashable]) -> Graph:
    """The graph with vertices that are known as `nodes`, but for nodes that are 0 to n - 1 in order."""
    if are_numbered(nodes):
        return plain
    graph = Graph(plain._core, list(nodes), plain.arrays)
    graph._is_rounded = plain._is_rounded
    graph._index = {node: v for v, node in enumerate(nodes)}
    return graph


def vertices_of(graph: Graph, sources: Any, name: str = "source") -> list[int]:
    """Of a list or an array of sources."""
    if isinstance(sources, (list, tuple, set, frozenset, range)):
        return [graph.vertex(source, f"{name}[{at}]") for at, source in enumerate(sources)]
    array = as_numpy(name, sources)
    if array.ndim != 1:
        raise ValueError(f"{name}: got an array of shape {array.shape}, expected one vertex, or one dimension")
    return [graph.vertex(source, f"{name}[{at}]") for at, source in enumerate(array.tolist())]


def vertex_array(graph: Graph, vertices: Any, name: str) -> np.ndarray:
    """Of a list or an array of vertices; many at once, where they are numbers."""
    if not graph._has_nodes() and hasattr(vertices, "dtype"):
        array = as_numpy(name, vertices)
        if array.ndim == 1 and array.dtype.kind in "iu" and array.size > 0:
            ids = graph._original()
            if ids is not None:
                return ids.vertices(array, name)
            wrong = (array < 0) | (array >= graph.num_vertices)
            if wrong.any():
                at = int(wrong.argmax())
                graph.vertex(int(array[at]), f"{name}[{at}]")
            return array.astype(np.uint32)
    return np.array(vertices_of(graph, vertices, name), np.uint32)


def is_one(graph: Graph, source: Any) -> bool:
    """Whether `source` is one vertex, and not a list of them. A tuple may be a node of NetworkX's."""
    if graph._has_nodes():
        try:
            if source in graph._index:  # type: ignore[operator]
                return True
        except TypeError:
            pass
    if isinstance(source, (str, bytes, int, np.generic)):
        return True
    return not (isinstance(source, (list, tuple, set, frozenset, range)) or getattr(source, "ndim", 0) != 0)


