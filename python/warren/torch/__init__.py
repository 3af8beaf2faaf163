# SPDX-License-Identifier: Apache-2.0
"""warren's kernels as differentiable operators of PyTorch, and PyTorch Geometric's layers on them.

    from warren.torch import SAGEConv                     # in place of torch_geometric.nn's

    out = SAGEConv(100, 47)(x, edge_index)

Operators: spmm, sddmm, edge_softmax, segment_reduce, gather, over an Adjacency, which edges are sorted into. They run where their tensors are, on the
CPU and on GPUs, in the order of PyTorch's current stream; under autocast in float32, and under torch.compile without breaks.
Over a DistributedAdjacency the layers, and spmm, compute on a whole graph over ranks that are processes, each with the rows of its own vertices.
trim_to_layer() leaves out of a sampled batch what a layer does not need.
Layers: GCNConv, SAGEConv, GATConv, GATv2Conv, GINConv, with PyTorch Geometric's arguments and parameters, which they need it for (docs/pytorch.md).
"""
from __future__ import annotations

from typing import Any

try:
    from ._adjacency import Adjacency
    from ._distributed import DistributedAdjacency
    from ._functions import edge_softmax, gather, sddmm, segment_reduce, spmm
    from ._trim import trim_to_layer
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    raise ModuleNotFoundError("warren.torch needs PyTorch: pip install torch", name=missing.name) from None

LAYERS = ("GATConv", "GATv2Conv", "GCNConv", "GINConv", "SAGEConv")

__all__ = ["Adjacency", "DistributedAdjacency", "GATConv", "GATv2Conv", "GCNConv", "GINConv", "SAGEConv", "edge_softmax", "gather", "sddmm", "segment_reduce", "spmm", "trim_to_layer"]


def __getattr__(name: str) -> Any:
    if name not in LAYERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import _layers
    except ImportError as error:
        raise ImportError(f"warren.torch.{name} needs PyTorch Geometric: pip install torch_geometric") from error
    return getattr(_layers, name)
