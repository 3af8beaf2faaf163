# SPDX-License-Identifier: Apache-2.0
"""Sessions: where calls run, and what stays there between them."""
from __future__ import annotations

import atexit
import contextvars
import functools
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from . import _core
from ._allocator import allocator_of
from ._arrays import bounded_number, flag, real_number, whole_number
from ._cuda_libraries import load as load_cuda_libraries
from ._fixed import Fixed
from ._pickling import NotPickled
from ._processes import leave

MAX_DEVICES = _core.max_ranks()
MAX_THREADS = 2**16
DEVICES = {"auto": -1, "cpu": 0, "cuda": 1}
MODES = {"auto": 0, "sync": 1, "async": 2}
EDGES = {"auto": 0, "device": 0, "host": 1, "compressed-host": 2, "file": 3}

# The sessions of the `with` around the calls of this thread or task, the innermost last.
_entered: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar("warren sessions", default=())

_open: weakref.WeakSet[Session] = weakref.WeakSet()


def _end() -> None:
    """At the end of the interpreter: of calls in daemon threads first, then of what sessions hold."""
    if _core.shut_down():
        for session in list(_open):
            session.close()
    leave()


_core.start(threading.main_thread().ident or 0)
atexit.register(_end)
os.register_at_fork(after_in_child=_core.after_fork)


def choice(name: str, value: Any, choices: Mapping[Any, int]) -> int:
    """The number of a choice. Raises ValueError for what is none."""
    if (value is None or isinstance(value, str)) and value in choices:
        return choices[value]
    raise ValueError(f"{name}: got {value!r}, expected " + " or ".join("None" if known is None else f'"{known}"' for known in choices))


def number_of_devices(value: Any) -> int:
    """0 for "auto". Raises ValueError for no number of devices."""
    if isinstance(value, str) and value == "auto":
        return 0
    number = whole_number("devices", value, 1, f'"auto", or 1 to {MAX_DEVICES}')
    if number > MAX_DEVICES:
        raise ValueError(f'devices: got {number}, expected "auto", or 1 to {MAX_DEVICES}')
    return number


class Session(Fixed, NotPickled):
    """Keeps ranks that wait for work, and each one's part of the graphs, so that a call takes microseconds and not the start of a team.

    device: "auto" (GPUs where there are some), "cpu" or "cuda". devices: how many ranks calls use that do not say: GPUs, or shares of the CPU.
    threads: of the CPU, in all; None is all that the process may use. share_devices: more ranks than GPUs take turns, for tests.
    slice_milliseconds: after so long a search's kernel leaves its GPU, and is started again where it was; 0: it stays, but where the driver ends kernels
    after some seconds, as on a GPU with a display, where it leaves every 250.
    allocator: where the device memory of its ranks comes from: the module torch or cupy (that library's caching allocator), "pool" (the driver's stream-ordered
    pools, which keep what comes back), or a function as set_allocator() takes it, which on the CPU gives host memory; None: as set_allocator() says. What it gave
    goes back to it, at the latest when the session is closed and its results are gone. Calls that it gives no memory raise MemoryError, whose `__cause__` is what the function raised.
    Nothing starts before the first call. Calls of several threads may use one session: they take turns. Without a session calls use a standard one,
    which is made when it is first needed and closed at the end of the program. Raises ValueError for options out of range.

        with warren.Session(devices=2, threads=8):
            graph.bfs(0)        # runs in this session

    Inside `with` it is the session of the calls of this thread or task; `session=` of a call names another one. Several threads may enter it: the last one
    that leaves closes it.
    """

    _kept_by = "make another one with its options"

    def __init__(self, device: str = "auto", devices: int | str = "auto", threads: int | None = None, share_devices: bool = False, allocator: Any = None, slice_milliseconds: float = 0.0):
        self._lock = threading.Lock()
        self._entries = 0  # Of all threads.
        self.device = device
        self.devices = devices
        self.threads = threads
        choice("device", device, DEVICES)
        number = 0 if threads is None else bounded_number("threads", threads, 1, MAX_THREADS)
        self._core = _core.Session(None if device == "auto" else device, number_of_devices(devices), number, flag("share_devices", share_devices), real_number("slice_milliseconds", slice_milliseconds, "a number of 0 or more"),
                                   allocator_of("allocator", allocator, device))
        self._run = _keeping_runs(self._core)
        _open.add(self)

    @property
    def is_closed(self) -> bool:
        return self._core.is_closed

    def close(self) -> None:
        """Ends its ranks and frees what they hold, after the calls that are under way. Later calls with it raise ValueError. Closing twice is legal."""
        self._core.close()

    def __enter__(self) -> Session:
        with self._lock:
            if self.is_closed:
                raise ValueError("the session is closed: make another one")
            self._entries += 1
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        entered = list(_entered.get())
        if self in entered:  # The last time that it was entered, also where others were since.
            del entered[len(entered) - 1 - entered[::-1].index(self)]
            _entered.set(tuple(entered))
        with self._lock:
            self._entries -= 1
            is_last = self._entries == 0
        if is_last:
            self.close()

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"<warren.Session device={self.device!r} devices={self.devices!r} threads={self.threads}{state}>"


def run_of(mode: Any, edges: Any, device: Any, devices: Any, session: Session | None, host_memory: int = 0, verify: Any = False) -> _core.Run:
    """Where a call runs, and whether its result is checked. Raises ValueError for an option that is none."""
    if session is None and (entered := _entered.get()):
        session = entered[-1]
    if session is not None and not isinstance(session, Session):
        raise ValueError(f"session: got {session!r}, expected a warren.Session or None")
    if host_memory > 0 or verify is not False:
        return _run(None if session is None else session._core, mode, edges, device, devices, host_memory, verify)
    kept = _standard_run if session is None else session._run
    try:
        return kept(mode, edges, device, devices)
    except TypeError:  # An option that is no key, and none of a call's either.
        return _run(None if session is None else session._core, mode, edges, device, devices)


def _run(session: _core.Session | None, mode: Any, edges: Any, device: Any, devices: Any, host_memory: int = 0, verify: Any = False) -> _core.Run:
    where = choice("device", device, DEVICES)
    if device != "cpu" and _core.gpu_count() > 0:
        load_cuda_libraries()
    return _core.Run(choice("mode", mode, MODES), choice("edges", edges, EDGES), where, number_of_devices(devices), session, host_memory, flag("verify", verify))


def _keeping_runs(session: _core.Session | None) -> Callable[[Any, Any, Any, Any], _core.Run]:
    """_run() of a session, each made once: short calls would spend a good part of their time on it."""
    return functools.lru_cache(maxsize=64, typed=True)(functools.partial(_run, session))


_standard_run = _keeping_runs(None)
