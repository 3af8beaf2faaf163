# SPDX-License-Identifier: Apache-2.0
"""What fails at a bad moment: requests for memory and threads, a disk, a pipe, the process itself.

Each case is drawn. These variables of the environment change that:

WARREN_CHAOS_SECONDS   what each kind of failure has (5)
WARREN_CHAOS_SEED      what the cases are drawn by (1)
WARREN_CHAOS_COMMANDS  names of the commands that are run, with blanks between them (all of COMMANDS)
WARREN_CHAOS_ALL       1: every request of these commands fails in turn, alone and with all after it, however long that takes
WARREN_CHAOS_PART      of these requests, one part of several, for several processes side by side: 0/8 to 7/8 (0/1)

Of 22,000 to 35,000 requests of a command the first 21,500 are the start of the program, which describes the options of all
commands. They are the same in each, so that only "version" fails in them; the others fail in what comes after.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

from support import DEVICE, PROGRAM, ProgramTest
from test_fetch import ogb_archive

LIBRARY = os.environ.get("WARREN_FAIL_REQUESTS", "")
SECONDS = float(os.environ.get("WARREN_CHAOS_SECONDS", "5"))
SEED = int(os.environ.get("WARREN_CHAOS_SEED", "1"))
ALL = os.environ.get("WARREN_CHAOS_ALL") == "1"
PART, PARTS = map(int, os.environ.get("WARREN_CHAOS_PART", "0/1").split("/"))
# A run that takes longer hangs.
PATIENCE = 60
# Of the requests of "version", at least as many as come after the start of the program.
AFTER_START = 200

TRAINING = "community:500,4 --features 3 --classes 2 --epochs 2 --hidden 4"
# Small runs of the commands; {out} is a folder for what they write, in {folder}.
COMMANDS = {
    "version": "--version",
    "stats": "stats g.wel --json {out}/r.json",
    "convert": "convert g.wel {out}/g.wgr",
    "compress": "convert g.wel {out}/g.el.gz",
    "partition": "partition g.wel --parts 2 --method random",
    "bfs": "bfs g.wel --devices 2 --threads 2 --verify --output {out}/depths",
    "async": "bfs g.wel --mode async --devices 2 --threads 2",
    "sssp": "sssp g.wel --threads 2 --verify --output {out}/distances",
    "cc": "cc g.wel --verify --trace {out}/t.json",
    "bc": "bc g.wel --devices 2 --verify",
    "core": "core g.wel --devices 2 --verify",
    "triangles": "triangles g.wel --symmetrize --devices 2 --verify --output {out}/counts",
    "pagerank": "pagerank g.wel --devices 2 --verify",
    "spmm": "spmm g.wel --k 4 --devices 2 --verify",
    "sddmm": "sddmm g.wel --k 4 --verify",
    "lookup": "lookup --rows 40 --k 4 --batch 4 --bag 2",
    "gather": "gather --rows 40 --k 4 --count 10",
    "sample": "sample g.wel --fanout 2,2 --batch 4 --batches 2",
    "train": "train " + TRAINING + " --checkpoint {out}/kept --threads 2",
    "sampled": "train " + TRAINING + " --mode sampled --fanout 2,2 --batch 8 --model sage",
    "fetch": "fetch ogbn-arxiv --from file://{folder}",
    "predict": "predict community:500,4 --features 3 --classes 2 --checkpoint kept --output {out}/classes",
}
NAMES = os.environ.get("WARREN_CHAOS_COMMANDS", "").split() or sorted(COMMANDS)


class Chaos(ProgramTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.runs = 0
        self.file("g.wel", "".join(f"{v} {(v * 7 + d) % 16} {d}\n" for v in range(16) for d in (1, 2, 5)))
        (self.folder / "arxiv.zip").write_bytes(ogb_archive())
        self.succeed("train", *TRAINING.split(), "--checkpoint", "kept")

    def tearDown(self):
        print(f"{self.id().rsplit('.', maxsplit=1)[-1]}: {self.runs} runs")

    def run_one(self, name, prepare=None, environment=None, stdout=subprocess.DEVNULL, **options):
        """The status, and what was said, of a run into the empty folder "out"."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.runs += 1
        words = COMMANDS[name].format(out="out", folder=self.folder).split()
        if words[0] != "fetch":
            words += ["--device", DEVICE]
        process = subprocess.run([PROGRAM, *words, "--quiet"], cwd=self.folder,
                                 env={**os.environ, "WARREN_DATA": "out/sets", **(environment or {})}, preexec_fn=prepare, stdout=stdout,
                                 stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **options)
        return process.returncode, process.stderr

    def written(self):
        """What is in "out": names and sizes."""
        return {str(path.relative_to(self.folder / "out")): path.stat().st_size for path in (self.folder / "out").rglob("*") if path.is_file()}

    def check_whole(self, name, whole, status):
        found = self.written()
        self.assertEqual([path for path in found if "partial" in path], [])
        if status == 0:
            self.assertEqual(sorted(found), sorted(whole))
        # Times and dates make these differ in length.
        fixed = {path: size for path, size in found.items() if not path.endswith((".json", ".safetensors"))}
        self.assertLessEqual(fixed.items(), whole.items(), name)

    def drawn(self):
        """Names of commands, until the time is up."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            yield self.random.choice(NAMES)

    def whole(self, name):
        self.assertEqual(self.run_one(name), (0, ""))
        return self.written()


@unittest.skipUnless(LIBRARY, "a sanitizer has its own functions for memory")
class FailingRequests(Chaos):
    def count(self, name, kind):
        read, write = os.pipe()
        environment = {"LD_PRELOAD": LIBRARY, "WARREN_FAIL": kind, "WARREN_FAIL_COUNT": str(write)}
        self.assertEqual(self.run_one(name, environment=environment, pass_fds=[write]), (0, ""))
        os.close(write)
        with open(read, encoding="ascii") as pipe:
            return int(pipe.read())

    def check(self, name, kind, at, goes_on, whole):
        environment = {"LD_PRELOAD": LIBRARY, "WARREN_FAIL": kind, "WARREN_FAIL_AT": str(at), "WARREN_FAIL_ON": str(int(goes_on))}
        with self.subTest(name=name, kind=kind, at=at, goes_on=goes_on):
            status, err = self.run_one(name, environment=environment)
            # Before anything else the environment is told that OpenBLAS starts no threads. Where it has no room for that, OpenBLAS
            # finds none for its threads either, and ends the process.
            if kind == "malloc" and err.startswith("OpenBLAS blas_thread_init"):
                return
            # Some requests can be done without: a thread that shows progress, a larger page.
            self.assertIn(status, (0, 1, 3), err)
            self.assertRegex(err, r"\A(warren: error: [^\n]+\n)?\Z")
            self.assertEqual(status == 0, err == "")
            self.check_whole(name, whole, status)

    def requests(self, name, kind):
        """The numbers of those that fail: of all, or of those after the start."""
        after_start = 1 if name == "version" else max(1, self.count("version", kind) - AFTER_START)
        return range(after_start, self.count(name, kind) + 1)

    def check_all(self, name, kind):
        whole = self.whole(name)
        requests = self.requests(name, kind)[PART::PARTS]
        for at in requests:
            for goes_on in (False, True):
                self.check(name, kind, at, goes_on, whole)
        print(f"{name}, {kind}: {len(requests)} requests from {requests.start}", flush=True)

    def check_kind(self, kind):
        if ALL:
            for name in NAMES:
                self.check_all(name, kind)
            return
        drawn_from = {}
        for name in self.drawn():
            if name not in drawn_from:
                drawn_from[name] = (self.requests(name, kind), self.whole(name))
            requests, whole = drawn_from[name]
            if requests:
                self.check(name, kind, self.random.choice(requests), self.random.random() < 0.5, whole)

    def test_memory(self):
        self.check_kind("new")

    def test_memory_of_waiting_threads(self):
        """Of a search in steps, at whose ends threads wait for each other: each request but those of reading the graph."""
        whole = self.whole("sssp")
        for at in range(self.count("stats", "new"), self.count("sssp", "new") + 1):
            self.check("sssp", "new", at, False, whole)

    def test_memory_of_c(self):
        if self.succeed_json("info")["versions"]["cuda_backend"]:
            self.skipTest("CUDA's runtime, a part of this program, ends it where C's memory fails: a build for the CPU has this test")
        self.check_kind("malloc")

    def test_mappings(self):
        self.check_kind("map")

    def test_threads(self):
        self.check_kind("thread")


class FailingSystem(Chaos):
    def test_full_disk(self):
        wholes = {}
        for name in self.drawn():
            whole = wholes[name] = wholes.get(name) or self.whole(name)
            if not whole:
                continue
            most = self.random.randint(0, max(whole.values()))
            with self.subTest(name=name, most=most):
                status, err = self.run_one(name, prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))  # pylint: disable=cell-var-from-loop
                self.assertIn(status, (0, 2), err)
                self.check_whole(name, whole, status)

    def test_closed_pipe(self):
        for name in self.drawn():
            with self.subTest(name=name):
                read, write = os.pipe()
                os.close(read)
                COMMANDS["said"] = COMMANDS[name] + " --json -"
                try:
                    if "--json" in COMMANDS[name]:
                        continue
                    status, err = self.run_one("said", stdout=write)
                    self.assertEqual((status, err), (128 + signal.SIGPIPE, ""))
                    self.assertEqual([path for path in self.written() if "partial" in path], [])
                finally:
                    os.close(write)
                    del COMMANDS["said"]

    def test_kills(self):
        """Of trainings: the checkpoint is always whole, and the next training goes on from it."""
        options = ["community:500,4", "--features", "3", "--classes", "2", "--checkpoint", "there"]
        epochs = 10000000
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.runs += 1
            number = self.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
            with subprocess.Popen([PROGRAM, "train", *options, "--epochs", str(epochs), "--resume", "--device", DEVICE], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(self.random.uniform(0, 0.4))
                process.send_signal(number)
                _, err = process.communicate(timeout=PATIENCE)
            # Before the program has begun a signal ends it as any other.
            self.assertIn(process.returncode, (-number, 128 + number), err)
            folder = self.folder / "there"
            names = {path.name for path in folder.iterdir()} if folder.exists() else set()
            if number != signal.SIGKILL and process.returncode > 0:
                self.assertEqual([name for name in names if "partial" in name], [])
            if "model.safetensors" in names:
                self.succeed("predict", *options)
        # Nothing is left to train; what the killed ones left goes.
        self.assertEqual(self.run_program("train", *options, "--epochs", 1, "--resume").status, 0)
        self.assertEqual(sorted(os.listdir(self.folder / "there")), ["model.safetensors", "state.safetensors"])


if __name__ == "__main__":
    unittest.main()
