# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of PyTorch, a process each: the loaders of every rank, and the example."""
import json
import re
import socket
import subprocess
import sys

import pytest
from conftest import HANG_SECONDS, ROOT, environment
from rank_processes import start

LOADER = """
import os, torch, warren
from torch_geometric.data import Data
from warren.pyg import LinkNeighborLoader, NeighborLoader
ranks = warren.join_processes()
torch.manual_seed(1)
edges = torch.randint(0, 400, (2, 6000))
data = Data(x=torch.randn(400, 5), y=torch.arange(400) % 3, edge_index=edges)
mine = torch.arange(400).split(130 + 10 * ranks.rank)[ranks.rank]
device = os.environ.get("WARREN_TEST_DEVICE", "cpu")
for placement in ("auto",) if device == "cpu" else ("auto", "spread", "host"):
    loader = NeighborLoader(data, [5, 3], input_nodes=mine, batch_size=32, shuffle=True, device=device, placement=placement)
    for epoch in range(2):
        seen = []
        for batch in loader:
            nodes = batch.n_id.cpu()
            assert torch.equal(batch.x.cpu(), data.x[nodes]) and torch.equal(batch.y.cpu(), data.y[nodes])
            ends = nodes[batch.edge_index.cpu()]
            assert torch.equal(ends, edges[:, batch.e_id.cpu()])
            seen.append(nodes[:batch.batch_size])
            assert batch.x.device.type == device
        assert torch.equal(torch.cat(seen).sort().values, mine)
links = LinkNeighborLoader(data, [4], edge_label_index=edges[:, ranks.rank::2], batch_size=50, neg_sampling_ratio=1.0, device=device)
assert sum(int((batch.edge_label == 1).sum()) for batch in links) == 3000
data.time = torch.arange(6000) * 7 % 50
when = torch.arange(len(mine)) % 45
for strategy in ("uniform", "last"):
    for batch in NeighborLoader(data, [4, 2], input_nodes=mine, batch_size=32, time_attr="time", input_time=when, temporal_strategy=strategy, device=device):
        batch = batch.cpu()
        assert torch.equal(batch.seed_time, when[batch.input_id]) and bool((batch.time <= batch.seed_time[batch.batch[batch.edge_index[1]]]).all())
        for seed in range(batch.batch_size):
            early = ((edges[1] == batch.n_id[seed]) & (data.time <= batch.seed_time[seed])).nonzero().view(-1)
            drawn = batch.e_id[batch.edge_index[1] == seed]
            assert len(drawn) == min(4, len(early)) and (strategy == "uniform" or data.time[drawn].tolist() == data.time[early].sort().values[-4:].tolist())
for batch in NeighborLoader(data, [4, 2], input_nodes=mine, batch_size=32, labor=True, subgraph_type="induced", device=device):
    inside = torch.isin(edges[0], batch.n_id.cpu()) & torch.isin(edges[1], batch.n_id.cpu())
    assert torch.equal(batch.e_id.cpu().sort().values, inside.nonzero().view(-1))
print("done")
"""


def test_loaders_of_each():
    pytest.importorskip("torch_geometric")
    told = start(LOADER, 2)
    assert [(status, out) for status, out, _ in told] == [(0, "done\n")] * 2, told


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def finish(command):
    """What a command prints. Two ranks do not share a GPU unasked."""
    torch = pytest.importorskip("torch")
    variables = {"OMP_NUM_THREADS": "1", **({"CUDA_VISIBLE_DEVICES": ""} if torch.cuda.device_count() < 2 else {})}
    done = subprocess.run(command, env={**environment(), **variables}, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def torchrun(ranks, script, *arguments):
    return finish([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", str(free_port()), str(script), *map(str, arguments)])


def numbers(out):
    return [float(number) for number in re.findall(r"[0-9.]+$", out, re.MULTILINE)]


def test_example_of_data_parallel_training():
    pytest.importorskip("torch_geometric")
    example = ROOT / "examples" / "python"
    sampled, alone, both = finish([sys.executable, str(example / "pyg_sampled.py")]), finish([sys.executable, str(example / "pyg_ddp.py")]), torchrun(2, example / "pyg_ddp.py")
    assert alone == sampled  # Of one process it is the same program.
    assert len(numbers(both)) == 6 and numbers(both)[-2] < 0.2 and numbers(both)[-1] > 0.95


DATA_PARALLEL = """
import json, sys
from pathlib import Path
import torch, warren
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler
from torch_geometric.data import Data
from warren.pyg import LinkNeighborLoader, NeighborLoader
from warren.torch import SAGEConv
folder, inputs = Path(sys.argv[1]), torch.load(Path(sys.argv[1]) / "inputs.pt")
ranks = warren.join_processes()
device = f"cuda:{ranks.rank}" if torch.cuda.is_available() else "cpu"
if device != "cpu":
    torch.cuda.set_device(device)
torch.distributed.init_process_group("gloo" if device == "cpu" else "nccl")
torch.set_num_threads(1)
data = Data(x=inputs["x"], y=inputs["y"], edge_index=inputs["edge_index"])

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(6, 8), SAGEConv(8, 3)
    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)

model = Model()
model.load_state_dict(inputs["parameters"])
model = DistributedDataParallel(model.to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
# Rank 0 has five batches, rank 1 two, of which one is smaller, and rank 2 none.
loader = NeighborLoader(data, [-1, -1], input_nodes=inputs["seeds"][ranks.rank], batch_size=8)
steps = 0
with model.join():
    for batch in loader:
        batch = batch.to(device)
        optimizer.zero_grad()
        functional.cross_entropy(model(batch.x, batch.edge_index)[:batch.batch_size], batch.y[:batch.batch_size]).backward()
        optimizer.step()
        steps += 1
torch.save([parameter.detach().cpu() for parameter in model.parameters()], folder / f"{ranks.rank}.pt")
# Of PyTorch's sampler the ranks have equally many batches, and all seeds are in one.
every = torch.cat(inputs["seeds"])
shares = NeighborLoader(data, [3], input_nodes=every, batch_size=8, sampler=DistributedSampler(range(len(every))), device="cpu" if device == "cpu" else "auto")
seen = [batch.n_id[:batch.batch_size].tolist() for batch in shares]
links = LinkNeighborLoader(data, [3], edge_label_index=inputs["edge_index"][:, :40 * ranks.rank], batch_size=16, neg_sampling="binary")
assert sum(batch.input_id.numel() for batch in links) == 40 * ranks.rank
(folder / f"{ranks.rank}.json").write_text(json.dumps({"steps": steps, "seen": seen}))
torch.distributed.destroy_process_group()
"""


def test_data_parallel_training_of_uneven_shares(tmp_path):
    """The parameters are those of steps in one process, on the whole graph by PyTorch Geometric's layers, along the mean of the ranks' gradients."""
    torch = pytest.importorskip("torch", minversion="2.6")
    pytest.importorskip("torch_geometric")
    from torch.nn import functional
    from torch_geometric.nn import SAGEConv

    if torch.cuda.device_count() == 2:
        pytest.skip("three ranks need three GPUs, or none of two")
    draw = torch.Generator().manual_seed(3)
    x, y = torch.randn(60, 6, generator=draw), torch.randint(3, (60,), generator=draw)
    edge_index = torch.randint(55, (2, 400), generator=draw)
    order = torch.randperm(60, generator=draw)
    seeds = [order[:40], order[40:52], order[60:]]
    first, second = SAGEConv(6, 8), SAGEConv(8, 3)
    parameters = {f"{name}.{key}": value for name, layer in (("first", first), ("second", second)) for key, value in layer.state_dict().items()}
    torch.save({"x": x, "y": y, "edge_index": edge_index, "seeds": seeds, "parameters": parameters}, tmp_path / "inputs.pt")
    script = tmp_path / "script.py"
    script.write_text(DATA_PARALLEL, encoding="utf-8")
    torchrun(3, script, tmp_path)

    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.5)
    batches = [list(of_rank.split(8)) if len(of_rank) else [] for of_rank in seeds]
    for step in range(5):
        optimizer.zero_grad()
        for of_rank in batches:
            if step < len(of_rank):
                out = second(first(x, edge_index).relu(), edge_index)[of_rank[step]]
                (functional.cross_entropy(out, y[of_rank[step]]) / 3).backward()
        optimizer.step()
    told = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(3)]
    assert [rank["steps"] for rank in told] == [5, 2, 0]
    expected = [*first.parameters(), *second.parameters()]
    for rank in range(3):
        found = torch.load(tmp_path / f"{rank}.pt")
        assert len(found) == len(expected) and all(torch.allclose(mine, theirs, 1e-4, 1e-5) for mine, theirs in zip(found, expected, strict=True))
    assert [len(rank["seen"]) for rank in told] == [3, 3, 3]
    assert {seed for rank in told for batch in rank["seen"] for seed in batch} == set(order[:52].tolist())
