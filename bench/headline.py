#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks behind the README's table and writes bench/results/headline-NAME.json.

Usage: bench/headline.py --build build/cuda/bench --name h200 --gpus 4 [--out FOLDER]

Rivals' figures are those published or measured on the same machine and inputs before; they are named with each row.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

COMM = "community:2449029,25.2586392"
# (work, GPUs, arguments of bench_traverse, which result, field, unit and factor, rival)
TRAVERSALS = [
    ("BFS, k22 from the hub", 1, "--graph kron:22 --work bfs --repeat 30", "median", ("ms", 1e3), "Gunrock 2.2: 4.55 ms"),
    ("BFS, comm from the hub", 1, f"--graph {COMM} --work bfs --repeat 30", "median", ("ms", 1e3), "Gunrock 2.2: 3.37 ms"),
    ("BFS, grid 2048x2048, 4093 levels", 1, "--graph grid:2048x2048 --work bfs --repeat 10", "median", ("ms", 1e3), "Gunrock 2.2: 759 ms"),
    ("BFS, kron:26 from the hub", 1, "--graph kron:26 --work bfs --repeat 10", "median", ("ms", 1e3), "none"),
    ("BFS, kron:26 from the hub", 4, "--graph kron:26 --work bfs --repeat 10", "median", ("ms", 1e3), "warren on one GPU, above"),
    ("PageRank, k22, an iteration", 1, "--graph kron:22 --work pagerank --order degree --repeat 10", "per_iteration", ("ms", 1e3), "Gunrock 2.2: 2.5 ms"),
    ("PageRank, k22, an iteration", 4, "--graph kron:22 --work pagerank --order degree --repeat 10", "per_iteration", ("ms", 1e3), "Atos (4 GPUs): 26.9 ms in all"),
    ("PageRank, comm, an iteration", 1, f"--graph {COMM} --work pagerank --repeat 10", "per_iteration", ("ms", 1e3), "Gunrock 2.2: 2.0 ms"),
    ("kron:24 drawn and made CSR", 1, "--graph kron:24 --work build", "build_seconds", ("s", 1.0), "none"),
]


def run_traverse(build, gpus, arguments):
    command = f"bench_traverse --device cuda --devices {gpus} {arguments}"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        subprocess.run([build / "bench_traverse", *command.split()[1:], "--out", out.name], check=True)
        return command, json.loads(out.read().strip().splitlines()[-1])


def traversals(build, gpus):
    for work, devices, arguments, field, (unit, factor), rival in TRAVERSALS:
        if devices > gpus:
            continue
        command, result = run_traverse(build, devices, arguments)
        value = result[field] if field in result else result["results"][0][field]
        hardware = f"{devices} x {result['device']}"
        yield {"work": work, "hardware": hardware, "figure": f"{value * factor:.3g} {unit}", "beside": rival, "command": command, "result": result}


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
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "results")
    options = parser.parse_args()
    entries = list(traversals(options.build, options.gpus))
    if options.gpus > 1:
        entries += list(gathers(options.build, options.gpus))
    path = options.out / f"headline-{options.name}.json"
    path.write_text(json.dumps(entries, indent=1) + "\n")
    for entry in entries:
        print(f"{entry['work']:40} {entry['hardware']:18} {entry['figure']:>14}   {entry['beside']}")


if __name__ == "__main__":
    main()
