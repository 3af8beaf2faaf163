# SPDX-License-Identifier: Apache-2.0
"""Loaders for PyTorch Geometric: batches of edges, and batches in which nothing is later than its seed."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from pyg_data import DEVICES, EDGES, VERTICES, some_data, stored, timed_data  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.sampler import NegativeSampling  # noqa: E402

from warren.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler  # noqa: E402


@pytest.mark.parametrize("device", DEVICES)
def test_links(device):
    data = some_data()
    torch.manual_seed(3)
    chosen = torch.randperm(EDGES)[:70]
    links = data.edge_index[:, chosen]
    plain = list(LinkNeighborLoader(data, [3, 2], edge_label_index=links, batch_size=32, device=device))
    assert [batch.input_id.tolist() for batch in plain] == [list(range(32)), list(range(32, 64)), list(range(64, 70))]
    for batch in plain:
        check_links(data, batch, links)
        assert "edge_label" not in batch
    for batch in LinkNeighborLoader(data, [3, 2], edge_label_index=links, edge_label=torch.arange(70) % 4, batch_size=32, neg_sampling_ratio=2.0, shuffle=True, device=device):
        count = len(batch.input_id)
        check_links(data, batch, links)
        label = batch.edge_label.cpu()
        assert batch.edge_label_index.shape == (2, 3 * count) and torch.equal(label[:count], batch.input_id % 4 + 1) and not label[count:].any()
    for disjoint in (False, True):
        for amount in (1, 3):
            for batch in LinkNeighborLoader(data, [2], edge_label_index=links, batch_size=32, neg_sampling=NegativeSampling("triplet", amount), disjoint=disjoint, device=device):
                count, batch = len(batch.input_id), batch.cpu()
                assert torch.equal(torch.stack([batch.n_id[batch.src_index], batch.n_id[batch.dst_pos_index]]), links[:, batch.input_id])
                assert batch.dst_neg_index.shape == ((count,) if amount == 1 else (count, amount)) and "edge_label_index" not in batch
                if disjoint:
                    own = torch.arange(count)
                    assert torch.equal(batch.batch[batch.src_index], own) and torch.equal(batch.batch[batch.dst_pos_index], own)
                    assert torch.equal(batch.batch[batch.dst_neg_index.view(count, -1)], own.view(-1, 1).expand(count, amount))


def check_links(data, batch, links):
    batch = batch.cpu()
    count = len(batch.input_id)
    assert torch.equal(batch.n_id[batch.edge_label_index[:, :count]], links[:, batch.input_id])
    assert torch.equal(batch.n_id[batch.edge_index[0]], data.edge_index[0][batch.e_id]) and torch.equal(batch.x, data.x[batch.n_id])
    assert len(batch.n_id.unique()) == len(batch.n_id) == sum(batch.num_sampled_nodes)


def test_negative_ends_are_drawn_from_all_vertices_or_by_weights():
    data = some_data()
    torch.manual_seed(4)
    loader = LinkNeighborLoader(data, [1], batch_size=500, neg_sampling="binary", device="cpu")
    ends = torch.cat([batch.n_id[batch.edge_label_index[:, len(batch.input_id):]].view(-1) for batch in loader])
    expected = len(ends) / VERTICES
    counts = torch.bincount(ends, minlength=VERTICES)
    assert len(ends) == 2 * EDGES and ((counts - expected) ** 2 / expected).sum() < 267  # Of 199: one in a thousand.
    only = torch.zeros(VERTICES)
    only[17] = 1
    batch = next(iter(LinkNeighborLoader(data, [1], batch_size=50, neg_sampling=NegativeSampling("triplet", 2, dst_weight=only), device="cpu")))
    assert set(batch.n_id[batch.dst_neg_index].view(-1).tolist()) == {17}
    torch.manual_seed(9)
    first = next(iter(loader)).edge_label_index
    torch.manual_seed(9)
    assert torch.equal(next(iter(loader)).edge_label_index, first)


def check_times(batch, data, of_edges, when, fanouts, last):
    """Tree for tree, what may be sampled, and what must be where the latest are taken. `when`: a time for each tree."""
    batch = batch.cpu()
    source, target = data.edge_index
    n_id, (row, col), e_id = batch.n_id, batch.edge_index, batch.e_id
    assert torch.equal(n_id[row], source[e_id]) and torch.equal(n_id[col], target[e_id]) and torch.equal(batch.edge_attr, data.edge_attr[e_id])
    tree = torch.arange(len(when))
    for child, parent in zip(row.tolist(), col.tolist()):  # Each edge has a vertex of its own.
        assert child == len(tree)
        tree = torch.cat([tree, tree[parent:parent + 1]])
    begin, end, first = 0, len(when), 0
    for fanout, edges in zip(fanouts, batch.num_sampled_edges):
        for at in range(begin, end):
            mine = e_id[first:first + edges][col[first:first + edges] == at].tolist()
            early = [e for e in (target == n_id[at]).nonzero().view(-1).tolist() if of_edges[e] <= when[tree[at]]]
            if last:
                # Of equal times by their sources, of parallel edges by their columns.
                ordered = sorted(early, key=lambda e: (of_edges[e], source[e], e))
                assert mine == (ordered if fanout < 0 else ordered[-fanout:])
            else:
                assert len(mine) == len(set(mine)) == (len(early) if fanout < 0 else min(fanout, len(early))) and set(mine) <= set(early)
        begin, end, first = end, end + edges, first + edges
    return tree


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("fanouts", [[3, 2], [-1, 1]])
def test_batches_by_time(device, strategy, fanouts):
    data = timed_data()
    of_vertices = data.vertex_time[data.edge_index[0]].tolist()
    ids = torch.arange(5, 65)
    options = {"input_nodes": ids, "batch_size": 16, "temporal_strategy": strategy, "device": device}
    for batch in NeighborLoader(data, fanouts, time_attr="vertex_time", shuffle=True, **options):
        when = data.vertex_time[ids[batch.input_id]]
        tree = check_times(batch, data, of_vertices, when.tolist(), fanouts, strategy == "last")
        assert torch.equal(batch.batch.cpu(), tree) and "seed_time" not in batch and bool((batch.vertex_time.cpu()[batch.batch_size:] <= when[tree[batch.batch_size:]]).all())
    input_time = torch.arange(60) % 33 - 2
    for name, of_edges in (("vertex_time", of_vertices), ("edge_time", data.edge_time.tolist())):
        for batch in NeighborLoader(data, fanouts, time_attr=name, input_time=input_time, **options):
            assert torch.equal(batch.seed_time.cpu(), input_time[batch.input_id])
            check_times(batch, data, of_edges, batch.seed_time.tolist(), fanouts, strategy == "last")
    if strategy == "uniform":
        weighted = NeighborLoader(data, fanouts, time_attr="edge_time", input_time=input_time, weight_attr="edge_weight", **options)
        for batch in weighted:
            check_times(batch, data, data.edge_time.tolist(), batch.seed_time.tolist(), fanouts, False)


def test_edges_in_time_are_equally_likely():
    """Chi-square of which of 20 in-edges is drawn, of which 12 are early enough."""
    data = Data(edge_index=torch.stack([torch.arange(1, 21), torch.zeros(20, dtype=torch.long)]), num_nodes=21, t=torch.arange(20) * 3 % 20)
    torch.manual_seed(6)
    loader = NeighborLoader(data, [1], input_nodes=torch.zeros(3000, dtype=torch.long), batch_size=300, time_attr="t", input_time=torch.full((3000,), 11), device="cpu")
    counts = np.bincount(torch.cat([batch.e_id for batch in loader]), minlength=20)
    early = counts[data.t.numpy() <= 11]
    assert early.sum() == 3000 and len(early) == 12 and ((early - 250) ** 2 / 250).sum() < 31.3  # Of 11 degrees of freedom: one in a thousand.


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["vertex_time", "edge_time"])
def test_links_by_time(device, name):
    data = timed_data()
    links = data.edge_index[:, 100:170]
    times = torch.arange(70) % 31 - 2
    of_edges = (data.vertex_time[data.edge_index[0]] if name == "vertex_time" else data.edge_time).tolist()
    earliest = int(data.vertex_time.min())

    def not_later(ends, when):
        """Negative ends are early enough, or there is none and it is the earliest vertex."""
        if name == "vertex_time":
            assert bool(((data.vertex_time[ends] <= when) | (data.vertex_time[ends] == earliest)).all())

    options = {"edge_label_index": links, "edge_label_time": times, "time_attr": name, "batch_size": 32, "device": device}
    for strategy in ("uniform", "last"):
        for batch in LinkNeighborLoader(data, [3, 2], temporal_strategy=strategy, shuffle=True, **options):
            count, when = len(batch.input_id), times[batch.input_id]
            assert torch.equal(batch.edge_label_time.cpu(), when) and torch.equal(batch.n_id.cpu()[batch.edge_label_index.cpu()], links[:, batch.input_id])
            tree = check_times(batch, data, of_edges, torch.cat([when, when]).tolist(), [3, 2], strategy == "last")
            assert torch.equal(batch.batch.cpu(), tree % count)
    for batch in LinkNeighborLoader(data, [2], neg_sampling=NegativeSampling("binary", 1.5), **options):
        count, batch = len(batch.input_id), batch.cpu()
        label_time = times[batch.input_id].repeat(3)[:count + -(-count * 3 // 2)]
        assert torch.equal(batch.edge_label_time, label_time) and batch.edge_label.tolist() == [1] * count + [0] * (len(label_time) - count)
        check_times(batch, data, of_edges, label_time.repeat(2).tolist(), [2], False)
        for ends in batch.n_id[batch.edge_label_index[:, count:]]:
            not_later(ends, label_time[count:])
    for batch in LinkNeighborLoader(data, [2], neg_sampling=NegativeSampling("triplet", 2), **options):
        count, batch = len(batch.input_id), batch.cpu()
        when = times[batch.input_id]
        assert torch.equal(batch.seed_time, when) and batch.dst_neg_index.shape == (count, 2) and "edge_label_time" not in batch
        check_times(batch, data, of_edges, when.repeat(4).tolist(), [2], False)
        not_later(batch.n_id[batch.dst_neg_index], when.view(-1, 1))
        assert torch.equal(batch.batch[batch.dst_neg_index], torch.arange(count).view(-1, 1).expand(count, 2))


def test_negative_ends_in_time_are_drawn_from_all_of_them():
    data = Data(edge_index=torch.tensor([[0], [1]]), t=torch.tensor([4, 9, 1, 7, 7, 30]), num_nodes=6)
    torch.manual_seed(7)
    options = {"edge_label_index": torch.zeros((2, 4000), dtype=torch.long), "edge_label_time": torch.tensor([7, 0, 9, 4]).repeat(1000), "time_attr": "t", "batch_size": 4000, "device": "cpu"}
    weights = torch.tensor([1.0, 2.0, 0.0, 3.0, 2.0, 5.0])
    for weight, shares in ((None, torch.ones(6)), (weights, weights)):
        batch = next(iter(LinkNeighborLoader(data, [1], neg_sampling=NegativeSampling("triplet", 1, dst_weight=weight), **options)))
        ends = batch.n_id[batch.dst_neg_index]
        for time in (7, 9, 4):
            counts = torch.bincount(ends[batch.seed_time == time], minlength=6)
            expected = torch.where(data.t <= time, shares, 0.0)
            expected = 1000 * expected / expected.sum()
            assert int(counts[expected == 0].sum()) == 0 and float(((counts - expected) ** 2 / expected)[expected > 0].sum()) < 18.5  # Of 4 at most: one in a thousand.
        assert bool((ends[batch.seed_time == 0] == 2).all())  # None is early enough: the earliest.


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name, of", [("time", "vertex_time"), ("year", "vertex_time"), ("year", "edge_time")])
def test_times_from_stores(device, name, of):
    """Samples are those of a Data with the same times."""
    from torch_geometric.sampler import NodeSamplerInput

    data = timed_data()
    stores, plain = stored(data, device, **{name: data[of]}), Data(edge_index=data.edge_index, num_nodes=VERTICES, **{name: data[of]})
    ids = torch.arange(0, VERTICES, 2)
    seeds = NodeSamplerInput(input_id=None, node=ids, time=ids % 23)
    drawn = []
    for given in (stores, plain):
        torch.manual_seed(4)
        drawn.append(NeighborSampler(given, [4, 3], time_attr=name, device=device).sample_from_nodes(seeds))
    assert drawn[0].edge.numel() > 0 and all(getattr(drawn[0], key).equal(getattr(drawn[1], key)) for key in ("node", "row", "col", "edge", "batch"))
    if of == "vertex_time":
        for batch in NeighborLoader(stores, [4, 3], input_nodes=ids, batch_size=16, time_attr=name, device=device):
            batch = batch.cpu()
            when = data.vertex_time[batch.n_id[:batch.batch_size]]
            assert batch.x.equal(data.x[batch.n_id]) and batch[name].equal(data.vertex_time[batch.n_id]) and bool((batch[name] <= when[batch.batch]).all())


def test_times_of_as_many_vertices_as_edges():
    """"time" is of the vertices then, as PyTorch Geometric has it, and another name of the edges."""
    edges = torch.stack([torch.arange(VERTICES), torch.arange(VERTICES).roll(1)])
    given = Data(x=torch.ones(VERTICES, 2), edge_index=edges)
    assert NeighborSampler(stored(given, time=edges[0]), [1], time_attr="time", device="cpu").node_time is not None
    assert NeighborSampler(stored(given, year=edges[0]), [1], time_attr="year", device="cpu").node_time is None
