# SPDX-License-Identifier: Apache-2.0
"""Edges sorted by their targets and by their sources, as the operators take them."""
from __future__ import annotations

import contextlib
import math
import weakref
from typing import Any

import torch

from . import _operators


def _to_keep() -> Any:
    """For what is made once: tensors of inference mode could never be part of a graph of gradients."""
    is_inference = not torch.compiler.is_compiling() and torch.is_inference_mode_enabled()
    return torch.inference_mode(False) if is_inference else contextlib.nullcontext()


class KeptWith:
    """What is kept with a tensor for as long as that lives. Copies of it, and files that it is saved in, have nothing of it."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, Any]] = {}

    def get(self, tensor: Any) -> Any:
        found = self._of.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def put(self, tensor: Any, value: Any) -> None:
        key = id(tensor)

        def drop(ref: Any) -> None:
            found = self._of.get(key)
            if found is not None and found[0] is ref:
                del self._of[key]

        self._of[key] = (weakref.ref(tensor, drop), value)


adjacencies, orders = KeptWith(), KeptWith()


def flat(x: Any) -> Any:
    """(n, ...) as (n, k), of no elements, too."""
    return x.reshape(x.shape[0], math.prod(x.shape[1:]))


class Adjacency:
    """The edges of `edge_index` (2 x m, from sources to targets, of any order) sorted both ways, for many products.

    num_targets, num_sources: how many vertices; num_sources None: as many. Values of edges keep the order of `edge_index`.
    Sorting takes O(m log m) once for each way; by sources when a gradient first needs it. Raises ValueError for another shape, IndexError for an id out of range, RuntimeError where gradients
    are asked of it after `edge_index` was written.
    """

    def __init__(self, edge_index: Any, num_targets: int, num_sources: int | None = None):
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype.is_floating_point or edge_index.dtype.is_complex or edge_index.dtype == torch.bool:
            raise ValueError(f"edge_index: got {edge_index.dtype} of shape {tuple(edge_index.shape)}, expected integers of shape (2, m)")
        edges = edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index
        # No views of `edge_index` itself, which keeps its Adjacency: neither would ever be freed.
        self.source, self.target = (edges if torch.compiler.is_compiling() else edges.data).unbind(0)
        self._edge_index, self._version = None, 0
        if not torch.compiler.is_compiling() and not edge_index.is_inference():
            self._edge_index, self._version = weakref.ref(edge_index), edge_index._version
        self.num_targets = num_targets
        self.num_sources = num_targets if num_sources is None else num_sources
        order = _order_of(edge_index)
        self._order = order if order is not None and order.targets <= self.num_targets and order.sources <= self.num_sources else None
        with _to_keep():
            self.by_target: tuple[Any, Any, Any] = (_operators.sort_edges(self.target, self.source, self.num_targets, self.num_sources) if self._order is None
                                                    else self._order.structure_of(self.target, self.source, self.num_targets))
        self._by_source: tuple[Any, Any, Any] | None = None
        self._inverse: Any = None

    @property
    def num_edges(self) -> int:
        return int(self.source.shape[0])

    @property
    def degree(self) -> Any:
        """In-edges of each target (int64)."""
        return self.by_target[0][1:] - self.by_target[0][:-1]

    def mean_of(self, sums: Any) -> Any:
        """Rows of sums over in-edges, divided by the number of these; 0 where there are none."""
        columns = [1] * (sums.dim() - 1)
        if sums.dtype != torch.float32 or torch.compiler.is_compiling():
            return sums / self.degree.clamp(min=1).to(sums.dtype).view(-1, *columns)
        return sums * self.inverse_degree.view(-1, *columns)

    @property
    def inverse_degree(self) -> Any:
        """1 / the number of in-edges of each target, 1 where there are none (float32)."""
        if self._inverse is None:
            with _to_keep():
                self._inverse = _inverse(self.by_target[0]) if self._order is None else self._order.inverse_of(self.by_target[0])
        return self._inverse

    def structures(self, *operands: Any) -> tuple[Any, ...]:
        """The six tensors of an operator on edges. Without gradients to come nothing need be sorted by sources."""
        if not (torch.is_grad_enabled() and any(operand is not None and operand.requires_grad for operand in operands)):
            return (*self.by_target, *self.by_target)
        return (*self.by_target, *self.by_source)

    def _check_unwritten(self) -> None:
        edge_index = None if self._edge_index is None else self._edge_index()
        if edge_index is not None and edge_index._version != self._version:
            raise RuntimeError("edge_index: it was modified by an inplace operation after its edges were sorted by targets, expected it as it was: its gradients would be those of other edges")

    @property
    def by_source(self) -> tuple[Any, Any, Any]:
        """The structure of the transpose, made when it is first asked for."""
        if self._by_source is None:
            self._check_unwritten()
            with _to_keep():
                self._by_source = (_operators.sort_edges(self.source, self.target, self.num_sources, self.num_targets) if self._order is None
                                   else _operators.structure_of(self.by_target[1], self.target, self.num_sources, False))
        return self._by_source

    def __repr__(self) -> str:
        return f"<warren.torch.Adjacency {self.num_edges} edges from {self.num_sources} to {self.num_targets} vertices>"


class Order:
    """What is known of a batch's edges: they are by target, sources are below `sources` and targets below `targets`. So nothing need be sorted or looked at.

    The parts that layers read of a batch are its first edges and targets: they share one structure, the first that is made. `hops`: the batch's vertices and edges by hop.
    """

    def __init__(self, version: int, sources: int, targets: int, hops: Any, whole: Order | None = None):
        self.version, self.sources, self.targets, self.hops = version, sources, targets, hops
        self._whole: Order = self if whole is None else whole._whole
        self._structure: tuple[Any, Any, Any] | None = None
        self._inverse: Any = None

    def _is_part(self, count: int, edges: int) -> bool:
        structure = self._whole._structure
        return structure is not None and count == self.targets < structure[0].numel() and edges <= structure[1].numel()

    def structure_of(self, target: Any, source: Any, count: int) -> tuple[Any, Any, Any]:
        edges = target.numel()
        if self._is_part(count, edges):
            ptr, other, edge = self._whole._structure  # type: ignore[misc]
            return ptr[:count + 1], other[:edges], edge[:edges]
        made = _operators.structure_of(target, source, count, True)
        if self._whole._structure is None:
            self._whole._structure = made
        return made

    def inverse_of(self, ptr: Any) -> Any:
        """1 / the number of in-edges, of the targets of a structure that structure_of() gave."""
        whole = self._whole
        if whole._structure is None or whole._structure[0].data_ptr() != ptr.data_ptr():
            return _inverse(ptr)
        if whole._inverse is None:
            whole._inverse = _inverse(whole._structure[0])
        return whole._inverse[:ptr.numel() - 1]


def _inverse(ptr: Any) -> Any:
    return (ptr[1:] - ptr[:-1]).clamp_(min=1).to(torch.float32).reciprocal_()


def _order_of(edge_index: Any) -> Order | None:
    if torch.compiler.is_compiling():
        return None
    order: Order | None = orders.get(edge_index)
    return order if order is not None and order.version == edge_index._version else None


def _hops(nodes: Any, edges: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(map(int, nodes)), tuple(map(int, edges))


def mark_order(edge_index: Any, nodes: Any, edges: Any) -> None:
    """Notes of a batch's edges, which has so many vertices and edges by hop, that they are by target, for as long as PyTorch knows of no write to the tensor (of those by `.data` it does not)."""
    if not edge_index.is_inference():
        orders.put(edge_index, Order(edge_index._version, sum(nodes), sum(nodes), _hops(nodes, edges)))


def begin_of(edge_index: Any, nodes: Any, edges: Any, hops: int) -> Any:
    """The edges of the first hops, which are those to the vertices of hops before: a view, with what mark_order() noted where it is of the same batch."""
    begin = edge_index.narrow(1, 0, sum(edges[:hops]))
    order = _order_of(edge_index)
    if order is not None and order.hops == _hops(nodes, edges):
        orders.put(begin, Order(order.version, sum(nodes[:hops + 1]), sum(nodes[:hops]), order.hops, order))
    return begin


def can_keep(edge_index: Any) -> bool:
    """Whether what is made of the tensor may be kept with it: it tells of its changes, and what is made may be part of any graph of gradients."""
    return not torch.compiler.is_compiling() and not edge_index.is_inference() and not torch.is_inference_mode_enabled()


def adjacency_of(edge_index: Any, num_targets: int, num_sources: int) -> Adjacency:
    """The edges' Adjacency, kept with the tensor `edge_index` for as long as it stays as it is: layers of a model share it."""
    if isinstance(edge_index, Adjacency):
        if (edge_index.num_targets, edge_index.num_sources) != (num_targets, num_sources):
            raise ValueError(f"adjacency: got one from {edge_index.num_sources} to {edge_index.num_targets} vertices, expected from {num_sources} to {num_targets}")
        return edge_index
    if not can_keep(edge_index):
        return Adjacency(edge_index, num_targets, num_sources)
    is_of = (edge_index._version, num_targets, num_sources)
    kept = adjacencies.get(edge_index)
    if kept is None or kept[0] != is_of:
        kept = (is_of, Adjacency(edge_index, num_targets, num_sources))
        adjacencies.put(edge_index, kept)
    adjacency: Adjacency = kept[1]
    return adjacency
