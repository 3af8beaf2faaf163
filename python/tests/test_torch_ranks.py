# SPDX-License-Identifier: Apache-2.0
"""Layers on whole graphs over ranks that are processes, against PyTorch Geometric's on the whole graph: outputs, and gradients of x and of parameters."""
import os
import shutil
import sys

import pytest
from conftest import ROOT
from rank_processes import start
from test_data_parallel import finish, numbers, torchrun

torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("torch_geometric")

GPUS = torch.cuda.device_count()

BEGIN = """
import copy, os, warnings
import warren
ranks = warren.join_processes()
import torch
import torch.distributed as dist
warnings.filterwarnings("ignore")
from torch_geometric import nn as pyg
from warren import torch as ours
from warren.torch import DistributedAdjacency, spmm
torch.set_num_threads(1)
device = os.environ.get("WARREN_TEST_DEVICE", "cpu")
session = None
if device == "cuda":
    device = f"cuda:{ranks.rank % torch.cuda.device_count()}"
    torch.cuda.set_device(device)
    if ranks.size > torch.cuda.device_count():
        session = warren.Session(device="cuda", share_devices=True)

def randn(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)

def randint(high, shape, seed):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed)).to(device)

def graphs():
    # Vertices and edges: unsorted ones, some parallel, loops, vertices without any; a star to and from its centre; fewer vertices than ranks; no edges.
    some = torch.cat([randint(55, (2, 300), 1), torch.tensor([[3, 3, 7, 50, 50], [3, 3, 7, 2, 2]]).to(device)], 1)
    spokes = torch.stack([torch.arange(1, 40), torch.zeros(39, dtype=torch.long)]).to(device)
    yield "random", 60, some
    yield "without loops", 60, some[:, some[0] != some[1]]
    yield "symmetric", 60, torch.cat([some, some.flip(0)], 1)
    yield "star to its centre", 40, spokes
    yield "star", 40, torch.cat([spokes, spokes.flip(0)], 1)
    yield "tiny", 2, torch.tensor([[0, 1, 1], [1, 0, 1]]).to(device)
    yield "no edges", 5, torch.zeros((2, 0), dtype=torch.long, device=device)
"""

MEET = """
dist.init_process_group("gloo", init_method="file://" + os.environ["WARREN_TEST_MEETING"], rank=ranks.rank, world_size=ranks.size)

def total(gradient, like):
    # Of all ranks, each of which has its share.
    sums = torch.zeros(like.shape) if gradient is None else gradient.detach().cpu().clone()
    dist.all_reduce(sums)
    return sums
"""

LAYERS = BEGIN + MEET + """
def close(found, expected, near):
    assert found.shape == expected.shape and torch.allclose(found.cpu(), expected.cpu(), near, near), (where, float((found.cpu() - expected.cpu()).abs().max()))

def called(layer, x, edges, values):
    return layer(x, edges, edge_weight=values[0]) if values and isinstance(layer, pyg.SAGEConv) else layer(x, edges, *values)

def compare(layer, theirs, n, edges, adjacency, *values):
    theirs.load_state_dict(layer.state_dict())
    x = randn(n, 7, seed=n)
    whole = x.clone().requires_grad_()
    mine = x[adjacency.own].clone().requires_grad_()
    weights = [None if value is None else value.detach().clone().requires_grad_(value.requires_grad) for value in values]
    expected = called(theirs, whole, edges, values)
    found = called(layer, mine, adjacency, weights)
    close(found, expected[adjacency.own], 1e-5)
    direction = randn(*expected.shape, seed=3)
    (expected * direction).sum().backward()
    (found * direction[adjacency.own]).sum().backward()
    close(mine.grad, whole.grad[adjacency.own], 1e-4)
    for (name, parameter), other in zip(layer.named_parameters(), theirs.parameters(), strict=True):
        close(total(parameter.grad, parameter), other.grad, 1e-4)
    for value, own in zip(values, weights):
        if value is not None and value.requires_grad:
            close(total(own.grad, own), value.grad, 1e-4)
            value.grad = None

def layers(edges):
    m = edges.shape[1]
    weight, attr = randn(m, seed=5).abs() + 0.1, randn(m, 3, seed=6)
    if device != "cpu":  # Which of several loops of a vertex counts there, no scatter says.
        weight = torch.where(edges[0] == edges[1], 0.5, weight)
    learnt = weight.clone().requires_grad_()
    mlp = lambda: torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4))
    yield "GCNConv", (7, 4), {}, ()
    yield "GCNConv", (7, 16), {}, ()
    yield "GCNConv", (7, 16), {}, (weight,)
    yield "GCNConv", (7, 4), {"cached": True}, (weight,)
    yield "GCNConv", (7, 4), {"improved": True}, (weight,)
    yield "GCNConv", (7, 4), {"add_self_loops": False, "bias": False}, (weight,)
    yield "GCNConv", (7, 4), {"normalize": False}, (weight,)
    yield "GCNConv", (7, 4), {}, (learnt,)
    yield "GCNConv", (7, 4), {}, ()
    yield "SAGEConv", (7, 4), {}, ()
    yield "SAGEConv", (7, 16), {"normalize": True, "root_weight": False}, ()
    yield "SAGEConv", (7, 4), {"aggr": "sum", "project": True}, ()
    yield "SAGEConv", (7, 4), {"aggr": "max"}, ()
    yield "SAGEConv", (7, 4), {}, (weight,)
    yield "SAGEConv", (7, 16), {"aggr": "sum"}, (weight,)
    yield "SAGEConv", (7, 16), {}, (learnt,)
    yield "GATConv", (7, 4), {"heads": 2}, ()
    yield "GATConv", (7, 4), {"heads": 3, "concat": False, "edge_dim": 3}, (attr,)
    yield "GATConv", (7, 4), {"edge_dim": 3, "fill_value": 0.5}, (attr,)
    yield "GATConv", (7, 4), {"heads": 2, "add_self_loops": False}, ()
    yield "GATv2Conv", (7, 4), {"heads": 2}, ()
    yield "GATv2Conv", (7, 4), {"heads": 2, "share_weights": True, "edge_dim": 3, "concat": False}, (attr,)
    yield "GINConv", (mlp(),), {"train_eps": True}, ()

for name, n, edges in graphs():
    adjacency = DistributedAdjacency(edges, n, session=session)
    assert int(total(torch.tensor(adjacency.num_own), torch.tensor(0))) == n
    for kind, arguments, options, values in layers(edges):
        where = (name, kind, options, len(values), ranks)
        torch.manual_seed(1)
        layer = getattr(ours, kind)(*arguments, **options).to(device)
        # PyTorch Geometric's SAGEConv has no weights.
        theirs = getattr(ours if kind == "SAGEConv" and values else pyg, kind)(*(torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), torch.nn.Linear(5, 4)) if isinstance(a, torch.nn.Module) else a for a in arguments), **options).to(device)
        compare(layer, theirs, n, edges, adjacency, *values)
        if options.get("cached"):
            compare(layer, theirs, n, edges, adjacency, *values)
dist.destroy_process_group()
print("done")
"""


def launch(script, ranks, tmp_path, **variables):
    """Expects each process to print "done", and gives what else they print."""
    told = start(script, ranks, WARREN_TEST_MEETING=tmp_path / "meeting", OMP_NUM_THREADS=1, **variables)
    for rank, (status, out, err) in enumerate(told):
        assert status == 0 and out.endswith("done\n"), f"rank {rank} of {ranks}:\n{out}\n{err}"
    return [out for _, out, _ in told]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_layers_as_on_the_whole_graph(ranks, tmp_path):
    launch(LAYERS, ranks, tmp_path)


@pytest.mark.skipif(GPUS == 0, reason="there is no GPU")
@pytest.mark.parametrize("ranks", [1, 2])
def test_layers_on_gpus(ranks, tmp_path):
    launch(LAYERS, ranks, tmp_path, WARREN_TEST_DEVICE="cuda")


OPERATORS = BEGIN + MEET + """
for name, n, edges in graphs():
    x = randn(n, 6, seed=1)
    weight = randn(edges.shape[1], seed=2)
    kinds = ("auto", "broadcast", "staged", "pull", "fused", "cover") if name == "random" else ("auto",)
    for strategy in kinds:
        adjacency = DistributedAdjacency(edges, n, strategy, session)
        own = x[adjacency.own]
        sums = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])[adjacency.own]
        weighted = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]] * weight.view(-1, 1))[adjacency.own]
        degree = torch.bincount(edges[1], minlength=n).clamp(min=1).view(-1, 1)[adjacency.own]
        assert torch.allclose(spmm(adjacency, own), sums, 1e-5, 1e-5), (name, strategy)
        assert torch.allclose(spmm(adjacency, own, weight), weighted, 1e-5, 1e-5), (name, strategy)
        assert torch.allclose(spmm(adjacency, own, reduce="mean"), sums / degree, 1e-5, 1e-5)
        assert torch.allclose(spmm(adjacency, own.view(-1, 2, 3)), sums.view(-1, 2, 3), 1e-5, 1e-5)
        assert torch.allclose(spmm(adjacency, own.bfloat16()).float(), sums, 0.05, 0.2) and spmm(adjacency, own.bfloat16()).dtype == torch.bfloat16
        assert torch.equal(spmm(adjacency, own), spmm(adjacency, own)), (name, strategy)
        assert torch.equal(adjacency.pull(own), x[adjacency.halo]) and torch.equal(adjacency.pull(own.half()), x.half()[adjacency.halo])
        assert torch.equal(adjacency.part_of(edges.t()), edges.t()[(edges[1] >= adjacency.own.start) & (edges[1] < adjacency.own.stop)])
        assert strategy in ("auto", adjacency.strategy) or ranks.size == 1
    # Gradients of the sum of the ranks' squares, and of the squares of these: M x and M M x with M = A^T A + D, D counting how many ranks pull a row.
    own = x[adjacency.own].clone().requires_grad_()
    (first,) = torch.autograd.grad((spmm(adjacency, own).square().sum() + adjacency.pull(own).square().sum()) / 2, own, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum() / 2, own)
    counts = torch.zeros(n)
    counts[adjacency.halo.cpu()] = 1
    dense = torch.zeros(n, n, device=device).index_put((edges[1], edges[0]), torch.ones(edges.shape[1], device=device), accumulate=True)
    both = dense.t() @ dense + torch.diag(total(counts, counts).to(device))
    assert torch.allclose(first, (both @ x)[adjacency.own], 1e-4, 1e-3), name
    assert torch.allclose(second, (both @ (both @ x))[adjacency.own], 1e-4, 1e-1), name
dist.destroy_process_group()

n, edges = 60, next(graphs())[2]
weight = randn(edges.shape[1], seed=2).abs()
adjacency = DistributedAdjacency(edges, n, session=session)
own = randn(n, 7, seed=1)[adjacency.own]
layer = ours.GCNConv(7, 4, cached=True).to(device)
expected = layer(own, adjacency, weight)
compiled = torch.compile(copy.deepcopy(layer), backend="eager")
assert torch.allclose(compiled(own, adjacency, weight), expected, 1e-5, 1e-5)
with torch.inference_mode():
    assert torch.equal(layer(own, adjacency, weight), expected)
    assert torch.equal(spmm(adjacency, own, weight.clone()), spmm(adjacency, own, weight))
with torch.autocast(adjacency.halo.device.type, torch.bfloat16):
    assert bool(ours.GATConv(7, 4).to(device)(own, adjacency).isfinite().all())
# The weights are read again where they were written.
doubled = weight.clone()
before = spmm(adjacency, own, doubled)
doubled.mul_(2)
assert torch.allclose(spmm(adjacency, own, doubled), 2 * before, 1e-5, 1e-5)
other = DistributedAdjacency(edges, n, session=warren.Session(threads=2, share_devices=session is not None))
assert torch.equal(spmm(other, own), spmm(adjacency, own))
print("done")
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_sums_and_halos(ranks, tmp_path):
    launch(OPERATORS, ranks, tmp_path)


@pytest.mark.skipif(GPUS == 0, reason="there is no GPU")
@pytest.mark.parametrize("ranks", [1, 2])
def test_sums_and_halos_on_gpus(ranks, tmp_path):
    launch(OPERATORS, ranks, tmp_path, WARREN_TEST_DEVICE="cuda")


REFUSED = BEGIN + """
n, edges = 60, next(graphs())[2]
adjacency = DistributedAdjacency(edges, n)
is_last = ranks.rank == ranks.size - 1
x = randn(adjacency.num_own, 7, seed=1)
layers = {kind: getattr(ours, kind)(7, 4) for kind in ("GCNConv", "SAGEConv", "GATConv", "GATv2Conv")}
layers["GINConv"] = ours.GINConv(torch.nn.Linear(7, 4))

def refused(text, work):
    try:
        work()
    except ValueError as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(text)
    assert layers["GCNConv"](x, adjacency).shape == (adjacency.num_own, 4)  # The ranks work on.

for kind, layer in layers.items():
    # What one rank alone does wrong, all are told of.
    refused(", a row for each of them", lambda: layer(x[1:] if is_last else x, adjacency))
    refused("got torch.float64, expected float32", lambda: layer(x.double() if is_last else x, adjacency))
    refused(f"{kind} over several ranks got a pair", lambda: layer((x, x), adjacency))
    refused(f"{kind}: this call is one that warren has no kernel for", lambda: layer(x.view(-1, 7, 1), adjacency))
refused("SAGEConv: this call is one", lambda: ours.SAGEConv(7, 4, aggr="median")(x, adjacency))
refused("GATConv: this call is one", lambda: layers["GATConv"](x, adjacency, return_attention_weights=True))
refused("GCNConv: this call is one", lambda: ours.GCNConv(7, 4, flow="target_to_source")(x, adjacency))
refused("edge_weight: got 3 rows, expected one for each", lambda: layers["GCNConv"](x, adjacency, torch.ones(3)))
refused("edge_attr: got shape (3, 2), expected", lambda: ours.GATConv(7, 4, edge_dim=2)(x, adjacency, torch.ones(3, 2)))
refused("edge_attr: got shape (3, 2) in a layer made without edge_dim", lambda: layers["GATv2Conv"](x, adjacency, torch.ones(3, 2)))
refused("edge_weight: got torch.float32 of shape (3,)", lambda: layers["SAGEConv"](x, adjacency, edge_weight=torch.ones(3)))
refused("edge_weight: got weights with aggr='max'", lambda: ours.SAGEConv(7, 4, aggr="max")(x, adjacency, edge_weight=torch.ones(edges.shape[1])))
refused("size: got a tensor of torch.float32", lambda: layers["SAGEConv"](x, adjacency, torch.ones(3)))
refused("x: got no columns", lambda: spmm(adjacency, x[:, :0]))
refused("k: rank", lambda: spmm(adjacency, x[:, :3] if is_last else x))
refused("the ranks make different calls", lambda: adjacency.pull(x) if is_last else spmm(adjacency, x))
refused("the ranks read different graphs: rank", lambda: DistributedAdjacency(edges[:, 1:] if is_last else edges, n))
refused("the ranks read different graphs: rank", lambda: DistributedAdjacency(edges.flip(0) if is_last else edges, n))
refused("expected integers of shape (2, m)", lambda: DistributedAdjacency(edges.t(), n))
refused("num_nodes: got 2.5", lambda: DistributedAdjacency(edges, 2.5))
refused("strategy: got 'best'", lambda: DistributedAdjacency(edges, n, strategy="best"))
try:
    DistributedAdjacency(edges, 50)
except IndexError as error:
    assert "edge_index: got the id" in str(error)
print(repr(adjacency))
# The end of one ends the calls of the others.
if is_last:
    raise KeyError("lost my way")
try:
    layers["GCNConv"](x, adjacency)
except warren.TeamError as error:
    print("told:", error)
"""


def test_bad_input_is_refused_on_all_ranks():
    told = start(REFUSED, 3, OMP_NUM_THREADS=1)
    for status, out, err in told[:2]:
        assert status == 0 and "told:" in out and "lost my way" in out, (out, err)
    assert told[2][0] == 1 and "lost my way" in told[2][2], told[2][2]


NOT_JOINED = """
import torch, torch.distributed as dist
import os
dist.init_process_group("gloo", init_method="file://" + os.environ["WARREN_TEST_MEETING"], rank=int(os.environ["RANK"]), world_size=2)
from warren.torch import DistributedAdjacency
try:
    DistributedAdjacency(torch.zeros((2, 1), dtype=torch.long), 3)
except ValueError as error:
    assert "torch.distributed has 2 ranks and warren 1: call warren.join_processes()" in str(error)
    print("done")
"""


def test_ranks_that_did_not_join(tmp_path):
    launch(NOT_JOINED, 2, tmp_path)


def test_example_under_torchrun():
    example = ROOT / "examples" / "python" / "pyg_ranks.py"
    alone = finish([sys.executable, str(example)])
    both = torchrun(2, example)
    told = [numbers(out) for out in (alone, both)]
    assert len(told[0]) == 4 and told[1] == pytest.approx(told[0], abs=0.005) and "test accuracy" in both


MPI = BEGIN + """
assert ranks.size == 2 and ranks.launcher
edges = next(graphs())[2]
adjacency = DistributedAdjacency(edges, 60)
layer = ours.SAGEConv(7, 4)
torch.nn.init.ones_(layer.lin_l.weight), torch.nn.init.ones_(layer.lin_r.weight), torch.nn.init.zeros_(layer.lin_l.bias)
x = randn(60, 7, seed=1)
assert torch.allclose(layer(x[adjacency.own], adjacency), layer(x, edges)[adjacency.own], 1e-5, 1e-5)
print("done")
"""


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
def test_under_mpirun(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(MPI, encoding="utf-8")
    out = finish(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, str(script)])
    assert out.count("done") == 2
