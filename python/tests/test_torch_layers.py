# SPDX-License-Identifier: Apache-2.0
"""Layers for PyTorch against PyTorch Geometric's: values, gradients, batches, compilation, and what is refused."""
import copy
import gc
import warnings
import weakref

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
warnings.filterwarnings("ignore", message=".*torch.jit.script.*")

from torch_data import DEVICES, SOURCES, TARGETS, VERTICES, layer_edges, layers, pair_of, randn, some_edges  # noqa: E402

from warren.torch import Adjacency, gather, segment_reduce, spmm  # noqa: E402
from warren.torch._adjacency import adjacencies, orders  # noqa: E402


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name, arguments, more", layers())
def test_layers_agree(device, name, arguments, more):
    theirs, ours = pair_of(name, arguments, device)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()] and isinstance(ours, type(theirs)) and repr(ours) == repr(theirs)
    edges = layer_edges().to(device)
    more = {key: value.to(device).requires_grad_() for key, value in more.items()}
    results = []
    for layer in (theirs, ours):
        x = randn(VERTICES, 12, device=device).requires_grad_()
        for _ in range(2):  # What is kept, too.
            out = layer(x, edges, **more)
        weights = randn(*out.shape, device=device, seed=4)
        results.append((out, torch.autograd.grad((out * weights).sum(), (x, *layer.parameters(), *more.values()))))
    torch.testing.assert_close(results[1][0], results[0][0], rtol=1e-5, atol=1e-5)
    for wanted, found in zip(results[0][1], results[1][1]):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["SAGEConv", "GATConv", "GATv2Conv", "GINConv"])
def test_layers_of_sources_and_targets(name):
    arguments = {} if name == "GINConv" else {"in_channels": (12, 12)}
    theirs_of = pytest.importorskip("torch_geometric.nn")
    import warren.torch

    theirs, ours = pair_of(name, {}) if name == "GINConv" else (getattr(theirs_of, name)(out_channels=5, **arguments), getattr(warren.torch, name)(out_channels=5, **arguments))
    ours.load_state_dict(theirs.state_dict())
    x = (randn(SOURCES, 12), randn(TARGETS, 12, seed=3))
    assert torch.allclose(ours(x, some_edges()), theirs(x, some_edges()), 1e-5, 1e-5)


def sampled_batch(device, fanouts=(4, 3, 2), edges=1500, vertices=200):
    """A directional batch of vertices with an attribute of each edge."""
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data

    from warren.pyg import NeighborLoader

    ends = some_edges(targets=vertices, sources=vertices, edges=edges)
    ends[1] = torch.where(ends[0] == ends[1], (ends[1] + 1) % vertices, ends[1])  # Of several loops with weights PyTorch Geometric takes one, on a GPU any.
    data = Data(x=randn(vertices, 12), edge_index=ends, edge_attr=randn(edges, 3).abs())
    torch.manual_seed(3)
    (batch,) = list(NeighborLoader(data, list(fanouts), input_nodes=torch.arange(9), batch_size=9, device=device))
    return batch


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name, by_edge", [("SAGEConv", None), ("GINConv", None), ("GATConv", "edge_attr"), ("GATv2Conv", "edge_attr"), ("GCNConv", "edge_weight"), ("GCNConv", None), ("improved", "edge_weight"),
                                           ("without loops", None)])
def test_layers_of_a_batch_compute_what_is_read_alone(device, name, by_edge):
    """Outputs and gradients of three layers are PyTorch Geometric's on what its own trim_to_layer() leaves, and rows that nobody reads are not made."""
    from torch_geometric import utils

    import warren.torch

    batch = sampled_batch(device)
    more = {"GATConv": {"edge_dim": 3, "heads": 2, "concat": False}, "GATv2Conv": {"edge_dim": 3}, "improved": {"improved": True}, "without loops": {"add_self_loops": False}}.get(name, {})
    kind = name if name.endswith("Conv") else "GCNConv"
    pairs = [pair_of(kind, {"in_channels": width, "out_channels": 5, **more}, device) for width in (12, 5, 5)] if kind != "GINConv" else [pair_of(kind, {}, device)]
    results = []
    for which, trim in ((0, utils.trim_to_layer), (1, warren.torch.trim_to_layer)):
        x, rows = batch.x.clone().requires_grad_(), []
        out, edges = x, batch.edge_index
        attributes = None if by_edge is None else batch.edge_attr if by_edge == "edge_attr" else batch.edge_attr[:, 0]
        for number, pair in enumerate(pairs):
            out, edges, attributes = trim(number, batch.num_sampled_nodes, batch.num_sampled_edges, out, edges, attributes)
            out = pair[which](out, edges, **({} if by_edge is None else {by_edge: attributes}))
            rows.append(out.shape[0])
        read = sum(batch.num_sampled_nodes[:4 - len(pairs)])
        gradients = torch.autograd.grad((out[:read] * randn(read, out.shape[1], device=device)).sum(), (x, *(parameter for pair in pairs for parameter in pair[which].parameters())))
        results.append((out[:read], gradients))
    assert rows == [sum(batch.num_sampled_nodes[:3 - number]) for number in range(len(pairs))]
    torch.testing.assert_close(results[1][0], results[0][0], rtol=1e-5, atol=1e-5)
    for wanted, found in zip(results[0][1], results[1][1]):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_edges_of_a_batch_need_no_sorting(device):
    """What a loader notes of its edges, that they are by target, is true, is seen by an Adjacency, and ends when they are written."""
    from warren.torch._adjacency import adjacency_of

    batch = sampled_batch(device)
    edges, count = batch.edge_index, batch.num_nodes
    assert bool((edges[1, 1:] >= edges[1, :-1]).all()) and orders.get(edges).version == edges._version
    by_note, by_sorting = adjacency_of(edges, count, count), adjacency_of(edges.clone(), count, count)
    assert by_note._order is not None and by_sorting._order is None
    # Fewer vertices than the batch has are looked at, and refused.
    with pytest.raises(IndexError, match="edge_index"):
        adjacency_of(edges, count, count - 1)
    x = randn(count, 4, device=device).requires_grad_()
    for adjacency in (by_note, by_sorting):
        adjacency.structures(x)
    for mine, other in zip((*by_note.by_target, *by_note._by_source), (*by_sorting.by_target, *by_sorting._by_source)):
        assert torch.equal(mine, other)
    edges[:, 0] = count
    with pytest.raises(IndexError, match="edge_index"):
        adjacency_of(edges, count, count)


@pytest.mark.parametrize("change, message", [
    ({"layer": 3}, "layer: got 3, expected 0 to 2"), ({"layer": -1}, "layer: got -1"), ({"num_sampled_nodes_per_hop": [9, 1]}, "num_sampled_nodes_per_hop"), ({"num_sampled_edges_per_hop": None}, "num_sampled_nodes_per_hop"),
    ({"x": torch.ones(10, 2)}, "x: got 10 rows"), ({"edge_index": torch.zeros(2, 3, dtype=torch.long)}, r"edge_index: got shape \(2, 3\)"), ({"edge_attr": torch.ones(2)}, "edge_attr: got 2 rows"),
])
def test_what_trimming_refuses(change, message):
    import warren.torch

    good = {"layer": 0, "num_sampled_nodes_per_hop": [9, 20, 30, 40], "num_sampled_edges_per_hop": [20, 30, 40], "x": torch.ones(99, 2), "edge_index": torch.zeros(2, 90, dtype=torch.long), "edge_attr": None}
    warren.torch.trim_to_layer(**good)
    with pytest.raises(ValueError, match=message):
        warren.torch.trim_to_layer(**(good | change))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("width", [4, 12])
def test_gcn_of_rows_in_any_layout(device, width):
    """Columns first, as a transposed matrix has them: as input, and as the gradient that comes back."""
    theirs, ours = pair_of("GCNConv", {"in_channels": width, "out_channels": 8}, device)
    edges, x = layer_edges().to(device), randn(width, VERTICES, device=device).t()
    weights, results = randn(8, VERTICES, device=device, seed=4), []
    for layer in (theirs, ours):
        given = x.detach().clone(memory_format=torch.preserve_format).requires_grad_()
        assert not given.is_contiguous()
        out = layer(given, edges)
        results.append((out, *torch.autograd.grad((out.t() * weights).sum(), (given, *layer.parameters()))))
    for wanted, found in zip(*results):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_edges_that_layers_have_seen_are_freed():
    _, ours = pair_of("SAGEConv", {})
    _, other = pair_of("GATConv", {})
    edges = layer_edges()
    (ours(randn(VERTICES, 12), edges).sum() + other(randn(VERTICES, 12), edges).sum()).backward()
    seen = weakref.ref(edges)
    del edges
    gc.collect()
    assert seen() is None
    batch = sampled_batch("cpu")
    ours(batch.x, batch.edge_index)
    seen = weakref.ref(batch.edge_index)
    del batch
    gc.collect()
    assert seen() is None


def test_counts_of_another_batch_are_not_believed():
    import warren.torch

    batch = sampled_batch("cpu")
    _, ours = pair_of("SAGEConv", {})
    kept = sum(batch.num_sampled_edges)
    with pytest.raises(IndexError, match="edge_index"):
        ours(*warren.torch.trim_to_layer(0, [1, 1, 1], [kept, 0], batch.x[:3], batch.edge_index)[:2])


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv"])
def test_layers_of_a_width_that_the_first_rows_tell(name):
    theirs_of = pytest.importorskip("torch_geometric.nn")
    import warren.torch

    edges = layer_edges()
    for width in (4, 12):
        theirs, ours = (getattr(of, name)(-1, 8) for of in (theirs_of, warren.torch))
        x = randn(VERTICES, width)
        ours(x, edges), theirs(x, edges)
        ours.load_state_dict(theirs.state_dict())
        assert torch.allclose(ours(x, edges), theirs(x, edges), 1e-5, 1e-5)


def test_layers_and_loaders_without_gradients_to_come():
    """Under inference mode, and what was seen there first trains later."""
    edges, x = layer_edges(), randn(VERTICES, 12)
    layers = [pair_of(name, {})[1] for name in ("GCNConv", "SAGEConv", "GATConv")]
    with torch.inference_mode():
        batch = sampled_batch("cpu")
        for layer in layers:
            layer(batch.x, batch.edge_index)
            layer(x, edges)
    for layer in layers:
        layer(x, edges).sum().backward()


def test_gcn_of_other_types_and_hooks():
    theirs, ours = pair_of("GCNConv", {"in_channels": 4, "out_channels": 16})
    edges, x = layer_edges(), randn(VERTICES, 4)
    weights = randn(edges.shape[1], seed=7, dtype=torch.float64).abs()
    wanted, found = theirs(x, edges, weights), ours(x, edges, weights)
    assert found.dtype == wanted.dtype and torch.allclose(found, wanted, 1e-5, 1e-5)
    called = []
    ours.lin.register_forward_hook(lambda *_: called.append(1))
    ours(x, edges)
    assert called == [1]
    sparse = torch.eye(VERTICES, 4).to_sparse()
    assert torch.allclose(ours(sparse, edges), theirs(sparse, edges), 1e-5, 1e-5)


def test_layers_fall_back_where_operators_do_not_do():
    theirs, ours = pair_of("GATConv", {"heads": 2})
    edges, x = layer_edges(), randn(VERTICES, 12)
    (out, (index, alpha)), (wanted, (wanted_index, wanted_alpha)) = (layer(x, edges, return_attention_weights=True) for layer in (ours, theirs))
    assert torch.allclose(out, wanted) and torch.equal(index, wanted_index) and torch.allclose(alpha, wanted_alpha)
    theirs, ours = pair_of("SAGEConv", {"flow": "target_to_source"})
    assert torch.allclose(ours(x, edges), theirs(x, edges), 1e-5, 1e-5)


class Adapter(torch.nn.Module):
    """In place of a linear layer: the same with something added that learns, as adapters do."""

    def __init__(self, of):
        super().__init__()
        self.weight, self.bias = of.weight, of.bias
        self.added = torch.nn.Parameter(torch.full((1,), 0.5))

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight, self.bias) + self.added


def both(name, *arguments, **options):
    """warren's layer and PyTorch Geometric's, with the same parameters."""
    theirs_of = pytest.importorskip("torch_geometric.nn")
    import warren.torch

    torch.manual_seed(1)
    ours, theirs = getattr(warren.torch, name)(*arguments, **options), getattr(theirs_of, name)(*arguments, **options)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


@pytest.mark.parametrize("name, part, widths", [("SAGEConv", "lin_r", (8, 8)), ("SAGEConv", "lin_l", (8, 8)), ("SAGEConv", "lin_l", (8, 4)), ("GCNConv", "lin", (4, 8)), ("GCNConv", "lin", (8, 4))])
def test_parts_of_layers_may_be_others(name, part, widths):
    """Linear layers that were replaced, or that somebody looks at, are called as they are."""
    edges, x = some_edges(sources=TARGETS), randn(TARGETS, widths[0])
    layers = both(name, *widths)
    for layer in layers:
        setattr(layer, part, Adapter(getattr(layer, part)))
    found, expected = (layer(x, edges) for layer in layers)
    assert torch.allclose(found, expected, 1e-5, 1e-5)
    found.sum().backward()
    expected.sum().backward()
    assert torch.allclose(getattr(layers[0], part).added.grad, getattr(layers[1], part).added.grad, 1e-4)
    seen = []
    for layer in both(name, *widths):
        getattr(layer, part).register_forward_hook(lambda _, inputs, output: seen.append((inputs[0], output)))
        layer(x, edges)
    assert len(seen) == 2 and all(torch.allclose(one, other, 1e-5, 1e-5) for one, other in zip(*seen))


def test_targets_with_gradients_of_their_own():
    """Targets that are the first sources, but of whose gradient something becomes."""
    class Reversed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return -grad

    edges = some_edges(targets=20, sources=TARGETS)
    changes = {"as they are": lambda rows: rows, "reversed": Reversed.apply, "detached": lambda rows: rows.detach(), "asked for": lambda rows: (rows.retain_grad(), rows)[1],
               "doubled": lambda rows: (rows.register_hook(lambda grad: 2 * grad), rows)[1]}
    for name, change in changes.items():
        gradients = []
        for layer in both("SAGEConv", 8, 8):
            x = randn(TARGETS, 8).requires_grad_()
            hidden = x * 1.5
            rows = change(hidden[:20])
            layer((hidden, rows), edges).square().sum().backward()
            gradients.append((x.grad, rows.grad if name == "asked for" else x.grad))
        assert all(torch.allclose(one, other, 1e-4, 1e-4) for one, other in zip(*gradients)), name
    ours, _ = both("SAGEConv", 8, 8)
    hidden = randn(TARGETS, 8)
    rows = hidden[:20]
    rows.data = torch.zeros(20, 8)
    assert torch.allclose(ours((hidden, rows), edges), ours((hidden, torch.zeros(20, 8)), edges))


@pytest.mark.parametrize("name, widths", [("SAGEConv", (8, 8)), ("SAGEConv", (8, 4)), ("GCNConv", (4, 8)), ("GCNConv", (8, 4))])
def test_layers_under_what_looks_at_calls(name, widths):
    """Traces, Jacobians of many rows at once, and training after inference by the same edges."""
    edges, x, y = some_edges(sources=TARGETS), randn(TARGETS, widths[0]), randn(TARGETS, widths[0], seed=9)
    ours, theirs = both(name, *widths)
    adjacency = Adjacency(edges, TARGETS)
    with torch.inference_mode():
        ours(x, adjacency)
    ours(x.clone().requires_grad_(), adjacency).sum().backward()
    for parameter in ours.parameters():
        parameter.requires_grad_(False)
    traced = torch.jit.trace(lambda rows: ours(rows, edges), (x,), check_trace=False)
    assert torch.allclose(traced(y), theirs(y, edges), 1e-5, 1e-5)
    found, expected = (torch.autograd.functional.jacobian(lambda rows, of=layer: of(rows, edges)[:3, :2], x, vectorize=True) for layer in (ours, theirs))
    assert torch.allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GINConv"])
def test_scripts_are_of_pytorch_geometrics_layers(name):
    """torch.jit.script() knows none of the operators."""
    pytest.importorskip("torch_geometric")
    from warren import torch as ours

    torch.manual_seed(0)
    x, edges = torch.randn(9, 4), torch.randint(9, (2, 30))
    kind = getattr(ours, name)
    layer = kind(torch.nn.Linear(4, 3)) if name == "GINConv" else kind(4, 3, **({"cached": True} if name == "GCNConv" else {}))
    expected = layer(x, edges)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(layer)
    assert torch.allclose(scripted(x, edges), expected, 1e-5, 1e-6) and type(layer) is kind and torch.equal(layer(x, edges), expected)


def test_what_gcn_keeps_is_emptied():
    pytest.importorskip("torch_geometric")
    from warren.torch import GCNConv

    x, first, second = torch.randn(9, 4), torch.randint(9, (2, 30)), torch.randint(9, (2, 30))
    layer = GCNConv(4, 3, cached=True)
    of_first = layer(x, first)
    assert torch.equal(layer(x, second), of_first)
    layer._cached_edge_index = None
    of_second = layer(x, second)
    layer.cached = False
    assert torch.equal(layer(x, second), of_second) and torch.equal(layer(x, first), of_first) and not torch.allclose(of_first, of_second)


def test_weights_of_other_edges():
    pytest.importorskip("torch_geometric")
    from warren.torch import GCNConv

    with pytest.raises(ValueError, match="edge_weight: got 3 weights, expected one for each of 300 edges"):
        GCNConv(4, 4)(randn(TARGETS, 4), some_edges(sources=TARGETS), torch.ones(3))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"aggr": "sum"}, {"aggr": "add", "normalize": True}, {"out_channels": 20}, {"out_channels": 20, "aggr": "sum", "root_weight": False}, {"project": True}])
def test_sage_with_weights_of_edges(device, options):
    """Against dense products: the sum of w x, and of a mean that over the number of edges; gradients of x, of the weights and of the parameters."""
    _, ours = pair_of("SAGEConv", options, device)
    edges, x = layer_edges().to(device), randn(VERTICES, 12, device=device).requires_grad_()
    weights = randn(edges.shape[1], device=device, seed=7).requires_grad_()
    source, target = edges
    dense = torch.zeros(VERTICES, VERTICES, device=device).index_put((target, source), weights, accumulate=True)
    if ours.aggr == "mean":
        dense = dense / torch.bincount(target, minlength=VERTICES).clamp(min=1).view(-1, 1)
    expected = ours.lin_l(dense @ (ours.lin(x).relu() if ours.project else x)) + (ours.lin_r(x) if ours.root_weight else 0)
    expected = torch.nn.functional.normalize(expected, dim=-1) if ours.normalize else expected
    operands = (x, weights, *ours.parameters())
    of_output = randn(*expected.shape, device=device, seed=4)
    wanted = torch.autograd.grad((expected * of_output).sum(), operands)
    for given in (edges, Adjacency(edges, VERTICES)):
        out = ours(x, given, edge_weight=weights)
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
        for mine, other in zip(torch.autograd.grad((out * of_output).sum(), operands), wanted):
            torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4)
    ones = torch.ones(edges.shape[1], dtype=torch.float64, device=device)
    torch.testing.assert_close(ours(x, edges, edge_weight=ones), ours(x, edges), rtol=1e-5, atol=1e-5)


def layer_of(name, options):
    return pair_of(name, options)[1]


@pytest.mark.parametrize("name, options, call, message", [
    ("SAGEConv", {"aggr": "max"}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400)), "edge_weight: got weights with aggr='max', expected None"),
    ("SAGEConv", {"aggr": "std"}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400)), "edge_weight: got weights with aggr='std'"),
    ("SAGEConv", {"flow": "target_to_source"}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400)), "edge_weight: got weights in a call"),
    ("SAGEConv", {}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(3)), r"edge_weight: got torch.float32 of shape \(3,\), expected floating-point numbers of shape \(400,\)"),
    ("SAGEConv", {}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400, 1)), r"edge_weight: got torch.float32 of shape \(400, 1\)"),
    ("SAGEConv", {}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400, dtype=torch.long)), "edge_weight: got torch.int64"),
    ("SAGEConv", {}, lambda layer, x, edges: layer(x, edges, edge_weight=torch.ones(400, device="meta")), "edge_weight: got a tensor on meta, expected one on cpu"),
    ("GCNConv", {}, lambda layer, x, edges: layer(x, edges, torch.ones(400, device="meta")), "edge_weight: got a tensor on meta, expected one on cpu"),
    *((name, {}, call, message) for name in ("SAGEConv", "GINConv") for call, message in (
        (lambda layer, x, edges: layer(x, edges, torch.ones(400)), r"size: got a tensor of torch.float32 of shape \(400,\), expected a pair of numbers"),
        (lambda layer, x, edges: layer(x, edges, (VERTICES, VERTICES, 1)), "size: got .* expected a pair of numbers"),
        (lambda layer, x, edges: layer(x, edges, (VERTICES, 2.5)), "size: got .* expected a pair of numbers"),
        (lambda layer, x, edges: layer(x, edges, (VERTICES + 1, None)), "size: got 51 sources, expected 50, the rows of x"),
        (lambda layer, x, edges: layer(x, edges, (VERTICES, 7)), "size: got 7 targets, expected 50, the rows of x"))),
    ("GATConv", {"edge_dim": 6}, lambda layer, x, edges: layer(x, edges, torch.ones(3, 6)), r"edge_attr: got shape \(3, 6\), expected \(400, k\)"),
    ("GATConv", {"edge_dim": 6, "add_self_loops": False}, lambda layer, x, edges: layer(x, edges, torch.ones(3, 6)), r"edge_attr: got shape \(3, 6\), expected \(400, k\)"),
    ("GATConv", {"edge_dim": 6}, lambda layer, x, edges: layer(x, edges, torch.ones(400)), r"edge_attr: got shape \(400,\), expected \(400, 6\)"),
    ("GATConv", {"edge_dim": 6}, lambda layer, x, edges: layer(x, edges, torch.ones(400, 6, device="meta")), "edge_attr: got a tensor on meta, expected one on cpu"),
    ("GATv2Conv", {"edge_dim": 6}, lambda layer, x, edges: layer(x, edges, torch.ones(3, 6)), r"edge_attr: got shape \(3, 6\), expected \(400, k\)"),
    ("GATv2Conv", {}, lambda layer, x, edges: layer(x, edges, torch.ones(400, 6)), r"edge_attr: got shape \(400, 6\) in a layer made without edge_dim, expected None"),
])
def test_what_layers_refuse(name, options, call, message):
    with pytest.raises(ValueError, match=message):
        call(layer_of(name, options), randn(VERTICES, 12), layer_edges())


def test_sizes_that_fit():
    x, edges = randn(VERTICES, 12), layer_edges()
    for name in ("SAGEConv", "GINConv"):
        theirs, ours = pair_of(name, {})
        for size in ((VERTICES, VERTICES), [None, VERTICES], torch.Size((VERTICES, VERTICES))):
            assert torch.allclose(ours(x, edges, size), theirs(x, edges, size), 1e-5, 1e-5)
    theirs, ours = pair_of("SAGEConv", {"root_weight": False})
    for size in ((SOURCES, TARGETS), (SOURCES, None)):
        assert torch.allclose(ours((randn(SOURCES, 12), None), some_edges(), size), theirs((randn(SOURCES, 12), None), some_edges(), size), 1e-5, 1e-5)


def test_a_state_of_another_shape():
    _, ours = pair_of("GCNConv", {})
    other, _ = pair_of("GCNConv", {"out_channels": 6})
    with pytest.raises(RuntimeError, match="size mismatch for lin.weight"):
        ours.load_state_dict(other.state_dict())


def test_edges_that_are_changed_in_place_are_seen():
    _, ours = pair_of("SAGEConv", {})
    edges, x = layer_edges(), randn(VERTICES, 12)
    before = ours(x, edges)
    assert adjacencies.get(edges)[1] is adjacencies.get(edges)[1] and torch.equal(ours(x, edges), before)
    edges[0, 0] = 20
    assert not torch.equal(ours(x, edges), before) and torch.equal(ours(x, edges), ours(x, edges.clone()))


@pytest.mark.parametrize("device", DEVICES)
def test_layers_compile_without_breaks(device):
    import warren.torch

    pytest.importorskip("torch_geometric")
    torch.manual_seed(0)
    model = torch.nn.ModuleList([warren.torch.GCNConv(12, 8), warren.torch.SAGEConv(8, 8), warren.torch.GATConv(8, 4, heads=2), warren.torch.GATv2Conv(8, 3), warren.torch.GINConv(torch.nn.Linear(3, 3))]).to(device)
    ptr, ids = torch.tensor([0, 3, 3, VERTICES], device=device), torch.tensor([2, 0, 1, 0], device=device)
    weights = randn(400, device=device, seed=7)

    def forward(x, edges):
        for layer in model:
            x = layer(x, edges, **({"edge_weight": weights} if isinstance(layer, warren.torch.SAGEConv) else {})).relu()
        return gather(torch.cat([segment_reduce(x, ptr, reduce) for reduce in ("sum", "mean", "max", "min")], 1), ids)

    x, edges = randn(VERTICES, 12, device=device), layer_edges().to(device)
    wanted = forward(x, edges)
    gradients = torch.autograd.grad(wanted.square().sum(), list(model.parameters()))
    compiled = torch.compile(forward, backend="aot_eager", fullgraph=True)
    found = compiled(x, edges.clone())
    assert torch.allclose(found, wanted, 1e-4, 1e-5)
    for mine, other in zip(torch.autograd.grad(found.square().sum(), list(model.parameters())), gradients):
        assert torch.allclose(mine, other, 1e-3, 1e-4)


def test_a_bad_ptr_is_seen_when_compiled():
    compiled = torch.compile(lambda x, ptr: segment_reduce(x, ptr), backend="aot_eager", fullgraph=True)
    x = randn(VERTICES, 4)
    assert torch.allclose(compiled(x, torch.tensor([0, 20, VERTICES])), segment_reduce(x, torch.tensor([0, 20, VERTICES])))
    with pytest.raises(ValueError, match="ptr: got one from 0 to 60, expected one that ascends from 0 to the 50 rows of x"):
        compiled(x, torch.tensor([0, 20, 60]))


def test_edges_that_are_written_after_forward():
    """Their gradients would be those of other edges: an error, as PyTorch's own."""
    from warren.torch import SAGEConv

    edges = torch.randint(0, 9, (2, 40), generator=torch.Generator().manual_seed(1))
    x = randn(9, 4).requires_grad_()
    out = SAGEConv(4, 8, aggr="sum", root_weight=False)(x, edges).sum()
    edges.random_(0, 9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    adjacency = Adjacency(edges, 9)
    edges.random_(0, 9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        spmm(adjacency, x)


def test_copies_and_files_of_edges_have_nothing_that_was_kept():
    import copy
    import io

    from warren.torch import SAGEConv

    edges = torch.randint(0, 9, (2, 40), generator=torch.Generator().manual_seed(1))
    edges.add_(0)
    conv, x = SAGEConv(4, 3), randn(9, 4)
    conv(x, edges)
    edges.copy_(edges.flip(1).roll(1, 0))
    copied = copy.deepcopy(edges)
    assert torch.equal(conv(x, copied), conv(x, edges.clone()))
    file = io.BytesIO()
    torch.save(edges, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=True), edges)
