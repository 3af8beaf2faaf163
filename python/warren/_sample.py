# SPDX-License-Identifier: Apache-2.0
"""Sampled neighbourhoods of vertices, for mini-batches: one in host memory, or many by one call that stay on the device."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import flag, seed_number, times_array, whole_number
from ._fixed import Fixed
from ._graph import Graph, check_graph, is_one, vertex_array
from ._libraries import check_library, library_of, to_library
from ._pickling import NotPickled
from ._progress import AskedProgress, Telling
from ._results import run_info
from ._session import Session, run_of
from ._train import fanouts as hops_of
from ._views import id_type, view_of


class SampledLayer(Fixed):
    """One hop: row i holds the sampled edges of vertex i, for the vertices that the sample had before the hop.

    offsets (int64): rows + 1, from 0. targets (int32): places in the sample's `vertices`. edge_ids (int64): places of these edges in graph.to_edges();
    None where they were not asked for.
    """

    def __init__(self, offsets: Any, targets: Any, edge_ids: Any):
        self.offsets = offsets
        self.targets = targets
        self.edge_ids = edge_ids

    def __repr__(self) -> str:
        return f"<SampledLayer {len(self.targets)} edges of {len(self.offsets) - 1} vertices>"


class Sample(Fixed):
    """vertices (int32): the seeds in their order, then, hop by hop, the vertices that are new; num_seeds; layers, a SampledLayer a hop from the seeds
    outwards; trees (int32): of `disjoint` the seed whose tree a vertex is in, else None. `seconds`, and `info` with the names of the command line's JSON."""

    def __init__(self, graph: Graph, num_seeds: int, found: tuple[Any, ...]):
        self.vertices: Any = found[0]
        self.trees: Any = found[1] if len(found[1]) > 0 else None
        self.layers = [SampledLayer(*layer) for layer in found[2]]
        self.num_seeds = num_seeds
        self._graph = graph
        self._ran = found[3]

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        return {**run_info("sample", self._graph, self._ran), "sampled_edges": sum(len(layer.targets) for layer in self.layers), "sampled_vertices": len(self.vertices)}

    def __repr__(self) -> str:
        return f"<warren.Sample {len(self.vertices)} vertices of {self.num_seeds} seeds, {', '.join(str(len(layer.targets)) for layer in self.layers)} edges by hop>"


class SampledBatches(Fixed, Sequence[Sample]):
    """Batches that one call sampled, in arrays with all of them, one behind the other; an item or an iteration gives a batch as a Sample of parts of these.

    vertices (int32), a batch's from vertex_begins[b]; hops: for each hop offsets (int64, of each batch one more than it has rows, from 0), targets (int32,
    places in the batch's own vertices) and edge_ids (int64, or None where not asked for), a batch's from offset_begins[b] and edge_begins[b]. Arrays are NumPy's,
    or of the library that the graph's arrays came from (Graph.arrays), in whose memory they stay; of seeds on a GPU they are of the seeds' library, on that
    GPU. array() gives those of another.
    """

    def __init__(self, graph: Graph, num_seeds: list[int], found: tuple[Any, ...], library: str | None = None, gpu: int | None = None):
        self._graph = graph
        self._library = library  # Of the seeds, where these are on a GPU, that one.
        self._gpu = gpu
        self._num_seeds = num_seeds
        self._vertices, self._trees, begins, layers, self._ran = found
        self.vertex_begins = np.array(begins, np.int64)
        self._layers = [layer[:3] for layer in layers]
        self.offset_begins = [np.array(layer[3], np.int64) for layer in layers]
        self.edge_begins = [np.array(layer[4], np.int64) for layer in layers]
        self._told: dict[tuple[str, int], Any] = {}

    def array(self, name: str, hop: int = 0, library: str | None = None) -> Any:
        """"vertices", "trees", or of a hop "offsets", "targets", "edge_ids", as an array of `library` ("numpy", "torch", "cupy", "jax"; None: as they are told)."""
        columns = ("offsets", "targets", "edge_ids")
        if not isinstance(name, str) or name not in ("vertices", "trees", *columns):
            raise ValueError(f"name: got {name!r}, expected one of 'vertices', 'trees', 'offsets', 'targets', 'edge_ids'")
        values = {"vertices": self._vertices, "trees": self._trees}.get(name)
        if values is None:
            values = self._layers[hop][columns.index(name)]
        if library is None and self._library is not None:
            return to_library(values, self._library, self._gpu)
        return to_library(values, self._graph.arrays if library is None else check_library("library", library))

    def __getstate__(self) -> dict[str, Any]:
        """Pickled with its arrays, in host memory, and its graph."""
        layers = [tuple(to_library(values, "numpy") for values in layer) for layer in self._layers]
        return {**self.__dict__, "_vertices": to_library(self._vertices, "numpy"), "_trees": to_library(self._trees, "numpy"), "_layers": layers,
                "_library": None, "_gpu": None, "_told": {}}

    def _array(self, name: str, hop: int = 0) -> Any:
        key = (name, hop)
        if key not in self._told:
            self._told[key] = self.array(name, hop)
        return self._told[key]

    @property
    def vertices(self) -> Any:
        return self._array("vertices")

    @property
    def hops(self) -> list[SampledLayer]:
        return [SampledLayer(self._array("offsets", h), self._array("targets", h), self._array("edge_ids", h) if len(layer[2]) > 0 else None)
                for h, layer in enumerate(self._layers)]

    def __len__(self) -> int:
        return len(self._num_seeds)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[b] for b in range(*at.indices(len(self)))]
        b = whole_number("batch", at, -2**63, "the number of a batch, or a slice")
        if not -len(self) <= b < len(self):
            raise IndexError(f"batch: got {b}, expected the number of a batch, 0 to {len(self) - 1}")
        b %= len(self)
        begin, end = self.vertex_begins[b:b + 2].tolist()
        layers = []
        for h, hop in enumerate(self.hops):
            first, last = self.edge_begins[h][b:b + 2].tolist()
            row, row_end = self.offset_begins[h][b:b + 2].tolist()
            layers.append((hop.offsets[row:row_end], hop.targets[first:last], None if hop.edge_ids is None else hop.edge_ids[first:last]))
        trees = self._array("trees")[begin:end] if len(self._trees) > 0 else np.empty(0, np.int32)
        return Sample(self._graph, self._num_seeds[b], (self.vertices[begin:end], trees, layers, self._ran))

    def __iter__(self) -> Iterator[Sample]:
        return (self[b] for b in range(len(self)))

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        return {**run_info("sample", self._graph, self._ran), "batches": len(self), "sampled_edges": sum(int(begins[-1]) for begins in self.edge_begins),
                "sampled_vertices": int(self.vertex_begins[-1])}

    def __repr__(self) -> str:
        return f"<warren.SampledBatches {len(self)} batches, {self.info['sampled_edges']} edges>"


class EdgeTimes(Fixed, NotPickled):
    """Times of a graph's edges, for calls that sample by time: lists of edges are sorted by the first call, and later ones with the same options and as many seeds use them.

    times: integers of 64 bits, one for each edge, in the order of to_edges(). Raises ValueError for what are none.
    """

    _kept_by = "keep the array of times, and make another one of it"

    def __init__(self, times: Any):
        self._core = _core.EdgeTimes(times_array("times", times, "one for each edge"))

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<warren.EdgeTimes of {len(self)} edges>"


def _choices(seeds: int, replace: bool, weighted: bool, disjoint: bool, once: bool, labor: bool, layer_dependency: bool, edge_times: Any, seed_times: Any,
             temporal_strategy: str) -> _core.SampleChoices:
    """Which neighbours are sampled of so many seeds."""
    choices = _core.SampleChoices()
    choices.replace, choices.weighted, choices.disjoint, choices.once = flag("replace", replace), flag("weighted", weighted), flag("disjoint", disjoint), flag("once", once)
    choices.labor, choices.layer_dependency = flag("labor", labor), flag("layer_dependency", layer_dependency)
    if not isinstance(temporal_strategy, str) or temporal_strategy not in ("uniform", "last"):
        raise ValueError(f'temporal_strategy: got {temporal_strategy!r}, expected "uniform" or "last"')
    choices.temporal_last = temporal_strategy == "last"
    if edge_times is None:
        for name, given in (("seed_times", seed_times is not None), ("temporal_strategy", choices.temporal_last)):
            if given:
                raise ValueError(f"{name}: got {'times' if name == 'seed_times' else repr(temporal_strategy)} without edge_times, expected times of the edges, too")
        return choices
    if choices.temporal_last and (replace or weighted):
        raise ValueError(f'temporal_strategy: got "last" with {"replace" if replace else "weighted"}, expected none: the latest edges are taken, and none is drawn')
    if seed_times is None:
        raise ValueError("seed_times: got None, expected a time for each seed, or one for all")
    if isinstance(seed_times, (int, np.integer)) and not isinstance(seed_times, bool):
        seed_times = np.broadcast_to(np.array(whole_number("seed_times", seed_times, -2**63, "a time of 64 bits")), (seeds,))
    times = edge_times if isinstance(edge_times, EdgeTimes) else EdgeTimes(times_array("edge_times", edge_times, "one for each edge"))
    choices.set_times(times._core, times_array("seed_times", seed_times, "one for each seed"))
    return choices


def _seeds_of(graph: Graph, seeds: Any, name: str = "seeds") -> np.ndarray:
    chosen = np.array([graph.vertex(seeds, name)], np.uint32) if is_one(graph, seeds) else vertex_array(graph, seeds, name)
    if chosen.size == 0:
        raise ValueError(f"{name}: got none, expected one or more")
    return chosen


def _seeds_on_gpu(graph: Graph, seeds: Any) -> _core.View | None:
    if not graph._takes_numbers():
        return None
    view = view_of("seeds", seeds, id_type, "ids of vertices")
    if view is None:
        return None
    if len(view.shape) != 1:
        raise ValueError(f"seeds: got an array of shape {view.shape}, expected one dimension")
    if view.size == 0:
        raise ValueError("seeds: got none, expected one or more")
    return view


def _batch_number(batch: Any) -> int:
    number = whole_number("batch", batch, 0, "a number from 0 to 2**48 - 2")
    if number >= 2**48 - 1:
        raise ValueError(f"batch: got {number}, expected a number from 0 to 2**48 - 2")
    return number


def sample(graph: Graph, seeds: Any, fanouts: Sequence[int] | int = (15, 10, 5), replace: bool = False, weighted: bool = False, disjoint: bool = False, seed: int = 1,
           batch: int = 0, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, once: bool = False, labor: bool = False, layer_dependency: bool = False,
           edge_times: Any = None, seed_times: Any = None, temporal_strategy: str = "uniform") -> Sample:
    """Neighbours of vertices, sampled hop by hop along their edges: of a vertex' N neighbours min(N, M) different ones, uniformly, M being the hop's fanout.

    seeds: a vertex, or a list or an array of them, which may repeat; names where the graph has some. fanouts: numbers of neighbours from the seeds outwards; -1: all.
    replace: M draws of all neighbours. weighted: draws go by the edges' weights, which are 0 or more. disjoint: every sampled edge has a vertex of its own.
    once: a vertex' neighbours are drawn once, in the hop after the one that found it, as PyTorch Geometric does; its row is empty in later hops. Else every
    hop draws anew for all vertices that the sample has by then.
    labor: layer-neighbour sampling (Balin and Catalyurek, NeurIPS 2023): of a vertex s the min(N, M) neighbours t with the smallest r_t, where r_t is a random
    number of (0, 1) that is t's own in this hop, whichever s it is a neighbour of; with `weighted` the smallest r_t / w(s, t). Vertices share neighbours, and the
    sample has fewer of them. layer_dependency: r_t is t's own in all hops. Parallel edges have one r_t. Not with replace, disjoint or edge_times.
    edge_times: a time for each edge, in the order of to_edges(), integers of 64 bits, or an EdgeTimes, which saves later calls with the same options the sorting. seed_times: a time for
    each seed, or one for all. Edges that are later than the seed of their tree are not sampled, and trees are disjoint. temporal_strategy: "uniform": others are
    drawn as without times; "last": the min(N, M) latest of them in the order of their times, of equal times those further on in to_edges().
    seed, batch: batches of one seed draw differently by their numbers. The sample is a function of the graph, these two, the seeds and times alone: the same on
    every device and number of ranks. Its arrays are in host memory, NumPy's or of the library that the graph's arrays came from (Graph.arrays); of seeds that are on a GPU they are of the seeds' library, on that GPU, where the seeds are read. A session keeps what sampling needs for the next batch of as many seeds with the same options.
    Raises VertexError (an IndexError) for a seed that is no vertex; ValueError for no seeds, a fanout out of range, and `weighted` for a graph without weights,
    with a negative one or with none above 0, times that are not one each, and options that do not go together; MemoryError.
    """
    check_graph(graph)
    hops = hops_of("fanouts", fanouts)
    run = run_of("auto", edges, device, devices, session)
    on_gpu = _seeds_on_gpu(graph, seeds)
    if on_gpu is not None:
        choices = _choices(on_gpu.size, replace, weighted, disjoint, once, labor, layer_dependency, edge_times, seed_times, temporal_strategy)
        many = _core.sample_batches(graph._core, on_gpu, hops, on_gpu.size, choices, True,
                                    seed_number(seed), _batch_number(batch), 1, False, run)
        only: Sample = SampledBatches(graph, [on_gpu.size], many, library_of(seeds), on_gpu.gpu)[0]
        return only
    chosen = _seeds_of(graph, seeds)
    choices = _choices(len(chosen), replace, weighted, disjoint, once, labor, layer_dependency, edge_times, seed_times, temporal_strategy)
    vertices, trees, layers, ran = _core.sample(graph._core, chosen, hops, choices, seed_number(seed), _batch_number(batch), run)

    def told(values: np.ndarray) -> Any:
        return to_library(values, graph.arrays)

    return Sample(graph, len(chosen), (told(vertices), told(trees), [tuple(told(values) for values in layer) for layer in layers], ran))


def sample_batches(graph: Graph, seeds: Any, fanouts: Sequence[int] | int = (15, 10, 5), batch_size: int = 1024, replace: bool = False, weighted: bool = False,
                   disjoint: bool = False, edge_ids: bool = False, seed: int = 1, batch: int = 0, in_flight: int = 0, device: str = "auto",
                   devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *, once: bool = False, own: bool = False,
                   labor: bool = False, layer_dependency: bool = False, edge_times: Any = None, seed_times: Any = None, temporal_strategy: str = "uniform",
                   progress: AskedProgress = None) -> SampledBatches:
    """Samples of many batches by one call, each as sample() gives it, in arrays that stay on the device.

    seeds: a list or an array of vertices, on a GPU too, batch after batch; batch_size seeds make a batch, the last one has the rest. edge_ids: tell the edges' places in the
    graph, too. batch: the first batch's number; the others follow. in_flight: batches that a device samples at a time, 0: chosen; it changes times and memory
    alone. devices: batches are shared out among them, and the arrays are on the first. The rest, determinism too, as of sample().
    own: after join_processes(), each process gives seeds of its own and gets their samples alone, on its device, at a time of its own; the first call with the
    same options all processes make together, and draws differ from process to process. edge_times are then an EdgeTimes.
    progress: a function that is called about twenty times a second, in the thread that calls, and once at the end, with a dict: "unit" ("batches"), "done" and
    "total", how many of them. What it raises ends the call. True: a bar by tqdm, where that is installed.
    Raises as sample(), and ValueError for a batch_size of 0, and for own where several devices have one process.
    """
    check_graph(graph)
    hops = hops_of("fanouts", fanouts)
    run = run_of("auto", edges, device, devices, session)
    on_gpu = _seeds_on_gpu(graph, seeds)
    chosen: np.ndarray | _core.View = _seeds_of(graph, seeds) if on_gpu is None else on_gpu
    size = whole_number("batch_size", batch_size, 1, "a number of seeds, 1 or more")
    flight = whole_number("in_flight", in_flight, 0, "a number of batches, or 0 to choose")
    most = 2**32 - 1
    choices = _choices(chosen.size, replace, weighted, disjoint, once, labor, layer_dependency, edge_times, seed_times, temporal_strategy)
    if flag("own", own) and edge_times is not None and not isinstance(edge_times, EdgeTimes):
        raise ValueError("edge_times: got an array with own, expected a warren.EdgeTimes: what the processes made together is found again by it")
    with Telling(progress):
        found = _core.sample_batches(graph._core, chosen, hops, min(size, 2**63) if own else min(size, chosen.size), choices, flag("edge_ids", edge_ids),
                                     seed_number(seed), _batch_number(batch), min(flight, most), flag("own", own), run)
    counts = [min(size, chosen.size - at) for at in range(0, chosen.size, size)]
    return SampledBatches(graph, counts, found, None if on_gpu is None else library_of(seeds), None if on_gpu is None else on_gpu.gpu)
