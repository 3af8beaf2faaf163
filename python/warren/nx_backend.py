# SPDX-License-Identifier: Apache-2.0
"""A backend of NetworkX: `nx.pagerank(G, backend="warren")`. NetworkX converts the graph at the first call, and keeps it with G until G changes."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from . import _algorithms
from ._build import from_edges
from ._convert import node_arrays, of_nodes
from ._graph import Graph
from .nx_info import FUNCTIONS

# A NetworkX graph with fewer edges is done with before it is converted.
FEW_EDGES = 1000
# What the depths and parents of searches from several nodes take at once.
SEARCH_BYTES = 2**28
# Before 3.5 NetworkX scaled the sums of sampled nodes otherwise.
SCALES_SAMPLES = tuple(int(part) for part in nx.__version__.split(".")[:2]) >= (3, 5)


class NxGraph:
    """A NetworkX graph as arrays, and warren's graphs of it, which are made when they are needed."""

    __networkx_backend__ = "warren"

    def __init__(self, G: nx.Graph, attribute: str | None, default: Any):
        self.nodes, self._offsets, self._targets, weights = node_arrays(G, attribute, default)
        if weights is None and default != 1 and attribute is not None:
            weights = np.full(self._targets.size, default)
        self.weights = weights
        self.attribute = attribute
        self.index = {node: v for v, node in enumerate(self.nodes)}
        self._is_directed = bool(G.is_directed())
        self._is_multigraph = bool(G.is_multigraph())
        self._graphs: dict[str, Graph] = {}

    def is_directed(self) -> bool:
        return self._is_directed

    def is_multigraph(self) -> bool:
        return self._is_multigraph

    def number_of_self_loops(self) -> int:
        return int(np.count_nonzero(self._sources() == self._targets))

    def _sources(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.nodes)), np.diff(self._offsets))

    def number_of_edges(self) -> int:
        return int(self._targets.size) if self._is_directed else (int(self._targets.size) + self.number_of_self_loops()) // 2

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def graph(self, kind: str = "plain") -> Graph:
        """Of parallel edges "plain" and "smallest" keep one, of the smallest weight; "sum" adds their weights up, and "number" counts them. "plain" is without weights."""
        if not self._is_multigraph:
            kind = {"sum": "smallest", "number": "plain"}.get(kind, kind)
        if kind not in self._graphs:
            weights = None if kind == "plain" else np.ones(self._targets.size, np.int32) if kind == "number" else self.weights
            self._graphs[kind] = of_nodes(self._offsets, self._targets, weights, self._is_multigraph, kind in ("sum", "number"))
        return self._graphs[kind]

    def doubled(self) -> Graph:
        """Each vertex twice, v and n + v, and each edge (u, v) twice: u < v joins equal copies, u > v different ones. A copy has as many neighbours as v has in- and out-edges,
        as two edges between u and v lead to both copies. The copies change places without changing the graph, so that both have v's core number by in- and out-degree."""
        n, sources, targets = len(self.nodes), self._sources().astype(np.int64), self._targets.astype(np.int64)
        crossed = np.where(sources > targets, n, 0)
        return from_edges(np.append(sources, sources + n), np.append(targets + crossed, targets + n - crossed), num_vertices=2 * n)

    def to_networkx(self) -> nx.Graph:
        kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph, (True, True): nx.MultiDiGraph}
        G = kinds[self._is_directed, self._is_multigraph]()
        G.add_nodes_from(self.nodes)
        sources = self._sources()
        once = slice(None) if self._is_directed else sources <= self._targets
        ends = [(self.nodes[u], self.nodes[v]) for u, v in zip(sources[once].tolist(), self._targets[once].tolist())]
        if self.weights is None:
            G.add_edges_from(ends)
        else:
            G.add_weighted_edges_from(((u, v, w) for (u, v), w in zip(ends, self.weights[once].tolist())), weight=self.attribute)
        return G


class Backend:
    """What NetworkX calls. Functions have NetworkX's names, arguments, results and exceptions."""

    @staticmethod
    def convert_from_nx(graph: Any, edge_attrs: dict[str, Any] | None = None, **_kept: Any) -> NxGraph:
        if isinstance(graph, NxGraph):
            return graph
        attribute, default = next(iter(edge_attrs.items())) if edge_attrs else (None, 1)
        try:
            return NxGraph(graph, attribute, 1 if default is None else default)
        except ValueError as error:
            raise NotImplementedError(str(error)) from error

    @staticmethod
    def convert_to_nx(result: Any, **_name: Any) -> Any:
        return result.to_networkx() if isinstance(result, NxGraph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """True, or why not. Arguments are bound as NetworkX's functions do."""
        if name not in FUNCTIONS:
            return "warren has no such function"
        check = CHECKS.get(name)
        return True if check is None else check(*args, **kwargs)

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        graph = args[0] if args else kwargs.get("G")
        if isinstance(graph, NxGraph) or graph is None or graph.number_of_edges() >= FEW_EDGES:
            return True
        return f"with fewer than {FEW_EDGES} edges the conversion takes longer than NetworkX"

    @staticmethod
    def pagerank(G: NxGraph, alpha: float = 0.85, personalization: dict[Hashable, float] | None = None, max_iter: int = 100, tol: float = 1.0e-6,
                 nstart: dict[Hashable, float] | None = None, weight: str | None = "weight", dangling: dict[Hashable, float] | None = None) -> dict[Hashable, float]:
        """Plain iterations in float64 that end at an L1 change below n * tol: NetworkX's, step by step."""
        n = len(G)
        if n == 0:
            return {}
        anew = np.ones(n) if personalization is None else _of_nodes(G, personalization)
        if anew.sum() == 0:
            raise ZeroDivisionError
        start = None if nstart is None else _of_nodes(G, nstart)
        left = None if dangling is None else _of_nodes(G, dangling)
        graph = _weighted(G, weight, "sum", "number")
        # With `personalization` the engine iterates as NetworkX does; else it takes a shorter way to the same ranks.
        try:
            found = _algorithms.pagerank(graph, alpha, n * tol, max(0, max_iter), anew, graph.is_weighted, dangling=left, nstart=start)
        except ValueError as error:
            raise NotImplementedError(str(error)) from error
        if max_iter < 1 or not found.residual < n * tol:
            raise nx.PowerIterationFailedConvergence(max_iter)
        return dict(zip(G.nodes, found.rank.tolist()))

    @staticmethod
    def single_source_shortest_path_length(G: NxGraph, source: Hashable, cutoff: float | None = None) -> dict[Hashable, int]:
        if source not in G:
            raise nx.NodeNotFound(f"Source {source} is not in G")
        limit = None if cutoff is None or cutoff == math.inf else math.ceil(cutoff) if cutoff > 0 else 0
        depth = _algorithms.bfs(G.graph(), G.index[source], limit).depth
        return _by_distance(G, depth, np.flatnonzero(depth >= 0))

    @staticmethod
    def single_source_dijkstra_path_length(G: NxGraph, source: Hashable, cutoff: float | None = None, weight: str | None = "weight") -> dict[Hashable, Any]:
        hash(source)  # NetworkX's error for what has none.
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        is_weighted = _has_weights(G, weight)
        if cutoff is not None and cutoff < 0:
            if is_weighted and G.weights is not None and not (G.weights >= 0).all():  # Paths over such edges may be within it.
                raise NotImplementedError("cutoff: below 0 with weights that are not all 0 or more")
            return {source: 0}
        if not is_weighted or G.number_of_edges() == 0:
            return Backend.single_source_shortest_path_length(G, source, None if cutoff is None else math.floor(cutoff) if cutoff < math.inf else None)
        graph = _weighted(G, weight, "smallest", "plain")
        weights = graph._core.weights()
        if G.weights is not None and G.weights.dtype.kind != "f" and weights is not None and weights.dtype != np.int32:
            raise NotImplementedError("weight: integers past 2^31 - 1 are not held exactly")
        if cutoff is not None and cutoff < math.inf and graph._is_rounded:
            raise NotImplementedError("cutoff: float32 does not hold the weights exactly, so that other nodes might be within it")
        try:
            distance = _algorithms.sssp(graph, G.index[source], cutoff=cutoff).distance
        except ValueError as error:
            raise NotImplementedError(str(error)) from error
        lengths = _by_distance(G, distance, np.flatnonzero(distance >= 0 if distance.dtype.kind == "i" else np.isfinite(distance)))
        lengths[source] = 0  # NetworkX begins with the int, of weights that are floats too.
        return lengths

    @staticmethod
    def connected_components(G: NxGraph) -> Iterator[set[Hashable]]:
        _refuse(G, directed=True)
        return _components(G)

    @staticmethod
    def number_connected_components(G: NxGraph) -> int:
        _refuse(G, directed=True)
        return _algorithms.connected_components(G.graph()).num_components

    @staticmethod
    def is_connected(G: NxGraph) -> bool:
        _refuse(G, directed=True)
        return _is_connected(G)

    @staticmethod
    def weakly_connected_components(G: NxGraph) -> Iterator[set[Hashable]]:
        _refuse(G, directed=False)
        return _components(G)

    @staticmethod
    def number_weakly_connected_components(G: NxGraph) -> int:
        _refuse(G, directed=False)
        return _algorithms.connected_components(G.graph()).num_components

    @staticmethod
    def is_weakly_connected(G: NxGraph) -> bool:
        _refuse(G, directed=False)
        return _is_connected(G)

    @staticmethod
    def betweenness_centrality(G: NxGraph, k: int | None = None, normalized: bool = True, weight: None = None, endpoints: bool = False,
                               seed: Any = None) -> dict[Hashable, float]:
        n = len(G)
        sources = None if k is None or k == n else _drawn(n, k, seed)
        sums = _path_sums(G, sources)
        if endpoints:
            sums += _ends(G, sources)
        return dict(zip(G.nodes, (sums * _scale(n, sources, normalized, G.is_directed(), endpoints)).tolist()))

    @staticmethod
    def core_number(G: NxGraph) -> dict[Hashable, int]:
        if G.is_multigraph():
            raise nx.NetworkXNotImplemented("not implemented for multigraph type")
        if G.number_of_self_loops() > 0:
            raise nx.NetworkXNotImplemented("Input graph has self loops which is not permitted; Consider using G.remove_edges_from(nx.selfloop_edges(G)).")
        graph = G.doubled() if G.is_directed() else G.graph()
        return dict(zip(G.nodes, _algorithms.core_number(graph).core[:len(G)].tolist()))

    @staticmethod
    def triangles(G: NxGraph, nodes: Any = None) -> Any:
        _refuse(G, directed=True)
        if nodes is not None and G.is_multigraph():
            raise nx.NetworkXNotImplemented("not implemented for multigraph type")
        count = _algorithms.triangles(G.graph()).count
        if nodes is None:
            return dict(zip(G.nodes, count.tolist()))
        if nodes in G:
            return int(count[G.index[nodes]])
        return {node: int(count[G.index[node]]) for node in _of_graph(G, nodes)}


def _of_graph(G: NxGraph, nodes: Any) -> list[Hashable]:
    """Those of `nodes` that are the graph's. What is no node or none at all raises NetworkX's own error, whose text depends on its version."""
    given = list(nodes) if isinstance(nodes, Iterator) else nodes
    try:
        return [node for node in given if node in G.index]
    except TypeError:
        named = nx.Graph()
        named.add_nodes_from(G.nodes)
        return list(named.nbunch_iter(given))


def _of_nodes(G: NxGraph, values: dict[Hashable, float]) -> np.ndarray:
    """Of each node, 0 where `values` has none."""
    return np.array([values.get(node, 0) for node in G.nodes], dtype=float)


def _has_weights(G: NxGraph, weight: str | None) -> bool:
    """Whether `weight` names what edges have. NetworkX hands over graphs that it keeps, also those of calls with weights to calls without."""
    if weight is not None and G.attribute is not None and weight != G.attribute:
        raise ValueError(f"weight: got {weight!r}, expected {G.attribute!r}, which the graph was converted with, or None")
    return weight is not None and G.weights is not None


def _weighted(G: NxGraph, weight: str | None, kind: str, without: str) -> Graph:
    """The graph of a kind with the weights that are asked for, or of the kind `without` any."""
    is_weighted = _has_weights(G, weight)
    try:
        return G.graph(kind if is_weighted else without)
    except ValueError as error:
        raise NotImplementedError(str(error)) from error


def _by_distance(G: NxGraph, distance: np.ndarray, reached: np.ndarray) -> dict[Hashable, Any]:
    """Nearest first, as NetworkX tells them."""
    order = reached[np.argsort(distance[reached], kind="stable")]
    return {G.nodes[v]: value for v, value in zip(order.tolist(), distance[order].tolist())}


def _components(G: NxGraph) -> Iterator[set[Hashable]]:
    """By their first nodes, as NetworkX yields them."""
    if len(G) == 0:
        return
    label = _algorithms.connected_components(G.graph()).label
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order])) + 1
    for members in np.split(order, starts):
        yield {G.nodes[v] for v in members.tolist()}


def _is_connected(G: NxGraph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _algorithms.connected_components(G.graph()).num_components == 1


def _drawn(n: int, k: int, seed: Any) -> list[int]:
    """The places of the k nodes that NetworkX draws, by its own generator and in its order."""
    return [int(place) for place in nx.utils.create_py_random_state(seed).sample(list(range(n)), k)]


def _path_sums(G: NxGraph, sources: list[int] | None) -> np.ndarray:
    """Of each node v the sum, over sources s and all t, of the part of the shortest paths from s to t that lead through v, which is neither."""
    if len(G) < 3 or sources == []:
        return np.zeros(len(G))
    found = _algorithms.betweenness(G.graph(), sources, normalized=False)
    sums: np.ndarray = found.score / found.scale
    return sums


def _ends(G: NxGraph, sources: list[int] | None) -> np.ndarray:
    """Of each node the pairs of a source and another node, with a path between them, of which it is one."""
    n = len(G)
    starts = np.arange(n) if sources is None else np.asarray(sources, np.int64)
    ends = np.zeros(n)
    if n == 0 or starts.size == 0:
        return ends
    if not G.is_directed():  # A source reaches its component, all of it.
        label = _algorithms.connected_components(G.graph()).label
        ends += np.bincount(label[starts], minlength=n)[label]
        ends[starts] += np.bincount(label, minlength=n)[label[starts]]
    else:
        for some in np.array_split(starts, -(-starts.size * 8 * n // SEARCH_BYTES)):
            is_reached = _algorithms.bfs(G.graph(), some).depth >= 0
            ends += np.count_nonzero(is_reached, axis=0)
            ends[some] += np.count_nonzero(is_reached, axis=1)
    ends[starts] -= 2  # A source reaches itself, which is no pair.
    return ends


def _scale(n: int, sources: list[int] | None, normalized: bool, is_directed: bool, endpoints: bool) -> float | np.ndarray:
    """By which NetworkX multiplies the sums: they stand for those of all pairs of the nodes that may be ends."""
    ends = n if endpoints else n - 1
    if ends < 2:
        return 1.0

    def by(starts: int) -> float:
        return 1 / (starts * (ends - 1)) if normalized else ends / (starts * (1 if is_directed else 2))

    if sources is None or endpoints:
        return by(ends if sources is None else len(sources))
    scale = np.full(n, by(len(sources)))
    scale[sources] = by(len(sources) - 1) if len(sources) > 1 else math.nan  # Without endpoints a source counts the paths from others alone.
    return scale


def _refuse(G: NxGraph, directed: bool) -> None:
    if G.is_directed() == directed:
        raise nx.NetworkXNotImplemented(f"not implemented for {'directed' if directed else 'undirected'} type")


def _check_pagerank(G: Any, alpha: Any = 0.85, personalization: Any = None, max_iter: Any = 100, tol: Any = 1.0e-6, nstart: Any = None, weight: Any = "weight",
                    dangling: Any = None) -> bool | str:
    for name, values in (("personalization", personalization), ("nstart", nstart), ("dangling", dangling)):
        if values is not None and not isinstance(values, dict):
            return f"{name} is not a dict"
    if not (_is_real(alpha) and 0 <= alpha <= 1):
        return f"alpha: got {alpha!r}, expected a number from 0 to 1"
    if not (_is_real(tol) and tol >= 0):
        return f"tol: got {tol!r}, expected a number of 0 or more"
    return _check_weight(weight)


def _check_search(G: Any, source: Any, cutoff: Any = None) -> bool | str:
    return cutoff is None or (_is_real(cutoff) and cutoff == cutoff) or "cutoff is no number"


def _check_dijkstra(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> bool | str:
    search = _check_search(G, source, cutoff)
    return search if search is not True else _check_weight(weight)


def _check_betweenness(G: Any, k: Any = None, normalized: Any = True, weight: Any = None, endpoints: Any = False, seed: Any = None) -> bool | str:
    if weight is not None:
        return "weight: paths are counted by edges, not by weights"
    return k is None or SCALES_SAMPLES or f"k: NetworkX {nx.__version__} scales sampled sums otherwise than 3.5 and later"


def _check_triangles(G: Any, nodes: Any = None) -> bool | str:
    return nodes is None or isinstance(nodes, (Hashable, list, set)) or "nodes are in no list, set or tuple"


def _check_weight(weight: Any) -> bool | str:
    return weight is None or isinstance(weight, str) or "weight is not the name of an attribute"


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


CHECKS: dict[str, Callable[..., bool | str]] = {
    "pagerank": _check_pagerank,
    "single_source_shortest_path_length": _check_search,
    "single_source_dijkstra_path_length": _check_dijkstra,
    "betweenness_centrality": _check_betweenness,
    "triangles": _check_triangles,
}
backend = Backend
