# SPDX-License-Identifier: Apache-2.0
"""What bench/headline.py runs, a row each.

A row's command is as anybody would type it; DATA/ stands for the folder of the files. `beside` names a rival's figure for the same work on the same graph and as
many GPUs: totals beside totals. Where no such figure is known it says "none"; cuGraph, WholeGraph, cugraph-pyg and PyTorch are measured in the same run
(bench/rivals.py) and have tables of their own.
"""
import os
import typing

COMM = "community:2449029,25.2586392"
KRON = "kron:22 --symmetrize --drop-self-loops"
NONE = "none"
ONE = "the row of one GPU"


class Row(typing.NamedTuple):
    suite: str      # The file is SUITE-MACHINE.json.
    work: str
    gpus: int
    command: str
    figure: str     # What is shown: "median", "per_iteration", "build_seconds", "epoch" or "seconds"; "file": the program's own file of rows.
    beside: str
    seconds: float  # What a row takes on an H100, starting the program and drawing the graph included.


def traversal(suite, work, gpus, arguments, figure="median", beside=NONE, seconds=6.0):
    return Row(suite, work, gpus, f"bench_traverse --device cuda --devices {gpus} {arguments}", figure, beside if gpus == 1 or beside == NONE else ONE, seconds)


def command(suite, work, gpus, arguments, figure="seconds", beside=NONE, seconds=7.0):
    return Row(suite, work, gpus, f"warren {arguments} --device cuda --devices {gpus}", figure, beside, seconds)


def headline(gpus):
    """The README's table: traversals, and gathers beside a kernel by hand."""
    def row(*arguments, **options):
        return traversal("headline", arguments[0], gpus, *arguments[1:], **options)
    return [
        row("BFS, k22 from the hub", "--graph kron:22 --work bfs --repeat 30", beside="Gunrock 2.2 on one H200: 4.55 ms"),
        row("BFS, comm from the hub", f"--graph {COMM} --work bfs --repeat 30", beside="Gunrock 2.2 on one H200: 3.37 ms"),
        row("BFS, grid 2048x2048, 4093 levels", "--graph grid:2048x2048 --work bfs --repeat 10", beside="Gunrock 2.2 on one H200: 759 ms"),
        row("BFS, kron:26 from the hub", "--graph kron:26 --work bfs --repeat 10", seconds=9.0),
        row("PageRank, k22, an iteration", "--graph kron:22 --work pagerank --order degree --repeat 10", figure="per_iteration", beside="Gunrock 2.2 on one H200: 2.5 ms, an iteration, too"),
        row("PageRank, comm, an iteration", f"--graph {COMM} --work pagerank --repeat 10", figure="per_iteration", beside="Gunrock 2.2 on one H200: 2.0 ms, an iteration, too"),
        row("SSSP, k22, weights 1..64", "--graph kron:22 --work sssp --low 1 --high 64 --repeat 10", seconds=9.0),
        row("components, k22", "--graph kron:22 --work cc --repeat 20", beside="Afforest's GPU code on one H200: 2.38 ms"),
        row("components, comm", f"--graph {COMM} --work cc --repeat 20", beside="Afforest's GPU code on one H200: 0.25 ms"),
        row("BFS from 64 sources together, k22", "--graph kron:22 --work many-source --repeat 10", beside="one at a time: in the result"),
        row("kron:24 drawn and made CSR", "--graph kron:24 --work build", figure="build_seconds"),
    ]


def scaling(gpus):
    """Searches of large graphs, whose lists fit one GPU, by the number of GPUs."""
    def row(*arguments, **options):
        return traversal("scaling", arguments[0], gpus, *arguments[1:], **options)
    return [
        row("BFS, kron:24 from the hub", "--graph kron:24 --work bfs --repeat 15"),
        row("components, kron:24", "--graph kron:24 --work cc --repeat 10"),
        row("components, kron:26", "--graph kron:26 --work cc --repeat 7", seconds=10.0),
        row("SSSP, kron:24, weights 1..64", "--graph kron:24 --work sssp --low 1 --high 64 --repeat 5", seconds=20.0),
        row("SSSP, kron:25, weights 1..64", "--graph kron:25 --work sssp --low 1 --high 64 --repeat 5", seconds=40.0),
        row("PageRank, kron:24, to 1e-6", "--graph kron:24 --work pagerank --order degree --tolerance 1e-6 --repeat 5"),
        row("PageRank, kron:26, to 1e-6", "--graph kron:26 --work pagerank --order degree --tolerance 1e-6 --repeat 3", seconds=14.0),
    ]


def asynchronous(gpus, modes=("async", "sync")):
    pagerank = "--tolerance 1e-6 --repeat 5"
    works = [
        ("BFS, grid 2048x2048", "bfs grid:2048x2048 --source 0 --repeat 7"),
        ("BFS, road-FLA", "bfs DATA/road-FLA.mtx.zst --source 0 --repeat 7"),
        ("SSSP, road-FLA, weights 1..64", "sssp DATA/road-FLA.mtx.zst --weights uniform:1:64 --source 0 --repeat 5"),
        ("BFS, k22", f"bfs {KRON} --source 0 --repeat 7"),
        ("BFS, comm", f"bfs {COMM} --source 0 --repeat 7"),
        ("PageRank, k22, to 1e-6", f"pagerank {KRON} {pagerank}"),
        ("PageRank, comm, to 1e-6", f"pagerank {COMM} {pagerank}"),
        ("PageRank, kron:25, to 1e-6", "pagerank kron:25 --symmetrize --drop-self-loops --tolerance 1e-6 --repeat 3"),
    ]
    return [command("asynchronous", f"{work}, {mode}", gpus, f"{arguments} --mode {mode}") for work, arguments in works for mode in modes]


LISTS_OF_KRON30 = 137e9
WEIGHTS_OF_KRON30 = 34.4e9  # A byte each.


def host_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def out_of_memory(gpus):
    host, packed = "--edges host --repeat 8", "--edges compressed-host --repeat 8"
    def row(*arguments, **options):
        return traversal("out-of-memory", arguments[0], gpus, *arguments[1:], **{"seconds": 9.0, **options})
    rows = [
        row("BFS, k24", f"--graph kron:24 --work bfs {host}", beside="EMOGI's code on one H200: 77.0 ms"),
        row("components, k24", f"--graph kron:24 --work cc {host}", beside="EMOGI's code on one H200: 124.3 ms"),
        row("PageRank, k24, an iteration", "--graph kron:24 --work pagerank --iterations 5 --edges host --repeat 2", figure="per_iteration"),
        row("BFS, k24, push only", f"--graph kron:24 --work bfs --push-only {host}"),
        row("BFS, k24, compressed", f"--graph kron:24 --work bfs {packed}", beside="the row of plain lists"),
        row("BFS, k24, half of the lists cached", f"--graph kron:24 --work bfs --cache 1041538740 {host}", beside="the row without a cache"),
        row("SSSP, k24, weights 1..64", "--graph kron:24 --work sssp --low 1 --high 64 --edges host --repeat 3", beside="EMOGI's code on one H200: 206.7 ms", seconds=30.0),
        row("SSSP, kron:27, weights 1..64", "--graph kron:27 --work sssp --low 1 --high 64 --edges host --repeat 2", seconds=30.0),
        row("BFS, kron:27", f"--graph kron:27 --work bfs {host}", seconds=30.0),
        row("BFS, kron:27, push only", f"--graph kron:27 --work bfs --push-only {host}", seconds=30.0),
        row("BFS, kron:27, compressed", f"--graph kron:27 --work bfs {packed}", beside="the row of plain lists", seconds=40.0),
    ]
    if host_bytes() < LISTS_OF_KRON30 * 1.2:
        return rows
    larger = "--graph kron:30 --edges host"
    rows += [
        row("BFS, kron:30, lists of 136 GB", f"{larger} --work bfs --repeat 3", seconds=50.0),
        row("BFS, kron:30, lists of 136 GB, push only", f"{larger} --work bfs --push-only --repeat 2", seconds=50.0),
        row("components, kron:30, lists of 136 GB", f"{larger} --work cc --repeat 3", seconds=50.0),
        row("PageRank, kron:30, lists of 136 GB, an iteration", f"{larger} --work pagerank --iterations 4 --repeat 1", figure="per_iteration", seconds=70.0),
    ]
    if host_bytes() >= (LISTS_OF_KRON30 + WEIGHTS_OF_KRON30) * 1.2:
        rows.append(row("SSSP, kron:30, lists of 136 GB, weights in a byte", f"{larger} --work sssp --low 1 --high 64 --repeat 2", seconds=110.0))
    return rows


# Full graph: thirty epochs, after which a model has learnt; an epoch's time is their median.
TRAIN = f"train {COMM} --features 100 --classes 47 --dropout 0.5"
WHOLE = "--layers 3 --hidden 256 --epochs 30"
SAMPLED = "--mode sampled --fanout 30,30,30 --batch 512 --hidden 256 --epochs 3"
COLA = f"train {COMM} --features 16 --classes 16 --dropout 0 --model gcn --layers 5 --hidden 32 --epochs 30"
WHOLE_MODELS = [("GCN", "--model gcn", 9.0), ("GraphSAGE", "--model sage", 9.0), ("GAT, 4 heads of 64", "--model gat --heads 4", 12.0), ("GIN, batch norm", "--model gin --norm batch", 10.0), ("GATv2, 4 heads of 64", "--model gatv2 --heads 4", 15.0)]
SAMPLED_MODELS = [("GraphSAGE", "--model sage", 14.0), ("GCN", "--model gcn", 14.0), ("GAT, 4 heads", "--model gat --heads 4", 19.0)]


def training(gpus, with_type=""):
    """With a type, the rows in 16 bits."""
    of, option = (f", {with_type}", f" --type {with_type}") if with_type else ("", "")
    beside = "the row in float32" if with_type else ONE if gpus > 1 else NONE
    rows = [command("training", f"an epoch of {name}{of}", gpus, f"{TRAIN} {model} {WHOLE}{option}", "epoch", beside, seconds) for name, model, seconds in WHOLE_MODELS]
    rows += [command("training", f"an epoch of {name}, sampled, fanouts 30,30,30, batches of 512{of}", gpus, f"{TRAIN} {model} {SAMPLED}{option}", "epoch", beside, seconds)
             for name, model, seconds in SAMPLED_MODELS]
    rows.append(command("training", f"an epoch of CoLa's GCN, 5 layers, 16 in, 32 hidden, 16 out{of}", gpus, f"{COLA}{option}", "epoch", beside, 8.0))
    if gpus == 1 and not with_type:
        rows += [command("training", f"an epoch of {model.upper()} on Cora{what}", 1, f"train DATA/cora --model {model} --epochs 200{how}", "epoch", beside, 5.0)
                 for model in ("gcn", "gat") for what, how, beside in (("", "", "the row not captured"), (", not captured", " --no-capture", "the row captured"))]
    return rows


def sampling(gpus):
    return [command("sampling", f"256 batches of 1024, fanouts 15,10,5, {name}", gpus, f"sample {graph} --fanout 15,10,5 --batch 1024 --batches 256 --in-flight 16 --repeat 5",
                    beside=NONE if gpus == 1 else ONE, seconds=7.0) for name, graph in (("comm", COMM), ("k22", KRON))]


def gathers(gpus):
    """Of random rows, beside a kernel by hand in the same program."""
    rows = [Row("gather", "gathers of random rows", gpus, f"bench_gather --device cuda --devices {gpus} --table-bytes 4294967296", "file", NONE, 12.0)]
    if gpus > 1:
        rows += [command("gather-messages", f"gather of rows of {4 * k} B, {strategy}", gpus,
                         f"gather --rows {(1 << 30) // k} --k {k} --count {(128 << 20) // k} --strategy {strategy} --repeat 9 --verify", seconds=7.0)
                 for k in (16, 32, 128, 512) for strategy in ("direct", "messages")]
    return rows


STRATEGIES = "broadcast,broadcast-pipelined,pull,once,staged,fused,cover"


def products(gpus):
    """Beside cuSPARSE on one GPU; every strategy on several."""
    grid = [command("grid-spmm", "SpMM, grid 2048x2048, k = 128", gpus, "spmm grid:2048x2048 --k 128 --repeat 9")]
    if gpus == 1:
        return grid + [Row(f"sparse-{name}", f"products with {name} beside cuSPARSE", 1, f"bench_sparse --graph {graph} --ks 16,32,64,128,256 --repeat 5 --calls 5", "file", "cuSPARSE in the same program", 60.0)
                for name, graph in (("k22", "kron:22"), ("comm", COMM))]
    graphs = (("comm", COMM), ("k22", KRON))
    rows = [Row(f"spmm-{name}", f"strategies of products with {name}", gpus, f"warren bench spmm {graph} --ks 32,128 --strategies {STRATEGIES},auto --repeat 7 --verify --device cuda --devices {gpus}", "file", NONE, 60.0)
            for name, graph in graphs]
    if gpus >= 4 and gpus % 2 == 0:  # Two workgroups, a link between them that is ten times slower.
        rows += [Row(f"slow-{name}", f"products with {name} over a slow link between workgroups", gpus,
                     f"warren bench spmm {graph} --ks 32,128 --repeat 5 --device cuda --devices {gpus} --workgroup {gpus // 2} --slow 10", "file", NONE, 60.0) for name, graph in graphs]
    return grid + rows


def in_order(gpus):
    """All rows for a machine of so many GPUs, the most wanted first, on one GPU, two, four and so on up to all."""
    counts = sorted({1 << power for power in range(gpus.bit_length()) if 1 << power <= gpus} | {gpus})
    def each(suite):
        return [row for count in counts for row in suite(count)]
    first_host, later_host = [], []
    for row in each(out_of_memory):
        (later_host if row.seconds > 20.0 else first_host).append(row)
    return [*each(headline), *each(scaling), *each(asynchronous), *first_host, *each(training), *each(products), *each(sampling), *each(gathers), *later_host,
            *(row for count in counts for row in training(count, "bfloat16"))]


SUITES = ("headline", "scaling", "asynchronous", "out-of-memory", "training", "sparse", "spmm", "grid-spmm", "slow", "sampling", "gather")
