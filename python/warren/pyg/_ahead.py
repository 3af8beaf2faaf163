# SPDX-License-Identifier: Apache-2.0
"""Batches that are ready before the model asks for them.

A thread draws samples: it is in the engine, which needs no interpreter. What PyTorch makes of them is done by the thread that reads, on a stream beside the model's: two threads that
hand the interpreter's lock to each other at every call of PyTorch take longer than one.
"""
from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch_geometric.data.storage import recursive_apply_

# Flights that wait to be read: each may have gigabytes.
WAITING = 1


class _Shared:
    """What the thread and the reader have in common: flights, then a StopIteration or the error that ended them."""

    def __init__(self) -> None:
        self.flights: queue.Queue[Any] = queue.Queue(WAITING)
        self.is_over = threading.Event()

    def put(self, item: Any) -> bool:
        """False where nobody reads any more."""
        while not self.is_over.is_set():
            with contextlib.suppress(queue.Full):
                self.flights.put(item, timeout=0.1)
                return True
        return False


def _work(shared: _Shared, draw: Callable[[], Iterator[Any]], device: Any) -> None:
    try:
        with torch.cuda.device(device):
            for flight in draw():
                if not shared.put(flight):
                    return
                del flight  # The reader says when its memory is free.
        shared.put(StopIteration())
    except BaseException as error:  # The reader raises it.
        shared.put(error)


def _read_on(stream: Any, batch: Any) -> None:
    """Memory of the batch's tensors is not used anew before what `stream` has been asked so far is done. As Data.apply_(), which takes many times as long."""
    def note(tensor: Any) -> None:
        if tensor.is_cuda:
            tensor.record_stream(stream)

    for store in batch.stores:
        for value in store.values():
            if isinstance(value, torch.Tensor):
                note(value)
            elif not isinstance(value, (int, float, str, type(None))) and not (isinstance(value, list) and all(isinstance(item, int) for item in value)):
                recursive_apply_(value, note)


# Those that may be making batches.
_running: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """An interpreter that ends takes its threads out of the engine by force, which ends the program: they are waited for, but for those that wait for other processes."""
    for thread in list(_running):
        thread.shared.is_over.set()  # type: ignore[attr-defined]
    for thread in list(_running):
        thread.join(10)


class Ahead:
    """Iterates over the batches of flights, `tell(flight)` for each flight that `draw()` gives. A thread asks for flights; batches are told by the reader's thread on a stream of `device` of
    their own, each before it is asked for where its flight is there, and is complete before later work of the reader's stream.

    An error of `draw` is raised where its flight would be. The thread ends with the last flight, or once the iterator is gone.
    """

    def __init__(self, draw: Callable[[], Iterator[Any]], tell: Callable[[Any], Iterator[Any]], device: Any, length: int, finish: Callable[[Any], Any]):
        self._shared = _Shared()
        self._length = length
        self._tell, self._finish = tell, finish
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._stream.wait_stream(torch.cuda.current_stream(device))  # Attributes may just have been written.
        self._flight: Any = None
        self._batches: Iterator[Any] = iter(())
        self._ready: Any = None
        self._thread = threading.Thread(target=_work, args=(self._shared, draw, device), name="warren loader", daemon=True)
        self._thread.shared = self._shared  # type: ignore[attr-defined]
        _running.add(self._thread)
        self._thread.start()

    def __iter__(self) -> Ahead:
        return self

    def __len__(self) -> int:
        return self._length

    def _next(self, may_wait: bool) -> Any:
        """The next batch, and an event after the work that makes it; None where its flight is not there and it may not wait. Raises what ended the flights."""
        while True:
            with torch.inference_mode(False), torch.cuda.stream(self._stream):
                batch = next(self._batches, None)
                if batch is not None:
                    made = torch.cuda.Event()
                    made.record()
                    return batch, made
            try:
                flight = self._shared.flights.get(may_wait)
            except queue.Empty:
                return None
            self._let_go()
            try:
                if isinstance(flight, BaseException):
                    self._shared.is_over.set()
                    raise flight
                self._flight, self._batches = flight, self._tell(flight)
            finally:
                del flight  # An error holds the frames that it passed.

    def _let_go(self) -> None:
        """The engine's memory of a flight is free, once what reads it is done."""
        if self._flight is not None:
            self._stream.synchronize()
            self._batches, self._flight = iter(()), None

    def __next__(self) -> Any:
        if self._ready is None and self._shared.is_over.is_set():
            raise StopIteration
        ready, self._ready = self._ready, None
        if isinstance(ready, Exception):
            try:
                raise ready
            finally:
                del ready
        batch, made = self._next(True) if ready is None else ready
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(made)
        _read_on(stream, batch)
        try:
            self._ready = self._next(False)
        except Exception as error:  # Of the batch after this one.
            self._ready = error.with_traceback(None)
        return self._finish(batch)

    def __del__(self) -> None:
        self._shared.is_over.set()
        with contextlib.suppress(Exception):
            self._let_go()
