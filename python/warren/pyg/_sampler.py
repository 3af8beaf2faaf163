# SPDX-License-Identifier: Apache-2.0
"""A sampler as PyTorch Geometric's loaders take one: warren's, along a graph's in-edges.

Row v of warren's graph holds the sources of v's in-edges, so that neighbours of a target are drawn as PyTorch Geometric draws them. Its edges are
sorted by target and source; `_permutation` leads from their places back to the columns of `edge_index`.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.sampler import BaseSampler, EdgeSamplerInput, NegativeSampling, NodeSamplerInput, SamplerOutput

from .._arrays import type_name
from .._build import from_csr, from_edges
from .._errors import VertexError
from .._graph import Graph
from .._processes import has_fellows
from .._sample import EdgeTimes, SampledBatches, sample_batches
from .._session import Session, choice
from .._train import fanouts as hops_of
from ._stores import edges_of, is_remote, times_of

DEVICES = {"auto": 0, "cpu": 1, "cuda": 2}
# Draws go by the batch's number, so that the engine keeps one sampler for all epochs.
SEED = 1
BATCH_NUMBERS = 2**47


class NeighborSampler(BaseSampler):  # type: ignore[misc]
    """Samples of a homogeneous graph's in-neighbours, hop by hop: a vertex' are drawn once a batch, in the hop after the one that found it.

    data: a Data with `edge_index`, or a pair of a FeatureStore and a GraphStore with one type of edges; as it is now: later changes are not seen. num_neighbors: how many a hop, -1 for all; replace, disjoint, weight_attr,
    subgraph_type ("directional", "bidirectional" or "induced"; directed=False is the last), time_attr and temporal_strategy as of PyTorch Geometric's sampler: edges, or edges from vertices, that are later than their seed are not sampled, and trees are
    disjoint. Of a pair of stores `time_attr` is a tensor of the feature store, with as many times as there are vertices, or edges. sample_direction: "forward" draws along in-edges, "backward" along out-edges, not with times. is_sorted, share_memory: accepted, as edges are sorted here and there are no
    worker processes. labor, layer_dependency: as of warren.sample. device: "cpu", "cuda", or "auto": a GPU where there is one.
    Draws follow torch.manual_seed(). After warren.join_processes() the graph is spread over the processes' devices, and each process samples seeds of its own.
    Raises ValueError for what it cannot do, naming it; VertexError for edges of no vertices.
    """

    def __init__(self, data: Any, num_neighbors: Any, subgraph_type: Any = "directional", replace: bool = False, disjoint: bool = False, temporal_strategy: str = "uniform",
                 time_attr: str | None = None, weight_attr: str | None = None, is_sorted: bool = False, share_memory: bool = False, directed: bool = True,
                 sample_direction: str = "forward", *, device: str = "auto", session: Session | None = None, labor: bool = False, layer_dependency: bool = False):
        if is_remote(data):
            if weight_attr is not None:
                raise ValueError(f"weight_attr: got {weight_attr!r}, expected None: a pair of stores has no weights of edges")
            edge_index, self.num_nodes = edges_of(data)
        else:
            _check_data(data)
            edge_index, self.num_nodes = torch.empty((2, 0), dtype=torch.long) if data.edge_index is None else data.edge_index, int(data.num_nodes or 0)
        choice("device", device, DEVICES)
        if isinstance(num_neighbors, dict):
            raise ValueError("num_neighbors: got a dict, expected a list of numbers, one a hop: the graph has one type of edges")
        self.num_neighbors: list[int] = [] if isinstance(num_neighbors, (list, tuple)) and len(num_neighbors) == 0 else hops_of("num_neighbors", num_neighbors)
        self.subgraph_type = str(getattr(subgraph_type, "value", subgraph_type)) if directed else "induced"
        if self.subgraph_type not in ("directional", "bidirectional", "induced"):
            raise ValueError(f'subgraph_type: got {self.subgraph_type!r}, expected "directional", "bidirectional" or "induced"')
        if sample_direction not in ("forward", "backward"):
            raise ValueError(f'sample_direction: got {sample_direction!r}, expected "forward" or "backward"')
        self.is_backward = sample_direction == "backward"
        self.replace = bool(replace)
        self.disjoint = bool(disjoint) or time_attr is not None
        self.is_weighted = weight_attr is not None
        #: The attributes of data that are read beside edge_index, once.
        self.read_attributes = [name for name in (weight_attr, time_attr) if name is not None]
        self.labor, self.layer_dependency = bool(labor), bool(layer_dependency)
        self.temporal_strategy = temporal_strategy
        self._check_choices(time_attr)
        # One rank of several processes: each has batches of its own.
        self.own = has_fellows()
        self._own_batch, self._own_flight = 0, 1
        self.on_gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available() and _device_of(device, session).type == "cuda")
        self.device: Any = (_device_of(device, session) if self.own else torch.device("cuda", 0)) if self.on_gpu else torch.device("cpu")
        self._session = session
        weights = None if weight_attr is None else _weights_of(data, weight_attr)
        #: Times of the vertices, where `time_attr` is one of theirs; and of the graph's edges, where there are times at all.
        self.node_time: Any = None
        self._edge_times: EdgeTimes | None = None
        edge_time = None
        if time_attr is not None:
            self.node_time, edge_time = _stored_times(data, time_attr, self.num_nodes, edge_index.shape[1]) if is_remote(data) else _times_of(data, time_attr, self.num_nodes)
        self._graph, self._permutation, rows = _graph_of(edge_index, self.num_nodes, weights, self.device, self.is_backward)
        self._rows: Any = rows if self.subgraph_type == "induced" else None
        if self.node_time is not None:
            self._edge_times = EdgeTimes(self.node_time[rows[1].cpu().long()])
        elif edge_time is not None:
            self._edge_times = EdgeTimes(edge_time if self._permutation is None else edge_time[self._permutation.cpu()])

    def _check_choices(self, time_attr: str | None) -> None:
        if self.is_backward and time_attr is not None:
            raise ValueError('sample_direction: got "backward" with time_attr, expected none: what is later than a seed is told of its in-edges')
        if self.temporal_strategy not in ("uniform", "last"):
            raise ValueError(f'temporal_strategy: got {self.temporal_strategy!r}, expected "uniform" or "last"')
        if self.temporal_strategy == "last":
            if time_attr is None:
                raise ValueError('temporal_strategy: got "last" without time_attr, expected the name of an attribute with times, too')
            if self.replace or self.is_weighted:
                raise ValueError(f'temporal_strategy: got "last" with {"replace" if self.replace else "weight_attr"}, expected none: the latest edges are taken, and none is drawn')
        if self.subgraph_type == "induced" and self.disjoint:
            raise ValueError(f'subgraph_type: got "induced" with {"disjoint" if time_attr is None else "time_attr"}, expected none: the edges between disjoint trees are no part of any')
        if self.labor and (self.replace or self.disjoint):
            raise ValueError(f"labor: got True with {'replace' if self.replace else 'disjoint' if time_attr is None else 'time_attr'}, expected none: vertices share different neighbours")
        if self.layer_dependency and not self.labor:
            raise ValueError("layer_dependency: got True without labor, of which it is an option")

    @property
    def is_temporal(self) -> bool:
        """Whether edges and vertices later than a seed are left out."""
        return self._edge_times is not None

    @property
    def edge_permutation(self) -> None:
        """None: the edges of an output are columns of `edge_index` already."""
        return None

    def prepare(self, batch: int, flight: int) -> None:
        """Of one rank of several processes: all calls from here on are of `flight` batches of `batch` seeds at most. All ranks call it together."""
        self._own_batch, self._own_flight = batch, flight
        if self.own and self.num_nodes > 0 and self.num_neighbors:
            # What the ranks make at their first draw: one without seeds would never come to it, and the others would wait.
            self._drawn([torch.zeros(1, dtype=torch.long)], [None if self._edge_times is None else torch.zeros(1, dtype=torch.long)], 0)

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        """The sample of one batch of vertices."""
        return self.draw([index], int(torch.randint(BATCH_NUMBERS, ())))()[0]

    def draw(self, inputs: Sequence[NodeSamplerInput], number: int) -> Callable[[], list[SamplerOutput]]:
        """Draws the samples of batches of equally many vertices, but for the last, by one call. `number`: the first one's; the draws go by it. What it gives tells them, on the
        current stream, and holds the engine's memory of them."""
        times = [self._seed_times(batch.node, batch.time) for batch in inputs]
        tell_drawn = self._drawn([batch.node for batch in inputs], times, number)

        def tell() -> list[SamplerOutput]:
            outputs = tell_drawn()
            for batch, out in zip(inputs, outputs):
                out.metadata = (batch.input_id, None if batch.time is None else torch.as_tensor(batch.time).to(self.device))
            return outputs

        return tell

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None, **kwargs: Any) -> SamplerOutput:
        """The sample around both ends of edges, and of as many negative ones as `neg_sampling` asks for."""
        return self.draw_links(index, neg_sampling, int(torch.randint(BATCH_NUMBERS, ())), None)()[0]

    def draw_links(self, index: EdgeSamplerInput, negative: NegativeSampling | None, number: int, generator: Any) -> Callable[[], list[SamplerOutput]]:
        """Draws what sample_from_edges() gives, as draw() does. `generator` draws the negative ends; None: torch's own."""
        src, dst, label, time = index.row, index.col, index.label, index.time
        positives = src.numel()
        time = self.check_link_times(time, positives)
        negatives = 0 if negative is None else math.ceil(positives * negative.amount)
        is_triplet = negative is not None and negative.is_triplet()
        if negative is not None:
            if not is_triplet:
                src = torch.cat([src, self._negative(negative, negatives, "src", time, generator)])
                label = torch.ones(positives) if label is None else label
                label = torch.cat([label, label.new_zeros((negatives, *label.shape[1:]))])
            dst = torch.cat([dst, self._negative(negative, negatives, "dst", time, generator)])
        seeds = torch.cat([src, dst])
        places = torch.arange(seeds.numel())
        if not self.disjoint:
            seeds, places = seeds.unique(return_inverse=True)
        # A link that is made up has the time of the one that it belongs to.
        src_time: Any = None if time is None else _cycled(time, src.numel())
        times = None if time is None else torch.cat([src_time, _cycled(time, dst.numel())])
        tell_drawn = self._drawn([seeds], [times], number)

        def tell() -> list[SamplerOutput]:
            (out,) = tell_drawn()
            if out.batch is not None:
                # What belongs to one positive link has its number.
                out.batch = out.batch % max(1, positives)
            at, at_time = places.to(self.device), None if src_time is None else src_time.to(self.device)
            if not is_triplet:
                out.metadata = (index.input_id, at.view(2, -1), None if label is None else label.to(self.device), at_time)
            else:
                far = at[2 * positives:]
                # Of disjoint trees the negatives of a link are apart by the number of links.
                far = far.view(-1, positives).t() if self.disjoint and positives > 0 else far.view(positives, -1) if positives > 0 else far
                out.metadata = (index.input_id, at[:positives], at[positives:2 * positives], far.squeeze(-1) if far.dim() == 2 else far, at_time)
            return [out]

        return tell

    def check_link_times(self, times: Any, links: int) -> Any:
        """The links' times as 64-bit integers. Raises ValueError for what are none, and where there should be some, or none."""
        if times is None and self._edge_times is not None:
            raise ValueError("edge_label_time: got None with time_attr, expected a time for each link")
        if times is not None and self._edge_times is None:
            raise ValueError("edge_label_time: got times without time_attr, expected both or none")
        return None if times is None else _integers_of("edge_label_time", times, links, "link")

    def _seed_times(self, seeds: Any, times: Any) -> Any:
        """Those given, or the seeds' own."""
        if self._edge_times is None:
            if times is not None:
                raise ValueError("input_time: got times without time_attr, expected both or none")
            return None
        if times is not None:
            return _integers_of("input_time", times, seeds.numel(), "seed")
        if self.node_time is None:
            raise ValueError("input_time: got None, expected a time for each seed: those of time_attr are of the edges")
        check_vertices("input", seeds, self.num_nodes)
        return self.node_time[seeds.cpu().long()]

    def _negative(self, negative: NegativeSampling, count: int, end: str, time: Any, generator: Any) -> Any:
        weight = negative.src_weight if end == "src" else negative.dst_weight
        if count == 0:
            return torch.empty(0, dtype=torch.long)
        if weight is not None and weight.numel() != self.num_nodes:
            raise ValueError(f"neg_sampling: got {weight.numel()} weights, expected one a vertex, {self.num_nodes}")
        if self.node_time is not None:
            return _not_later(self.node_time, weight, _cycled(time, count), generator)
        if weight is None:
            return torch.randint(self.num_nodes, (count,), generator=generator)
        return torch.multinomial(weight.cpu(), count, replacement=True, generator=generator)

    def _drawn(self, batches: Sequence[Any], times: Sequence[Any], number: int) -> Callable[[], list[SamplerOutput]]:
        if any(batch.numel() == 0 for batch in batches):
            tellers = [None if batch.numel() == 0 else self._drawn([batch], [time], number + at) for at, (batch, time) in enumerate(zip(batches, times))]
            return lambda: [self._empty() if tell is None else tell()[0] for tell in tellers]
        seeds = batches[0] if len(batches) == 1 else torch.cat(list(batches))
        check_vertices("input", seeds, self.num_nodes)
        if not self.num_neighbors:
            return lambda: [self._alone(batch) for batch in batches]
        size, flight = batches[0].numel(), len(batches)
        if self.own:  # What the ranks make together must not depend on the batch.
            is_prepared = size <= self._own_batch and flight <= self._own_flight
            if len(batches) == 1:
                size = self._own_batch if is_prepared else 1 << (size - 1).bit_length()
            flight = self._own_flight if is_prepared else flight
        found = sample_batches(self._graph, seeds.numpy(), self.num_neighbors, batch_size=size, replace=self.replace, weighted=self.is_weighted,
                               disjoint=self.disjoint, edge_ids=True, seed=SEED, batch=number, in_flight=flight, device="cuda" if self.on_gpu else "cpu",
                               session=self._session, once=True, own=self.own, labor=self.labor, layer_dependency=self.layer_dependency, edge_times=self._edge_times,
                               seed_times=None if self._edge_times is None else torch.cat(list(times)).numpy(), temporal_strategy=self.temporal_strategy)

        def tell() -> list[SamplerOutput]:
            outputs = _outputs_of(found, self._permutation, self.disjoint)
            if self.subgraph_type == "bidirectional":
                outputs = [out.to_bidirectional(keep_orig_edges=False) for out in outputs]
            elif self.subgraph_type == "induced":
                outputs = [self._induced(out) for out in outputs]
            if self.is_backward:
                for out in outputs:
                    out.row, out.col = out.col, out.row
            return outputs

        return tell

    def _induced(self, out: SamplerOutput) -> SamplerOutput:
        """The same vertices with all edges among them, by the target's place. Which hop an edge belongs to is not told."""
        offsets, sources = self._rows
        nodes = out.node.to(offsets.device)
        begins, counts = offsets[nodes], offsets[nodes + 1] - offsets[nodes]
        # Of every edge to one of them: the place of its target, and which of the graph's edges it is.
        col = torch.repeat_interleave(torch.arange(nodes.numel(), device=nodes.device), counts)
        edge = torch.arange(col.numel(), device=nodes.device) - (counts.cumsum(0) - counts)[col] + begins[col]
        # Of those a vertex that seeds name twice has its first place, as of sampled edges.
        ordered, order = torch.sort(nodes, stable=True)
        source = sources[edge].long()
        at = torch.searchsorted(ordered, source).clamp_(max=max(0, nodes.numel() - 1))
        inside = ordered[at] == source
        row, col, edge = order[at[inside]], col[inside], edge[inside]
        edge = edge if self._permutation is None else self._permutation[edge.to(self._permutation.device)]
        return SamplerOutput(node=out.node, row=row.to(self.device), col=col.to(self.device), edge=edge.to(self.device), batch=out.batch)

    def _alone(self, seeds: Any) -> SamplerOutput:
        """A sample of no hops."""
        out = self._empty()
        out.node = seeds.long().to(self.device)
        out.batch = torch.arange(seeds.numel(), device=self.device) if self.disjoint else None
        out.num_sampled_nodes = [seeds.numel()]
        return out

    def _empty(self) -> SamplerOutput:
        nothing = torch.empty(0, dtype=torch.long, device=self.device)
        hops = len(self.num_neighbors)
        return SamplerOutput(node=nothing, row=nothing, col=nothing, edge=nothing, batch=nothing if self.disjoint else None, num_sampled_nodes=[0] * (hops + 1),
                             num_sampled_edges=[0] * hops)


def _device_of(device: str, session: Session | None) -> Any:
    """Where calls of the session run: on which GPU, or the CPU where this build of warren can use none."""
    found = sample_batches(from_edges([0], [0]), [0], [1], device=device, session=session)
    return found.array("vertices", library="torch").device if found.info["device"] == "cuda" else torch.device("cpu")


def check_vertices(name: str, ids: Any, num_nodes: int) -> None:
    """Raises ValueError for what are no integers, VertexError for the first that is no vertex."""
    if ids.dtype.is_floating_point or ids.dtype.is_complex or ids.dtype == torch.bool:
        raise ValueError(f"{name}: got elements of type {ids.dtype}, expected integers: ids of vertices")
    if ids.numel() == 0 or (int(ids.min()) >= 0 and int(ids.max()) < num_nodes):
        return
    at = int(((ids < 0) | (ids >= num_nodes)).to(torch.uint8).argmax())
    raise VertexError(f"{name}[{at}]: got {int(ids.reshape(-1)[at])}, expected ids of 0 to {num_nodes - 1}")


def _check_data(data: Any) -> None:
    if isinstance(data, HeteroData):
        raise ValueError("data: got a HeteroData, expected a Data: graphs with several types of vertices or edges are not taken; to_homogeneous() makes one of it")
    if not isinstance(data, Data):
        raise ValueError(f"data: got {type_name(data)}, expected a torch_geometric.data.Data, or a pair of a FeatureStore and a GraphStore")
    if "adj" in data or "adj_t" in data:
        raise ValueError("data: got one with adj or adj_t, expected one with edge_index alone: sparse tensors are not taken")
    edges = data.edge_index
    if edges is not None and (not isinstance(edges, torch.Tensor) or edges.layout != torch.strided or edges.dim() != 2 or edges.shape[0] != 2):
        raise ValueError(f"data.edge_index: got {f'shape {tuple(edges.shape)}, {edges.layout}' if isinstance(edges, torch.Tensor) else type_name(edges)}, expected a dense tensor of shape (2, m)")


def _weights_of(data: Any, name: str) -> Any:
    weights = data[name] if name in data else None
    if weights is None or not data.is_edge_attr(name):
        raise ValueError(f"weight_attr: got {name!r}, expected an attribute of the edges with a weight each")
    weights = weights.reshape(-1).to(torch.float32)
    if weights.numel() != data.num_edges:
        raise ValueError(f"weight_attr: got {weights.numel()} weights, expected one an edge, {data.num_edges}")
    is_bad = ~(weights.isfinite() & (weights >= 0))
    if bool(is_bad.any()):
        at = int(is_bad.to(torch.uint8).argmax())
        raise ValueError(f"weight_attr: {name}[{at}] is {float(weights[at])}, expected numbers that are finite and 0 or more")
    return weights


def _times_of(data: Any, name: str, num_nodes: int) -> tuple[Any, Any]:
    """The times of vertices, or of the columns of edge_index; None for the other."""
    if name in data and data.is_node_attr(name):
        return _integers_of("time_attr", data[name], num_nodes, "vertex"), None
    if name in data and data.is_edge_attr(name):
        return None, _integers_of("time_attr", data[name], data.num_edges, "edge")
    raise ValueError(f"time_attr: got {name!r}, expected an attribute of the vertices or of the edges with a time each")


def _stored_times(data: Any, name: str, num_nodes: int, num_edges: int) -> tuple[Any, Any]:
    """The same of a pair of stores: which of them they are of, their number says."""
    times, is_time = times_of(data, name)
    of_vertices = times.shape[0] == num_nodes and (is_time or num_nodes != num_edges)
    if not of_vertices and times.shape[0] != num_edges:
        raise ValueError(f"time_attr: got {times.shape[0]} times, expected one for each of {num_nodes} vertices or of {num_edges} edges")
    return (_integers_of("time_attr", times, num_nodes, "vertex"), None) if of_vertices else (None, _integers_of("time_attr", times, num_edges, "edge"))


def _integers_of(name: str, times: Any, count: int, each: str) -> Any:
    times = torch.as_tensor(times).detach().reshape(-1).cpu()
    if times.dtype.is_floating_point or times.dtype.is_complex or times.dtype == torch.bool:
        raise ValueError(f"{name}: got elements of type {times.dtype}, expected integers: a time for each {each}")
    if times.numel() != count:
        raise ValueError(f"{name}: got {times.numel()} times, expected one for each {each}, {count}")
    return times.long()


def _cycled(values: Any, count: int) -> Any:
    """So many of them, from the first again behind the last."""
    return values.repeat(-(-count // max(1, values.numel())))[:count]


def _not_later(node_time: Any, weight: Any, times: Any, generator: Any) -> Any:
    """For each time a vertex that is not later, drawn from all of them, in proportion to `weight` where it is given; where there is none, the earliest vertex."""
    ordered, order = torch.sort(node_time, stable=True)
    ends = torch.searchsorted(ordered, times, right=True)
    drawn = torch.rand(times.numel(), generator=generator, dtype=torch.float64)
    if weight is None:
        places = torch.minimum((drawn * ends).long(), ends - 1)
    else:
        sums = weight.detach().reshape(-1).cpu().double()[order].cumsum(0)
        totals = torch.where(ends > 0, sums[(ends - 1).clamp(min=0)], 0.0)
        places = torch.searchsorted(sums, drawn * totals, right=True)
        # Rounded up to the total, it is the last that has a weight.
        places = torch.where(totals > 0, torch.minimum(places, torch.searchsorted(sums, totals)), -1)
    return order[places.clamp(min=0)]


def _graph_of(edge_index: Any, num_nodes: int, weights: Any, device: Any, is_backward: bool) -> tuple[Graph, Any, tuple[Any, Any]]:
    """The graph of the in-edges, or of the out-edges (`is_backward`); for each of its edges the column of `edge_index`, None where they are in that order already; and its offsets and sources."""
    edges = edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index

    def sorted_on(device: Any) -> tuple[Any, Graph, tuple[Any, Any]]:
        source, target = edges.detach().to(device)
        check_vertices("data.edge_index[0]", source, num_nodes)
        check_vertices("data.edge_index[1]", target, num_nodes)
        return _sorted_graph(*((target, source) if is_backward else (source, target)), num_nodes, weights, device)

    try:
        order, graph, rows = sorted_on(device)
    except torch.OutOfMemoryError:
        order, graph, rows = sorted_on(torch.device("cpu"))
    is_same = bool((order[1:] > order[:-1]).all())
    return graph, None if is_same else order, rows


def _sorted_graph(source: Any, target: Any, num_nodes: int, weights: Any, device: Any) -> tuple[Any, Graph, tuple[Any, Any]]:
    keys = target.long() * max(1, num_nodes) + source
    order = None
    if weights is not None:  # Parallel edges are by weight in the graph.
        weights = weights.detach().to(device)
        order = torch.argsort(weights, stable=True)
        keys = keys[order]
    keys, places = torch.sort(keys, stable=True)
    order = places if order is None else order[places]
    counts = torch.bincount(target, minlength=num_nodes)
    offsets = torch.zeros(num_nodes + 1, dtype=torch.long, device=device)
    torch.cumsum(counts, 0, out=offsets[1:])
    neighbours = source[order].to(torch.int32)
    sorted_weights = None if weights is None else weights[order].cpu().numpy()
    graph = from_csr(offsets.cpu().numpy(), neighbours.cpu().numpy(), sorted_weights, keep_duplicates=True, copy=False)
    return order, graph, (offsets, neighbours)


def _outputs_of(found: SampledBatches, permutation: Any, disjoint: bool) -> list[SamplerOutput]:
    """Each batch as PyTorch Geometric tells it: its edges hop by hop, from `row` to `col`, by the target that drew them."""
    vertices = found.array("vertices", library="torch").long()
    trees = found.array("trees", library="torch").long() if disjoint else None
    hops = []
    for hop, (edge_begins, offset_begins) in enumerate(zip(found.edge_begins, found.offset_begins)):
        offsets, ends, ids = (found.array(name, hop, "torch") for name in ("offsets", "targets", "edge_ids"))
        # Arrays of nothing are on no device.
        ends, ids = ends.to(offsets.device), (ids if permutation is None else permutation[ids.to(permutation.device)]).to(offsets.device)
        # One offset more than rows: what stands between two batches counts no edges.
        counts = (offsets[1:] - offsets[:-1]).clamp_(min=0)
        begins = torch.from_numpy(offset_begins).to(offsets.device)
        first = torch.repeat_interleave(begins[:-1], begins[1:] - begins[:-1], output_size=offsets.numel())
        rows = torch.arange(offsets.numel(), device=offsets.device) - first
        hops.append((ends.long(), torch.repeat_interleave(rows[:-1], counts, output_size=ends.numel()), ids, edge_begins.tolist(), (offset_begins[1:] - offset_begins[:-1] - 1).tolist()))
    outputs = []
    bounds = found.vertex_begins.tolist()
    for b in range(len(found)):
        parts = [[array[begins[b]:begins[b + 1]] for array in arrays] for *arrays, begins, _ in hops]
        # Copies: the engine's memory is let go of.
        row, col, edge = (part[0].clone() if len(part) == 1 else torch.cat(part) for part in zip(*parts))
        ends_of_hops = [rows[b] for *_, rows in hops] + [bounds[b + 1] - bounds[b]]
        mine = slice(bounds[b], bounds[b + 1])
        outputs.append(SamplerOutput(node=vertices[mine], row=row, col=col, edge=edge, batch=None if trees is None else trees[mine],
                                     num_sampled_nodes=[ends_of_hops[0]] + [end - begin for begin, end in zip(ends_of_hops, ends_of_hops[1:])],
                                     num_sampled_edges=[begins[b + 1] - begins[b] for *_, begins, _ in hops]))
    return outputs
