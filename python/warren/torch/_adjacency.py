# SPDX-License-Identifier: Apache-2.0
"""Edges sorted by their targets and by their sources, as the operators take them."""
from __future__ import annotations

from typing import Any

import torch

from . import _operators


class Adjacency:
    """The edges of `edge_index` (2 x m, from sources to targets, of any order) sorted both ways, for many products.

    num_targets, num_sources: how many vertices; num_sources None: as many. Values of edges keep the order of `edge_index`.
    Sorting takes O(m log m) once for each way; by sources when a gradient first needs it. Raises ValueError for another shape, IndexError for an id out of range.
    """

    def __init__(self, edge_index: Any, num_targets: int, num_sources: int | None = None):
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype.is_floating_point:
            raise ValueError(f"edge_index: got {edge_index.dtype} of shape {tuple(edge_index.shape)}, expected integers of shape (2, m)")
        self.source, self.target = (edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index).unbind(0)
        self.num_targets = num_targets
        self.num_sources = num_targets if num_sources is None else num_sources
        # What warren sampled has good ids.
        self._is_ordered = not torch.compiler.is_compiling() and _order_is_kept(edge_index)
        self.by_target: tuple[Any, Any, Any] = (_operators.structure_of(self.target, self.source, self.num_targets, True) if self._is_ordered
                                                else _operators.sort_edges(self.target, self.source, self.num_targets, self.num_sources))
        self._by_source: tuple[Any, Any, Any] | None = None

    @property
    def num_edges(self) -> int:
        return int(self.source.shape[0])

    @property
    def degree(self) -> Any:
        """In-edges of each target (int64)."""
        return self.by_target[0][1:] - self.by_target[0][:-1]

    def structures(self, *operands: Any) -> tuple[Any, ...]:
        """The six tensors of an operator on edges. Without gradients to come nothing need be sorted by sources."""
        if not (torch.is_grad_enabled() and any(operand is not None and operand.requires_grad for operand in operands)):
            return (*self.by_target, *self.by_target)
        if self._by_source is None:
            self._by_source = (_operators.structure_of(self.source, self.target, self.num_sources, False) if self._is_ordered
                               else _operators.sort_edges(self.source, self.target, self.num_sources, self.num_targets))
        return (*self.by_target, *self._by_source)

    def __repr__(self) -> str:
        return f"<warren.torch.Adjacency {self.num_edges} edges from {self.num_sources} to {self.num_targets} vertices>"


def mark_order(edge_index: Any) -> None:
    """Notes of a tensor that its edges are by target and its ids in range, for as long as it is not written."""
    edge_index._warren_order = edge_index._version


def _order_is_kept(edge_index: Any) -> bool:
    return bool(getattr(edge_index, "_warren_order", None) == edge_index._version)


def keep_order(edge_index: Any, begin: Any) -> Any:
    """`begin`, a view of the first edges of edge_index, with what mark_order() noted."""
    if not torch.compiler.is_compiling() and _order_is_kept(edge_index):
        mark_order(begin)
    return begin


def adjacency_of(edge_index: Any, num_targets: int, num_sources: int) -> Adjacency:
    """The edges' Adjacency, kept with the tensor `edge_index` for as long as it stays as it is: layers of a model share it."""
    if isinstance(edge_index, Adjacency):
        if (edge_index.num_targets, edge_index.num_sources) != (num_targets, num_sources):
            raise ValueError(f"adjacency: got one from {edge_index.num_sources} to {edge_index.num_targets} vertices, expected from {num_sources} to {num_targets}")
        return edge_index
    if torch.compiler.is_compiling():
        return Adjacency(edge_index, num_targets, num_sources)
    is_of = (edge_index._version, num_targets, num_sources)
    kept = getattr(edge_index, "_warren_adjacency", None)
    if kept is None or kept[0] != is_of:
        kept = (is_of, Adjacency(edge_index, num_targets, num_sources))
        edge_index._warren_adjacency = kept
    adjacency: Adjacency = kept[1]
    return adjacency
