# SPDX-License-Identifier: Apache-2.0
"""Loaders for PyTorch Geometric: what a batch is, field by field; that its own loader's properties hold; and what is refused by name."""
import gc
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from pyg_data import DEVICES, EDGES, VERTICES, check_batch, some_data, stored, timed_data  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402

from warren.pyg import FeatureStore, GraphStore, LinkNeighborLoader, NeighborLoader, NeighborSampler  # noqa: E402


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"replace": True}, {"disjoint": True}, {"weight_attr": "edge_weight"}, {"num_neighbors": [-1]}, {"num_neighbors": [2, 3, 4]},
                                     {"labor": True}, {"labor": True, "layer_dependency": True, "weight_attr": "edge_weight"}])
def test_batches(device, options):
    data = some_data()
    options = {"num_neighbors": [4, 3], **options}
    loader = NeighborLoader(data, input_nodes=data.train_mask, batch_size=16, shuffle=True, device=device, **options)
    assert len(loader) == 5 and loader.data is data
    seen = []
    for batch in loader:
        assert batch.x.device.type == device and batch.edge_index.device.type == device
        check_batch(data, batch, options["num_neighbors"], options.get("replace", False), options.get("disjoint", False))
        assert torch.equal(batch.n_id[:batch.batch_size].cpu(), batch.input_id)  # Of a mask, as there: the vertices.
        if options.get("disjoint"):
            trees = batch.batch.cpu()
            assert torch.equal(trees[:batch.batch_size], torch.arange(batch.batch_size)) and torch.equal(trees[batch.edge_index[0].cpu()], trees[batch.edge_index[1].cpu()])
        seen.append(batch.input_id)
    assert torch.equal(torch.cat(seen).sort().values, data.train_mask.nonzero().view(-1))


def test_ids_as_input_and_no_shuffling():
    data, ids = some_data(), torch.tensor([5, 3, 190, 7])
    batches = list(NeighborLoader(data, [2], input_nodes=ids, batch_size=3, device="cpu"))
    assert [batch.input_id.tolist() for batch in batches] == [[0, 1, 2], [3]] and batches[0].n_id[:3].tolist() == [5, 3, 190]
    assert len(list(NeighborLoader(data, [2], input_nodes=ids, batch_size=3, drop_last=True, device="cpu"))) == 1
    assert next(iter(NeighborLoader(data, [2], batch_size=VERTICES, device="cpu"))).n_id.tolist() == list(range(VERTICES))
    one = NeighborLoader(data, [2], device="cpu")([4, 9])
    assert one.n_id[:2].tolist() == [4, 9] and one.batch_size == 2


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("seeds", [30, 28, 5, 7])
def test_seeds_come_in_the_order_of_torch(seeds, drop_last, shuffle, own):
    """With a generator of one's own, too; and of fewer seeds than a batch has."""
    from torch.utils.data import DataLoader

    orders = []
    for which in range(2):
        options = {"batch_size": 7, "shuffle": shuffle, "drop_last": drop_last, "generator": torch.Generator().manual_seed(3) if own else None}
        torch.manual_seed(5)
        if which == 0:
            loader = NeighborLoader(some_data(), [2], input_nodes=torch.arange(seeds), device="cpu", **options)
            orders.append([[batch.input_id.tolist() for batch in loader] for _ in range(2)])
        else:
            sampler = DataLoader(range(seeds), **options).batch_sampler
            found = []
            for _ in range(2):
                torch.randint(2**47, (), generator=options["generator"])  # The number of the first batch.
                found.append(list(sampler))
            orders.append(found)
    assert orders[0] == orders[1] and len(loader) == len(orders[1][0])
    if seeds > 7:
        assert (orders[0][0] != orders[0][1]) == shuffle


@pytest.mark.parametrize("device", DEVICES)
def test_data_without_edges_and_samples_of_no_hops(device):
    """As PyTorch Geometric's loaders take them."""
    data = some_data()
    alone = Data(x=data.x)
    for batch in NeighborLoader(alone, [2, 2], batch_size=20, device=device):
        assert batch.num_nodes == batch.batch_size and batch.x.cpu().equal(data.x[batch.n_id.cpu()]) and batch.num_sampled_nodes == [batch.batch_size, 0, 0] and batch.num_sampled_edges == [0, 0]
    for given, disjoint in ((alone, False), (data, False), (data, True)):
        for batch in NeighborLoader(given, [], batch_size=20, disjoint=disjoint, device=device):
            assert batch.n_id.numel() == batch.batch_size and batch.x.cpu().equal(data.x[batch.n_id.cpu()]) and batch.num_sampled_nodes == [batch.batch_size] and batch.num_sampled_edges == []
            assert not disjoint or batch.batch.tolist() == list(range(batch.batch_size))
        links = torch.randint(VERTICES, (2, 40), generator=torch.Generator().manual_seed(1))
        for batch in LinkNeighborLoader(given, [], edge_label_index=links, batch_size=16, disjoint=disjoint, device=device):
            assert batch.n_id[batch.edge_label_index].cpu().equal(links[:, batch.input_id]) and (disjoint or batch.num_nodes == batch.edge_label_index.unique().numel())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
@pytest.mark.parametrize("weight_attr", [None, "edge_weight"])
def test_backward_samples_are_those_of_the_reversed_graph(device, subgraph_type, weight_attr):
    from torch_geometric.loader import NodeLoader
    from torch_geometric.sampler import NodeSamplerInput

    data = some_data()
    reversed_data = data.clone()
    reversed_data.edge_index = data.edge_index.flip(0)
    drawn = []
    for given, direction in ((data, "backward"), (reversed_data, "forward")):
        torch.manual_seed(8)
        sampler = NeighborSampler(given, [3, 2], subgraph_type, weight_attr=weight_attr, sample_direction=direction, device=device)
        drawn.append(sampler.sample_from_nodes(NodeSamplerInput(input_id=None, node=torch.arange(0, VERTICES, 4))))
    backward, forward = drawn
    assert backward.node.equal(forward.node) and backward.row.equal(forward.col) and backward.col.equal(forward.row) and backward.row.numel() > 0
    assert (backward.edge is None and forward.edge is None) or backward.edge.equal(forward.edge)
    sampler = NeighborSampler(data, [3, 2], subgraph_type, weight_attr=weight_attr, sample_direction="backward", device=device)
    for loader in (NodeLoader(data, sampler, batch_size=16), NeighborLoader(data, [3, 2], neighbor_sampler=sampler, batch_size=16, device=device)):
        for batch in loader:
            if subgraph_type != "bidirectional":
                assert batch.n_id[batch.edge_index].cpu().equal(data.edge_index[:, batch.e_id.cpu()])
            found, expected = (conv(batch.x, batch.edge_index) for conv in same_convs(batch.x))
            assert torch.allclose(found, expected, 1e-4, 1e-5)


def same_convs(x):
    """warren's SAGEConv and PyTorch Geometric's with the same parameters."""
    from torch_geometric import nn
    from warren.torch import SAGEConv

    ours, theirs = SAGEConv(x.shape[1], 4).to(x.device), nn.SAGEConv(x.shape[1], 4).to(x.device)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def test_loaders_are_pytorch_geometrics():
    """Whose code asks for the class, as that of a whole graph's inference does; the sampler has the order of its arguments."""
    import inspect

    from torch_geometric import loader, sampler
    from torch_geometric.nn import GraphSAGE

    data = some_data()
    for ours, theirs in ((NeighborLoader, loader.NeighborLoader), (LinkNeighborLoader, loader.LinkNeighborLoader), (NeighborSampler, sampler.NeighborSampler)):
        assert issubclass(ours, theirs) or ours is NeighborSampler
        names = [list(inspect.signature(one.__init__).parameters) for one in (theirs, ours)]
        assert [name for name in names[1] if name in names[0]] == [name for name in names[0] if name in names[1]] and set(names[0]) <= set(names[1])
    model = GraphSAGE(8, 16, num_layers=2, out_channels=3).eval()
    assert torch.allclose(model.inference(NeighborLoader(data, [-1], batch_size=32, device="cpu")), model(data.x, data.edge_index), 1e-4, 1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_program_ends_while_batches_are_made():
    """An iterator that is left over, and one that nobody reads to its end: the program ends with them, and well."""
    text = """
import torch
from torch_geometric.data import Data
from warren.pyg import NeighborLoader
data = Data(x=torch.rand(20000, 64), edge_index=torch.randint(20000, (2, 400000)))
loader = NeighborLoader(data, [20, 20], batch_size=64, device="cuda")
kept = iter(loader)
next(kept)
for batch in loader:
    break
"""
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


def test_a_batch_of_no_seeds():
    data = some_data()
    batch = NeighborLoader(data, [2, 3], device="cpu")(torch.empty(0, dtype=torch.long))
    assert batch.batch_size == batch.num_nodes == batch.edge_index.shape[1] == 0 and batch.x.shape == (0, 8) and batch.num_sampled_nodes == [0, 0, 0]
    for none in (torch.empty(0, dtype=torch.long), torch.zeros(VERTICES, dtype=torch.bool)):
        loader = NeighborLoader(data, [2], input_nodes=none, shuffle=True, device="cpu")
        assert len(loader) == 0 and list(loader) == []
    assert list(LinkNeighborLoader(data, [2], edge_label_index=data.edge_index[:, :0], neg_sampling="binary", shuffle=True, device="cpu")) == []


@pytest.mark.parametrize("device", DEVICES)
def test_draws_follow_the_seed_of_torch(device):
    data = some_data()
    loader = NeighborLoader(data, [3, 2], batch_size=32, shuffle=True, device=device)

    def epoch(seed):
        torch.manual_seed(seed)
        return torch.cat([batch.e_id for batch in loader]).cpu()

    first = epoch(1)
    assert torch.equal(first, epoch(1)) and not torch.equal(first, epoch(2))
    torch.manual_seed(1)
    epochs = [torch.cat([batch.e_id for batch in loader]).cpu() for _ in range(2)]
    assert torch.equal(epochs[0], first) and not torch.equal(epochs[1], first)


def test_edges_of_a_vertex_are_equally_likely():
    """Chi-square of which of 20 in-edges is drawn, alone and by weights."""
    data = Data(edge_index=torch.stack([torch.arange(1, 21), torch.zeros(20, dtype=torch.long)]), num_nodes=21, w=torch.arange(1.0, 21.0))
    torch.manual_seed(5)
    for weights in (None, "w"):
        sampler = NeighborSampler(data, [1], weight_attr=weights, device="cpu")
        loader = NeighborLoader(data, [1], input_nodes=torch.zeros(3000, dtype=torch.long), batch_size=300, neighbor_sampler=sampler)
        counts = np.bincount(torch.cat([batch.e_id for batch in loader]), minlength=20)
        shares = np.ones(20) / 20 if weights is None else np.arange(1.0, 21.0) / 210
        chi = ((counts - 3000 * shares) ** 2 / (3000 * shares)).sum()
        assert chi < 45  # Of 19 degrees of freedom: one in a thousand.


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{"subgraph_type": "induced"}, {"directed": False}, {"subgraph_type": "induced", "weight_attr": "edge_weight", "labor": True}])
def test_induced_subgraphs(device, options):
    data = some_data()
    source, target = data.edge_index
    ids = torch.tensor([5, 3, 5, 190, 7, 8, 9, 10])
    for batch in NeighborLoader(data, [3, 2], input_nodes=ids, batch_size=4, device=device, **options):
        batch = batch.cpu()
        n_id, (row, col), e_id = batch.n_id, batch.edge_index, batch.e_id
        assert torch.equal(n_id[:batch.batch_size], ids[batch.input_id]) and torch.equal(batch.x, data.x[n_id])
        place = {v: at for at, v in reversed(list(enumerate(n_id.tolist())))}  # The first, of vertices that are there twice.
        expected = [(place[u], at, e) for e, (u, v) in enumerate(zip(source.tolist(), target.tolist())) if u in place for at in range(len(n_id)) if n_id[at] == v]
        assert sorted(zip(row.tolist(), col.tolist(), e_id.tolist())) == sorted(expected) and bool((col[1:] >= col[:-1]).all())
        assert torch.equal(batch.edge_attr, data.edge_attr[e_id]) and "num_sampled_edges" not in batch
    links = LinkNeighborLoader(data, [2], edge_label_index=data.edge_index[:, :40], batch_size=20, neg_sampling="binary", device=device, **options)
    for batch in links:
        batch = batch.cpu()
        inside = torch.isin(source, batch.n_id) & torch.isin(target, batch.n_id)
        assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))


def test_labor_shares_neighbours():
    draw = torch.Generator().manual_seed(1)
    data = Data(edge_index=torch.randint(1000, (2, 60_000), generator=draw), num_nodes=1000)
    counts = []
    for options in ({}, {"labor": True}, {"labor": True, "layer_dependency": True}):
        torch.manual_seed(2)
        batches = list(NeighborLoader(data, [8, 8], batch_size=50, device="cpu", **options))
        counts.append(sum(batch.num_nodes for batch in batches))
        assert all(batch.num_sampled_edges[0] == 8 * batch.batch_size for batch in batches)
    assert counts[1] < 0.9 * counts[0] and counts[2] < counts[1]


def test_transforms_and_bidirectional():
    data = some_data()
    loader = NeighborLoader(data, [2, 2], batch_size=20, transform=lambda batch: (batch, "seen"), transform_sampler_output=lambda out: out, device="cpu")
    assert all(mark == "seen" and batch.x is not None for batch, mark in loader)
    batch = next(iter(NeighborLoader(data, [2, 2], batch_size=20, subgraph_type="bidirectional", device="cpu")))
    pairs = set(map(tuple, batch.edge_index.t().tolist()))
    assert all((b, a) in pairs for a, b in pairs)


@pytest.mark.parametrize("device", DEVICES)
def test_transforms_of_samples_are_seen_by_what_is_gathered(device):
    data = some_data()
    data.x = torch.arange(data.num_nodes, dtype=torch.float32).view(-1, 1)

    def turned(out):
        last = out.node.numel() - 1
        out.node, out.row, out.col = out.node.flip(0), last - out.row, last - out.col
        return out

    def told(node):
        def change(out):
            out.node = node.to(out.node.device)
            return out

        return change

    for placement in ["auto"] if device == "cpu" else ["device", "host"]:
        for batch in NeighborLoader(data, [2, 2], batch_size=20, transform_sampler_output=turned, device=device, placement=placement):
            assert torch.equal(batch.x[:, 0].long(), batch.n_id)
        for bad in (VERTICES, -1):
            with pytest.raises(IndexError, match=rf"transform_sampler_output: node\[1\]: got {bad}, expected ids of 0 to {VERTICES - 1}"):
                list(NeighborLoader(data, [2, 2], batch_size=20, transform_sampler_output=told(torch.tensor([3, bad, 0])), device=device, placement=placement))
        with pytest.raises(ValueError, match="transform_sampler_output: node: got elements of type torch.float32"):
            list(NeighborLoader(data, [2, 2], batch_size=20, transform_sampler_output=told(torch.ones(3)), device=device, placement=placement))


@pytest.mark.parametrize("device", DEVICES)
def test_batches_of_any_sizes(device):
    seeds = [[1, 2], [3, 4, 5], [6], [7, 8, 9, 10], [11, 12, 13, 14], [15], [16]]
    loader = NeighborLoader(some_data(), [2], batch_sampler=seeds, device=device)
    assert [batch.n_id[:batch.batch_size].tolist() for batch in loader] == seeds
    assert [batch.input_id.tolist() for batch in loader] == seeds


def test_order_of_an_epoch_is_drawn_when_it_begins():
    data, orders = some_data(), []
    for _ in range(2):
        torch.manual_seed(5)
        batches = iter(NeighborLoader(data, [1], batch_size=10, shuffle=True, device="cpu"))
        torch.rand(3)
        orders.append([batch.input_id.tolist() for batch in batches])
        torch.manual_seed(5)
        batches = iter(NeighborLoader(data, [1], batch_size=10, shuffle=True, device="cpu"))
        orders.append([batch.input_id.tolist() for batch in batches])
    assert all(order == orders[0] for order in orders)


def test_workers_are_accepted_and_it_is_said_once():
    from warren.pyg import _loader

    _loader._told.clear()
    data = some_data()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            loader = NeighborLoader(data, [2], batch_size=100, num_workers=4, persistent_workers=True, prefetch_factor=2, filter_per_worker=True, device="cpu")
            assert len(list(loader)) == 2 and loader.num_workers == 0
            with loader.enable_multithreading(2), loader.enable_cpu_affinity([0]):
                assert len(list(loader)) == 2
    for name in ("enable_multithreading", "enable_cpu_affinity"):
        assert len([w for w in told if str(w.message).startswith(name)]) == 1
    assert [str(warning.message) for warning in told if "num_workers" in str(warning.message)] != [] and len([w for w in told if "num_workers" in str(w.message)]) == 1


@pytest.mark.parametrize("change, error, message", [
    (lambda d: NeighborLoader(HeteroData(), [2]), ValueError, "data: got a HeteroData"),
    (lambda d: NeighborLoader(3, [2]), ValueError, "data: got int"),
    (lambda d: LinkNeighborLoader((FeatureStore(), GraphStore()), [2]), ValueError, "data: got a pair of stores"),
    (lambda d: NeighborLoader((FeatureStore(), GraphStore()), [2]), ValueError, "input_nodes: got None"),
    (lambda d: NeighborLoader(Data(x=d.x, adj_t=d.edge_index), [2]), ValueError, "data: got one with adj or adj_t"),
    (lambda d: NeighborLoader(stored(d, t=torch.arange(EDGES)), [2], input_nodes=d.y, input_time=d.y, time_attr="t"), ValueError, "time_attr: got times of the edges of a pair of stores"),
    (lambda d: NeighborSampler(d, [2], sample_direction="both"), ValueError, "sample_direction: got 'both'"),
    (lambda d: NeighborSampler(d, [2], sample_direction="backward", time_attr="y"), ValueError, 'sample_direction: got "backward" with time_attr'),
    (lambda d: NeighborLoader(d, [2], time_attr="x"), ValueError, "time_attr: got elements of type torch.float32"),
    (lambda d: NeighborLoader(d, [2], time_attr="none"), ValueError, "time_attr: got 'none'"),
    (lambda d: NeighborLoader(d, [2], temporal_strategy="last"), ValueError, 'temporal_strategy: got "last" without time_attr'),
    (lambda d: NeighborLoader(d, [2], temporal_strategy="first", time_attr="y"), ValueError, "temporal_strategy: got 'first'"),
    (lambda d: NeighborLoader(d, [2], temporal_strategy="last", time_attr="y", replace=True), ValueError, 'temporal_strategy: got "last" with replace'),
    (lambda d: NeighborLoader(d, [2], temporal_strategy="last", time_attr="y", weight_attr="edge_weight"), ValueError, 'temporal_strategy: got "last" with weight_attr'),
    (lambda d: NeighborLoader(d, [2], input_time=d.y), ValueError, "input_time: got times without time_attr"),
    (lambda d: NeighborLoader(d, [2], input_time=d.y[:3], time_attr="y"), ValueError, f"input_time: got 3 times, expected one for each seed, {VERTICES}"),
    (lambda d: NeighborLoader(d, [2], input_time=d.x[:, 0], time_attr="y"), ValueError, "input_time: got elements of type torch.float32"),
    (lambda d: NeighborLoader(Data(edge_index=d.edge_index, x=d.x, t=torch.arange(EDGES)), [2], time_attr="t"), ValueError, "input_time: got None"),
    (lambda d: NeighborLoader(stored(d), [2], input_nodes=d.y, time_attr="z"), ValueError, "time_attr: got 'z', of which the feature store has none"),
    (lambda d: NeighborLoader(stored(d, t=d.y[:9]), [2], input_nodes=d.y, time_attr="t"), ValueError, f"time_attr: got 9 times, expected one for each of {VERTICES} vertices or of {EDGES} edges"),
    (lambda d: NeighborLoader(stored(d, t=d.x[:, 0]), [2], input_nodes=d.y, time_attr="t"), ValueError, "time_attr: got elements of type torch.float32"),
    (lambda d: NeighborLoader(stored(d), [2], input_nodes=d.y, weight_attr="y"), ValueError, "weight_attr: got 'y', expected None"),
    (lambda d: LinkNeighborLoader(d, [2], edge_label_time=d.y), ValueError, "edge_label_time: got times without time_attr"),
    (lambda d: LinkNeighborLoader(d, [2], time_attr="y"), ValueError, "edge_label_time: got None with time_attr"),
    (lambda d: LinkNeighborLoader(d, [2], time_attr="y", edge_label_time=d.y), ValueError, f"edge_label_time: got {VERTICES} times, expected one for each link, {EDGES}"),
    (lambda d: NeighborLoader(d, [2], subgraph_type="all"), ValueError, "subgraph_type: got 'all'"),
    (lambda d: NeighborLoader(d, [2], subgraph_type="induced", disjoint=True), ValueError, 'subgraph_type: got "induced" with disjoint'),
    (lambda d: NeighborLoader(d, [2], directed=False, time_attr="y"), ValueError, 'subgraph_type: got "induced" with time_attr'),
    (lambda d: NeighborLoader(d, [2], labor=True, replace=True), ValueError, "labor: got True with replace"),
    (lambda d: NeighborLoader(d, [2], labor=True, disjoint=True), ValueError, "labor: got True with disjoint"),
    (lambda d: LinkNeighborLoader(d, [2], labor=True, time_attr="y", edge_label_time=torch.zeros(EDGES)), ValueError, "labor: got True with time_attr"),
    (lambda d: NeighborLoader(d, [2], layer_dependency=True), ValueError, "layer_dependency: got True without labor"),
    (lambda d: NeighborLoader(d, [2], labor=True, neighbor_sampler=NeighborSampler(d, [2])), ValueError, "labor: got True with a neighbor_sampler"),
    (lambda d: NeighborLoader(d, [2], time_attr="y", neighbor_sampler=NeighborSampler(d, [2])), ValueError, "time_attr: got 'y' with a neighbor_sampler"),
    (lambda d: NeighborLoader(d, [0]), ValueError, r"num_neighbors: got \[0\]"),
    (lambda d: NeighborLoader(d, {("a", "to", "b"): [2]}), ValueError, "num_neighbors: got a dict"),
    (lambda d: NeighborLoader(d, [2], weight_attr="x"), ValueError, "weight_attr: got 'x'"),
    (lambda d: NeighborLoader(d, [2], weight_attr="none"), ValueError, "weight_attr: got 'none'"),
    (lambda d: NeighborLoader(d, [2], input_nodes=torch.tensor([0, VERTICES])), IndexError, rf"input_nodes\[1\]: got {VERTICES}"),
    (lambda d: NeighborLoader(d, [2], input_nodes=torch.tensor([-1])), IndexError, r"input_nodes\[0\]: got -1"),
    (lambda d: NeighborLoader(d, [2], input_nodes=torch.tensor([0.5])), ValueError, "input_nodes: got elements of type torch.float32"),
    (lambda d: NeighborLoader(d, [2], input_nodes=torch.ones(3, dtype=torch.bool)), ValueError, "input_nodes: got a mask of 3"),
    (lambda d: LinkNeighborLoader(d, [2], edge_label_index=torch.tensor([[0], [VERTICES]])), IndexError, r"edge_label_index\[1\]\[0\]"),
    (lambda d: LinkNeighborLoader(d, [2], edge_label_index=torch.arange(3)), ValueError, r"edge_label_index: got \(3,\), expected a tensor of shape \(2, m\)"),
    (lambda d: LinkNeighborLoader(Data(x=d.x), [2]), ValueError, "edge_label_index: got NoneType"),
    (lambda d: LinkNeighborLoader(d, [2], edge_label=torch.ones(7)), ValueError, rf"edge_label: got \(7,\), expected one for each of {EDGES} links"),
    (lambda d: NeighborLoader(Data(x=d.x, edge_index=torch.zeros((3, 5), dtype=torch.long)), [2]), ValueError, r"data.edge_index: got shape \(3, 5\)"),
    (lambda d: NeighborLoader(Data(x=d.x, edge_index=torch.eye(VERTICES).to_sparse()), [2]), ValueError, "data.edge_index: got shape .* torch.sparse_coo, expected a dense tensor"),
    (lambda d: NeighborLoader(Data(x=d.x, edge_index=d.edge_index, w=torch.arange(EDGES) - 1.0), [2], weight_attr="w"), ValueError, r"weight_attr: w\[0\] is -1.0, expected numbers that are finite"),
    (lambda d: NeighborLoader(Data(x=d.x, edge_index=d.edge_index, w=1 / (torch.arange(EDGES) - 3.0).clamp(min=0)), [2], weight_attr="w"), ValueError, r"weight_attr: w\[0\] is inf"),
    (lambda d: NeighborLoader(d, [2], batch_size=None), ValueError, "batch_size: got None"),
    (lambda d: NeighborLoader(d, [2], device="gpu"), ValueError, "device: got 'gpu'"),
    (lambda d: NeighborLoader(d, [2], device="cpu", placement="host"), ValueError, "placement: got 'host'"),
    (lambda d: NeighborLoader(d, [2], replace=True, neighbor_sampler=NeighborSampler(d, [2])), ValueError, "replace: got another"),
    (lambda d: NeighborLoader(d, [2], subgraph_type="induced", neighbor_sampler=NeighborSampler(d, [2])), ValueError, "subgraph_type: got another"),
    (lambda d: NeighborLoader(d, [2], neighbor_sampler=3), ValueError, "neighbor_sampler: got int"),
    (lambda d: NeighborLoader(Data(edge_index=torch.tensor([[0], [9]]), num_nodes=3), [2]), IndexError, r"data.edge_index\[1\]\[0\]: got 9"),
    (lambda d: LinkNeighborLoader(d, [2], edge_label=torch.ones(EDGES), neg_sampling="triplet"), ValueError, "edge_label"),
])
def test_what_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        change(some_data())


def test_a_graph_that_changed():
    data = some_data()
    loader = NeighborLoader(data, [2], device="cpu")
    data.x = data.x + 1  # Attributes may change.
    assert next(iter(loader)).x.shape[1] == 8
    data.edge_index[0, 0] = 3
    for use in (iter, lambda changed: changed([0])):
        with pytest.raises(ValueError, match="data: edge_index was changed"):
            use(loader)
    data.edge_index = data.edge_index.clone()
    with pytest.raises(ValueError, match="make another loader"):
        iter(loader)


@pytest.mark.parametrize("argument, name", [("weight_attr", "edge_weight"), ("time_attr", "vertex_time"), ("time_attr", "edge_time")])
def test_weights_and_times_that_changed(argument, name):
    data = timed_data()
    options = {"input_time": torch.full((VERTICES,), 9)} if name == "edge_time" else {}

    def write():
        data[name][3] = 1

    def replace():
        data[name] = data[name].clone()

    for change in (write, replace):
        loader = NeighborLoader(data, [2], device="cpu", **{argument: name}, **options)
        by_given = NeighborLoader(data, [2], device="cpu", neighbor_sampler=NeighborSampler(data, [2], device="cpu", **{argument: name}), **options)
        data.x = data.x + 1  # Of others any may change.
        next(iter(loader)), next(iter(by_given))
        change()
        for changed in (loader, by_given):
            for use in (iter, lambda changed: changed([0])):
                with pytest.raises(ValueError, match=f"data: {name} was changed after the loader was made"):
                    use(changed)
    next(iter(NeighborLoader(data, [2], device="cpu", **{argument: name}, **options)))


def test_attributes_that_are_no_numbers_go_through():
    data = some_data()
    data.x[7] = float("nan")
    batch = next(iter(NeighborLoader(data, [2], batch_size=VERTICES, device="cpu")))
    assert batch.x[7].isnan().all() and not batch.x[8].isnan().any()


def test_graphs_that_are_empty():
    data = Data(x=torch.ones(4, 2), edge_index=torch.empty((2, 0), dtype=torch.long))
    batch = next(iter(NeighborLoader(data, [2, 2], batch_size=3, device="cpu")))
    assert batch.num_nodes == 3 and batch.edge_index.shape == (2, 0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("placement", ["device", "host", "cached"])
def test_placements_on_a_gpu(placement):
    data = some_data()
    for batch in NeighborLoader(data, [4, 3], batch_size=64, device="cuda", placement=placement):
        assert batch.x.is_cuda
        check_batch(data, batch, [4, 3])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_the_thread_ends_with_its_iterator():
    loader = NeighborLoader(some_data(), [4, 3], batch_size=2, device="cuda")
    before = threading.active_count()
    iterator = iter(loader)
    next(iterator)
    del iterator
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "warren loader":
            thread.join(10)
    assert threading.active_count() <= before

    def fails(out):
        raise RuntimeError("of the user")

    with pytest.raises(RuntimeError, match="of the user"):
        list(NeighborLoader(some_data(), [4], batch_size=2, device="cuda", transform_sampler_output=fails))


@pytest.mark.parametrize("device", DEVICES)
def test_stores(device):
    from torch_geometric.loader import NodeLoader

    data = some_data()
    features, graph = FeatureStore(device=device), GraphStore()
    features[None, "x", None] = data.x
    features[None, "y", None] = data.y
    graph[None, "coo", False, (VERTICES, VERTICES)] = data.edge_index
    assert features[None, "x", torch.tensor([3, 1])].cpu().equal(data.x[[3, 1]]) and features[None, "x", None].cpu().equal(data.x) and features[None, "y", slice(2, 5)].cpu().equal(data.y[2:5])
    assert features.get_tensor_size(None, "x", None) == (VERTICES, 8) and len(features.get_all_tensor_attrs()) == 2
    ids = torch.arange(0, VERTICES, 3)
    theirs = NodeLoader((features, graph), NeighborSampler((features, graph), [4, 3], device=device), input_nodes=ids, batch_size=16)
    for loader in (theirs, NeighborLoader((features, graph), [4, 3], input_nodes=ids, batch_size=16, device=device)):
        batches = [batch.cpu() for batch in loader]
        assert len(batches) == 5 and torch.cat([batch.n_id[:batch.batch_size] for batch in batches]).equal(ids)
        for batch in batches:
            assert batch.x.equal(data.x[batch.n_id]) and batch.y.equal(data.y[batch.n_id]) and batch.n_id[batch.edge_index].equal(data.edge_index[:, batch.e_id])
    assert features.remove_tensor(None, "y", None) and graph.remove_edge_index(None, "coo") and not graph.get_all_edge_attrs()
    assert features.get_tensor(None, "y", None) is None
    with pytest.raises(ValueError, match="index: got 3"):
        features[None, "x", 3] = data.x[3]
    graph[("a", "to", "b"), "coo"] = data.edge_index
    with pytest.raises(ValueError, match="data: got a graph store with types of edges"):
        NeighborSampler((features, graph), [2])


def test_the_loader_trains_a_model_of_pytorch_geometric():
    from torch_geometric.nn import SAGEConv

    torch.manual_seed(0)
    side = torch.arange(VERTICES) % 2
    ends = torch.randint(VERTICES // 2, (2, 2000)) * 2
    data = Data(x=torch.randn(VERTICES, 8) + side.view(-1, 1), edge_index=torch.cat([ends, ends + 1], 1), y=side)
    first, second = SAGEConv(8, 16), SAGEConv(16, 2)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)
    for _ in range(3):
        for batch in NeighborLoader(data, [5, 5], batch_size=40, shuffle=True, device="cpu"):
            out = second(first(batch.x, batch.edge_index).relu(), batch.edge_index)[:batch.batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch.y[:batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert loss < 0.3


def test_whole_neighbourhoods_are_pytorch_geometrics():
    """Its own loaders draw the same where there is nothing to draw: vertices, edges and counts hop by hop, and what is told of links."""
    import torch_geometric.typing as has
    from torch_geometric import loader as theirs

    if not (has.WITH_PYG_LIB or has.WITH_TORCH_SPARSE):
        pytest.skip("PyTorch Geometric's loaders need pyg-lib or torch-sparse")
    data = some_data()
    options = {"input_nodes": torch.arange(40, 60), "batch_size": 7}
    links = {"edge_label_index": data.edge_index[:, 100:130], "edge_label": torch.arange(30), "batch_size": 8}
    pairs = [(theirs.NeighborLoader(data, [-1, -1], **options), NeighborLoader(data, [-1, -1], device="cpu", **options)),
             (theirs.LinkNeighborLoader(data, [-1], **links), LinkNeighborLoader(data, [-1], device="cpu", **links))]
    for wanted_loader, loader in pairs:
        for wanted, batch in zip(wanted_loader, loader, strict=True):
            counts = {"num_sampled_nodes", "num_sampled_edges"}  # Which torch-sparse does not tell.
            assert set(batch.keys()) - counts == set(wanted.keys()) - counts
            assert all(batch[name] == wanted[name] for name in counts & set(wanted.keys()))
            assert batch.n_id.sort().values.equal(wanted.n_id.sort().values) and batch.e_id.sort().values.equal(wanted.e_id.sort().values)
            assert batch.input_id.equal(wanted.input_id)
            if "edge_label_index" in wanted:
                assert batch.n_id[batch.edge_label_index].equal(wanted.n_id[wanted.edge_label_index]) and batch.edge_label.equal(wanted.edge_label)
            else:
                assert batch.batch_size == wanted.batch_size and batch.n_id[:batch.batch_size].equal(wanted.n_id[:batch.batch_size])


@pytest.mark.parametrize("device", DEVICES)
def test_embeddings_are_learnt_row_by_row(device):
    """Rows of a table that batches read are trained by PyTorch's sparse optimisers: as torch.nn.Embedding's, and no others."""
    from warren.torch import SAGEConv, gather

    data = some_data()
    count = data.num_nodes
    del data.x
    data.num_nodes = count
    first = torch.randn(data.num_nodes, 6, generator=torch.Generator().manual_seed(3))
    tables = []
    for mine in (True, False):
        torch.manual_seed(7)
        loader = NeighborLoader(data, [4, 4], input_nodes=torch.arange(12), batch_size=6, device=device)
        conv = SAGEConv(6, 3).to(device)
        table = torch.nn.Parameter(first.clone().to(device))
        embedding = torch.nn.Embedding(data.num_nodes, 6, sparse=True).to(device)
        if not mine:
            embedding.weight = table
        optimizer = torch.optim.SparseAdam([table], lr=0.1)
        read = torch.zeros(data.num_nodes, dtype=torch.bool)
        for batch in loader:
            x = gather(table, batch.n_id, sparse_grad=True) if mine else embedding(batch.n_id)
            out = conv(x, batch.edge_index)[:batch.batch_size]
            optimizer.zero_grad()
            out.square().sum().backward()
            assert table.grad.is_sparse
            optimizer.step()
            read[batch.n_id.cpu()] = True
        moved = (table.detach().cpu() != first).any(1)
        assert moved.any() and not moved[~read].any()
        tables.append(table.detach().cpu())
    assert torch.allclose(tables[0], tables[1], atol=1e-5)


def test_masks_of_any_kind():
    data = some_data()
    expected = torch.arange(data.num_nodes)[data.train_mask]
    for mask in (data.train_mask, data.train_mask.numpy(), data.train_mask.tolist()):
        loader = NeighborLoader(data, [2], input_nodes=mask, batch_size=1000, device="cpu")
        (batch,) = loader
        assert torch.equal(batch.input_id, torch.arange(expected.numel())) or torch.equal(batch.input_id, expected)
        assert torch.equal(batch.n_id[:batch.batch_size], expected)
