# SPDX-License-Identifier: Apache-2.0
"""What does not change once it is made: a name that is set there would be read by nothing, or belie what the object says of itself."""
from __future__ import annotations

import functools
from typing import Any


class Fixed:
    """Base of what refuses to have attributes set and deleted, once it is made, with an AttributeError. Names of its own, which begin with _, it sets when it needs to."""

    _is_made: bool  # Set when __init__ has ended, that of the object's own class; pickle and copy restore it with the other attributes.

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" not in cls.__dict__:
            return
        plain = cls.__init__

        @functools.wraps(plain)
        def init(self: Any, *arguments: Any, **options: Any) -> None:
            plain(self, *arguments, **options)
            if type(self).__init__ is init:
                self._is_made = True

        cls.__init__ = init  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse(name, "set")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse(name, "deleted")
        super().__delattr__(name)

    def _refuse(self, name: str, how: str) -> None:
        if "_is_made" in self.__dict__ and not name.startswith("_"):
            raise AttributeError(f"{name}: a {type(self).__name__} does not change, and no attribute of it can be {how}; keep values of your own beside it")
