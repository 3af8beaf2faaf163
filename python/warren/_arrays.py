# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library as NumPy arrays that the engine takes: checked, contiguous, in the machine's byte order; copied only where they must be."""
from __future__ import annotations

import logging
import numbers as numbers_module
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any, SupportsIndex

import numpy as np

from . import _core
from ._errors import VertexError
from ._views import gpu_of, own_type, real_type, view_of

MAX_VERTICES = 2**32 - 1


def type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def as_numpy(name: str, values: Any) -> np.ndarray:
    """`values` as a NumPy array: without a copy where they are in host memory and their library can share it. Arrays on a GPU are copied to the host.

    Takes NumPy arrays, lists, and what has `__dlpack__`, the buffer protocol, `__array__` or `__cuda_array_interface__`.
    Raises ValueError, naming the argument, for what is none of these.
    """
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise ValueError(f"{name}: got a masked array with masked entries, expected an array without gaps")
        values = values.data
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if gpu_of(values) is not None:
        return _from_gpu(name, values)
    if hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except Exception:  # Each library refuses in its own way what DLPack, or this NumPy's, does not take.
            pass
    try:
        return np.asarray(values)
    except Exception as error:
        if str(getattr(values, "device", "")) == "meta":
            raise ValueError(f"{name}: got a tensor on the device meta, which has a shape and no elements; expected an array in memory") from None
        raise ValueError(f"{name}: got {type_name(values)}, expected an array: {error}") from error


def _from_gpu(name: str, values: Any) -> np.ndarray:
    ways = (lambda: np.from_dlpack(values, device="cpu", copy=True), lambda: np.asarray(values.get()), lambda: np.asarray(values.cpu()), lambda: np.asarray(values))
    for way in (*ways, lambda: _by_engine(name, values)):
        try:
            array = way()
        except Exception:  # Each library refuses in its own way.
            continue
        if array.dtype != object:
            return array
    raise ValueError(f"{name}: got {type_name(values)} in a GPU's memory that its library does not copy to the host, expected an array in host memory: copy it first")


def _by_engine(name: str, values: Any) -> np.ndarray:
    view = view_of(name, values, own_type, "numbers or booleans")
    if view is None:
        raise ValueError("the engine has no GPUs")
    return view.numpy().view(view.dtype).reshape(view.shape)


def _one_dimension(name: str, array: np.ndarray, expected: str) -> np.ndarray:
    if array.ndim != 1:
        raise ValueError(f"{name}: got an array of shape {array.shape}, expected one dimension: {expected}")
    return array


def _integers(name: str, values: Any, expected: str) -> np.ndarray:
    array = _one_dimension(name, as_numpy(name, values), expected)
    if array.size == 0 and array.dtype.kind in "fO":
        return np.zeros(0, np.int64)  # An empty list has no integers to show.
    array = not_rounded(array, values)
    if array.dtype == object:
        array = integers_of_objects(name, array, expected)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name}: got elements of type {array.dtype}, expected integers: {expected}")
    return array


def not_rounded(array: np.ndarray, values: Any) -> np.ndarray:
    """Of a list of Python's integers: NumPy makes floats of them where some are negative and some past int64."""
    is_made_of_integers = array.dtype.kind == "f" and array.ndim == 1 and array.size > 0 and isinstance(values, (list, tuple)) and all(isinstance(value, int) for value in values)
    return np.array(values, dtype=object) if is_made_of_integers else array


def integers_of_objects(name: str, array: np.ndarray, expected: str) -> np.ndarray:
    """Python's integers as int64, or as uint64 where one needs it, in the same shape. Raises ValueError: for an element that is no integer of 64 bits, naming the first, and where no
    type holds all."""
    values = array.reshape(-1).tolist()
    for at, value in enumerate(values):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not -(2**63) <= value < 2**64:
            raise ValueError(f"{name}[{at}]: got {_shown(value)}, expected integers of 64 bits: {expected}")
    is_past_int64 = max(values) >= 2**63
    if is_past_int64 and min(values) < 0:
        raise ValueError(f"{name}: got integers of which no type of 64 bits holds all, expected one that does: {expected}")
    return array.astype(np.uint64 if is_past_int64 else np.int64)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def _real_objects(array: np.ndarray, place: Callable[[int], str]) -> np.ndarray:
    """Python's numbers, as integers past 64 bits are, as float64."""
    numbers = np.empty(array.size)
    for at, value in enumerate(array.tolist()):
        if not isinstance(value, (numbers_module.Real, Decimal)):
            raise ValueError(f"{place(at)}: got {_shown(value)}, expected real numbers")
        try:
            numbers[at] = float(value)
        except OverflowError:
            raise ValueError(f"{place(at)}: got {_shown(value)}, expected numbers that float32 holds, up to {np.finfo(np.float32).max:.4g}") from None
    return numbers


def vertex_ids(name: str, values: Any, num_vertices: int | None = None) -> np.ndarray:
    """Ids of any integer type as uint32: int32 and uint32 without a copy. Raises VertexError, naming argument, position and value, for one out of range."""
    ids = _integers(name, values, "ids of vertices")
    limit = MAX_VERTICES if num_vertices is None else num_vertices
    check_range(name, ids, limit)
    if ids.dtype == np.int32 and ids.dtype.isnative:
        return np.ascontiguousarray(ids).view(np.uint32)
    return np.ascontiguousarray(ids, dtype=np.uint32)


def check_range(name: str, ids: np.ndarray, limit: int) -> None:
    """Raises VertexError for the first id that is not 0 to limit - 1."""
    if ids.size == 0 or (int(ids.min()) >= 0 and int(ids.max()) < limit):
        return
    at = int(np.argmax((ids < 0) | (ids >= limit)))
    expected = f"ids of 0 to {limit - 1}" if limit > 0 else "no edges: there are no vertices"
    raise VertexError(f"{name}[{at}]: got {int(ids[at])}, expected {expected}")


def times_array(name: str, values: Any, expected: str) -> np.ndarray:
    """Times of any integer type as int64: int64 without a copy. Raises ValueError for what are no integers, and for one past 2^63 - 1."""
    times = _integers(name, values, expected)
    if times.dtype == np.uint64 and times.size > 0 and int(times.max()) >= 2**63:
        raise ValueError(f"{name}: got {int(times.max())}, expected times below 2**63")
    return np.ascontiguousarray(times, dtype=np.int64)


def offsets_array(name: str, values: Any) -> np.ndarray:
    """Offsets of rows as uint64: int64 and uint64 without a copy."""
    offsets = _integers(name, values, "one offset more than vertices")
    if offsets.size == 0:
        raise ValueError(f"{name}: got none, expected one offset more than vertices")
    if offsets.size - 1 > MAX_VERTICES:
        raise ValueError(f"{name}: got {offsets.size} offsets, expected at most {MAX_VERTICES + 1}")
    if int(offsets.min()) < 0:
        at = int(np.argmax(offsets < 0))
        raise ValueError(f"{name}[{at}]: got {int(offsets[at])}, expected offsets of 0 or more")
    if offsets.dtype == np.int64 and offsets.dtype.isnative:
        return np.ascontiguousarray(offsets).view(np.uint64)
    return np.ascontiguousarray(offsets, dtype=np.uint64)


def weights_array(name: str, values: Any, count: int, place: Callable[[int], str] | None = None) -> tuple[np.ndarray | None, bool]:
    """Weights as int32 or float32, in which types they are taken without a copy, and whether some were rounded. place: what errors call the one at an index; None: `name[index]`.

    Booleans and integers that all fit become int32, other numbers float32: float64 is rounded. One that float32 holds as 0 is told by a warning.
    Raises ValueError for another number of weights than `count`, for what are no real numbers, for NaN, and for a finite one past what float32 holds.
    """
    if values is None:
        return None, False
    called = place or (lambda at: f"{name}[{at}]")
    array = _one_dimension(name, as_numpy(name, values), "a weight an edge")
    if array.size != count:
        raise ValueError(f"{name}: got {array.size} weight{'s' if array.size != 1 else ''}, expected one an edge, {count}")
    if array.size == 0 and array.dtype == object:
        return np.zeros(0, np.float32), False
    if array.dtype == object:
        array = _real_objects(array, called)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: got elements of type {array.dtype}, expected real numbers")
    if array.dtype.kind != "f" and (array.size == 0 or (int(array.min()) >= -(2**31) and int(array.max()) < 2**31)):
        return np.ascontiguousarray(array, dtype=np.int32), False
    with np.errstate(over="ignore"):
        weights = np.ascontiguousarray(array, dtype=np.float32)
    if weights.size > 0 and np.isnan(weights.min()):
        raise ValueError(f"{called(int(np.argmax(np.isnan(weights))))}: got NaN, expected numbers")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 4:
        return weights, False
    wrong = np.flatnonzero(weights != array)
    if wrong.size == 0:
        return weights, False
    past = wrong[np.isinf(weights[wrong])]
    if past.size > 0:
        raise ValueError(f"{called(int(past[0]))}: got {array[past[0]]}, expected numbers that float32 holds, up to {np.finfo(np.float32).max:.4g}")
    lost = wrong[weights[wrong] == 0]
    if lost.size > 0:
        logging.getLogger("warren").warning("%s: %s is held as 0 in float32", called(int(lost[0])), array[lost[0]])
    return weights, True


def dense_matrix(name: str, values: Any, rows: int) -> np.ndarray:
    """Numbers of shape (rows,) or (rows, k) as float32, one row after another: without a copy where they are that already. float64 is rounded.

    Raises ValueError, naming the argument, for another shape, no columns, and what are no real numbers.
    """
    array = as_numpy(name, _dense(name, values, rows))
    _check_dense(name, array.shape, rows)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: got elements of type {array.dtype}, expected real numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def dense_operand(name: str, values: Any, rows: int) -> np.ndarray | _core.View:
    """As dense_matrix(); of a GPU's array as it is there."""
    view = view_of(name, _dense(name, values, rows), real_type, "real numbers")
    if view is None:
        return dense_matrix(name, values, rows)
    _check_dense(name, view.shape, rows)
    return view


def _dense(name: str, values: Any, rows: int) -> Any:
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name}: got {type_name(values)}, expected {_dense_shape(rows)}")
    return values


def _check_dense(name: str, shape: tuple[int, ...], rows: int) -> None:
    if len(shape) not in (1, 2) or shape[0] != rows or shape[1:] == (0,):
        raise ValueError(f"{name}: got an array of shape {shape}, expected {_dense_shape(rows)}" + ", k being 1 or more" * (shape[1:] == (0,)))


def _dense_shape(rows: int) -> str:
    return f"a dense array of shape ({rows},) or ({rows}, k), a row a vertex"


def is_utf8(text: str) -> bool:
    """False of what Python makes of a file's name in another encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_text(name: str, path: Any, expected: str) -> str:
    """A path as a str. Raises ValueError for what is none, for one with a NUL, where the system would take it to end, and for one that is not UTF-8."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"{name}: got {path!r}, expected {expected}")
    if not is_utf8(text):
        raise ValueError(f"{name}: got {path!r}, which is not UTF-8: rename it, give a link to it that is, or use the command line, which takes every name")
    return text


def memory_bytes(host_memory: SupportsIndex | None) -> int:
    """As the core takes it: 0 for None. Raises ValueError for what is no number of bytes."""
    return 0 if host_memory is None else bounded_number("host_memory", host_memory, 1, 2**63, "None, or a number of bytes, 1 to 2**63")


def flag(name: str, value: Any) -> bool:
    """`value` as a bool. Raises ValueError for what is neither True nor False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name}: got {value!r}, expected True or False")


def whole_number(name: str, value: SupportsIndex, least: int, what: str) -> int:
    """`value` as an int. Raises ValueError where it is none, or less than `least`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = value.__index__()
    except (TypeError, AttributeError, RuntimeError):  # The last of a tensor without numbers.
        raise ValueError(f"{name}: got {value!r}, expected {what}") from None
    if number < least:
        raise ValueError(f"{name}: got {number}, expected {what}")
    return number


def seed_number(seed: SupportsIndex) -> int:
    """A seed of 64 bits. Raises ValueError for what is none."""
    number = whole_number("seed", seed, 0, "a number of 0 or more")
    if number >= 2**64:
        raise ValueError(f"seed: got {number}, expected less than 2**64")
    return number


def bounded_number(name: str, value: Any, least: int, most: int, expected: str | None = None) -> int:
    """`value` as an integer. Raises ValueError where it is none from `least` to `most`."""
    expected = expected or f"a number from {least} to {most}"
    number = whole_number(name, value, least, expected)
    if number > most:
        raise ValueError(f"{name}: got {number}, expected {expected}")
    return number


def real_number(name: str, value: Any, what: str) -> float:
    """`value` as a float. Raises ValueError where it is none."""
    try:
        if isinstance(value, (bool, str)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name}: got {value!r}, expected {what}") from None
    except OverflowError:
        raise ValueError(f"{name}: got a number past what float64 holds, expected {what}") from None
