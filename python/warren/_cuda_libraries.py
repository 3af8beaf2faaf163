# SPDX-License-Identifier: Apache-2.0
"""cuBLAS and NCCL out of NVIDIA's packages for Python (nvidia-cublas, nvidia-nccl-cu13), which lie where the system's loader does not look."""
from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path

LIBRARIES = ("libcublasLt.so.[0-9]*", "libnccl.so.[0-9]*")


def folders() -> list[Path]:
    """Those of the packages' libraries."""
    spec = importlib.util.find_spec("nvidia")
    return [] if spec is None else [folder for place in spec.submodule_search_locations or () for folder in sorted(Path(place).glob("*/lib"))]


@functools.cache
def load() -> None:
    """Loads them, so that the engine finds them by their names. Once; what cannot be loaded is left to the engine, which says so where it needs it."""
    for folder in folders():
        for pattern in LIBRARIES:
            for path in sorted(folder.glob(pattern)):
                try:
                    ctypes.CDLL(str(path))
                except OSError:
                    continue
