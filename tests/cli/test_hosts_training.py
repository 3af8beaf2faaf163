# SPDX-License-Identifier: Apache-2.0
"""Trainings of ranks on several hosts: losses, predictions, and the bytes that go between hosts."""

import json
import shutil
import signal
import time
import unittest

from hosts import PATIENCE, Hosts, necessary_rows


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


if __name__ == "__main__":
    unittest.main()
