# SPDX-License-Identifier: Apache-2.0
"""That every model learns with its defaults: a generated set of 47 classes in thirty epochs over the whole graph, and in three of sampled batches.

Attention takes minutes on a CPU: WARREN_LEARNING_FULL=1 trains all five models on the whole set, either way.
"""

import os
import sys
import unittest

from support import ProgramTest

FULL = bool(os.environ.get("WARREN_LEARNING_FULL"))
MODELS = ("gcn", "sage", "gin", "gat", "gatv2")
ENOUGH = 0.9


class Learning(ProgramTest):
    def check(self, graph, models, *arguments, features=100, classes=47):
        for model in MODELS if FULL and len(models) > 2 else models:
            with self.subTest(model=model):
                result = self.succeed_json("train", graph, "--features", features, "--classes", classes, "--model", model, *arguments)
                self.assertEqual(result["normalize"], "none")
                self.assertLess(result["chance"], 0.25)
                self.assertGreaterEqual(result["best_validation"], ENOUGH)
                self.assertGreaterEqual(result["test_accuracy"], ENOUGH)

    def test_whole_graph(self):
        self.check("community:4000,12", MODELS[:4], "--epochs", 30, features=32, classes=20)
        # Small sets, with the models that found them hard.
        for seed, vertices, degree, features, classes, models in ((2, 3000, 15, 64, 10, ("gin", "gat")), (5, 5000, 12, 48, 8, ("gin",)),
                                                                  (2, 5000, 20, 16, 16, ("gat", "gatv2"))):
            self.check(f"community:{vertices},{degree}", models, "--epochs", 30, "--seed", seed, features=features, classes=classes)
        self.check("community:30000,25" if FULL else "community:10000,25", MODELS[:4], "--epochs", 30)

    def test_sampled_batches(self):
        self.check("community:30000,25", MODELS[:3], "--mode", "sampled", "--epochs", 3)
        self.check("community:4000,20", MODELS, "--mode", "sampled", "--epochs", 3, features=64, classes=12)
        self.check("community:4000,20", ("gin",), "--mode", "sampled", "--epochs", 3, "--seed", 5, features=64, classes=12)
        self.check("community:2000,10", MODELS[:2], "--mode", "sampled", "--epochs", 3, "--seed", 2, features=32, classes=8)
        self.check("community:5000,20", MODELS[3:], "--mode", "sampled", "--epochs", 3, "--seed", 2, features=16, classes=16)


if __name__ == "__main__":
    if os.environ.get("WARREN_SANITIZED"):
        print("skipped: whole trainings take too long under the sanitizers")
        sys.exit(77)
    unittest.main()
