# SPDX-License-Identifier: Apache-2.0
"""Ranks on several hosts: one machine whose ranks act as several, which share no pointer, and two network namespaces with a link between them."""

import bisect
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import PROGRAM, ProgramTest

MPIRUN = shutil.which("mpirun")
PLUGIN = Path(os.environ.get("WARREN_MPI") or Path(PROGRAM).with_name("libwarren_mpi.so"))
# All ranks end within this time of the first one's end, on a machine that is busy with other things.
SOON = 20
# Longer than any run takes.
PATIENCE = 120
ENDLESS = ("pagerank", "kron:12", "--tolerance", "1e-9", "--repeat", 1000000)
# Libraries of MPI keep memory until the process ends. Containers often refuse their copies from one process to another.
QUIET = {"LSAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_btl_base_warn_component_unused": "0", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class Hosts(ProgramTest):
    """Runs by mpirun."""

    def setUp(self):
        super().setUp()
        if MPIRUN is None:
            self.skipTest("there is no mpirun here (Debian: openmpi-bin)")
        if not PLUGIN.exists():
            self.skipTest(f"there is no {PLUGIN}: this build found no MPI (Debian: libopenmpi-dev)")

    def start(self, ranks, hosts, *arguments, environment=None, folders=None, commands=None):
        words = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        for rank in range(ranks if folders or commands else 1):
            words += [":"] if rank > 0 else []
            words += ["-n", str(1 if folders or commands else ranks)]
            words += ["-wdir", str(folders[rank])] if folders else []
            words += [PROGRAM, *map(str, commands[rank] if commands else arguments), "--device", "cpu"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                   env={**os.environ, **QUIET, "WARREN_TEST_HOSTS": str(hosts), **(environment or {})})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def is_rank(self, folder):
        """A process of this test that has met the others: it has the memory that they share."""
        try:
            return (folder / "cwd").readlink() == self.folder and "memfd:warren" in (folder / "maps").read_text()
        except OSError:
            return False

    def working_ranks(self, count):
        """The ranks' processes, in the order of their start, once all work."""
        last = time.monotonic() + PATIENCE
        ranks = []
        while len(ranks) < count and time.monotonic() < last:
            time.sleep(0.05)
            ranks = sorted(int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self.is_rank(folder))
        self.assertEqual(len(ranks), count)
        time.sleep(0.5)
        return ranks

    def finish(self, process):
        """The exit status, what was printed, and what warren said."""
        out, err = process.communicate(timeout=PATIENCE)
        # mpirun says on its own that a rank has failed.
        return process.returncode, out, [line for line in err.splitlines() if line.startswith("warren: ")]

    def run_hosts(self, ranks, hosts, *arguments, **options):
        status, out, said = self.finish(self.start(ranks, hosts, *arguments, **options))
        self.assertEqual((status, said), (0, []))
        return out

    def fail_hosts(self, status, ranks, hosts, *arguments, says, **options):
        found, out, said = self.finish(self.start(ranks, hosts, *arguments, **options))
        self.assertEqual((found, out, len(said)), (status, "", 1), said)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, said[0])


def owners_of(edges, ranks):
    """Whose vertices are which: ranges of about as many edges."""
    degrees = [0] * (1 + max(max(edge) for edge in edges))
    for u, _ in edges:
        degrees[u] += 1
    offsets = [0, *itertools.accumulate(degrees)]
    cuts = [bisect.bisect_left(offsets, len(edges) * part // ranks) for part in range(1, ranks)]
    return [bisect.bisect_right(cuts, v) for v in range(len(degrees))]


def necessary_rows(edges, ranks, hosts):
    """A row goes to a host once, where some rank of it names the row and none has it."""
    host = [rank % hosts for rank in owners_of(edges, ranks)]
    return len({(host[u], v) for u, v in edges if host[u] != host[v]})


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


class Training(Hosts):
    """The same losses as of one rank, but for the order of sums."""

    GRAPH = ("community:600,6", "--features", 5, "--classes", 3, "--dropout", 0, "--hidden", 8)

    def same(self, found, wanted):
        self.assertEqual(len(found["epochs"]), len(wanted["epochs"]))
        for one, other in zip(found["epochs"], wanted["epochs"], strict=True):
            self.assertAlmostEqual(one["loss"], other["loss"], delta=2e-5 * max(1.0, other["loss"]))
            self.assertAlmostEqual(one["test_accuracy"], other["test_accuracy"], delta=0.02)

    def agree(self, ranks, hosts, *options):
        arguments = ("train", *self.GRAPH, "--epochs", 3, *options)
        alone = self.succeed_json(*arguments, "--device", "cpu", "--devices", 1)
        found = json.loads(self.run_hosts(ranks, hosts, *arguments, "--json", "-"))
        self.assertEqual((found["devices"], found["hosts"], found["strategy"].partition(":")[0]), (ranks, hosts, "staged"))
        self.same(found, alone)
        self.assertGreater(found["bytes_between_hosts"], 0)

    def test_sums(self):
        self.agree(4, 2, "--model", "gcn")
        self.agree(3, 2, "--model", "gcn", "--layers", 3, "--method", "random")
        self.agree(2, 2, "--model", "sage")
        self.agree(3, 2, "--model", "gcn", "--edge-weights", "--weights", "uniform:1:9")
        self.agree(4, 4, "--model", "gin")

    def test_attention(self):
        self.agree(4, 2, "--model", "gat", "--heads", 2)
        self.agree(3, 2, "--model", "gatv2", "--heads", 2)

    def test_narrow_numbers(self):
        """They learn: last bits are others."""
        found = json.loads(self.run_hosts(4, 2, "train", *self.GRAPH, "--epochs", 20, "--type", "bfloat16", "--json", "-"))
        self.assertLess(found["epochs"][-1]["loss"], found["epochs"][0]["loss"])

    def test_bytes_of_an_epoch(self):
        """Each row of a layer once to each host that needs it, and gradients, there and back."""
        self.succeed("convert", self.GRAPH[0], "graph.el", device=False)
        edges = [tuple(map(int, line.split())) for line in (self.folder / "graph.el").read_text().splitlines() if line[0].isdigit()]
        # Hidden rows of 8 and, with padding, scores of 4: forward in training and in evaluation. Backward the gradients of either, but not of
        # features.
        columns = {"gcn": (8 + 4) + (8 + 4) + 4, "gin": (8 + 4) + (8 + 4) + 4}
        for model, width in columns.items():
            for ranks, hosts in ((2, 2), (4, 2), (3, 3)):
                runs = [json.loads(self.run_hosts(ranks, hosts, "train", *self.GRAPH, "--model", model, "--epochs", epochs, "--json", "-")) for epochs in (2, 6)]
                epoch = (runs[1]["bytes_between_hosts"] - runs[0]["bytes_between_hosts"]) / 4
                beside = epoch - 4 * width * necessary_rows(edges, ranks, hosts) - 2 * 4 * (hosts - 1) * runs[0]["parameters"]
                # Losses, accuracies and times, to each rank of another host.
                self.assertGreaterEqual(beside, 0, (model, ranks, hosts))
                self.assertLess(beside, 400 * ranks * ranks, (model, ranks, hosts))

    def test_predictions(self):
        """What hosts have trained one rank reads, and the other way round; each goes on from the other's."""
        self.run_hosts(4, 2, "train", *self.GRAPH, "--epochs", 4, "--checkpoint", "model")
        self.succeed("predict", self.GRAPH[0], "--features", 5, "--classes", 3, "--checkpoint", "model", "--output", "alone.txt", "--device", "cpu")
        found = json.loads(self.run_hosts(4, 2, "predict", self.GRAPH[0], "--features", 5, "--classes", 3, "--checkpoint", "model", "--output", "hosts.txt", "--json", "-"))
        self.assertEqual((self.folder / "hosts.txt").read_text(), (self.folder / "alone.txt").read_text())
        self.assertGreater(found["bytes_between_hosts"], 0)
        alone = self.succeed_json("train", *self.GRAPH, "--epochs", 8, "--device", "cpu")
        self.succeed("train", *self.GRAPH, "--epochs", 6, "--checkpoint", "model", "--resume", "--device", "cpu")
        found = json.loads(self.run_hosts(3, 2, "train", *self.GRAPH, "--epochs", 8, "--checkpoint", "model", "--resume", "--json", "-"))
        self.assertEqual((found["resumed_from"], found["epochs_done"]), (6, 8))
        self.same(found, alone)


class SampledTraining(Hosts):
    """The same losses as of as many ranks on one host, but for the order in which gradients are added up."""

    GRAPH = ("community:600,6", "--features", 5, "--classes", 3)
    DEFAULTS = {"--fanout": "4,3", "--hidden": 8, "--batch": 5, "--epochs": 3}

    def arguments(self, graph, options):
        defaults = (word for name, value in self.DEFAULTS.items() if name not in options for word in (name, value))
        return ("train", *graph, "--mode", "sampled", *options, *defaults)

    def train(self, ranks, hosts, *options, graph=GRAPH):
        return json.loads(self.run_hosts(ranks, hosts, *self.arguments(graph, options), "--json", "-"))

    def train_here(self, ranks, *options, graph=GRAPH):
        return self.succeed_json(*self.arguments(graph, options), "--device", "cpu", "--devices", ranks)

    def same(self, found, wanted):
        self.assertEqual((found["devices"], found["batches"], found["batch"]), (wanted["devices"], wanted["batches"], wanted["batch"]))
        self.assertEqual(len(found["epochs"]), len(wanted["epochs"]))
        for one, other in zip(found["epochs"], wanted["epochs"], strict=True):
            self.assertAlmostEqual(one["loss"], other["loss"], delta=5e-5 * max(1.0, other["loss"]))
            self.assertAlmostEqual(one["test_accuracy"], other["test_accuracy"], delta=0.02)

    def agree(self, ranks, hosts, *options, graph=GRAPH):
        found = self.train(ranks, hosts, *options, graph=graph)
        self.assertEqual((found["processes"], found["hosts"]), (ranks, hosts))
        self.assertGreater(found["bytes_between_hosts"], 0)
        here = self.train_here(ranks, *options, graph=graph)
        self.same(found, here)
        # Which neighbours are drawn depends on the ranks alone, and where each host has one the order of sums, too.
        self.assertEqual(found["sampled_edges"], here["sampled_edges"])
        if ranks == hosts:
            self.assertEqual(*([epoch["loss"] for epoch in run["epochs"]] for run in (found, here)))
        return found

    def test_models(self):
        for (ranks, hosts), *options in (((4, 2), "gcn"), ((3, 2), "sage"), ((4, 4), "gat", "--heads", 2), ((2, 2), "gatv2"), ((3, 3), "gin"),
                                         ((3, 2), "gin", "--norm", "batch"), ((4, 2), "sage", "--aggregate", "max")):
            with self.subTest(ranks=ranks, hosts=hosts, options=options):
                self.agree(ranks, hosts, "--model", *options)

    def test_weights(self):
        for (ranks, hosts), *options in (((3, 2), "gcn", "--edge-weights"), ((4, 2), "gat", "--edge-weights"), ((4, 2), "sage", "--weighted", "--replace", "--evaluation", "sampled")):
            with self.subTest(options=options):
                self.agree(ranks, hosts, "--weights", "uniform:1:9", "--model", *options)

    def test_options(self):
        for ranks, hosts, *options in ((4, 2, "--placement", "cached", "--cached", 0.3, "--cache-by", "presampling"), (3, 2, "--placement", "host", "--edges", "host"),
                                       (4, 2, "--placement", "replicated", "--edges", "replicated", "--method", "random"), (3, 2, "--capture-batches"),
                                       (4, 2, "--class-weights", "balanced", "--evaluation", "sampled"), (4, 2, "--replace", "--optimizer", "sgd", "--clip", 1)):
            with self.subTest(options=options):
                found = self.agree(ranks, hosts, "--model", "gcn", *options)
                if "cached" in options:
                    self.assertGreater(found["hit_rate"], 0.3)

    def test_links(self):
        graph = ("community:600,6", "--features", 5, "--task", "link")
        for ranks, hosts, *options in ((4, 2), (3, 3, "--evaluation", "sampled"), (3, 2, "--method", "random")):
            with self.subTest(ranks=ranks, hosts=hosts, options=options):
                self.agree(ranks, hosts, "--model", "sage", "--epochs", 2, "--batch", 100, *options, graph=graph)

    def test_narrow_numbers(self):
        """They learn, and a run repeats bit for bit on the same hosts."""
        runs = [self.train(4, 2, "--model", "sage", "--epochs", 8, "--type", "bfloat16") for _ in range(2)]
        losses = [[epoch["loss"] for epoch in run["epochs"]] for run in runs]
        self.assertEqual(*losses)
        self.assertLess(losses[0][-1], losses[0][0])

    def test_exchanged_features(self):
        """Where rows come from changes no bit."""
        for (ranks, hosts), *options in (((4, 2), "gcn"), ((3, 2), "sage", "--type", "bfloat16", "--dropout", 0), ((3, 3), "gat", "--capture-batches")):
            with self.subTest(options=options):
                options = ("--epochs", 2, "--evaluation", "sampled", "--model", *options)
                there, exchanged = (self.train(ranks, hosts, *options, "--placement", placement) for placement in ("device", "exchanged"))
                self.assertEqual(exchanged["placement"], "exchanged")
                self.assertEqual(*([epoch["loss"] for epoch in run["epochs"]] for run in (there, exchanged)))
                self.assertGreater(exchanged["bytes_between_hosts"], there["bytes_between_hosts"])

    def test_bytes_of_exchanged_rows(self):
        """A row of another host goes over the link once for each batch that reads it."""
        self.file("ring/graph.el", "0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 0\n")
        for split, vertices in (("train", (3, 7)), ("validation", (1, 5)), ("test", (2, 6))):
            self.file(f"ring/{split}.txt", "".join(f"{v}\n" for v in vertices))
        self.file("ring/labels.csv", "0\n" * 4 + "1\n" * 4)
        sent = []
        for width in (4, 20):
            self.file("ring/features.csv", (",".join(["1"] * width) + "\n") * 8)
            options = ("ring", "--model", "sage", "--epochs", 3, "--mode", "sampled", "--fanout=-1", "--batch", 1, "--evaluation", "sampled", "--placement", "exchanged")
            run = json.loads(self.run_hosts(2, 2, "train", *options, "--json", "-"))
            self.assertEqual(run["batches"], 1)
            sent.append(run["bytes_between_hosts"] - 3 * 2 * 4 * run["parameters"])
        # A batch of vertex v reads v and v + 1. Rank 0 has the vertices 0 to 3, rank 1 the others. Each trains on 3 or on 7, and so reads one row of the other's, and scores three
        # vertices, the last of which is 3 or 7.
        self.assertEqual(sent[1] - sent[0], 3 * (2 + 2) * 16 * 4)

    def test_bytes_of_an_epoch(self):
        """Nothing but gradients, there and back."""
        epochs = 2
        for ranks, hosts, *model in ((2, 2, "gcn"), (4, 2, "sage"), (3, 3, "gat"), (3, 2, "gin")):
            runs = [self.train(ranks, hosts, "--model", *model, "--epochs", epochs, "--evaluation", "sampled", "--hidden", hidden) for hidden in (8, 24)]
            sent, parameters = ([run[field] for run in runs] for field in ("bytes_between_hosts", "parameters"))
            once = 2 * 4 * (hosts - 1) * epochs * runs[0]["batches"]
            self.assertEqual(sent[1] - sent[0], once * (parameters[1] - parameters[0]), model)
            # Beside gradients: how many there are, losses, accuracies and times, to each rank of another host.
            self.assertGreater(sent[0], once * parameters[0])
            self.assertLess(sent[0] - once * parameters[0], (1500 + 100 * epochs * runs[0]["batches"]) * ranks * ranks, model)

    def test_predictions(self):
        """What hosts have trained one rank reads, and goes on with, and the other way round."""
        self.train(4, 2, "--model", "sage", "--epochs", 4, "--checkpoint", "model")
        predict = ("predict", *self.GRAPH, "--checkpoint", "model")
        self.succeed(*predict, "--output", "alone.txt", "--device", "cpu")
        self.run_hosts(3, 2, *predict, "--output", "hosts.txt")
        self.assertEqual((self.folder / "hosts.txt").read_text(), (self.folder / "alone.txt").read_text())
        wanted = self.train(4, 2, "--model", "sage", "--epochs", 8)
        for folder in ("fewer", "one"):
            shutil.copytree(self.folder / "model", self.folder / folder)
        # On other hosts, and on one.
        options = ("--model", "sage", "--epochs", 8, "--resume")
        self.same(self.train(4, 4, *options, "--checkpoint", "fewer"), wanted)
        self.same(self.train_here(4, *options, "--checkpoint", "one"), wanted)
        found = self.train(3, 2, *options, "--checkpoint", "model")
        self.assertEqual((found["resumed_from"], found["epochs_done"]), (4, 8))

    def test_within_an_epoch(self):
        """A checkpoint within an epoch goes on as it would have, bit for bit, with the same ranks on the same hosts."""
        graph = ("community:20000,6", "--features", 5, "--classes", 3)
        options = ("--model", "gcn", "--epochs", 1, "--batch", 1)
        whole = self.train(4, 2, *options, graph=graph)
        self.assertGreater(whole["batches"], 40)
        process = self.start(4, 2, *self.arguments(graph, (*options, "--checkpoint", "model", "--checkpoint-batches", 1)))
        last = time.monotonic() + PATIENCE
        while not (self.folder / "model" / "state.safetensors").exists() and process.poll() is None and time.monotonic() < last:
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        self.assertNotEqual(self.finish(process)[0], 0)
        shutil.copytree(self.folder / "model", self.folder / "other")
        found = self.train(4, 2, *options, "--checkpoint", "model", "--resume", graph=graph)
        self.assertEqual(found["epochs"][-1]["loss"], whole["epochs"][-1]["loss"])
        # With as many ranks on other hosts up to the order of sums.
        self.same(self.train(4, 4, *options, "--checkpoint", "other", "--resume", graph=graph), found)


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
