#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mini-batches for PyTorch Geometric: warren's loader and layers beside PyTorch Geometric's own, in one process, one after the other.

    bench/loaders.py epoch [--graph community:2449029,25.2586392] [--features 100] [--classes 47] [--fanouts 30,30,30] [--batch 512] [--hidden 256]
                           [--seeds 196615] [--batches 60] [--trim] [--device cuda] [--out FILE] LOADER:LAYERS ...
    bench/loaders.py sample [--graph community:200000,25.2586392] [--features 100] [--fanouts 15,10,5] [--batch 1024] [--seeds 20480] [--threads 2]
                            [--device cpu] [--out FILE] LOADER ...
    bench/loaders.py whole [--graph ...] [--hidden 256] [--device cuda] [--out FILE] LAYERS ...
    bench/loaders.py accuracy --data FOLDER [--runs 5] [--epochs 60] [--out FILE] LOADER:LAYERS:DATASET ...

LOADER and LAYERS are `warren` or `pyg`; PyTorch Geometric's loader needs pyg-lib or torch-sparse. `epoch` trains GraphSAGE for a limited number of batches
and tells seconds an epoch of all; `--trim`: layers compute what later ones need alone, by the trim_to_layer() of PyTorch Geometric for its layers and of
warren.torch for warren's; with LAYERS `pyg+trim` by warren's for PyTorch Geometric's. `busy` is the share of the time that the model's
own work takes on the GPU; `--profile` prints the kernels that take longest. `sample` goes through the batches without a model. `whole` trains GCN on the whole graph. `accuracy` trains SAGE on sampled
batches and tells test accuracy, on the whole graph, at the best epoch of validation.
"""
import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy
import scipy.io
import scipy.sparse
import torch
import torch_geometric
from torch.nn import functional
from torch_geometric import utils
from torch_geometric.data import Data

import stamp
import warren

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import measured  # noqa: E402  pylint: disable=wrong-import-position


def loader_of(by):
    if by == "warren":
        from warren.pyg import NeighborLoader
    else:
        from torch_geometric.loader import NeighborLoader
    return NeighborLoader


def layers_of(by):
    if by == "warren":
        import warren.torch as layers
    else:
        import torch_geometric.nn as layers
    return layers


def trim_of(by):
    """What leaves out of a batch that a layer does not need."""
    if by == "pyg":
        return utils.trim_to_layer
    from warren.torch import trim_to_layer

    return trim_to_layer


class Sage(torch.nn.Module):
    def __init__(self, by, width, hidden, classes, layers, dropout=0.5, trims=False):
        super().__init__()
        widths = [width, *[hidden] * (layers - 1), classes]
        self.convs = torch.nn.ModuleList(layers_of(by).SAGEConv(into, out) for into, out in zip(widths, widths[1:]))
        self.dropout, self.trim = dropout, trim_of(by) if trims else None

    def forward(self, x, edge_index, nodes=None, edges=None):
        for number, conv in enumerate(self.convs):
            if self.trim is not None and nodes is not None:
                x, edge_index, _ = self.trim(number, nodes, edges, x, edge_index)
            x = conv(x, edge_index)
            if number + 1 < len(self.convs):
                x = functional.dropout(x.relu(), self.dropout, self.training)
        return x


def generated(options):
    """A graph with features that the classes show in, as bench/beside_pyg.py has them."""
    source, target, _ = warren.generate(options.graph).to_edges()
    vertices = int(options.graph.split(":")[1].split(",")[0])
    draw = torch.Generator().manual_seed(1)
    labels = torch.arange(vertices) // 200 % options.classes
    means = 2 * torch.rand(options.classes, options.features, generator=draw) - 1
    x = means[labels] + 8 * torch.rand(vertices, options.features, generator=draw) - 4
    # A vertex draws along its row: edges lead from where the row's entries point.
    data = Data(x=x, y=labels, edge_index=torch.stack([torch.from_numpy(target).long(), torch.from_numpy(source).long()]))
    return data, torch.randperm(vertices, generator=draw)[:options.seeds]


def loader_for(by, data, seeds, options):
    kwargs = {"device": options.device} if by == "warren" else {}
    if by == "warren" and options.device == "cpu":
        kwargs["session"] = warren.Session(device="cpu", threads=options.threads)
    return loader_of(by)(data, options.fanouts, input_nodes=seeds, batch_size=options.batch, shuffle=True, **kwargs)


def train_on(model, optimizer, batch):
    """A step of the training, and its loss."""
    out = model(batch.x, batch.edge_index, batch.num_sampled_nodes, batch.num_sampled_edges)[:batch.batch_size]
    loss = functional.cross_entropy(out, batch.y[:batch.batch_size])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss


def show_profile(work):
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as profile:
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    order = "cuda_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    print(profile.key_averages().table(sort_by=order, row_limit=40, max_name_column_width=90), flush=True)


def epoch(options):
    torch.backends.cuda.matmul.allow_tf32 = True
    data, seeds = generated(options)
    results = []
    for case in options.cases:
        by_loader, by_layers = case.split(":")
        begin = time.perf_counter()
        loader = loader_for(by_loader, data, seeds, options)
        made = time.perf_counter() - begin
        torch.manual_seed(1)
        model = Sage(by_layers, options.features, options.hidden, options.classes, len(options.fanouts), trims=options.trim).to(options.device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        on_gpu = options.device == "cuda"
        done, waited, spans, vertices, edges = 0, 0.0, [], 0, 0
        warm = 5
        asked = time.perf_counter()
        for batch in loader:
            batch = batch.to(options.device)
            waited += time.perf_counter() - asked
            if done == warm:
                if on_gpu:
                    torch.cuda.synchronize()
                begin, waited, spans, vertices, edges = time.perf_counter(), 0.0, [], 0, 0
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if on_gpu else None
            if marks:
                marks[0].record()
            model_begin = time.perf_counter()
            loss = train_on(model, optimizer, batch)
            if marks:
                marks[1].record()
            spans.append(marks or time.perf_counter() - model_begin)
            vertices, edges, done = vertices + batch.num_nodes, edges + batch.edge_index.shape[1], done + 1
            if done == warm + options.batches:
                break
            asked = time.perf_counter()
            if options.profile and done == warm - 1:
                show_profile(lambda: train_on(model, optimizer, batch))  # pylint: disable=cell-var-from-loop
        if on_gpu:
            torch.cuda.synchronize()
        seconds = (time.perf_counter() - begin) / (done - warm)
        modelled = sum(a.elapsed_time(b) / 1e3 for a, b in spans) if on_gpu else sum(spans)
        results.append({"loader": by_loader, "layers": by_layers, "batch_seconds": seconds, "epoch_seconds": seconds * len(loader), "batches": done - warm, "model_seconds": modelled / len(spans),
                        "waited_seconds": waited / len(spans), "busy": modelled / len(spans) / seconds, "made_seconds": made, "vertices_a_batch": vertices // len(spans), "edges_a_batch": edges // len(spans),
                        "loss": loss.item(), "trim": options.trim, "peak_memory": torch.cuda.max_memory_allocated() if on_gpu else None})
        row = results[-1]
        print(f"loader {by_loader:6} layers {by_layers:6} {row['epoch_seconds']:8.2f} s an epoch of {len(loader)} batches, {1e3 * seconds:.1f} ms a batch, model {1e3 * row['model_seconds']:.1f} ms, "
              f"busy {100 * row['busy']:.0f}%, {row['vertices_a_batch']} vertices and {row['edges_a_batch']} edges a batch, loss {row['loss']:.3f}", flush=True)
        del loader, model, optimizer, batch, loss
    return results


def sample(options):
    torch.set_num_threads(options.threads)
    data, seeds = generated(options)
    loaders = {by: loader_for(by, data, seeds, options) for by in options.cases}
    runs = {by: [] for by in loaders}
    edges = dict.fromkeys(loaders, 0)
    for _ in range(options.runs):
        for by, loader in loaders.items():
            begin = time.perf_counter()
            edges[by] = sum(batch.edge_index.shape[1] for batch in loader)
            runs[by].append(time.perf_counter() - begin)
    results = []
    for by, seconds in runs.items():
        results.append({"loader": by, "seconds": seconds, "batches": len(loaders[by]), "batch_seconds": statistics.median(seconds) / len(loaders[by]), "edges": edges[by]})
        print(f"loader {by:6} {1e3 * results[-1]['batch_seconds']:.2f} ms a batch, {edges[by]} edges in {len(loaders[by])} batches", flush=True)
    return results


def whole(options):
    torch.backends.cuda.matmul.allow_tf32 = True
    data, _ = generated(options)
    x, labels = data.x.to(options.device), data.y.to(options.device)
    results = []
    for by in options.cases:
        edges = data.edge_index.to(options.device)
        if by == "pyg":  # The form that spares it messages of single edges.
            count = data.num_nodes
            edges = torch.sparse_coo_tensor(edges.flip(0), torch.ones(edges.shape[1], device=options.device), (count, count)).coalesce().to_sparse_csr()
        torch.manual_seed(1)
        widths = [options.features, *[options.hidden] * 2, options.classes]
        convs = torch.nn.ModuleList(layers_of(by).GCNConv(into, out, cached=True) for into, out in zip(widths, widths[1:])).to(options.device)
        optimizer = torch.optim.Adam(convs.parameters(), lr=0.01)
        times = []

        def step(convs, edges, optimizer):
            out = x
            for number, conv in enumerate(convs):
                out = conv(out, edges)
                out = out.relu() if number < 2 else out
            loss = functional.cross_entropy(out, labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            return loss.item()

        for number in range(8):
            if options.device == "cuda":
                torch.cuda.synchronize()
            begin = time.perf_counter()
            loss = step(convs, edges, optimizer)
            times.append(time.perf_counter() - begin)
            if options.profile and number == 2:
                show_profile(lambda: step(convs, edges, optimizer))  # pylint: disable=cell-var-from-loop
        results.append({"layers": by, "epoch_seconds": statistics.median(times[3:]), "seconds": times, "loss": loss})
        print(f"layers {by:6} {1e3 * results[-1]['epoch_seconds']:.1f} ms an epoch of the whole graph, loss {loss:.4f}", flush=True)
        del convs, optimizer, edges
    return results


def read_dataset(folder):
    features = scipy.sparse.load_npz(folder / "features.npz").toarray().astype(numpy.float32)
    features /= numpy.maximum(numpy.abs(features).sum(1, keepdims=True), 1e-30)
    matrix = scipy.io.mmread(str(folder / "graph.mtx.gz")).tocoo()
    masks = {f"{name}_mask": torch.zeros(features.shape[0], dtype=torch.bool) for name in ("train", "validation", "test")}
    for name, mask in masks.items():
        mask[torch.from_numpy(numpy.loadtxt(folder / f"{name.removesuffix('_mask')}.txt", dtype=numpy.int64))] = True
    return Data(x=torch.from_numpy(features), y=torch.from_numpy(numpy.load(folder / "labels.npy").astype(numpy.int64)),
                edge_index=torch.from_numpy(numpy.stack([matrix.col, matrix.row]).astype(numpy.int64)), **masks)


def accuracy(options):
    results = []
    for case in options.cases:
        by_loader, by_layers, name = case.split(":")
        data = read_dataset(Path(options.data) / name)
        found = []
        for run in range(1, options.runs + 1):
            torch.manual_seed(run)
            loader = loader_for(by_loader, data, data.train_mask.nonzero().view(-1), options)
            model = Sage(by_layers, data.x.shape[1], 64, int(data.y.max()) + 1, 2).to(options.device)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
            everything = data.to(options.device)
            best = (-1.0, 0.0, 0.0)
            for _ in range(options.epochs):
                model.train()
                for batch in loader:
                    batch = batch.to(options.device)
                    loss = functional.cross_entropy(model(batch.x, batch.edge_index)[:batch.batch_size], batch.y[:batch.batch_size])
                    optimizer.zero_grad(set_to_none=True)
                    loss.backward()
                    optimizer.step()
                model.eval()
                with torch.no_grad():
                    scores = model(everything.x, everything.edge_index)
                right = scores.argmax(1) == everything.y
                validation = everything.validation_mask
                best = max(best, (right[validation].float().mean().item(), -functional.cross_entropy(scores[validation], everything.y[validation]).item(), right[everything.test_mask].float().mean().item()))
            found.append(best[2])
        results.append({"dataset": name, "loader": by_loader, "layers": by_layers, "test_accuracy": statistics.mean(found), "deviation": statistics.pstdev(found), "runs": found})
        print(f"{name:14} loader {by_loader:6} layers {by_layers:6} test {100 * results[-1]['test_accuracy']:.2f} +- {100 * results[-1]['deviation']:.2f}", flush=True)
    return results


DEFAULTS = {"epoch": {"graph": "community:2449029,25.2586392", "fanouts": "30,30,30", "batch": 512, "seeds": 196615}, "whole": {"graph": "community:2449029,25.2586392"},
            "sample": {"graph": "community:200000,25.2586392", "device": "cpu"}, "accuracy": {"fanouts": "10,10", "batch": 64, "device": "cpu"}}


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=DEFAULTS)
    for name, default in (("graph", "community:200000,25.2586392"), ("fanouts", "15,10,5"), ("device", "cuda" if torch.cuda.is_available() else "cpu"), ("data", "."), ("out", None)):
        parser.add_argument(f"--{name}", default=default)
    for name, default in (("features", 100), ("classes", 47), ("hidden", 256), ("batch", 1024), ("seeds", 20480), ("batches", 60), ("threads", 2), ("runs", 5), ("epochs", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--trim", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("cases", nargs="+")
    parser.set_defaults(**DEFAULTS[parser.parse_known_args()[0].what])
    options = parser.parse_args()
    options.fanouts = [int(fanout) for fanout in options.fanouts.split(",")]
    results = {"epoch": epoch, "sample": sample, "whole": whole, "accuracy": accuracy}[options.what](options)
    if options.out:
        on_gpu = options.device == "cuda"
        suite = {"machine": f"1 x {torch.cuda.get_device_name()}" if on_gpu else "CPU", "torch": torch.__version__, "pytorch_geometric": torch_geometric.__version__}
        Path(options.out).write_text(measured.dump({**suite, "work": options.what, "results": [row | stamp.origin(on_gpu) for row in results]}), encoding="utf-8")


if __name__ == "__main__":
    main()
