# SPDX-License-Identifier: Apache-2.0
"""Graphs of other libraries. Each is imported only here, when it is needed."""
from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import MAX_VERTICES, as_numpy, flag, type_name
from ._build import graph_of_edges, graph_of_rows
from ._errors import VertexError
from ._graph import Graph, are_numbered, with_nodes
from ._libraries import library_of

if TYPE_CHECKING:
    import networkx
    import pandas
    import torch_geometric.data

MISSING = object()  # The weight of an edge without one.


def from_scipy(A: Any, symmetrize: bool = False, drop_self_loops: bool = False, *, copy: bool = True) -> Graph:
    """The graph with an edge (u, v) for every stored entry A[u, v] of a sparse n x n matrix or array, of any format.

    Entries are weights, as from_csr() takes them: integers that all fit become int32, others float32 (float64 is rounded). A matrix of booleans is a
    graph without weights, whose edges are the entries that are True.
    Entries at one place are added up, as SciPy does; explicit zeros of other types are edges of weight 0. symmetrize adds (v, u) for every (u, v); of both the
    smaller weight is kept. copy: as of from_csr(); with False int32 and float32 data and int32 indices of a sorted CSR are shared with the graph. Raises ValueError for what is no square sparse matrix, for complex entries, and NaN; MemoryError.
    """
    if not (hasattr(A, "tocsr") and hasattr(A, "shape")):
        raise ValueError(f"A: got {type_name(A)}, expected a sparse matrix or array of SciPy's")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A: got the shape {A.shape}, expected a square matrix, a row and a column a vertex")
    if A.dtype.kind not in "biuf":
        raise ValueError(f"A: got entries of type {A.dtype}, expected real numbers")
    flag("symmetrize", symmetrize), flag("copy", copy)
    csr = A.tocsr()
    if csr.dtype.kind == "b" and not csr.data.all():
        csr = csr.copy() if csr is A else csr
        csr.eliminate_zeros()
    # The engine adds up what it holds in the same type, and looks for it on all threads. Others are added up before they are rounded, or meet their reverses.
    is_added_up_there = not symmetrize and csr.dtype in (np.bool_, np.int32, np.float32)
    if not is_added_up_there:
        _check_rows(csr)
    if not is_added_up_there and not csr.has_canonical_format:
        csr = csr.copy() if csr is A else csr
        csr.sum_duplicates()
    try:
        return graph_of_rows(csr.indptr, csr.indices, None if csr.dtype.kind == "b" else csr.data, symmetrize, drop_self_loops, sum_duplicates=is_added_up_there, copy=copy and csr is A,
                             place=lambda at: f"A[{_row_of(csr.indptr, at)}, {csr.indices[at]}]")
    except ValueError:
        _check_rows(csr)  # Tells what is wrong by SciPy's names.
        raise


def _row_of(offsets: np.ndarray, at: int) -> int:
    return int(np.searchsorted(offsets, at, "right")) - 1


def _check_rows(csr: Any) -> None:
    """SciPy follows indptr and indices unlooked at."""
    indptr, indices = csr.indptr, csr.indices
    if indptr.size != csr.shape[0] + 1 or indptr[0] != 0 or indptr[-1] > min(indices.size, csr.data.size) or (np.diff(indptr) < 0).any():
        raise ValueError("A: its indptr does not ascend from 0 to the number of entries")
    used = indices[:indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= csr.shape[1]):
        raise ValueError(f"A: its indices should be columns from 0 to {csr.shape[1] - 1}, got {int(used.min())} to {int(used.max())}")


def node_arrays(G: networkx.Graph, weight: str | None, default: Any = 1) -> tuple[list[Hashable], np.ndarray, np.ndarray, np.ndarray | None]:
    """(nodes, offsets, targets, weights) of a NetworkX graph as of from_csr(), an undirected edge in both directions. Without weights where no edge has the
    attribute. Raises ValueError."""
    nodes = list(G)
    # The dicts themselves: the views that NetworkX gives take ten times as long.
    rows = [G._adj[node] for node in nodes]
    offsets = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(nodes)), out=offsets[1:])
    heads: Iterable[Any] = itertools.chain.from_iterable(rows)
    if not are_numbered(nodes):
        heads = map({node: v for v, node in enumerate(nodes)}.__getitem__, heads)
    targets = np.fromiter(heads, np.int32 if len(nodes) < 2**31 else np.int64, int(offsets[-1]))
    edges = itertools.chain.from_iterable(map(operator.methodcaller("values"), rows))
    if G.is_multigraph():
        parallel = list(edges)  # A dict a pair of nodes, by key.
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        offsets, targets = np.append(0, np.cumsum(counts))[offsets], np.repeat(targets, counts)
        edges = itertools.chain.from_iterable(map(operator.methodcaller("values"), parallel))
    if weight is None:
        return nodes, offsets, targets, None
    values = [edge.get(weight, MISSING) for edge in edges]
    if values.count(MISSING) == len(values):
        return nodes, offsets, targets, None
    try:
        numbers = np.asarray([default if value is MISSING else value for value in values] if MISSING in values else values)
    except ValueError:  # Lists of different lengths.
        numbers = np.empty(0, object)
    if numbers.dtype.kind not in "biuf" or numbers.ndim != 1:
        at = next((i for i, value in enumerate(values) if value is not MISSING and not _is_number(value)), 0)
        raise ValueError(f"weight: got {values[at]!r} for the edge ({nodes[_row_of(offsets, at)]!r}, {nodes[targets[at]]!r}), expected a number, an integer of 64 bits or a float")
    return nodes, offsets, targets, numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, np.number, np.bool_)) or (isinstance(value, int) and -(2**63) <= value < 2**64)


def of_nodes(offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, is_multigraph: bool, sum_duplicates: bool = False,
             place: Callable[[int], str] | None = None) -> Graph:
    """The graph of what node_arrays() gives. place: what errors call the weight at an index."""
    if not is_multigraph:
        return graph_of_rows(offsets, targets, weights, copy=False, place=place)
    n = offsets.size - 1
    return graph_of_edges(np.repeat(np.arange(n), np.diff(offsets)), targets, weights, n, sum_duplicates=sum_duplicates, place=place)


def from_networkx(G: networkx.Graph, weight: str | None = "weight") -> Graph:
    """The graph of a NetworkX graph, whose nodes are its names: vertex v is the v-th of list(G), and calls take nodes as sources.

    Undirected graphs become symmetric. weight: the attribute that is an edge's weight, 1 where an edge has none; without weights if it is None or no edge has it.
    Parallel edges of multigraphs are merged, by the smallest weight. Weights are taken as by from_edges(). Raises ValueError for a weight that is no
    number, NaN, or an integer past 64 bits; MemoryError.
    """
    if not (hasattr(G, "is_directed") and hasattr(G, "_adj") and hasattr(G, "is_multigraph")):
        raise ValueError(f"G: got {type_name(G)}, expected a graph of NetworkX's")
    if not (weight is None or isinstance(weight, str)):
        raise ValueError(f"weight: got {type_name(weight)}, expected the name of an attribute of edges, or None")
    nodes, offsets, targets, weights = node_arrays(G, weight)
    graph = of_nodes(offsets, targets, weights, G.is_multigraph(),
                     place=lambda at: f"attribute {weight!r} of the edge ({nodes[_row_of(offsets, at)]!r}, {nodes[targets[at]]!r})")
    return with_nodes(graph, nodes)


def to_networkx(graph: Graph) -> networkx.Graph | networkx.DiGraph:
    """As Graph.to_networkx()."""
    import networkx

    made = networkx.Graph() if graph.is_symmetric else networkx.DiGraph()
    made.add_nodes_from(graph.labels())
    sources, targets, weights = graph.to_edges()
    pairs = zip(graph.labels(sources), graph.labels(targets))
    if weights is None:
        made.add_edges_from(pairs)
    else:
        made.add_weighted_edges_from((u, v, w) for (u, v), w in zip(pairs, weights.tolist()))
    return made


def from_pandas(df: pandas.DataFrame, source: Hashable, target: Hashable, weight: Hashable | None = None, symmetrize: bool = False,
                num_vertices: int | None = None) -> Graph:
    """The graph of a data frame with a row an edge: the columns `source` and `target`, and `weight`, where it is named.

    Columns of integers from 0 to 2**32 - 2 are ids of vertices. Others are names, integers too where one is negative or larger: the vertices are the different values, in the
    order in which they first occur in source, then in target, and calls take these values.
    Raises ValueError for a column that is missing, of which there are several, or that has gaps, and as from_edges().
    """
    if not hasattr(df, "columns"):
        raise ValueError(f"df: got {type_name(df)}, expected a data frame of pandas'")
    for name, column in (("source", source), ("target", target), ("weight", weight)):
        if not isinstance(column, Hashable):
            raise ValueError(f"{name}: got {type_name(column)}, expected the name of a column")
        if (column is not None or name != "weight") and column not in df.columns:
            raise ValueError(f"{name}: got {column!r}, expected a column of the data frame: " + ", ".join(map(repr, df.columns)))
        if column is not None and getattr(df[column], "ndim", 1) != 1:
            raise ValueError(f"{name}: got {column!r}, the name of {df[column].shape[1]} columns, expected that of one")
    heads, tails = df[source], df[target]
    names = (f"df[{source!r}]", f"df[{target!r}]", f"df[{weight!r}]", "num_vertices")
    for column, values in ((source, heads), (target, tails)):
        if values.isna().any():
            raise ValueError(f"column {column!r}: got no value in row {int(np.argmax(values.isna()))}, expected a vertex")
    weights = None if weight is None else df[weight].to_numpy()
    if weights is not None and weights.dtype == object:
        raise ValueError(f"column {weight!r}: got elements of type {df[weight].dtype}, expected numbers without gaps")
    if heads.dtype.kind in "iu" and tails.dtype.kind in "iu":
        columns = [values.to_numpy(dtype=getattr(values.dtype, "numpy_dtype", values.dtype)) for values in (heads, tails)]
        if num_vertices is not None or all(ids.size == 0 or (int(ids.min()) >= 0 and int(ids.max()) < MAX_VERTICES) for ids in columns):
            return graph_of_edges(columns[0], columns[1], weights, num_vertices, symmetrize, names=names)
    if num_vertices is not None:
        raise ValueError(f"num_vertices: got {num_vertices}, expected None: vertices are the names that occur")
    nodes = dict.fromkeys(heads.tolist() + tails.tolist())
    index = {node: v for v, node in enumerate(nodes)}
    graph = graph_of_edges([index[node] for node in heads.tolist()], [index[node] for node in tails.tolist()], weights, len(nodes), symmetrize, names=names)
    return with_nodes(graph, list(nodes))


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """As Graph.to_pandas()."""
    import pandas

    sources, targets, weights = graph.to_edges()
    ends = (sources, targets) if graph._is_told_by_numbers() else (graph.labels(sources), graph.labels(targets))
    columns: dict[str, Any] = {"source": ends[0], "target": ends[1]}
    if weights is not None:
        columns["weight"] = weights
    return pandas.DataFrame(columns)


def to_pyg(graph: Graph) -> torch_geometric.data.Data:
    """As Graph.to_pyg()."""
    import torch
    from torch_geometric.data import Data

    sources, targets, weights = graph.to_edges()
    data = Data(edge_index=torch.from_numpy(np.stack([sources, targets]).astype(np.int64)), num_nodes=graph.num_vertices)
    if weights is not None:
        data.edge_weight = torch.from_numpy(weights)
    if not graph._is_told_by_numbers():
        data.node_names = graph.labels()
    return data


def from_pyg(data: Any, symmetrize: bool = False, *, weights: Any = "auto") -> Graph:
    """The graph of a PyTorch Geometric Data: edge_index (2 x m), num_nodes, and weights.

    weights: "auto": edge_weight, else edge_attr, where the data has one, which must be a number an edge: (m,) or (m, 1). Of an edge_attr of several
    columns give the one that is the weight, as an array: weights=data.edge_attr[:, 0]. None: without weights, whatever the data has.
    node_names, a list of num_nodes different values, are the vertices' names, as Graph.to_pyg() writes them.
    Raises ValueError for data without edge_index, for other node_names, and as from_edges().
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise ValueError(f"data: got {type_name(data)} without edge_index, expected a torch_geometric.data.Data")
    pairs = as_numpy("data.edge_index", edge_index)
    if pairs.ndim != 2 or pairs.shape[0] != 2:
        raise ValueError(f"data.edge_index: got the shape {pairs.shape}, expected 2 x edges")
    called, values = _pyg_weights(data, weights, pairs.shape[1])
    num_nodes = getattr(data, "num_nodes", None)
    try:
        graph = graph_of_edges(pairs[0], pairs[1], values, num_nodes, symmetrize, names=("data.edge_index[0]", "data.edge_index[1]", called, "data.num_nodes"))
    except VertexError as error:
        if num_nodes is None:
            raise
        raise VertexError(f"{error}; data.num_nodes is {num_nodes}") from None
    names = getattr(data, "node_names", None)
    if names is not None:
        if not isinstance(names, (list, tuple)) or len(names) != graph.num_vertices or len(set(names)) != len(names):
            raise ValueError(f"data.node_names: got {type_name(names)}, expected a list of {graph.num_vertices} different names")
        graph = with_nodes(graph, names)
    graph.arrays = library_of(edge_index)
    return graph


def _pyg_weights(data: Any, weights: Any, edges: int) -> tuple[str, Any]:
    """What errors call the weights, and a number an edge, or None."""
    if not isinstance(weights, str):
        return "weights", weights
    if weights != "auto":
        raise ValueError(f'weights: got {weights!r}, expected "auto", None, or a weight an edge')
    for name in ("edge_weight", "edge_attr"):
        given = getattr(data, name, None)
        if given is None:
            continue
        values = as_numpy(f"data.{name}", given)
        if values.shape not in ((edges,), (edges, 1)):
            cure = f"weights=data.{name}[:, 0] for its first column, or weights=None" if values.ndim == 2 and values.shape[0] == edges and values.shape[1] > 1 else "weights=None"
            raise ValueError(f"data.{name}: got the shape {values.shape}, expected a weight an edge, ({edges},) or ({edges}, 1); to take another array or none give {cure}")
        return f"data.{name}", values.reshape(-1)
    return "weights", None


def from_cugraph(G: Any) -> Graph:
    """The graph of a cuGraph Graph, by its list of edges, which is copied to the host. An undirected one becomes symmetric. Vertices that are no integers are names.

    Raises ValueError for what has no view_edge_list(), and as from_pandas().
    """
    if not hasattr(G, "view_edge_list"):
        raise ValueError(f"G: got {type_name(G)}, expected a cugraph.Graph")
    edges = G.view_edge_list()
    edges = edges.to_pandas() if hasattr(edges, "to_pandas") else edges
    columns = list(edges.columns)
    source, target = (("src", "dst") if "src" in columns and "dst" in columns else (columns[0], columns[1]))
    weight = next((name for name in columns if name in ("weights", "weight", "wgt")), None)
    return from_pandas(edges, source, target, weight, symmetrize=not G.is_directed())
