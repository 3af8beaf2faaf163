# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: what they keep of a training, what predict and --resume make of it, and what both refuse."""

import json
import struct
import unittest

from support import ProgramTest, npy

GENERATED = ["community:1000,5", "--features", 8, "--classes", 3]
N = 90


def array(path):
    """Shape and float32 elements of a .npy file."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length])  # pylint: disable=eval-used
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    return header["shape"], struct.unpack(f"<{(len(data) - 10 - length) // 4}f", data[10 + length:])


class Base(ProgramTest):
    def set_of(self, name="set", labels=True, seed=1, n=N):
        """Three classes told by features that row normalisation makes equal: their size. Edges lead to higher ids alone."""
        features = [(1.0 + v % 3) * (1.0 if c == 0 else 0.5) for v in range(n) for c in range(2)]
        root = self.folder / name
        root.mkdir()
        (root / "graph.el").write_text("".join(f"{v} {v + 3}\n" for v in range(n - 3)) + f"0 {3 + 3 * seed}\n")
        (root / "features.npy").write_bytes(npy("<f4", (n, 2), features))
        if labels:
            (root / "labels.npy").write_bytes(npy("<i8", (n,), [v % 3 for v in range(n)]))
            for split, rows in (("train", range(45)), ("validation", range(45, 60)), ("test", range(60, n))):
                (root / f"{split}.txt").write_text("".join(f"{v}\n" for v in rows))
        return str(root)

    def train(self, dataset, *options):
        dropout = [] if "--layers" in options else ["--dropout", 0]  # One layer has none.
        return self.succeed_json("train", dataset, "--model", "sage", *dropout, "--lr", 0.05, "--epochs", 150, "--checkpoint", "kept", *options)

    def header(self, name):
        with open(self.folder / "kept" / name, "rb") as file:
            return json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))["__metadata__"]


class Checkpoints(Base):
    def test_predict_makes_inputs_as_training_did(self):
        folder = self.set_of()
        trained = self.train(folder, "--normalize", "none", "--symmetrize", "--type", "bf16")
        self.assertEqual(trained["test_accuracy"], 1.0)
        for given in ([], ["--normalize", "none"], ["--symmetrize", "--devices", 2]):
            found = self.succeed_json("predict", folder, "--checkpoint", "kept", *given)
            self.assertEqual((found["test_accuracy"], found["edges"], found["normalize"]), (1.0, trained["edges"], "none"))
            self.assertIs(found["trained_on"], True)
        ask = ["predict", folder, "--checkpoint", "kept"]
        self.must_fail(2, *ask, "--normalize", "rows", says=["kept", "--normalize none", "--normalize rows", "--allow-changes"])
        self.must_fail(2, *ask, "--symmetrize=false", says=["--symmetrize"])
        self.must_fail(2, *ask, "--drop-self-loops", says=["no --drop-self-loops"])
        self.must_fail(2, *ask, "--keep-duplicates", says=["no --keep-duplicates"])
        other = self.succeed_json(*ask, "--normalize", "rows", "--allow-changes")
        self.assertIn("--allow-changes has no effect", self.run_program(*ask, "--allow-changes").err)
        self.assertLess(other["test_accuracy"], 0.7)
        self.assertIs(other["trained_on"], False)

    def test_of_a_folder_whose_name_is_not_utf8(self):
        folder = self.set_of("set\udcff")  # The byte 0xff.
        trained = self.train(folder)
        found = self.succeed_json("predict", folder, "--checkpoint", "kept")
        self.assertEqual((found["test_accuracy"], found["trained_on"]), (trained["test_accuracy"], True))
        self.assertTrue(self.header("state.safetensors")["option.graph"].endswith("set\ufffd"))

    def test_predict_of_a_generator(self):
        options = ["--normalize", "none", "--seed", 7]
        trained = self.succeed_json("train", *GENERATED, *options, "--epochs", 20, "--checkpoint", "kept")
        found = self.succeed_json("predict", GENERATED[0], "--checkpoint", "kept")
        self.assertAlmostEqual(found["test_accuracy"], trained["test_accuracy"], places=6)
        self.assertIs(found["trained_on"], True)
        again = ["predict", GENERATED[0], "--checkpoint", "kept", "--seed"]
        self.assertEqual(self.succeed_json(*again, 7)["test_accuracy"], found["test_accuracy"])
        # Another seed draws another set, of other features and labels.
        self.must_fail(2, *again, 8, says=["--seed 7", "--seed 8"])
        self.assertIs(self.succeed_json(*again, 8, "--allow-changes")["trained_on"], False)

    def test_files_say_what_was_trained(self):
        self.succeed("train", *GENERATED, "--lr", 0.0125, "--dropout", 0, "--weight-decay", 0, "--patience", 15, "--symmetrize", "--epochs", 20,
                     "--checkpoint", "kept")
        for name in ("model.safetensors", "state.safetensors"):
            found = self.header(name)
            for key, value in (("lr", "0.0125"), ("weight-decay", "0"), ("dropout", "0"), ("symmetrize", "false"), ("drop-self-loops", "false"),
                               ("mode", "full"), ("type", "float32"), ("optimizer", "adam"), ("seed", "1"), ("graph", GENERATED[0])):
                self.assertEqual(found["option." + key], value)
            self.assertEqual((found["dataset.vertices"], found["dataset.features"], found["dataset.classes"]), ("1000", "8", "3"))
        # A generated set is undirected in any case: --symmetrize is no contradiction.
        self.assertIs(self.succeed_json("predict", *GENERATED, "--checkpoint", "kept", "--symmetrize")["trained_on"], True)
        result = self.succeed_json("train", *GENERATED, "--checkpoint", "kept", "--resume", "--epochs", 30)
        state = self.header("state.safetensors")
        # Decimal, and the same number exactly.
        self.assertEqual(float(state["best_validation"]), result["best_validation"])
        self.assertEqual(float(state["test_accuracy"]), result["test_accuracy"])
        self.assertLessEqual(float(state["best_loss"]), 10)

    def test_a_model_is_not_overwritten(self):
        self.succeed("train", *GENERATED, "--epochs", 2, "--checkpoint", "kept")
        before = (self.folder / "kept" / "model.safetensors").read_bytes()
        again = ["train", *GENERATED, "--epochs", 3, "--checkpoint", "kept"]
        self.must_fail(2, *again, says=["kept has a trained model", "--resume", "--overwrite"])
        self.assertEqual((self.folder / "kept" / "model.safetensors").read_bytes(), before)
        self.must_fail(2, *again, "--resume", "--overwrite", says="--overwrite")
        self.must_fail(2, "train", *GENERATED, "--overwrite", says="--checkpoint")
        found = self.succeed_json(*again, "--overwrite")
        self.assertEqual((len(found["epochs"]), found["resumed_from"]), (3, 0))
        # A model alone cannot be gone on from.
        (self.folder / "kept" / "state.safetensors").unlink()
        self.must_fail(2, *again, "--resume", says=["kept", "model.safetensors"])
        self.must_fail(2, *again, says=["model.safetensors"])

    def test_resume_takes_what_was_trained_with(self):
        options = ["--model", "sage", "--hidden", 8, "--lr", 0.02, "--dropout", 0.25, "--weight-decay", 0.001, "--normalize", "none",
                   "--symmetrize", "--optimizer", "adamw", "--schedule", "step", "--clip", 2, "--seed", 3]
        whole = self.succeed_json("train", *GENERATED, *options, "--epochs", 6)
        self.succeed("train", *GENERATED, *options, "--epochs", 6, "--checkpoint", "kept")
        self.succeed("train", *GENERATED, *options, "--epochs", 6, "--checkpoint", "other")
        for folder in ("kept", "other"):
            rest = self.succeed_json("train", GENERATED[0], "--epochs", 6, "--checkpoint", folder, "--resume",
                                     warns=f"{folder}: nothing was trained: its training has ended after 6 epochs; a larger --epochs")
            self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
            self.assertEqual((rest["resumed_from"], rest["changed"]), (6, []))

    def test_resume_of_batches(self):
        options = ["--mode", "sampled", "--model", "sage", "--fanout", "4,3", "--batch", 20, "--replace"]
        whole = self.succeed_json("train", *GENERATED, *options, "--epochs", 4)
        self.succeed("train", *GENERATED, *options, "--epochs", 2, "--checkpoint", "kept")
        ask = ["train", *GENERATED, "--checkpoint", "kept", "--resume", "--epochs", 4]
        self.must_fail(2, *ask, "--fanout", "5,3", says=["--fanout 4,3", "--fanout 5,3"])
        self.must_fail(2, *ask, "--batch", 10, says=["--batch 20", "--batch 10"])
        rest = self.succeed_json(*ask)
        self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
        self.assertEqual((rest["mode"], rest["fanout"], rest["batch"], rest["replace"]), ("sampled", [4, 3], 20, True))

    def test_resume_refuses_contradictions(self):
        self.succeed("train", *GENERATED, "--epochs", 2, "--checkpoint", "kept", "--normalize", "none")
        ask = ["train", *GENERATED, "--checkpoint", "kept", "--resume", "--epochs", 4]
        may_change = (("lr", "0.01", 0.5), ("dropout", "0.5", 0.25), ("type", "float32", "bfloat16"), ("weight-decay", "0.0005", 0.5),
                      ("schedule", "constant", "cosine"), ("clip", "0", 3), ("warmup", "0", 2))
        for name, stored, given in may_change:
            self.must_fail(2, *ask, f"--{name}", given, says=["kept", f"--{name} {stored}", f"--{name} {given}", "--allow-changes"])
        for name, stored, given in (("hidden", 64, 32), ("layers", 2, 3), ("model", "gcn", "gat"), ("norm", "none", "layer"), ("seed", 1, 2),
                                    ("optimizer", "adam", "sgd"), ("normalize", "none", "rows")):
            failed = self.must_fail(2, *ask, f"--{name}", given, "--allow-changes", says=["kept", f"--{name} {stored}", f"--{name} {given}"])
            self.assertNotIn("under --allow-changes", failed.err)
        self.must_fail(2, *ask, "--keep-duplicates", says=["no --keep-duplicates"])
        self.must_fail(2, "train", *GENERATED, "--allow-changes", says="--resume")
        changed = self.succeed_json(*ask, "--lr", 0.5, "--type", "bf16", "--allow-changes")
        self.assertEqual(changed["changed"], ["lr: 0.01, now 0.5", "type: float32, now bfloat16"])

    def test_resume_refuses_other_datasets(self):
        self.train(self.set_of(), "--normalize", "none")
        ask = ["--checkpoint", "kept", "--resume", "--epochs", 151]
        self.must_fail(2, "train", self.set_of("edges", seed=2), *ask, says=["kept", "other edges", "another --checkpoint"])
        self.must_fail(2, "train", self.set_of("larger", n=120), *ask, says=["90 vertices", "120"])
        features = self.set_of("features")
        (self.folder / "features" / "features.npy").write_bytes(npy("<f4", (N, 2), [1.0] * (2 * N)))
        self.must_fail(2, "train", features, *ask, says=["other features"])
        labels = self.set_of("labels")
        (self.folder / "labels" / "labels.npy").write_bytes(npy("<i8", (N,), [(v + 1) % 3 for v in range(N)]))
        self.must_fail(2, "train", labels, *ask, says=["other labels"])
        self.succeed("train", self.set_of("same"), *ask, "--devices", 2, "--method", "random")

    def test_old_checkpoints(self):
        """Files without the options: a line says that they are not known."""
        folder = self.set_of()
        trained = self.train(folder, "--normalize", "none")
        for name in ("model.safetensors", "state.safetensors"):
            path = self.folder / "kept" / name
            data = path.read_bytes()
            length = struct.unpack("<Q", data[:8])[0]
            header = json.loads(data[8:8 + length])
            kept = {}
            for key, value in header["__metadata__"].items():
                if key.startswith(("option.", "dataset.")) or key in ("format", "loss", "history"):
                    continue
                is_real = key in ("best_validation", "best_loss", "test_accuracy")
                kept[key] = str(struct.unpack("<Q", struct.pack("<d", float(value)))[0]) if is_real else value
            header["__metadata__"] = kept
            text = json.dumps(header).encode()
            text += b" " * (-len(text) % 8)
            path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length:])
        found = self.run_program("predict", folder, "--checkpoint", "kept", "--normalize", "none", "--json", "-")
        self.assertEqual(found.status, 0, found.err)
        self.assertIn("does not keep how its inputs were made", found.err)
        self.assertEqual(found.json["test_accuracy"], trained["test_accuracy"])
        rest = self.run_program("train", folder, "--model", "sage", "--dropout", 0, "--lr", 0.05, "--epochs", 152, "--checkpoint", "kept", "--resume",
                                "--normalize", "none", "--json", "-")
        self.assertEqual(rest.status, 0, rest.err)
        self.assertEqual(rest.json["best_validation"], trained["best_validation"])
        self.assertEqual([e["epoch"] for e in rest.json["epochs"]], [151, 152])

    def test_numbers_that_are_none(self):
        for option in ("--lr", "--dropout", "--weight-decay", "--clip"):
            for value in ("nan", "-nan", "inf", "-1", "1e", "x", ""):
                self.must_fail(2, "train", *GENERATED, f"{option}={value}", says=option)
        self.must_fail(2, "train", *GENERATED, "--dropout", 1.0, says="--dropout")
        self.must_fail(2, "train", *GENERATED, "--mode", "sampled", "--placement", "cached", "--cached", "nan", says="--cached")
        for option in ("--hidden", "--layers", "--heads", "--epochs", "--batch", "--negatives", "--checkpoint-every"):
            for value in (0, "nan", -1, "1.5"):
                self.must_fail(2, "train", *GENERATED, f"{option}={value}", says=option)

    def test_weights_of_classes(self):
        few = [*GENERATED, "--epochs", 3]
        plain = self.succeed_json("train", *few)
        alike = self.succeed_json("train", *few, "--class-weights", "none")
        self.assertEqual([e["loss"] for e in alike["epochs"]], [e["loss"] for e in plain["epochs"]])
        classes = plain["classes"]
        for mode in ([], ["--mode", "sampled"]):
            plain = self.succeed_json("train", *few, *mode)
            same = self.succeed_json("train", *few, *mode, "--class-weights", ",".join(["2.5"] * classes))
            for a, b in zip(same["epochs"], plain["epochs"]):
                self.assertAlmostEqual(a["loss"], b["loss"], delta=1e-4)
            skewed = self.succeed_json("train", *few, *mode, "--class-weights", ",".join(["9"] + ["0.1"] * (classes - 1)))
            self.assertNotAlmostEqual(skewed["epochs"][-1]["loss"], plain["epochs"][-1]["loss"], delta=1e-4)
        for value in ("x", "1,x", "1,", "-1,1", "nan,1", "inf,1", "1"):
            self.must_fail(2, "train", *few, f"--class-weights={value}", says="--class-weights")
        self.must_fail(2, "train", *few, "--class-weights", ",".join(["0"] * classes), says=["--class-weights", "0 for every class"])
        self.must_fail(2, "train", *few, "--mode", "sampled", "--task", "link", "--class-weights", "balanced", says=["--class-weights", "--task node"])
        # A checkpoint keeps them, and another training of the same model is asked for by name.
        self.succeed("train", *few, "--class-weights", "balanced", "--checkpoint", "kept")
        rest = self.succeed_json("train", *GENERATED, "--epochs", 5, "--checkpoint", "kept", "--resume")
        whole = self.succeed_json("train", *GENERATED, "--epochs", 5, "--class-weights", "balanced")
        self.assertEqual([e["loss"] for e in rest["epochs"]], [e["loss"] for e in whole["epochs"]])
        self.must_fail(2, "train", *GENERATED, "--epochs", 6, "--checkpoint", "kept", "--resume", "--class-weights", "none", says=["--class-weights balanced", "--class-weights none"])
        self.succeed("train", *GENERATED, "--epochs", 6, "--checkpoint", "kept", "--resume", "--class-weights", "none", "--allow-changes")


class Predict(Base):
    def test_without_labels(self):
        self.train(self.set_of(), "--normalize", "none", "--symmetrize")
        bare = self.set_of("bare", labels=False)
        found = self.succeed_json("predict", bare, "--checkpoint", "kept", "--output", "classes.txt")
        for field in ("train_accuracy", "validation_accuracy", "test_accuracy"):
            self.assertNotIn(field, found)
        lines = (self.folder / "classes.txt").read_text().splitlines()
        self.assertEqual([line.split() for line in lines], [[str(v), str(v % 3)] for v in range(N)])
        self.assertIn("no labels", self.succeed("predict", bare, "--checkpoint", "kept").out)
        self.assertNotIn("test_accuracy", self.succeed_json("predict", str(self.folder / "set"), "--checkpoint", "kept", "--no-labels"))

    def test_on_another_graph(self):
        self.train(self.set_of(), "--normalize", "none", "--symmetrize")
        other = self.set_of("other", n=150)
        found = self.succeed_json("predict", other, "--checkpoint", "kept")
        self.assertEqual((found["vertices"], found["test_accuracy"], found["trained_on"]), (150, 1.0, False))
        # Of fewer classes.
        (self.folder / "other" / "labels.npy").write_bytes(npy("<i8", (150,), [v % 2 for v in range(150)]))
        self.succeed_json("predict", other, "--checkpoint", "kept")
        (self.folder / "other" / "labels.npy").write_bytes(npy("<i8", (150,), [v % 4 for v in range(150)]))
        self.must_fail(2, "predict", other, "--checkpoint", "kept", says=["3 classes", "has 4", "--no-labels"])
        self.succeed_json("predict", other, "--checkpoint", "kept", "--no-labels")
        (self.folder / "other" / "features.npy").write_bytes(npy("<f4", (150, 3), [1.0] * 450))
        self.must_fail(2, "predict", other, "--checkpoint", "kept", says=["2 features", "has 3"])

    def test_arrays(self):
        folder = self.set_of()
        self.train(folder, "--normalize", "none", "--hidden", 12)
        ask = ["predict", folder, "--checkpoint", "kept"]
        found = {}
        for devices, extra in ((1, []), (3, ["--method", "random"])):
            self.succeed(*ask, "--output", "classes.txt", "--scores", "scores.npy", "--embeddings", "hidden.npy", "--devices", devices, *extra)
            shape, scores = array(self.folder / "scores.npy")
            self.assertEqual(shape, (N, 3))
            classes = [max(range(3), key=lambda c, v=v: scores[3 * v + c]) for v in range(N)]
            lines = (self.folder / "classes.txt").read_text().splitlines()
            self.assertEqual([int(line.split()[1]) for line in lines], classes)
            shape, hidden = array(self.folder / "hidden.npy")
            self.assertEqual(shape, (N, 12))
            self.assertTrue(all(x >= 0.0 for x in hidden) and any(x > 0.0 for x in hidden))
            found[devices] = scores + hidden
        for one, other in zip(found[1], found[3]):
            self.assertAlmostEqual(one, other, places=4)
        for option, name in (("--scores", "scores.npy"), ("--embeddings", "hidden.npy")):
            self.succeed(*ask, "--output", "o.npy", option)
            self.succeed(*ask, option, name)
            self.assertEqual((self.folder / "o.npy").read_bytes(), (self.folder / name).read_bytes())
            self.must_fail(2, *ask, option, says="--output")
        self.must_fail(2, *ask, "--output", "o.npy", "--scores", "--embeddings", says="--output is one file")
        self.must_fail(2, *ask, "--scores", "nowhere/s.npy", says=["--scores", "nowhere"])
        self.must_fail(2, *ask, "--pairs", "p.txt", says="--task link")
        self.train(folder, "--layers", 1, "--overwrite")
        self.must_fail(2, *ask, "--embeddings", "e.npy", says="one layer")

    def test_weights_that_steer_draws_are_no_input(self):
        """A model is of the edges and features that it learnt from, whatever its batches were drawn by."""
        weighted = ["--mode", "sampled", "--model", "sage", "--fanout", "3,3", "--weighted", "--epochs", 2]
        self.succeed("train", *GENERATED, *weighted, "--weights", "uniform:1:4", "--checkpoint", "kept")
        self.assertIs(self.succeed_json("predict", *GENERATED, "--checkpoint", "kept")["trained_on"], True)
        self.must_fail(2, "train", *GENERATED, *weighted[:-1], 3, "--weights", "uniform:1:9", "--checkpoint", "kept", "--resume", says="uniform:1:4")

    def test_pairs(self):
        linked = [(v, w) for v in range(60) for w in range(60) if v < w and v % 3 == w % 3]
        self.file("set/graph.el", "".join(f"{v} {w}\n" for v, w in linked if (v + w) % 5))
        (self.folder / "set" / "features.npy").write_bytes(npy("<f4", (60, 3), [float(v % 3 == c) for v in range(60) for c in range(3)]))
        options = [str(self.folder / "set"), "--checkpoint", "kept"]
        trained = self.succeed_json("train", *options, "--symmetrize", "--task", "link", "--mode", "sampled", "--model", "sage", "--dropout", 0,
                                    "--epochs", 60)
        self.assertGreater(trained["test_auc"], 0.95)
        hidden = [pair for pair in linked if sum(pair) % 5 == 0]
        unlinked = [(v, v + 1) for v in range(59)]
        pairs = self.file("pairs.txt", "# two vertices\n\n" + "".join(f"{v}\t{w}\r\n" for v, w in hidden) +
                          "".join(f"{v},{w}\n" for v, w in unlinked))
        for devices in (1, 3):
            found = self.succeed_json("predict", *options, "--pairs", pairs, "--output", "out.txt", "--scores", "s.npy", "--embeddings", "e.npy",
                                      "--devices", devices)
            self.assertEqual((found["task"], found["pairs"]), ("link", len(hidden) + len(unlinked)))
            lines = [line.split() for line in (self.folder / "out.txt").read_text().splitlines()]
            self.assertEqual([(int(v), int(w)) for v, w, _ in lines], hidden + unlinked)
            chances = [float(line[2]) for line in lines]
            self.assertTrue(all(0.0 <= p <= 1.0 for p in chances))
            self.assertGreater(sum(chances[:len(hidden)]) / len(hidden), sum(chances[len(hidden):]) / len(unlinked) + 0.3)
            shape, scores = array(self.folder / "s.npy")
            self.assertEqual(shape, (len(lines), 1))
            (count, width), z = array(self.folder / "e.npy")
            self.assertEqual((count, width), (60, found["embedding"]))
            for (v, w), score in zip(hidden + unlinked, scores):
                product = sum(z[v * width + i] * z[w * width + i] for i in range(width))
                self.assertAlmostEqual(product, score, places=3)
        by_number = self.succeed_json("predict", *options, "--pairs", self.file("numbers.txt", 'source,target\n0;3\n"1" "2"\n'), "--output", "out.txt")
        chances = [line.split()[-1] for line in (self.folder / "out.txt").read_text().splitlines()]
        # Names of vertices; a number is a number.
        self.file("set/names.txt", "".join("7\n" if v == 3 else f'v "{v}"\n' for v in range(60)))
        by_name = self.succeed_json("predict", *options, "--pairs", self.file("words.txt", '"v ""0""", 3\n"v ""1""";"v ""2"""\n'), "--output", "out.txt")
        self.assertEqual(by_name["likely_pairs"], by_number["likely_pairs"])
        self.assertEqual((self.folder / "out.txt").read_text(), f'"v ""0""" 3 {chances[0]}\n"v ""1""" "v ""2""" {chances[1]}\n')
        ask = ["predict", *options]
        self.must_fail(2, *ask, "--pairs", self.file("bad.txt", '1 2\n"v ""0"" 1\n'), says=["bad.txt", "line 2", "quotes"])
        self.must_fail(2, *ask, "--pairs", self.file("bad.txt", '1 2\n1 nobody\n'), says=["bad.txt", "line 2", "names.txt"])
        self.must_fail(2, *ask, says=["--pairs FILE", "--task link"])
        self.must_fail(2, *ask, "--output", "o.txt", "--embeddings", "e.npy", says="--pairs FILE")
        for line in ("1 60", "1", "1 2 3", "a b", "1 -2"):
            self.must_fail(2, *ask, "--pairs", self.file("bad.txt", f"1 2\n{line}\n"), says=["bad.txt", "line 2"])
        self.must_fail(2, *ask, "--pairs", "nowhere", says="nowhere")

    def test_order_of_the_vertices_changes_no_prediction(self):
        """Nor does it matter whether embeddings are asked for, too."""
        graph = ["community:300,6", "--features", 5, "--classes", 2]
        self.succeed("train", *graph, "--epochs", 5, "--checkpoint", "ordered", "--reorder", "degree")
        plain = ["predict", *graph, "--checkpoint", "ordered", "--output", "classes.txt"]
        found = []
        for options in (["--reorder", "none"], ["--reorder", "degree"], ["--method", "random", "--devices", 2], ["--embeddings", "e.npy"]):
            self.succeed(*plain, *options)
            found.append((self.folder / "classes.txt").read_text())
        self.assertEqual(set(found), {found[0]})


if __name__ == "__main__":
    unittest.main()
