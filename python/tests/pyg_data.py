# SPDX-License-Identifier: Apache-2.0
"""What the tests of the loaders for PyTorch Geometric share: data with every kind of attribute, and what a batch of it must be."""
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch_geometric.data import Data  # noqa: E402

from warren.pyg import FeatureStore, GraphStore  # noqa: E402

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"))]
VERTICES, EDGES = 200, 3000


def some_data(seed=0):
    draw = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(VERTICES, (2, EDGES), generator=draw)
    edge_index[:, 1] = edge_index[:, 0]  # Parallel ones.
    return Data(x=torch.randn(VERTICES, 8, generator=draw), edge_index=edge_index, y=torch.randint(5, (VERTICES,), generator=draw),
                edge_attr=torch.arange(EDGES * 2.0).view(EDGES, 2), edge_weight=torch.rand(EDGES, generator=draw), train_mask=torch.arange(VERTICES) % 3 == 0, note="kept")


def check_batch(data, batch, fanouts, replace=False, disjoint=False):
    """That a batch is a sample of `data` as PyTorch Geometric would tell it."""
    batch = batch.cpu()
    n_id, (row, col), e_id = batch.n_id, batch.edge_index, batch.e_id
    assert torch.equal(batch.x, data.x[n_id]) and torch.equal(batch.y, data.y[n_id]) and torch.equal(batch.train_mask, data.train_mask[n_id])
    assert torch.equal(batch.edge_attr, data.edge_attr[e_id]) and torch.equal(batch.edge_weight, data.edge_weight[e_id]) and batch.note == "kept"
    assert torch.equal(n_id[row], data.edge_index[0][e_id]) and torch.equal(n_id[col], data.edge_index[1][e_id])
    assert batch.num_nodes == len(n_id) == sum(batch.num_sampled_nodes) and len(e_id) == sum(batch.num_sampled_edges)
    assert n_id.dtype == e_id.dtype == row.dtype == torch.long and batch.batch_size == len(batch.input_id)
    if not disjoint:
        assert len(n_id.unique()) == len(n_id)
    # Hop by hop: the targets are what the hop before found, with all their edges or as many as asked for, and what is new is numbered on.
    degree = torch.bincount(data.edge_index[1], minlength=VERTICES)
    begin, end, first = 0, batch.num_sampled_nodes[0], 0
    for fanout, found, edges in zip(fanouts, batch.num_sampled_nodes[1:], batch.num_sampled_edges):
        sources, targets = row[first:first + edges], col[first:first + edges]
        own = degree[n_id[begin:end]]
        expected = own if fanout < 0 else (own > 0) * fanout if replace else own.clamp(max=fanout)
        assert torch.equal(torch.bincount(targets, minlength=end)[begin:], expected) and bool((targets[1:] >= targets[:-1]).all())
        assert replace or disjoint or len(e_id[first:first + edges].unique()) == edges
        assert edges == 0 or int(sources.max()) < end + found
        begin, end, first = end, end + found, first + edges


def timed_data(seed=0):
    """With times of vertices and of edges, many of them equal, and parallel edges."""
    data = some_data(seed)
    draw = torch.Generator().manual_seed(seed + 1)
    data.vertex_time = torch.randint(-5, 25, (VERTICES,), generator=draw)
    data.edge_time = torch.randint(30, (EDGES,), generator=draw).int()
    return data


def stored(data, device="cpu", **tensors):
    """The pair of stores with the edges of `data` and these tensors."""
    features, graph = FeatureStore(device=device), GraphStore()
    for name, tensor in {"x": data.x, **tensors}.items():
        features[None, name, None] = tensor
    graph[None, "coo", False, (VERTICES, VERTICES)] = data.edge_index
    return features, graph
