# SPDX-License-Identifier: Apache-2.0
"""Batches made by a thread while the model works on those before; on a GPU on a stream of their own."""
from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch

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


class Ahead:
    """Iterates over what `make()` gives, which a thread asks for on a stream of `device`; each batch is complete before later work of the reader's stream.

    An error of `make` is raised where its batch would be. The thread ends with the last batch, or once the iterator is gone.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], device: Any, length: int, finish: Callable[[Any], Any]):
        self._shared = _Shared()
        self._length = length
        self._finish = finish
        self._thread = threading.Thread(target=_work, args=(self._shared, make, device), name="warren loader", daemon=True)
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
        batch.apply_(lambda tensor: tensor.record_stream(stream) if tensor.is_cuda else None)
        return self._finish(batch)

    def __del__(self) -> None:
        self._shared.is_over.set()
