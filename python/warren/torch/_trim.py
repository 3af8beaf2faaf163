# SPDX-License-Identifier: Apache-2.0
"""What a layer needs of a sampled batch, and no more."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._adjacency import begin_of


def trim_to_layer(layer: int, num_sampled_nodes_per_hop: Sequence[int], num_sampled_edges_per_hop: Sequence[int], x: Any, edge_index: Any, edge_attr: Any = None) -> tuple[Any, Any, Any]:
    """The rows, edges and edge attributes that layer number `layer` (from 0) of a model reads of a batch of NeighborLoader, as torch_geometric.utils.trim_to_layer.

    Besides what that one leaves out, no rows are computed that later layers do not read. With n the vertices and m the edges of each hop, h hops: `x` becomes a pair, the sources x[:n[0] + ... + n[h - layer]] and the
    targets x[:n[0] + ... + n[h - layer - 1]], and edge_index and edge_attr keep their first m[0] + ... + m[h - layer - 1] edges. A layer that takes pairs gives a row a target: all those of warren.torch, and of
    PyTorch Geometric those for bipartite graphs. `x`: a tensor with at least as many rows. All three results are views; edge_attr None stays None.
    A batch must be "directional". Raises ValueError for counts that do not go with each other, with x or with the edges.
    """
    nodes, edges = num_sampled_nodes_per_hop, num_sampled_edges_per_hop
    if nodes is None or edges is None or isinstance(nodes, dict) or isinstance(edges, dict) or len(nodes) != len(edges) + 1:
        raise ValueError("num_sampled_nodes_per_hop: expected a list with one number more than num_sampled_edges_per_hop, of a directional batch of vertices of one type")
    if not 0 <= layer < len(edges):
        raise ValueError(f"layer: got {layer}, expected 0 to {len(edges) - 1}: the batch has {len(edges)} hops")
    hops = len(edges) - layer
    sources, targets, kept = sum(nodes[:hops + 1]), sum(nodes[:hops]), sum(edges[:hops])
    if x.shape[0] < sources:
        raise ValueError(f"x: got {x.shape[0]} rows, expected the {sources} that layer {layer} reads, or more")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.shape[1] < kept:
        raise ValueError(f"edge_index: got shape {tuple(edge_index.shape)}, expected (2, {kept}) or more edges")
    if edge_attr is not None and edge_attr.shape[0] < kept:
        raise ValueError(f"edge_attr: got {edge_attr.shape[0]} rows, expected {kept} or more, one an edge")
    read = x if sources == x.shape[0] else x.narrow(0, 0, sources)
    trimmed = begin_of(edge_index, nodes, edges, hops)
    return (read, read.narrow(0, 0, targets)), trimmed, None if edge_attr is None else edge_attr.narrow(0, 0, kept)


def begins_with(sources: Any, targets: Any) -> bool:
    """Whether `targets` are the first rows of `sources`, as trim_to_layer() gives them or as the same tensor, and nothing of its own becomes of their gradient."""
    if targets is sources:
        return True
    base = sources._base if sources._is_view() else sources
    if not (targets._is_view() and targets._base is base and targets.data_ptr() == sources.data_ptr() and targets.dtype == sources.dtype and targets.shape[0] <= sources.shape[0]
            and targets.shape[1:] == sources.shape[1:] and targets.stride() == sources.stride() and targets.requires_grad == sources.requires_grad):
        return False
    if not targets.requires_grad:
        return True
    taken, made = targets.grad_fn, sources.grad_fn
    if type(taken).__name__ != "SliceBackward0" or targets._backward_hooks or targets.retains_grad:
        return False
    of = taken.next_functions[0][0]
    return of is made if made is not None else getattr(of, "variable", None) is sources
