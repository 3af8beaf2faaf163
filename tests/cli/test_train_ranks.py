# SPDX-License-Identifier: Apache-2.0
"""Teams of every size learn as one rank does: the same losses, where they train on the same batches."""

import unittest

from support import ProgramTest

SIZES = (1, 2, 3, 4, 7, 15, 16, 17, 32)
GRAPH = ["community:600,6", "--features", 5, "--dropout", 0, "--hidden", 8]
TRAINING_VERTICES = 52
ALL = ["--mode", "sampled", "--fanout=-1,-1", "--model", "sage"]


class TrainRanks(ProgramTest):
    def train(self, *options):
        return self.succeed_json("train", *GRAPH, *options)

    def same(self, found, wanted):
        self.assertEqual(len(found["epochs"]), len(wanted["epochs"]))
        for one, other in zip(found["epochs"], wanted["epochs"]):
            self.assertAlmostEqual(one["loss"], other["loss"], delta=2e-5 * max(1.0, other["loss"]))

    def test_whole_graph(self):
        for model in ("gcn", "gatv2"):
            options = ["--classes", 3, "--epochs", 2, "--model", model]
            one = self.train(*options)
            for devices in SIZES[1:]:
                with self.subTest(model=model, devices=devices):
                    self.same(self.train(*options, "--devices", devices), one)

    def test_batches(self):
        """With a rate of 0 the batches' losses add up to the whole graph's, whatever the batches: those that end a rank's share are
        smaller, and each counts by its vertices."""
        whole = self.train("--classes", 3, "--epochs", 1, "--model", "sage")
        for devices in SIZES:
            with self.subTest(devices=devices):
                self.same(self.train("--classes", 3, "--epochs", 1, *ALL, "--lr", 0, "--batch", 1 + 6 // devices, "--devices", devices), whole)

    def test_one_batch_of_vertices(self):
        options = ["--classes", 3, "--epochs", 2, *ALL]
        whole = self.train("--classes", 3, "--epochs", 2, "--model", "sage")
        for devices in SIZES:
            with self.subTest(devices=devices):
                batch = -(-TRAINING_VERTICES // devices)
                found = self.train(*options, "--batch", batch, "--devices", devices, "--evaluation", "sampled")
                self.assertEqual(found["batches"], 1)
                self.same(found, whole)

    def test_one_batch_of_links(self):
        """Features are as they are drawn: rows that sum to 1 would leave losses too small to tell teams apart."""
        options = ["--task", "link", "--lr", 0.01, "--optimizer", "sgd", *ALL]
        edges = self.train(*options, "--epochs", 1)["training_edges"]
        options += ["--epochs", 2]
        one = self.train(*options, "--batch", edges)
        for devices in SIZES[1:]:
            with self.subTest(devices=devices):
                found = self.train(*options, "--batch", -(-edges // devices), "--devices", devices)
                self.assertEqual(found["batches"], 1)
                self.same(found, one)


if __name__ == "__main__":
    unittest.main()
