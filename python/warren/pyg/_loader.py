# SPDX-License-Identifier: Apache-2.0
"""NeighborLoader and LinkNeighborLoader. PyTorch Geometric's own classes name the fields of a batch; what is sampled, how and when is warren's."""
from __future__ import annotations

import contextlib
import copy
import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
from torch_geometric import loader as pyg

from .._arrays import type_name
from .._processes import ranks_of
from .._session import Session, choice
from .._table import Table
from ..torch._adjacency import mark_order
from ..torch._operators import gather_rows
from ._ahead import Ahead
from ._sampler import BATCH_NUMBERS, NeighborSampler, check_vertices
from ._stores import is_remote

PLACEMENTS = {"auto": 0, "device": 1, "host": 2, "cached": 3, "spread": 4}
# Batches of vertices that one call samples on a GPU.
FLIGHT = 8
_told: set[str] = set()


def _version_of(tensor: Any) -> int | None:
    """How often it was written; of tensors of inference mode nobody knows."""
    return None if not isinstance(tensor, torch.Tensor) or tensor.is_inference() else int(tensor._version)


class Resident:
    """Rows on the GPU, which the engine gathers."""

    def __init__(self, rows: Any):
        self._rows = rows

    def gather(self, ids: Any, own: bool = False) -> Any:
        return gather_rows(self._rows, ids)


class _Loader:
    """What both loaders have in common."""

    data: Any
    transform: Any
    transform_sampler_output: Any

    def _start(self, data: Any, sampler: NeighborSampler, placement: str, options: dict[str, Any]) -> dict[str, Any]:
        """The options of torch's DataLoader, from those that were given."""
        self._sampler = sampler
        # Of each attribute that the sampler has read, what it was.
        self._made_of = {} if is_remote(data) else {name: (tensor, _version_of(tensor)) for name in ("edge_index", *sampler.read_attributes) for tensor in (getattr(data, name, None),)}
        if is_remote(data) and sampler.is_temporal and sampler.node_time is None:
            raise ValueError("time_attr: got times of the edges of a pair of stores, expected those of vertices: all tensors of a store are read by vertex")
        self._resident, self._tables = _placed(data, sampler, placement)
        for table in self._tables.values():
            if sampler.own and isinstance(table, Table):  # The first is made by all ranks together, and one without seeds would never come to it.
                table.gather(torch.empty(0, dtype=torch.long), own=True)
        workers = options.pop("num_workers", 0)
        for name in ("persistent_workers", "prefetch_factor", "multiprocessing_context", "worker_init_fn", "filter_per_worker"):
            options.pop(name, None)
        if workers:
            _tell_once("num_workers", f"num_workers: got {workers}, which has no effect: batches are sampled by warren's threads or on the GPU, ahead of the model")
        if options.get("batch_size", 1) is None:
            raise ValueError("batch_size: got None, expected a number of seeds, 1 or more")
        return options

    def __call__(self, index: Any) -> Any:
        """The batch around these of the seeds, or links."""
        self._check_unchanged()
        return super().__call__(index)  # type: ignore[misc]

    @contextlib.contextmanager
    def enable_multithreading(self, worker_threads: int | None = None) -> Iterator[None]:
        """Accepted, and of no effect: there are no worker processes."""
        _tell_once("enable_multithreading", "enable_multithreading: it has no effect: batches are sampled by the threads of warren's session")
        yield

    @contextlib.contextmanager
    def enable_cpu_affinity(self, loader_cores: Any = None) -> Iterator[None]:
        """Accepted, and of no effect: there are no worker processes."""
        _tell_once("enable_cpu_affinity", "enable_cpu_affinity: it has no effect: batches are sampled by the threads of warren's session")
        yield

    def _check_unchanged(self) -> None:
        for name, (made_of, version) in self._made_of.items():
            now = getattr(self.data, name, None)
            if now is not made_of or _version_of(now) != version:
                raise ValueError(f"data: {name} was changed after the loader was made, expected the graph that it was made of: make another loader")

    def _gathered(self, out: Any) -> Any:
        """The batch of a sample, its attributes gathered, before `transform`."""
        if self.transform_sampler_output is not None:
            out = self.transform_sampler_output(out)
            check_vertices("transform_sampler_output: node", out.node, self._sampler.num_nodes)  # The engine reads these rows as they are told.
        batch = super().filter_fn.__func__(_Untransformed(self), out)  # type: ignore[misc]
        if self._sampler.subgraph_type == "directional" and not self._sampler.is_backward and self.transform_sampler_output is None and isinstance(getattr(batch, "edge_index", None), torch.Tensor):
            mark_order(batch.edge_index, out.num_sampled_nodes, out.num_sampled_edges)
        for key, table in self._tables.items():
            batch[key] = table.gather(out.node.to(torch.int64), own=self._sampler.own)
        return batch

    def _transformed(self, batch: Any) -> Any:
        return batch if self.transform is None else self.transform(batch)

    def filter_fn(self, out: Any) -> Any:
        """The sample `out` as a batch with the attributes of its vertices and edges."""
        return self._transformed(self._gathered(out))

    def _iterate(self, flights: Iterator[list[Any]], length: int, draw: Any) -> Iterator[Any]:
        """The batches of `flights`, of which draw(flight) gives what tells the samples."""
        def drawn() -> Iterator[Any]:
            return map(draw, flights)

        def told(tell: Any) -> Iterator[Any]:
            outputs = tell()
            while outputs:  # Letting go of each.
                yield self._gathered(outputs.pop(0))

        if self._sampler.on_gpu:
            return Ahead(drawn, told, self._sampler.device, length, self._transformed)
        pinned = bool(getattr(self, "pin_memory", False)) and torch.cuda.is_available()
        batches = itertools.chain.from_iterable(map(told, drawn()))
        return _Inline((batch.pin_memory() if pinned else batch for batch in map(self._transformed, batches)), length)


class _Inline:
    """An iterator with a length."""

    def __init__(self, batches: Iterator[Any], length: int):
        self._batches = batches
        self._length = length

    def __iter__(self) -> _Inline:
        return self

    def __len__(self) -> int:
        return self._length

    def __next__(self) -> Any:
        return next(self._batches)


class _Untransformed:
    """A loader as PyTorch Geometric's filter_fn() sees it: with the data where it is gathered from, and without transforms."""

    def __init__(self, loader: Any):
        self._loader = loader
        self.data = loader._resident
        self.transform = self.transform_sampler_output = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class NeighborLoader(_Loader, pyg.NeighborLoader):  # type: ignore[misc]
    """Mini-batches around vertices, as torch_geometric.loader.NeighborLoader gives them, sampled by warren: the arguments and the batches are the same.

    data: a Data with `edge_index`, or a pair of a FeatureStore and a GraphStore with one type of edges. num_neighbors: of each vertex, hop by hop, -1 for all, drawn once a batch along its in-edges. input_nodes: ids, a mask,
    or None for all. replace, disjoint, subgraph_type ("directional", "bidirectional", "induced": all edges among the batch's vertices), weight_attr, transform, transform_sampler_output and the options of
    torch's DataLoader as there; draws follow torch.manual_seed(). num_workers is accepted and has no effect.
    time_attr: the name of an attribute of the vertices, or of the edges, with a time each, integers: a vertex' edges from vertices, or edges, that are later than the seed's time are not sampled, and each seed has a tree of
    its own, as with `disjoint`. input_time: the seeds' times, a time for each of input_nodes; None: those that time_attr has of them. temporal_strategy: "uniform": drawn from the edges that are left; "last": the latest of them,
    of equal times those from the vertices with the larger ids.
    labor: vertices of a batch share the neighbours that they draw, so that it has fewer of them, and layer_dependency: by the same numbers in all hops; as of warren.sample.
    A batch has x, y and whatever else data has of vertices and edges for its own, edge_index from source to target among its vertices, n_id, e_id, batch_size,
    num_sampled_nodes, num_sampled_edges, input_id, and with `disjoint` batch. It is on the device that samples it.
    device: "cpu", "cuda", or "auto": a GPU where there is one. placement: of the attributes when a GPU samples: "device": copied to it once; "host": they stay in
    host memory, which it reads in place; "cached": the same, with the rows of the busiest tenth of the vertices on the device; "spread": rows over the devices of all
    processes, each of which reads all; "auto": "device" where they fit in half of its free memory, else "spread" where an equal part does, else "host".
    "host", "cached" and "spread" are for attributes of the vertices with two dimensions, of float16, float32 or float64. All other attributes of vertices, and all of edges, are copied to the device.
    After warren.join_processes() each process gives input_nodes of its own and goes through batches of its own, on its device; the graph is spread over the
    devices. All processes make the loader, and its first batch, together. Draws differ from process to process.
    Raises ValueError, naming the argument, for HeteroData, options that do not go together, and what else this loader has not; VertexError (an IndexError) for ids
    that are no vertices, also for those that transform_sampler_output gives; and, when it is iterated, ValueError where data.edge_index, or the attribute of weight_attr or time_attr, is not what the loader was made of.
    """

    def __init__(self, data: Any, num_neighbors: Any, input_nodes: Any = None, input_time: Any = None, replace: bool = False, subgraph_type: Any = "directional",
                 disjoint: bool = False, temporal_strategy: str = "uniform", time_attr: str | None = None, weight_attr: str | None = None, transform: Any = None,
                 transform_sampler_output: Any = None, is_sorted: bool = False, filter_per_worker: bool | None = None, neighbor_sampler: Any = None, directed: bool = True,
                 device: str = "auto", placement: str = "auto", session: Session | None = None, labor: bool = False, layer_dependency: bool = False, **kwargs: Any):
        if is_remote(data) and input_nodes is None:
            raise ValueError("input_nodes: got None, expected ids or a mask: stores do not say how many vertices there are")
        sampler = _sampler_of(neighbor_sampler, directed, data, num_neighbors, replace, subgraph_type, disjoint, temporal_strategy, time_attr, weight_attr, device, session, labor, layer_dependency)
        if isinstance(input_nodes, (list, numpy.ndarray)) and numpy.asarray(input_nodes).dtype == numpy.bool_:
            input_nodes = torch.as_tensor(input_nodes)
        if input_time is not None:
            input_time = torch.as_tensor(input_time).detach().cpu()
        kwargs = self._start(data, sampler, placement, kwargs)
        if isinstance(input_nodes, torch.Tensor) and input_nodes.dtype == torch.bool and input_nodes.numel() != sampler.num_nodes:
            raise ValueError(f"input_nodes: got a mask of {input_nodes.numel()}, expected one of all {sampler.num_nodes} vertices")
        if isinstance(input_nodes, torch.Tensor) and (input_nodes.numel() == 0 or (input_nodes.dtype == torch.bool and not bool(input_nodes.any()))):
            kwargs["shuffle"] = False  # Of none torch has no order: a rank may be without seeds.
        pyg.NodeLoader.__init__(self, data, sampler, input_nodes, input_time, transform, transform_sampler_output, False, **kwargs)
        check_vertices("input_nodes", self.input_data.node, sampler.num_nodes)
        sampler._seed_times(self.input_data.node, input_time)  # Raises for what will not do.
        sampler.prepare(int(kwargs.get("batch_size", 1)), FLIGHT if sampler.on_gpu else 1)

    def _get_iterator(self) -> Any:
        self._check_unchanged()
        first = int(torch.randint(BATCH_NUMBERS, (), generator=self.generator))
        numbers = itertools.count(first)
        size = FLIGHT if self._sampler.on_gpu else 1

        def draw(flight: list[Any]) -> Any:
            return self._sampler.draw([self.input_data[index] for index in flight], [next(numbers) for _ in flight][0])

        return self._iterate(_flights(_batches_of(self.batch_sampler), size), len(self), draw)


class LinkNeighborLoader(_Loader, pyg.LinkNeighborLoader):  # type: ignore[misc]
    """Mini-batches around links, as torch_geometric.loader.LinkNeighborLoader gives them, sampled by warren: the arguments and the batches are the same.

    edge_label_index: the links, 2 x m, or None for all edges; edge_label: their labels. neg_sampling: None, "binary" (a batch has edge_label_index and
    edge_label, with 0 for links that are made up), "triplet" (src_index, dst_pos_index and dst_neg_index), or a NegativeSampling; neg_sampling_ratio: of
    "binary". Vertices of links that are made up are drawn from all, with times of vertices from those that are not later than the link, or where there are none the earliest; they may be neighbours by chance.
    edge_label_time: with time_attr, and only then: a time for each link; a link that is made up has the time of the one that it belongs to.
    The rest, what is raised too, as of NeighborLoader.
    """

    def __init__(self, data: Any, num_neighbors: Any, edge_label_index: Any = None, edge_label: Any = None, edge_label_time: Any = None, replace: bool = False,
                 subgraph_type: Any = "directional", disjoint: bool = False, temporal_strategy: str = "uniform", neg_sampling: Any = None, neg_sampling_ratio: Any = None,
                 time_attr: str | None = None, weight_attr: str | None = None, transform: Any = None, transform_sampler_output: Any = None, is_sorted: bool = False,
                 filter_per_worker: bool | None = None, neighbor_sampler: Any = None, directed: bool = True, device: str = "auto", placement: str = "auto",
                 session: Session | None = None, labor: bool = False, layer_dependency: bool = False, **kwargs: Any):
        if is_remote(data):
            raise ValueError("data: got a pair of stores, expected a Data: links are drawn from one alone")
        sampler = _sampler_of(neighbor_sampler, directed, data, num_neighbors, replace, subgraph_type, disjoint, temporal_strategy, time_attr, weight_attr, device, session, labor, layer_dependency)
        if edge_label_time is not None:
            edge_label_time = torch.as_tensor(edge_label_time).detach().cpu()
        kwargs = self._start(data, sampler, placement, kwargs)
        links = data.edge_index if edge_label_index is None else edge_label_index
        if not isinstance(links, torch.Tensor) or links.dim() != 2 or links.shape[0] != 2:
            raise ValueError(f"edge_label_index: got {tuple(links.shape) if isinstance(links, torch.Tensor) else type_name(links)}, expected a tensor of shape (2, m)")
        if isinstance(edge_label, torch.Tensor) and edge_label.shape[:1] != links.shape[1:]:
            raise ValueError(f"edge_label: got {tuple(edge_label.shape)}, expected one for each of {links.shape[1]} links")
        if links.shape[1] == 0:
            kwargs["shuffle"] = False
        pyg.LinkLoader.__init__(self, data, sampler, edge_label_index, edge_label, edge_label_time, neg_sampling, neg_sampling_ratio, transform, transform_sampler_output, False, **kwargs)
        check_vertices("edge_label_index[0]", self.input_data.row, sampler.num_nodes)
        check_vertices("edge_label_index[1]", self.input_data.col, sampler.num_nodes)
        sampler.check_link_times(edge_label_time, self.input_data.row.numel())
        positives = int(kwargs.get("batch_size", 1))
        negatives = 0 if self.neg_sampling is None else math.ceil(positives * self.neg_sampling.amount)
        sampler.prepare(2 * positives + (negatives if self.neg_sampling is not None and self.neg_sampling.is_triplet() else 2 * negatives), 1)

    def _get_iterator(self) -> Any:
        self._check_unchanged()
        numbers = itertools.count(int(torch.randint(BATCH_NUMBERS, (), generator=self.generator)))
        draws = torch.Generator().manual_seed(int(torch.randint(2**62, (), generator=self.generator)))

        def draw(flight: list[Any]) -> Any:
            (index,) = flight
            return self._sampler.draw_links(self.input_data[index], self.neg_sampling, next(numbers), draws)

        return self._iterate(_flights(_batches_of(self.batch_sampler), 1), len(self), draw)


def _sampler_of(given: Any, directed: bool, data: Any, num_neighbors: Any, replace: bool, subgraph_type: Any, disjoint: bool, temporal_strategy: str,
                time_attr: str | None, weight_attr: str | None, device: str, session: Session | None, labor: bool, layer_dependency: bool) -> NeighborSampler:
    if not directed:  # As it was asked for before there was subgraph_type.
        subgraph_type = "induced"
    if given is not None:
        if not isinstance(given, NeighborSampler):
            raise ValueError(f"neighbor_sampler: got {type(given).__name__}, expected a warren.pyg.NeighborSampler or None")
        for name, asked, has in (("labor", labor, given.labor), ("layer_dependency", layer_dependency, given.layer_dependency), ("time_attr", time_attr, given.is_temporal)):
            if asked and not has:
                raise ValueError(f"{name}: got {asked!r} with a neighbor_sampler that was made without, expected one that was made with it")
        told = str(getattr(subgraph_type, "value", subgraph_type))
        others: list[tuple[str, bool, Any]] = [
            ("replace", replace and not given.replace, given.replace),
            ("disjoint", disjoint and not given.disjoint, given.disjoint),
            ("subgraph_type", told not in ("directional", given.subgraph_type), given.subgraph_type),
            ("temporal_strategy", temporal_strategy not in ("uniform", given.temporal_strategy), given.temporal_strategy),
            ("weight_attr", weight_attr is not None and not given.is_weighted, None)]
        for name, differs, made_with in others:
            if differs:
                raise ValueError(f"{name}: got another than the neighbor_sampler was made with, {made_with!r}: give it there alone")
        return given
    return NeighborSampler(data, num_neighbors, subgraph_type, replace, disjoint, temporal_strategy, time_attr, weight_attr, device=device, session=session, labor=labor,
                           layer_dependency=layer_dependency)


def _batches_of(sampler: Any) -> Iterator[Any]:
    """What torch's BatchSampler gives, in its order, without a list of single numbers where that is what it is made of. What it draws of torch's generator it draws now."""
    of: Any = getattr(sampler, "sampler", None)
    count = len(of) if type(of) in (RandomSampler, SequentialSampler) else 0
    if type(sampler) is not BatchSampler or count == 0 or (type(of) is RandomSampler and (of.replacement or of.generator is not None or count != len(of.data_source))):
        batches = iter(sampler)
        return itertools.chain(list(itertools.islice(batches, 1)), batches)
    if type(of) is RandomSampler:
        seed = int(torch.empty((), dtype=torch.int64).random_().item())
        order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    else:
        order = torch.arange(count)
    size = sampler.batch_size
    kept = count - count % size if sampler.drop_last else count
    return iter(order[:kept].split(size) if kept > 0 else ())  # split() of nothing gives one empty part.


def _flights(batches: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Up to `size` batches of equally many seeds, but for the last of them, which may have fewer."""
    flight: list[Any] = []
    for batch in batches:
        if flight and (len(flight) == size or len(batch) > len(flight[0]) or len(flight[-1]) < len(flight[0])):
            yield flight
            flight = []
        flight.append(batch)
    if flight:
        yield flight


def _placed(data: Any, sampler: NeighborSampler, placement: str) -> tuple[Any, dict[str, Any]]:
    """The data as batches are gathered from it, and the tables of what stays in host memory."""
    choice("placement", placement, PLACEMENTS)
    if is_remote(data):
        if placement != "auto":
            raise ValueError(f'placement: got {placement!r}, expected "auto": the feature store says where its tensors are')
        return data, {}
    if not sampler.on_gpu:
        if placement != "auto":
            raise ValueError(f'placement: got {placement!r}, expected "auto": the CPU samples, and reads attributes where they are')
        return data, {}
    away = [key for key, value in data._store.items() if isinstance(value, torch.Tensor) and value.device.type == "cpu" and data.is_node_attr(key)]
    if placement == "auto":
        bytes_of = sum(value.numel() * value.element_size() for value in data._store.values() if isinstance(value, torch.Tensor) and value.device.type == "cpu")
        free = torch.cuda.mem_get_info(sampler.device)[0]
        placement = "device" if 2 * bytes_of <= free else "spread" if sampler.own and 2 * bytes_of <= free * ranks_of() else "host"
    tables: dict[str, Any] = {}
    resident = copy.copy(data)
    if placement == "device":
        for key, value in data._store.items():
            if type(value) is not torch.Tensor or value.layout != torch.strided or value.device not in (sampler.device, torch.device("cpu")) or not data.is_node_attr(key):
                continue
            if value.dim() >= 2 and value.data_ptr() % 4 == 0 and not value.requires_grad and data.__cat_dim__(key, value) == 0 and value.numel() > 0 and value[0].numel() * value.element_size() % 4 == 0:
                tables[key] = Resident(value.detach().to(sampler.device).contiguous())
                del resident[key]
    else:
        busiest = None
        if placement == "cached":
            degrees = torch.bincount(torch.empty(0, dtype=torch.long) if data.edge_index is None else data.edge_index[0].cpu(), minlength=sampler.num_nodes)
            busiest = degrees.topk(max(1, sampler.num_nodes // 10)).indices.numpy()
        for key in away:
            value = data[key]
            if value.dim() == 2 and value.dtype in (torch.float32, torch.float16, torch.float64) and data.__cat_dim__(key, value) == 0:
                tables[key] = Table(value.detach().contiguous().numpy(), placement="device" if placement == "spread" else placement, cached=busiest, device="cuda",
                                    session=sampler._session)
                del resident[key]
    # Only its device and its length are asked for.
    resident.edge_index = torch.zeros((2, 1), dtype=torch.long, device=sampler.device).expand(2, data.num_edges)
    resident.num_nodes = data.num_nodes
    return resident.to(sampler.device), tables


def _tell_once(key: str, text: str) -> None:
    if key not in _told:
        _told.add(key)
        warnings.warn(text, stacklevel=4)
