# SPDX-License-Identifier: Apache-2.0
"""Graphs that are read, generated, or made of arrays."""
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._arrays import MAX_VERTICES, as_numpy, check_range, flag, is_utf8, memory_bytes, offsets_array, path_text, seed_number, vertex_ids, weights_array, whole_number
from ._graph import Graph
from ._libraries import library_of
from ._session import choice

IDS = {"auto": 0, "words": 1}
LISTS = {"memory": 0, "file": 1, "auto": 2, "ranges": 3}
DRAWN = {"auto": 2, "memory": 0, "ranges": 3}
GENERATORS = ("kron:", "urand:", "grid:", "community:")


def read(name: str | os.PathLike[str], symmetrize: bool = False, drop_self_loops: bool = False, keep_duplicates: bool = False, sum_duplicates: bool = False,
         one_based: bool = False, compact: bool = False, format: str | None = None, ids: str = "auto", headings: bool | None = None, weights: str | None = None,
         seed: int = 1, *, edges: str = "auto", host_memory: int | None = None) -> Graph:
    """The graph that `name` is: a file of any format of the command line, a generator ("kron:20"), a dataset's folder, or the name of a dataset.

    symmetrize: adds (v, u) for every (u, v). drop_self_loops: leaves out (v, v). Parallel edges are merged, weights by minimum; keep_duplicates keeps
    them, sum_duplicates adds them up.
    one_based, compact: of edge lists: ids begin with 1; only ids that occur are vertices. format: the format, whatever the name ends with ("el").
    ids: "words": ids of edge lists are words, numbers too. headings: whether the first line of an edge list is one of headings; None: its look tells.
    weights: "file": the file must have some; "uniform:LO:HI": drawn by `seed`; "none": left out; None: those of the file where it has any.
    edges: "memory": lists are read into the host's memory. "file": they stay in a .wgr file with plain lists of which nothing else is wanted, without its
    weights; bfs, connected_components and pagerank read them from there, and other calls, and what asks for the graph's arrays, map the file. "auto": in
    the file where that can be, and the graph does not fit the host's memory. "ranges": in ranks that are processes (join_processes) each rank reads its
    own ranges of such a .wgr file, or draws its own part of a generator's graph, in the first call: bfs, sssp, connected_components and pagerank
    then hold no other rows on the host (as long as vertices are in the file's order), and what asks for the graph's arrays reads all of it. Of other
    sources, and in one process, it is "memory"; Graph.edges_in and edges_reason tell.
    host_memory: bytes that the host is believed to have; None: what it has, which a control group may limit.
    Raises FileNotFoundError; ValueError, whose text names the file and the line; MemoryError.
    """
    options = _core.ReadOptions()
    options.lists = choice("edges", edges, LISTS)
    options.host_memory = memory_bytes(host_memory)
    options.symmetrize = flag("symmetrize", symmetrize)
    options.drop_self_loops = flag("drop_self_loops", drop_self_loops)
    options.keep_duplicates = flag("keep_duplicates", keep_duplicates)
    options.sum_duplicates = flag("sum_duplicates", sum_duplicates)
    options.one_based = flag("one_based", one_based)
    options.compact = flag("compact", compact)
    options.format = _text("format", format)
    options.has_headings = None if headings is None else flag("headings", headings)
    options.weights = _text("weights", weights)
    options.seed = seed_number(seed)
    options.are_words = bool(choice("ids", ids, IDS))
    return Graph(_core.read(_place(name), options))


def generate(spec: str, seed: int = 1, symmetrize: bool = False, drop_self_loops: bool = False, keep_duplicates: bool = False, sum_duplicates: bool = False,
             weights: str | None = None, *, edges: str = "auto") -> Graph:
    """The graph that `spec` draws with `seed`: "kron:SCALE[,DEGREE]", "urand:SCALE[,DEGREE]", "grid:WIDTHxHEIGHT" or "community:VERTICES,DEGREE".

    The same graph on every machine. The options are those of read(). Raises ValueError for a spec that is none, MemoryError.
    """
    if not (isinstance(spec, str) and spec.startswith(GENERATORS)):
        raise ValueError(f'spec: got {spec!r}, expected a generator, "kron:20" say; they are ' + ", ".join(GENERATORS))
    choice("edges", edges, DRAWN)
    return read(spec, symmetrize, drop_self_loops, keep_duplicates, sum_duplicates, weights=weights, seed=seed, edges=edges)


def from_edges(src: Any, dst: Any, weights: Any = None, num_vertices: int | None = None, symmetrize: bool = False, drop_self_loops: bool = False,
               keep_duplicates: bool = False, sum_duplicates: bool = False) -> Graph:
    """The graph of the edges (src[i], dst[i]): m elements each of any integer type, in arrays of any library with DLPack, the buffer or the CUDA
    array interface, or lists.

    weights: None, or m numbers: integers that all fit become int32, others float32 (float64 is rounded). num_vertices: n; None: the largest id plus one.
    Parallel edges are merged, weights by minimum; keep_duplicates keeps them, sum_duplicates adds them up. symmetrize adds (v, u) for every (u, v).
    The arrays are copied; results are of their library (Graph.arrays). Raises VertexError (an IndexError) for an id out of range; ValueError, naming the argument, for another length, shape or
    type, and NaN; MemoryError.
    """
    return graph_of_edges(src, dst, weights, num_vertices, symmetrize, drop_self_loops, keep_duplicates, sum_duplicates)


def graph_of_edges(src: Any, dst: Any, weights: Any, num_vertices: int | None, symmetrize: bool = False, drop_self_loops: bool = False, keep_duplicates: bool = False,
                   sum_duplicates: bool = False, names: tuple[str, str, str, str] = ("src", "dst", "weights", "num_vertices"), place: Callable[[int], str] | None = None) -> Graph:
    """As from_edges(). names: what errors call the arguments; place: what they call the weight at an index."""
    limit = None if num_vertices is None else whole_number(names[3], num_vertices, 0, "a number of vertices, or None")
    if limit is not None and limit > MAX_VERTICES:
        raise ValueError(f"{names[3]}: got {limit}, expected at most {MAX_VERTICES}")
    sources, targets = vertex_ids(names[0], src, limit), vertex_ids(names[1], dst, limit)
    if sources.size != targets.size:
        raise ValueError(f"{names[1]}: got {targets.size} ids, expected as many as {names[0]} has, {sources.size}")
    options = _core.ArrayOptions(flag("symmetrize", symmetrize), flag("drop_self_loops", drop_self_loops), flag("keep_duplicates", keep_duplicates), flag("sum_duplicates", sum_duplicates))
    values, is_rounded = weights_array(names[2], weights, sources.size, place)
    graph = Graph(_core.from_edges(sources, targets, values, limit or 0, options), arrays=library_of(src, dst, weights))
    graph._is_rounded = is_rounded
    return graph


def from_csr(offsets: Any, targets: Any, weights: Any = None, symmetrize: bool = False, drop_self_loops: bool = False, keep_duplicates: bool = False,
             sum_duplicates: bool = False, *, copy: bool = True) -> Graph:
    """The graph whose vertex v has the edges to targets[offsets[v]:offsets[v + 1]].

    offsets: n + 1 integers, ascending from 0 to m. targets: m integers. weights: None, or m numbers: integers that all fit become int32, others
    float32 (float64 is rounded).
    copy: True: the graph has arrays of its own. False: contiguous arrays in host memory are shared with the graph, which keeps them alive: offsets as int64, targets as int32 or
    uint32, weights as int32 or float32, if rows are sorted and without parallel edges; others are copied. Arrays that are shared must not be written any more: they are
    looked at once, and calls after that end in wrong results or a crash. The other options are those of from_edges().
    Raises VertexError (an IndexError) for a target out of range; ValueError, naming the argument, for offsets that do not ascend, another length,
    shape or type, and NaN; MemoryError.
    """
    return graph_of_rows(offsets, targets, weights, symmetrize, drop_self_loops, keep_duplicates, sum_duplicates, copy)


def graph_of_rows(offsets: Any, targets: Any, weights: Any, symmetrize: bool = False, drop_self_loops: bool = False, keep_duplicates: bool = False, sum_duplicates: bool = False,
                  copy: bool = True, place: Callable[[int], str] | None = None) -> Graph:
    """As from_csr(). place: what errors call the weight at an index."""
    given = as_numpy("offsets", offsets), as_numpy("targets", targets), None if weights is None else as_numpy("weights", weights)
    rows = offsets_array("offsets", given[0])
    columns = given[1]
    n = rows.size - 1
    # The engine checks these on all threads; a negative one looks like a large one there.
    is_as_it_is = columns.ndim == 1 and columns.dtype in (np.int32, np.uint32) and columns.dtype.isnative and n < 2**31
    ids = np.ascontiguousarray(columns).view(np.uint32) if is_as_it_is else vertex_ids("targets", columns, n)
    options = _core.ArrayOptions(flag("symmetrize", symmetrize), flag("drop_self_loops", drop_self_loops), flag("keep_duplicates", keep_duplicates), flag("sum_duplicates", sum_duplicates))
    flag("copy", copy)
    try:
        values, is_rounded = weights_array("weights", given[2], ids.size, place)
        if copy:
            rows, ids, values = (_own(made, array) for made, array in zip((rows, ids, values), given))
        graph = Graph(_core.from_csr(rows, ids, values, options), arrays=library_of(offsets, targets, weights))
        graph._is_rounded = is_rounded
        return graph
    except ValueError:
        if is_as_it_is:
            check_range("targets", columns, n)
        raise


def _own(made: Any, given: np.ndarray | None) -> Any:
    """`made`, or a copy where it lies in the memory of `given`."""
    return made.copy() if made is not None and given is not None and np.may_share_memory(made, given) else made


def _text(name: str, value: str | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not is_utf8(value):
        raise ValueError(f"{name}: got {value!r}, expected a str or None")
    return value


def shipped_data() -> Path:
    """The folder of the datasets that come with the package."""
    return Path(__file__).parent / "share" / "warren"


def _place(name: str | os.PathLike[str]) -> str:
    """The path or name for the engine, which does not know where the package keeps its datasets."""
    text = path_text("name", name, "the name of a graph, a str or a path")
    is_word = bool(text) and not text.startswith(".") and "/" not in text
    if is_word and not os.path.exists(text) and not os.path.isdir(os.path.join("data", text)) and "WARREN_DATA" not in os.environ:
        shipped = shipped_data() / text
        if shipped.is_dir():
            return str(shipped)
    return text
