# SPDX-License-Identifier: Apache-2.0
"""The check of kernels against what GPUs have, on cubins that are made here."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # no folder left beside the tools
TOOL = pathlib.Path(__file__).resolve().parent / "check_kernels"
LOADER = importlib.machinery.SourceFileLoader("check_kernels", str(TOOL))
check_kernels = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_kernels", LOADER))
sys.modules["check_kernels"] = check_kernels  # data classes look for their module
LOADER.exec_module(check_kernels)
Kernel = check_kernels.Kernel


def cubin(number, *, flags=None, machine=190, symbols=True, **kernels):
    """An ELF file with a kernel for each name: (registers, shared memory, threads or None)."""
    made = [("", 0, b"")]
    strings, table, counts = b"\0", bytes(24), b""
    for i, (name, (registers, _, _)) in enumerate(kernels.items(), 1):
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, 0, 0)
        strings += name.encode() + b"\0"
        counts += struct.pack("<BBHII", 4, 0x2F, 8, i, registers)
    if number >= 90:  # The system's part of shared memory is told with the kernels'.
        made += [(".nv.shared.reserved.0", 8, b"")]
    if symbols:
        made += [(".strtab", 3, strings), (".symtab", 2, table), (".nv.info", 1, counts)]
    for name, (_, shared, threads) in kernels.items():
        attributes = struct.pack("<BBH", 3, 0x1B, 255)  # A form of two bytes, to be passed over.
        attributes += struct.pack("<BBHI", 4, 0x19, 4, 7)  # Another sized one.
        if threads is not None:
            attributes += struct.pack("<BBHIII", 4, 5, 12, threads, 1, 1)
        own = shared + (1024 if number >= 90 else 0)
        made += [(f".text.{name}", 1, b"code"), (f".nv.info.{name}", 1, attributes), (f".nv.shared.{name}", 8, bytes(own))]
    names, places = b"", []
    for name, *_ in [*made, (".shstrtab",)]:
        places.append(len(names))
        names += name.encode() + b"\0"
    body, headers = b"", b""
    for (name, kind, contents), place in zip([*made, (".shstrtab", 3, names)], places):
        headers += struct.pack("<IIQQQQIIQQ", place, kind, 0, 0, 64 + len(body), len(contents), 0, 0, 1, 0)
        body += b"" if kind == 8 else contents
    flags = number << 8 | 4 if flags is None else flags
    start = b"\x7fELF\x02\x01\x01A" + bytes(8)
    head = start + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, 64 + len(body), flags, 64, 0, 0, 64, len(made) + 1, len(made))
    return head + body + headers


class Kernels(unittest.TestCase):
    def run_on(self, *files, options=()):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            paths = []
            for i, data in enumerate(files):
                paths.append(f"{folder}/{i}.cubin")
                pathlib.Path(paths[-1]).write_bytes(data)
            status = check_kernels.main([*options, *paths])
        return status, out.getvalue(), err.getvalue()

    def test_what_a_cubin_says(self):
        data = cubin(90, bfs=(64, 4096, 512), copy=(20, 0, None))
        self.assertEqual(check_kernels.capability(data), 90)
        self.assertEqual(check_kernels.kernels(data), [Kernel("bfs", 64, 4096, 512), Kernel("copy", 20, 0, None)])

    def test_flags_of_old_toolkits(self):
        self.assertEqual(check_kernels.capability(cubin(0, flags=0x4B054B)), 75)
        self.assertEqual(check_kernels.capability(cubin(0, flags=0x6007802)), 120)

    def test_what_fits(self):
        self.assertEqual(self.run_on(cubin(75, a=(64, 65536, 1024)))[0], 0)
        self.assertEqual(self.run_on(cubin(86, a=(255, 99 * 1024, None)))[0], 0)

    def test_what_does_not_fit(self):
        for data, said in (
            (cubin(75, a=(20, 65537, 256)), "65537 bytes of shared memory, 65536 is the most"),
            (cubin(86, a=(20, 100 * 1024, 256)), "102400 bytes of shared memory, 101376 is the most"),
            (cubin(90, a=(65, 0, 1024)), "1024 threads of 65 registers take 73728, there are 65536"),
            (cubin(80, a=(129, 0, 512)), "512 threads of 129 registers"),
            (cubin(80, a=(32, 0, 2048)), "2048 threads, 1024 is the most"),
        ):
            status, out, _ = self.run_on(cubin(90, fine=(32, 0, 32)), data)
            self.assertEqual(status, 1, said)
            self.assertIn(said, out)

    def test_the_table(self):
        status, out, _ = self.run_on(cubin(90, a=(64, 16, 512), b=(96, 8, 320)), cubin(75, c=(32, 0, 64)), options=["--table"])
        self.assertEqual(status, 0)
        self.assertIn("compute capability 7.5: 1 kernels in 1 files", out)
        self.assertIn("most registers: 96, b", out)
        self.assertIn("most shared memory: 16, a", out)
        self.assertIn("most threads: 512, a", out)

    def test_what_is_no_cubin(self):
        whole = cubin(90, a=(64, 16, 512))
        for data in (b"", b"text", cubin(75, symbols=False, a=(64, 16, 512)), whole[:80], whole[:-8], cubin(90, machine=62), cubin(90, flags=0x3333)):
            status, _, err = self.run_on(data)
            self.assertEqual((status, err.count("\n")), (2, 1), data[:60])

    def test_the_librarys_table_is_the_same(self):
        source = (TOOL.parent.parent / "src/exec/capability.cpp").read_text()
        rows = re.findall(r"\{(\d+), \{(\d+), \d+, (\d+), (\d+) \* kKiB, \w+, (\d+) \* kKiB, \d+\}\}", source)
        self.assertEqual({int(c): (int(t), int(r), int(b) * 1024) for c, t, r, _, b in rows}, check_kernels.LIMITS)


if __name__ == "__main__":
    unittest.main()
