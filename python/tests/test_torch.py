# SPDX-License-Identifier: Apache-2.0
"""Operators for PyTorch against what their equations say, their gradients, compilation and autocast."""
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
warnings.filterwarnings("ignore", message=".*torch.jit.script.*")

from torch_data import DEVICES, EDGES, SOURCES, TARGETS, VERTICES, layer_edges, pair_of, randn, some_edges  # noqa: E402

from warren.torch import Adjacency, edge_softmax, gather, sddmm, segment_reduce, spmm  # noqa: E402
from warren.torch import _operators as operators  # noqa: E402


def by_hand_spmm(edge_index, x, values, targets=TARGETS):
    terms = x[edge_index[0]] if values is None else x[edge_index[0]] * values.view(len(values), -1, *[1] * (x.dim() - 2))
    return torch.zeros(targets, *x.shape[1:], dtype=x.dtype, device=x.device).index_add(0, edge_index[1], terms)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(7,), (8,), (1,), (130,), (3, 5), (4, 8)])
def test_spmm_and_sddmm(device, shape):
    edges = some_edges(device)
    adjacency = Adjacency(edges, TARGETS, SOURCES)
    x, y = randn(SOURCES, *shape, device=device), randn(TARGETS, *shape, device=device, seed=5)
    values = randn(EDGES, *shape[:-1], device=device, seed=3)
    for given in (None, values):
        expected = by_hand_spmm(edges, x.double(), None if given is None else given.double())
        for dtype, near in ((torch.float32, 1e-5), (torch.float64, 1e-12), (torch.bfloat16, 0.05)):
            found = spmm(adjacency, x.to(dtype), None if given is None else given.to(dtype))
            assert found.dtype == dtype and found.device == x.device and torch.allclose(found.double(), expected, near, near * 10)
    degree = torch.bincount(edges[1], minlength=TARGETS).clamp(min=1).view(-1, *[1] * len(shape))
    assert torch.allclose(spmm(adjacency, x, reduce="mean"), (by_hand_spmm(edges, x, None) / degree), 1e-5, 1e-5)
    largest = torch.stack([x[edges[0][edges[1] == v]].amax(0) if (edges[1] == v).any() else torch.zeros(shape, device=device) for v in range(TARGETS)])
    assert torch.equal(spmm(adjacency, x, reduce="max"), largest)
    assert torch.allclose(sddmm(adjacency, y, x), (y[edges[1]] * x[edges[0]]).sum(-1), 1e-4, 1e-5)
    assert torch.equal(spmm(adjacency, x, values), spmm(adjacency, x, values))


@pytest.mark.parametrize("device", DEVICES)
def test_largest_of_no_numbers(device):
    """By the engine and by PyTorch: NaN is below any number; of NaNs alone NaN; of nothing 0."""
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([nan, -inf, 2.0, 5.0, nan], device=device).view(-1, 1)
    edges = torch.tensor([[0, 1, 0, 3, 2, 0, 4, 1], [0, 0, 1, 1, 1, 2, 2, 4]], device=device)
    for dtype in (torch.float32, torch.float64):
        rows = x.to(dtype).requires_grad_()
        found = spmm(Adjacency(edges, 5), rows, reduce="max")
        assert torch.equal(found.nan_to_num(nan=77.0, neginf=-88.0).view(-1).cpu(), torch.tensor([-88.0, 5.0, 77.0, 0.0, -88.0], dtype=dtype))
        assert torch.autograd.grad(found.sum(), rows)[0].view(-1).tolist() == [1, 2, 0, 1, 0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("heads", [(), (3,)])
def test_edge_softmax(device, heads):
    edges = some_edges(device)
    adjacency = Adjacency(edges, TARGETS, SOURCES)
    x = randn(EDGES, *heads, device=device) * 50
    raised = torch.stack([x.double()[e] - x.double()[edges[1] == edges[1][e]].amax(0) for e in range(EDGES)]).exp()
    sums = torch.zeros(TARGETS, *heads, dtype=torch.float64, device=device).index_add(0, edges[1], raised)
    for dtype, near in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        assert torch.allclose(edge_softmax(adjacency, x.to(dtype)).double(), raised / sums[edges[1]], near, near)
    x[0] = -torch.inf
    assert not edge_softmax(adjacency, x)[0].any() and not edge_softmax(adjacency, x).isnan().any()
    x[1] = torch.nan
    assert torch.equal(edge_softmax(adjacency, x).isnan().view(EDGES, -1)[:, 0], edges[1] == edges[1][1])


@pytest.mark.parametrize("device", DEVICES)
def test_segment_reduce(device):
    ptr = torch.tensor([0, 3, 3, 10, 11, 20], device=device)
    x = randn(20, 3, 2, device=device)
    parts = [x[a:b] for a, b in zip(ptr[:-1].tolist(), ptr[1:].tolist())]
    for reduce, by_hand in (("sum", lambda p: p.sum(0)), ("mean", lambda p: p.mean(0)), ("max", lambda p: p.amax(0)), ("min", lambda p: p.amin(0))):
        expected = torch.stack([by_hand(part) if len(part) else torch.zeros(3, 2, device=device) for part in parts])
        for dtype in (torch.float32, torch.float64):
            assert torch.allclose(segment_reduce(x.to(dtype), ptr, reduce), expected.to(dtype), 1e-5, 1e-6)
    assert segment_reduce(x[:, 0, 0], ptr).shape == (5,)


@pytest.mark.parametrize("device", DEVICES)
def test_gather(device):
    table = randn(9, 4, device=device).requires_grad_()
    ids = torch.tensor([[1, 8], [1, 0]], device=device)
    for sparse in (False, True):
        table.grad = None
        out = gather(table, ids, sparse_grad=sparse)
        assert torch.equal(out, table[ids])
        (out * torch.arange(16.0, device=device).view(2, 2, 4)).sum().backward()
        assert table.grad.is_sparse == sparse
        dense = table.grad.to_dense()
        expected = torch.autograd.grad((table[ids] * torch.arange(16.0, device=device).view(2, 2, 4)).sum(), table)[0]
        assert torch.equal(dense, expected)
    for bad in (9, -1):
        with pytest.raises(IndexError, match=f"ids: got {bad}, expected rows of 0 to 8"):
            gather(table, torch.tensor([0, bad], device=device))


def functions(adjacency, device, dtype):
    """Of each operator a function of what has gradients, and its operands."""
    def operand(*shape, seed):
        return randn(*shape, device=device, dtype=dtype, seed=seed).requires_grad_()

    ptr = torch.tensor([0, 2, 2, 7, 12], device=device)
    x, y, v, alone = operand(SOURCES, 2, 3, seed=1), operand(TARGETS, 2, 3, seed=2), operand(EDGES, 2, seed=3), operand(12, 2, seed=4)
    return {"spmm": (lambda x, v: spmm(adjacency, x, v), (x, v)), "spmm without values": (lambda x: spmm(adjacency, x, reduce="mean"), (x,)),
            "largest": (lambda x: spmm(adjacency, x, reduce="max"), (x,)), "sddmm": (lambda y, x: sddmm(adjacency, y, x), (y, x)),
            "softmax": (lambda v: edge_softmax(adjacency, v), (v,)), **{reduce: (lambda a, reduce=reduce: segment_reduce(a, ptr, reduce), (alone,)) for reduce in ("sum", "mean", "max", "min")},
            "gather": (lambda a: gather(a, torch.tensor([1, 5, 1], device=device)), (alone,))}


# Float64 is PyTorch's, whose sums on GPUs are added up in no order.
NONDETERMINISM = 1e-10


@pytest.mark.parametrize("device", DEVICES)
def test_gradients(device):
    """In float64 by differences; the engine's, in float32, by those."""
    adjacency = Adjacency(some_edges(device), TARGETS, SOURCES)
    exact, found = (functions(adjacency, device, dtype) for dtype in (torch.float64, torch.float32))
    for name, (function, operands) in exact.items():
        assert torch.autograd.gradcheck(function, operands, fast_mode=True, nondet_tol=NONDETERMINISM), name
        if name in ("spmm", "sddmm", "sum"):
            assert torch.autograd.gradgradcheck(function, operands, fast_mode=True, nondet_tol=NONDETERMINISM), name
        weights = randn(*function(*operands).shape, device=device, dtype=torch.float64, seed=9)
        expected = torch.autograd.grad((function(*operands) * weights).sum(), operands)
        narrow, narrow_operands = found[name]
        for ours, wanted in zip(torch.autograd.grad((narrow(*narrow_operands) * weights.float()).sum(), narrow_operands), expected):
            assert ours.dtype == torch.float32 and torch.allclose(ours.double(), wanted, 1e-4, 1e-5), name


@pytest.mark.parametrize("device", DEVICES)
def test_operators_are_what_pytorch_is_told(device):
    edges = some_edges(device, 6, 6, 20)
    adjacency = Adjacency(edges, 6, 6)
    x, v = randn(6, 2, 3, device=device).requires_grad_(), randn(20, 2, device=device).requires_grad_()
    s = adjacency.structures(x)
    for operator, arguments in ((operators.spmm, (x, v, *s)), (operators.sddmm, (x, x.detach().clone(), *s)), (operators.edge_softmax, (v, s[0], s[2])),
                                (operators.row_max, (x.detach().flatten(1).requires_grad_(), s[0], s[1])), (operators.sort_edges, (edges[1], edges[0], 6, 6)),
                                (operators.segments, (torch.tensor([0, 3, 20], device=device), 20)), (operators.gather, (v, torch.tensor([1, 2], device=device), False))):
        torch.library.opcheck(operator, arguments, test_utils=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static"))


@pytest.mark.parametrize("device", DEVICES)
def test_autocast(device):
    adjacency = Adjacency(some_edges(device), TARGETS, SOURCES)
    x, y, v = randn(SOURCES, 2, 8, device=device), randn(TARGETS, 2, 8, device=device), randn(EDGES, 2, device=device)
    half = torch.bfloat16 if device == "cpu" else torch.float16
    with torch.autocast(device, half):
        for found, wanted in ((spmm(adjacency, x.to(half), v), spmm(adjacency, x, v)), (sddmm(adjacency, y.to(half), x), sddmm(adjacency, y, x)), (edge_softmax(adjacency, v.to(half)), edge_softmax(adjacency, v))):
            assert found.dtype == torch.float32 and torch.allclose(found, wanted, 0.03, 0.1)


@pytest.mark.parametrize("call, error, message", [
    (lambda a, x: spmm(a, x[:-1]), ValueError, r"x: got shape \(59, 4\), expected \(60, k\)"),
    (lambda a, x: spmm(a, x.long()), ValueError, "x: got torch.int64"),
    (lambda a, x: spmm(a, x, torch.ones(3)), ValueError, r"values: got shape \(3, 1\)"),
    (lambda a, x: spmm(a, x, torch.ones(EDGES, dtype=torch.float64)), ValueError, "values: got torch.float64"),
    (lambda a, x: spmm(a, x, reduce="min"), ValueError, 'reduce: got "min"'),
    (lambda a, x: spmm(a, x, reduce="all"), ValueError, "reduce: got 'all'"),
    (lambda a, x: spmm(a, x, torch.ones(EDGES), reduce="max"), ValueError, "values: got some"),
    (lambda a, x: sddmm(a, x, x), ValueError, r"x: got shape \(60, 4\)"),
    (lambda a, x: sddmm(a, x[:TARGETS], x[:, :3]), ValueError, r"y: got rows of shape \(3,\)"),
    (lambda a, x: edge_softmax(a, x), ValueError, r"x: got shape \(60, 4\)"),
    (lambda a, x: segment_reduce(x, torch.tensor([0, 50])), ValueError, "ptr: got one from 0 to 50"),
    (lambda a, x: segment_reduce(x, torch.tensor([0, 30, 20, 60])), ValueError, "ptr: got one"),
    (lambda a, x: segment_reduce(x, x), ValueError, "ptr: got torch.float32"),
    (lambda a, x: gather(x, x), ValueError, "ids: got torch.float32"),
    (lambda a, x: gather(x, torch.zeros(2, dtype=torch.long, device="meta")), ValueError, "ids: got a tensor on meta, expected one on cpu"),
    (lambda a, x: spmm(a, x.to("meta")), ValueError, "x: got a tensor on meta, expected one on cpu, where the edges are"),
    (lambda a, x: spmm(a, x.to("meta").requires_grad_()), ValueError, "x: got a tensor on meta, expected one on cpu"),
    (lambda a, x: spmm(a, x, torch.ones(EDGES, device="meta")), ValueError, "values: got torch.float32 on meta, expected torch.float32 on cpu"),
    (lambda a, x: spmm(a, x.to("meta"), reduce="mean"), ValueError, "x: got a tensor on meta"),
    (lambda a, x: spmm(a, x.to("meta"), reduce="max"), ValueError, "x: got a tensor on meta"),
    (lambda a, x: sddmm(a, x[:TARGETS].to("meta"), x.to("meta")), ValueError, "x: got a tensor on meta"),
    (lambda a, x: sddmm(a, x[:TARGETS], x.to("meta")), ValueError, "y: got torch.float32 on meta"),
    (lambda a, x: edge_softmax(a, torch.ones(EDGES, device="meta")), ValueError, "x: got a tensor on meta"),
    (lambda a, x: segment_reduce(x.to("meta"), torch.tensor([0, 60])), ValueError, "ptr: got a tensor on cpu, expected one on meta, where x is"),
    (lambda a, x: segment_reduce(x.to("meta"), torch.zeros(3, dtype=torch.long, device="meta")), ValueError, "ptr: got a tensor on meta, which has a shape and no elements"),
    (lambda a, x: operators.call_sums(a, x.to("meta"), None, 0), ValueError, "x: got a tensor on meta"),
    (lambda a, x: operators.call_scaled_spmm(x, None, torch.ones(TARGETS, device="meta"), None, *a.structures(x)), ValueError, "scale: got a tensor on meta"),
    (lambda a, x: operators.gather_rows(x, torch.zeros(2, dtype=torch.long, device="meta")), ValueError, "ids: got a tensor on meta"),
    (lambda a, x: Adjacency(torch.tensor([[0], [3]]), 3), IndexError, "edge_index: got the id 3, expected ids of 0 to 2"),
    (lambda a, x: Adjacency(torch.tensor([[-1], [0]]), 3), IndexError, "edge_index: got the id -1"),
    (lambda a, x: Adjacency(torch.tensor([0, 1]), 3), ValueError, "edge_index: got torch.int64 of shape"),
])
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(Adjacency(some_edges(), TARGETS, SOURCES), randn(SOURCES, 4))


def test_a_layer_of_edges_without_elements():
    pytest.importorskip("torch_geometric")
    from warren.torch import GCNConv

    with pytest.raises(ValueError, match="^edge_index: got a tensor on meta, which has a shape and no elements"):
        GCNConv(4, 2)(randn(SOURCES, 4).to("meta"), some_edges().to("meta"))


@pytest.mark.parametrize("elsewhere", ["meta", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"))])
def test_edges_and_rows_of_two_devices(elsewhere):
    """No address of one memory is taken for one of the other, either way."""
    adjacency, x = Adjacency(some_edges(), TARGETS, SOURCES), randn(SOURCES, 4)
    with pytest.raises(ValueError, match=f"x: got a tensor on {elsewhere}.*, expected one on cpu"):
        spmm(adjacency, x.to(elsewhere))
    if elsewhere == "cuda":
        for call in (lambda a, x: spmm(a, x), lambda a, x: spmm(a, x, reduce="max"), lambda a, x: sddmm(a, x[:TARGETS], x), lambda a, x: edge_softmax(a, torch.ones(EDGES))):
            with pytest.raises(ValueError, match="x: got a tensor on cpu, expected one on cuda"):
                call(Adjacency(some_edges(elsewhere), TARGETS, SOURCES), x)
    for name in ("GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "GINConv"):
        _, ours = pair_of(name, {}, elsewhere)
        with pytest.raises(ValueError, match=f"x: got a tensor on {elsewhere}.*, expected one on cpu"):
            ours(randn(VERTICES, 12).to(elsewhere), layer_edges())


PRIVATE = """
import torch
import torch_geometric.nn
names = [(torch._C, "_get_tracing_state"), (torch._C, "_len_torch_dispatch_stack"), (torch._C, "_are_functorch_transforms_active"), (torch._C._functorch, "is_legacy_batchedtensor"), (torch.autograd.forward_ad, "_current_level")]
kept = [getattr(of, name) for of, name in names]
for of, name in names:
    delattr(of, name)
try:
    from warren.torch import _operators
finally:
    for (of, name), value in zip(names, kept):
        setattr(of, name, value)
assert not _operators._is_eager(torch.ones(1))
"""


def test_a_pytorch_without_its_private_names(monkeypatch):
    """It is imported; and without one of them all goes by the registered operators."""
    found = subprocess.run([sys.executable, "-c", PRIVATE], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert operators._is_eager(torch.ones(1))
    adjacency, rows, values = Adjacency(some_edges(), TARGETS, SOURCES), randn(SOURCES, 4), randn(EDGES, seed=3)
    _, layer = pair_of("SAGEConv", {})
    edges, x = layer_edges(), randn(VERTICES, 12)

    def computed():
        a, b = rows.clone().requires_grad_(), x.clone().requires_grad_()
        out = spmm(adjacency, a, values), layer(b, edges)
        return *out, *torch.autograd.grad(out[0].square().sum() + out[1].square().sum(), (a, b))

    expected = computed()
    for of, name in ((operators, "_tracing_state"), (operators, "_modes"), (operators, "_are_transforms_active"), (operators, "_stands_for_many")):
        with monkeypatch.context() as without:
            without.setattr(of, name, None)
            assert not operators._is_eager(torch.ones(1))
            for mine, other in zip(computed(), expected):
                torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    with monkeypatch.context() as without:
        without.delattr(torch.autograd.forward_ad, "_current_level")
        assert not operators._is_eager(torch.ones(1))


def test_nothing_in_nothing_out():
    adjacency = Adjacency(torch.empty((2, 0), dtype=torch.long), 4)
    x = randn(4, 3).requires_grad_()
    for reduce in ("sum", "mean", "max"):
        out = spmm(adjacency, x, reduce=reduce)
        assert not out.any() and out.shape == (4, 3)
        assert not torch.autograd.grad(out.sum(), x)[0].any()
    assert edge_softmax(adjacency, torch.empty(0, 2)).shape == (0, 2) and sddmm(adjacency, x, x).shape == (0,)
    assert spmm(Adjacency(torch.empty((2, 0), dtype=torch.long), 0), torch.empty(0, 3)).shape == (0, 3)


def test_what_has_no_elements():
    assert torch.equal(segment_reduce(torch.empty(0, 4), torch.tensor([0, 0, 0])), torch.zeros(2, 4))
    assert segment_reduce(torch.empty(0, 4), torch.tensor([0]), "max").shape == (0, 4)
    assert segment_reduce(torch.empty(3, 0), torch.tensor([0, 3])).shape == (1, 0)
    adjacency = Adjacency(torch.tensor([[0, 1], [1, 2]]), 3)
    assert spmm(adjacency, torch.empty(3, 0), reduce="max").shape == (3, 0)
    table = torch.empty(5, 0, requires_grad=True)
    gather(table, torch.tensor([1, 2])).sum().backward()
    assert table.grad.shape == (5, 0)
    for edges in (torch.zeros(2, 3, dtype=torch.bool), torch.zeros(2, 3, dtype=torch.cfloat)):
        with pytest.raises(ValueError, match="edge_index: got torch"):
            Adjacency(edges, 3)
