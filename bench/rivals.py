#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts what RAPIDS and PyTorch Geometric took beside warren in one run on one machine: writes bench/results/rivals-MACHINE.json.

    bench/rivals.py FOLDER --out FILE

FOLDER holds NAME.json of `warren COMMAND --json` with its command line in NAME.command, for NAME bfs-GRAPH, sssp-GRAPH, cc-GRAPH, pagerank-GRAPH, sample-GRAPH, gather-BYTES,
train-comm and epoch-MODEL; cugraph-GRAPH.jsonl, wholegraph.jsonl and cugraph-pyg.jsonl, a rival's result a line: `what`, `api` ("C++": the library's function alone,
"pylibcugraph": the call from Python), `ms`, `check`; and pyg.json of bench/beside_pyg.py. What is not there is left out. Of a rival's forms that give as much the fastest counts.

Times of one GPU each, totals beside totals, on the same graph from the same source. `comparable` says that the answers were compared and are the same, or that both drew or gathered
what was asked; only then do tables show a ratio.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import measured  # noqa: E402  pylint: disable=wrong-import-position

# Of each command: what the rival calls it, the pairs of fields that must be equal, and by how much they may differ.
SEARCHES = {
    "bfs": ("BFS from the hub", "bfs", {"reached": "reached", "sum_depth": "sum_depths", "max_depth": "max_depth"}, 0.0),
    "sssp": ("SSSP, weights 1..64", "sssp", {"reached": "reached", "sum_distance": "sum", "max_distance": "max"}, 0.0),
    "cc": ("connected components", "wcc", {"components": "components", "largest": "biggest"}, 0.0),
    "pagerank": ("PageRank to 1e-6", "pagerank", {"top": "top_value"}, 1e-3),
}


def median(values):
    return sorted(values)[len(values) // 2]


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def lines(path):
    """The results of a rival, those that failed left out."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{")] if path.exists() else []
    return [row for row in rows if "error" not in row]


def value(result, name):
    if name == "top":  # [[vertex, rank], ...] of warren; the largest rank.
        return (result.get("top") or [[None, None]])[0][1]
    return result.get(name)


def compared(ours, theirs, fields, tolerance):
    """(whether all are the same, in words)"""
    pairs = {name: (value(ours, name), theirs.get(other)) for name, other in fields.items()}
    known = {name: pair for name, pair in pairs.items() if None not in pair}
    differing = {name: pair for name, pair in known.items() if abs(pair[0] - pair[1]) > tolerance * abs(pair[1])}
    if differing or not known:
        return False, "; ".join(f"{name} {pair[0]} and {pair[1]}" for name, pair in differing.items()) or "not compared"
    return True, "the same " + ", ".join(f"{name.replace('_', ' ')}" for name in known) + ("" if tolerance == 0.0 else f" within {tolerance:g}")


def fastest(rows):
    return min(rows, key=lambda row: row["ms"], default=None)


def base(folder, name, work, graph, rival):
    """A row's beginning: warren's own run."""
    ours = read(folder / f"{name}.json")
    command = (folder / f"{name}.command").read_text(encoding="utf-8").strip().replace(f"{folder}/", "") if ours else ""
    return ours, {"work": work, "graph": graph, "rival": rival, "command": command} | ({"commit": ours["warren"]["commit"], "date": ours["date"], "machine": ours["machine"],
                                                                                       "check": measured.check_of(ours)} if ours else {})


def searches(folder, graph):
    rivals = lines(folder / f"cugraph-{graph}.jsonl")
    for command, (work, what, fields, tolerance) in SEARCHES.items():
        ours, row = base(folder, f"{command}-{graph}", work, graph, "cuGraph 26.10")
        found = [line for line in rivals if line["what"] == what and line.get("source", ours.get("source") if ours else None) == (ours or {}).get("source")]
        native, python = (fastest([line for line in found if line["api"] == api]) for api in ("C++", "pylibcugraph"))
        if not ours or not (native or python):
            continue
        theirs = native or python
        same, answers = compared(ours, theirs["check"], fields, tolerance)
        if command == "pagerank":
            answers += f"; {ours.get('iterations')} and {theirs['check'].get('iterations')} iterations"
        yield row | {"warren_seconds": median(ours["seconds"]), "native_seconds": native and native["ms"] / 1e3, "python_seconds": python and python["ms"] / 1e3,
                     "python_fixed_seconds": python and python.get("fixed_ms", 0.0) / 1e3, "comparable": same, "answers": answers, "rival_check": theirs["check"],
                     "rival_form": {name: theirs[name] for name in ("direction_optimizing", "predecessors", "repeat") if name in theirs}}


def samples(folder, graph):
    ours, row = base(folder, f"sample-{graph}", "64 batches of 1024, fanouts 15,10,5, in one call", graph, "cuGraph 26.10")
    theirs = next((line for line in lines(folder / f"cugraph-{graph}.jsonl") if line["what"] == "sample"), None)
    if ours and theirs:
        more = ours["sampled_edges"] / theirs["sampled_edges"] - 1
        yield row | {"warren_rate": ours["batches_per_second"], "python_rate": theirs["batches_per_second"], "unit": "batches/s", "comparable": True,
                     "answers": f"{theirs['sampled_edges']:,} edges drawn; warren {100 * abs(more):.0f}% {'more' if more > 0 else 'fewer'}", "rival_check": {"sampled_edges": theirs["sampled_edges"]}}


def gathers(folder):
    rivals = [line for line in lines(folder / "wholegraph.jsonl") if line.get("location") == "cuda"]
    for row_bytes in sorted({line["row_bytes"] for line in rivals}):
        ours, row = base(folder, f"gather-{row_bytes}", f"gather of random rows of {row_bytes} B", "4 GiB", "WholeGraph 26.10")
        theirs = max((line for line in rivals if line["row_bytes"] == row_bytes), key=lambda line: line["gigabytes_per_second_a_gpu"])
        if ours:
            yield row | {"warren_rate": ours["bytes_per_second"] / 1e9, "native_rate": theirs["gigabytes_per_second_a_gpu"], "unit": "GB/s", "comparable": bool(theirs["right"] and ours.get("verified")),
                         "answers": "both checked" if theirs["right"] and ours.get("verified") else "not both checked", "rival_form": {"memory": theirs["memory"]}}


def sampled_training(folder):
    ours, row = base(folder, "train-comm", "a batch of 512 trained, GraphSAGE of 3 layers of 256, fanouts 30,30,30", "comm", "cugraph-pyg 26.10")
    theirs = next((line for line in lines(folder / "cugraph-pyg.jsonl") if line["what"] == "epoch"), None)
    if ours and theirs:
        yield row | {"warren_seconds": ours["epoch_seconds"] / ours["batches"], "python_seconds": theirs["ms_a_batch"] / 1e3, "comparable": True,
                     "answers": "layers' sums equal within 0.2%; cugraph-pyg's labels are random", "rival_check": {name: theirs[name] for name in ("batches", "sampled_edges") if name in theirs}}


def whole_training(folder):
    rivals = read(folder / "pyg.json")
    for theirs in (rivals or {}).get("epochs", []):
        model = theirs["model"].removesuffix("-by-hand")
        name = "torch by hand" if theirs["model"].endswith("-by-hand") else f"PyTorch Geometric {rivals['pytorch_geometric']}"
        ours, row = base(folder, f"epoch-{model}", f"an epoch of {model.upper()}, 3 layers of 256, whole graph", "comm", name)
        if ours:
            failed = theirs.get("out_of_memory", False)
            yield row | {"warren_seconds": ours["epoch_seconds"], "python_seconds": theirs.get("epoch_seconds"), "comparable": not failed,
                         "answers": "out of memory" if failed else "the same layers; the rival's features and labels are random",
                         "peak_memory": [ours.get("peak_memory"), theirs.get("peak_memory")]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    rows = []
    for graph in ("k22", "comm"):
        rows += [*searches(options.folder, graph), *samples(options.folder, graph)]
    rows += [*gathers(options.folder), *sampled_training(options.folder), *whole_training(options.folder)]
    options.out.write_text(measured.dump({"protocol": "each program in turn on one GPU; medians", "results": rows}), encoding="utf-8")
    for row in rows:
        ours, theirs = (row.get(name) or row.get(name.replace("seconds", "rate")) for name in ("warren_seconds", "native_seconds"))
        theirs = theirs or row.get("python_seconds") or row.get("python_rate")
        print(f"{row['work']:60.60} {row['graph']:5} warren {ours:10.4g}  {row['rival']:24} {theirs or 0:10.4g} {row.get('unit', 's'):10} {row['answers']}")


if __name__ == "__main__":
    main()
