# SPDX-License-Identifier: Apache-2.0
"""The command line: `warren` and `python -m warren` run the program that is in the package."""
from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the program, with this one's arguments. `report` is Python's own."""
    if sys.argv[1:2] == ["report"]:
        from ._report.__main__ import main as report

        sys.exit(report(sys.argv[2:], "warren report"))
    program = Path(__file__).parent / "bin" / "warren"
    if not program.is_file():
        sys.exit(f"warren: {program} is missing: the package was built without the command line; build the program with CMake")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
