# SPDX-License-Identifier: Apache-2.0
"""Sampled neighbourhoods of vertices, for mini-batches."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import seed_number, whole_number
from ._graph import Graph, check_graph, is_one, vertices_of
from ._results import run_info
from ._session import Session, run_of
from ._train import fanouts as hops_of


class SampledLayer:
    """One hop: row i holds the sampled edges of vertex i, for the vertices that the sample had before the hop.

    offsets (int64): rows + 1, from 0. targets (int32): places in the sample's `vertices`. edge_ids (int64): places of these edges in graph.to_edges().
    """

    def __init__(self, offsets: np.ndarray, targets: np.ndarray, edge_ids: np.ndarray):
        self.offsets = offsets
        self.targets = targets
        self.edge_ids = edge_ids

    def __repr__(self) -> str:
        return f"<SampledLayer {len(self.targets)} edges of {len(self.offsets) - 1} vertices>"


class Sample:
    """vertices (int32): the seeds in their order, then, hop by hop, the vertices that are new; num_seeds; layers, a SampledLayer a hop from the seeds
    outwards; trees (int32): of `disjoint` the seed whose tree a vertex is in, else None. `seconds`, and `info` with the names of the command line's JSON."""

    def __init__(self, graph: Graph, num_seeds: int, found: tuple[Any, ...]):
        self.vertices: np.ndarray = found[0]
        self.trees: np.ndarray | None = found[1] if found[1].size > 0 else None
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


def sample(graph: Graph, seeds: Any, fanouts: Sequence[int] | int = (15, 10, 5), replace: bool = False, weighted: bool = False, disjoint: bool = False, seed: int = 1,
           batch: int = 0, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None) -> Sample:
    """Neighbours of vertices, sampled hop by hop along their edges: of a vertex' N neighbours min(N, M) different ones, uniformly, M being the hop's fanout.

    seeds: a vertex, or a list or an array of them, which may repeat; names where the graph has some. fanouts: numbers of neighbours from the seeds outwards; -1: all.
    replace: M draws of all neighbours. weighted: draws go by the edges' weights, which are 0 or more. disjoint: every sampled edge has a vertex of its own.
    seed, batch: batches of one seed draw differently by their numbers. The sample is a function of the graph, these two and the seeds alone: the same on
    every device and number of ranks. A session keeps what sampling needs for the next batch of as many seeds with the same options.
    Raises VertexError (an IndexError) for a seed that is no vertex; ValueError for no seeds, a fanout out of range, and `weighted` for a graph without weights,
    with a negative one or with none above 0; MemoryError.
    """
    check_graph(graph)
    hops = hops_of("fanouts", fanouts)
    run = run_of("auto", edges, device, devices, session)
    chosen = [graph.vertex(seeds, "seeds")] if is_one(graph, seeds) else vertices_of(graph, seeds, "seeds")
    if not chosen:
        raise ValueError("seeds: got none, expected one or more")
    number = whole_number("batch", batch, 0, "a number from 0 to 2**64 - 1")
    if number >= 2**64:
        raise ValueError(f"batch: got {number}, expected a number from 0 to 2**64 - 1")
    found = _core.sample(graph._core, np.array(chosen, np.uint32), hops, bool(replace), bool(weighted), bool(disjoint), seed_number(seed), number, run)
    return Sample(graph, len(chosen), found)
