# SPDX-License-Identifier: Apache-2.0
"""Every option of train and predict: it changes something, or is refused or warned of by name (test_options.py has the other
commands)."""

import unittest

import option_walk
from option_entries import Changes, Elsewhere, Kept, Refused, Shows, Warned, Writes
from option_walk import common, graph
from support import DEVICE, ProgramTest, npy

N = 40
SET = ["set", "--epochs", "2", "--hidden", "4"]
SAMPLED = ["--mode", "sampled", "--fanout", "2,1"]
LINKS = ["--mode", "sampled", "--task", "link", "--fanout", "1,1"]
DRAWN = ["community:400,4", "--epochs", "2"]

TRAIN = {
    **common(["losses"], repeat=Warned(["--repeat", "3"]), seed=Changes(["--seed", "5"], "losses")),
    **graph(Refused(["--weights", "uniform:1:9"]), Changes(["--sum-duplicates"], "losses", base=["weighted", "--epochs", "2"], beside=[*SAMPLED, "--weighted"])),
    "--one-based": Changes(["--one-based"], "status", "losses"),
    "--compact": Changes(["--compact"], "status", "losses"),
    "--ids": Changes(["--ids", "words"], "status", "losses"),
    "--format": Refused(["--format", "el"]),
    "--id-map": Writes(["--id-map", "map.txt"], "map.txt"),
    "--features": Shows(["--features", "7"], "features", 7, base=[*DRAWN, "--classes", "3"]),
    "--classes": Shows(["--classes", "2"], "classes", 2, base=[*DRAWN, "--features", "7"]),
    "--normalize": Changes(["--normalize", "none"], "losses"),
    "--labels": Elsewhere(["--labels"], "test_folders.py"),
    "--method": Shows(["--method", "random"], "method", "random"),
    "--reorder": Shows(["--reorder", "degree"], "reorder", "degree"),
    "--model": Shows(["--model", "sage"], "model", "sage"),
    "--mode": Shows(["--mode", "sampled"], "mode", "sampled"),
    "--task": Shows(["--task", "link"], "task", "link", beside=["--mode", "sampled"]),
    "--type": Shows(["--type", "float16"], "type", "float16"),
    "--layers": Shows(["--layers", "3"], "layers", 3),
    "--hidden": Shows(["--hidden", "5"], "hidden", 5, base=["set", "--epochs", "2"]),
    "--heads": Changes(["--heads", "1"], "losses", beside=["--model", "gat"], base=["set", "--epochs", "2", "--hidden", "8"]),
    "--aggregate": Changes(["--aggregate", "sum"], "losses", beside=["--model", "sage"]),
    "--norm": Changes(["--norm", "layer"], "losses"),
    "--residual": Changes(["--residual"], "losses", beside=["--layers", "3"]),
    "--skip": Changes(["--skip"], "losses"),
    "--dropout": Changes(["--dropout", "0.1"], "losses"),
    "--recompute": Shows(["--recompute"], "recompute", True, beside=["--layers", "3"]),
    **{name: Warned([name]) if DEVICE == "cpu" else Elsewhere([name], "test_train.py")
       for name in ("--no-capture", "--tensor-sums", "--no-tensor-sums", "--no-tf32")},
    "--strategy": Shows(["--strategy", "pull"], "strategy", "pull:ps=128:dist=16:wpb=16", beside=["--devices", "2"])
    if DEVICE == "cpu" else Elsewhere(["--strategy"], "test_train_strategies.py"),
    "--workgroup": Refused(["--workgroup", "2"]),
    "--explain": Changes(["--explain"], "candidates", beside=["--devices", "2"])
    if DEVICE == "cpu" else Elsewhere(["--explain"], "test_train_strategies.py"),
    "--lr": Changes(["--lr", "0.5"], "losses"),
    "--weight-decay": Changes(["--weight-decay", "0.5"], "losses"),
    "--optimizer": Changes(["--optimizer", "sgd"], "losses"),
    "--schedule": Changes(["--schedule", "cosine"], "losses", base=["set", "--hidden", "4", "--epochs", "4"]),
    "--warmup": Changes(["--warmup", "2"], "losses"),
    "--clip": Changes(["--clip", "0.0001"], "losses", beside=["--optimizer", "sgd"]),
    "--epochs": Shows(["--epochs", "3"], "epochs_done", 3, base=["set", "--hidden", "4"]),
    "--patience": Changes(["--patience", "1"], "epochs_done", base=["set", "--hidden", "4", "--epochs", "60"]),
    "--checkpoint": Writes(["--checkpoint", "kept"], "kept/state.safetensors"),
    "--checkpoint-every": Warned(["--checkpoint-every", "1"]),
    "--checkpoint-batches": Warned(["--checkpoint-batches", "1"], beside=["--mode", "sampled"]),
    "--resume": Refused(["--resume"]),
    "--overwrite": Refused(["--overwrite"]),
    "--allow-changes": Refused(["--allow-changes"]),
    "--class-weights": Changes(["--class-weights", "3,1,1"], "losses"),
    "--edge-weights": Shows(["--edge-weights", "--weights", "uniform:1:9"], "edge_weights", True),
    "--fanout": Changes(["--fanout", "3,1"], "fanout", beside=["--mode", "sampled"]),
    "--batch": Shows(["--batch", "5"], "batch", 5, beside=["--mode", "sampled"]),
    "--negatives": Shows(["--negatives", "3"], "negatives", 3, beside=LINKS),
    "--evaluation": Changes(["--evaluation", "sampled"], "scores", "memory_plan", beside=SAMPLED),
    "--placement": Shows(["--placement", "host"], "placement", "host", beside=SAMPLED),
    "--cached": Changes(["--cached", "0.5"], "hit_rate", beside=[*SAMPLED, "--placement", "cached"]),
    "--cache-by": Elsewhere(["--cache-by"], "test_train.py"),
    "--capture-batches": Changes(["--capture-batches"], "padded_batches", beside=SAMPLED),
    "--edges": Shows(["--edges", "host"], "edges_placement", "host", beside=SAMPLED),
    "--replace": Shows(["--replace"], "replace", True, beside=SAMPLED),
    "--weighted": Shows(["--weighted", "--weights", "uniform:1:9"], "weighted", True, beside=SAMPLED),
}

PREDICT = {
    **common(["test_accuracy", "validation_accuracy"], repeat=Warned(["--repeat", "3"])),
    **graph(Refused(["--weights", "uniform:1:9"])),
    "--symmetrize": Refused(["--symmetrize"]),
    "--drop-self-loops": Refused(["--drop-self-loops"]),
    "--keep-duplicates": Refused(["--keep-duplicates"]),
    "--one-based": Changes(["--one-based"], "status", "trained_on"),
    "--compact": Changes(["--compact"], "status", "trained_on"),
    "--ids": Changes(["--ids", "words"], "status", "trained_on"),
    "--headings": Changes(["--headings", "yes"], "edges"),
    "--format": Refused(["--format", "el"]),
    "--id-map": Writes(["--id-map", "map.txt"], "map.txt"),
    "--features": Refused(["--features", "7"]),
    "--classes": Refused(["--classes", "3"]),
    "--normalize": Refused(["--normalize", "none"]),
    "--labels": Refused(["--labels", "several"]),
    "--method": Shows(["--method", "random"], "method", "random"),
    "--reorder": Shows(["--reorder", "degree"], "reorder", "degree"),
    "--checkpoint": Changes(["--checkpoint", "model"], "status", base=["set"]),
    "--output": Writes(["--output", "o.txt"], "o.txt"),
    "--scores": Writes(["--scores", "s.npy"], "s.npy"),
    "--embeddings": Writes(["--embeddings", "e.npy"], "e.npy"),
    "--pairs": Refused(["--pairs", "pairs.txt"]),
    "--no-labels": Changes(["--no-labels"], "test_accuracy"),
    "--no-tf32": Warned(["--no-tf32"]) if DEVICE == "cpu" else Elsewhere(["--no-tf32"], "test_train.py"),
    "--allow-changes": Changes(["--allow-changes"], "status", beside=["--normalize", "none"]),
}


class TrainOptions(option_walk.Walk):
    table = {"train": (SET, TRAIN), "predict": (["set", "--checkpoint", "model"], PREDICT)}

    def setUp(self):
        super().setUp()
        self.dataset("set")
        self.dataset("weighted", lambda u, v: f"{u} {v} {v % 7 + 1}\n" * (1 + v % 2), "wel")
        self.file("pairs.txt", "0 1\n")
        self.succeed("train", *SET, "--checkpoint", "model")

    def dataset(self, name, line="{} {}\n".format, ending="el"):
        """Vertices of which 0 has no edges, of three classes that their features tell; edges have a direction, one is a loop and one is
        there twice."""
        edges = [(v, v * 7 % (N - 1) + 1) for v in range(1, N)] + [(v, v % (N - 1) + 1) for v in range(1, N)] + [(1, 2), (3, 3)]
        self.file(f"{name}/graph.{ending}", f"# Nodes: {N}\n" + "".join(line(u, v) for u, v in edges))
        features = [float(v % 3 == c) + 0.05 * ((v * 7 + c) % 5) for v in range(N) for c in range(4)]
        (self.folder / name / "features.npy").write_bytes(npy("<f4", (N, 4), features))
        (self.folder / name / "labels.npy").write_bytes(npy("<i8", (N,), [v % 3 for v in range(N)]))
        for part, first, last in (("train", 0, 20), ("validation", 20, 30), ("test", 30, N)):
            self.file(f"{name}/{part}.txt", "".join(f"{v}\n" for v in range(first, last)))

    def test_options_of_models_change_losses_or_are_told_of(self):
        options = (["--norm", "batch"], ["--dropout", "0.3"], ["--heads", "2"], ["--aggregate", "sum"], ["--residual"], ["--skip"], ["--hidden", "16"])
        for model in ("gcn", "sage", "gat", "gatv2", "gin"):
            for layers in (1, 2, 3):
                base = ["train", "set", "--epochs", 2, "--model", model, "--layers", layers]
                usual = self.succeed_json(*base, "--hidden", 8)["epochs"] if layers > 1 else self.succeed_json(*base)["epochs"]
                for option in options:
                    width = ["--hidden", 8] if layers > 1 and option[0] != "--hidden" else []
                    with self.subTest(model=model, layers=layers, option=option):
                        run = self.run_program(*base, *width, *option, "--json", "-")
                        self.assertEqual(run.status, 0, run.err)
                        changes = [epoch["loss"] for epoch in run.json["epochs"]] != [epoch["loss"] for epoch in usual]
                        self.assertEqual(changes, f"{option[0]} has no effect" not in run.err, run.err)

    def test_how_the_file_was_read_is_kept(self):
        """Words are numbered as they come, so that another reading of the file has other vertices behind each number. Names say that rows
        of features are in that order."""
        edges = [(v * 7 % N, v * 7 % N) for v in range(N)] + [(v * 7 % N, (v + 1) * 7 % N) for v in range(N)]
        self.file("set/graph.el", "".join(f"{u} {v}\n" for u, v in edges))
        self.must_fail(2, "train", *SET, "--ids", "words", says=["graph.el", "names.txt"])
        names = [v * 7 % N for v in range(N)]
        self.file("set/names.txt", "".join(f"{name}\n" for name in [*names[1:], names[0]]))
        self.must_fail(2, "train", *SET, "--ids", "words", says=["names.txt: line 1 is '7'", "'0'"])
        self.file("set/names.txt", "".join(f"{name}\n" for name in names[:-1]))
        self.must_fail(2, "train", *SET, "--ids", "words", says=[f"names.txt: line {N} is missing"])
        self.file("set/names.txt", "".join(f"{name}\n" for name in names))
        trained = self.succeed_json("train", *SET, "--ids", "words", "--checkpoint", "words")
        found = self.succeed_json("predict", "set", "--checkpoint", "words")
        self.assertEqual((found["trained_on"], found["test_accuracy"]), (True, trained["test_accuracy"]))
        self.must_fail(2, "train", *SET, "--ids", "auto", "--headings", "no", "--checkpoint", "words", "--resume", says=["words", "--headings"])


if __name__ == "__main__":
    unittest.main()
