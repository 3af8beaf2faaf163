# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: running the program, and small graphs in files."""

import io
import json
import os
import signal
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

PROGRAM = os.environ["WARREN_PROGRAM"]
# The tests say what runs where; a GPU that happens to be there changes nothing.
DEVICE = os.environ.get("WARREN_TEST_DEVICE", "cpu")


# What starts the tests in the background may have signals ignored, which programs leave as they find them.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self):
        return json.loads(self.out)


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, which is also where the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def run_program(self, *arguments, environment=None, program=PROGRAM, device=True, prepare=None):
        command = [program, *map(str, arguments)]
        if device and "--device" not in command and "--help" not in command:
            command += ["--device", DEVICE]
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            preexec_fn=prepare,
            timeout=600,
            check=False,
        )
        return Result(process)

    def succeed(self, *arguments, warns="", **options):
        """Runs, and expects nothing on standard error, or one warning."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.status, 0, result.err)
        if warns:
            self.assertRegex(result.err, r"\Awarren: warning: [^\n]+\n\Z")
            self.assertIn(warns, result.err)
        else:
            self.assertEqual(result.err, "")
        return result

    def succeed_json(self, *arguments, **options):
        """The JSON object on standard output: parsing it shows that nothing else is there."""
        return self.succeed(*arguments, "--json", "-", **options).json

    def must_fail(self, status, *arguments, says=(), **options):
        """Runs, and expects the status, one line on standard error, and nothing on the other."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.status, status, result.err + result.out)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"\Awarren: error: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.err)
        return result

    def check_fields(self, result, fields):
        """`fields`: name to type or tuple of types. Numbers are not booleans."""
        for name, kinds in fields.items():
            self.assertIn(name, result)
            kinds = kinds if isinstance(kinds, tuple) else (kinds,)
            self.assertIn(type(result[name]), kinds, f"{name}: {result[name]!r}")

    def check_common(self, result, command, runs=1):
        self.check_fields(result, {"command": str, "device": str, "devices": int, "seconds": list})
        self.assertEqual(result["command"], command)
        self.assertIn(result["device"], ("cpu", "cuda"))
        self.assertEqual(len(result["seconds"]), runs)
        for seconds in result["seconds"]:
            self.assertIs(type(seconds), float)
            self.assertGreaterEqual(seconds, 0.0)


# What there is to say of a graph's file, and nothing to say of a public set's files, which have one form.
FILE_OPTIONS = (["--format", "el"], ["--ids", "words"], ["--headings", "no"], ["--id-map", "map.txt"], ["--one-based"], ["--compact"])

# 10 -> 20, 30; 20 -> 40; 30 -> 40; 40 -> 50; 60 -> 10: ids with gaps.
GAPS = "# a comment\n10 20\n10 30\n20 40\n30 40\n40 50\n60 10\n"
# 1 -> 2 -> 3, with 4 alone, from 1 on.
MTX = "%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n2 3\n"
# An undirected path of 3 with a self-loop at its end.
SYMMETRIC = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 2\n3 3\n"


def npy(kind, shape, values, fortran_order=False):
    """The bytes of a NumPy array; `values` are bytes, or numbers of the kind."""
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (kind, fortran_order, shape)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    if not isinstance(values, bytes):
        code = {"<f4": "f", "<f8": "d", "<f2": "e", "<i8": "q", "<i4": "i", "|u1": "B"}[kind]
        values = struct.pack(f"<{len(values)}{code}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def npz(members, compressed=False, zip64=False):
    """The bytes of an archive of NumPy arrays, as numpy.savez or savez_compressed writes it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            with archive.open(name + ".npy", "w", force_zip64=zip64) as member:
                member.write(data)
    return content.getvalue()
