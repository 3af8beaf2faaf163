# SPDX-License-Identifier: Apache-2.0
"""Every JSON says which program made it, on which machine, and when."""

import datetime
import json
import os
import subprocess
import unittest
from pathlib import Path

from support import PROGRAM, ProgramTest

COMMIT = r"\A(unknown|[0-9a-f]{12})(-dirty)?\Z"
BENCHES = os.environ.get("WARREN_BENCH_FOLDER")
# A short run of each benchmark that needs no GPU and no input of its own.
SMALL_BENCHES = {
    "bench_traverse": ["--graph", "grid:8x8", "--work", "bfs", "--repeat", "1"],
    "bench_gather": ["--table-bytes", "65536", "--rows", "64", "--repeat", "1"],
    "bench_links": ["--device", "cpu"],
    "bench_build_graph": ["grid:8x8", "--repeat", "1"],
    "bench_queue": ["--device", "cpu", "--low", "4", "--high", "4", "--repeat", "1"],
}


class Stamp(ProgramTest):
    def check_stamp(self, result):
        self.check_fields(result, {"warren": dict, "machine": dict, "date": str})
        self.check_fields(result["warren"], {"version": str, "commit": str})
        self.assertRegex(result["warren"]["commit"], COMMIT)
        machine = result["machine"]
        self.check_fields(machine, {"cpu": str, "threads": int})
        self.assertEqual("gpus" in machine, result.get("device") == "cuda")
        if "gpus" in machine:
            self.assertGreater(len(machine["gpus"]), 0)
            self.check_fields(machine, {"driver": str, "cuda_runtime": str})
        self.assertTrue(result["date"].endswith("Z"))
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(result["date"].replace("Z", "+00:00"))
        self.assertLess(abs(age.total_seconds()), 900)

    def test_every_command(self):
        graph = "grid:6x5"
        dataset = ("community:1000,5", "--features", 8, "--classes", 3)
        commands = [
            ("info",),
            ("convert", graph, "graph.wgr"),
            ("stats", graph),
            ("partition", graph, "--parts", 2),
            ("bfs", graph),
            ("sssp", graph, "--weights", "uniform:1:9"),
            ("cc", graph),
            ("pagerank", graph),
            ("gather", "--rows", 10, "--k", 2, "--count", 5),
            ("spmm", graph, "--k", 2),
            ("sddmm", graph, "--k", 2),
            ("lookup", "--rows", 100, "--k", 2, "--batch", 4),
            ("train", *dataset, "--hidden", 4, "--epochs", 1, "--checkpoint", "model"),
            ("predict", *dataset, "--checkpoint", "model"),
            ("sample", graph, "--fanout", 2, "--batch", 4, "--batches", 1),
            ("bench", "emogi", graph, "--sources", 1),
            ("bench", "spmm", graph, "--ks", 2),
            ("bench", "lookup", "--rows", 100, "--k", 2, "--batch", 4, "--bags", 2),
        ]
        for command in commands:
            with self.subTest(command=command):
                self.check_stamp(self.run_to_json(*command))

    def run_to_json(self, *command):
        """Whatever is told on standard error."""
        result = self.run_program(*command, "--json", "out.json")
        self.assertEqual(result.status, 0, result.err)
        return json.loads((self.folder / "out.json").read_text(encoding="utf-8"))

    def test_the_file_of_a_suite(self):
        self.run_to_json("bench", "spmm", "grid:6x5", "--ks", 2, "--out", "suite.json")
        self.check_stamp(json.loads((self.folder / "suite.json").read_text(encoding="utf-8")))

    def test_info_names_the_commit(self):
        self.assertEqual(self.succeed_json("info")["versions"]["commit"], self.succeed_json("info")["warren"]["commit"])

    def test_one_machine_whatever_the_ranks(self):
        one, three = (self.run_to_json("bfs", "grid:6x5", "--devices", devices)["machine"] for devices in (1, 3))
        self.assertEqual(one["cpu"], three["cpu"])

    @unittest.skipUnless(BENCHES and Path(PROGRAM).exists(), "the benchmarks are not built")
    def test_benchmarks(self):
        ran = 0
        for name, arguments in SMALL_BENCHES.items():
            program = Path(BENCHES) / name
            if not program.exists():
                continue
            with self.subTest(program=name):
                out = self.folder / f"{name}.json"
                process = subprocess.run([program, *arguments, "--out", out], capture_output=True, text=True, timeout=600, check=False)
                self.assertEqual(process.returncode, 0, process.stderr)
                result = json.loads(out.read_text(encoding="utf-8"))
                self.check_stamp({**result, "device": "cpu"})
                self.assertEqual(result["command"], " ".join([name, *arguments, "--out", str(out)]))
                self.assertIsInstance(result["results"], list)
                ran += 1
        if ran == 0:
            self.skipTest("the benchmarks are not built")


if __name__ == "__main__":
    unittest.main()
