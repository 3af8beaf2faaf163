# SPDX-License-Identifier: Apache-2.0
"""Device memory from elsewhere: the allocator of PyTorch or CuPy, the driver's pools, or a function. Each library is imported only where its allocator is asked for."""
from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import type_name

EXPECTED = 'the module torch or cupy, "pool", a function, or None'


def set_allocator(library: Any) -> None:
    """The memory of GPUs that calls need from here on comes from `library`: the caching allocator of the module torch or cupy; "pool": the driver's stream-ordered pools;
    a function(gpu, size) that returns the address of `size` bytes, aligned to 256, and an object that frees them when it goes; None: the driver, block by block.

    Two pools in one process take memory from each other, which neither gives back before it has to; with one there is one to tune and to watch
    (torch.cuda.memory_allocated(), cupy.get_default_memory_pool().used_bytes()). It holds of all sessions of the process that have none of their own
    (warren.Session(allocator=...)). What is held already stays with who gave it, and goes back there: changing the allocator is safe at any time, also while
    arrays live. Pinned and host memory is taken from the system as ever. Calls that the allocator gives no memory raise MemoryError, whose `__cause__` is what it raised. Raises ValueError for
    what is none of these, and where there is no GPU whose memory it could give.
    """
    _core.set_allocator(allocator_of("library", library), False)


def allocator_of(name: str, given: Any, device: str = "cuda") -> _core.Allocator | None:
    """The allocator that the argument `name` stands for, of a session of this device ("auto": of GPUs where there are some). Raises ValueError."""
    if given is None:
        return None
    is_function, is_pool = callable(given), isinstance(given, str) and given == "pool"
    what = "a function" if is_function else '"pool"' if is_pool else getattr(given, "__name__", None) or type_name(given)
    if not is_function and not is_pool and what not in ALLOCATORS:
        raise ValueError(f"{name}: got {what}, expected {EXPECTED}")
    has_gpu = _core.gpu_count() > 0
    if device == "cpu" or (device == "auto" and not has_gpu):
        if is_function:
            return _core.Allocator(given)
        raise ValueError(f"{name}: got {what}, which gives memory of GPUs, and the session runs on the CPU; expected a function, or None")
    if not has_gpu:
        raise ValueError(f"{name}: got {what}, but there is no GPU whose memory it could give; expected None")
    if is_pool:
        return _core.Allocator.pool()
    if what == "torch" and not given.cuda.is_available():
        raise ValueError(f"{name}: got torch, but this PyTorch has no CUDA; expected one that has, or None")
    return _core.Allocator(given if is_function else ALLOCATORS[what])


def _from_torch(gpu: int, size: int) -> tuple[int, Any]:
    """Blocks belong to a stream of warren's own: those that come back are free on all streams, and are used again by warren alone, or given to the driver."""
    import torch

    with torch.cuda.device(gpu), torch.cuda.stream(torch.cuda.ExternalStream(_core.arrival_stream(gpu), device=gpu)):
        block = torch.empty(size, dtype=torch.uint8, device=f"cuda:{gpu}")
    return block.data_ptr(), block


def _from_cupy(gpu: int, size: int) -> tuple[int, Any]:
    import cupy

    with cupy.cuda.Device(gpu), cupy.cuda.ExternalStream(_core.arrival_stream(gpu), gpu):
        block = cupy.cuda.alloc(size)
    return block.ptr, block


ALLOCATORS = {"torch": _from_torch, "cupy": _from_cupy}
