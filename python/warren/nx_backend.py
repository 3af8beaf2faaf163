# SPDX-License-Identifier: Apache-2.0
"""A backend of NetworkX: `nx.pagerank(G, backend="warren")`. NetworkX converts the graph at the first call, and keeps it with G until G changes."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from . import _algorithms
from ._convert import node_arrays, of_nodes
from ._graph import Graph
from .nx_info import FUNCTIONS

# A NetworkX graph with fewer edges is done with before it is converted.
FEW_EDGES = 1000


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
        if cutoff is not None and cutoff < 0:
            return {source: 0}
        if not _has_weights(G, weight) or G.number_of_edges() == 0:
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
        return _by_distance(G, distance, np.flatnonzero(distance >= 0 if distance.dtype.kind == "i" else np.isfinite(distance)))

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
        if n < 3:
            return dict.fromkeys(G.nodes, 0.0)
        # NetworkX halves by the graph's kind, the engine by its edges.
        halves = not normalized and not G.is_directed()
        score = _algorithms.betweenness(G.graph(), normalized=not halves).score
        if not normalized and not halves:
            score *= (n - 1) * (n - 2)
        return dict(zip(G.nodes, score.tolist()))

    @staticmethod
    def core_number(G: NxGraph) -> dict[Hashable, int]:
        if G.is_multigraph():
            raise nx.NetworkXNotImplemented("not implemented for multigraph type")
        if G.is_directed():
            raise NotImplementedError("NetworkX counts edges in both directions apart, warren does not")
        if G.number_of_self_loops() > 0:
            raise nx.NetworkXNotImplemented("Input graph has self loops which is not permitted; Consider using G.remove_edges_from(nx.selfloop_edges(G)).")
        return dict(zip(G.nodes, _algorithms.core_number(G.graph()).core.tolist()))

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


def _of_graph(G: NxGraph, nodes: Any) -> Iterator[Hashable]:
    """Those of `nodes` that are the graph's, with NetworkX's errors."""
    try:
        given = iter(nodes)
    except TypeError as error:
        raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from error
    for node in given:
        try:
            is_one = node in G.index
        except TypeError as error:
            raise nx.NetworkXError(f"Node {node} in sequence nbunch is not a valid node.") from error
        if is_one:
            yield node


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


def _refuse(G: NxGraph, directed: bool) -> None:
    if G.is_directed() == directed:
        raise nx.NetworkXNotImplemented(f"not implemented for {'directed' if directed else 'undirected'} type")


def _check_pagerank(G: Any, alpha: Any = 0.85, personalization: Any = None, max_iter: Any = 100, tol: Any = 1.0e-6, nstart: Any = None, weight: Any = "weight",
                    dangling: Any = None) -> bool | str:
    for name, values in (("personalization", personalization), ("nstart", nstart), ("dangling", dangling)):
        if values is not None and not isinstance(values, dict):
            return f"{name} is not a dict"
    if not (_is_real(alpha) and 0 <= alpha < 1 and _is_real(tol) and tol >= 0):
        return "alpha is not in [0, 1), or tol is negative"
    return _check_weight(weight)


def _check_search(G: Any, source: Any, cutoff: Any = None) -> bool | str:
    return cutoff is None or (_is_real(cutoff) and cutoff == cutoff) or "cutoff is no number"


def _check_dijkstra(G: Any, source: Any, cutoff: Any = None, weight: Any = "weight") -> bool | str:
    search = _check_search(G, source, cutoff)
    return search if search is not True else _check_weight(weight)


def _check_betweenness(G: Any, k: Any = None, normalized: Any = True, weight: Any = None, endpoints: Any = False, seed: Any = None) -> bool | str:
    return (k is None and weight is None and not endpoints) or "k, weight and endpoints are not taken"


def _check_core_number(G: Any) -> bool | str:
    return not G.is_directed() or "NetworkX counts edges in both directions apart, warren does not"


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
    "core_number": _check_core_number,
    "triangles": _check_triangles,
}
backend = Backend
