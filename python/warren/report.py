# SPDX-License-Identifier: Apache-2.0
"""`python -m warren.report FILE... -o report.html`. The function is warren.report(), also once this module has been imported and stands in its place."""
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ._report import report
from ._report.__main__ import main

__all__ = ["main", "report"]


class _Callable(ModuleType):
    """`import warren.report` makes the module an attribute of the package, in place of the function: it is called as that is."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return report(*arguments, **options)


if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
