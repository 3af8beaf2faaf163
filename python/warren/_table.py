# SPDX-License-Identifier: Apache-2.0
"""Tables of rows that ranks share: rows by their numbers, and sums and means of bags of rows.

All check their arguments before they work, release the interpreter's lock, and end at Ctrl-C.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import as_numpy, flag, integers_of_objects, not_rounded, type_name, whole_number
from ._fixed import Fixed
from ._libraries import library_of, to_library
from ._pickling import NotPickled
from ._session import Session, choice, run_of
from ._views import TYPE_CODES, gpu_of, id_type, own_type, real_type, view_of

PLACEMENTS = {"device": 0, "host": 1, "cached": 2}
MODES = {"sum": 0, "mean": 1, "max": 2}
STRATEGIES = {"auto": 0, "pull": 1, "owner-sum": 2, "messages": 3}
# With bits that DLPack's libraries know.
LARGEST = {"i": 8, "u": 8, "f": 8, "c": 16, "b": 1}


class Table(Fixed, NotPickled):
    """Rows that the ranks of a session share: features, or embeddings. Made once, for many gathers and lookups.

    values: an array of any library, one row an element of its first dimension: shape (n,) or (n, ...). Numbers of any type, or booleans. They are kept
    without a copy where they are contiguous, in host memory or on a GPU, and must not be written from here on. One rank reads a GPU's where they are, with
    placement "device"; more ranks, and other placements, have copies. Calls run on that GPU.
    placement: "device": spread over the ranks' devices, each of which reads all. "host": in pinned host memory, which GPUs read in place. "cached": the same,
    and some rows on the devices as well. On the CPU ranks read the host's rows where they are, but for "cached".
    cached: of "cached", the rows that devices have, or how many of the first ones; None: the first tenth.
    device, devices, session: where calls run, as of all calls; "auto" of devices: the session's number, else one.
    What the ranks have of it is made by the first call, kept for later ones, and freed with the table, by release(), or where memory is short.
    Raises ValueError for what is no such array and for options that do not go together, IndexError for a row of `cached` that is none; MemoryError.
    """

    _kept_by = "keep the array that it was made of, and make another Table of it"

    def __init__(self, values: Any, placement: str = "device", cached: Any = None, device: str = "auto", devices: int | str = "auto", session: Session | None = None):
        rows = _rows("values", values)
        where = choice("placement", placement, PLACEMENTS)
        run = run_of("auto", "auto", device, devices, session)
        self.shape: tuple[int, ...] = rows.shape
        self.dtype: np.dtype[Any] = np.dtype(rows.dtype)
        self.placement = placement
        self._library = library_of(values)
        self._gpu = gpu_of(values)
        hot = None if cached is None else _hot_rows(cached, rows.shape[0])
        raw = rows.reshape(-1).view(np.uint8) if isinstance(rows, np.ndarray) else rows
        self._core = _core.Table(raw, self._width() * self.dtype.itemsize, where, hot, run)

    def _width(self) -> int:
        """Elements of a row."""
        return int(np.prod(self.shape[1:], dtype=np.int64))

    def gather(self, ids: Any, return_info: bool = False, *, own: bool = False) -> Any:
        """As warren.gather(self, ids). own: after join_processes(), each process gives ids of its own and gets their rows alone, at a time of its own; the
        first such call all processes make together."""
        numbers, shape = _ids("ids", ids)
        flag("return_info", return_info)
        found, hits, ran = self._core.gather(numbers, TYPE_CODES[self.dtype.kind], self.dtype.itemsize * 8, flag("own", own))
        out = self._as_asked(found, (*shape, *self.shape[1:]), ids)
        if not return_info:
            return out
        info = {**self._info("gather", ran), "count": numbers.size, "placement": self.placement}
        if self.placement == "cached":
            info["hit_rate"] = hits / max(1, numbers.size)
        return out, info

    def lookup(self, ids: Any, offsets: Any = None, mode: str = "mean", per_sample_weights: Any = None, include_last_offset: bool = False, strategy: str = "auto",
               return_info: bool = False) -> Any:
        """As warren.lookup(self, ids, ...)."""
        if self.dtype not in (np.float32, np.float16):
            raise ValueError(f"table: got elements of type {self.dtype}, expected float32 or float16")
        how = choice("mode", mode, MODES)
        choice("strategy", strategy, STRATEGIES)
        flag("return_info", return_info)
        numbers, shape = _ids("ids", ids)
        bounds = _bag_offsets(shape, offsets, flag("include_last_offset", include_last_offset))
        weights = None if per_sample_weights is None else _weights(per_sample_weights, shape, mode)
        found, used, moved, ran = self._core.lookup(numbers, bounds, weights, how, strategy, self.dtype == np.float16)
        out = self._as_asked(found, (bounds.size - 1, *self.shape[1:]), ids)
        if not return_info:
            return out
        return out, {**self._info("lookup", ran), "batch": bounds.size - 1, "mode": mode, "type": str(self.dtype), "strategy": used, "rows_moved": moved}

    def release(self) -> None:
        """Frees what the ranks have of it. The table can be used as before."""
        self._core.release()

    def _as_asked(self, found: _core.Array, shape: tuple[int, ...], ids: Any) -> Any:
        if self._library != "numpy":
            return to_library(found, self._library, self._gpu).reshape(shape)
        return to_library(found, library_of(ids), gpu_of(ids)).reshape(shape)

    def _info(self, command: str, ran: tuple[Any, ...]) -> dict[str, Any]:
        on_gpu, devices, devices_reason, threads = ran[:4]
        return {"command": command, "device": "cuda" if on_gpu else "cpu", "devices": devices, "devices_reason": devices_reason, "threads": threads, "seconds": [ran[8]],
                "rows": self.shape[0], "k": self._width()}

    def __len__(self) -> int:
        """Its rows."""
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<warren.Table {' x '.join(map(str, self.shape))} of {self.dtype}, placement={self.placement!r}>"


def gather(table: Any, ids: Any, placement: str | None = None, cached: Any = None, device: str = "auto", devices: int | str = "auto", session: Session | None = None,
           return_info: bool = False) -> Any:
    """out[i] = table[ids[i]] for each i: the rows of a table by their numbers.

    table: a warren.Table, or an array of which one is made for this call alone (placement None is "device"); the options of a Table are for an array only.
    ids: integers of any type and shape, from 0, in host memory or on a GPU; they may repeat. out is a new array of shape ids.shape + table.shape[1:], of the
    table's type and library, on the GPU that the table is on; of a table in host memory, on one where the call ran on GPUs and the library has arrays there.
    A table in NumPy's array goes by the library and the GPU of ids.
    return_info: gives (out, info), info being a dict with the names of the command line's JSON.
    Each rank gathers an equal share. Moves bytes: rows are the table's, bit for bit.
    Raises IndexError, naming the place, for an id that is no row; ValueError for ids that are no integers, and an option that is none; MemoryError.
    """
    return _table_of(table, placement, cached, device, devices, session).gather(ids, return_info)


def lookup(table: Any, ids: Any, offsets: Any = None, mode: str = "mean", per_sample_weights: Any = None, include_last_offset: bool = False, strategy: str = "auto",
           placement: str | None = None, device: str = "auto", devices: int | str = "auto", session: Session | None = None, return_info: bool = False) -> Any:
    """out[b] = the mean, the sum, or the largest elements, of the rows table[i] for the ids i of bag b, as torch.nn.functional.embedding_bag(ids, table, offsets, mode=mode).

    table: as of gather(), of float32 or float16. ids: of shape (bags, length), a bag a row; or of one dimension, with offsets: the place in ids where each bag
    begins, from 0 upwards. include_last_offset: offsets has one more, the number of ids. An empty bag gives a row of zeros.
    mode: "mean", "sum" or "max", of which NaN is none but where the bag's first row has it. per_sample_weights: of "sum", a factor for each id, float32, of the
    shape of ids. ids and these are read on a GPU where they are; offsets are copied to the host, where the bags are dealt out.
    strategy: how rows of other ranks come into a sum: "pull", "owner-sum", "messages", "auto" (docs/sparse.md); all but plain sums are by "pull".
    out is a new array of shape (bags,) + table.shape[1:], of the table's type and library, where that of gather() is. return_info: as gather() does.
    Sums are float32. Repeats bit for bit on one device, number of ranks and strategy.
    Raises IndexError, naming the place, for an id that is no row; ValueError for another type, shape or option, and a table that is cached; MemoryError.
    """
    return _table_of(table, placement, None, device, devices, session).lookup(ids, offsets, mode, per_sample_weights, include_last_offset, strategy, return_info)


def _table_of(table: Any, placement: str | None, cached: Any, device: str, devices: int | str, session: Session | None) -> Table:
    if not isinstance(table, Table):
        try:
            return Table(table, "device" if placement is None else placement, cached, device, devices, session)
        except ValueError as error:
            if str(error).startswith("values: "):
                raise ValueError("table" + str(error).removeprefix("values")) from None
            raise
    for name, value, default in (("placement", placement, None), ("cached", cached, None), ("device", device, "auto"), ("devices", devices, "auto"),
                                 ("session", session, None)):
        if value is not default and value != default:
            raise ValueError(f"{name}: got {value!r} with a warren.Table, expected none: the table has its own")
    return table


def _rows(name: str, values: Any) -> np.ndarray | _core.View:
    """An array whose first dimension is that of rows, contiguous, aligned and in the machine's byte order."""
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name}: got {type_name(values)}, expected a dense array")
    array: np.ndarray | _core.View = view_of(name, values, own_type, "numbers or booleans") or as_numpy(name, values)
    dtype = np.dtype(array.dtype)
    if dtype.kind not in TYPE_CODES or dtype.itemsize > LARGEST[dtype.kind]:
        raise ValueError(f"{name}: got elements of type {array.dtype}, expected numbers or booleans")
    if len(array.shape) == 0 or 0 in array.shape[1:]:
        raise ValueError(f"{name}: got an array of shape {array.shape}, expected a first dimension of rows, with an element or more each")
    if isinstance(array, _core.View):
        return array
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def _ids(name: str, values: Any) -> tuple[np.ndarray | _core.View, tuple[int, ...]]:
    """As _row_numbers(); of a GPU's array as it is there."""
    view = view_of(name, values, id_type, "integers")
    return _row_numbers(name, values) if view is None else (view, view.shape)


def _row_numbers(name: str, values: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """Numbers of rows as uint64 in one dimension, negative ones as two's complements, and their shape."""
    array = not_rounded(as_numpy(name, values), values)
    if array.size == 0 and array.dtype.kind in "fO":
        array = array.astype(np.int64)  # An empty list has no integers to show.
    if array.dtype == object:
        array = integers_of_objects(name, array, "numbers of rows")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name}: got elements of type {array.dtype}, expected integers")
    if array.dtype == np.uint64 and array.size > 0 and int(array.max()) >= 2**63:
        at = int(np.argmax(array.reshape(-1) >= 2**63))
        raise IndexError(f"{name}[{at}]: got {int(array.reshape(-1)[at])}, expected less than 2**63")
    wide = np.require(array, np.int64 if array.dtype.kind == "i" else np.uint64, ["C", "A"])
    return wide.reshape(-1).view(np.uint64), array.shape


def _hot_rows(cached: Any, rows: int) -> np.ndarray:
    if hasattr(cached, "__index__") and getattr(cached, "ndim", 0) == 0:
        count = whole_number("cached", cached, 0, "rows, or a number of rows")
        if count > rows:
            raise ValueError(f"cached: got {count}, expected at most the number of rows, {rows}")
        return np.arange(count, dtype=np.uint64)
    numbers, shape = _row_numbers("cached", cached)
    if len(shape) != 1:
        raise ValueError(f"cached: got an array of shape {shape}, expected one dimension")
    wrong = np.flatnonzero(numbers >= rows)
    if wrong.size > 0:
        raise IndexError(f"cached[{wrong[0]}]: got {int(numbers.view(np.int64)[wrong[0]])}, expected a row, 0 to {rows - 1}")
    return numbers


def _bag_offsets(shape: tuple[int, ...], offsets: Any, include_last_offset: bool) -> np.ndarray:
    """bags + 1, as uint64."""
    if len(shape) == 2:
        if offsets is not None:
            raise ValueError("offsets: got some for ids of two dimensions, whose rows are the bags; expected None")
        if include_last_offset:
            raise ValueError("include_last_offset: got True without offsets, expected False")
        return np.arange(shape[0] + 1, dtype=np.uint64) * np.uint64(shape[1])
    if len(shape) != 1:
        raise ValueError(f"ids: got an array of shape {shape}, expected (bags, length), or one dimension with offsets")
    if offsets is None:
        raise ValueError("offsets: got None for ids of one dimension, expected the place where each bag begins")
    bounds, bounds_shape = _row_numbers("offsets", offsets)
    if len(bounds_shape) != 1:
        raise ValueError(f"offsets: got an array of shape {bounds_shape}, expected one dimension")
    negative = np.flatnonzero(bounds.view(np.int64) < 0)
    if negative.size > 0:
        raise ValueError(f"offsets[{negative[0]}]: got {bounds.view(np.int64)[negative[0]]}, expected places in ids, 0 or more")
    if bounds.size == 0 and (include_last_offset or shape[0] > 0):
        raise ValueError("offsets: got none, expected the place where each bag begins")
    return bounds if include_last_offset else np.append(bounds, np.uint64(shape[0]))


def _weights(values: Any, shape: tuple[int, ...], mode: str) -> np.ndarray | _core.View:
    name = "per_sample_weights"
    if mode != "sum":
        raise ValueError(f'{name}: got some for mode "{mode}", expected them with mode "sum"')
    array: np.ndarray | _core.View = view_of(name, values, real_type, "real numbers") or as_numpy(name, values)
    if array.shape != shape:
        raise ValueError(f"per_sample_weights: got an array of shape {array.shape}, expected that of ids, {shape}")
    if isinstance(array, _core.View):
        return array
    if array.dtype.kind not in "biuf":
        raise ValueError(f"per_sample_weights: got elements of type {array.dtype}, expected real numbers")
    with np.errstate(over="ignore"):
        return np.require(array, np.float32, ["C", "A"]).reshape(-1)
