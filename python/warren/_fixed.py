# SPDX-License-Identifier: Apache-2.0
"""What does not change once it is made: a name that is set there would be read by nothing, or belie what the object says of itself."""
from __future__ import annotations

import functools
from typing import Any

_set = object.__setattr__


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
                self.__dict__["_is_made"] = True

        cls.__init__ = init  # type: ignore[method-assign]

    # Short calls make a result each: what is set while it is made costs a look at one name.
    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] != "_" and "_is_made" in self.__dict__:
            raise AttributeError(_refusal(self, name, "set"))
        _set(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name[:1] != "_" and "_is_made" in self.__dict__:
            raise AttributeError(_refusal(self, name, "deleted"))
        super().__delattr__(name)


def _refusal(of: Fixed, name: str, how: str) -> str:
    return f"{name}: a {type(of).__name__} does not change, and no attribute of it can be {how}; keep values of your own beside it"
