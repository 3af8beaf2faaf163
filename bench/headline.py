#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks behind the tables of the docs on this machine's GPUs and writes bench/results/SUITE-MACHINE.json.

    bench/headline.py --build build/cuda [--seconds 480] [--suite SUITE,...] [--only WORD] [--side-by-side] [--skip-fresh] [--list]

The rows of bench/suites.py in their order, the most wanted first; on a machine of several GPUs each on one GPU, two, four and so on up to all. MACHINE is h100, h100x2 and so
on. With --side-by-side rows of few GPUs run at the same time, each on GPUs and CPU cores of its own, first those of one GPU, then of two and so on; those that read host memory run alone. After --seconds no row is started that would not end by then, by its estimate; the file is written after every row, so that nothing measured is lost. With
--skip-fresh a row is left out that the file has from this program's commit, which resumes a run. Rows of other commands stay in the file. Every row says its
commit, date, machine, driver, command and by what its answer is known (`check`), by the program's own word; answers on one GPU and on several are compared.
Rows that read files take them from --data, and are left out where that folder lacks them. --list prints rows and estimates and runs nothing.
"""
import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import measured  # noqa: E402  pylint: disable=wrong-import-position
import suites  # noqa: E402  pylint: disable=wrong-import-position

LARGE = ("top", "epochs", "volume", "volume_between_workgroups", "memory_plan")
# What must be the same however many GPUs ran.
SAME = ("reached", "sum_depth", "max_depth", "components", "largest", "sum_distance", "max_distance")


def gpu_names():
    try:
        run = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name.strip() for name in run.stdout.splitlines() if name.strip()]


def machine_name(names):
    """"NVIDIA H100 80GB HBM3" twice: h100x2."""
    model = names[0].replace("NVIDIA", "").split()[0].lower()
    return model if len(names) == 1 else f"{model}x{len(names)}"


def program_of(build, name):
    """`warren` and the benchmarks lie in the build folder, or all in one."""
    found = [path for path in (build / name, build / "bench" / name, build.parent / name) if path.is_file()]
    if not found:
        raise FileNotFoundError(f"{build} has no {name}")
    return found[0]


def cores_of(gpus, all_gpus):
    """As many of this process's cores as these GPUs are of all."""
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // all_gpus)
    return {core for gpu in gpus for core in cores[gpu * share:(gpu + 1) * share]} or set(cores)


def run(row, options, limit, gpus=None):
    """The JSON of the row's program, on these GPUs and their share of the cores (on all)."""
    environment, narrow = None, None
    if gpus is not None:
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(str(gpu) for gpu in gpus)}
        cores = cores_of(gpus, options.gpus)
        narrow = lambda: os.sched_setaffinity(0, cores)  # noqa: E731
    words = row.command.replace("DATA/", f"{options.data}/").split()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        done = subprocess.run([program_of(options.build, words[0]), *words[1:], "--json" if words[0] == "warren" else "--out", out], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=limit, check=False, env=environment, preexec_fn=narrow)
        if done.returncode != 0:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
        return json.loads(out.read_text(encoding="utf-8").strip().splitlines()[-1] if words[0] == "bench_traverse" else out.read_text(encoding="utf-8"))


def median(values):
    return sorted(values)[len(values) // 2]


def duration(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def figure_of(row, result):
    inner = result["results"][0] if result.get("results") else {}
    if row.figure == "epoch":
        return f"{duration(result['epoch_seconds'])}, {result['peak_memory'] / 1e9:.1f} GB" if "peak_memory" in result else duration(result["epoch_seconds"])
    if row.figure == "seconds":
        return duration(median(result["seconds"]))
    return duration(result[row.figure] if row.figure in result else inner[row.figure])


def check_of(row, result):
    found = measured.check_of(result)
    if row.figure == "build_seconds":
        found = {"edges": result["edges"]}
    if any(place.get("verified") is False for place in measured.places({"result": result})[1:]):
        raise RuntimeError("the answer is wrong: verified is false")
    return found


def entry_of(row, result, wall):
    for name in LARGE:
        result.pop(name, None)
    machine = result["machine"]
    return {"work": row.work, "hardware": measured.machine_text(machine), "figure": figure_of(row, result), "beside": row.beside, "command": row.command.replace("DATA/", ""),
            "commit": result["warren"]["commit"], "date": result["date"], "driver": machine.get("driver", "none"), "check": check_of(row, result), "wall_seconds": round(wall, 1),
            "result": result}


def path_of(row, name, options):
    """Of files of a program's own, one for each number of GPUs."""
    if row.figure == "file" and "x" in name:
        model = name.partition("x")[0]
        name = model if row.gpus == 1 else f"{model}x{row.gpus}"
    return options.out / f"{row.suite}-{name}.json"


def kept(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def write(row, path, result, wall):
    path.parent.mkdir(parents=True, exist_ok=True)
    if row.figure == "file":
        path.write_text(measured.dump({**result, "command": row.command, "wall_seconds": round(wall, 1)}), encoding="utf-8")
        return f"{len(result['results'])} rows"
    made = entry_of(row, result, wall)
    rows = kept(path)
    places = [i for i, entry in enumerate(rows) if entry["command"] == made["command"]]
    if places:
        rows[places[0]] = made
    else:
        rows.append(made)
    path.write_text(measured.dump(rows), encoding="utf-8")
    return made["figure"]


def is_fresh(row, path, commit):
    found = kept(path)
    rows = [found] if isinstance(found, dict) else found
    return any(entry.get("command") == row.command.replace("DATA/", "") and measured.facts(entry).get("commit") == commit for entry in rows)


def commit_of(build):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        subprocess.run([program_of(build, "warren"), "convert", "grid:2x2", f"{folder}/g.wgr", "--device", "cpu", "--json", out], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text(encoding="utf-8"))["warren"]["commit"]


def differing(paths):
    """Works whose answers are not the same on all numbers of GPUs."""
    faults = []
    for path in sorted(paths):
        rows, seen = kept(path), {}
        for row in rows if isinstance(rows, list) else []:
            answer = {name: row["check"][name] for name in SAME if name in row.get("check", {})}
            first = seen.setdefault(row["work"].removesuffix(", async").removesuffix(", sync"), answer)
            if any(first.get(name, value) != value for name, value in answer.items()):
                faults.append(f"{path.name}: {row['work']}: {answer} on {row['hardware']}, {first} before")
    return faults


def left_out(row, options):
    """Why a row is not run, if it is not."""
    words = [word for word in row.command.split() if word.startswith("DATA/")]
    if any(not (pathlib.Path(options.data) / word[5:]).exists() for word in words):
        return f"no {words[0][5:]} in {options.data}"
    if options.skip_fresh and is_fresh(row, path_of(row, options.name, options), options.commit):
        return "fresh"
    return ""


def reads_host_memory(row):
    """Its bandwidth is what is measured, and all GPUs share it."""
    return " host" in row.command or "compressed-host" in row.command


def chosen(options):
    wanted = options.suite.split(",") if options.suite else suites.SUITES
    unknown = set(wanted) - set(suites.SUITES)
    if unknown:
        sys.exit(f"headline.py: no suite {', '.join(sorted(unknown))}; there are {', '.join(suites.SUITES)}")
    return [row for row in suites.in_order(options.gpus) if any(row.suite == name or row.suite.startswith(f"{name}-") for name in wanted) and options.only in row.command + row.work]


class Measuring:
    """Runs rows while there is time for them, and keeps what came of each."""

    def __init__(self, options):
        self.options, self.begin, self.outcomes, self.paths, self.lock = options, time.monotonic(), [], set(), threading.Lock()

    def elapsed(self):
        return time.monotonic() - self.begin

    def one(self, row, gpus=None):
        left = self.options.seconds - self.elapsed()
        why = left_out(row, self.options) or ("no time left" if left < row.seconds else "")
        if why:
            with self.lock:
                self.outcomes.append((row, why, 0.0))
            return
        path, started = path_of(row, self.options.name, self.options), time.monotonic()
        try:
            result = run(row, self.options, max(20.0, min(left, 4 * row.seconds)), gpus)
            with self.lock:
                what = write(row, path, result, time.monotonic() - started)
                self.paths.add(path)
        except (RuntimeError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            what = f"FAILED: {type(error).__name__}: {str(error)[:160]}"
        with self.lock:
            self.outcomes.append((row, what, time.monotonic() - started))
            print(f"{self.elapsed():6.0f} s  {row.gpus} x  {row.work:60.60}  {what}", flush=True)

    def side_by_side(self, rows, count):
        """Rows of as many GPUs each, on different ones at the same time."""
        waiting = queue.SimpleQueue()
        for row in rows:
            waiting.put(row)

        def lane(gpus):
            while True:
                try:
                    row = waiting.get_nowait()
                except queue.Empty:
                    return
                self.one(row, gpus)

        lanes = [threading.Thread(target=lane, args=(range(first, first + count),)) for first in range(0, self.options.gpus - count + 1, count)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()


def measure(rows, options):
    measuring = Measuring(options)
    if not options.side_by_side:
        for row in rows:
            measuring.one(row)
        return measuring.outcomes, measuring.paths
    for count in sorted({row.gpus for row in rows}):
        group = [row for row in rows if row.gpus == count]
        measuring.side_by_side([row for row in group if not reads_host_memory(row)], count)
        for row in filter(reads_host_memory, group):
            measuring.one(row)
    return measuring.outcomes, measuring.paths


def main():
    names = gpu_names()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/cuda"))
    parser.add_argument("--name", default=machine_name(names) if names else "", help="of the machine (by its GPUs)")
    parser.add_argument("--gpus", type=int, default=len(names) or 1, help="the most that are used (all)")
    parser.add_argument("--out", type=pathlib.Path, default=measured.RESULTS)
    parser.add_argument("--suite", default="", help=f"of {', '.join(suites.SUITES)} (all)")
    parser.add_argument("--only", default="", help="rows with this in their work or command")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no row ends")
    parser.add_argument("--side-by-side", action="store_true", help="rows of few GPUs at the same time, on different ones")
    parser.add_argument("--skip-fresh", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--data", default=".")
    options = parser.parse_args()
    rows = chosen(options)
    if options.list:
        total = 0.0
        for row in rows:
            total += row.seconds
            print(f"{total:6.0f} s  {row.suite:16} {row.gpus} x  {row.work:60.60} {row.seconds:4.0f} s")
        return 0
    if not options.name:
        sys.exit("headline.py: no GPU is found here: give --name")
    options.commit = commit_of(options.build)
    outcomes, paths = measure(rows, options)
    print(f"\n{options.name}, commit {options.commit}")
    for row, what, seconds in outcomes:
        print(f"{row.suite:16} {row.gpus} x  {row.work:60.60}  {what:24} {f'{seconds:.0f} s' if seconds else ''}")
    faults = differing(paths)
    for fault in faults:
        print(f"ANSWERS DIFFER: {fault}")
    return 1 if faults or any(what.startswith("FAILED") for _, what, _ in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
