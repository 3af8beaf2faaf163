# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric's layers on warren's operators.

Each is a subclass of PyTorch Geometric's of that name, so that arguments, parameters and initialisation are its own. The base class propagates by the types that they are told here. Where a call asks for what the
operators do not have (sparse tensors in place of edge_index, other aggregations, attention weights to be told), the base class computes it.
"""
from __future__ import annotations

import copy
from typing import Any

import torch
from torch.nn import functional
from torch.nn.modules import module
from torch.nn.parameter import UninitializedParameter
from torch_geometric import nn as pyg
from torch_geometric.nn.dense.linear import Linear
from torch_geometric.typing import OptPairTensor, OptTensor, PairTensor

from . import _functions, _operators
from ._adjacency import Adjacency, KeptWith, adjacency_of, can_keep
from ._distributed import DistributedAdjacency
from ._trim import begins_with


# Of PyTorch Geometric's MessagePassing: whoever has hung on to a part of a call wants to see it.
HOOKS = [f"_{part}_forward_{when}" for part in ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update") for when in ("pre_hooks", "hooks")]


def _is_plain(layer: Any, edge_index: Any, *tensors: Any) -> bool:
    """Whether nothing about the layer or the call needs messages of single edges."""
    if isinstance(edge_index, Adjacency):
        return True
    is_dense = isinstance(edge_index, torch.Tensor) and edge_index.layout == torch.strided and not getattr(edge_index, "is_sparse", False)
    return ((is_dense or isinstance(edge_index, DistributedAdjacency)) and layer.flow == "source_to_target"
            and not layer.explain and layer.decomposed_layers == 1 and all(tensor is None or tensor.dim() == 2 for tensor in tensors)
            and not any(len(getattr(layer, name, ())) for name in HOOKS))


def _edges_of(edge_index: Any, num_targets: int, num_sources: int, x: Any) -> Any:
    """The Adjacency of edge_index, which is where x is, or the DistributedAdjacency, which has looked at x."""
    if isinstance(edge_index, DistributedAdjacency):
        return edge_index
    source = edge_index.source if isinstance(edge_index, Adjacency) else edge_index
    _operators.check_device("x", x, source)
    _operators.check_memory("edge_index", source)
    return adjacency_of(edge_index, num_targets, num_sources)


def _refuse(edge_index: Any, reason: str) -> None:
    """Raises ValueError(reason); of a DistributedAdjacency in the other ranks' calls too."""
    if isinstance(edge_index, DistributedAdjacency):
        edge_index.refuse(reason)
    raise ValueError(reason)


def _check_size(edge_index: Any, size: Any, of_weights: str) -> None:
    """Raises ValueError unless `size` is None or a pair of numbers, of sources and of targets, either of which may be None. `of_weights`: what the layer does of weights of edges, which it is often given in its place."""
    if size is None:
        return
    if isinstance(size, torch.Tensor):
        if size.shape != (2,) or size.dtype.is_floating_point or size.dtype == torch.bool:
            _refuse(edge_index, f"size: got a tensor of {size.dtype} of shape {tuple(size.shape)}, expected a pair of numbers of sources and targets, or None: {of_weights}")
    elif not isinstance(size, (tuple, list)) or len(size) != 2 or not all(count is None or isinstance(count, (int, torch.SymInt)) for count in size):
        _refuse(edge_index, f"size: got {size!r}, expected a pair of numbers of sources and targets, or None")


def _check_fit(edge_index: Any, size: Any, source: Any, target: Any) -> None:
    """Raises ValueError unless there are as many rows of sources and targets (None: any number) as `size` says."""
    if size is None:
        return
    for name, count, rows in (("sources", size[0], source), ("targets", size[1], target)):
        if count is not None and rows is not None and int(count) != rows.shape[0]:
            _refuse(edge_index, f"size: got {int(count)} {name}, expected {rows.shape[0]}, the rows of x")


def _check_ranks(layer: Any, edge_index: Any, x: Any) -> None:
    """Of a DistributedAdjacency: raises ValueError, in the other ranks' calls too, unless x is the rank's own rows."""
    if not isinstance(edge_index, DistributedAdjacency):
        return
    if isinstance(x, (tuple, list)):
        edge_index.refuse(f"x: {type(layer).__name__} over several ranks got a pair, expected the rows of the rank's own vertices, which are sources and targets")
    edge_index.check(x)


def _check_alone(layer: Any, edge_index: Any) -> None:
    """Before PyTorch Geometric's code computes a call, which knows of no ranks. Raises ValueError, in the other ranks' calls too."""
    if isinstance(edge_index, DistributedAdjacency):
        edge_index.refuse(f"{type(layer).__name__}: this call is one that warren has no kernel for (another aggregation, attention weights to be told, hooks, "
                          "a type of x or of fill_value); expected one that it has, as others do not work over several ranks")


# Edges with loops, kept with the edges without.
_loops = KeptWith()


def _with_loops(edge_index: Any, num_targets: int, num_sources: int) -> Any:
    """edge_index with a loop at each vertex behind its own edges; kept with it."""
    loops = min(num_targets, num_sources)

    def made() -> Any:
        edges = edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index
        every = torch.arange(loops, device=edges.device, dtype=edges.dtype)
        return torch.cat([edges, every.expand(2, -1)], 1)

    if not can_keep(edge_index):
        return made()
    kept = _loops.get(edge_index)
    if kept is None or kept[0] != (edge_index._version, loops):
        kept = ((edge_index._version, loops), made())
        _loops.put(edge_index, kept)
    return kept[1]


class _Scriptable:
    """torch.jit.script() takes PyTorch Geometric's layer with the same parameters: TorchScript knows none of warren's operators."""

    def __prepare_scriptable__(self) -> Any:
        plain: Any = copy.copy(self)
        plain.__class__ = next(kind for kind in type(self).__mro__ if kind.__module__.startswith("torch_geometric."))
        if isinstance(self, GCNConv):
            del plain.__dict__["_kept_norm"], plain.__dict__["_kept_of_base"]
            plain._cached_edge_index = None
        plain._set_jittable_templates()
        return plain


def _is_bare(linear: Any) -> bool:
    """Whether the layer is a product, and perhaps a bias, that nobody looks at: it may be computed with what comes before or after it."""
    return (type(linear) is Linear and not isinstance(linear.weight, UninitializedParameter)
            and not any(getattr(linear, name) or getattr(module, f"_global{name}") for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")))


def _plus_product(out: Any, x: Any, linear: Any, made_by: Any) -> Any:
    """out + linear(x); `out`, which the layer `made_by` gave, is added to where it is, unless somebody sees it: the product takes it along, which saves two passes over it."""
    is_plain = (not torch.compiler.is_compiling() and _is_bare(linear) and linear.bias is None and _is_bare(made_by) and not out._is_view() and x.dim() == out.dim() == 2 and out.dtype == x.dtype == linear.weight.dtype
                and not torch.is_autocast_enabled(x.device.type))
    return out.addmm_(x, linear.weight.t()) if is_plain else out + linear(x)


class GCNConv(_Scriptable, pyg.GCNConv):  # type: ignore[misc]
    """x' = D^-1/2 (A + I) D^-1/2 x W + b, as torch_geometric.nn.GCNConv, whose arguments and parameters it has; edge weights too.

    edge_index may be an Adjacency, then without edge weights of its own loops, or a DistributedAdjacency with the weights of all edges. Agrees with PyTorch Geometric's to the rounding of float32. x may be a pair, of sources and of targets, which are the first sources
    (trim_to_layer()); other sources then count as vertices without in-edges. PyTorch Geometric's takes no pairs.
    """

    propagate_type = {"x": torch.Tensor, "edge_weight": OptTensor}

    _kept_norm: Any
    _kept_of_base: Any

    @property
    def _cached_edge_index(self) -> Any:
        """What the base class keeps with `cached`. Who sets it to None, as programs do for another graph, empties both."""
        return self._kept_of_base

    @_cached_edge_index.setter
    def _cached_edge_index(self, value: Any) -> None:
        self._kept_of_base = value
        if value is None:
            self._kept_norm = None

    def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
        _check_ranks(self, edge_index, x)
        x, target = x if isinstance(x, (tuple, list)) else (x, x)
        is_pair = target is not x
        if (is_pair and (self.cached or target is None)) or not _is_plain(self, edge_index, x, target) or (edge_weight is not None and edge_weight.dim() != 1):
            _check_alone(self, edge_index)
            return super().forward((x, target) if is_pair else x, edge_index, edge_weight)
        if isinstance(edge_index, DistributedAdjacency):
            return self._over_ranks(x, edge_index, edge_weight)
        count = target.shape[0]
        if is_pair and x.shape[0] < count:
            raise ValueError(f"x: got {x.shape[0]} sources and {count} targets, expected targets that are the first sources")
        if self.normalize and self.cached and self._kept_norm is not None and isinstance(self._kept_norm[0], Adjacency):
            adjacency, values, loops, scale = self._kept_norm
        else:
            adjacency = _edges_of(edge_index, count, x.shape[0], x)
            if edge_weight is not None:
                if edge_weight.shape[0] != adjacency.num_edges:
                    raise ValueError(f"edge_weight: got {edge_weight.shape[0]} weights, expected one for each of {adjacency.num_edges} edges")
                _operators.check_device("edge_weight", edge_weight, adjacency.source)
            values, loops, scale = self._norm(adjacency, edge_weight, x.dtype)
            if self.normalize and self.cached:
                self._kept_norm = (adjacency, values, loops, scale)
        if scale is None:
            out = _functions.spmm(adjacency, self.lin(x), values)
        else:
            of_sources = self._scale_of_sources(scale, x.shape[0], edge_weight)
            if self._sums_first(x) and scale is of_sources and _operators.takes_scaled_spmm(x, values, scale):
                out = _functions.normalized(adjacency, x, values, scale, loops, of_sources)
                if not torch.compiler.is_compiling() and _is_bare(self.lin) and self.lin.bias is None:
                    return functional.linear(out, self.lin.weight, self.bias)
                out = self.lin(out)
            else:
                out = _functions.normalized(adjacency, self.lin(x), values, scale, loops, of_sources)
        return out.contiguous() if self.bias is None else out + self.bias

    def _over_ranks(self, x: Any, adjacency: DistributedAdjacency, weight: Any) -> Any:
        """Degrees and loops are of the rank's own vertices, and what weighs a source is applied where it is."""
        kept = self._kept_norm if self.normalize and self.cached else None
        if kept is not None and isinstance(kept[0], DistributedAdjacency):
            adjacency, weight, loops, scale = kept
        else:
            _, loops, scale = self._norm(adjacency.local, adjacency.part_of(weight, "edge_weight"), x.dtype)
            if self.normalize and self.cached:
                self._kept_norm = (adjacency, weight, loops, scale)
        is_first = self._sums_first(x)
        x = x if is_first else self.lin(x)
        x = x if scale is None else x * scale
        out = _functions.spmm_over_ranks(adjacency, x, weight, drops_loops=loops is not None)
        out = out if loops is None else out + x * loops
        out = out if scale is None else out * scale
        out = self.lin(out) if is_first else out
        return out if self.bias is None else out + self.bias

    def _sums_first(self, x: Any) -> bool:
        """Whether sums of x's rows are over no more columns, forward and backward together, than those of x W: the product then adds the bias. Rows that need no gradients are summed forward alone."""
        weight = self.lin.weight
        return (x.layout == torch.strided and (torch.compiler.is_compiling() or _is_bare(self.lin)) and not isinstance(weight, UninitializedParameter)
                and bool(x.shape[1] * (1 + x.requires_grad) <= weight.shape[0] * (1 + weight.requires_grad)))

    def _scale_of_sources(self, scale: Any, sources: int, weight: Any) -> Any:
        """D^-1/2 of all sources, from the targets': the others have their added loop alone."""
        if sources == scale.shape[0]:
            return scale
        fill = (2.0 if self.improved and weight is not None else 1.0) if self.add_self_loops else torch.inf
        return torch.cat([scale, scale.new_full((sources - scale.shape[0], 1), fill**-0.5)])

    def _norm(self, adjacency: Adjacency, weight: Any, dtype: Any) -> tuple[Any, Any, Any]:
        """Values of the edges (None: ones), weights of the loops and D^-1/2, each a column. Loops that the graph has, of weights, stand for the added ones."""
        count = adjacency.num_targets
        if not self.normalize:
            return weight, None, None
        loops, values = None, weight
        if self.add_self_loops:
            # As PyTorch Geometric has it: `improved` without weights changes nothing.
            fill = 2.0 if self.improved and weight is not None else 1.0
            is_loop = adjacency.source == adjacency.target
            loops = torch.full((count, 1), fill, dtype=dtype, device=adjacency.source.device)
            if torch.compiler.is_compiling() or bool(is_loop.any()):
                ones = torch.ones(is_loop.shape, dtype=dtype, device=is_loop.device) if weight is None else weight
                values = torch.where(is_loop, 0, ones)
                # Edges that are no loops write behind the last vertex.
                place = torch.where(is_loop, adjacency.target, count)
                padded = torch.cat([loops.view(-1), loops.new_zeros(1)])
                loops = padded.scatter(0, place, ones.to(dtype))[:-1].view(-1, 1)
        if values is None:
            degree = adjacency.degree.to(dtype)
        else:
            degree = torch.zeros(count, dtype=values.dtype, device=values.device).index_add(0, adjacency.target, values)
        if loops is not None:
            degree = degree + loops.view(-1)
        scale = degree.pow(-0.5)
        return values, loops, scale.masked_fill(scale == torch.inf, 0).view(-1, 1)


class SAGEConv(_Scriptable, pyg.SAGEConv):  # type: ignore[misc]
    """x' = W_l mean of the neighbours' x + W_r x, as torch_geometric.nn.SAGEConv, whose arguments and parameters it has; also "sum", "add" and "max".

    x may be a pair, of sources and targets; edge_index may be an Adjacency or a DistributedAdjacency.

    edge_weight: (m,), a number w an edge, in the order of edge_index (of a DistributedAdjacency of all its edges), for "mean", "sum" and "add"; PyTorch Geometric's layer takes none. The sum over v's in-edges e = (u, v)
    is then that of w_e x_u, and the mean that sum over the number of v's in-edges, as `warren train --edge-weights` has it: no weighted mean, so that weights twice as large make it twice as large. Weights are converted to the type of x.
    Differentiable in x and edge_weight. Raises ValueError for weights with "max" and others, or where only PyTorch Geometric's own code computes the call, and for a `size` that is no pair of numbers or that x does not fit.
    """

    propagate_type = {"x": OptPairTensor}

    def forward(self, x: Any, edge_index: Any, size: Any = None, *, edge_weight: Any = None) -> Any:
        _check_ranks(self, edge_index, x)
        _check_size(edge_index, size, "weights of edges are edge_weight=")
        pair = (x, x) if isinstance(x, torch.Tensor) else x
        aggregation = {"add": "sum"}.get(self.aggr, self.aggr) if isinstance(self.aggr, str) else None
        if edge_weight is not None and aggregation not in ("sum", "mean"):
            _refuse(edge_index, f'edge_weight: got weights with aggr={self.aggr!r}, expected None, or "mean", "sum" or "add"')
        if aggregation not in ("sum", "mean", "max") or pair[1] is None and (size is None or size[1] is None) or not _is_plain(self, edge_index, *pair):
            if edge_weight is not None:
                _refuse(edge_index, "edge_weight: got weights in a call that PyTorch Geometric's own code computes, which takes none (a sparse edge_index, hooks, explanations, another flow, targets without a number), expected None")
            _check_alone(self, edge_index)
            return super().forward(x, edge_index, size)
        source, target = pair
        _check_fit(edge_index, size, source, target)
        if self.project and hasattr(self, "lin"):
            source = self.lin(source).relu()
        count = target.shape[0] if target is not None else int(size[1])
        adjacency = _edges_of(edge_index, count, source.shape[0], source)
        edge_weight = None if edge_weight is None else self._weights(edge_weight, adjacency, source)
        weight = self.lin_l.weight
        # Sums go by the narrower side.
        is_product = not isinstance(weight, UninitializedParameter) and (torch.compiler.is_compiling() or _is_bare(self.lin_l))
        if aggregation != "max" and is_product and weight.shape[0] < weight.shape[1]:
            out = _functions.spmm(adjacency, functional.linear(source, weight), edge_weight, reduce=aggregation)
            out = out if self.lin_l.bias is None else out + self.lin_l.bias
        elif aggregation != "max" and edge_weight is None and isinstance(adjacency, Adjacency) and _operators.takes_sums(source):
            begins = target is not None and begins_with(source, target)
            sums, own = _operators.call_sums(adjacency, source, adjacency.inverse_degree if aggregation == "mean" else None, count if begins else 0)
            target = own if begins else target
            out = self.lin_l(sums)
        else:
            out = self.lin_l(_functions.spmm(adjacency, source, edge_weight, reduce=aggregation))
        if self.root_weight and target is not None:
            out = _plus_product(out, target, self.lin_r, self.lin_l)
        return functional.normalize(out, p=2.0, dim=-1) if self.normalize else out

    def _weights(self, edge_weight: Any, adjacency: Any, source: Any) -> Any:
        """The weights in the type of the rows; over ranks, which keep what they make of the tensor, as they are."""
        if not isinstance(edge_weight, torch.Tensor) or edge_weight.shape != (adjacency.num_edges,) or not edge_weight.dtype.is_floating_point:
            got = f"{edge_weight.dtype} of shape {tuple(edge_weight.shape)}" if isinstance(edge_weight, torch.Tensor) else type(edge_weight).__name__
            _refuse(adjacency, f"edge_weight: got {got}, expected floating-point numbers of shape ({adjacency.num_edges},), one for each edge")
        if isinstance(adjacency, DistributedAdjacency):
            return edge_weight
        _operators.check_device("edge_weight", edge_weight, adjacency.source)
        return edge_weight.to(source.dtype)


class GINConv(_Scriptable, pyg.GINConv):  # type: ignore[misc]
    """x' = nn((1 + eps) x + the sum of the neighbours' x), as torch_geometric.nn.GINConv, whose arguments and parameters it has. edge_index may be an Adjacency or a DistributedAdjacency.

    Raises ValueError for a `size` that is no pair of numbers or that x does not fit: it takes no weights of edges.
    """

    propagate_type = {"x": OptPairTensor}

    def forward(self, x: Any, edge_index: Any, size: Any = None) -> Any:
        _check_ranks(self, edge_index, x)
        _check_size(edge_index, size, "GINConv takes no weights of edges")
        pair = (x, x) if isinstance(x, torch.Tensor) else x
        if self.aggr not in ("add", "sum") or pair[1] is None or not _is_plain(self, edge_index, *pair):
            _check_alone(self, edge_index)
            return super().forward(x, edge_index, size)
        source, target = pair
        _check_fit(edge_index, size, source, target)
        out = _functions.spmm(_edges_of(edge_index, target.shape[0], source.shape[0], source), source)
        return self.nn(out + (1 + self.eps) * target)


class _Attention(_Scriptable):
    """What both kinds of attention have in common."""

    heads: int
    out_channels: int
    add_self_loops: bool
    fill_value: Any
    concat: bool
    dropout: float
    training: bool
    bias: Any
    lin_edge: Any
    edge_dim: int | None

    def _check_attributes(self, edge_index: Any, edge_attr: Any) -> None:
        """Raises ValueError unless there is a row an edge; of a DistributedAdjacency in the other ranks' calls too."""
        if edge_attr is None:
            return
        count = edge_index.num_edges if isinstance(edge_index, DistributedAdjacency) else edge_index.shape[1]
        if edge_attr.dim() not in (1, 2) or edge_attr.shape[0] != count:
            _refuse(edge_index, f"edge_attr: got shape {tuple(edge_attr.shape)}, expected ({count}, k) or ({count},), a row for each edge")
        columns = None if self.lin_edge is None else self.edge_dim
        if columns is not None and columns > 0 and (edge_attr.shape[1] if edge_attr.dim() == 2 else 1) != columns:
            _refuse(edge_index, f"edge_attr: got shape {tuple(edge_attr.shape)}, expected ({count}, {columns}): the layer was made with edge_dim={columns}")

    def _edges(self, edge_index: Any, edge_attr: Any, x: Any, targets: int, sources: int) -> tuple[Adjacency, Any, Any]:
        """The edges with loops, their attributes, and which of them are loops of the graph's own, which the added ones stand for; None: none are. They are where x is."""
        if edge_attr is not None:
            _operators.check_device("edge_attr", edge_attr, edge_index)
        if not self.add_self_loops:
            return _edges_of(edge_index, targets, sources, x), edge_attr, None
        count = edge_index.shape[1]
        extended = _with_loops(edge_index, targets, sources)
        adjacency = _edges_of(extended, targets, sources, x)
        is_old = adjacency.source == adjacency.target
        is_old = torch.cat([is_old[:count], torch.zeros_like(is_old[count:])])
        if edge_attr is not None:
            edge_attr = edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr
            loops = extended.shape[1] - count
            if self.fill_value == "mean":
                kept = (~is_old[:count]).to(edge_attr.dtype).view(-1, 1)
                zeros = torch.zeros((targets, 1 + edge_attr.shape[1]), dtype=edge_attr.dtype, device=edge_attr.device)
                sums = zeros.index_add(0, adjacency.target[:count], torch.cat([kept, edge_attr * kept], 1))
                filled = (sums[:, 1:] / sums[:, :1].clamp(min=1))[:loops]
            else:
                filled = edge_attr.new_full((loops, edge_attr.shape[1]), float(self.fill_value))
            edge_attr = torch.cat([edge_attr, filled])
        return adjacency, edge_attr, is_old

    def _at_rank(self, x_source: Any, edge_index: Any, edge_attr: Any) -> tuple[Any, Any, Any]:
        """Of a DistributedAdjacency all sources of the rank's in-edges, these edges and their attributes; else the same."""
        if not isinstance(edge_index, DistributedAdjacency):
            return x_source, edge_index, edge_attr
        return edge_index.with_halo(x_source), edge_index.local_edges, edge_index.part_of(edge_attr)

    def _attend(self, adjacency: Adjacency, scores: Any, is_old: Any, values: Any, rest: Any) -> Any:
        if is_old is not None:
            scores = scores.masked_fill(is_old.view(-1, 1), -torch.inf)
        alpha = functional.dropout(_functions.edge_softmax(adjacency, scores), self.dropout, self.training)
        out = _functions.spmm(adjacency, values, alpha)
        out = out.flatten(1) if self.concat else out.mean(1)
        out = out if rest is None else out + rest
        return out if self.bias is None else out + self.bias

    def _is_ours(self, edge_index: Any, edge_attr: Any, told: Any, *tensors: Any) -> bool:
        return (told is None and not isinstance(edge_index, Adjacency) and None not in tensors and _is_plain(self, edge_index, *tensors)
                and (edge_attr is None or self.fill_value == "mean" or isinstance(self.fill_value, (int, float))))


class GATConv(_Attention, pyg.GATConv):  # type: ignore[misc]
    """x'[v] = the sum over in-edges (u, v) and a loop of alpha x[u] W, alpha the softmax of a(x[u] W, x[v] W), as torch_geometric.nn.GATConv, whose
    arguments and parameters it has; edge features too. x may be a pair, of sources and targets; edge_index may be a DistributedAdjacency, with the features of all edges."""

    propagate_type = {"x": OptPairTensor, "alpha": torch.Tensor}
    edge_updater_type = {"alpha": OptPairTensor, "edge_attr": OptTensor}

    def forward(self, x: Any, edge_index: Any, edge_attr: Any = None, size: Any = None, return_attention_weights: Any = None) -> Any:
        _check_ranks(self, edge_index, x)
        source, target = (x, x) if isinstance(x, torch.Tensor) else x
        if size is not None or not self._is_ours(edge_index, edge_attr, return_attention_weights, source, target):
            _check_alone(self, edge_index)
            return super().forward(x, edge_index, edge_attr, size, return_attention_weights)
        self._check_attributes(edge_index, edge_attr)
        rest = None if self.res is None else self.res(target)
        shape = (-1, self.heads, self.out_channels)
        if self.lin is not None:
            x_source = self.lin(source).view(shape)
            x_target = x_source if target is source else self.lin(target).view(shape)
        else:
            x_source, x_target = self.lin_src(source).view(shape), self.lin_dst(target).view(shape)
        x_source, edge_index, edge_attr = self._at_rank(x_source, edge_index, edge_attr)
        adjacency, edge_attr, is_old = self._edges(edge_index, edge_attr, x_source, x_target.shape[0], x_source.shape[0])
        scores = (x_source * self.att_src).sum(-1)[adjacency.source] + (x_target * self.att_dst).sum(-1)[adjacency.target]
        if edge_attr is not None and self.lin_edge is not None:
            edge_attr = edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr
            scores = scores + (self.lin_edge(edge_attr).view(shape) * self.att_edge).sum(-1)
        return self._attend(adjacency, functional.leaky_relu(scores, self.negative_slope), is_old, x_source, rest)


class GATv2Conv(_Attention, pyg.GATv2Conv):  # type: ignore[misc]
    """x'[v] = the sum over in-edges (u, v) and a loop of alpha x[u] W_l, alpha the softmax of a leaky_relu(x[u] W_l + x[v] W_r), as
    torch_geometric.nn.GATv2Conv, whose arguments and parameters it has; edge features too. x may be a pair, of sources and targets; edge_index may be a DistributedAdjacency, with the features of all edges."""

    propagate_type = {"x": PairTensor, "alpha": torch.Tensor}
    edge_updater_type = {"x": PairTensor, "edge_attr": OptTensor}

    def forward(self, x: Any, edge_index: Any, edge_attr: Any = None, return_attention_weights: Any = None) -> Any:
        _check_ranks(self, edge_index, x)
        source, target = (x, x) if isinstance(x, torch.Tensor) else x
        if not self._is_ours(edge_index, edge_attr, return_attention_weights, source, target):
            _check_alone(self, edge_index)
            return super().forward(x, edge_index, edge_attr, return_attention_weights)
        if edge_attr is not None and self.lin_edge is None:
            _refuse(edge_index, f"edge_attr: got shape {tuple(edge_attr.shape)} in a layer made without edge_dim, expected None, or a GATv2Conv(edge_dim=...)")
        self._check_attributes(edge_index, edge_attr)
        rest = None if self.res is None else self.res(target)
        shape = (-1, self.heads, self.out_channels)
        x_source = self.lin_l(source).view(shape)
        x_target = x_source if self.share_weights and target is source else self.lin_r(target).view(shape)
        x_source, edge_index, edge_attr = self._at_rank(x_source, edge_index, edge_attr)
        adjacency, edge_attr, is_old = self._edges(edge_index, edge_attr, x_source, x_target.shape[0], x_source.shape[0])
        mixed = x_source[adjacency.source] + x_target[adjacency.target]
        if edge_attr is not None:
            edge_attr = edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr
            mixed = mixed + self.lin_edge(edge_attr).view(shape)
        scores = (functional.leaky_relu(mixed, self.negative_slope) * self.att).sum(-1)
        return self._attend(adjacency, scores, is_old, x_source, rest)
