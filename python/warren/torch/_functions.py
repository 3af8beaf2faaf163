# SPDX-License-Identifier: Apache-2.0
"""The operators as functions, over an Adjacency."""
from __future__ import annotations

from typing import Any

import torch

from .._session import choice
from . import _operators
from ._adjacency import Adjacency, flat
from ._distributed import DistributedAdjacency

REDUCTIONS = {"sum": 0, "mean": 1, "max": 2, "min": 3}


def spmm(adjacency: Adjacency | DistributedAdjacency, x: Any, values: Any = None, reduce: str = "sum") -> Any:
    """out[v] = the sum over v's in-edges e = (u, v) of values[e] x[u]; or their mean or their largest, element by element.

    x: (sources, k), or (sources, heads, k). values: (m,), or (m, heads), in the order of edge_index; None: ones; none may be given for "max".
    reduce: "sum", "mean" (by the number of in-edges) or "max"; 0 for a vertex without in-edges. out: (targets, ...) of x's type, on its device.
    Differentiable in x and values, twice too but for "max", whose gradient goes to the first among equals. Sums are float32 (of float64 float64). On the engine it repeats
    bit for bit. On a GPU it does not wait. Raises ValueError for shapes, types and devices that do not go together.

    Of a DistributedAdjacency x and out are the rank's own rows, and values those of all edges, (m,). The call is collective, and waits on a GPU.
    """
    if choice("reduce", reduce, REDUCTIONS) == REDUCTIONS["min"]:
        raise ValueError('reduce: got "min", expected "sum", "mean" or "max"')
    if isinstance(adjacency, DistributedAdjacency):
        return spmm_over_ranks(adjacency, x, values, reduce)
    _check_rows("x", x, adjacency.num_sources)
    if reduce == "max":
        if values is not None:
            raise ValueError("values: got some, expected None: the largest is of the sources' rows as they are")
        largest, _ = _operators.row_max(x.flatten(1), adjacency.by_target[0], adjacency.by_target[1])
        return largest.view(adjacency.num_targets, *x.shape[1:])
    by_heads = x if x.dim() == 3 else x.unsqueeze(1)
    if values is not None:
        values = values if values.dim() == 2 else values.view(-1, 1)
        if values.shape != (adjacency.num_edges, by_heads.shape[1]):
            raise ValueError(f"values: got shape {tuple(values.shape)}, expected ({adjacency.num_edges}, {by_heads.shape[1]}), a value an edge and head")
    out = _operators.call_spmm(by_heads, values, *adjacency.structures(x, values))
    out = out if x.dim() == 3 else out.squeeze(1)
    if reduce == "mean":
        out = adjacency.mean_of(out)
    return out


def spmm_over_ranks(adjacency: DistributedAdjacency, x: Any, values: Any, reduce: str = "sum", drops_loops: bool = False) -> Any:
    """spmm() of a DistributedAdjacency; without the graph's own loops where they are dropped."""
    if reduce == "max":
        return spmm(adjacency.local, adjacency.with_halo(x), values, "max")
    if values is not None and values.requires_grad and torch.is_grad_enabled():
        own = adjacency.part_of(values, "values")
        own = torch.where(adjacency.part_of(adjacency.is_loop), 0, own) if drops_loops else own
        out = spmm(adjacency.local, adjacency.with_halo(x), own.to(x.dtype))
    else:
        out = adjacency.sum(x, values, drops_loops)
    return adjacency.local.mean_of(out) if reduce == "mean" else out


def normalized(adjacency: Adjacency, x: Any, values: Any, scale: Any, loops: Any, of_sources: Any) -> Any:
    """S (A + L) S' x: S the diagonal of `scale`, L that of `loops` (None: zeros), columns of a row a target, and S' that of `of_sources`, a row a source, of which targets are the first.

    By one pass over the edges where the two are one (`scale is of_sources`) and the engine can.
    """
    if scale is of_sources and _operators.takes_scaled_spmm(x, values, scale):
        values = None if values is None else values.contiguous()
        scale = scale.reshape(-1).contiguous()
        loops = None if loops is None else loops.reshape(-1).contiguous()
        return _operators.call_scaled_spmm(x, values, scale, loops, *adjacency.structures(x))
    x = x * of_sources
    out = spmm(adjacency, x, values)
    return (out if loops is None else out + x[:adjacency.num_targets] * loops) * scale


def sddmm(adjacency: Adjacency, x: Any, y: Any) -> Any:
    """out[e] = <x[v], y[u]> for each edge e = (u, v), in the order of edge_index.

    x: (targets, k) or (targets, heads, k); y: (sources, ...) likewise. out: (m,), or (m, heads). The rest as of spmm().
    """
    _check_rows("x", x, adjacency.num_targets)
    _check_rows("y", y, adjacency.num_sources)
    if x.shape[1:] != y.shape[1:]:
        raise ValueError(f"y: got rows of shape {tuple(y.shape[1:])}, expected x's, {tuple(x.shape[1:])}")
    structures = adjacency.structures(x, y)
    if x.dim() == 3:
        return _operators.call_sddmm(x, y, *structures)
    return _operators.call_sddmm(x.unsqueeze(1), y.unsqueeze(1), *structures).squeeze(1)


def edge_softmax(adjacency: Adjacency, x: Any) -> Any:
    """out[e] = exp(x[e]) / the sum of exp(x[f]) over the edges f with e's target, head by head, in the order of edge_index.

    x: (m,) or (m, heads). The largest of each target is taken off first. -infinity among numbers gives 0; a target of which one x is NaN or +infinity, or
    all are -infinity, has NaN. Differentiable once. The rest as of spmm().
    """
    if x.dim() not in (1, 2) or x.shape[0] != adjacency.num_edges:
        raise ValueError(f"x: got shape {tuple(x.shape)}, expected ({adjacency.num_edges},) or ({adjacency.num_edges}, heads), a number an edge")
    ptr, _, edge = adjacency.by_target
    if x.dim() == 2:
        return _operators.edge_softmax(x, ptr, edge)
    return _operators.edge_softmax(x.unsqueeze(1), ptr, edge).squeeze(1)


def segment_reduce(x: Any, ptr: Any, reduce: str = "sum") -> Any:
    """out[s] = the sum, mean, largest or smallest of the rows x[ptr[s]:ptr[s + 1]], element by element; 0 for a segment without rows.

    x: (n, ...); ptr: integers, ascending from 0 to n, one more than segments. out: (segments, ...). Differentiable; the rest as of spmm().
    Raises ValueError for a `ptr` that is none, under torch.compile too; on a GPU it waits for that.
    """
    kind = choice("reduce", reduce, REDUCTIONS)
    if ptr.dim() != 1 or ptr.numel() == 0 or ptr.dtype.is_floating_point or x.dim() == 0:
        raise ValueError(f"ptr: got {ptr.dtype} of shape {tuple(ptr.shape)}, expected integers, one more than segments")
    if ptr.device != x.device:
        raise ValueError(f"ptr: got a tensor on {ptr.device}, expected one on {x.device}, where x is")
    _operators.check_memory("ptr", ptr)
    ptr = _operators.call_segments(ptr, x.shape[0])
    rows = flat(x)
    places = torch.arange(x.shape[0], device=x.device, dtype=torch.int32)
    if kind >= REDUCTIONS["max"]:
        sign = 1 if reduce == "max" else -1
        out = sign * _operators.row_max(sign * rows, ptr, places)[0]
    else:
        counts = ptr[1:] - ptr[:-1]
        # The transpose has one entry a row: the segment that the row is in.
        segment = torch.repeat_interleave(torch.arange(counts.numel(), device=x.device, dtype=torch.int32), counts, output_size=x.shape[0])
        every = torch.arange(x.shape[0] + 1, device=x.device)
        out = _operators.call_spmm(rows.unsqueeze(1), None, ptr, places, every[:-1], every, segment, every[:-1]).squeeze(1)
        out = out / counts.clamp(min=1).to(out.dtype).unsqueeze(-1) if reduce == "mean" else out
    return out.view(ptr.numel() - 1, *x.shape[1:])


def gather(table: Any, ids: Any, sparse_grad: bool = False) -> Any:
    """out[i] = table[ids[i]]: rows by their numbers, on the table's device.

    table: (n, ...) of any type. ids: integers of any shape, from 0, on the same device. sparse_grad: the gradient of `table` is a sparse tensor with the rows that were
    taken, for torch.optim.SparseAdam and the like. Raises IndexError for an id that is no row, on a GPU, too, where it waits for that.
    """
    if ids.dtype.is_floating_point or ids.dtype == torch.bool:
        raise ValueError(f"ids: got {ids.dtype}, expected integers")
    if ids.device != table.device:
        raise ValueError(f"ids: got a tensor on {ids.device}, expected one on {table.device}, where the table is")
    return _operators.gather(table, ids, bool(sparse_grad))


def _check_rows(name: str, x: Any, rows: int) -> None:
    if x.dim() not in (2, 3) or x.shape[0] != rows:
        raise ValueError(f"{name}: got shape {tuple(x.shape)}, expected ({rows}, k) or ({rows}, heads, k)")
    if not x.dtype.is_floating_point:
        raise ValueError(f"{name}: got {x.dtype}, expected real numbers of floating point")
