# SPDX-License-Identifier: Apache-2.0
"""Loaders of mini-batches with the arguments, the order and the batches of PyTorch Geometric's, on warren's sampler.

    from warren.pyg import NeighborLoader                 # in place of torch_geometric.loader's

    loader = NeighborLoader(data, num_neighbors=[15, 10], input_nodes=data.train_mask, batch_size=1024, shuffle=True)
    for batch in loader:
        out = model(batch.x, batch.edge_index)[:batch.batch_size]

Batches are sampled, renumbered and gathered where warren runs: on a GPU where there is one, ahead of the model and without worker processes.
Needs PyTorch and PyTorch Geometric (docs/pytorch.md).
"""
try:
    from ._loader import LinkNeighborLoader, NeighborLoader
    from ._sampler import NeighborSampler
    from ._stores import FeatureStore, GraphStore
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] not in ("torch", "torch_geometric"):
        raise
    raise ModuleNotFoundError("warren.pyg needs PyTorch and PyTorch Geometric: pip install torch torch_geometric", name=missing.name) from None

__all__ = ["FeatureStore", "GraphStore", "LinkNeighborLoader", "NeighborLoader", "NeighborSampler"]
