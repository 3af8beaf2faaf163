# SPDX-License-Identifier: Apache-2.0
"""train and predict: fields, defaults, teams, checkpoints, datasets of every form, bad input."""

import functools
import gzip
import json
import os
import resource
import signal
import struct
import subprocess
import time
import unittest
import zipfile

from support import DEVICE, PROGRAM, ProgramTest, npy
from test_checkpoints import array

FIELDS = {"graph": str, "vertices": int, "edges": int, "model": str, "epochs": list, "best_validation": float,
          "test_accuracy": float, "epoch_seconds": float, "breakdown": dict, "best_epoch": int}
GENERATED = ["community:1000,5", "--features", 8, "--classes", 3]


def npz(path, shape, offsets, columns, values):
    """A matrix in SciPy's CSR form."""
    with zipfile.ZipFile(path, "w") as file:
        for name, kind, numbers in (("shape", "<i8", shape), ("indptr", "<i8", offsets), ("indices", "<i4", columns), ("data", "<f4", values)):
            file.writestr(name + ".npy", npy(kind, (len(numbers),), numbers))


class Train(ProgramTest):
    def folder_of(self, **changed):
        """Sixty vertices in a ring, of three classes that their features tell."""
        n = 60
        edges = "".join(f"{v} {(v + 1) % n}\n" for v in range(n))
        features = [float(v % 3 == c) + 0.01 * ((v * 7 + c) % 5) for v in range(n) for c in range(4)]
        files = {
            "graph.el": edges, "features.npy": npy("<f4", (n, 4), features), "labels.npy": npy("<i8", (n,), [v % 3 for v in range(n)]),
            "train.txt": "".join(f"{v}\n" for v in range(30)), "validation.txt": "".join(f"{v}\n" for v in range(30, 40)),
            "test.txt": "".join(f"{v}\n" for v in range(40, 60)),
        }
        files.update(changed)
        folder = self.folder / "set"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            path = folder / name
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(folder)

    def losses(self, *arguments):
        return [e["loss"] for e in self.succeed_json("train", *arguments)["epochs"]]

    def test_fields_and_teams(self):
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            found = {}
            for devices in (1, 2, 3):
                result = self.succeed_json("train", *GENERATED, "--model", model, "--epochs", 4, "--devices", devices)
                self.check_common(result, "train")
                self.check_fields(result, FIELDS)
                self.assertEqual(len(result["epochs"]), 4)
                self.assertEqual(set(result["breakdown"]), {"aggregate", "dense", "communicate", "other"})
                for epoch in result["epochs"]:
                    self.check_fields(epoch, {"loss": float, "train_accuracy": float, "validation_accuracy": float,
                                              "seconds": float})
                found[devices] = [e["loss"] for e in result["epochs"]]
            for devices in (2, 3):
                for one, other in zip(found[1], found[devices]):
                    self.assertAlmostEqual(one, other, places=4)

    def test_order_and_threads_change_nothing_but_rounding(self):
        plain = self.losses(*GENERATED, "--epochs", 5)
        for extra in (["--reorder", "random"], ["--method", "degree", "--devices", 3], ["--threads", 1]):
            for one, other in zip(plain, self.losses(*GENERATED, "--epochs", 5, *extra)):
                self.assertAlmostEqual(one, other, places=4)
        self.assertNotEqual(plain, self.losses(*GENERATED, "--epochs", 5, "--seed", 2))

    def test_datasets(self):
        folder = self.folder_of()
        result = self.succeed_json("train", folder, "--symmetrize", "--dropout", 0, "--model", "sage", "--epochs", 60)
        self.assertEqual(result["test_accuracy"], 1.0)
        self.assertEqual(result["best_validation"], 1.0)
        halves = npy("<f2", (60, 1), [1.0] * 60)
        self.succeed_json("train", self.folder_of(**{"features.npy": halves}), "--epochs", 2)
        several = [int(v % 3 <= c) for v in range(60) for c in range(3)]
        many = self.folder_of(**{"labels.npy": npy("|u1", (60, 3), several)})
        result = self.succeed_json("train", many, "--model", "sage", "--dropout", 0, "--epochs", 80)
        self.assertGreater(result["test_accuracy"], 0.9)

    def ogb(self, name, lines):
        path = self.folder / "ogb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))

    def test_ogb_folder(self):
        write = self.ogb
        n = 40
        write("raw/num-node-list.csv.gz", [n])
        write("raw/edge.csv.gz", [f"{v},{(v + 1) % n}" for v in range(n)])
        write("raw/node-feat.csv.gz", [f"{v % 2},-{v % 2}.5,1e-1" for v in range(n)])
        write("raw/node-label.csv.gz", [v % 2 for v in range(n)])
        write("split/time/train.csv.gz", range(20))
        write("split/time/valid.csv.gz", range(20, 30))
        write("split/time/test.csv.gz", range(30, 40))
        folder = str(self.folder / "ogb")
        result = self.succeed_json("train", folder, "--model", "sage", "--dropout", 0, "--epochs", 50)
        self.assertEqual((result["vertices"], result["test_accuracy"]), (n, 1.0))
        write("split/time/test.csv.gz", [40])
        self.must_fail(2, "train", folder, says="line 1")
        write("split/time/test.csv.gz", [30, 25])
        self.must_fail(2, "train", folder, says=["test.csv.gz", "line 2", "vertex 25 stands in valid.csv.gz already"])
        write("split/time/test.csv.gz", range(30, 40))
        write("split/time/train.csv.gz", [])
        self.must_fail(2, "train", folder, says="no training vertices")
        write("split/time/train.csv.gz", range(20))
        for bad in ("nan", "inf", "1e39"):
            write("raw/node-feat.csv.gz", ["0,1,2", f"0,{bad},2", *["1,1,1"] * (n - 2)])
            self.must_fail(2, "train", folder, says=["node-feat.csv.gz", "line 2", "column 1", "finite"])
        write("raw/node-feat.csv.gz", ["0,1,2"] * (n - 1))
        self.must_fail(2, "train", folder, says=f"there are {n} vertices")
        write("raw/node-feat.csv.gz", ["0,1,2"] * n)
        write("raw/node-label.csv.gz", ["0,1"] * (n - 1) + ["0,nan"])
        self.must_fail(2, "train", folder, says=["node-label.csv.gz", f"line {n}", "0 or 1"])

    def test_checkpoint_resume_and_predict(self):
        self.check_resume_and_predict("gat", "layers.0.weight")

    def test_checkpoint_resume_and_predict_of_gatv2(self):
        self.check_resume_and_predict("gatv2", "layers.0.target.weight")

    def check_resume_and_predict(self, model, weight):
        options = ["train", *GENERATED, "--model", model, "--hidden", 16]
        whole = self.succeed_json(*options, "--epochs", 9)
        first = self.succeed_json(*options, "--epochs", 4, "--checkpoint", "kept")
        rest = self.succeed_json(*options, "--epochs", 9, "--checkpoint", "kept", "--resume")
        # The resumed object has all epochs.
        self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
        self.assertEqual(rest["epochs"][:4], first["epochs"])
        self.assertEqual((first["resumed_from"], rest["resumed_from"], rest["epochs_done"]), (0, 4, 9))
        self.assertEqual(rest["test_accuracy"], whole["test_accuracy"])
        for devices in (1, 3):
            result = self.succeed_json("predict", *GENERATED, "--checkpoint", "kept", "--devices", devices,
                                       "--output", "out.txt")
            self.check_common(result, "predict")
            self.assertAlmostEqual(result["test_accuracy"], whole["test_accuracy"], places=3)
            lines = (self.folder / "out.txt").read_text().splitlines()
            self.assertEqual(len(lines), 1000)
            self.assertTrue(all(0 <= int(line.split()[1]) < 3 for line in lines))
        self.must_fail(2, *options[:-1], 32, "--checkpoint", "kept", "--resume", says="hidden")
        self.must_fail(2, "predict", "community:1000,5", "--features", 9, "--classes", 3, "--checkpoint", "kept", says="9")
        with open(self.folder / "kept" / "model.safetensors", "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        self.assertEqual(header[weight]["shape"], [8, 16])
        self.assertEqual(header["__metadata__"]["model"], model)

    def test_killed_and_resumed(self):
        options = ["train", *map(str, GENERATED), "--epochs", "300", "--checkpoint", "kept", "--checkpoint-every", "1", "--device",
                   DEVICE, "--quiet"]
        process = subprocess.Popen([PROGRAM, *options], cwd=self.folder)
        state = self.folder / "kept" / "state.safetensors"
        end = time.monotonic() + 60
        while not state.exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(state.exists())
        whole = self.succeed_json("train", *GENERATED, "--epochs", 300)
        rest = self.succeed_json(*options[:-3], "--resume")
        self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
        self.assertGreater(rest["resumed_from"], 0)

    def kept(self):
        return {path.name: path.read_bytes() for path in (self.folder / "kept").iterdir()}

    def test_full_disk_leaves_the_old_checkpoint(self):
        options = ["train", *GENERATED, "--checkpoint", "kept"]
        self.succeed(*options, "--epochs", 2)
        before = self.kept()
        sizes = sorted(len(content) for content in before.values())
        # No room for the first file, and room for it but not for the second.
        for most in (sizes[0] // 2, (sizes[0] + sizes[1]) // 2):
            limited = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
            self.must_fail(2, *options, "--epochs", 4, "--resume", says=["kept/", ".safetensors", "cannot write"], prepare=limited)
            self.assertEqual(self.kept(), before)
        self.succeed(*options, "--epochs", 4, "--resume")

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_full_file_system(self):
        (self.folder / "kept").mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", self.folder / "kept"], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            options = ["train", *GENERATED, "--checkpoint", "kept", "--hidden"]
            self.succeed(*options, 16, "--epochs", 1)
            before = self.kept()
            (self.folder / "kept" / "other").write_bytes(bytes(16 * 1024))
            self.must_fail(2, *options, 16, "--epochs", 3, "--resume", says=["safetensors", "No space left"])
            (self.folder / "kept" / "other").unlink()
            self.assertEqual(self.kept(), before)
        finally:
            subprocess.run(["umount", self.folder / "kept"], check=True)

    def test_what_does_not_fit_is_planned(self):
        self.must_fail(3, "train", "community:100000,5", "--features", 8, "--classes", 3, "--hidden", 1048576, says="gradients")
        plan = self.succeed_json("train", *GENERATED, "--epochs", 1)["memory_plan"]
        self.assertEqual(plan["features"], 2 * 4 * 8 * 1000)
        self.assertEqual(plan["outputs of layers"], 4 * (64 + 3) * 1000)

    def test_recompute(self):
        """The same numbers in less memory; checkpoints go on either way."""
        deep = [*GENERATED, "--layers", 4, "--norm", "batch", "--residual"]
        for model in ("gcn", "sage", "gat", "gin"):
            options = [*deep, "--model", model, "--epochs", 3, "--devices", 2]
            kept = self.succeed_json("train", *options)
            again = self.succeed_json("train", *options, "--recompute")
            self.assertEqual([e["loss"] for e in again["epochs"]], [e["loss"] for e in kept["epochs"]])
            self.assertEqual(again["test_accuracy"], kept["test_accuracy"])
            self.assertEqual((kept["recompute"], again["recompute"]), (False, True))
            self.assertGreater(kept["recompute_saves"], 0)
            self.assertEqual(sum(kept["memory_plan"].values()) - sum(again["memory_plan"].values()), kept["recompute_saves"])
            self.assertLess(again["peak_memory"], kept["peak_memory"])
        whole = self.losses(*deep, "--epochs", 6)
        self.succeed("train", *deep, "--epochs", 4, "--checkpoint", "kept", "--recompute")
        self.assertEqual(self.losses(*deep, "--epochs", 6, "--checkpoint", "kept", "--resume"), whole)
        saves_nothing = self.run_program("train", *GENERATED, "--epochs", 1, "--recompute")
        self.assertEqual(saves_nothing.status, 0, saves_nothing.err)
        self.assertIn("saves nothing", saves_nothing.err)
        self.must_fail(2, "train", *GENERATED, "--mode", "sampled", "--recompute", says="--mode full")

    @unittest.skipUnless(DEVICE == "cuda", "these options are of GPUs")
    def test_options_of_gpus(self):
        """Without capture numbers are the same; products in full float32 are the CPU's up to its rounding; sums learn by tensor cores and without."""
        options = [*GENERATED, "--epochs", 3]
        self.assertEqual(self.losses(*options, "--no-capture"), self.losses(*options))
        self.succeed("train", *options, "--no-tf32", "--checkpoint", "model")
        rounded, exact, of_cpu = (self.scores("model", *more) for more in ([], ["--no-tf32"], ["--device", "cpu"]))
        size = max(map(abs, of_cpu))
        self.assertNotEqual(rounded, exact)
        self.assertLess(max(abs(a - b) for a, b in zip(exact, of_cpu, strict=True)), 1e-4 * size)
        self.assertLess(max(abs(a - b) for a, b in zip(rounded, of_cpu, strict=True)), 1e-1 * size)
        for switch in ("--tensor-sums", "--no-tensor-sums"):
            result = self.succeed_json("train", *GENERATED, "--model", "gat", "--type", "bfloat16", "--epochs", 40, switch)
            self.assertGreater(result["test_accuracy"], 0.5)

    def scores(self, checkpoint, *more):
        self.succeed("predict", *GENERATED, "--checkpoint", checkpoint, "--scores", "scores.npy", *more)
        return array(self.folder / "scores.npy")[1]

    @unittest.skipUnless(DEVICE == "cpu", "sizes are by the host's memory")
    def test_recompute_is_named_where_it_would_fit(self):
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
        options = ["train", "community:100000,2", "--features", 8, "--classes", 3, "--layers", 64, "--norm", "layer", "--hidden"]
        plan = self.succeed_json(*options, 4, "--epochs", 1)["memory_plan"]
        rows = plan["outputs of layers"] + plan["kept for backward"]
        # A third more than there is, of which recomputation needs little more than half.
        hidden = int(4 * 1.35 * free / rows) // 16 * 16
        if hidden > 4096:
            self.skipTest("weights would need most of so much memory")
        result = self.run_program(*options, hidden)
        self.assertEqual(result.status, 3, result.err)
        self.assertIn("with --recompute a rank holds", result.err)

    def test_types(self):
        """Rows of 16 bits learn as well, take half the room, and go on from each other's checkpoints."""
        sets = {"float32": "float32", "bf16": "bfloat16", "bfloat16": "bfloat16", "fp16": "float16", "float16": "float16"}
        found = {}
        for option, name in sets.items():
            result = self.succeed_json("train", self.folder_of(), "--symmetrize", "--type", option, "--dropout", 0, "--model", "sage",
                                       "--epochs", 60, "--devices", 2)
            self.assertEqual(result["type"], name)
            self.assertGreater(result["test_accuracy"], 0.9)
            self.assertEqual("loss_scale" in result, name == "float16")
            found[name] = result
        self.assertEqual(found["float16"]["loss_scale"], 65536)
        self.assertEqual(found["float16"]["skipped_steps"], 0)
        for part in ("features", "outputs of layers", "gradients"):
            self.assertEqual(2 * found["bfloat16"]["memory_plan"][part], found["float32"]["memory_plan"][part])
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            for mode in (("full",), ("sampled", "--fanout", "3,3", "--batch", 20)):
                losses = [self.losses(*GENERATED, "--model", model, "--mode", *mode, "--epochs", 3, "--type", kind)
                          for kind in ("float32", "bf16", "fp16")]
                for narrow in losses[1:]:
                    for one, other in zip(narrow, losses[0]):
                        self.assertAlmostEqual(one, other, delta=0.05 * (1 + other))
        kept = [*GENERATED, "--checkpoint", self.folder / "kept", "--epochs"]
        self.succeed_json("train", *kept, 4, "--type", "fp16")
        for epochs, kind in ((6, "bf16"), (8, "float32"), (10, "fp16")):
            rest = self.succeed_json("train", *kept, epochs, "--type", kind, "--resume", "--allow-changes")
            self.assertEqual([e["epoch"] for e in rest["epochs"]], list(range(1, epochs + 1)))
            self.assertEqual((rest["resumed_from"], len(rest["changed"])), (epochs - 2, 1))
        whole = self.losses(*GENERATED, "--type", "fp16", "--epochs", 10)
        self.succeed_json("train", *GENERATED, "--checkpoint", self.folder / "half", "--type", "fp16", "--epochs", 4)
        rest = self.losses(*GENERATED, "--checkpoint", self.folder / "half", "--type", "float16", "--epochs", 10, "--resume")
        self.assertEqual(rest, whole)
        predicted = self.succeed_json("predict", *GENERATED, "--checkpoint", self.folder / "half")
        self.assertGreater(predicted["test_accuracy"], 0)

    def test_divergence_keeps_the_last_good_checkpoint(self):
        options = ["train", *GENERATED, "--model", "gin", "--norm", "batch", "--optimizer", "sgd", "--checkpoint", "kept", "--checkpoint-every", 1]
        # The update of the last epoch is the one that goes wrong.
        self.must_fail(2, *options, "--epochs", 1, "--lr", 1e6, "--weight-decay", 1e6, says=["in epoch 1", "diverged"])
        self.assertFalse((self.folder / "kept").exists())
        self.succeed(*options, "--epochs", 2)
        before = self.kept()
        self.must_fail(2, *options, "--epochs", 60, "--resume", "--lr", 1e6, "--weight-decay", 1e6, "--allow-changes",
                  says="the checkpoint is the last good one")
        for content in self.kept().values():
            length = struct.unpack("<Q", content[:8])[0]
            numbers = struct.unpack(f"<{(len(content) - 8 - length) // 4}f", content[8 + length:])
            self.assertTrue(all(abs(number) < float("inf") for number in numbers))
        self.assertEqual(set(self.kept()), set(before))

    def test_other_optimizers_are_refused(self):
        options = ["train", *GENERATED, "--checkpoint", "kept", "--epochs"]
        self.succeed(*options, 1)
        self.must_fail(2, *options, 2, "--resume", "--optimizer", "sgd", says=["optimizer adam", "sgd"])
        self.succeed(*options, 2, "--resume")

    def test_skip(self):
        options = ["train", *GENERATED, "--checkpoint", "kept", "--layers", 3, "--skip"]
        found = [self.losses(*options[1:], "--epochs", 4, "--devices", devices, "--overwrite") for devices in (1, 3)]
        for one, other in zip(*found):
            self.assertAlmostEqual(one, other, places=4)
        trained = self.succeed_json(*options, "--epochs", 6, "--resume", "--devices", 3)
        self.assertEqual((len(trained["epochs"]), trained["resumed_from"]), (6, 4))
        predicted = self.succeed_json("predict", *GENERATED, "--checkpoint", "kept")
        self.assertAlmostEqual(predicted["test_accuracy"], trained["test_accuracy"], places=3)
        self.must_fail(2, *options[:-1], "--skip=false", "--epochs", 8, "--resume", says="skip")
        again = self.succeed_json(*options[:-1], "--epochs", 8, "--resume")
        self.assertEqual([e["loss"] for e in again["epochs"][:6]], [e["loss"] for e in trained["epochs"]])
        self.must_fail(2, *options, "--residual", says="--residual")
        # Batches of everything are the whole graph.
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            same = [*GENERATED, "--model", model, "--skip", "--dropout", 0, "--norm", "none", "--epochs", 3]
            batches = self.losses(*same, "--mode", "sampled", "--fanout=-1,-1,-1", "--devices", 2, "--batch", 39)
            for one, other in zip(self.losses(*same, "--layers", 3), batches):
                self.assertAlmostEqual(one, other, places=4)

    def test_trace(self):
        for mode in (("full",), ("sampled", "--fanout", "3,3", "--batch", 20)):
            self.succeed("train", *GENERATED, "--mode", *mode, "--epochs", 3, "--devices", 2, "--checkpoint", "kept", "--quiet",
                         "--overwrite", "--trace", "t.json")
            events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
            names = [event["name"] for event in events]
            for name in ("epoch", "evaluate"):
                self.assertEqual(names.count(name), 3 * 2, name)
            self.assertEqual(names.count("checkpoint"), 2)
            for part in ("aggregate", "dense", "communicate"):
                self.assertEqual(names.count(f"{part} seconds"), 3 * 2, part)

    def test_predictions_that_do_not_fit_are_planned(self):
        self.succeed("train", *GENERATED, "--hidden", 32768, "--epochs", 1, "--checkpoint", "kept")
        failed = self.must_fail(3, "predict", "community:2000000,2", "--features", 8, "--classes", 3, "--checkpoint", "kept",
                           says=["outputs of layers", "--devices N"])
        for option in ("--hidden", "--type", "--recompute"):
            self.assertNotIn(option, failed.err)

    def test_patience(self):
        result = self.succeed_json("train", *GENERATED, "--lr", 0, "--patience", 3)
        self.assertEqual((result["stopped_early"], len(result["epochs"])), (True, 4))
        self.succeed("train", *GENERATED, "--epochs", 3, "--patience", 3, warns="--patience has no effect")

    def test_draws_of_all_neighbours(self):
        for draw in (["--replace"], ["--weighted", "--weights", "uniform:1:9"]):
            self.succeed("train", *GENERATED, "--mode", "sampled", "--fanout=-1,-1", "--epochs", 1, *draw, warns=f"{draw[0]} has no effect")

    def test_bad_datasets(self):
        bad = [(0.0, float("nan")), (1.0, float("inf"))]
        for at, value in bad:
            values = [at] * 240
            values[17] = value
            self.must_fail(2, "train", self.folder_of(**{"features.npy": npy("<f4", (60, 4), values)}), says="row 4, column 1")
        self.must_fail(2, "train", self.folder_of(**{"features.npy": npy("<f4", (59, 4), [1.0] * 236)}), says="59 rows")
        labels = [v % 3 for v in range(60)]
        for wrong in (-2, 1 << 30):
            self.must_fail(2, "train", self.folder_of(**{"features.npy": npy("<f4", (60, 1), [1.0] * 60),
                                                    "labels.npy": npy("<i8", (60,), [*labels[:-1], wrong])}), says="vertex 59")
        good = {"labels.npy": npy("<i8", (60,), labels)}
        self.must_fail(2, "train", self.folder_of(**good, **{"test.txt": "45\n7\n"}), says="stands in train.txt already")
        self.must_fail(2, "train", self.folder_of(**good, **{"test.txt": "60\n"}), says="line 1")
        self.must_fail(2, "train", self.folder_of(**good, **{"test.txt": "4x\n"}), says="4x")
        for split in ("train.txt", "validation.txt", "test.txt"):
            self.must_fail(2, "train", self.folder_of(**good, **{split: ""}), says=[split, "no vertices"])
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": npy("<i8", (59,), labels[:-1])}), says=["labels.npy", "59 rows"])
        self.must_fail(2, "train", self.folder_of(**good, **{"test.txt": None}), says="no test.txt")
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": npy("<i8", (60,), [-1] * 60)}), says="tell apart")
        folder = self.folder_of(**good, **{"features.npy": None})
        for bad in (float("nan"), float("inf")):
            values = [1.0] * 60
            values[17] = bad
            npz(self.folder / "set" / "features.npz", (60, 4), range(61), [v % 4 for v in range(60)], values)
            self.must_fail(2, "train", folder, says=["features.npz", "row 17, column 1"])
        (self.folder / "set" / "features.npz").unlink()
        self.folder_of()
        unseen = npy("<i8", (60,), [*labels[:-1], 5])
        result = self.run_program("train", self.folder_of(**{"labels.npy": unseen}), "--epochs", 1)
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("no training vertex", result.err)

    def test_sampled(self):
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            for devices in (1, 2, 3, 4):
                result = self.succeed_json("train", *GENERATED, "--model", model, "--mode", "sampled", "--fanout", "4,3",
                                           "--batch", 20, "--epochs", 3, "--devices", devices)
                self.check_common(result, "train")
                self.check_fields(result, {**FIELDS, "batches": int, "train_share": float, "sampled_edges": int})
                self.assertEqual((result["mode"], result["layers"], result["fanout"]), ("sampled", 2, [4, 3]))
                self.assertEqual(set(result["breakdown"]),
                                 {"aggregate", "dense", "communicate", "other", "train", "sample", "gather", "exposed"})
        # A run repeats; where features are, and how is evaluated, changes no loss.
        options = [*GENERATED, "--mode", "sampled", "--model", "sage", "--batch", 16, "--epochs", 4, "--devices", 2]
        expected = self.losses(*options)
        self.assertEqual(expected, self.losses(*options))
        for placement in ("device", "replicated", "host", "cached"):
            result = self.succeed_json("train", *options, "--placement", placement)
            self.assertEqual((expected, placement), ([e["loss"] for e in result["epochs"]], result["placement"]))
        on_cpu = [*options, "--device", "cpu"]
        result = self.succeed_json("train", *on_cpu, "--placement", "exchanged")
        self.assertEqual((self.losses(*on_cpu), "exchanged"), ([e["loss"] for e in result["epochs"]], result["placement"]))
        self.assertEqual(expected, self.losses(*options, "--evaluation", "sampled"))
        for edges in ("device", "replicated", "host"):
            result = self.succeed_json("train", *options, "--evaluation", "sampled", "--edges", edges)
            self.assertEqual((expected, edges), ([e["loss"] for e in result["epochs"]], result["edges_placement"]))
        for by in ("degree", "presampling"):
            result = self.succeed_json("train", *options, "--placement", "cached", "--cached", 0.5, "--cache-by", by)
            self.assertEqual(expected, [e["loss"] for e in result["epochs"]])
            self.assertGreater(result["hit_rate"], 0.5)
        self.assertEqual((result["edges_placement"], result["replace"], result["weighted"]), ("device", False, False))
        # Drawn otherwise, other losses.
        drawn = {tuple(self.losses(*options, *how)) for how in
                 ([], ["--replace"], ["--weighted", "--weights", "uniform:0:9"], ["--replace", "--weighted", "--weights", "uniform:0:9"])}
        self.assertEqual(len(drawn), 4)
        # Batches are no larger than a rank's share, which is said where others were asked for.
        training = 70
        asked = self.run_program("train", *GENERATED, "--mode", "sampled", "--epochs", 1, "--devices", 2, "--batch", training)
        self.assertEqual(asked.status, 0, asked.err)
        self.assertIn(f"--batch {training}", asked.err)
        self.assertNotIn("--batch", self.run_program("train", *GENERATED, "--mode", "sampled", "--epochs", 1, "--devices", 2).err)
        # An only fanout is every layer's; a small training set makes small batches.
        result = self.succeed_json("train", *GENERATED, "--mode", "sampled", "--layers", 3, "--fanout", 2, "--epochs", 1)
        self.assertEqual((result["fanout"], result["batch"], result["batches"]), ([2, 2, 2], 8, 10))
        # Learns as the whole graph does.
        learnt = self.succeed_json("train", self.folder_of(), "--symmetrize", "--mode", "sampled", "--fanout=-1,-1", "--batch", 10,
                                   "--dropout", 0, "--model", "sage", "--epochs", 60)
        self.assertGreater(learnt["test_accuracy"], 0.9)
        predicted = ["--mode", "sampled", "--model", "sage", "--epochs", 2, "--checkpoint", self.folder / "sampled"]
        trained = self.succeed_json("train", self.folder_of(), *predicted)
        found = self.succeed_json("predict", self.folder_of(), "--checkpoint", self.folder / "sampled")
        self.assertAlmostEqual(found["test_accuracy"], trained["test_accuracy"])

    def test_refused(self):
        self.must_fail(2, "train", "community:1000,5", says="--features")
        self.must_fail(2, "train", "kron:8", "--features", 4, says="--classes")
        self.must_fail(2, "train", *GENERATED, "--model", "rgcn", says="rgcn")
        self.must_fail(2, "train", *GENERATED, "--mode", "batches", says="batches")
        sampled = ["train", *GENERATED, "--mode", "sampled"]
        self.must_fail(2, *sampled, "--fanout", "5,0", says="--fanout 0")
        self.must_fail(2, *sampled, "--fanout=-2", says="-1 for all")
        self.must_fail(2, *sampled, "--fanout", "5,", says="commas")
        self.must_fail(2, *sampled, "--layers", 3, "--fanout", "5,5", says="one hop for each layer")
        self.must_fail(2, *sampled, "--batch", 5000, says="training vertices")
        self.must_fail(2, *sampled, "--batch", 0, says="--batch")
        self.must_fail(2, *sampled, "--placement", "disk", says="disk")
        self.must_fail(2, *sampled, "--cached", 0.5, says="--placement cached")
        self.must_fail(2, *sampled, "--cache-by", "presampling", says="--placement cached")
        self.must_fail(2, *sampled, "--placement", "cached", "--cache-by", "age", says=["age", "degree, presampling"])
        self.must_fail(2, *sampled, "--edges", "compressed-host", says=["compressed-host", "auto, device, replicated, host"])
        self.must_fail(2, *sampled, "--weighted", says=["--weighted", "--weights uniform"])
        for only in (["--edges", "host"], ["--replace"], ["--weighted"], ["--cache-by", "degree"]):
            self.must_fail(2, "train", *GENERATED, *only, says="--mode sampled")
        self.must_fail(2, *sampled, "--evaluation", "none", says="none")
        self.must_fail(2, "train", *GENERATED, "--fanout", "5,5", says="--mode sampled")
        self.must_fail(2, "train", *GENERATED, "--batch", 5, says="--mode sampled")
        self.must_fail(2, "train", *GENERATED, "--type", "float64", says="float64")
        for model in ("gat", "gatv2"):
            self.must_fail(2, "train", *GENERATED, "--model", model, "--hidden", 12, says="12")
        self.must_fail(2, "train", *GENERATED, "--model", "gatv3", says="gatv3")
        self.must_fail(2, "train", *GENERATED, "--dropout", 1.0, says="--dropout")
        self.must_fail(2, "train", *GENERATED, "--resume", says="--checkpoint")
        self.must_fail(2, "train", *GENERATED, "--normalize", "columns", says="columns")
        self.must_fail(2, "train", "nowhere", says="nowhere")
        self.must_fail(2, "train", "ogbn-papers100M", says="WARREN_DATA")
        self.must_fail(2, "train", *GENERATED, "--lr", 1e6, "--optimizer", "sgd", "--model", "gin", "--epochs", 50, says="epoch")
        self.must_fail(2, "predict", *GENERATED, says="--checkpoint")
        self.must_fail(2, "predict", *GENERATED, "--checkpoint", "nowhere", says="nowhere")
        if os.path.exists("/dev/full"):
            self.must_fail(2, "train", *GENERATED, "--epochs", 1, "--checkpoint", "/dev/full", says="/dev/full")


if __name__ == "__main__":
    unittest.main()
