# SPDX-License-Identifier: Apache-2.0
"""Training by every strategy of distributed products: the losses of the default, what is told of the choice, and what is refused."""

import unittest

from support import ProgramTest

GRAPH = ["community:600,6", "--features", 5, "--classes", 3, "--dropout", 0, "--hidden", 8, "--epochs", 2]
STRATEGIES = ("broadcast", "broadcast-pipelined", "pull:ps=4:dist=1", "once", "staged:chunks=2", "fused", "cover")


class TrainStrategies(ProgramTest):
    def train(self, *options):
        return self.succeed_json("train", *GRAPH, *options)

    def losses(self, found):
        return [epoch["loss"] for epoch in found["epochs"]]

    def refused(self, part, *options):
        self.must_fail(2, "train", *GRAPH, *options, says=part)

    def test_losses_are_those_of_the_default(self):
        for model in (["gcn"], ["sage"], ["gin"], ["gin", "--layers", 3, "--recompute", "--type", "bfloat16"]):
            options = ["--model", *model, "--devices", 4]
            default = self.train(*options)
            self.assertTrue(default["strategy"].startswith("staged"), default["strategy"])
            self.assertEqual(self.losses(self.train(*options, "--strategy", "staged")), self.losses(default))
            delta = 2e-2 if "bfloat16" in model else 2e-5
            for strategy in STRATEGIES:
                with self.subTest(model=model, strategy=strategy):
                    found = self.train(*options, "--strategy", strategy, *(["--workgroup", 2] if strategy == "fused" else []))
                    self.assertTrue(found["strategy"].startswith(strategy), found["strategy"])
                    self.assertIn("as asked for", found["strategy_reason"])
                    self.assertGreater(found["memory_plan"]["strategy"], 0)
                    for one, other in zip(self.losses(found), self.losses(default), strict=True):
                        self.assertAlmostEqual(one, other, delta=delta)

    def test_first_epochs_try_ways(self):
        """Twice: the second run takes what the first has found."""
        options = [*GRAPH[:-2], "--epochs", 60, "--devices", 2]
        default = self.succeed_json("train", *options)
        table = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        tried, again = (self.succeed_json("train", *options, "--strategy", "pull:auto", "--explain", environment=table) for _ in range(2))
        self.assertEqual(tried["strategy_reason"], "the fastest of the first epochs, which tried ways")
        self.assertGreater(len([way for way in tried["candidates"] if way["measured_seconds"]]), 2)
        self.assertEqual((again["strategy"], again["strategy_reason"]), (tried["strategy"], "the fastest of an earlier training's epochs"))
        for found in (tried, again):
            for one, other in zip(self.losses(found), self.losses(default), strict=True):
                self.assertAlmostEqual(one, other, delta=1e-4)

    def test_auto_repeats_where_it_is_to(self):
        default = self.train("--devices", 2)
        found = self.train("--devices", 2, "--strategy", "auto", "--deterministic")
        self.assertEqual(self.losses(found), self.losses(default))
        self.assertIn("last bits", found["strategy_reason"])
        once = ["--devices", 2, "--strategy", "once", "--deterministic"]
        self.assertEqual(self.losses(self.train(*once)), self.losses(self.train(*once)))

    def test_explains_the_default(self):
        found = self.train("--devices", 2, "--explain")
        self.assertIn("staged", [way["strategy"] for way in found["candidates"]])
        self.assertTrue(all(way["predicted_seconds"] > 0 for way in found["candidates"]))

    def test_one_rank_is_local(self):
        found = self.train("--devices", 1)
        self.assertEqual(found["strategy"], "local")
        self.assertNotIn("strategy", found["memory_plan"])

    def test_a_strategy_is_no_property_of_the_model(self):
        """A training goes on by another one, and predicts."""
        folder = str(self.folder / "model")
        self.train("--devices", 2, "--strategy", "pull", "--checkpoint", folder)
        found = self.succeed_json("train", *GRAPH[:-2], "--epochs", 3, "--devices", 2, "--strategy", "broadcast", "--checkpoint", folder, "--resume")
        self.assertEqual((found["resumed_from"], found["changed"]), (2, []))
        self.succeed_json("predict", "community:600,6", "--checkpoint", folder)

    def test_what_has_no_strategy_is_refused(self):
        self.refused("one rank exchanges nothing; leave it out, or give --devices 2", "--strategy", "pull", "--devices", 1)
        self.refused("--strategy pull is for --mode full", "--strategy", "pull", "--devices", 2, "--mode", "sampled")
        for model in (["--model", "gat"], ["--model", "sage", "--aggregate", "max"]):
            self.refused("is for sums over neighbours", "--strategy", "pull", "--devices", 2, *model)
        self.refused('there is no strategy "pul"', "--strategy", "pul", "--devices", 2)
        self.refused('has no parameter "sp"', "--strategy", "pull:sp=3", "--devices", 2)
        self.refused("--workgroup is for --strategy fused and auto", "--workgroup", 2, "--devices", 4)
        self.refused("workgroup", "--strategy", "fused", "--workgroup", 3, "--devices", 4)
        self.refused("leave :auto out", "--strategy", "pull:auto", "--deterministic", "--devices", 2)


if __name__ == "__main__":
    unittest.main()
