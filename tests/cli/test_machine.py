# SPDX-License-Identifier: Apache-2.0
"""info and gather: what the machine is and does."""

import unittest

from support import DEVICE, ProgramTest


class Info(ProgramTest):
    def test_fields(self):
        result = self.succeed_json("info")
        self.check_fields(result, {"command": str, "device": str, "devices": list, "links": list, "host_links": list,
                                   "versions": dict, "seconds": list})
        self.assertGreaterEqual(len(result["devices"]), 1)
        for device in result["devices"]:
            self.check_fields(device, {"name": str, "memory": int})
            self.assertGreater(device["memory"], 1 << 28)
        self.assertEqual(len(result["links"]), len(result["devices"]))
        for row in [*result["links"], result["host_links"]]:
            self.assertEqual(len(row), len(result["devices"]))
            for link in row:
                self.check_fields(link, {"gigabytes_per_second": float, "microseconds": float})
                self.assertGreater(link["gigabytes_per_second"], 0.0)
        self.check_fields(result["versions"], {"warren": str, "compiler": str})

    def test_text(self):
        out = self.succeed("info").out
        for text in ("memory", "warren", "compiler", "GB/s"):
            self.assertIn(text, out)

    def test_why_there_is_no_gpu(self):
        result = self.succeed_json("info", device=False)
        if result["device"] == "cpu":
            self.assertRegex(result["no_gpu"], r"\A[^\n]+\Z")
            message = self.must_fail(2, "info", "--device", "cuda").err
            self.assertIn(result["no_gpu"], message)

    def test_a_limit_that_is_no_capability(self):
        self.must_fail(2, "info", environment={"WARREN_LIMIT_CAPABILITY": "ampere"}, says=["WARREN_LIMIT_CAPABILITY", "ampere", "80"])
        self.succeed("info", environment={"WARREN_LIMIT_CAPABILITY": "8.0"})


class Check(ProgramTest):
    def verdicts(self, result):
        return {check["name"]: check["verdict"] for check in result["checks"]}

    def test_everything_is_right(self):
        result = self.succeed_json("info", "--check")
        verdicts = self.verdicts(result)
        self.assertEqual(set(verdicts.values()), {"passed"}, result["checks"])
        self.assertIs(result["verified"], True)
        for name in ("bfs", "bfs-async", "sssp", "components", "pagerank", "spmm", "lookup", "sample", "train", "barriers"):
            self.assertIn(f"{name}, 1 rank", verdicts)
            if DEVICE == "cpu":
                self.assertIn(f"{name}, 2 ranks", verdicts)
        self.assertLess(sum(check["seconds"] for check in result["checks"]), 60)

    def test_a_fault_is_told(self):
        for fault, says in (("memory", "should be 0x"), ("core", "spoilt")):
            with self.subTest(fault=fault):
                spoilt = {"WARREN_CHECK_FAULT": fault}
                done = self.run_program("info", "--check", "--devices", 1, "--json", "-", environment=spoilt)
                self.assertEqual((done.status, done.err), (4, ""))
                failed = [check for check in done.json["checks"] if check["verdict"] != "passed"]
                self.assertTrue(failed)
                for check in failed:
                    self.assertEqual((check["name"].split(",")[0], check["verdict"]), (fault, "failed"))
                    self.assertIn(says, check["message"])
                self.assertIs(done.json["verified"], False)
        text = self.run_program("info", "--check", "--devices", 1, environment={"WARREN_CHECK_FAULT": "memory"}).out
        self.assertRegex(text, r"\nfailed +memory, [^\n]+ should be 0x")
        self.assertRegex(text, r"\n\d+ checks passed, [1-9]\d* failed, 0 unavailable\n\Z")
        self.must_fail(2, "info", "--check", environment={"WARREN_CHECK_FAULT": "bsf"}, says=["WARREN_CHECK_FAULT", "bsf", "bfs"])

    def test_ranks_apart(self):
        """What needs a path between the ranks' memories says so; what publishes, or has its tasks carried, does without."""
        result = self.succeed_json("info", "--check", "--no-peer", "--devices", 3)
        verdicts = self.verdicts(result)
        self.assertEqual({verdict for name, verdict in verdicts.items() if name.endswith("1 rank")}, {"passed"})
        for name in ("bfs", "bfs-async", "sssp", "sssp-async", "components", "pagerank", "spmm", "sddmm"):
            self.assertEqual(verdicts[f"{name}, 3 ranks"], "passed")
        self.assertEqual(verdicts["pagerank-async, 3 ranks"], "unavailable")
        for check in result["checks"]:
            if check["verdict"] == "unavailable":
                self.assertIn("cannot address the", check["message"])
        self.assertNotIn("failed", verdicts.values(), result["checks"])


class Slices(ProgramTest):
    @unittest.skipIf(DEVICE == "cpu", "kernels of GPUs run in slices")
    def test_results_are_the_same(self):
        """Kernels that leave after each step, and after some."""
        for command in (("bfs", "grid:200x200"), ("bfs", "grid:200x200", "--mode", "async"), ("sssp", "kron:10", "--weights", "uniform:1:9"),
                        ("sssp", "grid:60x60", "--weights", "uniform:1:9", "--mode", "async"), ("cc", "kron:10"), ("pagerank", "kron:10"),
                        ("bc", "kron:8"), ("core", "kron:10", "--symmetrize"), ("triangles", "kron:10", "--symmetrize")):
            for devices in (1, 2):
                with self.subTest(command=command, devices=devices):
                    options = [*command, "--verify", "--devices", devices, "--side-by-side"]
                    plain = self.succeed_json(*options)
                    for slice_ms in ("0.001", "1"):
                        sliced = self.succeed_json(*options, "--slice-ms", slice_ms)
                        for field in ("reached", "sum_depth", "sum_distance", "components", "triangles", "max_core"):
                            self.assertEqual(sliced.get(field), plain.get(field))
                        self.assertIs(sliced["verified"], True)

    def test_numbers(self):
        for number in ("0", "-1", "60001", "nan", "1s"):
            self.must_fail(2, "bfs", "kron:6", "--slice-ms", number, says=["--slice-ms", number])


class Gather(ProgramTest):
    SMALL = ("--rows", 1000, "--k", 7, "--count", 5000)

    def gather(self, *arguments):
        return self.succeed_json("gather", *arguments)

    def test_fields(self):
        result = self.gather(*self.SMALL)
        self.check_common(result, "gather")
        self.check_fields(result, {"bytes_per_second": float, "fraction_of_limit": float, "rows": int, "k": int,
                                   "count": int, "placement": str, "setup_seconds": float, "verified": type(None)})
        self.assertAlmostEqual(result["bytes_per_second"] * result["seconds"][0], 5000 * 7 * 4, delta=1)
        self.assertGreater(result["fraction_of_limit"], 0.0)

    def test_every_element_on_every_team(self):
        for placement in ("device", "host", "cached"):
            for devices in (1, 2, 3, 4):
                with self.subTest(placement=placement, devices=devices):
                    result = self.gather(*self.SMALL, "--placement", placement, "--devices", devices, "--verify")
                    self.assertIs(result["verified"], True)
                    self.assertEqual(result["placement"], placement)

    def test_cached(self):
        result = self.gather(*self.SMALL, "--placement", "cached", "--cached", 100, "--skew", 1.1, "--verify", "--devices", 3)
        self.check_fields(result, {"cached_rows": int, "cached_on": str, "hit_rate": float})
        self.assertEqual(result["cached_rows"], 100)
        self.assertIn(result["cached_on"], ("spread", "replicated"))
        # A share of H_100 / H_1000 of a Zipf stream, as the integral has it: 0.70.
        self.assertAlmostEqual(result["hit_rate"], 0.74, delta=0.06)
        self.assertEqual(self.gather(*self.SMALL, "--placement", "cached", "--cached", 0)["hit_rate"], 0.0)
        self.must_fail(2, "gather", "--cached", 10, says="--placement cached")
        self.must_fail(2, "gather", "--skew", -1, says="--skew")

    def test_orders(self):
        for placement in ("host", "cached"):
            for order, ran in (("auto", "asked"), ("asked", "asked"), ("sorted", "sorted")):
                with self.subTest(placement=placement, order=order):
                    result = self.gather(*self.SMALL, "--placement", placement, "--order", order, "--devices", 2, "--verify")
                    self.assertIs(result["verified"], True)
                    self.assertEqual(result["order"], ran)
        self.assertNotIn("order", self.gather(*self.SMALL))
        self.must_fail(2, "gather", "--order", "sorted", says="--placement host")
        self.must_fail(2, "gather", "--placement", "host", "--order", "backwards", says="--order")

    def test_messages(self):
        for devices in (1, 3):
            result = self.gather(*self.SMALL, "--strategy", "messages", "--devices", devices, "--verify")
            self.assertIs(result["verified"], True)
            self.assertEqual(set(result["breakdown"]), {"bucket", "exchange_rows", "gather", "exchange_data", "reorder"})
        self.must_fail(2, "gather", "--strategy", "messages", "--placement", "host", says="--strategy")

    def test_fewer_rows_than_ranks(self):
        self.assertIs(self.gather("--rows", 2, "--count", 50, "--devices", 4, "--verify")["verified"], True)

    def test_numbers_out_of_range(self):
        for option in ("--rows", "--k", "--count"):
            for value in ("0", "-1", "x"):
                with self.subTest(option=option, value=value):
                    self.must_fail(2, "gather", option, value, says=option)
        self.must_fail(2, "gather", "--rows", 1 << 47, "--k", 1 << 20, says="--rows")

    def test_more_than_the_memory(self):
        self.must_fail(3, "gather", "--rows", 100_000_000_000, "--k", 1000, says=["400000000000000 bytes", "free", "--rows"])


if __name__ == "__main__":
    unittest.main()
