#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one product would move over up to 1,024 ranks: `warren partition` counts it for any number of parts, and products on as many ranks as one machine runs are counted beside it.

    bench/scale.py --program build/cpu/warren [--out FILE] [--graphs G ...] [--parts 8,16,...,1024] [--workgroup 8] [--method ranges]
                   [--counted community:100000,12] [--ranks 2,4,8,16]

docs/scaling.md makes times of the volumes.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import stamp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import measured  # noqa: E402  pylint: disable=wrong-import-position

FIELDS = ("graph", "vertices", "edges", "parts", "workgroup", "method", "imbalance", "volume", "volume_between_workgroups")
WAYS = {"pull": "per_edge", "once": "once", "fused": "fused", "cover": "cover"}


def told(program, *arguments):
    run = subprocess.run([program, *map(str, arguments), "--json", "-"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def row_of(result, values):
    return {**values, "machine": measured.machine_text(result["machine"]), **stamp.origin(False), "commit": result["warren"]["commit"], "date": result["date"]}


def volumes(options):
    for graph in options.graphs:
        for parts in options.parts:
            result = told(options.program, "partition", graph, "--symmetrize", "--parts", parts, "--workgroup", min(parts, options.workgroup), "--method", options.method)
            row = row_of(result, {name: result[name] for name in FIELDS})
            row["check"] = {"cut_edges": result["cut_edges"], "halo_rows": result["halo_rows"]}
            print(f"{graph}, {parts} parts: fused {row['volume']['fused']:,}, between workgroups {row['volume_between_workgroups']['fused']:,}", flush=True)
            yield row


def counted(options):
    """Rows that products move, beside what `partition` says that they would."""
    for ranks in options.ranks:
        group = ranks // 2 if ranks % 2 == 0 else ranks
        cut = told(options.program, "partition", options.counted, "--symmetrize", "--parts", ranks, "--workgroup", group)
        for strategy, way in WAYS.items():
            asked = ("--workgroup", group) if strategy == "fused" else ()
            result = told(options.program, "spmm", options.counted, "--symmetrize", "--k", 32, "--devices", ranks, "--device", "cpu", "--strategy", strategy, *asked, "--verify")
            moved, expected = result["rows_moved"], cut["volume"][way]
            print(f"{ranks} ranks, {strategy}: {moved:,} rows, {expected:,} computed", flush=True)
            yield row_of(result, {"work": "counted", "graph": options.counted, "ranks": ranks, "strategy": strategy, "rows_moved": moved, "computed": expected,
                                  "check": {"verified": result["verified"], "equal": moved == expected}})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/cpu/warren")
    parser.add_argument("--graphs", nargs="*", default=["community:2449029,25.2586392", "kron:22"])
    parser.add_argument("--parts", default="8,16,32,64,128,256,512,1024")
    parser.add_argument("--workgroup", type=int, default=8)
    parser.add_argument("--method", default="ranges")
    parser.add_argument("--counted", default="community:100000,12")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--out")
    options = parser.parse_args()
    options.parts = [int(parts) for parts in options.parts.split(",")]
    options.ranks = [int(ranks) for ranks in options.ranks.split(",")]
    suite = {"rows": list(counted(options)), "results": list(volumes(options))}
    if options.out:
        Path(options.out).write_text(measured.dump(suite), encoding="utf-8")


if __name__ == "__main__":
    main()
