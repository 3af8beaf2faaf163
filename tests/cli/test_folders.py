# SPDX-License-Identifier: Apache-2.0
"""Datasets in the files that people have: line ends, marks, masks, arrays of edges, labels of several forms; and what features become."""

import gzip
import unittest

from support import ProgramTest, npy, npz

N = 60
SETTINGS = ["--model", "sage", "--dropout", 0, "--epochs", 60]


def ids(first, end):
    return "".join(f"{v}\n" for v in range(first, end))


def mask(first, end, kind="|u1"):
    return npy(kind, (N,), [int(first <= v < end) for v in range(N)])


def boolean(first, end):
    return npy("|b1", (N,), bytes(first <= v < end for v in range(N)))


def sparse(rows):
    """SciPy's CSR form, float32."""
    offsets, columns, values = [0], [], []
    for row in rows:
        for column, value in enumerate(row):
            if value != 0.0:
                columns.append(column)
                values.append(value)
        offsets.append(len(columns))
    return npz({"format": npy("|S3", "()", b"csr"), "shape": npy("<i8", (2,), [len(rows), len(rows[0])]), "indptr": npy("<i8", (len(offsets),), offsets),
                "indices": npy("<i4", (len(columns),), columns), "data": npy("<f4", (len(values),), values)})


class Folders(ProgramTest):
    """Sixty vertices in a ring, of three classes that their features tell."""

    rows = [[float(v % 3 == c) + 0.01 * ((v * 7 + c) % 5) for c in range(4)] for v in range(N)]
    dense = staticmethod(lambda rows: npy("<f4", (len(rows), len(rows[0])), [x for row in rows for x in row]))

    def folder_of(self, **changed):
        files = {"graph.el": "".join(f"{v} {(v + 1) % N}\n" for v in range(N)), "features.npy": self.dense(self.rows),
                 "labels.npy": npy("<i8", (N,), [v % 3 for v in range(N)]), "train.txt": ids(0, 30), "validation.txt": ids(30, 40), "test.txt": ids(40, N)}
        files.update(changed)
        folder = self.folder / "set"
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, content in files.items():
            if content is not None:
                (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(folder)

    def losses(self, *arguments):
        return [epoch["loss"] for epoch in self.succeed_json("train", *arguments)["epochs"]]

    def test_how_a_file_is_read_is_not_contradicted(self):
        folder, kept = self.folder_of(), str(self.folder / "kept")
        self.succeed("train", folder, "--epochs", 2, "--checkpoint", kept)
        for option in (["--headings", "yes"], ["--compact"], ["--one-based"], ["--ids", "words"]):
            self.must_fail(2, "predict", folder, "--checkpoint", kept, *option, says=["trained with", option[0]])
        # The same folder by another path is read in the same way.
        kept = str(self.folder / "with-headings")
        with_headings = self.folder_of(**{"graph.el": "0 1\n" + "".join(f"{v} {(v + 1) % N}\n" for v in range(N))})
        trained = self.succeed_json("train", with_headings, "--epochs", 2, "--headings", "yes", "--checkpoint", kept)
        again = self.succeed_json("predict", f"{self.folder}/./set", "--checkpoint", kept)
        self.assertEqual((again["edges"], again["test_accuracy"]), (trained["edges"], trained["test_accuracy"]))

    def test_line_ends_marks_and_blanks(self):
        plain = self.losses(self.folder_of(), "--epochs", 3)
        mark = "\ufeff"
        for change in (lambda text: text.replace("\n", "\r\n"), lambda text: mark + text, lambda text: text.replace("\n", " \n"),
                       lambda text: mark + "# ids\r\n\r\n\t" + text.replace("\n", "\t \r\n"), lambda text: text[:-1]):
            splits = {f"{name}.txt": change(ids(*ends)) for name, ends in (("train", (0, 30)), ("validation", (30, 40)), ("test", (40, N)))}
            self.assertEqual(self.losses(self.folder_of(**splits), "--epochs", 3), plain)
        self.must_fail(2, "train", self.folder_of(**{"test.txt": "\ufeff40\r\n4x\r\n"}), says=["test.txt", "line 2", '"4x"'])
        self.must_fail(2, "train", self.folder_of(**{"test.txt": "40 41\n"}), says=["test.txt", "line 1", '"40 41"'])

    def test_array_of_edges(self):
        plain = self.losses(self.folder_of(), "--epochs", 3)
        columns = list(range(N)) + [(v + 1) % N for v in range(N)]
        pairs = [end for v in range(N) for end in (v, (v + 1) % N)]
        for kind, shape, values, transposed in (("<i8", (2, N), columns, False), ("<i4", (N, 2), pairs, False), ("<i8", (2, N), pairs, True), ("|u1", (N, 2), columns, True)):
            folder = self.folder_of(**{"graph.el": None, "edge_index.npy": npy(kind, shape, values, transposed)})
            self.assertEqual(self.losses(folder, "--epochs", 3), plain, (kind, shape))
        self.assertEqual(self.succeed_json("bfs", self.folder / "set" / "edge_index.npy", "--source", 3)["reached"], N)
        # Two edges are two columns, as most people have them.
        (self.folder / "two.npy").write_bytes(npy("<i8", (2, 2), [0, 0, 1, 2]))
        self.assertEqual(self.succeed_json("bfs", "two.npy", "--source", 0)["reached"], 3)
        # Vertices without edges are counted where features say so.
        folder = self.folder_of(**{"graph.el": None, "edge_index.npy": npy("<i8", (2, 2), [0, 1, 1, 2])})
        for command in (["train", folder, "--epochs", 1], ["stats", folder]):
            self.assertEqual(self.succeed_json(*command)["vertices"], N)
        folder = self.folder_of(**{"edge_index.npy": npy("<i8", (2, 2), [0, 1, 1, 2])})
        self.assertEqual(self.succeed_json("stats", folder)["edges"], N, "graph.el comes first")

    def test_bad_arrays_of_edges(self):
        bad = self.folder / "bad.npy"
        for array, says in ((npy("<i8", (2, 2), [0, 1, -1, 2]), "row 1, column 0 is -1"), (npy("<i8", (3, 2), [0, 1, 1, 2, 2, 1 << 40]), "row 2, column 1 is 1099511627776"),
                            (npy("<i8", (2, 3), [0, 1, 1, 2, -5, 1], True), "row 0, column 2 is -5"), (npy("<f4", (2, 2), [0.0] * 4), "type f4"),
                            (npy("<i8", (4,), [0] * 4), "2 x edges"), (npy("<i8", (3, 3), [0] * 9), "2 x edges"), (npy("<i8", (2, 0), []), "no edges"),
                            (npy("<i8", (2, 2), [0, 1, 1]), "announced"), (b"\x93NUMPY", "no NumPy array")):
            bad.write_bytes(array)
            self.must_fail(2, "stats", bad, says=["bad.npy: ", says])
        (self.folder / "two.npy").write_bytes(npy("<i8", (2, 2), [0, 0, 1, 2]))
        self.must_fail(2, "convert", "two.npy", "out.npy", says=["out.npy", ".npz"])
        self.must_fail(2, "sssp", "two.npy", "--source", 0, "--weights", "file", says=["two.npy", "no weights"])

    @staticmethod
    def table(rows, headings=None, separator=",", vertices=None):
        lines = [] if headings is None else [separator.join(map(str, headings))]
        for i, row in enumerate(rows):
            lines.append(separator.join(map(str, ([] if vertices is None else [vertices[i]]) + list(row))))
        return "\n".join(lines) + "\n"

    def test_tables(self):
        plain = self.losses(self.folder_of(), "--epochs", 3)
        labels = [[v % 3] for v in range(N)]
        order = sorted(range(N), key=lambda v: v * 7 % N)
        swapped = [self.rows[v] for v in order]
        names = ["a", "b", "c", "d"]
        for features, classes in ((self.table(self.rows), self.table(labels)), (self.table(self.rows, names), self.table(labels, ["label"])),
                                  (self.table(self.rows, ['"a"', "b ", " c", "d"], ";"), "\ufeff" + self.table(labels, ["id"]).replace("\n", "\r\n")),
                                  (self.table(self.rows, ["", 0, 1, 2, 3], vertices=range(N)), self.table(labels, ["", 0], vertices=range(N))),
                                  (self.table(swapped, ["", *names], "\t", order), self.table([labels[v] for v in order], ["Node_ID", "class"], vertices=order))):
            folder = self.folder_of(**{"features.npy": None, "features.csv": features, "labels.npy": None, "labels.csv": classes})
            self.assertEqual(self.losses(folder, "--epochs", 3), plain, features[:80])
        packed = {"features.npy": None, "features.csv.gz": gzip.compress(self.table(self.rows, names).encode())}
        self.assertEqual(self.losses(self.folder_of(**packed), "--epochs", 3), plain)
        # Rows of features count vertices of an array of edges, here too.
        folder = self.folder_of(**packed, **{"graph.el": None, "edge_index.npy": npy("<i8", (2, 2), [0, 1, 1, 2])})
        self.assertEqual(self.succeed_json("stats", folder)["vertices"], N)
        # Left out, or empty: no label.
        for classes in (self.table(labels[:55], ["id", "label"], vertices=range(55)), self.table([[v % 3 if v < 55 else ""] for v in range(N)], ["id", "label"], vertices=range(N))):
            folder = self.folder_of(**{"labels.npy": None, "labels.csv": classes, "test.txt": ids(40, 55)})
            self.assertEqual(self.succeed_json("train", folder, *SETTINGS)["test_accuracy"], 1.0)
            self.must_fail(2, "train", self.folder_of(**{"labels.npy": None, "labels.csv": classes}), says=["test.txt", "vertex 55 has no label"])
        several = [[v % 3 <= c for c in range(3)] for v in range(N)]
        numbers = npy("|u1", (N, 3), [int(x) for row in several for x in row])
        self.assertEqual(self.losses(self.folder_of(**{"labels.npy": None, "labels.csv": self.table(several, ["x", "y", "z"])}), "--epochs", 3),
                         self.losses(self.folder_of(**{"labels.npy": numbers}), "--epochs", 3))

    def test_bad_tables(self):
        good = self.table(self.rows, ["id", "a", "b", "c", "d"], vertices=range(N))

        def row(v, *cells):
            lines = good.splitlines()
            lines[v + 1] = ",".join(map(str, cells))
            return "\n".join(lines)

        for text, says in ((row(4, 4, 1, 2, 3), ["line 6", "4 cells", "(5)"]), (row(4, 4, 1, "x", 3, 4), ["line 6", 'column 3 ("b") is "x"']), (row(4, 3, 1, 2, 3, 4), ["line 6", "vertex 3", "line 5"]),
                           (row(4, 60, 1, 2, 3, 4), ["line 6", '"60"', "0 to 59"]), (row(4, 4, 1, 2, 3, ""), ["line 6", 'column 5 ("d")', "empty"]), (row(4, 4, 1, 2, 3, "inf"), ["line 6", "finite"]),
                           ("\n".join(good.splitlines()[:-1]), ["vertex 59"]), (self.table(self.rows[:-1]), ["59 lines", "60 vertices"]), ("", ["empty"])):
            self.must_fail(2, "train", self.folder_of(**{"features.npy": None, "features.csv": text}), says=["features.csv", *says])
        for text, says in ((self.table([[1]] + [["x"]] * (N - 1)), ["line 2", '"x"']), (self.table([[0.5]] * N, ["label"]), ["line 2", "vertex 0 is 0.5"]),
                           (self.table([[0, 2]] * N, ["x", "y"]), ["line 2", 'column 2 ("y") is 2']), (self.table([[0]] * N, ["label"]), ["1 classes"])):
            self.must_fail(2, "train", self.folder_of(**{"labels.npy": None, "labels.csv": text}), says=["labels.csv", *says])

    def test_names(self):
        names = "".join(f"Name {v}\n" for v in range(N))
        for text in (names, names.replace("\n", "\r\n"), "\ufeff" + names.replace("\n", "\r\n"), names.replace("\n", " \n"), names[:-1]):
            found = self.succeed_json("bfs", self.folder_of(**{"names.txt": text}), "--source", "Name 7")
            self.assertEqual((found["source"], found["reached"]), (7, N))
            ranked = self.succeed("pagerank", self.folder_of(**{"names.txt": text}))
            self.assertNotIn("\r", ranked.out)
        self.must_fail(2, "bfs", self.folder_of(**{"names.txt": names + "more\n"}), "--source", "more", says=["names.txt", "61 lines"])

    def test_times(self):
        edges = self.file("ring.el", "".join(f"{v} {(v + 1) % N}\n" for v in range(N)))
        times = "".join(f"{v} {(v + 1) % N} {v}\n" for v in range(N))
        (self.folder / "seeds.txt").write_bytes("\ufeff".encode() + b"".join(b"%d \r\n" % v for v in range(N)))
        found = []
        for text in (times, "\ufeff" + times.replace("\n", " \r\n")):
            (self.folder / "times.txt").write_bytes(text.encode())
            result = self.succeed_json("sample", edges, "--fanout", "2,2", "--batch", 8, "--batches", 2, "--times", "times.txt", "--seed-times", "seeds.txt", "--temporal")
            found.append({name: value for name, value in result.items() if isinstance(value, int)})
        self.assertEqual(found[0], found[1])

    def test_labels_of_no_number(self):
        labels = [v % 3 if v < 55 else float("nan") for v in range(N)]
        folder = self.folder_of(**{"labels.npy": npy("<f4", (N,), labels), "test.txt": ids(40, 55)})
        self.assertEqual(self.succeed_json("train", folder, *SETTINGS)["test_accuracy"], 1.0)
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": npy("<f4", (N, 1), labels)}), says=["test.txt", "line 16", "vertex 55 has no label"])

    def test_masks(self):
        plain = self.losses(self.folder_of(), "--epochs", 3)
        for kind, validation in ((boolean, "val_mask.npy"), (mask, "validation_mask.npy")):
            masks = {"train.txt": None, "validation.txt": None, "test.txt": None, "train_mask.npy": kind(0, 30), validation: kind(30, 40), "test_mask.npy": kind(40, N)}
            folder = self.folder_of(**masks)
            self.assertEqual(self.losses(folder, "--epochs", 3), plain)
            self.must_fail(2, "train", self.folder_of(**{**masks, "test_mask.npy": kind(39, N)}), says=["test_mask.npy", f"vertex 39 stands in {validation} already"])
            self.must_fail(2, "train", self.folder_of(**{**masks, "train_mask.npy": kind(0, 0)}), says=["train_mask.npy", "no vertices"])
            self.must_fail(2, "train", self.folder_of(**{**masks, "test_mask.npy": None}), says=["no test.txt", "test_mask.npy"])
            self.must_fail(2, "train", self.folder_of(**{**masks, "test_mask.npy": npy("|u1", (59,), [1] * 59)}), says=["test_mask.npy", "59 elements", "60 vertices"])
            self.must_fail(2, "train", self.folder_of(**{**masks, "test_mask.npy": npy("|u1", (N,), [2] * N)}), says=["test_mask.npy", "element 0 is 2"])
        # Lists come before masks.
        self.assertEqual(self.losses(self.folder_of(**{"train_mask.npy": mask(0, 5)}), "--epochs", 3), plain)

    def test_more_features_than_vertices(self):
        rows = self.rows + [[0.0] * 4] * 2
        changed = {"features.npy": self.dense(rows), "labels.npy": npy("<i8", (N + 2,), [v % 3 for v in range(N + 2)])}
        self.must_fail(2, "train", self.folder_of(**changed), says=["features.npy", "62 rows", "# Nodes: 62"])
        edges = "".join(f"{v} {(v + 1) % N}\n" for v in range(N))
        self.assertEqual(self.succeed_json("train", self.folder_of(**changed, **{"graph.el": "# Nodes: 62\n" + edges}), "--epochs", 1)["vertices"], N + 2)
        self.must_fail(2, "train", self.folder_of(**{"features.npy": None, "features.npz": sparse(rows)}), says=["features.npz", "# Nodes: 62"])

    def test_one_hot_labels(self):
        one_hot = npy("|u1", (N, 3), [int(v % 3 == c) for v in range(N) for c in range(3)])
        plain = self.losses(self.folder_of(), "--epochs", 3)
        folder = self.folder_of(**{"labels.npy": one_hot})
        result = self.run_program("train", folder, "--epochs", 3, "--json", "-")
        self.assertEqual(result.status, 0)
        self.assertEqual([epoch["loss"] for epoch in result.json["epochs"]], plain)
        self.assertIn("taken for classes", result.err)
        self.assertIn("--labels several", result.err)
        self.assertEqual(self.losses(folder, "--epochs", 3, "--labels", "classes"), plain)
        several = self.losses(folder, "--epochs", 3, "--labels", "several")
        self.assertNotEqual(several, plain)
        # A row without a label is none of automatic classes, and unlabelled where classes are asked for.
        holes = npy("|u1", (N, 3), [int(v % 3 == c and v < 55) for v in range(N) for c in range(3)])
        folder = self.folder_of(**{"labels.npy": holes, "test.txt": ids(40, 55)})
        automatic = self.succeed_json("train", folder, "--epochs", 3, warns="5 have none: each label is learnt by itself (--labels classes:")
        self.assertEqual([epoch["loss"] for epoch in automatic["epochs"]], self.losses(folder, "--epochs", 3, "--labels", "several"))
        self.assertNotEqual([epoch["loss"] for epoch in automatic["epochs"]], self.losses(folder, "--epochs", 3, "--labels", "classes"))
        self.succeed("train", self.folder_of(), "--epochs", 1, "--labels", "classes", warns="--labels has no effect")
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": holes}), "--labels", "classes", says=["test.txt", "vertex 55 has no label"])
        several = npy("|u1", (N, 3), [int(v % 3 <= c) for v in range(N) for c in range(3)])
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": several}), "--labels", "classes", says=["labels.npy", "vertex 0 has 3 labels"])
        self.must_fail(2, "train", self.folder_of(), "--labels", "several", says=["labels.npy", "--labels several"])
        self.must_fail(2, "train", self.folder_of(), "--labels", "both", says="both")
        self.must_fail(2, "train", "community:1000,5", "--features", 4, "--classes", 2, "--labels", "several", says="--labels")

    def test_what_is_normalised(self):
        """Rows are made to sum to 1 where features are sparse or none is negative."""
        negative = [[x - 0.5 for x in row] for row in self.rows]
        few = [[value if (v + c) % 5 == 0 else 0.0 for c, value in enumerate(row * 5)] for v, row in enumerate(negative)]
        for files, expected in (({}, "rows"), ({"features.npy": self.dense(negative)}, "none"), ({"features.npy": None, "features.npz": sparse(few)}, "rows")):
            folder = self.folder_of(**files)
            losses = {}
            for how in ("auto", "rows", "none"):
                result = self.run_program("train", folder, "--epochs", 2, "--normalize", how, "--json", "-")
                self.assertEqual(result.status, 0, result.err)
                self.assertEqual("feature 1 of vertex 0" in result.err and "negative" in result.err, how == "rows" and expected == "none", result.err)
                losses[how] = [epoch["loss"] for epoch in result.json["epochs"]]
                self.assertEqual(result.json["normalize"], expected if how == "auto" else how)
            self.assertEqual(losses["auto"], losses[expected])
            self.assertNotEqual(losses["rows"], losses["none"])
            self.assertEqual(self.succeed_json("train", folder, "--epochs", 2)["normalize"], expected)
        generated = ["community:1000,5", "--features", 8, "--classes", 3, "--epochs", 2]
        self.assertEqual(self.succeed_json("train", *generated)["normalize"], "none")

    def test_weights_that_nothing_reads(self):
        edges = "".join(f"{v} {(v + 1) % N} {1 + v % 3}\n" for v in range(N))
        folder = self.folder_of(**{"graph.el": None, "graph.wel": edges})
        sampled = ["--mode", "sampled", "--batch", 10, "--fanout", "1,1", "--epochs", 1]
        self.succeed_json("train", folder, "--epochs", 1, "--checkpoint", "kept")
        self.succeed_json("train", folder, *sampled, "--weighted")
        for how in ("file", "uniform:1:9"):
            for command in (["train", folder], ["train", folder, *sampled], ["predict", folder, "--checkpoint", "kept"]):
                self.must_fail(2, *command, "--weights", how, says=["--weights", "--weighted"])
            self.succeed_json("train", folder, *sampled, "--weighted", "--weights", how)

    def test_patience_waits_for_something_learnt(self):
        """Validation at chance is noise, of which any epoch may be the best."""
        # Labels that nothing tells.
        folder = self.folder_of(**{"features.npy": npy("<f4", (N, 1), [1.0] * N)})
        result = self.succeed_json("train", folder, "--epochs", 40, "--patience", 2)
        self.assertEqual((len(result["epochs"]), result["stopped_early"]), (40, False))
        self.assertAlmostEqual(result["chance"], 0.4)
        self.assertLess(result["best_validation"], 0.7)
        result = self.succeed_json("train", self.folder_of(), "--model", "sage", "--lr", 0.2, "--epochs", 500, "--patience", 2)
        self.assertTrue(result["stopped_early"])
        self.assertGreater(result["best_validation"], 0.7)
        folder = self.folder_of(**{"features.npy": npy("<f4", (N, 1), [1.0] * N)})
        text = self.succeed("train", folder, "--epochs", 2).out
        self.assertIn("chance: 0.4000", text)


if __name__ == "__main__":
    unittest.main()
