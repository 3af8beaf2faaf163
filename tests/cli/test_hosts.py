# SPDX-License-Identifier: Apache-2.0
"""Ranks on several hosts: one machine whose ranks act as several, which share no pointer, and two network namespaces with a link between them."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
import unittest
from pathlib import Path

from hosts import ENDLESS, MPIRUN, QUIET, SOON, Hosts, necessary_rows
from support import PROGRAM, ProgramTest


class Results(Hosts):
    """The same as of one rank."""

    def agree(self, ranks, hosts, *arguments, fields):
        alone = self.succeed_json(*arguments, "--device", "cpu", "--devices", 1)
        found = json.loads(self.run_hosts(ranks, hosts, *arguments, "--json", "-"))
        self.assertEqual((found["devices"], found["processes"], found["hosts"]), (ranks, ranks, hosts))
        self.assertGreater(found["bytes_between_hosts"], 0)
        for field in fields:
            self.assertEqual(found[field], alone[field], (arguments, field))

    def test_bfs(self):
        search = ("source", "reached", "traversed_edges", "verified")
        self.agree(4, 2, "bfs", "kron:10", "--source", 3, "--verify", fields=(*search, "max_depth", "sum_depth", "levels"))
        self.agree(3, 2, "bfs", "grid:20x20", "--verify", fields=(*search, "levels"))
        self.agree(2, 2, "bfs", "kron:9", "--source", 5, "--verify", "--edges", "compressed-host", "--method", "degree", fields=search)
        self.agree(4, 4, "bfs", "kron:9", "--symmetrize", "--sources", 3, "--together", "--verify", fields=("sources", "verified"))

    def test_sssp(self):
        search = ("source", "reached", "traversed_edges", "verified", "sum_distance", "max_distance")
        self.agree(4, 4, "sssp", "grid:20x20", "--weights", "uniform:1:9", "--verify", fields=search)
        self.agree(3, 2, "sssp", "kron:9", "--source", 5, "--weights", "uniform:1:9", "--verify", "--edges", "host", fields=search)

    def test_components(self):
        self.agree(4, 2, "cc", "kron:10", "--verify", fields=("components", "largest", "verified"))
        self.agree(3, 3, "cc", "grid:20x20", "--verify", "--edges", "host", fields=("components", "largest", "verified"))

    def test_pagerank(self):
        self.agree(4, 2, "pagerank", "kron:12", "--verify", fields=("iterations", "converged", "verified"))
        self.agree(2, 2, "pagerank", "kron:9", "--verify", "--tolerance", "1e-9", fields=("converged", "verified"))

    def test_ranges_of_a_file(self):
        """Each rank reads its own, and in-edges cross between the hosts."""
        self.succeed("convert", "kron:10", "both.wgr", "--symmetrize", "--weights", "uniform:1:9")
        self.succeed("convert", "kron:10", "one.wgr")
        search = ("source", "reached", "traversed_edges", "verified")
        for graph in ("both.wgr", "one.wgr"):
            self.agree(4, 2, "bfs", graph, "--verify", fields=(*search, "levels"))
            self.agree(3, 3, "cc", graph, "--verify", fields=("components", "largest", "verified"))
        self.agree(3, 2, "pagerank", "one.wgr", "--verify", fields=("iterations", "converged", "verified"))
        self.agree(3, 2, "pagerank", "both.wgr", "--weighted", "--verify", fields=("converged", "verified"))
        self.agree(4, 2, "sssp", "both.wgr", "--verify", fields=(*search, "sum_distance"))
        for arguments in (("cc", "one.wgr"), ("spmm", "both.wgr"), ("cc", "kron:10"), ("spmm", "kron:9")):
            found = json.loads(self.run_hosts(4, 2, *arguments, "--verify", "--json", "-"))
            self.assertEqual((found["read"], found["verified"]), ("ranges", True), arguments)
        self.assertNotIn("read", json.loads(self.run_hosts(4, 2, "sample", "one.wgr", "--batch", 16, "--json", "-")))

    def test_links(self):
        """Of ranks that act as on two hosts every other one is on the same."""
        found = json.loads(self.run_hosts(4, 2, "info", "--json", "-"))
        self.assertEqual((len(found["ranks"]), found["hosts"]), (4, 2))
        for source, row in enumerate(found["links"]):
            for target, link in enumerate(row):
                kind = "own memory" if source == target else "shared memory" if source % 2 == target % 2 else "network"
                self.assertEqual(link["kind"], kind, (source, target))
                self.assertGreater(link["gigabytes_per_second"], 0)

    def test_files(self):
        self.succeed("bfs", "kron:10", "--source", 3, "--deterministic", "--device", "cpu", "--output", "alone.txt")
        text = self.run_hosts(4, 2, "bfs", "kron:10", "--source", 3, "--deterministic", "--output", "hosts.txt")
        self.assertEqual((self.folder / "hosts.txt").read_text(), (self.folder / "alone.txt").read_text())
        self.assertIn("4 ranks in processes on 2 hosts", text)


class Products(Hosts):
    """The same as of one rank, and no row over the link that is not needed there."""

    def agree(self, ranks, hosts, *arguments):
        alone = self.succeed_json(*arguments, "--device", "cpu", "--devices", 1)
        threads = self.succeed_json(*arguments, "--device", "cpu", "--devices", ranks)
        found = json.loads(self.run_hosts(ranks, hosts, *arguments, "--json", "-"))
        self.assertEqual((found["devices"], found["hosts"], found["verified"]), (ranks, hosts, True))
        # Elements are whole numbers, so that sums are exact in any order.
        self.assertEqual((found["sum"], found["sumsq"]), (alone["sum"], alone["sumsq"]))
        if threads["strategy"] == found["strategy"]:
            self.assertEqual(found["rows_moved"], threads["rows_moved"])
        self.assertGreater(found["bytes_between_hosts"], 0)
        return found

    def test_spmm(self):
        for ranks, hosts, *options in ((4, 2), (3, 2, "--strategy", "staged"), (4, 4, "--strategy", "auto", "--k", 5), (3, 2, "--strategy", "broadcast"),
                                       (2, 2, "--method", "random", "--type", "float16"), (4, 2, "--type", "bfloat16", "--k", 3, "--strategy", "broadcast")):
            found = self.agree(ranks, hosts, "spmm", "kron:9", "--verify", "--repeat", 2, *options)
            self.assertEqual(found["strategy"], "broadcast" if "broadcast" in options else "staged")
        self.agree(4, 2, "spmm", "grid:20x20", "--weights", "uniform:1:9", "--verify", "--deterministic")

    def test_sddmm(self):
        self.agree(4, 2, "sddmm", "kron:9", "--verify")
        self.agree(3, 3, "sddmm", "grid:20x20", "--weights", "uniform:1:9", "--k", 7, "--verify", "--strategy", "staged", "--method", "degree")

    def random_graph(self):
        """Of 600 vertices, among whose out-edges a few targets are frequent."""
        draw = random.Random(5)
        edges = sorted({(draw.randrange(600), draw.randrange(600) if draw.random() < 0.6 else draw.randrange(40)) for _ in range(3000)})
        self.file("graph.el", "".join(f"{u} {v}\n" for u, v in edges))
        return edges

    def test_necessary_bytes(self):
        edges = self.random_graph()
        repeat = 2
        for command, products in (("spmm", repeat + 2), ("sddmm", repeat + 1)):  # Runs that warm up, and one that counts.
            for ranks, hosts in ((2, 2), (4, 2), (4, 4), (3, 2)):
                rows = necessary_rows(edges, ranks, hosts)
                sent = [json.loads(self.run_hosts(ranks, hosts, command, "graph.el", "--k", k, "--repeat", repeat, "--json", "-"))["bytes_between_hosts"] for k in (4, 20)]
                self.assertEqual(sent[1] - sent[0], products * rows * 16 * 4, (command, ranks, hosts))
                # Beside rows: which these are, and what ranks tell each other at the beginning and the end.
                self.assertLess(sent[0] - products * rows * 4 * 4, 4 * rows + 1000 * ranks * ranks)

    def test_broadcast_sends_all_rows(self):
        edges = self.random_graph()
        vertices = 1 + max(max(edge) for edge in edges)
        sent = [json.loads(self.run_hosts(4, 2, "spmm", "graph.el", "--strategy", "broadcast", "--k", k, "--json", "-"))["bytes_between_hosts"] for k in (4, 20)]
        self.assertEqual(sent[1] - sent[0], 3 * vertices * 16 * 4)


class Rows(Hosts):
    """Rows and samples are those of one host, and nothing but results goes between hosts."""

    def run_all(self, ranks, hosts, *arguments):
        here = self.succeed_json(*arguments, "--device", "cpu", "--devices", ranks)
        found = json.loads(self.run_hosts(ranks, hosts, *arguments, "--json", "-"))
        self.assertEqual((found["devices"], found["hosts"], found["verified"]), (ranks, hosts, True))
        return found, here

    def test_samples(self):
        options = ("--batch", 50, "--batches", 5, "--verify")
        for ranks, hosts, *more in ((4, 2), (3, 2, "--weighted", "--weights", "uniform:1:9"), (4, 4, "--replace"), (3, 2, "--labor"), (2, 2, "--disjoint", "--fanout", "4,3"),
                                    (4, 2, "--weighted", "--replace", "--weights", "uniform:0:3", "--method", "random")):
            with self.subTest(options=more):
                found, here = self.run_all(ranks, hosts, "sample", "kron:10", "--symmetrize", *options, *more)
                self.assertEqual((found["digest"], found["sampled_edges"], found["sampled_vertices"]), (here["digest"], here["sampled_edges"], here["sampled_vertices"]))
        more = [json.loads(self.run_hosts(4, 2, "sample", "kron:10", "--batch", 50, "--batches", count, "--json", "-"))["bytes_between_hosts"] for count in (4, 40)]
        self.assertEqual(more[0], more[1])

    def test_samples_in_time(self):
        edges = [(u, (u * 7 + k) % 60, (u * 31 + k * 17) % 1000) for u in range(60) for k in range(5)]
        self.file("graph.el", "".join(f"{u} {v}\n" for u, v, _ in edges))
        self.file("times.txt", "".join(f"{u} {v} {t}\n" for u, v, t in edges))
        options = ("--temporal", "--times", "times.txt", "--seed-times", 600, "--batch", 10, "--batches", 4, "--fanout", "3,2", "--verify")
        found, here = self.run_all(4, 2, "sample", "graph.el", *options)
        self.assertEqual(found["digest"], here["digest"])

    def test_gathers(self):
        for ranks, hosts, *more in ((4, 2), (3, 2, "--placement", "host"), (4, 2, "--placement", "cached", "--skew", 1), (3, 2, "--strategy", "messages"), (4, 4, "--strategy", "messages")):
            with self.subTest(options=more):
                found, here = self.run_all(ranks, hosts, "gather", "--rows", 1000, "--k", 8, "--count", 500, "--verify", *more)
                if "cached" in more:
                    self.assertEqual(found["hit_rate"], here["hit_rate"])

    def test_bytes_of_gathers(self):
        """Each host has all rows: none goes between hosts. By messages each that is asked of another host does."""
        for ranks, hosts in ((4, 2), (3, 3)):
            sent = {strategy: [json.loads(self.run_hosts(ranks, hosts, "gather", "--rows", 1000, "--k", k, "--count", 500, "--strategy", strategy, "--json", "-"))["bytes_between_hosts"]
                               for k in (8, 24)] for strategy in ("direct", "messages")}
            self.assertEqual(*sent["direct"])
            rows, rest = divmod(sent["messages"][1] - sent["messages"][0], 2 * 16 * 4)
            self.assertEqual(rest, 0)
            # Rows are drawn uniformly.
            self.assertAlmostEqual(rows / (500 * ranks), (hosts - 1) / hosts, delta=0.06)

    def test_lookups(self):
        for ranks, hosts, *more in ((4, 2), (3, 2, "--strategy", "owner-sum"), (4, 2, "--strategy", "messages", "--type", "float16"), (2, 2, "--skew", 2)):
            with self.subTest(options=more):
                self.run_all(ranks, hosts, "lookup", "--rows", 1000, "--k", 8, "--batch", 64, "--bag", 6, "--verify", *more)


class Refusals(Hosts):
    def test_what_has_no_form(self):
        self.fail_hosts(2, 2, 2, "triangles", "community:600,6", says=["triangles has no ranks on several hosts", "bfs, cc, gather, info, lookup, pagerank, predict, sample, sddmm, spmm, sssp, train"])
        self.fail_hosts(2, 2, 2, "bfs", "kron:6", "--mode", "async", says=["asynchronous", "several hosts"])

    def test_strategies_that_read_where_rows_lie(self):
        for strategy in ("broadcast-pipelined", "pull", "once", "staged:chunks=2", "fused", "cover"):
            self.fail_hosts(2, 2, 2, "spmm", "kron:6", "--strategy", strategy, says=[strategy.partition(":")[0], "take plain staged, broadcast or auto"])
        self.fail_hosts(2, 2, 2, "train", "community:600,6", "--features", 4, "--classes", 3, "--strategy", "pull", says=["pull", "leave the strategy out"])

    def test_no_mpi(self):
        self.fail_hosts(2, 2, 2, "bfs", "kron:6", environment={"WARREN_MPI": "/nowhere/libwarren_mpi.so"}, says=["/nowhere/libwarren_mpi.so", "libopenmpi-dev"])

    def test_ranks_that_differ(self):
        """Found within a host, and between hosts."""
        for commands in (("6", "6", "6", "7"), ("6", "7", "6", "7")):
            self.fail_hosts(2, 4, 2, commands=[("bfs", "kron:" + scale) for scale in commands], says=["'bfs kron:7", "'bfs kron:6"])
        folders = []
        for rank, text in enumerate(("0 1\n1 2\n", "0 2\n1 2\n")):
            self.file(f"{rank}/graph.el", text)
            folders.append(self.folder / str(rank))
        self.fail_hosts(2, 2, 2, "cc", "graph.el", folders=folders, says=["different graphs", "rank 1"])

    def test_datasets_and_checkpoints_that_differ(self):
        """Each host reads its own files."""
        folders = []
        for rank, first in enumerate(("0 1\n", "0 2\n")):
            files = {"graph.el": first + "1 2\n2 3\n3 4\n4 5\n5 0\n", "features.csv": "1,0\n0,1\n" * 3, "labels.csv": "0\n1\n" * 3,
                     "train.txt": "0\n1\n", "validation.txt": "2\n3\n", "test.txt": "4\n5\n"}
            for name, text in files.items():
                self.file(f"{rank}/set/{name}", text)
            folders.append(self.folder / str(rank))
        self.fail_hosts(2, 2, 2, "train", "set", "--epochs", 2, folders=folders, says=["different datasets", "rank 1", "other edges"])
        options = ("community:600,6", "--features", 4, "--classes", 3, "--checkpoint", "model")
        self.run_hosts(2, 2, "train", *options, "--epochs", 2, folders=folders)
        self.assertEqual([(folder / "model").exists() for folder in folders], [True, False])
        self.fail_hosts(2, 2, 2, "train", *options, "--resume", "--epochs", 3, folders=folders, says=["finds no checkpoint", "goes on after 2 epochs"])


class TorchrunRefusal(ProgramTest):
    def test_torchrun(self):
        self.must_fail(2, "bfs", "kron:6", environment={"RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}, says="torchrun")


class Failures(Hosts):
    def test_one_rank_fails(self):
        self.file("0/graph.el", "0 1\n1 2\n")
        (self.folder / "1").mkdir()
        self.fail_hosts(2, 2, 2, "cc", "graph.el", folders=[self.folder / "0", self.folder / "1"], says=["graph.el", "rank 1 of 2"])

    def test_all_ranks_fail(self):
        """At once, on all hosts: the first one tells it."""
        self.fail_hosts(2, 4, 4, "bfs", "nowhere.el", says="nowhere.el")

    def test_killed_rank(self):
        process = self.start(4, 2, *ENDLESS)
        ranks = self.working_ranks(4)
        begin = time.monotonic()
        os.kill(ranks[3], signal.SIGKILL)
        status, out, said = self.finish(process)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertNotEqual(status, 0)
        self.assertEqual((out, len(said)), ("", 1), said)
        self.assertIn(f"of 4 (process {ranks[3]}) ended without a word", said[0])

    def test_killed_rank_of_training(self):
        train = ("train", "community:4000,12", "--features", 16, "--classes", 3, "--epochs", 1000000)
        for killed, arguments in enumerate((train, ("spmm", "kron:12", "--repeat", 1000000), (*train, "--mode", "sampled"), (*train, "--mode", "sampled", "--placement", "exchanged"))):
            process = self.start(4, 2, *arguments)
            ranks = self.working_ranks(4)
            begin = time.monotonic()
            os.kill(ranks[killed], signal.SIGKILL)
            status, out, said = self.finish(process)
            self.assertLess(time.monotonic() - begin, SOON)
            self.assertNotEqual(status, 0)
            self.assertEqual((out, len(said)), ("", 1), said)
            self.assertIn(f"of 4 (process {ranks[killed]}) ended without a word", said[0])

    def test_signal(self):
        process = self.start(4, 2, *ENDLESS)
        self.working_ranks(4)
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        _, out, said = self.finish(process)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual((out, len(said)), ("", 1), said)
        self.assertIn("interrupted by SIGTERM", said[0])


class Namespaces(Hosts):
    """Two hosts as the network sees them, with a link of 1 Gbit/s between them."""

    def setUp(self):
        super().setUp()
        self.names = [f"warren-{os.getpid()}-{side}" for side in "ab"]
        self.ends = [f"wr{os.getpid()}{side}" for side in "ab"]
        self.addCleanup(self.remove)
        try:
            for name in self.names:
                self.ip("netns", "add", name)
            self.ip("link", "add", self.ends[0], "netns", self.names[0], "type", "veth", "peer", "name", self.ends[1], "netns", self.names[1])
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no network namespaces can be made here: {getattr(error, 'stderr', None) or error}")
        for index, (name, end) in enumerate(zip(self.names, self.ends, strict=True)):
            self.ip("-n", name, "address", "add", f"10.77.0.{index + 1}/24", "dev", end)
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "link", "set", end, "up")
        # Of kernels that have no netem the rate alone.
        self.shape = next((shape for shape in (("netem", "rate", "1gbit", "delay", "1ms"), ("tbf", "rate", "1gbit", "burst", "256kb", "latency", "50ms"), ())
                           if self.is_shaped(shape)))
        agent = self.file("agent", f'#!/bin/sh\nshift\nexec ip netns exec {self.names[1]} unshare --uts sh -c \'hostname {self.names[1]}; exec sh -c "$*"\' sh "$@"\n')
        Path(agent).chmod(0o755)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def is_shaped(self, shape):
        if not shape:
            return True
        commands = [["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", end, "root", *shape] for name, end in zip(self.names, self.ends, strict=True)]
        return all(subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in commands)

    def remove(self):
        for name in self.names:
            with contextlib.suppress(OSError, subprocess.CalledProcessError):
                self.ip("netns", "del", name)

    def start(self, *arguments):
        words = ["ip", "netns", "exec", self.names[0], MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "plm_rsh_agent", self.folder / "agent",
                 "--host", "10.77.0.1:2,10.77.0.2:2", "-n", "4", PROGRAM, *arguments, "--device", "cpu"]
        process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env={**os.environ, **QUIET})
        self.addCleanup(self.end, process)
        return process

    def bytes_of_link(self):
        sent = 0
        for name, end in zip(self.names, self.ends, strict=True):
            found = json.loads(subprocess.run(["ip", "-j", "-s", "-n", name, "link", "show", end], check=True, capture_output=True).stdout)
            sent += found[0]["stats64"]["tx"]["bytes"]
        return sent

    def measure(self, *arguments):
        """The JSON object, and what went over the link beside what it tells of."""
        before = self.bytes_of_link()
        status, out, said = self.finish(self.start(*arguments, "--json", "-"))
        self.assertEqual((status, said), (0, []))
        found = json.loads(out)
        self.assertEqual((found["processes"], found["hosts"]), (4, 2))
        sent = self.bytes_of_link() - before
        print(f"\n{' '.join(map(str, arguments))}: {found['seconds'][0]:.3f} s, {found['bytes_between_hosts']:,} bytes published, {sent:,} over the link "
              f"({' '.join(self.shape) or 'which is not shaped'})", end=" ", flush=True)
        return found, sent - found["bytes_between_hosts"]

    def test_runs(self):
        # The start of mpirun and of MPI, and messages that are empty or tell where something goes.
        most = 3_000_000
        for arguments in (("bfs", "kron:16", "--source", 3, "--verify"), ("pagerank", "kron:16", "--verify"), ("spmm", "kron:14", "--k", 32, "--verify"),
                          ("train", "community:20000,12", "--features", 32, "--classes", 5, "--epochs", 4),
                          ("train", "community:20000,12", "--features", 32, "--classes", 5, "--epochs", 2, "--mode", "sampled", "--model", "sage")):
            found, beside = self.measure(*arguments)
            # Half of the edges cross as they are drawn, and as they are turned round: 12 bytes each, before the call that is measured.
            made = 12 * (16 << 16) if "kron:16" in arguments else 0
            self.assertTrue(found.get("verified", True))
            self.assertGreater(beside, 0)
            self.assertLess(beside, made + found["bytes_between_hosts"] / 10 + most, arguments)

    def test_killed_rank(self):
        process = self.start(*ENDLESS)
        killed = self.working_ranks(4)[-1]
        begin = time.monotonic()
        os.kill(killed, signal.SIGKILL)
        status, out, said = self.finish(process)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertNotEqual(status, 0)
        self.assertEqual((out, len(said)), ("", 1), said)
        self.assertIn(f"(process {killed}) ended without a word", said[0])


if __name__ == "__main__":
    unittest.main()
