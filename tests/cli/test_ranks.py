# SPDX-License-Identifier: Apache-2.0
"""Teams of every size give what one rank gives, also where ranks have no edges, or no rows."""

import unittest

from support import ProgramTest

SIZES = (1, 2, 3, 4, 7, 15, 16, 17, 32)
STRATEGIES = ("broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover", "auto")
SEARCH = ("source", "reached", "traversed_edges")


class Ranks(ProgramTest):
    def agree(self, command, graph, *options, fields, sizes=SIZES, **expected):
        """Runs with every size; `fields` are those of one rank, those of `expected` are given."""
        wanted = dict(expected)
        for devices in sizes:
            with self.subTest(command=command, graph=graph, options=options, devices=devices):
                found = self.succeed_json(command, *([graph] if graph else []), *options, "--devices", devices)
                for field in dict.fromkeys((*fields, *expected)):
                    value = wanted.setdefault(field, found[field])
                    if isinstance(value, float):
                        self.assertAlmostEqual(found[field], value, delta=1e-5 * max(1.0, abs(value)), msg=field)
                    else:
                        self.assertEqual(found[field], value, field)

    def test_searches(self):
        """Of every size, the library's tests see to."""
        def agree(*arguments, **more):
            self.agree(*arguments, sizes=(1, 16, 32), **more)

        agree("sssp", "grid:20x20", "--weights", "uniform:1:9", fields=SEARCH, sum_distance=21831, max_distance=102)
        for mode in ("sync", "async"):
            agree("sssp", "grid:20x20", "--weights", "uniform:1:9", "--verify", "--mode", mode, fields=(*SEARCH, "verified"), sum_distance=21831)
            agree("bfs", "kron:7", "--source", 1, "--mode", mode, "--verify", fields=(*SEARCH, "max_depth", "sum_depth", "verified"))
            agree("pagerank", "kron:7", "--mode", mode, "--verify", fields=("converged", "verified"), converged=True, verified=True)
        agree("bfs", "grid:20x20", "--sources", 5, "--together", "--verify", fields=("verified",), verified=True)
        agree("cc", "kron:7", "--verify", fields=("components", "largest", "verified"), verified=True)

    def test_edges_in_host_memory(self):
        for edges in ("host", "compressed-host"):
            for command, more in (("bfs", ()), ("sssp", ("--weights", "uniform:1:9")), ("cc", ()), ("pagerank", ())):
                self.agree(command, "kron:7", "--edges", edges, *more, "--verify", fields=("verified",), sizes=(1, 16, 32), verified=True)

    def test_products(self):
        for command in ("spmm", "sddmm"):
            for strategy in STRATEGIES if command == "spmm" else ("auto",):
                self.agree(command, "kron:6", "--weights", "uniform:1:9", "--k", 5, "--strategy", strategy, "--verify",
                           fields=("sum", "sumsq"), sizes=SIZES if strategy in ("cover", "auto") else (1, 16, 32))

    def test_weights_of_matrices_that_are_with_few_ranks(self):
        """Every entry in one row, so that all ranks but one have none."""
        star = self.file("star.wel", "".join(f"0 {v} {v % 5 + 2}\n" for v in range(1, 2000)))
        two = self.file("two.wel", "0 0 2\n0 1 7\n")
        column = self.file("column.wel", "".join(f"{v} 0 {v % 5 + 2}\n" for v in range(1, 2000)))
        pattern = self.file("star.el", "".join(f"0 {v}\n" for v in range(1, 2000)))
        sizes = (1, 2, 3, 4, 8)
        for strategy in STRATEGIES:
            options = ("--weights", "file", "--strategy", strategy)
            self.agree("spmm", star, "--k", 64, *options, fields=(), sizes=sizes, sum=-23.0)
            self.agree("spmm", two, "--k", 1, *options, fields=(), sizes=sizes, sum=-23.0)
        for strategy in ("cover", "auto"):
            self.agree("spmm", column, "--weights", "file", "--k", 3, "--strategy", strategy, "--verify", fields=("sum", "sumsq"), sizes=sizes)
            # Without weights the entries are a pattern.
            self.agree("spmm", pattern, "--k", 64, "--strategy", strategy, "--verify", fields=("sum", "sumsq"), sizes=sizes)
        for graph in (star, two, column):
            self.agree("sddmm", graph, "--weights", "file", "--k", 3, "--verify", fields=("sum", "sumsq"), sizes=sizes)
            self.agree("sssp", graph, "--verify", fields=("reached", "sum_distance", "verified"), sizes=sizes, verified=True)
            for replace in ([], ["--replace"]):
                self.agree("sample", graph, "--weighted", "--weights", "file", "--fanout", "4,3", "--batch", 2, "--batches", 3, "--verify",
                           *replace, fields=("digest", "sampled_edges", "verified"), sizes=sizes, verified=True)

    def test_rows(self):
        self.agree("sample", "kron:7", "--batch", 8, "--batches", 3, "--fanout", "5,3", "--verify",
                   fields=("digest", "sampled_edges", "sampled_vertices", "verified"), verified=True)
        for parts in SIZES:
            self.assertLessEqual(self.succeed_json("partition", "kron:6", "--parts", parts)["cut_edges"], 1024)
        for strategy in ("pull", "owner-sum", "messages"):
            self.agree("lookup", None, "--rows", 50, "--k", 4, "--batch", 20, "--bag", 3, "--strategy", strategy, "--verify",
                       fields=("verified",), verified=True)
        self.agree("gather", None, "--rows", 50, "--k", 4, "--count", 60, "--verify", fields=("verified",), verified=True)


if __name__ == "__main__":
    unittest.main()
