# SPDX-License-Identifier: Apache-2.0
"""train --task link: fields, teams, checkpoints, datasets without labels, and what it refuses."""

import struct
import unittest

from support import ProgramTest

FIELDS = {"task": str, "negatives": int, "training_edges": int, "validation_edges": int, "test_edges": int, "embedding": int,
          "best_validation": float, "test_accuracy": float, "test_auc": float, "test_mrr": float, "batches": int}
GENERATED = ["community:1000,20", "--features", 16]
LINKS = ["--task", "link", "--mode", "sampled", "--model", "sage"]


class Links(ProgramTest):
    def train(self, *arguments):
        return self.succeed_json("train", *arguments)

    def test_fields_and_teams(self):
        edges = set()
        for devices in (1, 2, 3, 4):
            result = self.train(*GENERATED, *LINKS, "--epochs", 2, "--batch", 700, "--negatives", 2, "--devices", devices)
            self.check_common(result, "train")
            self.check_fields(result, FIELDS)
            self.assertEqual((result["task"], result["negatives"], result["embedding"]), ("link", 2, 64))
            self.assertEqual(result["test_auc"], result["test_accuracy"])
            for epoch in result["epochs"]:
                self.check_fields(epoch, {"loss": float, "validation_accuracy": float, "validation_mrr": float, "test_mrr": float})
                self.assertTrue(0.0 < epoch["validation_mrr"] <= 1.0)
            edges.add((result["edges"], result["training_edges"], result["validation_edges"], result["test_edges"]))
        # The split is one of the edges, not of the team.
        self.assertEqual(len(edges), 1)
        (count, *parts), = edges
        self.assertEqual(sum(parts), count // 2)

    def test_one_batch_is_the_same_for_every_team(self):
        options = [*GENERATED, *LINKS, "--dropout", 0, "--fanout=-1,-1", "--epochs", 3, "--lr", 0.01, "--optimizer", "sgd"]
        found = []
        for devices, method in ((1, "ranges"), (2, "ranges"), (3, "random")):
            # A second batch, however small, would be of other edges in another team, behind another update.
            result = self.train(*options, "--batch", -(-14418 // devices), "--devices", devices, "--method", method)
            self.assertEqual((result["training_edges"], result["batches"]), (14418, 1))
            found.append([e["loss"] for e in result["epochs"]])
        for other in found[1:]:
            for one, two in zip(found[0], other):
                self.assertAlmostEqual(one, two, places=4)

    def test_learns(self):
        for evaluation in ("exact", "sampled"):
            result = self.train("community:2000,20", "--features", 16, "--classes", 10, *LINKS, "--dropout", 0, "--epochs", 8,
                                "--evaluation", evaluation)
            self.assertGreater(result["test_auc"], 0.8)

    def test_datasets_need_no_labels(self):
        edges = "".join(f"{v} {w}\n" for v in range(60) for w in range(60) if v != w and v % 3 == w % 3)
        self.file("set/graph.el", edges)
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 3), }"
        header += " " * (-(10 + len(header) + 1) % 64) + "\n"
        values = [float(v % 3 == c) for v in range(60) for c in range(3)]
        (self.folder / "set" / "features.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))
        result = self.train(str(self.folder / "set"), *LINKS, "--dropout", 0, "--epochs", 60)
        self.assertGreater(result["test_auc"], 0.95)
        self.must_fail(2, "train", str(self.folder / "set"), says="no labels.npy")

    def test_checkpoints(self):
        options = ["train", *GENERATED, *LINKS, "--batch", 500]
        whole = self.succeed_json(*options, "--epochs", 4)
        first = self.succeed_json(*options, "--epochs", 2, "--checkpoint", "kept")
        rest = self.succeed_json(*options, "--epochs", 4, "--checkpoint", "kept", "--resume")
        self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
        self.assertEqual(rest["epochs"][:2], first["epochs"])
        self.assertEqual((rest["test_auc"], rest["test_mrr"]), (whole["test_auc"], whole["test_mrr"]))
        self.must_fail(2, "predict", *GENERATED, "--classes", 4, "--checkpoint", "kept", says=["kept", "--task link"])
        nodes = ["train", *GENERATED, "--classes", 4, "--task", "node", "--mode", "sampled", "--model", "sage", "--epochs", 1]
        self.must_fail(2, *nodes, "--checkpoint", "kept", "--resume", says=["is of links", "task is node"])
        self.succeed_json(*nodes, "--checkpoint", "classes")
        self.must_fail(2, *options, "--checkpoint", "classes", "--resume", says=["classes of vertices", "task is link"])

    def test_sixteen_bits(self):
        wide = self.train(*GENERATED, *LINKS, "--epochs", 3)
        for name in ("bfloat16", "float16"):
            narrow = self.train(*GENERATED, *LINKS, "--epochs", 3, "--type", name)
            self.assertEqual(narrow["type"], name)
            self.assertEqual("loss_scale" in narrow, name == "float16")
            for ours, theirs in zip(narrow["epochs"], wide["epochs"]):
                self.assertAlmostEqual(ours["loss"], theirs["loss"], delta=0.02)

    def test_refused(self):
        self.must_fail(2, "train", *GENERATED, "--task", "link", says="--mode sampled")
        self.must_fail(2, "train", *GENERATED, "--task", "edge", says="edge")
        self.must_fail(2, "train", *GENERATED, "--classes", 4, "--negatives", 2, says="--task link")
        self.must_fail(2, "train", *GENERATED, *LINKS, "--negatives", 0, says="--negatives")
        self.must_fail(2, "train", *GENERATED, *LINKS, "--batch", 100000, says="training edges")
        self.must_fail(2, "train", "community:1000,20", *LINKS, says="--features")
        # No edges, and too few.
        self.must_fail(2, "train", "grid:1x1", "--features", 4, *LINKS, says="0 edges")
        self.must_fail(2, "train", "grid:1x2", "--features", 4, *LINKS, says="1 edges")

    def test_text(self):
        out = self.succeed("train", *GENERATED, *LINKS, "--epochs", 1).out
        for line in (r"edges a rank", r"best validation AUC", r"test reciprocal rank +0\.\d+, among 50"):
            self.assertRegex(out, line)


if __name__ == "__main__":
    unittest.main()
