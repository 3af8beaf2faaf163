# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries that are on a GPU, as the engine reads them there: in the order of the streams on which they are made, and without a copy where their
elements have a type of the engine's and no gaps."""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._libraries import library_of

# Of DLPack: a GPU's memory, and managed memory.
GPU_DEVICES = (2, 13)
# Of DLPack, by NumPy's kinds.
TYPE_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

REAL = ("bool", "int", "uint", "float", "bfloat")


def gpu_of(values: Any) -> int | None:
    """The number of the GPU that has an array; -1: one that its library does not name; None: it is in host memory, or is no array."""
    if hasattr(values, "__dlpack_device__"):
        try:
            kind, number = values.__dlpack_device__()
        except Exception:  # A tensor on PyTorch's meta device is in no memory; as_numpy() says so.
            return None
        return int(number) if int(kind) in GPU_DEVICES else None
    return -1 if hasattr(values, "__cuda_array_interface__") else None


def view_of(name: str, values: Any, type_of: Callable[[str], str | None], expected: str) -> _core.View | None:
    """An array that is on a GPU as the engine takes it; None where it is in host memory, or the engine has no GPUs, for as_numpy().

    type_of: tells the type that elements of a type, "float64" say, are taken as, None for one that is refused. Elements of another type, or with gaps, are copied
    on the GPU by their library. Raises ValueError, naming the argument.
    """
    gpu = gpu_of(values)
    count = _core.gpu_count()
    if gpu is None or count == 0:
        return None
    if gpu >= count:
        raise ValueError(f"{name}: got an array on GPU {gpu}, expected one of the GPUs that warren can use, 0 to {count - 1}")
    library = library_of(values)
    if library == "torch":
        _check_tensor(name, values)
    dtype = str(values.dtype).rpartition(".")[2] if hasattr(values, "dtype") else _interface_type(name, values)
    wanted = type_of(dtype)
    if wanted is None:
        raise ValueError(f"{name}: got elements of type {dtype}, expected {expected}")
    with _device(library, values):
        made = _prepared(name, values, library, dtype, wanted)
        view = _exported(name, made)
    if not view.is_contiguous:
        raise ValueError(f"{name}: got an array with gaps between its elements, or in another order than row by row; expected one without, which its library can copy it to")
    return view


def real_type(dtype: str) -> str | None:
    """float32, for all real numbers."""
    return "float32" if dtype.rstrip("0123456789") in REAL else None


def id_type(dtype: str) -> str | None:
    """Integers of 32 and 64 bits as they are, others in 32."""
    if dtype in ("int32", "uint32", "int64", "uint64"):
        return dtype
    return "int32" if dtype in ("int8", "uint8", "int16", "uint16") else None


def own_type(dtype: str) -> str | None:
    """Types that NumPy has, as they are."""
    try:
        return dtype if np.dtype(dtype).kind in TYPE_CODES else None
    except TypeError:
        return None


def _check_tensor(name: str, values: Any) -> None:
    import torch

    if values.layout is not torch.strided:
        raise ValueError(f"{name}: got a tensor of layout {values.layout}, expected a dense one")
    if values.requires_grad:
        raise ValueError(f"{name}: got a tensor that requires a gradient, which this call does not compute; expected tensor.detach()")
    if torch.cuda.is_current_stream_capturing():
        raise ValueError(f"{name}: got a tensor while PyTorch captures a CUDA graph; expected a call outside of the capture, as it waits for its result")


def _interface_type(name: str, values: Any) -> str:
    try:
        return str(np.dtype(values.__cuda_array_interface__["typestr"]).name)
    except (KeyError, TypeError):
        raise ValueError(f"{name}: got {type(values).__name__}, whose __cuda_array_interface__ has no type of elements, expected an array") from None


def _device(library: str, values: Any) -> contextlib.AbstractContextManager[Any]:
    """Makes an array's GPU the current one, whose current stream its library then goes by."""
    if library == "torch":
        import torch

        device: contextlib.AbstractContextManager[Any] = torch.cuda.device(values.device)
        return device
    if library == "cupy":
        own: contextlib.AbstractContextManager[Any] = values.device
        return own
    return contextlib.nullcontext()


def _prepared(name: str, values: Any, library: str, dtype: str, wanted: str) -> Any:
    """The same elements in the type that is wanted, row by row."""
    if library == "torch":
        import torch

        return values.to(getattr(torch, wanted)).contiguous()
    if library == "cupy":
        import cupy

        return cupy.ascontiguousarray(values, dtype=wanted)
    if dtype != wanted:
        if not hasattr(values, "astype"):
            raise ValueError(f"{name}: got elements of type {dtype}, expected {wanted}")
        return values.astype(wanted)
    return values


def _exported(name: str, values: Any) -> _core.View:
    try:
        if hasattr(values, "__dlpack__"):
            return _core.View(values.__dlpack__(stream=_core.arrival_stream(gpu_of(values) or 0)))
        interface = values.__cuda_array_interface__
        kind = np.dtype(interface["typestr"])
        shape = [int(length) for length in interface["shape"]]
        if interface.get("mask") is not None:
            raise ValueError("it has a mask")
        if interface.get("strides") is not None and tuple(interface["strides"]) != np.empty(shape, kind).strides:
            raise ValueError("it has gaps between its elements")
        return _core.View(int(interface["data"][0]), shape, TYPE_CODES[kind.kind], kind.itemsize * 8, int(interface.get("stream") or 0), values)
    except Exception as error:  # Each library refuses in its own way.
        raise ValueError(f"{name}: got {type(values).__name__} in a GPU's memory that its library does not hand over: {error}") from error
