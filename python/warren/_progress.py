# SPDX-License-Identifier: Apache-2.0
"""How far long calls have come: told to a function, or shown by tqdm."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from . import _core

# Of a call: a function of a dict, True for a bar of tqdm's, or None.
Progress = Callable[[dict[str, Any]], object]
AskedProgress = Union[bool, Progress, None]


def new_bar(total: int, unit: str) -> Any:
    """A bar of tqdm's, where that is installed; else None."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=unit)


def check_progress(progress: Any, expected: str = "a function of a dict") -> None:
    """Raises ValueError for what tells nothing."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress: got {progress!r}, expected {expected}, True, False or None")


def is_asked(progress: AskedProgress) -> bool:
    return progress is not None and progress is not False


class Telling:
    """A context in which calls of this thread tell `progress` how far they have come: about twenty times a second, and once when they are done."""

    def __init__(self, progress: AskedProgress):
        check_progress(progress)
        self._progress = progress if callable(progress) else None
        self._bar: Any = None
        self._context = _core.ProgressContext(self._tell) if is_asked(progress) else None

    def _tell(self, unit: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress({"unit": unit, "done": done, "total": total})
            return
        if self._bar is None:
            self._bar = new_bar(total, unit.removesuffix("es") if unit in ("batches", "passes") else unit.removesuffix("s"))
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> None:
        if self._context is not None:
            self._context.enter()

    def __exit__(self, *error: object) -> None:
        if self._context is not None:
            self._context.leave()
        if self._bar is not None:
            self._bar.close()
