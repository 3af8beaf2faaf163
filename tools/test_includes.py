# SPDX-License-Identifier: Apache-2.0
"""The floors: what they include of each other, and that the check would see what they must not."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # no folder left beside the tools
TOOL = pathlib.Path(__file__).resolve().parent / "check_includes"
LOADER = importlib.machinery.SourceFileLoader("check_includes", str(TOOL))
check_includes = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_includes", LOADER))
LOADER.exec_module(check_includes)

FINE = {
    "include/warren/core/a.hpp": "",
    "include/warren/exec/b.hpp": '#include "warren/core/a.hpp"\n',
    "src/exec/own.hpp": '#include "warren/exec/b.hpp"\n',
    "src/exec/own.cpp": '#include "exec/own.hpp"\n#include <vector>\n',
    "src/team/c.cpp": '#include "warren/exec/b.hpp"\n#include "warren/core/a.hpp"\n',
}


class Includes(unittest.TestCase):
    def test_the_floors(self):
        done = subprocess.run([sys.executable, "-B", TOOL], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def faults(self, **changes):
        return list(check_includes.faults({**FINE, **{path.replace("__", "/").replace("_hpp", ".hpp").replace("_cpp", ".cpp"): text for path, text in changes.items()}}))

    def test_what_is_fine(self):
        self.assertEqual(self.faults(), [])

    def test_an_arrow_upwards(self):
        found = self.faults(include__warren__core__a_hpp='#include "warren/exec/b.hpp"\n')
        self.assertIn("include/warren/core/a.hpp: include/warren/exec/b.hpp is of exec, which is not below core", found)

    def test_an_arrow_aside(self):
        found = self.faults(include__warren__sparse__d_hpp="", src__traverse__e_cpp='#include "warren/sparse/d.hpp"\n')
        self.assertEqual(found, ["src/traverse/e.cpp: include/warren/sparse/d.hpp is of sparse, which is not below traverse"])

    def test_a_private_header_of_another_floor(self):
        found = self.faults(src__team__c_cpp='#include "exec/own.hpp"\n')
        self.assertEqual(found, ["src/team/c.cpp: src/exec/own.hpp is a private header of exec"])

    def test_a_private_header_in_a_public_one(self):
        found = self.faults(include__warren__exec__b_hpp='#include "exec/own.hpp"\n', src__exec__own_hpp="")
        self.assertEqual(found, ["include/warren/exec/b.hpp: src/exec/own.hpp is a private header of exec"])

    def test_a_header_that_is_not_installed(self):
        found = self.faults(internal__warren__core__i_hpp="", include__warren__exec__b_hpp='#include "warren/core/i.hpp"\n')
        self.assertEqual(found, ["include/warren/exec/b.hpp: internal/warren/core/i.hpp is not installed"])
        self.assertEqual(self.faults(internal__warren__core__i_hpp="", src__team__c_cpp='#include "warren/core/i.hpp"\n'), [])
        self.assertEqual(self.faults(internal__warren__core__a_hpp=""), ["internal/warren/core/a.hpp: an installed header has that name"])
        self.assertEqual(self.faults(internal__warren__exec__i_hpp='#include "exec/own.hpp"\n'), ["internal/warren/exec/i.hpp: src/exec/own.hpp is a private header of exec"])

    def test_the_headers_of_whole_floors(self):
        self.assertEqual(self.faults(include__warren__exec_hpp='#include "warren/exec/b.hpp"\n'), [])
        self.assertEqual(self.faults(include__warren__core_hpp='#include "warren/exec/b.hpp"\n'),
                         ["include/warren/core.hpp: include/warren/exec/b.hpp is of exec, which is not below core"])

    def test_however_it_is_written(self):
        for line in ('#include "../exec/own.hpp"', '#  include "exec/own.hpp"', '#include"exec/own.hpp"', "#include <exec/own.hpp>"):
            self.assertEqual(self.faults(src__team__c_cpp=line), ["src/team/c.cpp: src/exec/own.hpp is a private header of exec"], line)

    def test_a_header_of_no_floor(self):
        self.assertEqual(self.faults(include__warren__all_hpp=""), ["include/warren/all.hpp: it is of no floor"])

    def test_a_cycle(self):
        found = self.faults(src__exec__own_hpp='#include "exec/two.hpp"\n', src__exec__two_hpp='#include "own.hpp"\n')
        self.assertEqual(found, ["a cycle: src/exec/own.hpp -> src/exec/two.hpp -> src/exec/own.hpp"])

    def test_a_floor_that_nobody_knows(self):
        self.assertEqual(self.faults(src__cellar__x_cpp=""), ["src/cellar/x.cpp: no floor is called cellar"])

    def test_the_page_draws_the_same_floors(self):
        page = (TOOL.parent.parent / "docs" / "architecture.md").read_text()
        self.assertIn("`warren/device/*.hpp`", page)
        for floor in set(check_includes.BELOW) - {"device"}:
            self.assertRegex(page, rf"(?m)^\| `{floor}` \|")


if __name__ == "__main__":
    unittest.main()
