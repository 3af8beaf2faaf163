# SPDX-License-Identifier: Apache-2.0
"""Tests of make_debian_dataset on a made-up index, small enough to check by eye."""

import gzip
import io
import struct
import sys
import unittest
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True  # no folder left beside the tool
_tool = Path(__file__).with_name("make_debian_dataset")
_loader = SourceFileLoader(_tool.name, str(_tool))
dataset = module_from_spec(spec_from_loader(_loader.name, _loader))
_loader.exec_module(dataset)

INDEX = """\
Package: editor
Version: 2.0-1
Section: contrib/editors
Pre-Depends: libc (>= 2.36)
Depends: libc (>> 2.30), gui:any (= 1~rc1) | console, mail-agent, editor
Recommends: nowhere | console [amd64] | gui
Description: editor for the quick Words, words and 3d
 A long description that mentions neverseen.

Package: libc
Version: 2.36-9
Section: libs
Provides: virtual-libc
Description: shared library

Package: console
Version: 1.0
Section: utils
Depends: virtual-libc, console | libc, libc | gui
Description: plain libs of utils

Package: gui
Version: 1.0
Section: x11
Description: windows

Package: sendmail
Version: 1.0
Section: mail
Provides: mail-agent
Description: sends

Package: lonely
Version: 1.0
Description: no section
"""


def edges_of(index):
    packages = dataset.newest_packages([index])
    names = sorted(packages)
    return {(names[u], names[v]) for u, v in dataset.make_edges(names, packages)}


def vector_of(content):
    """The elements of a one-dimensional .npy file."""
    header_bytes = struct.unpack_from("<H", content, 8)[0]
    header = content[10 : 10 + header_bytes].decode()
    kind = header.split("'descr': '")[1].split("'")[0]
    code, size = {"<i4": ("i", 4), "<i8": ("q", 8), "<f4": ("f", 4)}[kind]
    payload = content[10 + header_bytes :]
    return list(struct.unpack(f"<{len(payload) // size}{code}", payload))


class Edges(unittest.TestCase):
    def test_takes_the_first_real_alternative_of_each_group(self):
        self.assertEqual(
            {target for source, target in edges_of(INDEX) if source == "editor"},
            {"libc", "gui", "console"},
        )

    def test_a_virtual_package_is_no_target(self):
        targets = {target for _, target in edges_of(INDEX)}
        self.assertNotIn("sendmail", targets)
        self.assertNotIn("virtual-libc", targets)

    def test_a_group_that_starts_with_the_package_itself_needs_nothing(self):
        only_itself = "Package: a\nVersion: 1\nDepends: a | b\n\nPackage: b\nVersion: 1\n"
        self.assertEqual(edges_of(only_itself), set())

    def test_strips_versions_and_qualifiers(self):
        field = "a (>= 1:2.0-3), b:any | c [amd64 !arm64],d<!nocheck>, e(<< 2)"
        self.assertEqual(list(dataset.alternatives(field)), [["a"], ["b", "c"], ["d"], ["e"]])

    def test_merges_fields(self):
        self.assertEqual(len([e for e in edges_of(INDEX) if e == ("editor", "libc")]), 1)
        self.assertEqual(len(edges_of(INDEX)), 4)


class Packages(unittest.TestCase):
    def test_keeps_the_newest_version(self):
        def index(version, section):
            return f"Package: a\nVersion: {version}\nSection: {section}\n\n"

        text = index("1.9", "old") + index("1.10", "new") + index("1.10~rc1", "candidate")
        self.assertEqual(dataset.newest_packages([text])["a"]["Section"], "new")

    def test_orders_versions_as_dpkg_does(self):
        ordered = ["1.0~~", "1.0~rc1", "1.0", "1.0-1", "1.0a", "1.0+b1", "1.2", "1.10", "1:0.1"]
        self.assertEqual(sorted(reversed(ordered), key=dataset.version_key), ordered)

    def test_strips_the_area_of_a_section(self):
        self.assertEqual(dataset.section_of({"Section": "contrib/editors"}), "editors")
        self.assertEqual(dataset.section_of({"Section": "libs"}), "libs")
        self.assertEqual(dataset.section_of({}), "")


class Features(unittest.TestCase):
    def column(self, word):
        return dataset.fnv1a(word) % dataset.FEATURE_COLUMNS

    def test_hash_is_fnv1a(self):
        self.assertEqual(dataset.fnv1a(""), 0x811C9DC5)
        self.assertEqual(dataset.fnv1a("foobar"), 0xBF9CF968)

    def test_counts_words_without_names_stop_words_and_short_ones(self):
        packages = dataset.newest_packages([INDEX])
        row = dataset.feature_row(packages["editor"], dataset.STOP_WORDS)
        self.assertEqual(row, {self.column("quick"): 1, self.column("words"): 2})

    def test_words_of_section_names_never_become_features(self):
        files = dataset.make_dataset([INDEX])
        archive = zipfile.ZipFile(io.BytesIO(files["features.npz"]))
        indices = vector_of(archive.read("indices.npy"))
        indptr = vector_of(archive.read("indptr.npy"))
        console = files["names.txt"].decode().split().index("console")
        self.assertEqual(indices[indptr[console] : indptr[console + 1]], [self.column("plain")])


class Splits(unittest.TestCase):
    def test_proportions_and_order(self):
        parts = dataset.split(range(1000))
        self.assertEqual([len(part) for part in parts], [600, 200, 200])
        self.assertEqual(sorted(sum(parts, [])), list(range(1000)))
        for part in parts:
            self.assertEqual(part, sorted(part))

    def test_is_fixed(self):
        # The published generator's first output from state 0, and a split that must never change.
        self.assertEqual(dataset.splitmix64(0), 0xE220A8397B1DCDAF)
        self.assertEqual(dataset.split(range(10)), ([0, 3, 4, 5, 6, 7], [2, 9], [1, 8]))


class Files(unittest.TestCase):
    def setUp(self):
        self.files = dataset.make_dataset([INDEX], "Thu, 01 Jan 1970 00:00:00 UTC", "a test")

    def test_same_index_same_bytes(self):
        again = dataset.make_dataset([INDEX], "Thu, 01 Jan 1970 00:00:00 UTC", "a test")
        self.assertEqual(self.files, again)

    def test_graph_keeps_isolated_packages(self):
        text = gzip.decompress(self.files["graph.mtx.gz"]).decode().splitlines()
        self.assertEqual(text[0], "%%MatrixMarket matrix coordinate pattern general")
        self.assertEqual(text[2], "6 6 4")
        self.assertEqual(text[3:], ["1 4", "2 1", "2 3", "2 4"])

    def test_labels_name_sorted_sections_and_mark_missing_ones(self):
        classes = self.files["classes.txt"].decode().split()
        self.assertEqual(classes, ["editors", "libs", "mail", "utils", "x11"])
        names = self.files["names.txt"].decode().split()
        labels = dict(zip(names, vector_of(self.files["labels.npy"])))
        self.assertEqual(
            labels, {"editor": 0, "libc": 1, "sendmail": 2, "console": 3, "gui": 4, "lonely": -1}
        )

    def test_unlabelled_vertices_are_in_no_part(self):
        parts = [self.files[f"{p}.txt"].decode().split() for p in ("train", "validation", "test")]
        lonely = str(self.files["names.txt"].decode().split().index("lonely"))
        self.assertEqual(sum(len(part) for part in parts), 5)
        self.assertNotIn(lonely, sum(parts, []))

    def test_sparse_archive_is_what_scipy_reads(self):
        archive = zipfile.ZipFile(io.BytesIO(self.files["features.npz"]))
        self.assertEqual(
            {name for name in archive.namelist()},
            {"indices.npy", "indptr.npy", "format.npy", "shape.npy", "data.npy"},
        )
        self.assertEqual(vector_of(archive.read("shape.npy")), [6, dataset.FEATURE_COLUMNS])
        indptr = vector_of(archive.read("indptr.npy"))
        self.assertEqual(len(indptr), 7)
        self.assertEqual(indptr[-1], len(vector_of(archive.read("data.npy"))))
        for name in archive.namelist():
            content = archive.read(name)
            self.assertEqual((10 + struct.unpack_from("<H", content, 8)[0]) % 64, 0)

    def test_readme_counts(self):
        readme = self.files["README.md"].decode()
        self.assertIn("| isolated packages (no edge in or out) | 2 |", readme)
        self.assertIn("| needed by most packages | libc (2) |", readme)


if __name__ == "__main__":
    unittest.main()
