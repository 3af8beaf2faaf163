# SPDX-License-Identifier: Apache-2.0
"""How the process meets the system: limits, standard streams, signals, and the files that it writes."""

import fcntl
import os
import pwd
import resource
import shutil
import signal
import subprocess
import time
import unittest

from support import DEVICE, PROGRAM, ProgramTest

GENERATED = ["community:500,6", "--features", 8, "--classes", 3]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# An end before its time that takes longer is a hang; sanitized programs on busy machines are slow.
PATIENCE = 120


def limited(kind, most):
    return lambda: resource.setrlimit(kind, (most, most))


class Limits(ProgramTest):
    """Of threads and of address space."""

    def as_nobody(self, processes):
        """Prepares a child for another user's limit of processes (None: none), which root does not have."""
        nobody = pwd.getpwnam("nobody").pw_uid

        def prepare():
            most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            resource.setrlimit(resource.RLIMIT_NPROC, (processes or most, most))
            if os.geteuid() == 0:
                os.setuid(nobody)
        return prepare

    def test_threads_that_the_user_may_not_have(self):
        os.chmod(self.folder, 0o755)
        tests_itself = ("stats", "grid:4x4", "--threads", 1)
        try:
            if self.run_program(*tests_itself, prepare=self.as_nobody(None)).status != 0:
                self.skipTest("another user cannot run the program here")
        except PermissionError:
            self.skipTest("another user cannot run the program here")
        for arguments, says in ((("bfs", "grid:4x4", "--threads", 40), "fewer threads"),
                                (("bfs", "grid:4x4", "--devices", 16, "--threads", 1), "fewer devices"),
                                (("sample", "grid:4x4", "--batch", 1, "--devices", 4, "--threads", 80), "fewer threads")):
            with self.subTest(arguments):
                # A few: the program's own, and what else this user has.
                self.must_fail(3, *arguments, says=["cannot be started", says], prepare=self.as_nobody(6))

    def need_address_space(self, most):
        if self.run_program("--version", device=False, prepare=limited(resource.RLIMIT_AS, most)).status != 0:
            self.skipTest("this build (of a sanitizer) needs more address space by itself")

    def test_threads_without_address_space(self):
        most = 1_000_000 * 1024
        self.need_address_space(most)
        for arguments, says in ((("bfs", "grid:4x4", "--threads", 500), "fewer threads"), (("pagerank", "grid:4x4", "--devices", 16), "fewer devices")):
            def prepare():
                # The stack of a thread is as large as this says.
                resource.setrlimit(resource.RLIMIT_STACK, (most // 8, resource.RLIM_INFINITY))
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
            with self.subTest(arguments):
                self.must_fail(3, *arguments, says=["cannot be started", says], prepare=prepare)

    def test_dense_products_without_address_space(self):
        self.need_address_space(300_000 * 1024)
        statuses = []
        for kilobytes in range(120_000, 500_000, 40_000):
            result = self.run_program("train", *GENERATED, "--epochs", 1, "--threads", 1, "--quiet",
                                      prepare=limited(resource.RLIMIT_AS, kilobytes * 1024))
            self.assertIn(result.status, (0, 3), result.err)
            self.assertRegex(result.err, r"\A(warren: error: [^\n]+\n)?\Z")
            statuses.append(result.status)
            if "OpenBLAS" in result.err:
                self.assertIn("fewer threads", result.err)
        self.assertEqual(statuses, sorted(statuses, reverse=True))
        self.assertEqual((statuses[0], statuses[-1]), (3, 0))


class Streams(ProgramTest):
    def shell(self, command, *arguments):
        """Runs `command`, in which "$@" is the program with the arguments."""
        line = [PROGRAM, *map(str, arguments)]
        if "--help" not in line and "--version" not in line:
            line += ["--device", DEVICE]
        return subprocess.run(["bash", "-c", command, "bash", *line], capture_output=True, text=True, cwd=self.folder, timeout=PATIENCE,
                              check=False)

    def test_closed_ones_are_not_taken_by_files(self):
        wel = self.file("k.wel", "0 1 5\n1 2 5\n")
        self.run_program("convert", wel, "right.el")
        right = (self.folder / "right.el").read_text()
        # The warning, that weights are not written, has no place to go to.
        for closed in ("2>&-", "0<&- 2>&-", "0<&- 1>/dev/null 2>&-"):
            process = self.shell(f'"$@" {closed}', "convert", wel, "z.el", "--verbose")
            self.assertEqual((process.returncode, (self.folder / "z.el").read_text()), (0, right), closed)
        process = self.shell('"$@" 1>&-', "stats", "grid:4x4")
        self.assertEqual(process.returncode, 2)
        self.assertIn("standard output", process.stderr)
        process = self.shell('"$@" 0<&-', "stats", "-", "--format", "el")
        self.assertEqual(process.returncode, 2)

    def test_errors_that_cannot_be_said(self):
        for stream in ("2>/dev/full", "2>&-", "2> >(true)"):
            process = self.shell(f'"$@" {stream}', "stats", "nowhere.el")
            self.assertEqual(process.returncode, 2, stream)
            process = self.shell(f'"$@" {stream}', "convert", self.file("k.wel", "0 1 5\n"), "z.el", "--verbose")
            self.assertEqual(process.returncode, 0, stream)

    def test_results_that_cannot_be_said(self):
        for arguments in (["--help"], ["--version"], ["bfs", "--help"], ["stats", "grid:4x4"], ["stats", "grid:4x4", "--json", "-"]):
            with self.subTest(arguments):
                process = self.shell('"$@" >/dev/full', *arguments)
                self.assertEqual(process.returncode, 2)
                self.assertRegex(process.stderr, r"\Awarren: error: standard output [^\n]+\n\Z")
                # Who reads a pipe's first line has what he wants.
                process = self.shell('"$@" | true; exit ${PIPESTATUS[0]}', *arguments)
                self.assertIn(process.returncode, (0, 128 + signal.SIGPIPE))
                self.assertEqual(process.stderr, "")


class Signals(ProgramTest):
    def start(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, *map(str, arguments), "--device", DEVICE], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, process, pattern):
        end = time.monotonic() + PATIENCE
        while not list(self.folder.glob(pattern)):
            self.assertIsNone(process.poll(), "it ended before it began")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def stop(self, process, number):
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 128 + number, err)
        self.assertEqual(err, f"warren: error: interrupted by {signal.Signals(number).name}\n")

    def test_a_file_that_is_being_written(self):
        for number in SIGNALS:
            process = self.start("convert", "kron:17", "out.wel.gz", "--weights", "uniform:1:255")
            self.wait_for(process, "out.wel.gz.partial-*")
            self.stop(process, number)
            self.assertEqual(os.listdir(self.folder), [])

    def test_a_training(self):
        options = ["train", *GENERATED, "--epochs", 10000000, "--checkpoint", "kept", "--devices", 2]
        for number in SIGNALS[:2]:
            shutil.rmtree(self.folder / "kept", ignore_errors=True)
            process = self.start(*options, stdout=subprocess.DEVNULL)
            self.wait_for(process, "kept/state.safetensors")
            self.stop(process, number)
            self.assertEqual(sorted(os.listdir(self.folder / "kept")), ["model.safetensors", "state.safetensors"])
        done = self.succeed_json("predict", *GENERATED, "--checkpoint", "kept")
        self.assertGreater(done["test_accuracy"], 0)

    def test_samples(self):
        # Batches, which end no step of a team, for minutes.
        process = self.start("sample", "grid:100x100", "--batch", 512, "--batches", 20000, "--devices", 2, "--json", "r.json")
        time.sleep(0.3)
        begin = time.monotonic()
        self.stop(process, signal.SIGTERM)
        # Two seconds are what work has that does not end by itself.
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(os.listdir(self.folder), [])

    def test_reading_that_waits(self):
        # Nothing looks at a signal while a pipe delivers nothing: the program ends all the same.
        os.mkfifo(self.folder / "pipe")
        process = self.start("stats", "pipe", "--format", "el", "--json", "r.json", "--trace", "t.json")
        with open(self.folder / "pipe", "w", encoding="ascii"):
            time.sleep(0.2)
            self.stop(process, signal.SIGTERM)
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_under_nohup(self):
        process = self.start("train", *GENERATED, "--epochs", 10000000, "--checkpoint", "kept", stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(process, "kept/state.safetensors")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        self.stop(process, signal.SIGTERM)

    def test_what_killed_trainings_left(self):
        options = ["train", *GENERATED, "--checkpoint", "kept"]
        self.succeed(*options, "--epochs", 1)
        for name in ("model.safetensors.partial-1-0", "state.safetensors.partial-77-3"):
            (self.folder / "kept" / name).write_bytes(b"half")
        (self.folder / "kept" / "notes.partial-1-0").write_bytes(b"mine")
        self.succeed(*options, "--epochs", 2, "--resume")
        self.assertEqual(sorted(os.listdir(self.folder / "kept")), ["model.safetensors", "notes.partial-1-0", "state.safetensors"])

    def test_a_file_cut_short_while_it_is_read(self):
        self.succeed("convert", "kron:18", "g.wgr")
        process = self.start("convert", "g.wgr", "out.el.gz")
        self.wait_for(process, "out.el.gz.partial-*")
        os.truncate(self.folder / "g.wgr", 4096)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 2, err)
        self.assertRegex(err, r"\Awarren: error: g.wgr: it was cut short [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), ["g.wgr"])


class Outputs(ProgramTest):
    def test_planted_links(self):
        self.file("victim", "mine")
        for command in ("bfs grid:4x4 --output out", "stats grid:4x4 --json out", "stats grid:4x4 --trace out", "convert grid:4x4 out.el",
                        "stats k.el --id-map out"):
            name = "out.el" if "out.el" in command else "out"
            self.file("k.el", "0 1\n")
            # Under the name that is written first, which has the process' number; and at the place.
            script = f'for i in 0 1 2; do ln -sf victim {name}.partial-$$-$i; done; ln -sf victim {name}; exec "$0" {command} --device {DEVICE}'
            process = subprocess.run(["bash", "-c", script, PROGRAM], capture_output=True, text=True, cwd=self.folder, timeout=PATIENCE,
                                     check=False)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertEqual((self.folder / "victim").read_text(), "mine", command)
            self.assertFalse((self.folder / name).is_symlink())
            self.assertGreater((self.folder / name).stat().st_size, 0)
            for path in self.folder.glob("out*"):
                path.unlink()

    def test_permissions_stay(self):
        path = self.file("r.json", "old")
        os.chmod(path, 0o600)
        self.succeed("stats", "grid:4x4", "--json", path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_not_the_input(self):
        self.file("g.wel", "0 1 5\n1 2 5\n")
        self.file("p.txt", "0\n")
        before = (self.folder / "g.wel").read_text()
        os.link(self.folder / "g.wel", self.folder / "same.wel")
        os.symlink("g.wel", self.folder / "link.wel")
        for path in ("g.wel", "./g.wel", str(self.folder / "g.wel"), "same.wel", "link.wel"):
            for arguments in (["convert", "g.wel", path], ["bfs", "g.wel", "--output", path], ["stats", "g.wel", "--json", path],
                              ["stats", "g.wel", "--trace", path], ["stats", "g.wel", "--id-map", path]):
                with self.subTest(arguments):
                    self.must_fail(2, *arguments, says=[path, "is read"])
                    self.assertEqual((self.folder / "g.wel").read_text(), before)
        with open(self.folder / "g.wel", "rb") as data:
            process = subprocess.run([PROGRAM, "convert", "-", "g.wel", "--format", "wel", "--device", DEVICE], stdin=data, capture_output=True,
                                     cwd=self.folder, timeout=PATIENCE, check=False)
        self.assertEqual(process.returncode, 2)

    def test_not_a_file_of_the_dataset_or_checkpoint(self):
        self.succeed("train", *GENERATED, "--epochs", 1, "--checkpoint", "kept")
        self.must_fail(2, "predict", *GENERATED, "--checkpoint", "kept", "--output", "kept/model.safetensors", says=["--output", "is read"])
        self.must_fail(2, "train", *GENERATED, "--epochs", 1, "--checkpoint", "kept", "--overwrite", "--json", "kept/state.safetensors",
                  says=["--json", "--checkpoint"])
        self.file("set/graph.el", "0 1\n1 2\n")
        names = self.file("set/names.txt", "a\nb\nc\n")
        self.must_fail(2, "bfs", "set", "--output", names, says=["--output", "is read"])
        self.assertEqual((self.folder / "set/names.txt").read_text(), "a\nb\nc\n")
        mask = self.file("set/val_mask.npy", "mask")
        self.must_fail(2, "bfs", "set", "--output", mask, says=["--output", "is read"])

    def test_not_each_other(self):
        os.mkdir(self.folder / "here")
        os.symlink("here", self.folder / "there")
        for a, b in (("x", "x"), ("x", "./x"), ("here/x", "there/x")):
            for arguments in (["bfs", "grid:4x4", "--output", a, "--json", b], ["bfs", "grid:4x4", "--output", a, "--trace", b],
                              ["stats", "grid:4x4", "--json", a, "--trace", b], ["convert", "grid:4x4", a + ".el", "--json", b + ".el"]):
                with self.subTest(arguments):
                    self.must_fail(2, *arguments, says=["writes", "name another"])
        self.succeed("bfs", "grid:4x4", "--output", "/dev/null", "--json", "/dev/null", "--trace", "/dev/null")

    def test_standard_streams_by_name(self):
        result = self.succeed("bfs", "grid:2x1", "--source", 0, "--quiet", "--output", "/dev/stdout")
        self.assertEqual(result.out, "0 0 0\n1 1 0\n")
        with open(self.folder / "all", "w", encoding="ascii") as file:
            subprocess.run([PROGRAM, "bfs", "grid:2x1", "--source", "0", "--output", "/dev/stdout", "--device", DEVICE], stdout=file,
                           cwd=self.folder, timeout=PATIENCE, check=True)
        text = (self.folder / "all").read_text()
        self.assertTrue(text.startswith("0 0 0\n1 1 0\n") and len(text) > 20, text)
        self.assertEqual(os.listdir(self.folder), ["all"])

    def test_full_disk(self):
        self.file("out", "old")
        full = limited(resource.RLIMIT_FSIZE, 100)
        for arguments in (["bfs", "grid:9x9", "--output", "out"], ["stats", "grid:9x9", "--json", "out"], ["stats", "grid:9x9", "--trace", "out"],
                          ["convert", "grid:9x9", "out.el"], ["convert", "grid:9x9", "out.wgr"]):
            result = self.run_program(*arguments, "--quiet", prepare=full)
            self.assertEqual(result.status, 2, result.err)
            self.assertIn("free some space", result.err)
            self.assertEqual(os.listdir(self.folder), ["out"])
            self.assertEqual((self.folder / "out").read_text(), "old")


class Checkpoints(ProgramTest):
    """What is wrong with the folder is found before a training that would not end by itself."""

    ENDLESS = ["train", *GENERATED, "--epochs", 10000000, "--checkpoint"]

    def test_a_file_in_its_place(self):
        path = self.file("file", "")
        self.must_fail(2, *self.ENDLESS, path, says=[path, "no folder"])
        self.must_fail(2, *self.ENDLESS, path + "/inside", says=[path + "/inside", "Not a directory"])
        os.makedirs(self.folder / "kept" / "model.safetensors")
        self.must_fail(2, *self.ENDLESS, "kept", "--overwrite", says=["model.safetensors", "folder"])

    def test_no_rights(self):
        nobody = pwd.getpwnam("nobody").pw_uid
        prepare = (lambda: os.setuid(nobody)) if os.geteuid() == 0 else None
        os.chmod(self.folder, 0o755)
        if prepare is None:
            self.addCleanup(os.chmod, self.folder, 0o755)
            os.chmod(self.folder, 0o555)
        try:
            self.run_program("--version", device=False, prepare=prepare)
        except PermissionError:
            self.skipTest("another user cannot run the program here")
        self.must_fail(2, *self.ENDLESS, "kept", says=["--checkpoint kept", "Permission denied"], prepare=prepare)
        if prepare is not None:
            os.mkdir(self.folder / "kept")
            self.must_fail(2, *self.ENDLESS, "kept", says=["kept/", "Permission denied"], prepare=prepare)

    def test_a_full_disk(self):
        self.must_fail(2, *self.ENDLESS, "kept/inner", says=["kept/inner/model.safetensors", "too large"], prepare=limited(resource.RLIMIT_FSIZE, 600))
        self.assertEqual(os.listdir(self.folder), [])

    def test_another_training_in_the_folder(self):
        os.mkdir(self.folder / "kept")
        folder = os.open(self.folder / "kept", os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self.must_fail(2, *self.ENDLESS, "kept", says=["--checkpoint kept", "another training"])
        finally:
            os.close(folder)
        self.succeed("train", *GENERATED, "--epochs", 1, "--checkpoint", "kept")

    def test_a_refused_training_leaves_no_folder(self):
        self.must_fail(2, "train", "nowhere", "--checkpoint", "new/folder/", says="nowhere")
        self.assertEqual(os.listdir(self.folder), [])




if __name__ == "__main__":
    unittest.main()
