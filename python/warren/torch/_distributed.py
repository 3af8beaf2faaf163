# SPDX-License-Identifier: Apache-2.0
"""The edges of a whole graph over ranks that are processes, each of which has the rows of its own vertices, as layers take them in place of edge_index.

Sums over in-edges are products of the engine, whose strategies bring the rows of other ranks. What needs messages of single edges (attention, maxima, weights with gradients)
pulls those rows, and works on the rank's own in-edges, from its vertices and the halo's to its vertices.
"""
from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import _core
from .._arrays import whole_number
from .._build import from_edges
from .._multiply import STRATEGIES
from .._processes import ranks_of
from .._session import Session, choice, run_of
from . import _operators
from ._adjacency import Adjacency


# Tensors of edge weights whose matrices an adjacency keeps.
MOST_WEIGHTS = 4


class DistributedAdjacency:
    """The edges of `edge_index` (2 x m, from sources to targets) of a graph of `num_nodes` vertices, cut into ranges of vertices with about as many in-edges each: one for each
    process that warren.join_processes() joined, or all for a process alone.

    All ranks give the same whole edge_index, on the CPU or each on its own GPU, where the ranks then work. Making one is collective, and so are a layer's forward and backward: all ranks
    call them in the same order. `strategy`: how rows cross between ranks, as of spmm() of a graph; "auto" measures at the first product each way. A rank has its own in-edges and
    out-edges on its device, and the whole graph both ways in host memory; it keeps edge_index, which must not be written. On a GPU calls wait for their results.

    own: the slice of the rank's vertices, for x[own] and y[own]. halo: the vertices of other ranks that its in-edges come from. edges: its in-edges, as places of edge_index.
    local: the Adjacency of these, from own vertices and then the halo's to own vertices. is_loop: of each edge of edge_index whether it is a loop; has_loops: whether one is.

    Raises ValueError for another shape, and, on all ranks alike, where ranks give different edges; IndexError for an id out of range; TeamError where another rank fails.
    """

    def __init__(self, edge_index: Any, num_nodes: int, strategy: str = "auto", session: Session | None = None):
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype.is_floating_point:
            raise ValueError(f"edge_index: got {edge_index.dtype} of shape {tuple(edge_index.shape)}, expected integers of shape (2, m)")
        _check_joined()
        choice("strategy", strategy, STRATEGIES)
        self.num_nodes, self.num_edges = whole_number("num_nodes", num_nodes, 0, "a number of vertices"), int(edge_index.shape[1])
        if self.num_edges > 0:
            low, high = torch.stack(edge_index.aminmax()).tolist()
            if low < 0 or high >= self.num_nodes:
                raise IndexError(f"edge_index: got the id {low if low < 0 else high}, expected ids of 0 to {self.num_nodes - 1}")
        edges = (edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index).detach()
        self._strategy, self._session = strategy, session
        self._source, self._target = edges.long().unbind(0)
        self.is_loop = self._source == self._target
        self.has_loops = bool(self.is_loop.any())
        self._whole = self._graph(None)
        self._weighted: dict[tuple[int | None, bool], tuple[Any, int | None, _core.DistributedGraph]] = {}
        first, rows = self._whole.first, self._whole.rows
        self.own = slice(first, first + rows)
        self.halo = torch.from_numpy(self._whole.halo).to(edges.device)
        self.edges = ((self._target >= first) & (self._target < first + rows)).nonzero().view(-1)
        place = torch.empty(self.num_nodes, dtype=torch.long, device=edges.device)
        place[self.own] = torch.arange(rows, device=edges.device)
        place[self.halo] = torch.arange(rows, rows + len(self.halo), device=edges.device)
        self.local_edges = torch.stack([place[self._source[self.edges]], self._target[self.edges] - first])
        self.local = Adjacency(self.local_edges, rows, rows + len(self.halo))

    @property
    def num_own(self) -> int:
        """How many vertices the rank owns."""
        return self.local.num_targets

    @property
    def strategy(self) -> str:
        """By which sums are computed; "" before the first one of "auto", "local" of one rank."""
        return self._whole.strategy(False)

    def part_of(self, values: Any, name: str = "edge_attr") -> Any:
        """The rank's part of values of all edges (m, ...), those of its in-edges; None of None."""
        if values is None:
            return None
        if values.shape[0] != self.num_edges:
            self.refuse(f"{name}: got {values.shape[0]} rows, expected one for each of the {self.num_edges} edges of the whole graph")
        if values.device != self.edges.device:
            self.refuse(f"{name}: got a tensor on {values.device}, expected one on {self.edges.device}, where edge_index is")
        return values[self.edges]

    def pull(self, x: Any) -> Any:
        """The halo's rows of x, which are the ranks' own ones: (halo, ...) of (own, ...). Its gradient adds up, with the owners, what ranks make of their halo's. Collective."""
        return self._run(x, lambda rows: _Move.apply(rows, self._whole, len(self.halo), False))

    def with_halo(self, x: Any) -> Any:
        """x, and behind it the halo's rows of it: sources as `local` has them. Collective."""
        return torch.cat([x, self.pull(x)])

    def sum(self, x: Any, weight: Any = None, drops_loops: bool = False) -> Any:
        """out[v] = the sum over v's in-edges e = (u, v) of weight[e] x[u], for own vertices: (own, ...) of (own, ...). Collective.

        weight: of all edges, (m,), without gradients; None: ones. drops_loops: without the graph's own loops. The matrix of a weight is kept for as long as that is the same tensor and is not written.
        """
        drops_loops = drops_loops and self.has_loops
        core = self._whole if weight is None and not drops_loops else self._weighted_graph(weight, drops_loops)
        return self._run(x, lambda rows: _Multiply.apply(rows, core, False))

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def check(self, x: Any) -> None:
        """Raises ValueError, in the other ranks' calls too, unless x has a row of real numbers for each own vertex."""
        if not isinstance(x, torch.Tensor):
            self.refuse(f"x: got {type(x).__name__}, expected a tensor with a row for each of the rank's own vertices")
        if x.layout != torch.strided or x.dim() < 2 or x.shape[0] != self.num_own:
            self.refuse(f"x: rank of vertices {self.own.start} to {self.own.stop} got shape {tuple(x.shape)}, expected ({self.num_own}, ...), a row for each of them")
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            self.refuse(f"x: got {x.dtype}, expected float32, float16 or bfloat16: rows are moved and added up in float32")
        if x.device != self.halo.device:
            self.refuse(f"x: got a tensor on {x.device}, expected one on {self.halo.device}, where edge_index is")

    def refuse(self, reason: str) -> None:
        """Raises ValueError(reason), in the other ranks' calls too."""
        self._whole.refuse(reason)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _run(self, x: Any, work: Any) -> Any:
        self.check(x)
        rows = x.float().flatten(1)
        if rows.shape[1] == 0:
            self.refuse("x: got no columns, expected one or more")
        out = work(rows)
        return out.view(-1, *x.shape[1:]).to(x.dtype)

    def _graph(self, weight: Any) -> _core.DistributedGraph:
        """The matrix whose row v holds v's in-edges."""
        graph = from_edges(self._target.cpu(), self._source.cpu(), None if weight is None else weight.float().cpu(), self.num_nodes, keep_duplicates=True)
        device = self._source.device
        run = run_of("auto", "auto", device.type, "auto", self._session)
        return _core.DistributedGraph(graph._core, weight is not None, self._strategy, device.index or 0, run)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _weighted_graph(self, weight: Any, drops_loops: bool) -> _core.DistributedGraph:
        # Of tensors of inference mode nobody knows whether they are written.
        version = 0 if weight is None else None if weight.is_inference() else weight._version
        key = (None if weight is None else id(weight), drops_loops)
        kept = self._weighted.get(key)
        if kept is None or version is None or kept[0]() is not weight or kept[1] != version:
            values = torch.ones(self.num_edges, device=self._source.device) if weight is None else weight.detach()
            if values.shape != (self.num_edges,):
                self.refuse(f"edge_weight: got shape {tuple(values.shape)}, expected ({self.num_edges},), a weight for each edge of the whole graph")
            values = torch.where(self.is_loop, 0, values) if drops_loops else values
            kept = ((lambda: None) if weight is None else weakref.ref(weight), version, self._graph(values))
            self._weighted.pop(key, None)
            # Of weights that are gone, and of the oldest ones, nothing is kept.
            weights = [other for other in self._weighted if other[0] is not None]
            for other in [other for other in weights if self._weighted[other][0]() is None] or weights[:max(0, len(weights) - MOST_WEIGHTS + 1)]:
                del self._weighted[other]
            self._weighted[key] = kept
        return kept[2]

    def __deepcopy__(self, memo: Any) -> DistributedAdjacency:
        return self  # It does not change, and layers keep it (`cached`).

    def __repr__(self) -> str:
        return (f"<warren.torch.DistributedAdjacency {self.num_edges} edges of {self.num_nodes} vertices, of which {self.own.start} to {self.own.stop} are the rank's, "
                f"with a halo of {len(self.halo)}>")


def _check_joined() -> None:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() != ranks_of():
        raise ValueError(f"torch.distributed has {distributed.get_world_size()} ranks and warren {ranks_of()}: call warren.join_processes() before the first other call of warren, in processes of one launcher")


def _arrays(read: Any, written: Any) -> _core.Arrays:
    gpu = read.device.index if read.is_cuda else -1
    return _core.Arrays(gpu, _operators._stream(read), read.data_ptr(), read.numel(), written.data_ptr(), written.numel(), read.shape[1])


class _Multiply(torch.autograd.Function):  # type: ignore[misc]
    """A x, or A^T x, of own rows (own, k) of float32."""

    @staticmethod
    def forward(ctx: Any, x: Any, core: _core.DistributedGraph, transpose: bool) -> Any:
        ctx.core, ctx.transpose = core, transpose
        x = x.contiguous()
        out = torch.empty_like(x)
        core.multiply(_arrays(x, out), transpose)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Multiply.apply(grad, ctx.core, not ctx.transpose), None, None


class _Move(torch.autograd.Function):  # type: ignore[misc]
    """The halo's rows (halo, k) of own rows (own, k) of float32; or, pushed, what ranks have for the rows of their halos, added up for own rows. Each is the other's adjoint."""

    @staticmethod
    def forward(ctx: Any, rows: Any, core: _core.DistributedGraph, count: int, is_push: bool) -> Any:
        ctx.core, ctx.count, ctx.is_push = core, rows.shape[0], is_push
        rows = rows.contiguous()
        out = rows.new_empty((count, rows.shape[1]))
        (core.push if is_push else core.pull)(_arrays(rows, out))
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Move.apply(grad, ctx.core, ctx.count, not ctx.is_push), None, None, None
