# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package: that the page is of these sources, and what is on it."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # no folder left beside the tools
TOOL = pathlib.Path(__file__).resolve().parent / "make_reference"
LOADER = importlib.machinery.SourceFileLoader("make_reference", str(TOOL))
make_reference = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_reference", LOADER))
LOADER.exec_module(make_reference)


class Reference(unittest.TestCase):
    def test_the_page_is_of_these_sources(self):
        done = subprocess.run([sys.executable, "-B", TOOL, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), "run tools/make_reference")

    def test_every_public_name_is_there_and_said(self):
        page = make_reference.page()
        for package in make_reference.PACKAGES:
            found = make_reference.definitions(package)
            for name in make_reference.public_names(make_reference.module_of(package)[0]):
                if not name.startswith("__"):
                    self.assertIn(f"### {name}\n", page)
                    self.assertTrue(make_reference.docstring(found[name]), f"{package}.{name} has no docstring")

    def test_arguments_are_as_they_are_written(self):
        page = make_reference.page()
        self.assertIn("bfs(graph, source, depth_limit=None, device='auto', devices='auto', mode='auto', edges='auto', session=None, *, targets=None, ", page)
        self.assertIn("\n.bfs(source, depth_limit=None, ", page)
        self.assertIn("\nSession(device='auto', ", page)
        self.assertIn("\nclass BfsResult(Result)\n", page)
        self.assertNotIn("self", make_reference.arguments_of(make_reference.ast.parse("def f(self, a=1): ...").body[0], True))


if __name__ == "__main__":
    unittest.main()
