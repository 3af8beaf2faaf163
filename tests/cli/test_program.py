# SPDX-License-Identifier: Apache-2.0
"""Usage, exit statuses, error lines, where output goes, and what is refused until it is there."""

import json
import os
import pty
import subprocess
import unittest

from support import DEVICE, MTX, PROGRAM, ProgramTest

COMMANDS = {
    "info": [],
    "convert": ["kron:6", "out.wgr"],
    "stats": ["kron:6"],
    "partition": ["kron:6"],
    "bfs": ["kron:6"],
    "sssp": ["kron:6", "--weights", "uniform:1:9"],
    "cc": ["kron:6"],
    "bc": ["kron:6"],
    "core": ["kron:6"],
    "triangles": ["kron:6", "--symmetrize"],
    "pagerank": ["kron:6"],
    "gather": ["--rows", "50", "--count", "20", "--k", "3"],
}


class Help(ProgramTest):
    def test_lists_the_commands(self):
        out = self.succeed("--help").out
        for command in COMMANDS:
            self.assertIn(f"  {command} ", out)

    def test_shows_an_example_for_every_command(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertRegex(self.succeed(command, "--help").out, rf"Example:\n  warren {command} ")

    def test_version(self):
        self.assertRegex(self.succeed("--version", device=False).out, r"\Awarren \d+\.\d+\.\d+\n\Z")


class Usage(ProgramTest):
    def test_no_command(self):
        self.must_fail(2, device=False, says="warren --help")

    def test_unknown_command(self):
        self.must_fail(2, "frobnicate", device=False, says="frobnicate")

    def test_unknown_option(self):
        for command, arguments in COMMANDS.items():
            with self.subTest(command):
                self.must_fail(2, command, *arguments, "--frobnicate", says=["--frobnicate", f"warren {command} --help"])

    def test_mistyped_names_get_the_nearest(self):
        for command, arguments in COMMANDS.items():
            with self.subTest(command):
                self.must_fail(2, command, *arguments, "--deivces", 2, says='did you mean "--devices"?')
                self.must_fail(2, command + "x", device=False, says=f'did you mean "{command}"?')
        meant = ((["train", "debian", "--modle", "gat"], "--model"), (["train", "debian", "--epoch=5"], "--epochs"),
                 (["bfs", "kron:6", "--mode", "asnyc"], "async"), (["train", "debian", "--model", "gta"], "gat"),
                 (["train", "debian", "--optimizer", "adan"], "adam"), (["stats", "debain"], "debian"), (["train", "debain"], "debian"),
                 (["stats", "comunity:100,4"], "community:"), (["partition", "kron:6", "--parts", 2, "--method", "rabit"], "rabbit"))
        for arguments, name in meant:
            with self.subTest(arguments):
                self.must_fail(2, *arguments, says=f'did you mean "{name}"?')
        self.must_fail(2, "bench", "smpm", "kron:6", device=False, says='did you mean "spmm"?')
        self.assertNotIn("did you mean", self.must_fail(2, "stats", "kron:6", "--frobnicate").err)

    def test_missing_graph(self):
        for command in ("stats", "convert", "partition", "bfs", "pagerank"):
            with self.subTest(command):
                self.must_fail(2, command)

    def test_missing_values_and_bad_numbers(self):
        for option in ("--devices", "--threads", "--seed", "--repeat"):
            for value in ("", "x", "1.5", "99999999999999999999999"):
                with self.subTest(option=option, value=value):
                    self.must_fail(2, "stats", "kron:6", option, value, says=option)
            self.must_fail(2, "stats", "kron:6", option, says=option)

    def test_numbers_out_of_range(self):
        for option, value in (("--devices", 0), ("--devices", -1), ("--devices", 33), ("--threads", -1),
                              ("--repeat", 0), ("--seed", -1)):
            with self.subTest(option=option, value=value):
                self.must_fail(2, "stats", "kron:6", option, value, says=str(value))

    def test_unknown_device(self):
        self.must_fail(2, "stats", "kron:6", "--device", "tpu", says=["tpu", "auto, cpu, cuda"])

    def test_quiet_excludes_verbose(self):
        self.must_fail(2, "stats", "kron:6", "--quiet", "--verbose")

    def test_more_gpus_than_there_are(self):
        self.must_fail(2, "stats", "kron:6", "--device", "cuda", "--devices", "32")

    def test_a_launchers_single_process(self):
        """Of several, test_processes.py has the tests."""
        for size in ("1", "2"):  # A size without a rank is nobody's.
            self.succeed("stats", "kron:6", environment={"OMPI_COMM_WORLD_SIZE": size})


class NotThereYet(ProgramTest):
    def test_values(self):
        self.must_fail(2, "cc", "kron:6", "--mode", "async", says=["--mode", "async", "not there yet"])

    def test_unknown_values(self):
        self.must_fail(2, "bfs", "kron:6", "--mode", "fast", says=["fast", "auto, sync, async"])
        self.must_fail(2, "bfs", "kron:6", "--edges", "moon", says=["moon", "device"])
        self.must_fail(2, "partition", "kron:6", "--method", "luck", says=["luck", "ranges, random"])
        self.must_fail(2, "gather", "--placement", "moon", says=["moon", "device, host"])


class Output(ProgramTest):
    def test_every_command_takes_every_common_option(self):
        for command, arguments in COMMANDS.items():
            with self.subTest(command):
                self.succeed(command, *arguments, "--devices", 1, "--threads", 2, "--share-devices", "--seed", 3,
                             "--deterministic", "--repeat", 2, "--trace", "t.json", "--json", "r.json", "--quiet")
                self.assertIn("traceEvents", json.loads((self.folder / "t.json").read_text()))
                result = json.loads((self.folder / "r.json").read_text())
                self.assertEqual(result["command"], command)

    def test_json_on_standard_output_is_alone(self):
        for command, arguments in COMMANDS.items():
            with self.subTest(command):
                self.assertEqual(self.succeed_json(command, *arguments)["command"], command)

    def test_json_in_a_file_leaves_the_text(self):
        for command, arguments in COMMANDS.items():
            with self.subTest(command):
                out = self.succeed(command, *arguments, "--json", "r.json").out
                self.assertEqual(json.loads((self.folder / "r.json").read_text())["command"], command)
                self.assertGreater(len(out.splitlines()), 1)
                self.assertLess(max(map(len, out.splitlines())), 110)
                self.assertNotIn("{", out)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.succeed("stats", "kron:6", "--quiet").out, "")

    def test_verbose_says_more_on_standard_error(self):
        result = self.run_program("stats", "kron:6", "--verbose", "--json", "-")
        self.assertEqual(result.status, 0)
        self.assertIn("kron:6: loaded in", result.err)
        self.assertEqual(result.json["command"], "stats")

    def test_repeat_gives_as_many_seconds(self):
        for command, arguments in COMMANDS.items():
            if command != "info":
                with self.subTest(command):
                    self.check_common(self.succeed_json(command, *arguments, "--repeat", 3), command, runs=3)

    def test_trace_has_spans(self):
        self.succeed("bfs", "kron:8", "--devices", 2, "--trace", "t.json")
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = {event["name"] for event in events}
        self.assertLessEqual({"load graph", "bfs"}, names)
        self.assertEqual({event["tid"] for event in events if event["name"] == "bfs"}, {0, 1})

    def test_failure_leaves_no_json(self):
        self.must_fail(2, "bfs", "kron:6", "--source", "64", "--json", "r.json")
        self.assertEqual(os.listdir(self.folder), [])

    def test_json_replaces_a_file_and_leaves_nothing_beside_it(self):
        self.file("r.json", "old")
        self.succeed("stats", "kron:6", "--json", "r.json")
        self.assertEqual(os.listdir(self.folder), ["r.json"])
        json.loads((self.folder / "r.json").read_text())

    def test_json_to_what_is_no_regular_file(self):
        self.succeed("stats", "kron:6", "--json", "/dev/null")

    def test_places_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        cases = [[command, *arguments, option, path]
                 for command, arguments in COMMANDS.items() for option in ("--json", "--trace")
                 for path in ("missing/r.json", "folder")]
        cases += [[command, "kron:6", "--output", path] for command in ("bfs", "pagerank")
                  for path in ("missing/r.txt", "folder")]
        cases += [["convert", "kron:6", path] for path in ("missing/r.wgr",)]
        for case in cases:
            with self.subTest(case):
                self.must_fail(2, *case, says=case[-1])
        self.assertFalse((self.folder / "out.wgr").exists())

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            process = subprocess.run([PROGRAM, "stats", "kron:6", "--device", DEVICE], stdout=full,
                                     stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, r"\Awarren: error: standard output [^\n]+\n\Z")

    def test_progress_shows_on_a_terminal_alone(self):
        for scale in range(18, 24):  # Until one takes long enough on this machine.
            command = ["stats", f"kron:{scale}", "--threads", "1", "--device", DEVICE]
            seen = self.on_terminal(command)
            if seen:
                break
        self.assertIn(f"drawing kron:{scale} ... ", seen)
        self.assertTrue(seen.endswith("\r\x1b[K"))
        self.assertEqual(self.succeed(*command).err, "")

    def on_terminal(self, arguments):
        """What the program writes to standard error where that is a terminal."""
        terminal, end = pty.openpty()
        seen = b""
        with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=end) as process:
            os.close(end)
            while piece := self.read_terminal(terminal):
                seen += piece
        os.close(terminal)
        self.assertEqual(process.returncode, 0)
        return seen.decode()

    @staticmethod
    def read_terminal(terminal):
        try:
            return os.read(terminal, 4096)
        except OSError:  # The other end is closed.
            return b""


class Input(ProgramTest):
    def test_names_that_are_nothing(self):
        self.must_fail(2, "stats", "frobnicate", says=["frobnicate", "kron:SCALE", "debian"])
        self.must_fail(2, "stats", "missing.mtx", says=["missing.mtx", "no such file"])
        self.must_fail(2, "stats", "missing/graph", says="no such file")

    def test_a_folder_that_is_no_dataset(self):
        (self.folder / "folder").mkdir()
        self.must_fail(2, "stats", "folder", says=["folder", "graph.mtx"])

    def test_a_file_of_no_format(self):
        self.file("graph.png", "?")
        self.must_fail(2, "stats", "graph.png", says="graph.png")

    def test_a_broken_file_is_named_with_its_line(self):
        self.file("a.mtx", MTX.replace("2 3", "2 9"))
        self.must_fail(2, "stats", "a.mtx", says=["a.mtx", "4"])
        self.file("b.wel", "0 1 5\n1 2\n")
        self.must_fail(2, "stats", "b.wel", says=["b.wel", "2"])

    def test_malformed_generators(self):
        for generator in ("kron:", "kron:x", "kron:99", "urand:4,-1", "grid:3", "grid:0x3", "community:10"):
            with self.subTest(generator):
                self.must_fail(2, "stats", generator, says=generator.split(":", maxsplit=1)[0])


if __name__ == "__main__":
    unittest.main()
