# SPDX-License-Identifier: Apache-2.0
"""Results as arrays of NumPy, PyTorch, CuPy and JAX, on the device where they are. Each library is imported only when its arrays are asked for."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

LIBRARIES = ("numpy", "torch", "cupy", "jax")


def check_library(name: str, library: Any) -> str:
    if library not in (*LIBRARIES, "dlpack"):
        raise ValueError(f"{name}: got {library!r}, expected one of " + ", ".join(map(repr, (*LIBRARIES, "dlpack"))))
    return str(library)


def library_of(*arrays: Any) -> str:
    """The library of the first of these arrays that is of one of them; else "numpy"."""
    for array in arrays:
        root = type(array).__module__.partition(".")[0]
        if root in ("torch", "cupy"):
            return root
        if root in ("jax", "jaxlib"):
            return "jax"
    return "numpy"


def to_library(values: _core.Array | np.ndarray, library: str) -> Any:
    """`values` as an array of `library`. From a GPU's memory without a copy, but to NumPy; from host memory with one to CuPy, and to JAX on a GPU."""
    if library == "numpy":
        return values if isinstance(values, np.ndarray) else values.numpy()
    is_on_gpu = isinstance(values, _core.Array) and values.gpu >= 0
    if library == "dlpack":
        return values.dlpack() if isinstance(values, _core.Array) else values
    source = values.dlpack() if isinstance(values, _core.Array) and is_on_gpu else to_library(values, "numpy")
    if library == "torch":
        import torch

        return torch.from_dlpack(source) if is_on_gpu else torch.from_numpy(source)
    if library == "cupy":
        import cupy

        return cupy.from_dlpack(source) if is_on_gpu else cupy.asarray(source)
    import jax

    return jax.dlpack.from_dlpack(source) if is_on_gpu else jax.numpy.asarray(source)
