#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of `bench/accuracy.py` and the epochs of docs/training.md in PyTorch Geometric, where it is installed, to stand beside warren's.

    bench/beside_pyg.py accuracy --data FOLDER [--seeds 5] [--out FILE] DATASET:MODEL ...
    bench/beside_pyg.py epoch --graph GRAPH.npz --features 100 --classes 47 [--hidden 256] [--layers 3] [--out FILE] MODEL ...
    bench/beside_pyg.py train --warren PROGRAM --data data/debian [--threads 2] [--rounds 5] [--epochs N] [--out FILE] quickstart defaults

Settings, initialisation aside, are those of `warren train`: features row-normalised, full graph, Adam, test accuracy of the epoch of the best
validation accuracy. GRAPH.npz is what `warren convert GRAPH GRAPH.npz` writes; epoch times are medians of forward, backward and update.
Of `epoch`, the model gcn-by-hand is GCN in plain torch with its CSR product, for symmetric graphs. `train` is on the CPU: whole trainings
by warren and by PyTorch Geometric, in turns, with as many threads; the graph as list of edges and as sparse tensor.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy
import scipy.io
import scipy.sparse
import torch
import torch_geometric
from torch import nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

import stamp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import measured  # noqa: E402  pylint: disable=wrong-import-position

# Of `train`, by name: hidden units, dropout, rate, weight decay of the first layer, epochs.
TRAININGS = {"quickstart": (64, 0.2, 0.05, 0.0, 100), "defaults": (16, 0.5, 0.01, 5e-4, 200)}
EPOCHS = {"gcn": 200, "gat": 300, "sage": 200, "gin": 200}


class Net(nn.Module):
    def __init__(self, model, width, classes, hidden, layers, dropout, heads=8):
        super().__init__()
        self.model, self.dropout = model, dropout
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        for layer in range(layers):
            is_last = layer + 1 == layers
            into = width if layer == 0 else hidden
            out = classes if is_last else hidden
            if model == "gcn":
                conv = GCNConv(into, out, cached=True)
            elif model == "sage":
                conv = SAGEConv(into, out)
            elif model == "gat":
                conv = GATConv(into, out if is_last else out // heads, heads=1 if is_last else heads, dropout=dropout)
            else:
                conv = GINConv(nn.Sequential(nn.Linear(into, out), nn.BatchNorm1d(out), nn.ReLU(), nn.Linear(out, out)), train_eps=True)
            self.convs.append(conv)
            self.norms.append(nn.BatchNorm1d(out) if model == "gin" and not is_last else nn.Identity())

    def forward(self, x, edges):
        if self.model in ("gcn", "gat"):
            x = functional.dropout(x, self.dropout, self.training)
        for layer, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = norm(conv(x, edges))
            if layer + 1 < len(self.convs):
                x = functional.elu(x) if self.model == "gat" else functional.relu(x)
                x = functional.dropout(x, self.dropout, self.training)
        return x

    def optimizer(self, rate=None, weight_decay=5e-4):
        decay = [{"params": conv.parameters(), "weight_decay": weight_decay if self.model != "gcn" or i == 0 else 0.0}
                 for i, conv in enumerate(self.convs)]
        decay.append({"params": self.norms.parameters(), "weight_decay": 0.0})
        return torch.optim.Adam(decay, lr=rate or (0.005 if self.model == "gat" else 0.01))


class SymmetricProduct(torch.autograd.Function):
    """A x, with A x again for the gradient."""

    @staticmethod
    def forward(context, matrix, x):
        context.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(context, gradient):
        return None, context.matrix @ gradient


class GcnByHand(nn.Module):
    """GCN without a library: a layer multiplies by A before or after W, whichever has fewer columns."""

    def __init__(self, width, classes, hidden, layers, dropout):
        super().__init__()
        widths = [width, *[hidden] * (layers - 1), classes]
        self.layers = nn.ModuleList(nn.Linear(into, out) for into, out in zip(widths, widths[1:]))
        self.dropout = dropout

    def forward(self, x, matrix):
        x = functional.dropout(x, self.dropout, self.training)
        for number, layer in enumerate(self.layers):
            if layer.in_features < layer.out_features:
                x = layer(SymmetricProduct.apply(matrix, x))
            else:
                x = SymmetricProduct.apply(matrix, functional.linear(x, layer.weight)) + layer.bias
            if number + 1 < len(self.layers):
                x = functional.dropout(functional.relu(x), self.dropout, self.training)
        return x

    def optimizer(self):
        decay = [{"params": layer.parameters(), "weight_decay": 5e-4 if number == 0 else 0.0} for number, layer in enumerate(self.layers)]
        return torch.optim.Adam(decay, lr=0.01)


def normalised_of(matrix, device):
    """D^-1/2 (A + I) D^-1/2 in CSR with 32-bit numbers."""
    matrix = matrix.tocsr().astype(numpy.float32)
    matrix.data[:] = 1.0
    matrix = (matrix + scipy.sparse.identity(matrix.shape[0], numpy.float32, "csr")).tocsr()
    scale = scipy.sparse.diags(1.0 / numpy.sqrt(numpy.asarray(matrix.sum(1)).ravel()).astype(numpy.float32))
    matrix = (scale @ matrix @ scale).tocsr().astype(numpy.float32)
    return torch.sparse_csr_tensor(torch.from_numpy(matrix.indptr.astype(numpy.int32)), torch.from_numpy(matrix.indices.astype(numpy.int32)),
                                   torch.from_numpy(matrix.data), size=matrix.shape).to(device)


def edges_of(matrix, device):
    """A vertex gathers from where its row's entries point."""
    matrix = matrix.tocoo()
    return torch.from_numpy(numpy.stack([matrix.col, matrix.row]).astype(numpy.int64)).to(device)


def adjacency_of(matrix, device):
    """The form that spares messages of single edges."""
    matrix = matrix.tocsr()
    return torch.sparse_csr_tensor(torch.from_numpy(matrix.indptr.astype(numpy.int64)), torch.from_numpy(matrix.indices.astype(numpy.int64)),
                                   torch.ones(matrix.nnz), size=matrix.shape).to(device)


def step(net, optimizer, x, edges, labels, train):
    net.train()
    optimizer.zero_grad(set_to_none=True)
    loss = functional.cross_entropy(net(x, edges)[train], labels[train])
    loss.backward()
    optimizer.step()
    return loss.detach()


def read_dataset(folder, device):
    """The graph as SciPy has it; features, labels and splits on the device."""
    features = scipy.sparse.load_npz(folder / "features.npz").toarray().astype(numpy.float32)
    features /= numpy.maximum(numpy.abs(features).sum(1, keepdims=True), 1e-30)
    labels = torch.from_numpy(numpy.load(folder / "labels.npy").astype(numpy.int64)).to(device)
    splits = [torch.from_numpy(numpy.loadtxt(folder / f"{split}.txt", dtype=numpy.int64)).to(device) for split in ("train", "validation", "test")]
    return scipy.io.mmread(str(folder / "graph.mtx.gz")), torch.from_numpy(features).to(device), labels, splits


def training(net, optimizer, x, edges, labels, splits, epochs):
    """Test accuracy at the best epoch, and seconds of each epoch's forward, backward and update."""
    train, validation, test = splits
    best, kept, seconds = (-1.0, 0.0), 0.0, []
    for _ in range(epochs):
        begin = time.perf_counter()
        step(net, optimizer, x, edges, labels, train)
        seconds.append(time.perf_counter() - begin)
        net.eval()
        with torch.no_grad():
            scores = net(x, edges)
        right = scores.argmax(1) == labels
        seen = (right[validation].float().mean().item(), -functional.cross_entropy(scores[validation], labels[validation]).item())
        if seen > best:
            best, kept = seen, right[test].float().mean().item()
    return kept, seconds


def accuracy(options):
    results = []
    for case in options.cases:
        name, model = case.split(":")
        folder = Path(options.data) / name if not Path(name).is_dir() else Path(name)
        matrix, x, labels, splits = read_dataset(folder, options.device)
        edges = edges_of(matrix, options.device)
        found = []
        for seed in range(1, options.seeds + 1):
            torch.manual_seed(seed)
            net = Net(model, x.shape[1], int(labels.max()) + 1, 16 if model == "gcn" else 64, 2, 0.6 if model == "gat" else 0.5).to(options.device)
            found.append(training(net, net.optimizer(), x, edges, labels, splits, EPOCHS[model])[0])
        results.append({"dataset": name, "model": model, "test_accuracy": statistics.mean(found), "deviation": statistics.pstdev(found), "runs": found})
        print(f"PyTorch Geometric {case:24} test {100 * results[-1]['test_accuracy']:.2f} +- {100 * results[-1]['deviation']:.2f}", flush=True)
    return results


def train_ours(options, settings):
    hidden, dropout, rate, weight_decay, epochs = settings
    epochs = options.epochs or epochs
    arguments = f"--model gcn --hidden {hidden} --lr {rate} --weight-decay {weight_decay} --dropout {dropout} --epochs {epochs}".split()
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([options.warren, "train", options.data, *arguments, "--device", "cpu", "--threads", str(options.threads), "--json", "-"], check=True, stdout=subprocess.PIPE)
    whole = time.perf_counter() - begin
    result, after = json.loads(run.stdout), resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return {"epochs": epochs, "whole_seconds": whole, "processor_seconds": processor, "epoch_seconds": result["epoch_seconds"], "test_accuracy": result["test_accuracy"]}


def train_theirs(options, settings, form, seed):
    hidden, dropout, rate, weight_decay, epochs = settings
    torch.manual_seed(seed)
    epochs = options.epochs or epochs
    begin, ticks = time.perf_counter(), time.process_time()
    matrix, x, labels, splits = read_dataset(Path(options.data), "cpu")
    edges = form(matrix, "cpu")
    net = Net("gcn", x.shape[1], int(labels.max()) + 1, hidden, 2, dropout)
    found, seconds = training(net, net.optimizer(rate, weight_decay), x, edges, labels, splits, epochs)
    return {"epochs": epochs, "whole_seconds": time.perf_counter() - begin, "processor_seconds": time.process_time() - ticks, "epoch_seconds": statistics.median(seconds), "test_accuracy": found}


def train(options):
    """Reading, epochs and evaluation after each: what imports take is left out of PyTorch's."""
    torch.set_num_threads(options.threads)
    results = []
    for case in options.cases:
        ways = {"warren": lambda seed: train_ours(options, TRAININGS[case]),
                "PyTorch Geometric, edges": lambda seed: train_theirs(options, TRAININGS[case], edges_of, seed),
                "PyTorch Geometric, sparse tensor": lambda seed: train_theirs(options, TRAININGS[case], adjacency_of, seed)}
        runs = {way: [] for way in ways if way == "warren" or not options.alone}
        for turn in range(options.rounds):
            for way, found in runs.items():
                found.append(ways[way](turn + 1))
        for way, found in runs.items():
            row = {"training": case, "dataset": Path(options.data).name, "by": way, **{field: statistics.median(run[field] for run in found) for field in found[0]}, "runs": found}
            results.append(row)
            print(f"{case:12} {way:34} {row['whole_seconds']:.2f} s, {row['processor_seconds']:.2f} s of processors, an epoch {1e3 * row['epoch_seconds']:.1f} ms, test {100 * row['test_accuracy']:.1f}", flush=True)
    return results


def write(path, suite, part, results):
    """Into the file's other parts; rows of other cases stay."""
    def case(row):
        return [row.get(field) for field in ("training", "dataset", "model", "by", "epochs")]
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    made = [case(row) for row in results]
    kept |= {**suite, part: [row for row in kept.get(part, []) if case(row) not in made] + results}
    path.write_text(measured.dump(kept), encoding="utf-8")


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "CPU"


def by(model):
    return "torch" if model.endswith("-by-hand") else "PyTorch Geometric"


LEARNT = 30  # Epochs, of which the first are timed.


def accuracy_of(net, x, edges, labels, where):
    net.eval()
    with torch.no_grad():
        return (net(x, edges).argmax(1) == labels)[where].float().mean().item()


def epoch(options):
    torch.backends.cuda.matmul.allow_tf32 = True
    matrix = scipy.sparse.load_npz(options.graph)
    vertices = matrix.shape[0]
    # As warren's generator has them: a mean of the class, which is the community's, and noise. What is timed learns.
    labels = torch.arange(vertices, device=options.device) // 200 % options.classes
    means = 2 * torch.rand(options.classes, options.features, device=options.device) - 1
    x = means[labels] + 8 * torch.rand(vertices, options.features, device=options.device) - 4
    train = torch.rand(vertices, device=options.device) < 0.08
    results = []
    for model in options.cases:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        times, net, optimizer, edges = [], None, None, None
        try:
            shape = (options.features, options.classes, options.hidden, options.layers, 0.5)
            net = (GcnByHand(*shape) if model == "gcn-by-hand" else Net(model, *shape, heads=4)).to(options.device)
            optimizer = net.optimizer()
            form = {"gat": edges_of, "gcn-by-hand": normalised_of}.get(model, adjacency_of)
            edges = form(matrix, options.device)
            for _ in range(6):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                loss = step(net, optimizer, x, edges, labels, train)
                torch.cuda.synchronize()
                times.append(time.perf_counter() - begin)
            peak = torch.cuda.max_memory_allocated()
            for _ in range(LEARNT - len(times)):
                loss = step(net, optimizer, x, edges, labels, train)
            check = {"loss": loss.item(), "test_accuracy": accuracy_of(net, x, edges, labels, ~train), "epochs": LEARNT}
            results.append({"model": model, "check": check, "epoch_seconds": statistics.median(times), "seconds": times, "peak_memory": peak})
            print(f"{by(model)} {model}: {1e3 * results[-1]['epoch_seconds']:.1f} ms, {results[-1]['peak_memory'] / 1e9:.1f} GB", flush=True)
        except torch.cuda.OutOfMemoryError:
            results.append({"model": model, "check": "out of memory", "out_of_memory": True})
            print(f"{by(model)} {model}: out of memory", flush=True)
        del net, optimizer, edges
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "epoch", "train"))
    parser.add_argument("--data", default=".")
    parser.add_argument("--graph")
    parser.add_argument("--warren", default="build/cpu/warren")
    for name, default in (("seeds", 5), ("features", 100), ("classes", 47), ("hidden", 256), ("layers", 3), ("threads", 2), ("rounds", 5), ("epochs", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--alone", action="store_true", help="of train: warren's trainings only")
    parser.add_argument("--note", default="", help="of the machine, such as: other work beside")
    parser.add_argument("--out")
    parser.add_argument("cases", nargs="+")
    options = parser.parse_args()
    results = {"accuracy": accuracy, "epoch": epoch, "train": train}[options.what](options)
    if options.out:
        on_gpu = options.device == "cuda" and options.what != "train"
        suite = {"machine": f"1 x {torch.cuda.get_device_name()}" if on_gpu else cpu_name(), "torch": torch.__version__, "pytorch_geometric": torch_geometric.__version__}
        if options.what == "train":
            suite |= {"threads": options.threads, "load": os.getloadavg()[0], "note": options.note}
        results = [row | stamp.origin(on_gpu) for row in results]
        write(Path(options.out), suite, {"train": "results", "epoch": "epochs"}.get(options.what, options.what), results)


if __name__ == "__main__":
    main()
