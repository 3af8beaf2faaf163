# SPDX-License-Identifier: Apache-2.0
"""Every option of every command: it changes something, or is refused or warned of by name. The options are those that --help
lists: one without an entry in the table fails the test."""

import re
import unittest

import option_walk
from option_entries import Changes, Elsewhere, Kept, Refused, Says, Shows, Warned, Writes
from option_walk import common, graph, named, on_host
from support import DEVICE, ProgramTest

EL = ["e.el"]
WEL = ["e.wel"]
KRON = ["kron:6"]


def traversal(mode, **changed):
    entries = {
        "--mode": mode,
        "--edges": Shows(["--edges", "host"], "edges_placement", "host"),
        "--cache": Changes(["--cache", "1M"], "bytes_read", beside=["--edges", "host"], base=["kron:8", "--weights", "uniform:1:9"]),
        "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12", "--weights", "uniform:1:9"]),
        "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12", "--weights", "uniform:1:9"]),
        "--method": Shows(["--method", "random"], "method", "random"),
        "--verify": Shows(["--verify"], "verified", True),
        "--output": Writes(["--output", "o.txt"], "o.txt"),
    }
    return {**entries, **named(changed)}


def sparse(**changed):
    entries = {
        **graph(Changes(["--weights", "file"], "weighted", "sum", base=WEL)),
        "--k": Shows(["--k", "5"], "k", 5),
        "--type": Shows(["--type", "float16"], "type", "float16"),
        "--method": Shows(["--method", "random"], "method", "random"),
        "--reorder": Shows(["--reorder", "degree"], "reorder", "degree"),
        "--verify": Shows(["--verify"], "verified", True),
    }
    return {**entries, **named(changed)}


ASYNC = Shows(["--mode", "async"], "mode", "async")
SEEDED = Changes(["--seed", "5"], "edges", base=KRON)
SEARCH = ["reached", "source"]
# On GPUs it holds lists near, which no field tells.
FAR_CACHE = Warned(["--cache", "1M"], beside=["--edges", "host"]) if DEVICE == "cpu" else Shows(["--cache", "1M"], "edges_placement", "host", beside=["--edges", "host"])
TWO = ["--devices", "2"]
SAMPLE = ["--batch", "4", "--batches", "2", "--fanout", "2,2"]
GATHER = ["--rows", "90", "--count", "50", "--k", "3"]
LOOKUP = ["--rows", "90", "--batch", "8", "--bag", "4", "--k", "3"]
BENCH_LOOKUP = ["--rows", "90", "--batch", "8", "--bags", "4", "--k", "3"]
BENCH_SPMM = [*EL, "--ks", "4"]

# Command: the arguments of its runs, and an entry for every option.
TABLE = {
    "info": ([], {**on_host(["versions"]), "--repeat": Warned(["--repeat", "3"]), "--check": Elsewhere(["--check"], "test_machine.py")}),
    "convert": ([*EL, "out.wel"], {
        **on_host(["edges", "bytes"]),
        **graph(Changes(["--weights", "uniform:7:9"], "out.wel")),
        "--seed": Changes(["--seed", "5"], "edges", base=[*KRON, "out.wel"]),
        "--compress": Changes(["--compress"], "bits_per_edge", base=[*EL, "out.wgr"]),
    }),
    "stats": (EL, {**on_host(["edges", "max_degree"], seed=SEEDED), **graph(Changes(["--weights", "uniform:1:9"], "weighted"))}),
    "partition": (EL, {
        **on_host(["cut_edges"], seed=Changes(["--seed", "5"], "cut_edges", base=["grid:20x20"], beside=["--method", "random"])),
        **graph(Warned(["--weights", "uniform:1:9"])),
        "--parts": Shows(["--parts", "3"], "parts", 3),
        "--method": Shows(["--method", "random"], "method", "random"),
        "--workgroup": Shows(["--workgroup", "1"], "workgroup", 1),
    }),
    "bfs": (EL, {
        **common(SEARCH, seed=Changes(["--seed", "5"], "source", base=["grid:20x20"], beside=["--sources", "1"])),
        **graph(Warned(["--weights", "uniform:1:9"])), **traversal(ASYNC),
        "--cache": Changes(["--cache", "1M"], "bytes_read", beside=["--edges", "host"], base=["kron:8"]),
        "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12"]),
        "--source": Shows(["--source", "4"], "source", 4),
        "--sources": Changes(["--sources", "2"], "sources"),
        "--together": Changes(["--together"], "source", beside=["--sources", "2"]),
        "--depth-limit": Shows(["--depth-limit", "1"], "depth_limit", 1),
        "--target": Changes(["--target", "2"], "targets"),
    }),
    "sssp": (WEL, {
        **common(SEARCH, seed=Changes(["--seed", "5"], "source", base=["grid:20x20", "--weights", "uniform:1:1"], beside=["--sources", "1"])),
        **graph(Changes(["--weights", "uniform:100:200"], "max_distance"), Changes(["--sum-duplicates"], "max_distance", beside=["--source", "1"])),
        **traversal(ASYNC),
        **({"--cache": Warned(["--cache", "1M"], beside=["--edges", "host"])} if DEVICE == "cpu" else {}),
        "--source": Shows(["--source", "4"], "source", 4),
        "--sources": Changes(["--sources", "2"], "sources"),
        "--delta": Shows(["--delta", "17"], "delta", 17.0),
        "--cutoff": Shows(["--cutoff", "17"], "cutoff", 17.0),
        "--target": Changes(["--target", "2"], "targets"),
    }),
    "cc": (EL, {
        **common(["components", "largest"], seed=SEEDED), **graph(Warned(["--weights", "uniform:1:9"])),
        **traversal(Refused(["--mode", "async"])),
        "--cache": Changes(["--cache", "1M"], "bytes_read", beside=["--edges", "host"], base=["kron:8"]),
        "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12"]),
        "--form": Shows(["--form", "search"], "form", "search", base=["kron:6", "--symmetrize"]),
    }),
    "bc": (EL, {
        **common(["sources", "normalized"], seed=Changes(["--seed", "5"], "top", base=["grid:5x5"], beside=["--sources", "2"])),
        **graph(Warned(["--weights", "uniform:1:9"])),
        **traversal(Refused(["--mode", "async"])), "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12"]),
        "--cache": FAR_CACHE,
        "--sources": Shows(["--sources", "2"], "sources", 2),
        "--unnormalized": Shows(["--unnormalized"], "normalized", False),
    }),
    "core": (EL, {
        **common(["largest_core", "innermost"], seed=SEEDED), **graph(Warned(["--weights", "uniform:1:9"])),
        **traversal(Refused(["--mode", "async"])), "--cache": FAR_CACHE, "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12"]),
    }),
    "triangles": ([*EL, "--symmetrize"], {
        **common(["triangles"], seed=Changes(["--seed", "5"], "edges", base=["kron:6", "--symmetrize"])),
        **graph(Warned(["--weights", "uniform:1:9"])), "--symmetrize": Changes(["--symmetrize"], "status", base=["kron:6"]),
        **traversal(Refused(["--mode", "async"])), "--cache": FAR_CACHE, "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12", "--symmetrize"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12", "--symmetrize"]),
    }),
    "pagerank": (EL, {
        **common(["top", "iterations"], seed=SEEDED), **graph(Says(["--weights", "uniform:1:9"], "unweighted.*--weighted")), **traversal(ASYNC),
        "--cache": Changes(["--cache", "1M"], "bytes_read", beside=["--edges", "host"], base=["kron:8"]),
        "--device-memory": Changes(["--device-memory", "20K"], "status", base=["kron:12"]), "--host-memory": Changes(["--host-memory", "20K"], "status", base=["kron:12"]),
        "--damping": Changes(["--damping", "0.5"], "top"),
        "--tolerance": Changes(["--tolerance", "1e-12"], "iterations"),
        "--max-iterations": Changes(["--max-iterations", "2"], "iterations"),
        "--weighted": Changes(["--weighted"], "top", base=WEL),
    }),
    "gather": (GATHER, {
        **common(["rows", "count"], seed=Changes(["--seed", "5"], "hit_rate", beside=["--placement", "cached", "--skew", "1"])),
        "--rows": Shows(["--rows", "70"], "rows", 70, base=[]),
        "--k": Shows(["--k", "7"], "k", 7, base=["--rows", "90", "--count", "50"]),
        "--count": Shows(["--count", "40"], "count", 40, base=["--rows", "90"]),
        "--placement": Shows(["--placement", "host"], "placement", "host"),
        "--strategy": Shows(["--strategy", "messages"], "strategy", "messages"),
        "--order": Changes(["--order", "sorted"], "order", beside=["--placement", "host"]),
        "--cached": Shows(["--cached", "7"], "cached_rows", 7, beside=["--placement", "cached"]),
        "--skew": Shows(["--skew", "2"], "skew", 2.0),
        "--verify": Shows(["--verify"], "verified", True),
    }),
    "spmm": ([*EL, "--k", "4"], {
        **common(["sum", "sumsq"], seed=SEEDED),
        **sparse(k=Shows(["--k", "5"], "k", 5, base=EL)),
        "--strategy": Shows(["--strategy", "staged"], "strategy", "staged", beside=TWO),
        "--workgroup": Changes(["--workgroup", "1"], "rows_between_workgroups", beside=[*TWO, "--strategy", "staged"]),
        "--explain": Changes(["--explain"], "candidates", beside=[*TWO, "--strategy", "staged"]),
        "--slow": Shows(["--slow", "3"], "slow", 3, beside=[*TWO, "--strategy", "staged", "--workgroup", "1"]),
    }),
    "sddmm": ([*EL, "--k", "4"], {
        **common(["sum", "sumsq"], seed=SEEDED),
        **sparse(k=Shows(["--k", "5"], "k", 5, base=EL)),
        "--strategy": Changes(["--strategy", "staged"], "strategy"),
    }),
    "lookup": (LOOKUP, {
        **common(["rows", "batch"], seed=Changes(["--seed", "5"], "rows_moved", beside=[*TWO, "--batch", "60"], base=["--rows", "90", "--k", "3"])),
        "--rows": Shows(["--rows", "70"], "rows", 70, base=[]),
        "--k": Shows(["--k", "7"], "k", 7, base=["--rows", "90"]),
        "--batch": Shows(["--batch", "6"], "batch", 6, base=["--rows", "90"]),
        "--bag": Shows(["--bag", "6"], "bag", 6, base=["--rows", "90"]),
        "--skew": Shows(["--skew", "2"], "skew", 2.0),
        "--strategy": Shows(["--strategy", "messages"], "strategy", "messages"),
        "--type": Shows(["--type", "float16"], "type", "float16"),
        "--features": Shows(["--features", "2"], "features", 2, beside=["--interact"]),
        "--interact": Changes(["--interact"], "status", beside=["--features", "2"]),
        "--verify": Shows(["--verify"], "verified", True),
    }),
    "sample": ([*EL, *SAMPLE], {
        **common(["sampled_edges", "digest"], deterministic=Kept(["--deterministic"], "digest", beside=["--verify"]),
                 seed=Changes(["--seed", "5"], "digest", beside=["--verify"])),
        **graph(Warned(["--weights", "uniform:1:9"])),
        "--fanout": Shows(["--fanout", "1"], "fanout", [1], base=[*EL, "--batch", "4"]),
        "--batch": Shows(["--batch", "3"], "batch", 3, base=EL),
        "--batches": Shows(["--batches", "3"], "batches", 3, base=[*EL, "--batch", "4"]),
        "--in-flight": Shows(["--in-flight", "2"], "in_flight", 2),
        "--table": Shows(["--table", "hash"], "table", "hash"),
        "--replace": Shows(["--replace"], "replace", True),
        "--weighted": Shows(["--weighted"], "weighted", True, base=[*WEL, *SAMPLE]),
        "--labor": Shows(["--labor"], "labor", True),
        "--layer-dependency": Shows(["--layer-dependency"], "layer_dependency", True, beside=["--labor"]),
        "--disjoint": Shows(["--disjoint"], "disjoint", True),
        "--temporal-last": Shows(["--temporal-last", "--temporal", "--times", "times.txt", "--seed-times", "9"], "temporal_last", True),
        "--temporal": Shows(["--temporal", "--times", "times.txt", "--seed-times", "9"], "temporal", True),
        "--times": Refused(["--times", "times.txt"]),
        "--seed-times": Refused(["--seed-times", "9"]),
        "--edges": Shows(["--edges", "host"], "edges_placement", "host"),
        "--method": Shows(["--method", "random"], "method", "random"),
        "--verify": Shows(["--verify"], "verified", True),
    }),
    "fetch": (["cora", "--from", "file:///nowhere"], {
        **{name: Elsewhere([name], "test_program.py") for name in ("--json", "--trace", "--quiet", "--verbose", "--deterministic")},
        **{name: Warned([name, value]) for name, value in (("--device", DEVICE), ("--devices", "2"), ("--threads", "2"), ("--seed", "5"),
                                                           ("--repeat", "3"))},
        "--share-devices": Warned(["--share-devices"]), "--side-by-side": Warned(["--side-by-side"]), "--no-peer": Warned(["--no-peer"]),
        "--slice-ms": Warned(["--slice-ms", "5"]),
        "--from": Elsewhere(["--from"], "test_fetch.py"), "--again": Elsewhere(["--again"], "test_fetch.py"),
    }),
    "bench emogi": ([*EL, "--sources", "2"], {
        **common(["edges", "dataset_bytes"], devices=Refused(["--devices", "2"]), repeat=Warned(["--repeat", "3"]),
                 seed=Changes(["--seed", "5"], "edges", base=[*KRON, "--sources", "2"])),
        **graph(Warned(["--weights", "uniform:1:9"])),
        "--sources": Shows(["--sources", "3"], "sources", 3, base=EL),
        "--out": Writes(["--out", "b.json"], "b.json"),
    }),
    "bench spmm": (BENCH_SPMM, {
        **common(["edges"], seed=SEEDED),
        **graph(Changes(["--weights", "file"], "weighted", base=[*WEL, "--ks", "4"])),
        "--ks": Changes(["--ks", "5"], "commands", base=EL),
        "--types": Changes(["--types", "float16"], "commands"),
        "--strategies": Changes(["--strategies", "staged"], "commands"),
        "--method": Changes(["--method", "random"], "commands"),
        "--reorder": Changes(["--reorder", "degree"], "commands"),
        "--workgroup": Shows(["--workgroup", "1"], "workgroup", 1, beside=[*TWO, "--strategies", "staged"]),
        "--slow": Shows(["--slow", "3"], "slow", 3, beside=[*TWO, "--strategies", "staged", "--workgroup", "1"]),
        "--verify": Changes(["--verify"], "errors"),
        "--out": Writes(["--out", "b.json"], "b.json"),
    }),
    "bench lookup": (BENCH_LOOKUP, {
        **common(["commands"], seed=Changes(["--seed", "5"], "moved", beside=[*TWO, "--batch", "60"], base=["--rows", "90", "--k", "3"])),
        "--rows": Changes(["--rows", "70"], "commands", base=["--k", "3"]),
        "--k": Changes(["--k", "7"], "commands", base=["--rows", "90"]),
        "--batch": Changes(["--batch", "6"], "commands", base=["--rows", "90"]),
        "--bags": Changes(["--bags", "6"], "commands", base=["--rows", "90"]),
        "--skews": Changes(["--skews", "2"], "commands"),
        "--strategies": Changes(["--strategies", "messages"], "commands"),
        "--type": Changes(["--type", "float16"], "commands"),
        "--verify": Changes(["--verify"], "errors"),
        "--out": Writes(["--out", "b.json"], "b.json"),
    }),
}


class Options(option_walk.Walk):
    table = TABLE

    def commands(self):
        def below(*command):
            out = self.succeed(*command, "--help").out
            listed = out[out.index("Subcommands:"):].split("\n\n")[0] if "Subcommands:" in out else ""
            return re.findall(r"(?m)^  ([a-z]+) ", listed)

        names = []
        for command in below():
            names += [f"{command} {suite}" for suite in below(command)] or [command]
        return names

    def test_every_command_has_a_table(self):
        self.assertEqual(set(self.commands()), set(TABLE) | {"train", "predict"})  # test_train_options.py has those.

    def test_an_option_without_an_entry_would_be_seen(self):
        self.assertIn("--damping", self.options_of("pagerank"))
        self.assertNotIn("--damping", self.options_of("bfs"))


class Numbers(ProgramTest):
    """Numbers are finite, in their range, and decimal."""

    def test_what_is_no_number_of_the_range(self):
        for command, option in (("pagerank", "--damping"), ("pagerank", "--tolerance"), ("sssp", "--delta"), ("gather", "--skew"),
                                ("lookup", "--skew"), ("bench lookup", "--skews"), ("train", "--lr"), ("train", "--weight-decay"),
                                ("train", "--dropout"), ("train", "--clip"), ("train", "--cached")):
            for value in ("nan", "-nan", "inf", "-inf", "-1", "", "x", "1e999"):
                with self.subTest(command=command, option=option, value=value):
                    graph_of = [] if command in ("gather", "lookup", "bench lookup") else ["kron:6"]
                    self.must_fail(2, *command.split(), *graph_of, f"{option}={value}", says=option)

    def test_devices(self):
        for value in ("0", "-1", "33", "x", "autos", "AUTO", "1.5", ""):
            with self.subTest(value=value):
                self.must_fail(2, "bfs", "kron:6", f"--devices={value}", says=["--devices", "auto"])
        self.assertEqual(self.succeed_json("bfs", "kron:6", "--devices", "2" if DEVICE == "cpu" else "1")["devices_reason"], "asked for")
        for command in (["bfs"], ["sssp", "--weights", "uniform:1:9"], ["cc"], ["pagerank"], ["spmm"]):
            given, left_out = (self.succeed_json(command[0], "kron:6", *command[1:], *more) for more in (["--devices", "auto"], []))
            self.assertEqual((given["devices"], given["devices_reason"]), (1, left_out["devices_reason"]), command)
            self.assertNotEqual(given["devices_reason"], "asked for")

    def test_bytes(self):
        for option in ("--cache", "--device-memory", "--host-memory"):
            for value in ("-1", "nan", "1.5K", "x", "", "16E", "99999999999999999999", "5 apples"):
                with self.subTest(option=option, value=value):
                    self.must_fail(2, "bfs", "kron:6", "--edges", "host", f"{option}={value}", says=option)
            for value in ("67108864", "65536K", "64m", "64MB", "64MiB"):
                self.succeed("bfs", "kron:6", "--edges", "host", option, value)

    def test_digits_behind_a_zero_are_decimal(self):
        self.assertEqual(self.succeed_json("spmm", "kron:4", "--k", "010")["k"], 10)
        self.assertEqual(self.succeed_json("partition", "kron:4", "--parts", "011")["parts"], 11)


class Caches(ProgramTest):
    """--cache where lists are cached nowhere, or nobody counts what that saves."""

    def test_lists_that_none_holds(self):
        for command in (["bfs", "kron:6"], ["cc", "kron:6"], ["pagerank", "kron:6"], ["sssp", "kron:6", "--weights", "uniform:1:9"]):
            with self.subTest(command):
                self.must_fail(2, *command, "--edges", "compressed-host", "--cache", "1M", says=["--cache", "--edges host"])
                self.succeed(*command, "--edges", "compressed-host", "--cache", 0)

    @unittest.skipIf(DEVICE != "cpu", "a GPU has memory of its own")
    def test_one_memory(self):
        for command in (["bfs", "kron:6", "--mode", "async"], ["pagerank", "kron:6", "--mode", "async"], ["sssp", "kron:6", "--weights", "uniform:1:9"],
                        ["sssp", "kron:6", "--weights", "uniform:1:9", "--mode", "async"]):
            with self.subTest(command):
                Warned(["--cache", "1M"], beside=["--edges", "host"]).check(self, command, [])
                self.succeed(*command, "--edges", "host", "--cache", 0)


class Mistyped(ProgramTest):
    """A mistyped value gets the nearest name."""

    def test_names(self):
        for line, near in ((["spmm", "kron:4", "--strategy", "stagd"], "staged"), (["spmm", "kron:4", "--strategy", "pull:wbp=8"], "wpb"),
                           (["spmm", "kron:4", "--strategy", "pull:mg"], "mgg"), (["spmm", "kron:4", "--strategy", "fused:atuo"], "auto"),
                           (["sddmm", "kron:4", "--strategy", "brodcast"], "broadcast"), (["bench", "spmm", "kron:4", "--strategies", "cvoer"], "cover"),
                           (["lookup", "--strategy", "mesages"], "messages"), (["bench", "lookup", "--strategies", "onwer-sum"], "owner-sum"),
                           (["gather", "--strategy", "direkt"], "direct"), (["stats", "kron:4", "--format", "matx"], "mtx"),
                           (["partition", "kron:4", "--method", "rabit"], "rabbit"), (["train", "kron:4", "--model", "sgae"], "sage"),
                           (["train", "kron:4", "--optimizer", "sdg"], "sgd"), (["train", "kron:4", "--mode", "ful"], "full")):
            with self.subTest(line):
                self.must_fail(2, *line, says=f'did you mean "{near}"?')


class EdgeLists(ProgramTest):
    def test_their_options_are_of_edge_lists(self):
        self.succeed("convert", "kron:4", "a.mtx")
        for graph_of in ("kron:4", "a.mtx"):
            for option in ("--one-based", "--compact"):
                with self.subTest(graph_of=graph_of, option=option):
                    Warned([option]).check(self, ["stats"], [graph_of])


if __name__ == "__main__":
    unittest.main()
