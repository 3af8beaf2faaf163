# SPDX-License-Identifier: Apache-2.0
"""Datasets: a graph, what is known of its vertices, and which of them models learn from."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._arrays import as_numpy, dense_matrix, flag, seed_number, vertex_ids, whole_number
from ._build import IDS, _place, _text
from ._fixed import Fixed
from ._graph import Graph, check_graph
from ._pickling import NotPickled
from ._session import choice

LABEL_FORMS = {"auto": 0, "classes": 1, "several": 2}
MAX_COLUMNS = 2**24


class Dataset(Fixed, NotPickled):
    """A graph of n vertices with features, and perhaps labels and vertices for training, validation and test. Immutable.

    graph: a warren.Graph. features: shape (n, f), an array of any library; float64 and integers are rounded to float32. Row v belongs to vertex v.
    labels: n classes from 0 (-1: none); or shape (n, c) of 0 and 1, any number of labels a vertex. None: features alone.
    train, validation, test: vertices with a label, as ids or as n booleans, each vertex in one of the three at most. None without labels.
    The arrays are copied. Raises ValueError, naming the argument, for other shapes and types, numbers that are not finite, labels out of range, and
    vertices that are in two lists or have no label; VertexError (an IndexError) for vertices that the graph does not have; MemoryError.

    warren.read_dataset makes one of files.
    """

    _kept_by = "keep the graph and the arrays that it was made of (graphs are pickled), or the name that read_dataset takes"

    def __init__(self, graph: Graph, features: Any, labels: Any = None, train: Any = None, validation: Any = None, test: Any = None):
        check_graph(graph)
        n = graph.num_vertices
        x = dense_matrix("features", features, n)
        _check_finite("features", features, x)
        classes, rows = _labels(labels, n)
        splits = (_split("train", train, n), _split("validation", validation, n), _split("test", test, n))
        self._graph = graph
        self._core = _core.make_dataset(graph._core, x.reshape(-1), classes, rows, *splits)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def num_features(self) -> int:
        """f, the columns of the features."""
        return self._core.features

    @property
    def num_classes(self) -> int:
        """Classes, or labels of which a vertex has any number; 0 without labels."""
        return self._core.classes

    @property
    def name(self) -> str:
        """What it was read by; empty of arrays."""
        return self._core.name

    def __repr__(self) -> str:
        split = " / ".join(map(str, self._core.counts))
        known = f"{self.num_classes} classes, {split} for training, validation and test" if self._core.is_labelled else "no labels"
        return f"<warren.Dataset {self.graph.num_vertices} vertices, {self.graph.num_edges} edges, {self.num_features} features, {known}>"


def read_dataset(name: str | os.PathLike[str], features: int | None = None, classes: int | None = None, labels: str = "auto", symmetrize: bool = False,
                 drop_self_loops: bool = False, keep_duplicates: bool = False, sum_duplicates: bool = False, one_based: bool = False, compact: bool = False,
                 ids: str = "auto", headings: bool | None = None, weights: str | None = None, seed: int = 1) -> Dataset:
    """The dataset that `name` is: a folder with graph.*, features.* and perhaps labels.* and splits, a public one as its authors publish it, a
    dataset's name ("debian"), or a generator ("community:10000,10") with `features`, and `classes` for labels.

    features, classes: columns and classes that a generator draws. labels: of labels in several columns: "classes" (a row has one 1, or none), "several"
    (any number a vertex), "auto": classes where every row has one 1. The other options are those of warren.read(). docs/training.md has the files.
    Raises FileNotFoundError; ValueError, whose text names the file and what would be right; MemoryError.
    """
    options = _core.DatasetOptions()
    _set_graph(options, symmetrize, drop_self_loops, keep_duplicates, sum_duplicates, one_based, compact, ids, headings, weights, seed)
    options.features, options.classes = columns_number("features", features, 1), columns_number("classes", classes, 2)
    choice("labels", labels, LABEL_FORMS)
    options.labels = labels
    return of_core(_core.read_dataset(_place(name), options))


def of_core(core: _core.Dataset) -> Dataset:
    dataset = Dataset.__new__(Dataset)
    dataset._core = core
    dataset._graph = Graph(core.graph())
    dataset._is_made = True
    return dataset


def columns_number(name: str, value: int | None, least: int) -> int:
    """0 for None."""
    expected = f"None, or a number from {least} to {MAX_COLUMNS}"
    number = 0 if value is None else whole_number(name, value, least, expected)
    if number > MAX_COLUMNS:
        raise ValueError(f"{name}: got {number}, expected {expected}")
    return number


def _set_graph(options: _core.DatasetOptions, symmetrize: bool, drop_self_loops: bool, keep_duplicates: bool, sum_duplicates: bool, one_based: bool,
               compact: bool, ids: str, headings: bool | None, weights: str | None, seed: int) -> None:
    graph = _core.ReadOptions()
    graph.symmetrize, graph.drop_self_loops = flag("symmetrize", symmetrize), flag("drop_self_loops", drop_self_loops)
    graph.keep_duplicates, graph.sum_duplicates = flag("keep_duplicates", keep_duplicates), flag("sum_duplicates", sum_duplicates)
    graph.one_based, graph.compact = flag("one_based", one_based), flag("compact", compact)
    graph.are_words = bool(choice("ids", ids, IDS))
    graph.has_headings = None if headings is None else flag("headings", headings)
    graph.weights = _text("weights", weights)
    graph.seed = seed_number(seed)
    options.graph = graph


def _check_finite(name: str, values: Any, rounded: np.ndarray) -> None:
    """Raises ValueError, with the number that was given, for one that float32 does not hold."""
    if rounded.size == 0 or (np.isfinite(rounded.min()) and np.isfinite(rounded.max())):
        return
    row, column = (int(at) for at in np.argwhere(~np.isfinite(rounded.reshape(rounded.shape[0], -1)))[0])
    given = as_numpy(name, values).reshape(rounded.shape[0], -1)[row, column]
    raise ValueError(f"{name}: got {given} in row {row}, column {column}, expected finite numbers, up to {np.finfo(np.float32).max:.4g}")


def _labels(labels: Any, n: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Classes, or rows of 0 and 1."""
    if labels is None:
        return None, None
    array = as_numpy("labels", labels)
    expected = f"{n} classes, or an array of shape ({n}, c) of 0 and 1"
    if array.ndim not in (1, 2) or array.shape[0] != n or array.shape[1:] == (0,):
        raise ValueError(f"labels: got an array of shape {array.shape}, expected {expected}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"labels: got elements of type {array.dtype}, expected {expected}")
    if array.ndim == 2:
        is_wrong = (array != 0) & (array != 1)
        if is_wrong.any():
            row, column = (int(i[0]) for i in np.nonzero(is_wrong))
            raise ValueError(f"labels[{row}, {column}]: got {array[row, column]}, expected 0 or 1")
        return None, np.ascontiguousarray(array, np.uint8).reshape(-1)
    is_fine = (array >= -1) & (array < 2**20) & (array == np.floor(array)) if array.dtype.kind == "f" else (array >= -1) & (array < 2**20)
    if not is_fine.all():
        at = int(np.argmin(is_fine))
        raise ValueError(f"labels[{at}]: got {array[at]}, expected a class of 0 to {2**20 - 1}, or -1 for none")
    return np.ascontiguousarray(array, np.int32), None


def _split(name: str, vertices: Any, n: int) -> np.ndarray:
    if vertices is None:
        return np.zeros(0, np.uint32)
    array = as_numpy(name, vertices)
    if array.dtype == np.bool_:
        if array.shape != (n,):
            raise ValueError(f"{name}: got booleans of shape {array.shape}, expected one a vertex, {n}, or ids of vertices")
        array = np.flatnonzero(array)
    return vertex_ids(name, array, n)
