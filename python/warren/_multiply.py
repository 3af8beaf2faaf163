# SPDX-License-Identifier: Apache-2.0
"""Products with a graph's matrix A. Row v of A holds v's out-edges: A[v, u] is the weight of the edge (v, u), 1 where the graph has no weights.

Both check their arguments before they work, release the interpreter's lock, and end at Ctrl-C.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import dense_operand, flag
from ._graph import Graph, check_graph
from ._libraries import library_of, to_library
from ._results import run_info
from ._session import Session, choice, run_of
from ._views import gpu_of

# As sparse::Normalization::Kind.
NORMALIZATIONS: dict[str | None, int] = {None: 0, "row": 1, "sym": 2}
STRATEGIES = {name: at for at, name in enumerate(["auto", *_core.strategies()])}


def spmm(graph: Graph, B: Any, normalize: str | None = None, transpose: bool = False, strategy: str = "auto", self_loops: bool = False, weighted: bool = True,
         device: str = "auto", devices: int | str = "auto", session: Session | None = None, return_info: bool = False) -> Any:
    """C = A B: C[v] = the sum over v's out-edges (v, u) of A[v, u] B[u].

    B: shape (n, k) or (n,), an array of any library; float64 and integers are rounded to float32. C is a new float32 array of B's shape and library, where B is.
    B on a GPU: one rank runs there, reads it where it is once B's stream has it, and writes C there; several ranks copy the rows that each has.
    normalize: None; "row": D^-1 A, the mean of the neighbours; "sym": D^-1/2 A D^-1/2. D[v] is the sum of row v; a row that sums to 0 is 0.
    transpose: A's transpose in place of A, normalised as a matrix of its own.
    self_loops: A + I in place of A, before it is normalised; loops that the graph has stay.
    weighted: False takes every edge for 1, whatever weights the graph has. devices: how many ranks; "auto": the session's number, else one.
    strategy: how rows cross between ranks, "staged" or "pull" say, as in docs/command-line.md; "auto" measures, and remembers.
    return_info: gives (C, info), info being a dict with the names of the command line's JSON.
    Sums are float32. Repeats bit for bit on one device, number of ranks and strategy other than "once".
    Raises ValueError for another shape of B, an option that is none, an integer weight that float32 does not hold (above 2^24), and "sym" of a row with
    a negative sum; MemoryError.
    """
    check_graph(graph)
    b = dense_operand("B", B, graph.num_vertices)
    kind = choice("normalize", normalize, NORMALIZATIONS)
    choice("strategy", strategy, STRATEGIES)
    run = run_of("auto", "auto", device, devices, session)
    flag("return_info", return_info)
    values, used, ran = _core.spmm(graph._core, flat(b), columns_of(b), kind, flag("self_loops", self_loops), flag("transpose", transpose), flag("weighted", weighted), strategy, run)
    C = to_library(values, library_of(B), gpu_of(B)).reshape(b.shape)
    if not return_info:
        return C
    return C, {**run_info("spmm", graph, ran), "k": columns_of(b), "type": "float32", "weighted": graph.is_weighted and flag("weighted", weighted), "strategy": used}


def sddmm(graph: Graph, X: Any, Y: Any, weighted: bool = True, device: str = "auto", devices: int | str = "auto", session: Session | None = None,
          return_info: bool = False) -> Any:
    """vals[e] = A[v, u] <X[v], Y[u]> for every edge e = (v, u), in the order of graph.to_edges().

    X, Y: both of shape (n, k), or (n,), arrays of any library; float64 and integers are rounded to float32. vals is a new float32 array, an element an
    edge, of X's library and where X is. X or Y on a GPU: as B of spmm(); both on one GPU, or one in host memory. weighted: False takes every A[v, u] for 1. return_info: gives (vals, info), as spmm() does.
    Sums are float32. Repeats bit for bit.
    Raises ValueError for other shapes, an option that is none, and an integer weight that float32 does not hold (above 2^24); MemoryError.
    """
    check_graph(graph)
    x, y = dense_operand("X", X, graph.num_vertices), dense_operand("Y", Y, graph.num_vertices)
    if x.shape != y.shape:
        raise ValueError(f"Y: got an array of shape {y.shape}, expected X's, {x.shape}")
    if isinstance(x, _core.View) and isinstance(y, _core.View) and x.gpu != y.gpu:
        raise ValueError(f"Y: got an array on GPU {y.gpu}, expected X's, {x.gpu}")
    run = run_of("auto", "auto", device, devices, session)
    flag("return_info", return_info)
    values, ran = _core.sddmm(graph._core, flat(x), flat(y), columns_of(x), flag("weighted", weighted), run)
    out = to_library(values, library_of(X), gpu_of(X))
    if not return_info:
        return out
    return out, {**run_info("sddmm", graph, ran), "k": columns_of(x), "type": "float32", "weighted": graph.is_weighted and flag("weighted", weighted)}


def columns_of(matrix: np.ndarray | _core.View) -> int:
    """k: 1 for a vector."""
    return 1 if len(matrix.shape) == 1 else int(matrix.shape[1])


def flat(matrix: np.ndarray | _core.View) -> np.ndarray | _core.View:
    return matrix.reshape(-1) if isinstance(matrix, np.ndarray) else matrix
