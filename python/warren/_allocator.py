# SPDX-License-Identifier: Apache-2.0
"""Memory of GPUs from the allocator of PyTorch or CuPy. Each library is imported only where its allocator is asked for."""
from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import type_name


def set_allocator(library: Any) -> None:
    """The memory of GPUs that calls need from here on comes from the caching allocator of `library`: the module torch or cupy; None: from the driver.

    Two pools in one process take memory from each other, which neither gives back before it has to; with one there is one to tune and to watch
    (torch.cuda.memory_allocated(), cupy.get_default_memory_pool().used_bytes()). It holds of all sessions of the process. What is held already stays with who gave
    it, and goes back there: changing the allocator is safe at any time, also while arrays live. Pinned and host memory is taken from the system as ever.
    Calls that the allocator gives no memory raise MemoryError. Raises ValueError for another library, and where there is no GPU whose memory it could give.
    """
    if library is None:
        _core.set_allocator(None, False)
        return
    name = getattr(library, "__name__", None)
    if name not in ALLOCATORS:
        raise ValueError(f"library: got {name or type_name(library)}, expected the module torch or cupy, or None")
    if _core.gpu_count() == 0:
        raise ValueError(f"library: got {name}, but there is no GPU whose memory it could give; expected None")
    if name == "torch" and not library.cuda.is_available():
        raise ValueError("library: got torch, but this PyTorch has no CUDA; expected one that has, or None")
    _core.set_allocator(ALLOCATORS[name], False)


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
