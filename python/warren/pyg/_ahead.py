# SPDX-License-Identifier: Apache-2.0
"""Batches made by a thread while the model works on those before; on a GPU on a stream of their own."""
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

# Batches that wait for the model: each may have hundreds of megabytes.
WAITING = 2


class _Shared:
    """What the thread and the reader have in common: batches, then a StopIteration or the error that ended them."""

    def __init__(self) -> None:
        self.batches: queue.Queue[Any] = queue.Queue(WAITING)
        self.is_over = threading.Event()

    def put(self, item: Any) -> bool:
        """False where nobody reads any more."""
        while not self.is_over.is_set():
            with contextlib.suppress(queue.Full):
                self.batches.put(item, timeout=0.1)
                return True
        return False


def _work(shared: _Shared, make: Callable[[], Iterator[Any]], device: Any) -> None:
    stream = torch.cuda.Stream(device)
    try:
        with torch.cuda.stream(stream):
            for batch in make():
                made = torch.cuda.Event()
                made.record(stream)
                if not shared.put((batch, made)):
                    return
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
    """Iterates over what `make()` gives, which a thread asks for on a stream of `device`; each batch is complete before later work of the reader's stream.

    An error of `make` is raised where its batch would be. The thread ends with the last batch, or once the iterator is gone.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], device: Any, length: int, finish: Callable[[Any], Any]):
        self._shared = _Shared()
        self._length = length
        self._finish = finish
        self._thread = threading.Thread(target=_work, args=(self._shared, make, device), name="warren loader", daemon=True)
        self._thread.shared = self._shared  # type: ignore[attr-defined]
        _running.add(self._thread)
        self._thread.start()

    def __iter__(self) -> Ahead:
        return self

    def __len__(self) -> int:
        return self._length

    def __next__(self) -> Any:
        if self._shared.is_over.is_set():
            raise StopIteration
        item = self._shared.batches.get()
        if isinstance(item, BaseException):
            self._shared.is_over.set()
            raise item
        batch, made = item
        stream = torch.cuda.current_stream()
        stream.wait_event(made)
        _read_on(stream, batch)
        return self._finish(batch)

    def __del__(self) -> None:
        self._shared.is_over.set()
