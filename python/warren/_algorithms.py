# SPDX-License-Identifier: Apache-2.0
"""A function an algorithm. All check their arguments before they work, release the interpreter's lock, and end at Ctrl-C.

They have these options in common:
  device    "auto": the session's; "cpu" or "cuda".
  devices   how many ranks; "auto": the session's number, or as many GPUs as make the call faster; one rank uses all threads of the CPU.
  mode      "sync": one step after another with a barrier between them; "async": as tasks. "auto": sync, and async where an earlier search showed that it pays.
  edges     where the lists of edges lie: "device"; "host", which GPUs read in place; "compressed-host". bfs, connected_components
            and pagerank take "file", of a graph that was read so: its lists are read from the .wgr file, by one rank. "auto" is "file" of such a graph, else "device".
  host_memory  of these three: bytes that the host is believed to have; None: what it has. With edges="file" a call says before it works what it takes.
  verify    True: the result is checked on the host by code that shares none with what it checks, as the command line's --verify does. That takes a multiple
            of the call's time. A wrong result raises VerificationError, which names the first vertex or edge that is wrong; of a right one `verified` is True.
  session   a warren.Session; None: that of the `with` around the call, else the standard one.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import as_numpy, flag, memory_bytes, real_number, seed_number, whole_number
from ._graph import Graph, check_graph, is_one, vertices_of
from ._progress import AskedProgress, Telling, check_progress, is_asked
from ._results import BetweennessResult, BfsResult, ComponentsResult, CoreNumberResult, PageRankResult, SsspResult, TrianglesResult
from ._session import Session, choice, run_of

MAX_DEPTH = 2**32 - 2
# What float32 adds to a path's length at most, by its size: a path of weights that were rounded may be longer than cutoff by so much.
ROUNDING = 2.0**-23
FORMS = {"auto": 0, "forest": 1, "search": 2}


def bfs(graph: Graph, source: Any, depth_limit: int | None = None, device: str = "auto", devices: int | str = "auto", mode: str = "auto", edges: str = "auto",
        session: Session | None = None, *, targets: Any = None, nearest: bool = False, deterministic: bool = False, host_memory: int | None = None,
        verify: bool = False, progress: AskedProgress = None) -> BfsResult:
    """depth(v) = the least number of edges on a path from the source to v, along the edges' direction; parent(v) is a neighbour on such a path.

    source: a vertex, or a name where the graph has names; a list of k sources gives arrays of k x n, a row a source. With nearest=True it gives arrays of
    n: one search from all of them together, in which depth(v) is that from the nearest source, as cuGraph has it.
    depth_limit: the search ends there; farther vertices are not reached.
    targets: a vertex, or a list of them: the search ends with the level after which all of them are reached. Where one cannot be, it reaches all that it can.
    Depths repeat bit for bit, and are those of a search without limits; which of several possible parents is told does not, but with
    deterministic=True, where it is the smallest (found on the host).
    Mode "auto" is "sync" where there is a limit; "async" searches all, and tells what is within the limit.
    progress: of a list of sources without nearest, as of sample_batches(), the unit being "sources".
    Raises VertexError (an IndexError) for a source or a target that is no vertex, ValueError for another option, MemoryError.
    """
    check_graph(graph)
    limit = None if depth_limit is None else min(whole_number("depth_limit", depth_limit, 0, "None, or a number of 0 or more"), MAX_DEPTH)
    run = run_of(mode, _placed(graph, edges), device, devices, session, memory_bytes(host_memory), verify)
    ends = _targets(graph, targets)
    v, sources, nearest = _start(graph, source, nearest)
    if is_asked(progress) and (v is not None or nearest):
        raise ValueError(f"progress: got {progress!r} with one search, expected None: searches from each of several sources tell it")
    check_progress(progress)
    if v is not None:
        return BfsResult(graph, v, *_core.bfs(graph._core, v, None, limit, ends, flag("deterministic", deterministic), run))
    if nearest:
        return BfsResult(graph, sources, *_core.bfs(graph._core, 0, np.array(sources, np.uint32), limit, ends, flag("deterministic", deterministic), run))
    with Telling(progress):
        report, ran, depth, parent, reached, max_depth = _core.bfs_from_each(graph._core, np.array(sources, np.uint32), limit, ends, flag("deterministic", deterministic), run)
    return BfsResult(graph, sources, report, ran, _rows(depth, len(sources)), _rows(parent, len(sources)), reached, max_depth)


def _start(graph: Graph, source: Any, nearest: Any) -> tuple[int | None, list[int], bool]:
    """One source and no list of them, or None and a list; and whether one search starts at all of these."""
    together = flag("nearest", nearest)
    if is_one(graph, source):
        if together:
            raise ValueError(f"nearest: got True with one source, {source!r}; expected a list of sources")
        return graph.vertex(source), [], together
    sources = vertices_of(graph, source)
    if not sources:
        raise ValueError("source: got no sources, expected one or more")
    return None, sources, together


def _placed(graph: Graph, edges: Any) -> Any:
    """Where "auto" leaves the lists."""
    return "file" if graph._core.is_in_file and isinstance(edges, str) and edges == "auto" else edges


def _targets(graph: Graph, targets: Any) -> np.ndarray | None:
    if targets is None:
        return None
    some = [graph.vertex(targets, "targets")] if is_one(graph, targets) else vertices_of(graph, targets, "targets")
    if not some:
        raise ValueError("targets: got no targets, expected None, a vertex, or a list of one or more")
    return np.array(some, np.uint32)


def _rows(values: _core.Array, rows: int) -> np.ndarray:
    """Of searches one after another, whose values are in host memory, a row each."""
    return values.numpy().reshape(rows, -1)


def sssp(graph: Graph, source: Any, delta: float | None = None, cutoff: float | None = None, device: str = "auto", devices: int | str = "auto", mode: str = "auto",
         edges: str = "auto", session: Session | None = None, *, targets: Any = None, nearest: bool = False, verify: bool = False,
         progress: AskedProgress = None) -> SsspResult:
    """distance(v) = the least sum of weights on a path from the source to v.

    source: a vertex, or a name where the graph has names; a list of k sources gives an array of k x n, a row a source. With nearest=True it gives an array of
    n: one search from all of them together, in which distance(v) is that from the nearest source.
    delta: the width of a bin of distances; None: by the mean weight and degree. cutoff: the search ends there; farther vertices are not reached.
    targets: a vertex, or a list of them: the search ends once their distances are final, and what is farther than the farthest of them is not reached.
    Where one cannot be reached, all are that can.
    Integer weights are summed exactly in int64, float32 weights in float64. Where float32 holds other weights than were given (0.1), distances are off by 1e-7 of themselves at
    most, and a vertex that is farther than cutoff by less than that is reached. Repeats bit for bit. Mode "auto" is "sync" where there is a limit; "async"
    searches all, and tells what is within the limit.
    progress: of a list of sources without nearest, as of sample_batches(), the unit being "sources".
    Raises VertexError (an IndexError) for a source or a target that is no vertex; ValueError for a graph without weights, a weight that is negative or not
    finite, or another option; MemoryError.
    """
    check_graph(graph)
    width = 0.0 if delta is None else real_number("delta", delta, "None, or a width above 0")
    if delta is not None and not (math.isfinite(width) and width > 0):
        raise ValueError(f"delta: got {delta!r}, expected None, or a width above 0")
    limit = None if cutoff is None else real_number("cutoff", cutoff, "None, or a distance of 0 or more")
    if limit is not None and not limit >= 0:
        raise ValueError(f"cutoff: got {cutoff!r}, expected None, or a distance of 0 or more")
    if limit is not None and graph._is_rounded:
        limit *= 1 + ROUNDING
    run = run_of(mode, edges, device, devices, session, 0, verify)
    ends = _targets(graph, targets)
    v, sources, nearest = _start(graph, source, nearest)
    if is_asked(progress) and (v is not None or nearest):
        raise ValueError(f"progress: got {progress!r} with one search, expected None: searches from each of several sources tell it")
    check_progress(progress)
    if v is not None:
        return SsspResult(graph, v, *_core.sssp(graph._core, v, None, width, limit, ends, run))
    if nearest:
        return SsspResult(graph, sources, *_core.sssp(graph._core, 0, np.array(sources, np.uint32), width, limit, ends, run))
    with Telling(progress):
        report, ran, distance, reached = _core.sssp_from_each(graph._core, np.array(sources, np.uint32), width, limit, ends, run)
    return SsspResult(graph, sources, report, ran, _rows(distance, len(sources)), reached)


def connected_components(graph: Graph, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
                         form: str = "auto", host_memory: int | None = None, verify: bool = False) -> ComponentsResult:
    """label(v) = the smallest vertex that is connected with v by edges taken in either direction.

    form: "forest" links sampled edges first (Afforest), of any graph, everywhere. "search" begins with a breadth-first search from a hub: of a symmetric
    graph, with its edges on the device, on ranks that reach each other's memory. "auto" is "search" where it is likely to be
    faster: on several ranks where a vertex has far more edges than most, on one GPU for a large graph with a hub, on one rank of a CPU for a large graph of mean degree 6 or more; else "forest".
    Repeats bit for bit, whatever the form. Raises ValueError for an option that is none, and for "search" where it cannot run; MemoryError.
    """
    check_graph(graph)
    which = choice("form", form, FORMS)
    return ComponentsResult(graph, *_core.connected_components(graph._core, which, run_of("auto", _placed(graph, edges), device, devices, session, memory_bytes(host_memory), verify)))


def pagerank(graph: Graph, damping: float = 0.85, tolerance: float = 1e-6, max_iterations: int = 100, personalization: Any = None, weighted: bool = False,
             device: str = "auto", devices: int | str = "auto", mode: str = "auto", edges: str = "auto", session: Session | None = None, *,
             host_memory: int | None = None, dangling: Any = None, nstart: Any = None, verify: bool = False, progress: AskedProgress = None) -> PageRankResult:
    """r(v) = (1 - d) / n + d (sum over in-edges (u, v) of r(u) / outdegree(u) + D / n), D being the rank of the vertices without out-edges.

    damping: d, 0 or more and less than 1; with `weighted`, personalization, dangling or nstart also 1. Then no rank starts anew: the iterations converge on some graphs alone (not on a
    cycle, but from 1 / n), to ranks that depend on nstart, and `converged` tells. tolerance: stops at an L1 change of at most this; at max_iterations it ends with `converged` False.
    weighted: a vertex passes its rank on in proportion to its edges' weights. mode "auto" is "sync".
    personalization: where ranks start anew, p(v) in place of 1 / n: n numbers of 0 or more, or a dict {vertex: number}, others being 0; they are
    divided by their sum.
    dangling: likewise, where the rank of the vertices without out-edges goes, D q(v) in place of D / n; None: as personalization. nstart: likewise, what r is
    before the first iteration; None: 1 / n, with and without the others. Both as NetworkX has them.
    Repeats bit for bit on one device and number of ranks, but for mode "async".
    progress: as of sample_batches(), the unit being "iterations", of which there are max_iterations at most. A GPU with the edges in memory tells them at the end.
    Raises ValueError for options out of range, and `weighted` for a graph without weights, or with a weight that is negative or not finite; MemoryError.
    """
    check_graph(graph)
    numbers = real_number("damping", damping, "0 or more, and less than 1"), real_number("tolerance", tolerance, "0 or more")
    iterations = min(whole_number("max_iterations", max_iterations, 0, "a number of 0 or more"), 2**32 - 1)
    run = run_of("sync" if isinstance(mode, str) and mode == "auto" else mode, _placed(graph, edges), device, devices, session, memory_bytes(host_memory), verify)
    anew, left, start = _shares(graph, "personalization", personalization), _shares(graph, "dangling", dangling), _shares(graph, "nstart", nstart)
    if is_asked(progress) and mode == "async":
        raise ValueError(f'progress: got {progress!r} with mode "async", which has no iterations to tell; expected None, or mode "sync"')
    with Telling(progress):
        return PageRankResult(graph, *_core.pagerank(graph._core, *numbers, iterations, anew, flag("weighted", weighted), left, start, run))


def _shares(graph: Graph, name: str, values: Any) -> np.ndarray | None:
    """A number for each vertex, of a mapping or an array."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        shares = np.zeros(graph.num_vertices)
        for vertex, value in values.items():
            shares[graph.vertex(vertex, name)] += real_number(name, value, "numbers")
    else:
        array = as_numpy(name, values)
        if array.shape != (graph.num_vertices,) or array.dtype.kind not in "biuf":
            raise ValueError(f"{name}: got {array.dtype} of shape {array.shape}, expected a number a vertex, {graph.num_vertices}, or a dict of vertices")
        shares = np.ascontiguousarray(array, dtype=np.float64)
    expected = "expected finite numbers of 0 or more, with a sum above 0"
    wrong = np.flatnonzero(~(shares >= 0) | (shares == np.inf))
    if wrong.size > 0:
        raise ValueError(f"{name}: got {shares[wrong[0]]} for vertex {wrong[0]}, {expected}")
    with np.errstate(over="ignore"):
        total = shares.sum()
    if total == np.inf:
        scaled: np.ndarray = shares / shares.size  # Whose sum is finite.
        return scaled
    if shares.size > 0 and not total > 0:
        raise ValueError(f"{name}: got numbers with the sum {total}, {expected}")
    return shares


def betweenness(graph: Graph, sources: Any = None, normalized: bool = True, seed: int | None = None, device: str = "auto", devices: int | str = "auto", edges: str = "auto",
                session: Session | None = None, *, verify: bool = False, progress: AskedProgress = None) -> BetweennessResult:
    """score(v) = scale times the sum, over sources s and all t, of the part of the shortest paths (by edges) from s to t that lead through v.

    sources: None: all vertices, which is exact; a number k: k vertices, drawn by `seed` (1 where it is None); a list of vertices. scale is n / k, by which k sources stand for all;
    with `normalized` it is divided by (n - 1) (n - 2), else by 2 for graphs whose edges all have their reverses, whatever the weights. Repeats bit for bit on one device and number of ranks while
    no count of paths passes 2^53.
    progress: as of sample_batches(), the unit being "sources".
    Raises VertexError (an IndexError) for a source that is no vertex, ValueError for another option and a seed where no sources are drawn, MemoryError.
    """
    check_graph(graph)
    run = run_of("auto", edges, device, devices, session, 0, verify)
    drawn_by = 1 if seed is None else seed_number(seed)
    chosen, sample = None, 0
    if sources is not None and not isinstance(sources, str) and is_one(graph, sources):
        sample = whole_number("sources", sources, 1, "None, a number of vertices to draw, or a list of vertices")
        if sample > graph.num_vertices:
            raise ValueError(f"sources: got {sample}, expected at most the number of vertices, {graph.num_vertices}")
    elif sources is not None:
        vertices = [sources] if isinstance(sources, str) else sources
        chosen = np.array(vertices_of(graph, vertices, "sources"), np.uint32)
        if chosen.size == 0:
            raise ValueError("sources: got no sources, expected one or more")
    if seed is not None and sample == 0:
        raise ValueError(f"seed: got {seed}, but nothing is drawn: leave it out, or give sources as a number of vertices to draw")
    with Telling(progress):
        return BetweennessResult(graph, *_core.betweenness(graph._core, chosen, sample, drawn_by, flag("normalized", normalized), run))


def core_number(graph: Graph, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
                verify: bool = False) -> CoreNumberResult:
    """core(v) = the largest k for which v lies in a subgraph whose vertices all have k neighbours or more in it.

    Edges count whatever their direction, and once however many there are between two vertices; self-loops do not count.
    Exact. Raises ValueError for an option that is none, MemoryError.
    """
    check_graph(graph)
    return CoreNumberResult(graph, *_core.core_numbers(graph._core, run_of("auto", edges, device, devices, session, 0, verify)))


def triangles(graph: Graph, device: str = "auto", devices: int | str = "auto", edges: str = "auto", session: Session | None = None, *,
              verify: bool = False) -> TrianglesResult:
    """count(v) = the pairs of neighbours of v that are neighbours of each other, in an undirected graph.

    Parallel edges count once, self-loops and weights not at all. Exact. Raises ValueError for a graph that has an edge without its reverse, and for an option that is none; MemoryError.
    """
    check_graph(graph)
    return TrianglesResult(graph, *_core.triangles(graph._core, run_of("auto", edges, device, devices, session, 0, verify)))
