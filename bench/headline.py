#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks behind the tables of the docs and writes bench/results/SUITE-NAME.json.

Usage: bench/headline.py --build build/cuda/bench --name h200 --gpus 4 [--suite SUITE] [--only WORD] [--out FOLDER]

SUITE is headline (the README's table), out-of-memory, asynchronous or training (the page of docs/ that has its name), or gather-messages (docs/sampling.md); --only runs the rows whose command has WORD in it
and keeps the file's others. The last three run `warren` (beside the benchmarks or a folder above) and reads road-FLA.mtx.zst from --data.

Rivals' figures are those published or measured on the same machine and inputs before; they are named with each row.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

COMM = "community:2449029,25.2586392"
HOST = "--edges host --repeat 8"
PACKED = "--edges compressed-host --repeat 8"
# (work, GPUs, arguments of bench_traverse, which result, field, unit and factor, rival)
HEADLINE = [
    ("BFS, k22 from the hub", 1, "--graph kron:22 --work bfs --repeat 30", "median", ("ms", 1e3), "Gunrock 2.2: 4.55 ms"),
    ("BFS, comm from the hub", 1, f"--graph {COMM} --work bfs --repeat 30", "median", ("ms", 1e3), "Gunrock 2.2: 3.37 ms"),
    ("BFS, grid 2048x2048, 4093 levels", 1, "--graph grid:2048x2048 --work bfs --repeat 10", "median", ("ms", 1e3), "Gunrock 2.2: 759 ms"),
    ("BFS, kron:26 from the hub", 1, "--graph kron:26 --work bfs --repeat 10", "median", ("ms", 1e3), "none"),
    ("BFS, kron:26 from the hub", 4, "--graph kron:26 --work bfs --repeat 10", "median", ("ms", 1e3), "warren's row of one GPU"),
    ("PageRank, k22, an iteration", 1, "--graph kron:22 --work pagerank --order degree --repeat 10", "per_iteration", ("ms", 1e3), "Gunrock 2.2: 2.5 ms"),
    ("PageRank, k22, an iteration", 4, "--graph kron:22 --work pagerank --order degree --repeat 10", "per_iteration", ("ms", 1e3), "Atos (4 GPUs): 26.9 ms in all"),
    ("PageRank, comm, an iteration", 1, f"--graph {COMM} --work pagerank --repeat 10", "per_iteration", ("ms", 1e3), "Gunrock 2.2: 2.0 ms"),
    ("kron:24 drawn and made CSR", 1, "--graph kron:24 --work build", "build_seconds", ("s", 1.0), "none"),
    ("SSSP, k22, weights 1..64", 1, "--graph kron:22 --work sssp --low 1 --high 64 --repeat 10", "median", ("ms", 1e3), "GAP on 16 cores, delta 2: 96.5 ms"),
    ("components, k22", 1, "--graph kron:22 --work cc --repeat 20", "median", ("ms", 1e3), "Afforest's GPU code: 2.38 ms"),
    ("components, comm", 1, f"--graph {COMM} --work cc --repeat 20", "median", ("ms", 1e3), "Afforest's GPU code: 0.25 ms"),
    ("BFS from 64 sources together, k22", 1, "--graph kron:22 --work many-source --repeat 10", "median", ("ms", 1e3), "one at a time: in the result"),
]
OUT_OF_MEMORY = [
    ("BFS, k24", 1, f"--graph kron:24 --work bfs {HOST}", "median", ("ms", 1e3), "EMOGI's code: 77.0 ms"),
    ("BFS, k24, push only", 1, f"--graph kron:24 --work bfs --push-only {HOST}", "median", ("ms", 1e3), "one read of all lists: 40 ms"),
    ("BFS, k24, half of the lists cached", 1, f"--graph kron:24 --work bfs --cache 1041538740 {HOST}", "median", ("ms", 1e3), "the row without a cache"),
    ("components, k24", 1, f"--graph kron:24 --work cc {HOST}", "median", ("ms", 1e3), "EMOGI's code: 124.3 ms"),
    ("SSSP, k24, weights 1..64", 1, "--graph kron:24 --work sssp --low 1 --high 64 --edges host --repeat 3", "median", ("ms", 1e3), "EMOGI's code: 206.7 ms"),
    ("SSSP, k24, weights 1..64, compressed", 1, "--graph kron:24 --work sssp --low 1 --high 64 --edges compressed-host --repeat 3", "median", ("ms", 1e3), "the row of plain lists"),
    ("PageRank, k24, an iteration", 1, "--graph kron:24 --work pagerank --iterations 5 --edges host --repeat 2", "per_iteration", ("ms", 1e3), "one read of all lists: 40 ms"),
    ("BFS, k24, compressed", 1, f"--graph kron:24 --work bfs {PACKED}", "median", ("ms", 1e3), "the row of plain lists"),
    ("BFS, k24, compressed, push only", 1, f"--graph kron:24 --work bfs --push-only {PACKED}", "median", ("ms", 1e3), "the row of plain lists"),
    ("BFS, kron:27", 1, f"--graph kron:27 --work bfs {HOST}", "median", ("ms", 1e3), "none"),
    ("BFS, kron:27, compressed", 1, f"--graph kron:27 --work bfs {PACKED}", "median", ("ms", 1e3), "the row of plain lists"),
    ("BFS, kron:27, push only", 1, "--graph kron:27 --work bfs --push-only --edges host --repeat 3", "median", ("ms", 1e3), "none"),
    ("BFS, kron:27", 2, f"--graph kron:27 --work bfs {HOST}", "median", ("ms", 1e3), "warren's row of one GPU"),
    ("BFS, kron:27, push only", 2, "--graph kron:27 --work bfs --push-only --edges host --repeat 3", "median", ("ms", 1e3), "warren's row of one GPU"),
    ("BFS, kron:27", 4, f"--graph kron:27 --work bfs {HOST}", "median", ("ms", 1e3), "warren's row of one GPU"),
    ("BFS, kron:27, push only", 4, "--graph kron:27 --work bfs --push-only --edges host --repeat 3", "median", ("ms", 1e3), "warren's row of one GPU"),
]
KRON = "kron:22 --symmetrize --drop-self-loops"
PAGERANK = "--tolerance 1e-6 --repeat 5"
# (work, GPUs, arguments of warren, rival)
ASYNCHRONOUS = [
    (f"{work}, {mode}", gpus, f"{arguments} --mode {mode}", rival if mode == "async" else "")
    for work, gpus, arguments, rival in [
        ("BFS, grid 2048x2048", 1, "bfs grid:2048x2048 --source 0 --repeat 7", ""),
        ("BFS, grid 2048x2048", 2, "bfs grid:2048x2048 --source 0 --repeat 7", ""),
        ("BFS, road-FLA", 1, "bfs DATA/road-FLA.mtx.zst --source 0 --repeat 7", ""),
        ("SSSP, road-FLA, weights 1..64", 1, "sssp DATA/road-FLA.mtx.zst --weights uniform:1:64 --source 0 --repeat 5", ""),
        ("BFS, k22", 1, f"bfs {KRON} --source 0 --repeat 7", "Atos: 5.03 ms (4 GPUs)"),
        ("BFS, k22", 2, f"bfs {KRON} --source 0 --repeat 7", "Atos: 5.03 ms (4 GPUs)"),
        ("BFS, comm", 1, f"bfs {COMM} --source 0 --repeat 7", "Atos: 3.10 ms (4 GPUs)"),
        ("BFS, comm", 2, f"bfs {COMM} --source 0 --repeat 7", "Atos: 3.10 ms (4 GPUs)"),
        ("PageRank, k22, to 1e-6", 1, f"pagerank {KRON} {PAGERANK}", "Atos: 26.9 ms (4 GPUs, a threshold of its own)"),
        ("PageRank, k22, to 1e-6", 2, f"pagerank {KRON} {PAGERANK}", "Atos: 26.9 ms (4 GPUs, a threshold of its own)"),
        ("PageRank, comm, to 1e-6", 1, f"pagerank {COMM} {PAGERANK}", "Atos: 12.9 ms (4 GPUs, a threshold of its own)"),
        ("PageRank, comm, to 1e-6", 2, f"pagerank {COMM} {PAGERANK}", "Atos: 12.9 ms (4 GPUs, a threshold of its own)"),
    ]
    for mode in ("async", "sync")
]
TRAIN = f"train {COMM} --features 100 --classes 47 --dropout 0.5"
# CoLa's table 11; dropout is not spoken of there.
COLA = f"train {COMM} --features 16 --classes 16 --dropout 0 --model gcn --layers 5 --hidden 32 --epochs 5"
WHOLE = "--layers 3 --hidden 256 --epochs 5"
SAMPLED = "--mode sampled --fanout 30,30,30 --batch 512 --hidden 256 --epochs 3"
SPREAD = " --placement device --edges device"  # Features and lists over all GPUs, as WholeGraph has them.
RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def pytorch(model):
    """What bench/beside_pyg.py has recorded of an epoch of the same shape on one GPU, by PyTorch Geometric and by hand."""
    found = []
    for row in json.loads((RESULTS / "beside-pyg-h200.json").read_text())["epochs"]:
        name = {model: "PyTorch Geometric", f"{model}-by-hand": "torch by hand"}.get(row["model"])
        if name:
            found.append(f"{name}: out of memory on 140 GB" if row.get("out_of_memory") else f"{name}: {row['epoch_seconds'] * 1e3:.0f} ms, {row['peak_memory'] / 1e9:.1f} GB")
    return "; ".join(found)


WHOLEGRAPH = "WholeGraph on 8 A100:"
# (name, arguments, rival on one GPU), of the whole graph and of sampled batches
WHOLE_MODELS = [
    ("GCN", "--model gcn", pytorch("gcn")),
    ("GraphSAGE", "--model sage", pytorch("sage")),
    ("GIN, batch norm", "--model gin", "none"),
    ("GAT, 4 heads of 64", "--model gat --heads 4", pytorch("gat")),
    ("GATv2, 4 heads of 64", "--model gatv2 --heads 4", "none"),
]
SAMPLED_MODELS = [
    ("GCN", "--model gcn", f"{WHOLEGRAPH} 930 ms"),
    ("GraphSAGE", "--model sage", f"{WHOLEGRAPH} 990 ms"),
    ("GAT, 4 heads", "--model gat --heads 4", f"{WHOLEGRAPH} 3,280 ms"),
]
# (work, GPUs, arguments of warren, rival)
TRAINING = [
    (f"an epoch of {name}{what}{of_type}", gpus, f"{TRAIN} {model} {how}{with_type}{SPREAD if what and gpus > 1 else ''}",
     "the row in float32" if of_type else rival if gpus == 1 else "the row of one GPU")
    for models, what, how in ((WHOLE_MODELS, "", WHOLE), (SAMPLED_MODELS, ", sampled, fanouts 30,30,30, batches of 512", SAMPLED))
    for of_type, with_type in (("", ""), (", bfloat16", " --type bfloat16"))
    for gpus in (1, 2, 4)
    for name, model, rival in models
] + [
    (f"an epoch of {name}, sampled, features where they lie best{of_type}", gpus, f"{TRAIN} {model} {SAMPLED}{with_type}", "the row of features over all GPUs")
    for of_type, with_type in (("", ""), (", bfloat16", " --type bfloat16"))
    for gpus in (2, 4)
    for name, model, _ in SAMPLED_MODELS
] + [
    (f"an epoch of CoLa's GCN, 5 layers, 16 in, 32 hidden, 16 out{of_type}", gpus, f"{COLA}{with_type}", "the row in float32" if of_type else "CoLa on 8 A800, ogbn-products: 660 ms")
    for of_type, with_type in (("", ""), (", bfloat16", " --type bfloat16"))
    for gpus in (1, 2, 4)
] + [
    (f"an epoch of {model.upper()} on Cora{what}", 1, f"train DATA/cora --model {model} --epochs 200{how}", rival)
    for model in ("gcn", "gat")
    for what, how, rival in (("", "", "the row not captured"), (", not captured", " --no-capture", "the row captured"))
]
# Half a gigabyte for each GPU out of 4 GiB on all of them, by loads and by messages; and sampled training's graph.
GATHERS = [
    (f"gather of rows of {4 * k} B, {strategy}", gpus, f"gather --rows {(1 << 30) // k} --k {k} --count {(128 << 20) // k} --strategy {strategy} --repeat 9", "WholeGraph's figure 10")
    for gpus in (2, 4)
    for k in (16, 32, 128, 512)
    for strategy in ("direct", "messages")
] + [("sampling's store, comm", 4, f"sample {COMM} --fanout 15,10,5 --batch 1024 --batches 256 --in-flight 16 --repeat 3", "WholeGraph: tens to 200 ms")]
SUITES = {"headline": HEADLINE, "out-of-memory": OUT_OF_MEMORY, "asynchronous": ASYNCHRONOUS, "training": TRAINING, "gather-messages": GATHERS}
COMMANDS = ("asynchronous", "training", "gather-messages")  # Of `warren` itself.


def run_traverse(build, gpus, arguments):
    command = f"bench_traverse --device cuda --devices {gpus} {arguments}"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        subprocess.run([build / "bench_traverse", *command.split()[1:], "--out", out.name], check=True)
        return command, json.loads(out.read().strip().splitlines()[-1])


def traversals(suite, build, gpus, only):
    for work, devices, arguments, field, (unit, factor), rival in SUITES[suite]:
        if devices > gpus or only not in f"--devices {devices} {arguments}":
            continue
        command, result = run_traverse(build, devices, arguments)
        value = result[field] if field in result else result["results"][0][field]
        hardware = f"{devices} x {result['device']}"
        yield {"work": work, "hardware": hardware, "figure": f"{value * factor:.3g} {unit}", "beside": rival, "command": command, "result": result}


def figure_of(result, seconds):
    time = f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
    return f"{time}, {result['peak_memory'] / 1e9:.1f} GB" if "peak_memory" in result else time


def commands(suite, build, gpus, only, data):
    """Rows of `warren` itself: the median of its runs."""
    program = build / "warren" if (build / "warren").exists() else build.parent / "warren"
    for work, devices, arguments, rival in SUITES[suite]:
        command = f"warren {arguments} --device cuda --devices {devices}"
        if devices > gpus or only not in command:
            continue
        run = subprocess.run([program, *command.replace("DATA/", f"{data}/").split()[1:], "--json", "-"], check=True, stdout=subprocess.PIPE)
        result = json.loads(run.stdout)
        seconds = sorted([result["epoch_seconds"]] if "epoch_seconds" in result else result["seconds"])
        for large in ("top", "epochs"):
            result.pop(large, None)
        yield {"work": work, "hardware": f"{devices} x NVIDIA H200", "figure": figure_of(result, seconds[len(seconds) // 2]), "beside": rival,
               "command": command.replace("DATA/", ""), "result": result}


def gathers(build, gpus):
    command = f"bench_gather --device cuda --devices {gpus} --table-bytes 4294967296"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        subprocess.run([build / "bench_gather", *command.split()[1:], "--out", out.name], check=True)
        result = json.loads(out.read())
    for row in result["results"]:
        yield {"work": f"gather of random rows of {row['row_bytes']} B", "hardware": f"{gpus} x NVIDIA H200",
               "figure": f"{row['gigabytes_per_second']:.0f} GB/s a GPU", "beside": f"a kernel by hand in the same run: {row['by_hand_gigabytes_per_second']:.0f} GB/s",
               "command": command, "result": row}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--suite", choices=SUITES, default="headline")
    parser.add_argument("--only", default="")
    parser.add_argument("--data", default=".")
    options = parser.parse_args()
    if options.suite in COMMANDS:
        entries = list(commands(options.suite, options.build, options.gpus, options.only, options.data))
    else:
        entries = list(traversals(options.suite, options.build, options.gpus, options.only))
    if options.gpus > 1 and options.suite == "headline" and not options.only:
        entries += list(gathers(options.build, options.gpus))
    path = options.out / f"{options.suite}-{options.name}.json"
    if options.only and path.exists():
        made = {entry["command"] for entry in entries}
        entries = [entry for entry in json.loads(path.read_text()) if entry["command"] not in made] + entries
    path.write_text(json.dumps(entries, indent=1) + "\n")
    for entry in entries:
        print(f"{entry['work']:40} {entry['hardware']:18} {entry['figure']:>14}   {entry['beside']}")


if __name__ == "__main__":
    main()
