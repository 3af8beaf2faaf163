# SPDX-License-Identifier: Apache-2.0
"""The result files and the docs made of them: every row says where it comes from, every figure in prose, too; and the driver that measures, on programs that only seem to."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no folder left beside the tools
TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))
import measured  # noqa: E402  pylint: disable=wrong-import-position

ROW = {"work": "BFS", "hardware": "1 x NVIDIA H100", "figure": "1 ms", "beside": "none", "command": "bench_traverse --graph kron:22", "commit": "e1b7c18c1e05",
       "date": "2026-12-01T10:00:00Z", "driver": "580.95", "check": {"reached": 5}}
# Prints to the file behind --json or --out what a program would; its answer is in the file ANSWER, by number of GPUs.
PROGRAM = r"""#!/usr/bin/env python3
import json, os, sys
words = sys.argv
devices = int(words[words.index("--devices") + 1]) if "--devices" in words else 1
if "fail" in os.environ.get("FAKE", "") and "pagerank" in words:
    sys.exit("fake: no ranks today")
out = words[words.index("--json" if "--json" in words else "--out") + 1]
stamps = {"warren": {"version": "0.1.0", "commit": "abcdef123456"}, "machine": {"gpus": ["NVIDIA H100"] * devices, "driver": "580.95", "cpu": "x", "threads": 16}, "date": "2026-12-01T10:00:00Z"}
reached = 7 + devices if "differ" in os.environ.get("FAKE", "") else 7
row = {"median": 0.001, "per_iteration": 0.002, "reached": reached, "iterations": 3}
json.dump({**stamps, "seconds": [0.003, 0.001, 0.002], "build_seconds": 0.5, "edges": 9, "reached": reached, "epoch_seconds": 0.1, "test_accuracy": 0.9, "results": [row]}, open(out, "w"))
"""


def run(*command, environment=None):
    return subprocess.run([sys.executable, "-B", *map(str, command)], capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})


class Results(unittest.TestCase):
    def test_every_row_says_where_it_comes_from(self):
        done = run(TOOLS / "check_results")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tables_are_what_the_results_make(self):
        done = run(TOOLS / "make_tables", "--check")
        self.assertEqual(done.returncode, 0, done.stderr + "run tools/make_tables")

    def test_figures_in_prose_have_a_source(self):
        done = run(TOOLS / "check_figures")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_files_are_as_dump_writes_them(self):
        for path in measured.files("*.json"):
            suite = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(json.loads(measured.dump(suite)), suite, path.name)


class Facts(unittest.TestCase):
    def check(self, suite, is_study=False):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("studies" if is_study else "results") / "headline-x.json"
            path.parent.mkdir()
            path.write_text(json.dumps(suite), encoding="utf-8")
            return run(TOOLS / "check_results", path)

    def test_a_row_with_all(self):
        self.assertEqual(self.check([ROW]).returncode, 0)

    def test_a_row_without_one(self):
        for fact, field in (("commit", "commit"), ("date", "date"), ("machine", "hardware"), ("driver", "driver"), ("command", "command"), ("check", "check")):
            with self.subTest(fact=fact):
                done = self.check([{name: value for name, value in ROW.items() if name != field}])
                self.assertEqual(done.returncode, 1)
                self.assertIn(fact, done.stderr)

    def test_only_old_rows_may_leave_out_what_nobody_noted(self):
        row = {name: value for name, value in ROW.items() if name != "driver"} | {"unrecorded": ["driver"]}
        old = row | {"date": "2026-11-21T10:00:00Z"}
        self.assertEqual(self.check([old], is_study=True).returncode, 0)
        self.assertEqual(self.check([row], is_study=True).returncode, 1)
        self.assertEqual(self.check([old]).returncode, 1, "bench/results has no exceptions")

    def test_rows_have_the_facts_of_their_file_and_of_their_program(self):
        program = {"warren": {"version": "0.1.0", "commit": "c0ffee"}, "machine": {"gpus": ["NVIDIA H100"] * 2, "driver": "580.1"}, "date": "2026-12-01T10:00:00Z"}
        told = measured.facts(measured.rows_of({**program, "command": "bench_x --repeat 3", "results": [{"is_right": True, "command": "bfs"}]})[0])
        self.assertEqual(told, {"commit": "c0ffee", "date": "2026-12-01T10:00:00Z", "machine": "2 x NVIDIA H100", "driver": "580.1", "command": "bench_x --repeat 3", "check": {"is_right": True}})
        told = measured.facts({"command": "warren train x", "result": {**program, "machine": {"cpu": "AMD", "threads": 2}, "test_accuracy": 0.5}})
        self.assertEqual((told["machine"], told["driver"], told["check"]), ("AMD, 2 threads", "none", {"test_accuracy": 0.5}))

    def test_marks(self):
        self.assertEqual(measured.origin(ROW), "2026-12-01, e1b7c18c")
        self.assertEqual(measured.origin(ROW | {"stale": "12 later commits changed the code that it times", "commit": "e1b7c18c1e05-dirty"}), "2026-12-01, e1b7c18c-dirty †12")


class Prose(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text(text, encoding="utf-8")
            return run(TOOLS / "check_figures", path)

    def test_figures(self):
        for text in ("It takes 3.5 ms.", "At 440 GB/s.", "This is 1.9 times as fast.", "| a | 2.04x |", "In 0.2 s, all of it."):
            with self.subTest(text=text):
                self.assertEqual(self.check(f"# Page\n\n{text}\n").returncode, 1)
                self.assertEqual(self.check(f"# Page\n\n{text} `warren bfs kron:22`\n").returncode, 0)
                self.assertEqual(self.check(f"# Page\n\nOf `sparse-h200.json`:\n\n{text}\n").returncode, 0)
        self.assertEqual(self.check("Of `sparse-h200.json`.\n\n# Page\n\nIt takes 3.5 ms.\n").returncode, 1)

    def test_what_is_no_figure(self):
        self.assertEqual(self.check("Rows of 64 B, 4 GPUs, 30 epochs, bits 8 s .. 8 s + 7.\n\n```\nwarren: 3 ms\n```\n").returncode, 0)


class Headline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bench").mkdir()
        for name in ("warren", "bench/bench_traverse", "bench/bench_gather", "bench/bench_sparse"):
            (self.folder / name).write_text(PROGRAM, encoding="utf-8")
            (self.folder / name).chmod(0o755)

    def measure(self, *options, fake="", gpus=2):
        return run(TOOLS.parent / "bench" / "headline.py", "--build", self.folder, "--out", self.folder / "out", "--name", "h100x2", "--gpus", gpus, "--data", self.folder, *options,
                   environment={"FAKE": fake})

    def rows(self, name):
        return json.loads((self.folder / "out" / name).read_text(encoding="utf-8"))

    def test_rows_say_where_they_come_from(self):
        done = self.measure("--suite", "headline,training,gather")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        files = sorted((self.folder / "out").iterdir())
        self.assertIn("gather-h100.json", [path.name for path in files])
        self.assertIn("gather-h100x2.json", [path.name for path in files])
        self.assertEqual(run(TOOLS / "check_results", *files).returncode, 0)
        bfs = [row for row in self.rows("headline-h100x2.json") if row["work"] == "BFS, k22 from the hub"]
        self.assertEqual([row["hardware"] for row in bfs], ["1 x NVIDIA H100", "2 x NVIDIA H100"])
        self.assertEqual([row["beside"] for row in bfs], ["Gunrock 2.2 on one H200: 4.55 ms", "the row of one GPU"])
        self.assertEqual(bfs[0]["figure"], "1 ms")
        for row in self.rows("training-h100x2.json"):
            self.assertEqual(row["check"]["test_accuracy"], 0.9)

    def test_rows_of_files_that_are_not_there(self):
        done = self.measure("--suite", "asynchronous", "--only", "BFS, road-FLA", gpus=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no road-FLA.mtx.zst in", done.stdout)
        self.assertFalse((self.folder / "out").exists())

    def test_time_runs_out(self):
        done = self.measure("--seconds", "7", "--suite", "headline", "--only", "BFS")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no time left", done.stdout)
        measured_rows = len(self.rows("headline-h100x2.json"))
        self.assertGreater(measured_rows, 0)
        done = self.measure("--suite", "headline", "--only", "BFS", "--skip-fresh")
        self.assertEqual(done.stdout.count("fresh"), measured_rows)
        self.assertGreater(len(self.rows("headline-h100x2.json")), measured_rows)

    def test_answers_that_differ(self):
        done = self.measure("--suite", "headline", "--only", "BFS, k22", fake="differ")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ANSWERS DIFFER", done.stdout)

    def test_a_failure_costs_no_other_row(self):
        done = self.measure("--suite", "headline", fake="fail", gpus=1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no ranks today", done.stdout)
        self.assertFalse([row for row in self.rows("headline-h100x2.json") if "PageRank" in row["work"]])
        self.assertTrue([row for row in self.rows("headline-h100x2.json") if "components" in row["work"]])

    def test_list_runs_nothing(self):
        done = self.measure("--list", "--suite", "sparse,gather")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("beside cuSPARSE", done.stdout)
        self.assertFalse((self.folder / "out").exists())
        self.assertNotEqual(self.measure("--suite", "nonsense").returncode, 0)


class Rivals(unittest.TestCase):
    OURS = {"warren": {"version": "0.1.0", "commit": "abcdef123456"}, "machine": {"gpus": ["NVIDIA H100"], "driver": "580.95"}, "date": "2026-12-01T10:00:00Z", "source": 3, "seconds": [0.002, 0.001, 0.003]}

    def convert(self, ours, rivals):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for work, result in ours.items():
                (folder / f"{work}.json").write_text(json.dumps(self.OURS | result), encoding="utf-8")
                (folder / f"{work}.command").write_text(f"warren {work} {folder}/k22.wgr", encoding="utf-8")
            for file, rows in rivals.items():
                (folder / file).write_text("# a note\n" + "\n".join(map(json.dumps, rows)), encoding="utf-8")
            out = folder / "rivals-h100.json"
            done = run(TOOLS.parent / "bench" / "rivals.py", folder, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run(TOOLS / "check_results", out).returncode, 0)
            return measured.load(out)

    def test_the_same_answer_from_the_same_source(self):
        check = {"reached": 5, "sum_depths": 9, "max_depth": 2}
        rival = {"what": "bfs", "api": "C++", "source": 3, "ms": 9.0, "check": check}
        rows = self.convert({"bfs-k22": {"reached": 5, "sum_depth": 9, "max_depth": 2}},
                            {"cugraph-k22.jsonl": [rival, rival | {"ms": 8.0}, rival | {"api": "pylibcugraph", "ms": 11.0, "fixed_ms": 1.0}, {"what": "bfs", "error": "none"}, rival | {"source": 4, "ms": 1.0}]})
        self.assertEqual(len(rows), 1)
        row = rows[0]
        self.assertEqual((row["warren_seconds"], row["native_seconds"], row["python_seconds"], row["comparable"]), (0.002, 0.008, 0.011, True))
        self.assertEqual(row["command"], "warren bfs-k22 k22.wgr")

    def test_answers_that_differ_are_not_compared(self):
        rows = self.convert({"cc-comm": {"components": 3, "largest": 7}}, {"cugraph-comm.jsonl": [{"what": "wcc", "api": "C++", "ms": 9.0, "check": {"components": 4, "biggest": 7}}]})
        self.assertFalse(rows[0]["comparable"])
        self.assertIn("components 3 and 4", rows[0]["answers"])

    def test_gathers_and_samples(self):
        rows = self.convert({"gather-64": {"bytes_per_second": 1e12, "verified": True}, "sample-k22": {"batches_per_second": 100.0, "sampled_edges": 110}},
                            {"wholegraph.jsonl": [{"what": "gather", "memory": "chunked", "location": "cuda", "row_bytes": 64, "gigabytes_per_second_a_gpu": 990.0, "right": True}],
                             "cugraph-k22.jsonl": [{"what": "sample", "api": "neighbor_sample", "ms": 5.0, "batches_per_second": 20.0, "sampled_edges": 100}]})
        self.assertEqual([(row["warren_rate"], row["unit"], row["comparable"]) for row in rows], [(100.0, "batches/s", True), (1000.0, "GB/s", True)])
        self.assertIn("10% more", rows[0]["answers"])


if __name__ == "__main__":
    unittest.main()
