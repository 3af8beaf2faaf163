#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of `bench/accuracy.py` and the epochs of docs/training.md in PyTorch Geometric, where it is installed, to stand beside warren's.

    bench/beside_pyg.py accuracy --data FOLDER [--seeds 5] [--out FILE] DATASET:MODEL ...
    bench/beside_pyg.py epoch --graph GRAPH.npz --features 100 --classes 47 [--hidden 256] [--layers 3] [--out FILE] MODEL ...

Settings, initialisation aside, are those of `warren train`: features row-normalised, full graph, Adam, test accuracy of the epoch of the best
validation accuracy. GRAPH.npz is what `warren convert GRAPH GRAPH.npz` writes; epoch times are medians of forward, backward and update.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy
import scipy.io
import scipy.sparse
import torch
from torch import nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

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

    def optimizer(self):
        decay = [{"params": conv.parameters(), "weight_decay": 5e-4 if self.model != "gcn" or i == 0 else 0.0}
                 for i, conv in enumerate(self.convs)]
        decay.append({"params": self.norms.parameters(), "weight_decay": 0.0})
        return torch.optim.Adam(decay, lr=0.005 if self.model == "gat" else 0.01)


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


def accuracy(options):
    results = []
    for case in options.cases:
        name, model = case.split(":")
        folder = Path(options.data) / name if not Path(name).is_dir() else Path(name)
        edges = edges_of(scipy.io.mmread(str(folder / "graph.mtx.gz")), options.device)
        features = scipy.sparse.load_npz(folder / "features.npz").toarray().astype(numpy.float32)
        features /= numpy.maximum(numpy.abs(features).sum(1, keepdims=True), 1e-30)
        x = torch.from_numpy(features).to(options.device)
        labels = torch.from_numpy(numpy.load(folder / "labels.npy").astype(numpy.int64)).to(options.device)
        train, validation, test = (torch.from_numpy(numpy.loadtxt(folder / f"{split}.txt", dtype=numpy.int64)).to(options.device)
                                   for split in ("train", "validation", "test"))
        found = []
        for seed in range(1, options.seeds + 1):
            torch.manual_seed(seed)
            net = Net(model, x.shape[1], int(labels.max()) + 1, 16 if model == "gcn" else 64, 2, 0.6 if model == "gat" else 0.5).to(options.device)
            optimizer, best, kept = net.optimizer(), (-1.0, 0.0), 0.0
            for _ in range(EPOCHS[model]):
                step(net, optimizer, x, edges, labels, train)
                net.eval()
                with torch.no_grad():
                    scores = net(x, edges)
                right = scores.argmax(1) == labels
                seen = (right[validation].float().mean().item(), -functional.cross_entropy(scores[validation], labels[validation]).item())
                if seen > best:
                    best, kept = seen, right[test].float().mean().item()
            found.append(kept)
        results.append({"dataset": name, "model": model, "test_accuracy": statistics.mean(found), "deviation": statistics.pstdev(found), "runs": found})
        print(f"PyTorch Geometric {case:24} test {100 * results[-1]['test_accuracy']:.2f} +- {100 * results[-1]['deviation']:.2f}", flush=True)
    return results


def epoch(options):
    torch.backends.cuda.matmul.allow_tf32 = True
    matrix = scipy.sparse.load_npz(options.graph)
    vertices = matrix.shape[0]
    x = torch.randn(vertices, options.features, device=options.device)
    labels = torch.randint(options.classes, (vertices,), device=options.device)
    train = torch.rand(vertices, device=options.device) < 0.08
    results = []
    for model in options.cases:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        times, net, optimizer, edges = [], None, None, None
        try:
            net = Net(model, options.features, options.classes, options.hidden, options.layers, 0.5, heads=4).to(options.device)
            optimizer = net.optimizer()
            edges = (edges_of if model == "gat" else adjacency_of)(matrix, options.device)
            for _ in range(6):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                step(net, optimizer, x, edges, labels, train)
                torch.cuda.synchronize()
                times.append(time.perf_counter() - begin)
            results.append({"model": model, "epoch_seconds": statistics.median(times), "seconds": times, "peak_memory": torch.cuda.max_memory_allocated()})
            print(f"PyTorch Geometric {model}: {1e3 * results[-1]['epoch_seconds']:.1f} ms, {results[-1]['peak_memory'] / 1e9:.1f} GB", flush=True)
        except torch.cuda.OutOfMemoryError:
            results.append({"model": model, "out_of_memory": True})
            print(f"PyTorch Geometric {model}: out of memory", flush=True)
        del net, optimizer, edges
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "epoch"))
    parser.add_argument("--data", default=".")
    parser.add_argument("--graph")
    for name, default in (("seeds", 5), ("features", 100), ("classes", 47), ("hidden", 256), ("layers", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out")
    parser.add_argument("cases", nargs="+")
    options = parser.parse_args()
    results = accuracy(options) if options.what == "accuracy" else epoch(options)
    if options.out:
        device = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
        text = json.dumps({"machine": device, "torch": torch.__version__, "results": results}, indent=1)
        Path(options.out).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
