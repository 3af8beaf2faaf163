# SPDX-License-Identifier: Apache-2.0
"""The command line of reports: `python -m warren.report` and `warren report`."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import report

EXAMPLE = """example:
  warren train debian --json train.json
  warren bfs debian --source git --json bfs.json
  python -m warren.report train.json bfs.json -o report.html
"""


def main(arguments: Sequence[str] | None = None, name: str = "python -m warren.report") -> int:
    """The exit status: 0, 1 (the plotting library is missing, or the disk failed), or 2 for wrong usage and unusable input."""
    parser = argparse.ArgumentParser(name, description="Writes one page of charts and tables from warren's JSON files; it opens without a network.", epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file of --json, --trace or bench/results; - is standard input")
    parser.add_argument("-o", "--out", default="report.html", metavar="FILE", help="the page (report.html)")
    parser.add_argument("--title", help="the page's title")
    parser.add_argument("--png", metavar="DIR", help="also writes every chart as PNG into this folder")
    parser.add_argument("--svg", metavar="DIR", help="also writes every chart as SVG into this folder")
    given = parser.parse_args(arguments)
    try:
        files = [file if file == "-" else _path(file) for file in given.files]
        written = report(files, given.out, title=given.title, png=given.png, svg=given.svg)
    except (ValueError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        return _say(name, error, 2)
    except (ImportError, OSError) as error:
        return _say(name, error, 1)
    print(f"wrote {written}")
    return 0


def _path(file: str) -> str:
    """A name that begins as JSON does is a name all the same."""
    return f"./{file}" if file.startswith(("{", "[")) else file


def _say(name: str, error: Exception, status: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.errno and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    clean = "".join(character if character.isprintable() else " " for character in text)
    print(f"{name}: error: {clean}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
