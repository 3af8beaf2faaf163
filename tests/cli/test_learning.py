# SPDX-License-Identifier: Apache-2.0
"""That every model learns with its defaults: a generated set of 47 classes in thirty epochs over the whole graph, and in three of sampled batches."""

import os
import sys
import unittest

from support import ProgramTest

COMMUNITIES = ["community:30000,25", "--features", 100, "--classes", 47]
ENOUGH = 0.9


class Learning(ProgramTest):
    def check(self, *arguments):
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            with self.subTest(model=model):
                result = self.succeed_json("train", *COMMUNITIES, "--model", model, *arguments)
                self.assertEqual(result["normalize"], "none")
                self.assertLess(result["chance"], 0.05)
                self.assertGreaterEqual(result["best_validation"], ENOUGH)
                self.assertGreaterEqual(result["test_accuracy"], ENOUGH)

    def test_whole_graph(self):
        self.check("--epochs", 30)

    def test_sampled_batches(self):
        self.check("--mode", "sampled", "--epochs", 3)


if __name__ == "__main__":
    if os.environ.get("WARREN_SANITIZED"):
        print("skipped: whole trainings take too long under the sanitizers")
        sys.exit(77)
    unittest.main()
