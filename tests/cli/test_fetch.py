# SPDX-License-Identifier: Apache-2.0
"""fetch: archives and single files from a folder and from a server of the test's own; what is damaged, missing or refused; and the
files of Planetoid as train reads them."""

import collections
import gzip
import hashlib
import http.server
import io
import os
import pickle
import shutil
import signal
import struct
import subprocess
import threading
import time
import unittest
import zipfile

from support import FILE_OPTIONS, PROGRAM, ProgramTest


def ogb_archive(n=40, extra=()):
    """A set as the Open Graph Benchmark packs it."""
    files = {
        "raw/num-node-list.csv.gz": [n], "raw/edge.csv.gz": [f"{v},{(v + 1) % n}" for v in range(n)],
        "raw/node-feat.csv.gz": [f"{v % 2},{(v + 1) % 2}" for v in range(n)], "raw/node-label.csv.gz": [v % 2 for v in range(n)],
        "split/time/train.csv.gz": range(20), "split/time/valid.csv.gz": range(20, 30), "split/time/test.csv.gz": range(30, n),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files.items():
            archive.writestr("arxiv/" + name, gzip.compress("".join(f"{line}\n" for line in lines).encode()))
        for name in extra:
            archive.writestr(name, b"x")
    return content.getvalue()


class Server:
    """Serves `files`; of those in `cut` half, of those in `slow` a byte now and then."""

    def __init__(self, files, cut=(), slow=()):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                name = self.path.rsplit("/", 1)[-1]
                if name not in files:
                    return self.send_error(404)
                self.send_response(200)
                self.send_header("Content-Length", str(len(files[name])))
                self.end_headers()
                content = files[name]
                try:
                    if name in slow:
                        while True:
                            self.wfile.write(b"x")
                            self.wfile.flush()
                            time.sleep(0.05)
                    self.wfile.write(content[: len(content) // 2] if name in cut else content)
                except OSError:
                    pass
                return None

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}/data"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Redirecting(Server):
    """Sends everybody to `target`."""

    def __init__(self, target):
        super().__init__({})

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(302)
                self.send_header("Location", target)
                self.end_headers()

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server.RequestHandlerClass = Handler


def zip_of(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


class Fetch(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "sets"
        self.environment = {"WARREN_DATA": str(self.data), "no_proxy": "*", "NO_PROXY": "*"}

    def fetch(self, *arguments):
        return self.succeed_json("fetch", *arguments, environment=self.environment, device=False)

    def refuse(self, *arguments, says, **environment):
        return self.must_fail(2, "fetch", *arguments, says=says, environment={**self.environment, **environment}, device=False)

    def entries(self):
        return sorted(path.name for path in self.data.iterdir()) if self.data.exists() else []

    def test_archive_from_a_server(self):
        with Server({"arxiv.zip": ogb_archive()}) as server:
            result = self.fetch("ogbn-arxiv", "--from", server.address)
        self.check_common(result, "fetch")
        self.check_fields(result, {"dataset": str, "folder": str, "files": int, "bytes": int, "was_there": bool})
        self.assertEqual((self.entries(), result["files"], result["was_there"]), (["ogbn-arxiv"], 8, False))
        folder = self.data / "ogbn-arxiv"
        for line in (folder / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split("  ")
            self.assertEqual(hashlib.sha256((folder / name).read_bytes()).hexdigest(), digest)
        self.assertIn(server.address + "/arxiv.zip", (folder / "SOURCE").read_text())
        trained = self.succeed_json("train", "ogbn-arxiv", "--model", "sage", "--epochs", 2, environment=self.environment)
        self.assertEqual(trained["vertices"], 40)
        # It is there now: nothing is asked for, files are checked.
        self.assertIs(self.fetch("ogbn-arxiv", "--from", "http://127.0.0.1:1")["was_there"], True)
        changed = folder / "raw" / "edge.csv.gz"
        changed.write_bytes(changed.read_bytes() + b"x")
        self.refuse("ogbn-arxiv", says=["edge.csv.gz", "changed", "--again"])
        changed.unlink()
        self.refuse("ogbn-arxiv", says=["edge.csv.gz", "gone", "--again"])

    def test_trusted_the_first_time(self):
        address = f"file://{self.folder}"
        archive = self.folder / "arxiv.zip"
        archive.write_bytes(ogb_archive())
        self.fetch("ogbn-arxiv", "--from", address)
        before = (self.data / "ogbn-arxiv" / "SHA256SUMS").read_text()
        self.fetch("ogbn-arxiv", "--from", address, "--again")
        archive.write_bytes(ogb_archive(42))
        self.refuse("ogbn-arxiv", "--from", address, "--again", says=["arxiv.zip", "first time", "nothing was kept"])
        self.assertEqual((self.data / "ogbn-arxiv" / "SHA256SUMS").read_text(), before)
        self.assertEqual(self.entries(), ["ogbn-arxiv"])

    def test_other_than_published(self):
        files = {f"ind.cora.{part}": b"no cora" for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")}
        with Server(files) as server:
            self.refuse("cora", "--from", server.address, says=["ind.cora.x", "SHA-256", "published", "nothing was kept"])
        self.assertEqual(self.entries(), [])

    def test_names_with_blanks(self):
        files = {"ogbn arxiv/raw/a b.csv.gz": b"1", "ogbn arxiv/raw/c  d": b"2", "ogbn arxiv/x": b"3"}
        place = self.folder / "a folder"
        place.mkdir()
        (place / "arxiv.zip").write_bytes(zip_of(files))
        for _ in range(2):
            self.fetch("ogbn-arxiv", "--from", f"file://{place}", "--again")
        self.assertEqual(self.fetch("ogbn-arxiv")["files"], 3 + 1)
        for name in ("raw/a b.csv.gz", "raw/c  d"):
            path = self.data / "ogbn-arxiv" / name
            before = path.read_bytes()
            path.write_bytes(b"changed")
            self.refuse("ogbn-arxiv", says=[name, "changed"])
            path.write_bytes(before)

    def test_archives_that_say_more_than_they_hold(self):
        bomb = bytearray(zip_of({f"{i}": bytes(1 << 20) for i in range(200)}))
        entries = [at for at in range(len(bomb)) if bomb[at:at + 4] == b"PK\x01\x02"]
        # All members are the first.
        for at in entries[1:]:
            bomb[at + 42:at + 46] = bomb[entries[0] + 42:entries[0] + 46]
        huge = bytearray(zip_of({"a": bytes(1 << 20)}))
        at = huge.index(b"PK\x01\x02")
        huge[at + 24:at + 28] = struct.pack("<I", 1 << 31)
        deep = zip_of({"a/b": b"1", "c": b"2", "a\x1b[2J": b"3"})
        twice = bytearray(zip_of({"aa": b"1", "ab": b"2"}))
        for at in [at for at in range(len(twice)) if twice[at:at + 2] == b"ab"]:
            twice[at:at + 2] = b"aa"
        for content, says in ((bomb, "lie over each other"), (huge, "cannot hold"), (deep, "control characters"), (twice, "twice")):
            (self.folder / "arxiv.zip").write_bytes(content)
            self.refuse("ogbn-arxiv", "--from", f"file://{self.folder}", says=["arxiv.zip", says])
            self.assertEqual(self.entries(), [])

    def test_members_with_names_that_fetch_writes(self):
        for name in ("SHA256SUMS", "SOURCE", "arxiv.zip"):
            for files in ({name: b"1"}, {"set/a": b"1", "set/./" + name: b"2"}):
                (self.folder / "arxiv.zip").write_bytes(zip_of(files))
                self.refuse("ogbn-arxiv", "--from", f"file://{self.folder}", says=["error: arxiv.zip: ", name, "not the archive's"])
                self.assertEqual(self.entries(), [])
        (self.folder / "arxiv.zip").write_bytes(zip_of({"set/raw/SOURCE": b"1"}))
        self.fetch("ogbn-arxiv", "--from", f"file://{self.folder}")
        self.assertIs(self.fetch("ogbn-arxiv")["was_there"], True)

    def test_archives_are_named_as_they_were_asked_for(self):
        for content, says in ((ogb_archive()[:-30], "cut off"), (zip_of({f"{i}": b"" for i in range(2000)}), "2000 members")):
            (self.folder / "arxiv.zip").write_bytes(content)
            self.refuse("ogbn-arxiv", "--from", f"file://{self.folder}", says=["error: arxiv.zip: byte", says])

    def test_a_link_at_the_place(self):
        (self.folder / "arxiv.zip").write_bytes(ogb_archive())
        self.data.mkdir()
        other = self.folder / "other"
        for is_there in (False, True):
            place = self.data / "ogbn-arxiv"
            place.symlink_to(other)
            if is_there:
                other.mkdir()
                (other / "mine").write_bytes(b"1")
                (other / "SHA256SUMS").write_bytes(b"")
            self.fetch("ogbn-arxiv", "--from", f"file://{self.folder}", "--again")
            self.assertEqual((self.entries(), place.is_symlink()), (["ogbn-arxiv"], False))
            shutil.rmtree(place)
        self.assertEqual(sorted(os.listdir(other)), ["SHA256SUMS", "mine"])

    def test_redirects(self):
        with Server({"arxiv.zip": ogb_archive()}) as server:
            with Redirecting(f"{server.address}/arxiv.zip") as redirecting:
                self.assertEqual(self.fetch("ogbn-arxiv", "--from", redirecting.address)["files"], 8)
            for target in ("file:///etc/hostname", "ftp://127.0.0.1/x"):
                with Redirecting(target) as redirecting:
                    self.refuse("ogbn-arxiv", "--from", redirecting.address, "--again", says="nothing was kept")
        for address in ("ftp://127.0.0.1", "/tmp", "-o", "HTTPS"):
            self.refuse("ogbn-arxiv", f"--from={address}", "--again", says="https://")

    def test_https_stays_https(self):
        """Of a program called curl that tells what it was asked."""
        place = self.folder / "bin"
        place.mkdir()
        curl = place / "curl"
        curl.write_text('#!/bin/sh\necho "asked: $*" >&2\nexit 7\n')
        curl.chmod(0o755)
        path = f"{place}:{os.environ['PATH']}"
        for address, protocols in (("https://127.0.0.1/a b", "=https"), ("http://127.0.0.1", "=http,https"), ("file:///a", "=file")):
            self.refuse("ogbn-arxiv", "--from", address, PATH=path,
                        says=[f"--proto {protocols} --proto-redir {protocols}", address.replace(" ", "%20") + "/arxiv.zip"])

    def test_at_the_same_time(self):
        with Server({"arxiv.zip": ogb_archive()}) as server:
            command = [PROGRAM, "fetch", "ogbn-arxiv", "--from", server.address, "--again", "--quiet"]
            processes = [subprocess.Popen(command, env={**os.environ, **self.environment}, stderr=subprocess.PIPE, text=True) for _ in range(6)]
            for process in processes:
                _, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual(self.entries(), ["ogbn-arxiv"])
        self.assertIs(self.fetch("ogbn-arxiv")["was_there"], True)

    def test_interrupted(self):
        with Server({"arxiv.zip": ogb_archive(), "products.zip": bytes(1 << 20)}, cut={"arxiv.zip"}, slow={"products.zip"}) as server:
            self.refuse("ogbn-arxiv", "--from", server.address, says=["arxiv.zip", "nothing was kept"])
            self.assertEqual(self.entries(), [])
            for number in (signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen([PROGRAM, "fetch", "ogbn-products", "--from", server.address],
                                           env={**os.environ, **self.environment}, stderr=subprocess.PIPE, text=True)
                end = time.monotonic() + 30
                while not list(self.data.glob(".*/*")) and time.monotonic() < end:
                    time.sleep(0.02)
                process.send_signal(number)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number)
                self.assertIn("interrupted", err)
                self.assertEqual(self.entries(), [])

    def test_what_was_left_by_the_killed_goes(self):
        process = subprocess.Popen(["true"])
        process.wait()
        (self.data / f".reddit.partial-{process.pid}").mkdir(parents=True)
        self.refuse("reddit", "--from", "file:///nowhere", says="reddit.zip")
        self.assertEqual(self.entries(), [])

    def test_refused(self):
        self.refuse("karate", says=["karate", "cora", "reddit"])
        self.refuse("ogbn-arxiv", "--from", "http://127.0.0.1:1", says=["arxiv.zip", "by hand", "snap.stanford.edu", str(self.data)])
        self.refuse("ogbn-arxiv", "--from", f"file://{self.folder}/nowhere", says=["by hand"])
        with Server({}) as server:
            self.refuse("ogbn-arxiv", "--from", server.address, says=["404", "by hand"])
        self.refuse("ogbn-arxiv", says=["curl", "install"], PATH="/nowhere")
        self.assertEqual(self.entries(), [])
        self.refuse("ogbn-arxiv", says="WARREN_DATA", WARREN_DATA=self.file("a-file", "") + "/sets")
        self.refuse("ogbn-arxiv", says="WARREN_DATA", WARREN_DATA="", HOME="")
        for content, says in ((b"no archive", "archive"), (ogb_archive()[:-30], "archive"), (ogb_archive(extra=["../outside"]), "outside")):
            (self.folder / "arxiv.zip").write_bytes(content)
            self.refuse("ogbn-arxiv", "--from", f"file://{self.folder}", says=says)
        self.assertEqual(self.entries(), [])
        (self.data / "ogbn-arxiv").mkdir()
        self.refuse("ogbn-arxiv", says="was not fetched")

    def test_train_names_the_command(self):
        self.must_fail(2, "train", "ogbn-arxiv", says="warren fetch ogbn-arxiv", environment={**self.environment, "HOME": str(self.folder)})


def shape_of(sizes):
    return b"(" + b"".join(b"J" + struct.pack("<i", size) for size in sizes) + b"t"


def array(code, shape, values):
    """A NumPy array as protocol 2 has it."""
    data = struct.pack(f"<{len(values)}{'i' if code == b'i4' else 'f'}", *values)
    return (b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" + shape_of(shape) +
            b"cnumpy\ndtype\nU\x02" + code + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" +
            struct.pack("<I", len(data)) + data + b"tb")


def matrix(rows):
    """A SciPy CSR matrix, likewise."""
    columns = [[c for c, value in enumerate(row) if value] for row in rows]
    offsets = [sum(map(len, columns[:r])) for r in range(len(rows) + 1)]
    flat = [c for row in columns for c in row]
    return (b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06format" + b"U\x03csr" + b"U\x06_shape" + shape_of([len(rows), len(rows[0])]) +
            b"U\x06indptr" + array(b"i4", [len(offsets)], offsets) + b"U\x07indices" + array(b"i4", [len(flat)], flat) +
            b"U\x04data" + array(b"f4", [len(flat)], [1.0] * len(flat)) + b"ub.")


class Planetoid(ProgramTest):
    """Sixty vertices in two cliques that their features tell; the test's are 40 to 59 but for 45, of which nothing is said."""

    @staticmethod
    def features(vertices):
        return matrix([[v % 2, 1 - v % 2, 1] for v in vertices])

    @staticmethod
    def labels(vertices):
        return b"\x80\x02" + array(b"i4", [len(vertices), 2], [x for v in vertices for x in (v % 2, 1 - v % 2)]) + b"."

    def folder_of(self, **changed):
        tests = [v for v in range(59, 39, -1) if v != 45]
        graph = collections.defaultdict(list, {v: [w for w in range(60) if w != v and w % 2 == v % 2 and 45 not in (v, w)] for v in range(60)})
        files = {
            "x": self.features(range(10)), "allx": self.features(range(40)), "tx": self.features(tests),
            "y": self.labels(range(10)), "ally": self.labels(range(40)), "ty": self.labels(tests), "graph": pickle.dumps(graph, 2),
            "test.index": "".join(f"{v}\n" for v in tests).encode(),
        }
        files.update({name.replace("_", "."): content for name, content in changed.items()})
        for name, content in files.items():
            path = self.folder / "cora" / f"ind.cora.{name}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return str(self.folder / "cora")

    def test_reads(self):
        result = self.succeed_json("train", self.folder_of(), "--model", "sage", "--dropout", 0, "--epochs", 30)
        # 29 + 30 vertices in two cliques, and one alone.
        self.assertEqual((result["vertices"], result["edges"], result["features"], result["classes"]), (60, 29 * 28 + 30 * 29, 3, 2))
        self.assertEqual((result["best_validation"], result["test_accuracy"]), (1.0, 1.0))
        for protocol in (3, 4, 5):
            changed = pickle.dumps({v: [(v + 2) % 60] for v in range(60)}, protocol)
            self.assertEqual(self.succeed_json("train", self.folder_of(graph=changed), "--epochs", 1)["edges"], 120)

    def test_options_of_files(self):
        folder = self.folder_of()
        for option in FILE_OPTIONS:
            self.must_fail(2, "train", folder, *option, says=[option[0], "public"])

    def test_damaged(self):
        whole = matrix([[1, 0, 1]] * 40)
        for cut in (0, 1, 10, 60, 200, len(whole) - 1):
            self.must_fail(2, "train", self.folder_of(allx=whole[:cut]), says="ind.cora.allx")
        for changed, says in (({"allx": pickle.dumps([1, 2], 2)}, "CSR"), ({"graph": pickle.dumps({0: [60]}, 2)}, "a vertex is 60"),
                              ({"graph": pickle.dumps(5)}, "no graph"), ({"graph": pickle.dumps(None)}, "no graph"),
                              ({"graph": pickle.dumps([[1]])}, "no graph"), ({"graph": pickle.dumps({0: 5})}, "no list"),
                              ({"graph": pickle.dumps({0: ["a"]})}, "whole number"), ({"graph": pickle.dumps({"a": [1]})}, "whole number"),
                              # A list of 20,000 vertices is the neighbours of 10,000.
                              ({"graph": b"\x80\x02](" + b"K\x02" * 20000 + b"eq\x000}(" + b"K\x00h\x00" * 10000 + b"u."}, "share"),
                              # A name of 40,000 letters, joined with itself 10,000 times.
                              ({"graph": b"\x80\x04X\x40\x9c\x00\x00" + b"a" * 40000 + b"q\x000" + b"h\x00h\x00\x930" * 10000 + b"}."}, "name is too long"),
                              ({"test_index": b"".join(b"%d\n" % v for v in range(41, 59)) + b"4294967290\n"}, "test.index"),
                              ({"graph": b"cos\nsystem\n(S'true'\ntR."}, "ind.cora.graph"), ({"tx": whole}, "test.index"),
                              ({"allx": matrix([[1, 0]] * 40)}, "columns"), ({"test_index": b"40\nx\n"}, "line 2"),
                              ({"test_index": b"59\n" * 19}, "twice"), ({"test_index": b""}, "no vertices"),
                              ({"ally": b"\x80\x02" + array(b"i4", [40, 2], [1, 1] * 40) + b"."}, "row 0"),
                              ({"y": b"\x80\x02" + array(b"i4", [10, 3], [1, 0, 0] * 10) + b"."}, "classes")):
            self.must_fail(2, "train", self.folder_of(**changed), says=says)


if __name__ == "__main__":
    unittest.main()
