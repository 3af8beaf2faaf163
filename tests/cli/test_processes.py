# SPDX-License-Identifier: Apache-2.0
"""Ranks that are processes: the same results as those of threads, told once; and every way in which one of them can fail."""

import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import DEVICE, PROGRAM, ProgramTest

MPIRUN = shutil.which("mpirun")
# All ranks end within this time of the first one's end, on a machine that is busy with other things.
SOON = 20
# Longer than any run takes.
PATIENCE = 120
UNIQUE = f"{os.getpid()}"


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class Ranks(ProgramTest):
    """Processes with the variables that a launcher sets."""

    jobs = 0

    def start(self, ranks, *arguments, folders=None, commands=None, prepare=None, said=None):
        Ranks.jobs += 1
        processes = []
        for rank in range(ranks):
            variables = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": ranks, "OMPI_COMM_WORLD_LOCAL_SIZE": ranks,
                         "PMIX_NAMESPACE": f"test-{UNIQUE}-{Ranks.jobs}", **(said or {})}
            words = commands[rank] if commands else arguments
            command = [PROGRAM, *map(str, words)]
            if "--device" not in command:
                command += ["--device", "cpu"]
            with open(self.folder / f"out.{rank}", "w") as out, open(self.folder / f"err.{rank}", "w") as err:
                processes.append(subprocess.Popen(
                    command, stdout=out, stderr=err, cwd=folders[rank] if folders else self.folder,
                    env={**os.environ, **{name: str(value) for name, value in variables.items()}},
                    preexec_fn=prepare[rank] if prepare else None))
        self.addCleanup(self.end, processes)
        return processes

    def end(self, processes):
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def finish(self, processes, patience=PATIENCE):
        """The ranks' exit statuses, what they printed, and what they said."""
        last = time.monotonic() + patience
        statuses = [process.wait(max(0.01, last - time.monotonic())) for process in processes]
        count = range(len(processes))
        return statuses, [(self.folder / f"out.{r}").read_text() for r in count], [(self.folder / f"err.{r}").read_text() for r in count]

    def run_ranks(self, ranks, *arguments, **options):
        """Expects all to succeed, and rank 0 alone to print."""
        statuses, out, err = self.finish(self.start(ranks, *arguments, **options))
        self.assertEqual((statuses, err, out[1:]), ([0] * ranks, [""] * ranks, [""] * (ranks - 1)))
        return out[0]

    def check_one_message(self, err, says):
        said = "".join(err)
        self.assertRegex(said, r"\Awarren: error: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, said)

    def fail_ranks(self, status, ranks, *arguments, says, **options):
        """Expects all to fail, with one message of one of them, and nothing printed."""
        statuses, out, err = self.finish(self.start(ranks, *arguments, **options))
        self.check_one_message(err, says)
        self.assertEqual((statuses, "".join(out)), ([status] * ranks, ""))


class Agreement(Ranks):
    # What differs between two runs, and between processes and threads.
    OTHER = {"seconds", "devices", "devices_reason", "processes", "teps", "threads", "stamp", "started", "peak_bytes"}

    def agree(self, *arguments, ranks=(2, 3, 4), fields):
        alone = self.succeed_json(*arguments, "--device", "cpu", "--devices", 1)
        for count in ranks:
            with self.subTest(arguments=arguments, ranks=count):
                found = json.loads(self.run_ranks(count, *arguments, "--json", "-"))
                self.assertEqual((found["devices"], found["processes"]), (count, count))
                for field in fields:
                    if isinstance(alone[field], float):
                        self.assertAlmostEqual(found[field], alone[field], delta=1e-5, msg=field)
                    else:
                        self.assertEqual(found[field], alone[field], field)


class Results(Agreement):
    def test_searches(self):
        search = ("source", "reached", "traversed_edges", "verified")
        self.agree("bfs", "kron:10", "--source", 3, "--verify", fields=(*search, "max_depth", "sum_depth", "levels"))
        self.agree("sssp", "grid:20x20", "--weights", "uniform:1:9", "--verify", fields=(*search, "sum_distance", "max_distance"))
        self.agree("bfs", "kron:9", "--source", 5, "--verify", "--mode", "async", fields=search, ranks=(4,))
        self.agree("sssp", "kron:9", "--source", 5, "--weights", "uniform:1:9", "--verify", "--mode", "async", fields=search, ranks=(3,))
        self.agree("bfs", "kron:9", "--symmetrize", "--sources", 3, "--together", "--verify", fields=("sources", "verified"), ranks=(3,))
        self.agree("bfs", "kron:9", "--symmetrize", "--sources", 3, "--verify", fields=(*search, "levels"), ranks=(2,))
        self.agree("bfs", "kron:9", "--source", 5, "--verify", "--edges", "compressed-host", "--method", "degree", fields=search, ranks=(2,))

    def test_values_of_vertices(self):
        self.agree("cc", "kron:10", "--verify", fields=("components", "largest", "verified"))
        self.agree("pagerank", "kron:10", "--verify", fields=("converged", "verified"))
        self.agree("pagerank", "kron:9", "--verify", "--mode", "async", fields=("converged", "verified"), ranks=(3,))
        self.agree("bc", "kron:7", "--verify", fields=("verified",), ranks=(2,))
        self.agree("core", "kron:8", "--symmetrize", "--drop-self-loops", "--verify", fields=("verified",), ranks=(3,))
        self.agree("triangles", "kron:8", "--symmetrize", "--drop-self-loops", "--verify", fields=("triangles", "verified"), ranks=(4,))

    def test_options_of_several_ranks(self):
        """What has an effect on several ranks alone has it on processes, without a word."""
        for options in (("--strategy", "fused", "--workgroup", 2), ("--strategy", "staged:chunks=2"), ("--strategy", "staged", "--workgroup", 2)):
            arguments = ("spmm", "kron:8", "--verify", *options)
            threads = self.succeed_json(*arguments, "--device", "cpu", "--devices", 4)
            found = json.loads(self.run_ranks(4, *arguments, "--json", "-"))
            for field in ("verified", "strategy", "rows_moved", *(("rows_between_workgroups",) if "--workgroup" in options else ())):
                self.assertEqual(found[field], threads[field], (options, field))

    def test_products_and_rows(self):
        self.agree("spmm", "kron:8", "--k", 8, "--verify", "--repeat", 1, fields=("verified",), ranks=(2, 3))
        for strategy in ("broadcast-pipelined", "staged", "fused", "cover"):
            self.agree("spmm", "kron:8", "--k", 8, "--verify", "--repeat", 1, "--strategy", strategy, fields=("verified",), ranks=(3,))
        self.agree("sddmm", "kron:8", "--k", 8, "--verify", "--repeat", 1, fields=("verified",), ranks=(4,))
        self.agree("gather", "--rows", 5000, "--count", 900, "--k", 16, "--verify", "--repeat", 1, fields=("verified",), ranks=(3,))
        self.agree("lookup", "--rows", 3000, "--batch", 50, "--k", 16, "--verify", "--repeat", 1, fields=("verified",), ranks=(2,))
        self.agree("sample", "kron:9", "--batch", 16, "--batches", 7, "--fanout", "4,3", "--verify", "--repeat", 1, fields=("digest", "verified"), ranks=(2, 3))

    def learn(self, ranks, *arguments, in_processes):
        command = ("train", "community:600,6", "--features", 12, "--classes", 3, "--hidden", 8, *arguments)
        if in_processes:
            return json.loads(self.run_ranks(ranks, *command, "--json", "-"))
        return self.succeed_json(*command, "--device", "cpu", "--devices", ranks)

    def test_training(self):
        """As on as many threads."""
        for arguments in (("--epochs", 4), ("--epochs", 3, "--strategy", "staged"), ("--epochs", 3, "--edge-weights", "--weights", "uniform:1:9"), ("--epochs", 2, "--model", "gat"),
                          ("--epochs", 3, "--mode", "sampled", "--model", "sage", "--fanout", "4,3", "--batch", 16),
                          ("--epochs", 2, "--mode", "sampled", "--fanout", "4,3", "--batch", 16, "--edge-weights", "--weights", "uniform:1:9")):
            for ranks in (2, 3):
                with self.subTest(arguments=arguments, ranks=ranks):
                    threads = self.learn(ranks, *arguments, in_processes=False)
                    processes = self.learn(ranks, *arguments, in_processes=True)
                    for found, expected in zip(processes["epochs"], threads["epochs"], strict=True):
                        self.assertAlmostEqual(found["loss"], expected["loss"], delta=1e-4)
                        self.assertAlmostEqual(found["test_accuracy"], expected["test_accuracy"], delta=0.02)

    def test_training_goes_on_with_other_ranks(self):
        """From a checkpoint of three processes with two, and what is predicted there is written once."""
        arguments = ("--checkpoint", "model", "--resume")
        self.assertEqual(self.learn(3, *arguments, "--epochs", 2, in_processes=True)["epochs_done"], 2)
        found = self.learn(2, *arguments, "--epochs", 5, in_processes=True)
        self.assertEqual((found["resumed_from"], found["epochs_done"]), (2, 5))
        self.run_ranks(2, "predict", "community:600,6", "--features", 12, "--classes", 3, "--checkpoint", "model", "--output", "classes.txt", "--scores", "scores.npy")
        self.succeed("predict", "community:600,6", "--features", 12, "--classes", 3, "--checkpoint", "model", "--output", "alone.txt", "--device", "cpu")
        self.assertEqual((self.folder / "classes.txt").read_text(), (self.folder / "alone.txt").read_text())
        self.assertTrue((self.folder / "scores.npy").stat().st_size > 600 * 3 * 4)

    def test_files_and_text(self):
        """Written once, the same as a team of threads writes; what is printed is printed once."""
        for arguments in (("bfs", "kron:10", "--source", 3, "--deterministic", "--method", "random"), ("cc", "kron:10"),
                          ("sssp", "kron:10", "--source", 3, "--weights", "uniform:1:9", "--threads", 3)):
            with self.subTest(arguments):
                self.succeed(*arguments, "--device", "cpu", "--output", "threads.txt")
                text = self.run_ranks(4, *arguments, "--output", "processes.txt", "--trace", "trace.json")
                self.assertEqual((self.folder / "processes.txt").read_text(), (self.folder / "threads.txt").read_text())
                self.assertIn("4 ranks in processes", text)
                json.loads((self.folder / "trace.json").read_text())
                self.assertEqual(list(self.folder.glob("*.tmp*")), [])

    def test_one_warning(self):
        statuses, out, err = self.finish(self.start(3, "cc", "kron:6", "--share-devices"))
        self.assertEqual((statuses, out[1:]), ([0, 0, 0], ["", ""]))
        self.assertEqual("".join(err).count("warren: warning: "), 1)

    def test_help_is_printed_once(self):
        for arguments, says in ((("bfs", "--help"), "Breadth-first"), (("--version",), "warren ")):
            processes = self.start(2, commands=[arguments] * 2)
            statuses, out, _ = self.finish(processes)
            self.assertEqual(statuses, [0, 0])
            self.assertIn(says, out[0])


class OwnRanges(Agreement):
    """Each rank reads its own ranges of a .wgr file, or draws its own ranges of a generated graph."""

    def write(self, name, graph, *options):
        self.succeed("convert", graph, name, *options)
        return name

    def test_results(self):
        both = self.write("both.wgr", "kron:10", "--symmetrize", "--weights", "uniform:1:9")
        one_way = self.write("one.wgr", "kron:10", "--drop-self-loops")
        ids = self.file("ids.el", "10 20\n20 30\n30 10\n40 10\n90 30\n")
        self.write("ids.wgr", ids, "--compact")
        search = ("source", "reached", "traversed_edges", "verified")
        for graph in (both, one_way):
            self.agree("bfs", graph, "--verify", fields=(*search, "max_depth", "sum_depth", "levels"))
            self.agree("bfs", graph, "--sources", 3, "--seed", 5, "--verify", "--edges", "host", fields=search, ranks=(3,))
            self.agree("bfs", graph, "--verify", "--mode", "async", fields=search, ranks=(2,))
            self.agree("bfs", graph, "--sources", 3, "--together", "--verify", fields=("verified",), ranks=(3,))
            self.agree("cc", graph, "--verify", fields=("components", "largest", "verified"))
        self.agree("pagerank", one_way, "--verify", fields=("iterations", "converged", "verified"), ranks=(2, 4))
        self.agree("sssp", both, "--verify", fields=(*search, "sum_distance", "max_distance"))
        self.agree("pagerank", both, "--weighted", "--verify", fields=("converged", "verified"), ranks=(3,))
        self.agree("bfs", "ids.wgr", "--source", 90, "--target", 20, "--verify", fields=(*search, "max_depth"), ranks=(2, 4))

    def test_results_of_generated_graphs(self):
        search = ("source", "reached", "traversed_edges", "verified", "edges")
        for graph in (("kron:10",), ("kron:10", "--symmetrize"), ("urand:9,4", "--keep-duplicates"), ("grid:40x20",), ("community:2000,6", "--drop-self-loops"), ("kron:1,2", "--symmetrize")):
            self.agree("bfs", *graph, "--verify", fields=(*search, "max_depth", "sum_depth", "levels"), ranks=(2, 3, 5))
            self.agree("cc", *graph, "--verify", fields=("components", "largest", "verified"), ranks=(3,))
            self.agree("sssp", *graph, "--weights", "uniform:1:9", "--verify", fields=(*search, "sum_distance", "max_distance"), ranks=(2, 5))
        self.agree("bfs", "kron:10", "--sources", 3, "--seed", 5, "--verify", "--edges", "host", fields=search, ranks=(3,))
        self.agree("bfs", "kron:10", "--verify", "--mode", "async", fields=search, ranks=(2,))
        self.agree("pagerank", "kron:10", "--verify", fields=("iterations", "converged", "verified"), ranks=(2, 4))
        self.agree("pagerank", "kron:9", "--weighted", "--weights", "uniform:1:9", "--verify", fields=("converged", "verified"), ranks=(3,))

    def test_results_of_products(self):
        """Sums over the result are those of whole graphs, bit for bit: a rank has the same rows, and multiplies them in the same order."""
        self.write("values.wgr", "kron:9", "--weights", "uniform:1:9")
        self.write("pattern.wgr", "kron:9", "--symmetrize")
        for graph in (("values.wgr",), ("pattern.wgr",), ("pattern.wgr", "--weights", "uniform:1:5"), ("kron:9",), ("grid:20x9", "--weights", "uniform:1:5"), ("kron:1,2",)):
            for command in (("spmm", "--strategy", "staged"), ("spmm", "--strategy", "broadcast"), ("sddmm",)):
                arguments = (*command, *graph, "--k", 6, "--verify", "--repeat", 1)
                for ranks in (2, 3, 5):
                    threads = self.succeed_json(*arguments, "--device", "cpu", "--devices", ranks)
                    found = json.loads(self.run_ranks(ranks, *arguments, "--json", "-"))
                    with self.subTest(arguments=arguments, ranks=ranks):
                        self.assertEqual(found["read"], "ranges")
                        for field in ("vertices", "edges", "weighted", "verified", "rows_moved", "sum", "sumsq"):
                            self.assertEqual(found[field], threads[field], field)
        for options in (("--method", "random"), ("--reorder", "degree")):
            self.assertNotIn("read", json.loads(self.run_ranks(2, "spmm", "pattern.wgr", *options, "--verify", "--json", "-")))

    def test_samples(self):
        """Batches are those of whole graphs: the digest is of all that was drawn."""
        self.write("values.wgr", "kron:9", "--weights", "uniform:1:9")
        self.write("pattern.wgr", "kron:9", "--symmetrize")
        for graph in (("values.wgr", "--weighted"), ("pattern.wgr",), ("kron:9",), ("grid:20x9", "--weighted", "--weights", "uniform:1:5"), ("pattern.wgr", "--labor"), ("kron:2,3", "--edges", "host")):
            arguments = ("sample", *graph, "--batch", 4, "--batches", 9, "--fanout", "4,3", "--repeat", 1, "--verify")
            self.agree(*arguments, fields=("digest", "verified", "edges", "vertices"), ranks=(2, 3, 5))
            self.assertEqual(json.loads(self.run_ranks(2, *arguments, "--json", "-"))["read"], "ranges", arguments)

    def test_files_are_those_of_threads(self):
        for arguments in (("bfs", "kron:9", "--deterministic"), ("cc", "kron:9"), ("sssp", "grid:20x20", "--weights", "uniform:1:9", "--source", 3), ("pagerank", "kron:9", "--max-iterations", 7)):
            self.succeed(*arguments, "--device", "cpu", "--devices", 3, "--output", "threads.txt")
            self.run_ranks(3, *arguments, "--output", "processes.txt")
            self.assertEqual((self.folder / "processes.txt").read_text(), (self.folder / "threads.txt").read_text(), arguments)
        graph = self.write("g.wgr", "kron:9", "--weights", "uniform:1:9")
        for arguments in (("bfs", graph, "--deterministic"), ("cc", graph), ("sssp", graph, "--source", 3)):
            self.succeed(*arguments, "--device", "cpu", "--output", "threads.txt")
            self.run_ranks(3, *arguments, "--output", "processes.txt")
            self.assertEqual((self.folder / "processes.txt").read_text(), (self.folder / "threads.txt").read_text(), arguments)

    def test_who_reads_what_is_told(self):
        graph = self.write("g.wgr", "kron:8", "--weights", "uniform:1:9")
        self.write("packed.wgr", "kron:8", "--compress")
        self.file("g.el", "0 1\n1 2\n")
        for arguments, reason in (((graph,), None), ((graph, "--symmetrize"), "symmetric"), ((graph, "--drop-self-loops"), "self-loops"),
                                  (("packed.wgr",), "compressed"), (("kron:8",), None), (("g.el",), "no .wgr file")):
            found = json.loads(self.run_ranks(2, "cc", *arguments, "--json", "-"))
            self.assertEqual(found["read"], "all" if reason else "ranges", arguments)
            self.assertIn(reason or "", found.get("read_reason", ""))
        self.agree("sssp", graph, "--weights", "uniform:2:3", "--verify", fields=("reached", "sum_distance", "verified"), ranks=(3,))
        drawn = json.loads(self.run_ranks(2, "sssp", graph, "--weights", "uniform:2:3", "--json", "-"))
        self.assertEqual(drawn["read"], "ranges")
        for arguments in (("spmm", "g.el"), ("spmm", "packed.wgr")):
            self.assertEqual(json.loads(self.run_ranks(2, *arguments, "--json", "-"))["read"], "all", arguments)
        for options in (("--method", "degree"), ("--edges", "compressed-host")):
            self.assertNotIn("read", json.loads(self.run_ranks(2, "cc", graph, *options, "--json", "-")))

    def test_damage_in_one_range(self):
        """Of a block that one rank alone has: all end, and one says which byte."""
        graph = self.write("g.wgr", "kron:15", "--symmetrize", "--weights", "uniform:1:9")
        good = (self.folder / graph).read_bytes()
        sections = [struct.unpack_from("<24sIIQQQQ", good, 128 + 64 * section) for section in range(struct.unpack_from("<I", good, 52)[0])]
        block = 1 << 20
        for _, kind, _, offset, size, _, _ in sections:
            for at in {offset, offset + (size - 1) // block * block}:
                bad = bytearray(good)
                bad[at + 5] ^= 1
                (self.folder / graph).write_bytes(bad)
                self.fail_ranks(2, 3, "sssp", graph, says=[f"g.wgr: byte {at}: ", "checksum does not match", "of 3)"])
                if kind == 3:  # Nobody else looks at weights.
                    self.run_ranks(3, "bfs", graph)
                else:
                    self.fail_ranks(2, 3, "spmm", graph, "--weights", "file", "--k", 1, says=[f"g.wgr: byte {at}: ", "checksum does not match"])

    def test_ranks_of_other_files(self):
        folders = [self.folder / str(rank) for rank in range(2)]
        for folder, seed in zip(folders, (1, 2), strict=True):
            folder.mkdir()
            self.succeed("convert", "grid:9x9", folder / "g.wgr", "--weights", "uniform:1:9", "--seed", seed)
        for command in ("sssp", "spmm"):
            self.fail_ranks(2, 2, command, "g.wgr", folders=folders, says=["different graphs", "other lists or weights"])

    def peaks(self, ranks, *arguments):
        """The largest resident memory that each rank has had, in bytes: of a process that a small one starts, since one begins with its parent's."""
        small = "import os, resource, sys; os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]) and sys.exit(1); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        Ranks.jobs += 1
        processes = []
        for rank in range(ranks):
            variables = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": ranks, "OMPI_COMM_WORLD_LOCAL_SIZE": ranks, "PMIX_NAMESPACE": f"test-{UNIQUE}-{Ranks.jobs}"}
            processes.append(subprocess.Popen([sys.executable, "-S", "-E", "-c", small, PROGRAM, *map(str, arguments), "--device", "cpu", "--threads", str(ranks), "--json", os.devnull, "--quiet"],
                                              stdout=subprocess.PIPE, text=True, cwd=self.folder, env={**os.environ, **{name: str(value) for name, value in variables.items()}}))
        self.addCleanup(self.end, processes)
        out = [process.communicate(timeout=PATIENCE)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * ranks)
        return [int(text.split()[-1]) * 1024 for text in out]

    def check_falls(self, arguments, tiny, kept, most=0.75):
        """The largest memory of a rank of 2 and 4, beside that of a tiny graph: its share, 30% of that, and `kept` bytes."""
        alone = max(self.peaks(1, *arguments)) - max(self.peaks(1, *tiny))
        for ranks in (2, 4):
            own = max(self.peaks(ranks, *arguments)) - max(self.peaks(ranks, *tiny))
            with self.subTest(arguments=arguments, ranks=ranks, alone=alone, own=own):
                self.assertLess(own, 1.3 * alone / ranks + kept)
                self.assertLess(own, most * alone)

    @unittest.skipIf("LSAN_OPTIONS" in os.environ or "ASAN_OPTIONS" in os.environ, "a sanitizer's memory is beside the program's")
    def test_memory_of_a_rank(self):
        """Falls as the number of ranks grows, but for what algorithms keep for each vertex of the graph."""
        vertices = 1 << 18
        self.write("both.wgr", "kron:18", "--symmetrize", "--weights", "uniform:1:64")
        self.write("one.wgr", "kron:18")
        self.write("tiny.wgr", "kron:6", "--symmetrize", "--weights", "uniform:1:64")
        # Bytes a vertex that do not fall, beside a rank's share: values of all vertices, and what others are shown of them.
        for command, graph, kept in (("bfs", "both.wgr", 32), ("cc", "both.wgr", 32), ("pagerank", "both.wgr", 32), ("sssp", "both.wgr", 48), ("bfs", "one.wgr", 56)):
            self.check_falls((command, graph), (command, "tiny.wgr"), kept * vertices, 0.9 if graph == "one.wgr" else 0.75)

    @unittest.skipIf("LSAN_OPTIONS" in os.environ or "ASAN_OPTIONS" in os.environ, "a sanitizer's memory is beside the program's")
    def test_memory_of_a_rank_that_draws(self):
        """Falls likewise: of duplicates that are merged a rank holds its own, and of edges on their way some MiB."""
        vertices, on_way = 1 << 18, 8 << 20
        for options, kept, most in ((("bfs", "--symmetrize"), 32, 0.75), (("sssp", "--symmetrize", "--weights", "uniform:1:64"), 48, 0.75), (("cc",), 56, 0.9)):
            self.check_falls((*options, "kron:18"), (*options, "kron:6"), kept * vertices + on_way, most)

    @unittest.skipIf("LSAN_OPTIONS" in os.environ or "ASAN_OPTIONS" in os.environ, "a sanitizer's memory is beside the program's")
    def test_memory_of_a_rank_that_multiplies(self):
        """Falls likewise: of the matrix and of the dense operand a rank holds its own rows, and of others' rows those that it needs."""
        vertices = 1 << 18
        self.write("matrix.wgr", "kron:18", "--symmetrize", "--weights", "uniform:1:64")
        for options in (("matrix.wgr", "--weights", "file"), ("kron:18", "--symmetrize")):
            tiny = ("kron:6", *options[1:]) if options[0] != "matrix.wgr" else ("kron:6", "--weights", "uniform:1:64")
            multiply = ("spmm", "--k", 1, "--strategy", "staged")
            self.check_falls((*multiply, *options), (*multiply, *tiny), 32 * vertices + (8 << 20))


@unittest.skipUnless(DEVICE == "cuda", "on GPUs (WARREN_TEST_DEVICE=cuda)")
class OnGpus(Ranks):
    """Ranks on the GPUs of one host: one each where there are enough, else in turns."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        listed = subprocess.run([PROGRAM, "info", "--device", "cuda", "--json", "-"], capture_output=True, text=True, check=True)
        cls.gpus = sum(device["device"].startswith("cuda") for device in json.loads(listed.stdout)["devices"])

    def on(self, ranks):
        return ("--device", "cuda", *(("--share-devices",) if ranks > self.gpus else ()))

    def agree(self, *arguments, ranks=(2, 3), fields):
        alone = self.succeed_json(*arguments, "--device", "cuda", "--devices", 1)
        for count in ranks:
            with self.subTest(arguments=arguments, ranks=count):
                found = json.loads(self.run_ranks(count, *arguments, *self.on(count), "--json", "-"))
                self.assertEqual((found["device"], found["devices"], found["processes"]), ("cuda", count, count))
                for field in fields:
                    if isinstance(alone[field], float):
                        self.assertAlmostEqual(found[field], alone[field], delta=1e-5, msg=field)
                    else:
                        self.assertEqual(found[field], alone[field], field)

    def test_searches(self):
        search = ("source", "reached", "traversed_edges", "verified")
        self.agree("bfs", "kron:14", "--symmetrize", "--source", 3, "--verify", fields=(*search, "max_depth", "sum_depth", "levels"))
        self.agree("bfs", "grid:60x60", "--source", 3, "--verify", fields=(*search, "max_depth", "sum_depth"), ranks=(2,))
        self.agree("sssp", "grid:40x40", "--weights", "uniform:1:9", "--verify", fields=(*search, "sum_distance", "max_distance"))
        self.agree("bfs", "kron:12", "--source", 5, "--verify", "--mode", "async", fields=search, ranks=(2,))
        self.agree("sssp", "kron:12", "--source", 5, "--weights", "uniform:1:9", "--verify", "--mode", "async", fields=search, ranks=(2,))
        self.agree("bfs", "kron:12", "--symmetrize", "--sources", 3, "--together", "--verify", fields=("sources", "verified"))
        self.agree("bfs", "kron:12", "--symmetrize", "--source", 5, "--verify", "--edges", "host", fields=search, ranks=(2,))

    def test_values_of_vertices(self):
        self.agree("cc", "kron:14", "--verify", fields=("components", "largest", "verified"))
        self.agree("pagerank", "kron:14", "--verify", fields=("converged", "verified"))
        self.agree("bc", "kron:7", "--verify", fields=("verified",), ranks=(2,))
        self.agree("core", "kron:10", "--symmetrize", "--drop-self-loops", "--verify", fields=("verified",), ranks=(2,))
        self.agree("triangles", "kron:10", "--symmetrize", "--drop-self-loops", "--verify", fields=("triangles", "verified"), ranks=(2,))

    def test_products_and_rows(self):
        for strategy in ("auto", "pull", "broadcast-pipelined", "staged", "fused"):
            self.agree("spmm", "kron:10", "--k", 16, "--verify", "--repeat", 1, "--strategy", strategy, fields=("verified",), ranks=(2,))
        self.agree("sddmm", "kron:10", "--k", 8, "--verify", "--repeat", 1, fields=("verified",), ranks=(2,))
        for placement in ("device", "host"):
            self.agree("gather", "--rows", 5000, "--count", 900, "--k", 16, "--placement", placement, "--verify", "--repeat", 1, fields=("verified",))
        self.agree("lookup", "--rows", 3000, "--batch", 50, "--k", 16, "--verify", "--repeat", 1, fields=("verified",), ranks=(2,))
        self.agree("sample", "kron:12", "--batch", 16, "--batches", 7, "--fanout", "4,3", "--verify", "--repeat", 1, fields=("digest", "verified"))

    def test_training(self):
        command = ("train", "community:2000,8", "--features", 12, "--classes", 3, "--hidden", 16)
        for arguments in (("--epochs", 4), ("--epochs", 3, "--strategy", "staged"), ("--epochs", 3, "--edge-weights", "--weights", "uniform:1:9"), ("--epochs", 3, "--model", "gat"),
                          ("--epochs", 3, "--mode", "sampled", "--model", "sage", "--fanout", "4,3", "--batch", 16),
                          ("--epochs", 2, "--mode", "sampled", "--fanout", "4,3", "--batch", 16, "--edge-weights", "--weights", "uniform:1:9")):
            with self.subTest(arguments=arguments):
                processes = json.loads(self.run_ranks(2, *command, *arguments, *self.on(2), "--json", "-"))
                threads = self.succeed_json(*command, *arguments, *self.on(2), "--devices", 2)
                for found, expected in zip(processes["epochs"], threads["epochs"], strict=True):
                    self.assertAlmostEqual(found["loss"], expected["loss"], delta=1e-3)

    def test_refusals(self):
        found = json.loads(self.run_ranks(2, "info", *self.on(2), "--json", "-"))
        self.assertEqual({link["kind"] for row in found["links"] for link in row}, {"own memory", "direct" if self.gpus > 1 else "same device"})
        self.fail_ranks(2, self.gpus + 1, "cc", "kron:6", "--device", "cuda", says=["would have one GPU", "share devices", "device cpu"])
        self.fail_ranks(2, 2, "cc", "kron:6", "--device", "cuda", "--side-by-side", says="in turns")

    def test_killed_ranks(self):
        """In turn, at work: the other one ends, its kernels that wait included."""
        for killed in range(2):
            processes = self.start(2, "pagerank", "kron:16", "--tolerance", "1e-9", "--repeat", 1000000, *self.on(2))
            time.sleep(6.0)
            begin = time.monotonic()
            processes[killed].kill()
            statuses, out, err = self.finish(processes, SOON)
            self.assertLess(time.monotonic() - begin, SOON)
            self.assertEqual("".join(out), "")
            self.assertNotIn(0, statuses)
            self.check_one_message(err, f"rank {killed} of 2")


class Info(Ranks):
    def test_links_between_ranks(self):
        found = json.loads(self.run_ranks(3, "info", "--json", "-"))
        self.assertEqual([rank["device"] for rank in found["ranks"]], ["cpu"] * 3)
        self.assertEqual(len({rank["host"] for rank in found["ranks"]}), 1)
        for source, row in enumerate(found["links"]):
            self.assertEqual([link["kind"] for link in row], ["own memory" if target == source else "shared memory" for target in range(3)])
            self.assertTrue(all(link["gigabytes_per_second"] > 0 and link["microseconds"] > 0 for link in row))
        text = self.run_ranks(2, "info")
        self.assertIn("from rank 1", text)
        self.assertIn("shared memory (2 of 2 pairs)", text)

    def test_check_is_of_one_process(self):
        self.fail_ranks(2, 2, "info", "--check", says=["--check", "--devices N"])


class Refusals(Ranks):
    def test_commands_without_such_ranks(self):
        for command in (("partition", "kron:6"), ("stats", "kron:6"), ("bench", "spmm", "kron:6")):
            self.fail_ranks(2, 2, *command, says=[command[0] + " has no ranks that are processes", "--devices N"])
        self.fail_ranks(2, 2, "bsf", "kron:6", says="bfs")

    def test_options(self):
        self.fail_ranks(2, 3, "bfs", "kron:6", "--devices", 2, says=["--devices 2", "3 processes"])
        self.fail_ranks(2, 2, "bfs", "kron:6", "--source", 1000, says="1000")
        self.fail_ranks(2, 2, "bfs", "kron:6", "--no-such", says="--no-such")
        self.fail_ranks(2, 2, "bfs", "nowhere.el", says="nowhere.el")
        self.fail_ranks(2, 2, "bfs", "kron:6", "--output", "no/folder", says="--output")
        # One that is right for this number is none that is refused.
        self.run_ranks(2, "bfs", "kron:6", "--devices", 2)

    def test_launchers_words(self):
        for said, says in (({"OMPI_COMM_WORLD_RANK": "one"}, "OMPI_COMM_WORLD_RANK"), ({"OMPI_COMM_WORLD_LOCAL_SIZE": 1, "WARREN_MPI": "/nowhere/plugin.so"}, "libopenmpi-dev"),
                           ({"OMPI_COMM_WORLD_SIZE": 33, "OMPI_COMM_WORLD_LOCAL_SIZE": 33}, "the most is 32")):
            self.must_fail(2, "bfs", "kron:6", environment={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2",
                                                           "OMPI_COMM_WORLD_LOCAL_SIZE": "2", **{name: str(value) for name, value in said.items()}}, says=says)
        self.succeed("bfs", "kron:6", environment={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"})

    def test_ranks_of_other_commands(self):
        self.fail_ranks(2, 3, commands=[("bfs", "kron:6"), ("bfs", "kron:6"), ("bfs", "kron:7")], says=["rank 2 was started with 'bfs kron:7", "'bfs kron:6"])

    def test_ranks_of_other_graphs(self):
        folders = []
        for rank, text in enumerate(("0 1\n1 2\n", "0 1\n1 2\n", "0 2\n1 2\n")):
            self.file(f"{rank}/graph.el", text)
            folders.append(self.folder / str(rank))
        self.fail_ranks(2, 3, "cc", "graph.el", folders=folders, says=["different graphs", "rank 2"])
        self.file("1/graph.el", "0 1\n1 2\n2 3\n")
        self.fail_ranks(2, 3, "cc", "graph.el", folders=folders, says=["different graphs", "rank 1 has 4 vertices and 3 edges, rank 0 3 and 2"])
        (self.folder / "2" / "graph.el").unlink()
        self.file("1/graph.el", "0 1\n1 2\n")
        self.fail_ranks(2, 3, "cc", "graph.el", folders=folders, says=["graph.el", "rank 2 of 3"])


class Failures(Ranks):
    ENDLESS = ("pagerank", "kron:12", "--tolerance", "1e-9", "--repeat", 100000)

    def check_ended(self, processes, signalled, begin, soon=SOON):
        statuses, out, err = self.finish(processes, soon)
        self.assertLess(time.monotonic() - begin, soon)
        self.assertEqual("".join(out), "")
        self.assertNotIn(0, statuses)
        for rank in signalled:
            self.assertEqual(statuses[rank], -signal.SIGKILL)
        return err

    def test_killed_ranks(self):
        """Each in turn, at any moment: the rest end, one of them says which it was, and nothing is left."""
        moments = random.Random(5)
        before = set(os.listdir("/dev/shm"))
        for killed in range(3):
            # At work, and on the way to it: who has not met the others is waited for.
            for least, soon in ((0.4, SOON), (0.05, 30 + SOON)):
                processes = self.start(3, *self.ENDLESS)
                time.sleep(least + 0.1 * moments.random())
                begin = time.monotonic()
                processes[killed].kill()
                err = self.check_ended(processes, [killed], begin, soon)
                if soon == SOON:
                    self.check_one_message(err, f"rank {killed} of 3")
        self.assertEqual(set(os.listdir("/dev/shm")) - before, set())
        self.assertNotIn(f"test-{UNIQUE}", Path("/proc/net/unix").read_text())

    def test_signals(self):
        """To all, as a launcher sends them, and to one."""
        for number, ranks in ((signal.SIGTERM, (0, 1, 2)), (signal.SIGINT, (1,))):
            processes = self.start(3, *self.ENDLESS)
            time.sleep(0.5)
            begin = time.monotonic()
            for rank in ranks:
                processes[rank].send_signal(number)
            self.check_one_message(self.check_ended(processes, [], begin), "interrupted by " + signal.Signals(number).name)

    def test_launcher_that_is_gone(self):
        """Ranks whose launcher was killed do not go on for ever."""
        command = " ".join(["OMPI_COMM_WORLD_RANK={rank}", PROGRAM, *map(str, self.ENDLESS), "--device", "cpu", "& echo $!;"])
        launcher = subprocess.Popen(["sh", "-c", command.format(rank=0) + command.format(rank=1) + "exec sleep 100"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    cwd=self.folder, text=True, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": f"gone-{UNIQUE}"})
        ranks = [int(launcher.stdout.readline()) for _ in range(2)]
        time.sleep(0.4)
        self.assertTrue(all(is_alive(rank) for rank in ranks))
        launcher.kill()
        launcher.wait()
        launcher.stdout.close()
        last = time.monotonic() + SOON
        while any(is_alive(rank) for rank in ranks) and time.monotonic() < last:
            time.sleep(0.02)
        self.assertFalse([rank for rank in ranks if is_alive(rank)])

    def test_little_memory(self):
        statuses, out, err = self.finish(self.start(3, "bfs", "kron:10", "--device-memory", "16K"))
        self.check_one_message(err, ["not enough memory", "(rank "])
        self.assertEqual((statuses, "".join(out)), ([3, 3, 3], ""))

    def test_output_that_fails(self):
        processes = self.start(2, "cc", "kron:6", "--output", "/dev/full")
        statuses, out, err = self.finish(processes)
        self.check_one_message(err, "/dev/full")
        self.assertEqual((statuses[0], "".join(out)), (2, ""))


@unittest.skipUnless(MPIRUN, "there is no mpirun here (Debian: openmpi-bin)")
class OpenMpi(ProgramTest):
    """A real launcher."""

    def mpirun(self, ranks, *arguments):
        command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), PROGRAM, *map(str, arguments), "--device", "cpu"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def test_run(self):
        alone = self.succeed_json("bfs", "kron:10", "--source", 3)
        process = self.mpirun(4, "bfs", "kron:10", "--source", 3, "--verify", "--json", "-")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        found = json.loads(out)
        self.assertEqual((found["processes"], found["reached"], found["verified"]), (4, alone["reached"], True))
        self.assertIn("Open MPI", found["devices_reason"])

    def test_failures(self):
        process = self.mpirun(3, "bfs", "nowhere.el")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (2, ""))
        self.assertEqual(err.count("warren: error: "), 1, err)
        process = self.mpirun(3, *Failures.ENDLESS)
        time.sleep(1.0)
        ranks = [int(task) for task in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        self.assertEqual(len(ranks), 3)
        begin = time.monotonic()
        os.kill(ranks[1], signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual([line for line in err.splitlines() if line.startswith("warren: ")],
                         [f"warren: error: rank 1 of 3 (process {ranks[1]}) ended without a word: it was killed, by a user or by the system for want of memory, or it crashed"])
        self.assertFalse([rank for rank in ranks if is_alive(rank)])


if __name__ == "__main__":
    unittest.main()
