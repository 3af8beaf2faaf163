# SPDX-License-Identifier: Apache-2.0
"""bench: its suites, fields and refusals."""

import json
import os
import unittest
from pathlib import Path

from support import ProgramTest

GRAPH = ("kron:10", "--symmetrize", "--drop-self-loops")


class Bench(ProgramTest):
    def test_emogi(self):
        result = self.succeed_json("bench", "emogi", *GRAPH, "--sources", 3, "--out", "emogi.json")
        self.assertEqual((result["command"], result["suite"], result["sources"]), ("bench", "emogi", 3))
        self.assertEqual(result["dataset_bytes"], 4 * result["edges"])
        rows = {row["pattern"]: row for row in result["results"]}
        managed = [] if "left_out" in result else ["managed"]
        self.assertEqual(list(rows), ["strided", "merged", "merged and aligned", *managed, "push in address order", "direction-optimising"])
        for row in rows.values():
            self.assertEqual(len(row["seconds"]), 3)
            self.assertGreater(row["bytes_read"], 0)
            self.assertAlmostEqual(row["amplification"] * result["dataset_bytes"], row["bytes_read"], places=0)
        for name in ("strided", "merged", "merged and aligned"):
            self.assertAlmostEqual(sum(rows[name]["requests_by_bytes"].values()), rows[name]["requests"], places=3)
        self.assertLess(rows["direction-optimising"]["bytes_read"], rows["push in address order"]["bytes_read"])
        written = json.loads((self.folder / "emogi.json").read_text())
        self.assertEqual(written["results"], result["results"])

    def test_emogi_has_no_managed_memory_on_the_cpu(self):
        command = ("bench", "emogi", *GRAPH, "--sources", 1, "--device", "cpu")
        self.assertEqual(self.succeed_json(*command)["left_out"], {"managed": "cpu has no managed memory"})
        self.assertIn("managed: left out: cpu has no managed memory\n", self.succeed(*command).out)

    def test_lookup(self):
        result = self.succeed_json("bench", "lookup", "--rows", 300, "--k", 9, "--batch", 40, "--bags", "1,12", "--skews", "0,2", "--devices", 2,
                                   "--repeat", 2, "--verify", "--out", "lookup.json")
        self.assertEqual((result["command"], result["suite"]), ("bench", "lookup"))
        cases = [(row["skew"], row["bag"], row["strategy"]) for row in result["results"]]
        self.assertEqual(cases, [(skew, bag, name) for skew in (0, 2) for bag in (1, 12) for name in ("pull", "owner-sum", "messages")])
        for row in result["results"]:
            self.assertEqual(len(row["seconds"]), 2)
            self.assertIs(row["verified"], True)
            self.assertTrue(row["command"].startswith("warren lookup --rows 300 --k 9"))
            self.assertAlmostEqual(row["bytes_per_second"] / 2, row["bytes_per_second_per_rank"], places=3)
        self.assertEqual(json.loads((self.folder / "lookup.json").read_text())["results"], result["results"])
        self.must_fail(2, "bench", "lookup", "--strategies", "pull,moon", says=["moon"])
        self.must_fail(2, "bench", "lookup", "--bags", "0", says=["--bags"])

    def test_a_verified_row_tells_no_fault(self):
        """Of bench_traverse, which the presets without sanitizers build."""
        program = Path(os.environ.get("WARREN_BENCH_FOLDER", "")) / "bench_traverse"
        if not program.is_file():
            self.skipTest(f"{program} is not built")
        works = {"bfs": ["bfs"], "sssp": ["sssp"], "cc": ["cc"], "pagerank": ["pagerank"], "both": ["bfs", "pagerank"]}
        for work, expected in works.items():
            options = ("--graph", "grid:20x20", "--work", work, "--repeat", 1, "--devices", 2, "--verify", "--out", "rows.json")
            result = self.run_program(*options, program=str(program))
            self.assertEqual(result.status, 0, result.err)
            self.assertIn("verified", result.out)
            self.assertNotIn("WRONG", result.out)
            rows = json.loads((self.folder / "rows.json").read_text().splitlines()[-1])["results"]
            self.assertEqual([row["work"] for row in rows], expected)
            for row in rows:
                self.assertIs(row["verified"], True, row)
                self.assertNotIn("fault", row)

    def test_refusals(self):
        self.must_fail(2, "bench", says=["subcommand"])
        self.must_fail(2, "bench", "moon")
        self.must_fail(2, "bench", "emogi", *GRAPH, "--devices", 2, says=["--devices"])
        self.must_fail(2, "bench", "emogi", *GRAPH, "--out", "none/emogi.json", says=["none"])


if __name__ == "__main__":
    unittest.main()
