# SPDX-License-Identifier: Apache-2.0
"""Results as arrays of NumPy, PyTorch, CuPy and JAX, on the device where they are. Each library is imported only when its arrays are asked for."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

LIBRARIES = ("numpy", "torch", "cupy", "jax")


def check_library(name: str, library: Any) -> str:
    if not isinstance(library, str) or library not in (*LIBRARIES, "dlpack"):
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


def to_library(values: _core.Array | np.ndarray, library: str, gpu: int | None = None) -> Any:
    """`values` as an array of `library`. From a GPU's memory without a copy, but to NumPy; from host memory with one to CuPy, and to JAX on a GPU.

    gpu: the number of the GPU that it should be on, where its library has arrays there; None: it stays where it is.
    A call's results are complete: they may be read on any stream. PyTorch's and JAX's are told to the engine, which uses the memory again only after their work.
    """
    array = _as(values, library)
    if gpu is None or gpu < 0 or library not in ("torch", "cupy", "jax"):
        return array
    if library == "torch":
        return array.to(f"cuda:{gpu}")
    if library == "cupy":
        import cupy

        with cupy.cuda.Device(gpu):
            return array if array.device.id == gpu else cupy.array(array)
    import jax

    return jax.device_put(array, jax.devices("gpu")[gpu])


class _Exported:
    """An array on a GPU for a library whose streams live as long as the process: the engine is told on which one it is read."""

    def __init__(self, values: _core.Array):
        self._values = values
        self._array = values.dlpack()

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        if isinstance(stream, int) and stream > 2:
            self._values.used_on(stream)
        return self._array.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def _as(values: _core.Array | np.ndarray, library: str) -> Any:
    if library == "numpy":
        return values if isinstance(values, np.ndarray) else values.numpy()
    is_on_gpu = isinstance(values, _core.Array) and values.gpu >= 0
    if library == "dlpack":
        return values.dlpack() if isinstance(values, _core.Array) else values
    source = (_Exported(values) if library in ("torch", "jax") else values.dlpack()) if isinstance(values, _core.Array) and is_on_gpu else _as(values, "numpy")
    if library == "torch":
        import torch

        return torch.from_dlpack(source) if is_on_gpu else torch.from_numpy(source)
    if library == "cupy":
        import cupy

        return cupy.from_dlpack(source) if is_on_gpu else cupy.asarray(source)
    import jax

    return jax.dlpack.from_dlpack(source) if is_on_gpu else jax.numpy.asarray(source)
