# SPDX-License-Identifier: Apache-2.0
"""train --edge-weights: what weights change, and what they leave; teams and strategies; sampled batches; checkpoints; what is refused."""

import unittest

from support import ProgramTest, npy

N = 60
STRATEGIES = ("broadcast", "broadcast-pipelined", "pull:ps=4:dist=1", "once", "staged:chunks=2", "fused", "cover")
SUMMING = (["gcn"], ["sage"], ["sage", "--aggregate", "sum"])
ATTENDING = (["gat"], ["gatv2"])
MODELS = (*SUMMING, *ATTENDING)


class EdgeWeights(ProgramTest):
    def folder_of(self, name="set", ending="wel", weight=lambda v, w: 1 + (v * 5 + w) % 4 / 4, more=""):
        """Sixty vertices of three classes that their features tell, with two edges each."""
        edges = [(v, (v + step) % N) for v in range(N) for step in (1, 3)]
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / f"graph.{ending}").write_text("".join(f"{v} {w}{'' if weight is None else f' {weight(v, w)}'}\n" for v, w in edges) + more)
        (folder / "features.npy").write_bytes(npy("<f4", (N, 4), [float(v % 3 == c) + 0.01 * ((v * 7 + c) % 5) for v in range(N) for c in range(4)]))
        (folder / "labels.npy").write_bytes(npy("<i8", (N,), [v % 3 for v in range(N)]))
        for split, rows in (("train", range(30)), ("validation", range(30, 40)), ("test", range(40, N))):
            (folder / f"{split}.txt").write_text("".join(f"{v}\n" for v in rows))
        return str(folder)

    def train(self, folder, *options, **how):
        epochs = [] if "--epochs" in options else ["--epochs", 3]
        return self.succeed_json("train", folder, "--dropout", 0, "--hidden", 8, *epochs, *options, **how)

    def losses(self, *options, **how):
        return [epoch["loss"] for epoch in self.train(*options, **how)["epochs"]]

    def assert_near(self, one, other, delta=2e-5):
        for a, b in zip(one, other, strict=True):
            self.assertAlmostEqual(a, b, delta=delta)

    def test_weights_enter_the_sums(self):
        weighted = self.folder_of()
        ones = self.folder_of("ones", weight=lambda v, w: 1)
        plain = self.folder_of("plain", "el", None)
        for model in MODELS:
            with self.subTest(model=model):
                options = ["--model", *model]
                found = self.train(weighted, *options, "--edge-weights")
                self.assertIs(found["edge_weights"], True)
                without = self.train(weighted, *options)
                self.assertIs(without["edge_weights"], False)
                self.assertGreater(found["memory_plan"]["graph"], without["memory_plan"]["graph"])
                losses = self.losses(weighted, *options)
                self.assertNotEqual(self.losses(weighted, *options, "--edge-weights"), losses)
                self.assertEqual(self.losses(plain, *options), losses)
                if model in SUMMING:
                    self.assertEqual(self.losses(ones, *options, "--edge-weights"), losses)

    def test_teams_and_strategies_agree(self):
        folder = self.folder_of()
        for model in MODELS:
            options = [folder, "--edge-weights", "--model", *model]
            one = self.losses(*options)
            for devices in (2, 3, 4):
                self.assert_near(self.losses(*options, "--devices", devices), one)
            for strategy in STRATEGIES if model in SUMMING else ():
                with self.subTest(model=model, strategy=strategy):
                    fused = ["--workgroup", 2] if strategy == "fused" else []
                    self.assert_near(self.losses(*options, "--devices", 4, "--strategy", strategy, *fused), one)
            self.assert_near(self.losses(*options, "--devices", 2, "--method", "random", "--reorder", "random"), one)
            # A collective moves rows.
            self.assert_near(self.losses(*options, "--devices", 3, "--no-peer"), one)
            self.assert_near(self.losses(*options, "--devices", 2, "--type", "bfloat16"), one, 2e-2)

    def test_sampled_batches(self):
        weighted = self.folder_of()
        ones = self.folder_of("ones", weight=lambda v, w: 1)
        signs = self.folder_of("signs", weight=lambda v, w: -2 if v == 7 else v % 3)
        for model in MODELS:
            with self.subTest(model=model):
                # One batch of all trains as the whole graph does.
                for folder, warning in ((weighted, None), (signs, "0 or less" if model == ["gcn"] else None)):
                    how = [folder, "--edge-weights", "--model", *model, "--optimizer", "sgd"]
                    whole = self.losses(*how, warns=warning)
                    self.assert_near(self.losses(*how, "--mode", "sampled", "--batch", 30, "--fanout=-1,-1", warns=warning), whole)
                few = ["--model", *model, "--mode", "sampled", "--batch", 5, "--fanout", "1,1"]
                found = self.train(weighted, *few, "--edge-weights")
                self.assertIs(found["edge_weights"], True)
                losses = [epoch["loss"] for epoch in found["epochs"]]
                without = self.train(weighted, *few)
                self.assertNotEqual([epoch["loss"] for epoch in without["epochs"]], losses)
                if model in SUMMING:
                    self.assertEqual(self.losses(ones, *few, "--edge-weights"), [epoch["loss"] for epoch in without["epochs"]])
                self.assertGreater(found["memory_plan"]["store"], without["memory_plan"]["store"])
                for more in (["--edges", "host"], ["--edges", "replicated"], ["--capture-batches"]):
                    self.assert_near(self.losses(weighted, *few, "--edge-weights", *more), losses)
                for devices in (2, 3, 4):
                    self.train(weighted, *few, "--edge-weights", "--devices", devices, "--evaluation", "sampled", "--epochs", 1)
                self.train(weighted, *few, "--edge-weights", "--weighted", "--replace")
        self.must_fail(2, "train", signs, "--mode", "sampled", "--fanout", "1,1", "--edge-weights", "--weighted", says=["the edge from 7 to", "weights of 0 and above"])

    def test_checkpoints_of_sampled_batches(self):
        folder = self.folder_of()
        few = ["--mode", "sampled", "--batch", 5, "--fanout", "1,1"]
        whole = self.losses(folder, "--edge-weights", *few, "--epochs", 5)
        trained = self.train(folder, "--edge-weights", *few, "--checkpoint", "kept")
        found = self.succeed_json("predict", folder, "--checkpoint", "kept")
        self.assertEqual((found["test_accuracy"], found["trained_on"]), (trained["test_accuracy"], True))
        rest = self.train(folder, "--epochs", 5, "--checkpoint", "kept", "--resume")
        self.assertIs(rest["edge_weights"], True)
        self.assertEqual([epoch["loss"] for epoch in rest["epochs"]], whole)
        self.must_fail(2, "train", folder, "--edge-weights=false", "--checkpoint", "kept", "--resume", says=["trained with --edge-weights", "no --edge-weights is given"])

    def test_weights_of_generators_and_of_matrices(self):
        generated = ["community:600,6", "--features", 5, "--classes", 3]
        self.assertNotEqual(self.losses(*generated, "--edge-weights", "--weights", "uniform:1:9"), self.losses(*generated))
        entries = [(v + 1, (v + 1) % N + 1, 0.5 + v % 3) for v in range(N)]
        folder = self.folder_of("matrix", "el", None)
        (self.folder / "matrix" / "graph.el").unlink()
        (self.folder / "matrix" / "graph.mtx").write_text(
            f"%%MatrixMarket matrix coordinate real general\n{N} {N} {N}\n" + "".join(f"{a} {b} {w}\n" for a, b, w in entries))
        self.assertNotEqual(self.losses(folder, "--edge-weights"), self.losses(folder))

    def test_negative_weights(self):
        """Of GCN a row sum that is not above 0 has no root; a mean and a sum know no such thing."""
        folder = self.folder_of(weight=lambda v, w: -2 if v == 7 else 1)
        self.train(folder, "--edge-weights", warns="--edge-weights: of 1 of 60 vertices the weights of the edges and the loop's 1 add up to 0 or less")
        self.train(folder, "--edge-weights", "--model", "sage")

    def test_checkpoints(self):
        folder = self.folder_of()
        ask = ["predict", folder, "--checkpoint", "kept"]
        whole = self.losses(folder, "--edge-weights", "--epochs", 5)
        trained = self.train(folder, "--edge-weights", "--checkpoint", "kept")
        found = self.succeed_json(*ask)
        self.assertEqual((found["test_accuracy"], found["trained_on"]), (trained["test_accuracy"], True))
        rest = self.train(folder, "--epochs", 5, "--checkpoint", "kept", "--resume")
        self.assertIs(rest["edge_weights"], True)
        self.assertEqual([epoch["loss"] for epoch in rest["epochs"]], whole)
        self.must_fail(2, "train", folder, "--edge-weights=false", "--checkpoint", "kept", "--resume", says=["trained with --edge-weights", "no --edge-weights is given"])
        # Without weights there is nothing to predict by, and with other ones something else.
        plain = self.folder_of("plain", "el", None)
        self.must_fail(2, "predict", plain, "--checkpoint", "kept", says=["plain: its edges have no weights", "--edge-weights"])
        self.must_fail(2, "train", plain, "--checkpoint", "kept", "--resume", says=["plain: its edges have no weights"])
        other = self.folder_of("other", weight=lambda v, w: 2)
        self.assertIs(self.succeed_json("predict", other, "--checkpoint", "kept")["trained_on"], False)
        self.must_fail(2, "train", other, "--epochs", 9, "--checkpoint", "kept", "--resume", says="other weights")
        # Of a training without them.
        self.train(folder, "--checkpoint", "bare")
        self.must_fail(2, "train", folder, "--edge-weights", "--epochs", 9, "--checkpoint", "bare", "--resume", says=["no --edge-weights", "but --edge-weights is given"])

    def test_predict_draws_the_weights_again(self):
        generated = ["community:600,6", "--features", 5, "--classes", 3, "--edge-weights", "--weights", "uniform:1:9", "--seed", 3]
        trained = self.succeed_json("train", *generated, "--epochs", 5, "--checkpoint", "kept")
        found = self.succeed_json("predict", generated[0], "--checkpoint", "kept")
        self.assertEqual((found["test_accuracy"], found["trained_on"]), (trained["test_accuracy"], True))
        plain = self.folder_of("plain", "el", None)
        trained = self.train(plain, "--edge-weights", "--weights", "uniform:1:9", "--seed", 5, "--checkpoint", "drawn")
        ask = ["predict", plain, "--checkpoint", "drawn"]
        for given in ([], ["--seed", 5], ["--weights", "uniform:1:9"]):
            found = self.succeed_json(*ask, *given)
            self.assertEqual((found["test_accuracy"], found["trained_on"]), (trained["test_accuracy"], True))
        self.must_fail(2, *ask, "--seed", 6, says=["--seed 5", "--seed 6"])
        self.assertIs(self.succeed_json(*ask, "--seed", 6, "--allow-changes")["trained_on"], False)

    def test_what_has_no_form_is_refused(self):
        folder = self.folder_of()
        works = "--edge-weights is for --model gcn, gat and gatv2, and sage with --aggregate mean or sum"
        for options, name in ((["--model", "gin"], "--model gin"),
                              (["--model", "sage", "--aggregate", "max"], "--aggregate max"), (["--mode", "sampled", "--model", "gin"], "--model gin"),
                              (["--mode", "sampled", "--task", "link"], "--task link")):
            self.must_fail(2, "train", folder, "--edge-weights", *options, says=[name, works, "leave it out"])
        plain = self.folder_of("plain", "el", None)
        self.must_fail(2, "train", plain, "--edge-weights", says=["plain: its edges have no weights", "--weights uniform:LO:HI draws some"])
        self.must_fail(2, "train", folder, "--weights", "file", says=["--weights", "--edge-weights"])
        large = self.folder_of("large", weight=lambda v, w: 16777217 if v == 7 and w == 8 else 1)
        self.must_fail(2, "train", large, "--edge-weights", says=["the edge from 7 to 8 has the weight 16777217", "2^24"])
        for weight in ("nan", "inf"):
            wrong = self.folder_of(weight, weight=lambda v, w, text=weight: text if v == 7 else 1.5)
            self.must_fail(2, "train", wrong, "--edge-weights", says=[weight])
            self.must_fail(2, "train", wrong, "--edge-weights", "--mode", "sampled", "--evaluation", "sampled", says=[weight])


if __name__ == "__main__":
    unittest.main()
