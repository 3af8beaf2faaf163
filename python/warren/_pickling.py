# SPDX-License-Identifier: Apache-2.0
"""What is not pickled, and says how it is kept instead."""
from __future__ import annotations

from typing import ClassVar, NoReturn, SupportsIndex


class NotPickled:
    """Base of what pickle and copy refuse: with a TypeError that says how it is kept."""

    _kept_by: ClassVar[str]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"{type(self).__name__}: is not pickled or copied; {self._kept_by}")

