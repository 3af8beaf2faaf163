# SPDX-License-Identifier: Apache-2.0
"""Training on every form of dataset: folders with a graph of any format and arrays, the Open Graph Benchmark's (also the binary form of
ogbn-papers100M), Reddit as the Deep Graph Library packs it, names and generators; what is damaged, missing or out of range."""

import gzip
import io
import unittest
import zipfile

from support import FILE_OPTIONS, ProgramTest, npy, npz

N = 60
NAN = float("nan")


def features(kind="<f4", count=N):
    """Four columns that tell the class, which is the vertex modulo 3."""
    return npy(kind, (count, 4), [float(v % 3 == c) + 0.01 * ((v * 7 + c) % 5) for v in range(count) for c in range(4)])


def with_value(kind, shape, at, value, base=1.0):
    count = 1
    for extent in shape:
        count *= extent
    values = [base] * count
    values[at] = value
    return npy(kind, shape, values)


def one_hot(columns=20, count=N, form=b"csr", **changed):
    """SciPy's matrix with a one a row, few enough to stay sparse; and the same as an array."""
    members = {"format": npy("|S3", "()", form), "shape": npy("<i8", (2,), [count, columns]), "indptr": npy("<i4", (count + 1,), range(count + 1)),
               "indices": npy("<i4", (count,), [v % 3 for v in range(count)]), "data": npy("<f4", (count,), [1.0] * count)}
    members.update(changed)
    return npz({name: content for name, content in members.items() if content is not None}, True)


class Folder(ProgramTest):
    """The ring with sixty vertices, both ways."""

    def folder_of(self, name="set", **changed):
        files = {"graph.el": "".join(f"{v} {(v + 1) % N}\n{(v + 1) % N} {v}\n" for v in range(N)).encode(), "features.npy": features(),
                 "labels.npy": npy("<i8", (N,), [v % 3 for v in range(N)]), "train.txt": b"".join(b"%d\n" % v for v in range(30)),
                 "validation.txt": b"".join(b"%d\n" % v for v in range(30, 40)), "test.txt": b"".join(b"%d\n" % v for v in range(40, N))}
        files.update(changed)
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for path, content in files.items():
            if content is not None:
                (folder / path).write_bytes(content)
        return str(folder)

    def losses(self, folder, *options, **environment):
        result = self.succeed_json("train", folder, "--model", "sage", "--dropout", 0, "--epochs", 8, *options, environment=environment)
        self.assertEqual((result["vertices"], result["edges"], result["classes"]), (N, 2 * N, 3))
        return [e["loss"] for e in result["epochs"]]

    def test_graphs_of_every_format(self):
        expected = self.losses(self.folder_of())
        self.succeed("convert", self.folder / "set/graph.el", "weighted.wel", "--weights", "uniform:1:9", "--quiet")
        for ending in ("mtx", "el.gz", "wel", "txt", "tsv.zst", "gr", "graph", "sg", "wsg", "npz", "wgr", "packed.wgr"):
            name = f"graph.{ending}"
            source = "weighted.wel" if ending in ("wel", "gr", "wsg") else self.folder / "ring.el"
            self.file("ring.el", "".join(f"{v} {(v + 1) % N}\n{(v + 1) % N} {v}\n" for v in range(N)))
            self.succeed("convert", source, name, "--quiet", *(["--compress"] if ending == "packed.wgr" else []))
            folder = self.folder_of(**{"graph.el": None, name: (self.folder / name).read_bytes()})
            self.assertEqual(self.losses(folder), expected, ending)

    def test_graph_options(self):
        one_way = "".join(f"{v} {(v + 1) % N}\n" for v in range(N)) + "5 5\n"
        folder = self.folder_of(**{"graph.el": one_way.encode()})
        self.assertEqual(self.losses(folder, "--symmetrize", "--drop-self-loops"), self.losses(self.folder_of()))

    def test_sparse_features(self):
        dense = self.folder_of(**{"features.npy": npy("<f4", (N, 20), [float(v % 3 == c) for v in range(N) for c in range(20)])})
        expected = self.losses(dense)
        for changed in ({}, {"data": npy("<f8", (N,), [1.0] * N)}, {"format": None}, {"indices": npy("<i8", (N,), [v % 3 for v in range(N)])}):
            found = self.losses(self.folder_of(**{"features.npy": None, "features.npz": one_hot(**changed)}))
            for one, other in zip(found, expected):
                self.assertAlmostEqual(one, other, places=4)
        result = self.succeed("train", self.folder_of(**{"features.npy": None, "features.npz": one_hot()}), "--epochs", 1)
        self.assertIn("20 features (sparse)", result.out)

    def test_bad_sparse_features(self):
        for changed, says in (({"format": npy("|S3", "()", b"csc")}, "'csc' form; save it as CSR"), ({"shape": npy("<i8", (2,), [N - 1, 20])}, "59 rows"),
                              ({"shape": npy("<f8", (2,), [NAN, 20.0])}, "type f8"), ({"shape": npy("<i8", (1,), [N])}, "two sizes"),
                              ({"indptr": npy("<f8", (N + 1,), [NAN] * (N + 1))}, "type f8"), ({"indptr": npy("<i4", (N,), [0] * N)}, "61 would be right"),
                              ({"indptr": npy("<i4", (N + 1,), [1] * N + [N])}, "element 0 is 1"), ({"indptr": npy("<i4", (N + 1,), [0] * (N + 1))}, "element 60 is 0"),
                              ({"indices": with_value("<i4", (N,), 9, 20, 1)}, "element 9 is 20"), ({"indices": with_value("<i4", (N,), 9, -1, 1)}, "element 9 is -1"),
                              ({"indices": npy("<i4", (2,), [1, 2])}, "2 column indices for 60 values"), ({"indices": with_value("<f8", (N,), 9, NAN)}, "type f8"),
                              ({"data": with_value("<f4", (N,), 9, NAN)}, "row 9, column 0"), ({"data": with_value("<f8", (N,), 9, 1e39)}, "row 9, column 0"),
                              ({"data": None}, "no member 'data.npy'")):
            self.must_fail(2, "train", self.folder_of(**{"features.npy": None, "features.npz": one_hot(**changed)}), says=["features.npz", says])
        self.must_fail(2, "train", self.folder_of(**{"features.npy": None, "features.npz": one_hot()[:-1]}), says=["features.npz", "byte"])
        self.must_fail(2, "train", self.folder_of(**{"features.npy": None}), says=["features.npy", "features.npz"])

    def test_types_of_labels(self):
        expected = self.losses(self.folder_of())
        values = [v % 3 for v in range(N)]
        for kind in ("<i4", "|u1", "<f4"):
            for shape in ((N,), (N, 1)):
                self.assertEqual(self.losses(self.folder_of(**{"labels.npy": npy(kind, shape, values)})), expected)
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": with_value("<f4", (N,), 7, NAN)}), says=["train.txt", "line 8", "vertex 7 has no label"])
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": with_value("<f4", (N,), 7, 0.5)}), says="vertex 7 is 0.5")
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": with_value("<i8", (N, 2), 7, 2, 1)}), says="row 3, column 1 is 2")
        self.must_fail(2, "train", self.folder_of(**{"labels.npy": npy("<i8", (N, 2, 1), [1] * 2 * N)}), says="3 dimensions")

    def test_lists_of_vertices(self):
        expected = self.losses(self.folder_of())
        # What is behind a NUL in the file is part of the message, too.
        self.must_fail(2, "train", self.folder_of(**{"train.txt": b"1\n2\0003\n"}), says=["line 2", "2\\x003", "should be a vertex id from 0"])
        lines = b"# for training\r\n\r\n" + b"\r\n".join(b"%d" % v for v in reversed(range(30)))
        self.assertEqual(self.losses(self.folder_of(**{"train.txt": lines})), expected)

    def test_names(self):
        expected = self.losses(self.folder_of())
        self.folder_of(name="data/ring")
        self.assertEqual(self.losses("ring"), expected)
        self.folder_of(name="root/circle")
        self.assertEqual(self.losses("circle", WARREN_DATA=str(self.folder / "root")), expected)
        self.folder_of(name="home/.cache/warren/cycle")
        self.assertEqual(self.losses("cycle", HOME=str(self.folder / "home"), WARREN_DATA=""), expected)
        self.must_fail(2, "train", "cycle", says=["\"cycle\" is no dataset", "ring"])
        self.must_fail(2, "train", self.folder, says="no file graph.*")
        self.succeed_json("train", "debian", "--epochs", 1)

    def test_generators(self):
        for graph, vertices in (("kron:9", 512), ("kron:9,4", 512), ("urand:9", 512), ("grid:20x30", 600), ("community:600,2.5", 600)):
            result = self.succeed_json("train", graph, "--features", 6, "--classes", 3, "--epochs", 1)
            self.assertEqual((result["vertices"], result["features"], result["classes"]), (vertices, 6, 3))
        self.must_fail(2, "train", self.folder_of(), "--features", 6, "--classes", 3, says="has its own")


class Csv(ProgramTest):
    """The Open Graph Benchmark's other form: lines of numbers."""

    def folder_of(self, **changed):
        files = {"raw/num-node-list": [N], "raw/edge": [f"{v},{(v + 1) % N}" for v in range(N)],
                 "raw/node-feat": [f"{int(v % 3 == 0)},{int(v % 3 == 1)},-1.5e-1" for v in range(N)], "raw/node-label": [v % 3 for v in range(N)],
                 "split/any/train": range(30), "split/any/valid": range(30, 40), "split/any/test": range(40, N)}
        files.update({next(name for name in files if name.endswith(part.replace("_", "-"))): lines for part, lines in changed.items()})
        for name, lines in files.items():
            path = self.folder / "ogb" / f"{name}.csv.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            if lines is not None:
                path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
        return str(self.folder / "ogb")

    def test_learns(self):
        options = ["--symmetrize", "--model", "sage", "--dropout", 0, "--epochs", 60]
        self.assertEqual(self.succeed_json("train", self.folder_of(), *options)["test_accuracy"], 1.0)
        # Without a label outside of the splits.
        partly = self.folder_of(node_label=[v % 3 if v < 50 else "" for v in range(N)], test=range(40, 50))
        self.assertEqual(self.succeed_json("train", partly, *options)["test_accuracy"], 1.0)
        several = self.folder_of(node_label=[",".join(str(int(v % 3 <= c)) for c in range(3)) for v in range(N)])
        self.assertGreater(self.succeed_json("train", several, *options)["test_accuracy"], 0.9)

    def test_options_of_files(self):
        folder = self.folder_of()
        for option in FILE_OPTIONS:
            self.must_fail(2, "train", folder, *option, says=[option[0], "public"])

    def test_refused(self):
        features, labels, edges = ["1,0,1"] * N, [v % 3 for v in range(N)], ["0,1"] * N
        for changed, says in (({"num_node_list": []}, "one number of vertices"), ({"num_node_list": [N, N]}, "line 2"), ({"num_node_list": ["2.5"]}, "line 1"),
                              ({"edge": [*edges, "0,60"]}, ["edge.csv.gz", "line 61"]), ({"edge": [*edges, "0,1.5"]}, "line 61"),
                              ({"edge": [*edges, "0"]}, ["line 61", "as in the first line (2)"]), ({"edge": ["0"] * N}, "two vertices a line"),
                              ({"edge": ["0,1,2"] * N}, "line 1"), ({"node_feat": [*features[:-1], "1,0"]}, ["node-feat.csv.gz", "line 60"]),
                              ({"node_feat": [*features[:-1], "1,nan,0"]}, ["line 60", "column 1 is nan"]), ({"node_feat": ["1,1e39,0", *features[1:]]}, "column 1"),
                              ({"node_feat": features[1:]}, "59 lines"), ({"node_feat": None}, "no raw/node-feat.csv.gz"),
                              ({"node_label": [*labels[:-1], 1.5]}, ["node-label.csv.gz", "line 60", "1.5"]), ({"node_label": [0] * N}, "tell apart"),
                              ({"node_label": ["1,0"] * 59 + ["1,2"]}, ["line 60", "column 1 is 2"]), ({"node_label": ["1,0"] * 59 + ["1,"]}, "column 1 is nan"),
                              ({"node_label": ["", *labels[1:]]}, ["train.csv.gz", "line 1", "vertex 0 has no label"]), ({"node_label": labels[1:]}, "59 lines"),
                              ({"valid": [29]}, "vertex 29 stands in train.csv.gz already"), ({"valid": []}, "no validation vertices")):
            self.must_fail(2, "train", self.folder_of(**changed), says=says)
        whole = (self.folder / "ogb/raw/edge.csv.gz").read_bytes()
        self.folder_of()
        (self.folder / "ogb/raw/edge.csv.gz").write_bytes(whole[:-12])
        self.must_fail(2, "train", self.folder / "ogb", says=["edge.csv.gz", "byte"])


class Binary(ProgramTest):
    """A ring of sixty vertices, of which 50 to 59 have no label and stand in no split."""

    def data(self, **changed):
        sources, targets = list(range(N)), [(v + 1) % N for v in range(N)]
        members = {
            "edge_index": npy("<i8", (2, N), sources + targets), "node_feat": features(), "node_year": npy("<i8", (N, 1), [2015] * N),
            "num_nodes_list": npy("<i8", (1,), [N]), "num_edges_list": npy("<i8", (1,), [N]),
        }
        members.update(changed)
        return {name: content for name, content in members.items() if content is not None}

    def labels(self, kind="<f4", last=NAN):
        return {"node_label": npy(kind, (N, 1), [v % 3 if v < 50 else last for v in range(N)])}

    def folder_of(self, data=None, labels=None, splits=None, name="papers100M-bin", **archive):
        root = self.folder / name
        split = {"train": range(30), "valid": range(30, 40), "test": range(40, 50), **(splits or {})}
        files = {"raw/data.npz": npz(self.data() if data is None else data, **archive) if not isinstance(data, bytes) else data,
                 "raw/node-label.npz": npz(self.labels() if labels is None else labels, **archive)}
        files.update({f"split/time/{part}.csv.gz": gzip.compress("".join(f"{v}\n" for v in rows).encode()) for part, rows in split.items()})
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        return str(root)

    def test_options_of_files(self):
        folder = self.folder_of()
        for option in FILE_OPTIONS:
            self.must_fail(2, "train", folder, *option, says=[option[0], "public"])

    def learn(self, folder, **environment):
        return self.succeed_json("train", folder, "--symmetrize", "--model", "sage", "--dropout", 0, "--epochs", 60, environment=environment)

    def refuse(self, says, **parts):
        return self.must_fail(2, "train", self.folder_of(**parts), says=says)

    def test_learns(self):
        found = []
        for options in ({}, {"compressed": True}, {"zip64": True}, {"compressed": True, "zip64": True}):
            result = self.learn(self.folder_of(**options))
            self.assertEqual((result["vertices"], result["edges"], result["features"], result["classes"]), (N, 2 * N, 4, 3))
            self.assertEqual((result["best_validation"], result["test_accuracy"]), (1.0, 1.0))
            found.append([e["loss"] for e in result["epochs"]])
        # As a folder of single arrays.
        plain = self.folder / "plain"
        plain.mkdir()
        (plain / "graph.el").write_text("".join(f"{v} {(v + 1) % N}\n" for v in range(N)))
        (plain / "features.npy").write_bytes(features())
        (plain / "labels.npy").write_bytes(npy("<i8", (N,), [v % 3 if v < 50 else -1 for v in range(N)]))
        for name, rows in (("train", range(30)), ("validation", range(30, 40)), ("test", range(40, 50))):
            (plain / f"{name}.txt").write_text("".join(f"{v}\n" for v in rows))
        found.append([e["loss"] for e in self.learn(str(plain))["epochs"]])
        for losses in found[1:]:
            self.assertEqual(losses, found[0])

    def test_sampled_and_on_several_ranks(self):
        folder = self.folder_of()
        result = self.succeed_json("train", folder, "--symmetrize", "--mode", "sampled", "--fanout=-1,-1", "--batch", 10, "--dropout", 0,
                                   "--model", "sage", "--epochs", 60, "--devices", 2)
        self.assertGreater(result["test_accuracy"], 0.9)
        self.succeed_json("train", folder, "--task", "link", "--mode", "sampled", "--model", "sage", "--epochs", 1)

    def test_predicts(self):
        folder = self.folder_of()
        options = [folder, "--symmetrize", "--checkpoint", "kept"]
        trained = self.succeed_json("train", *options, "--model", "sage", "--dropout", 0, "--epochs", 60)
        found = self.succeed_json("predict", *options, "--output", "classes.txt")
        self.assertEqual((found["test_accuracy"], trained["test_accuracy"]), (1.0, 1.0))
        # Of vertices without a label, too.
        lines = (self.folder / "classes.txt").read_text().splitlines()
        self.assertEqual([int(line.split()[1]) for line in lines], [v % 3 for v in range(N)])

    def test_other_types(self):
        for changed in ({"node_feat": features("<f2")}, {"node_feat": features("<f8")}, {"num_nodes_list": None, "num_edges_list": None},
                        {"edge_index": npy("<i4", (2, N), [*range(N), *range(1, N), 0])}):
            self.assertEqual(self.learn(self.folder_of(data=self.data(**changed)))["test_accuracy"], 1.0)
        for kind, last in (("<f2", NAN), ("<f8", NAN), ("<i8", -1)):
            self.assertEqual(self.learn(self.folder_of(labels=self.labels(kind, last)))["test_accuracy"], 1.0)
        flat = {"node_label": npy("<f4", (N,), [v % 3 if v < 50 else NAN for v in range(N)])}
        self.assertEqual(self.learn(self.folder_of(labels=flat))["test_accuracy"], 1.0)
        several = {"node_label": npy("<i8", (N, 3), [int(v % 3 <= c) for v in range(N) for c in range(3)])}
        self.assertGreater(self.learn(self.folder_of(labels=several))["test_accuracy"], 0.9)

    def test_by_name(self):
        for name in ("ogbn-papers100M", "ogbn_papers100M", "papers100M", "papers100M-bin"):
            root = self.folder / f"root-{name}"
            self.folder_of(name=f"root-{name}/{name}")
            self.assertEqual(self.learn("ogbn-papers100M", WARREN_DATA=str(root))["vertices"], N)

    def test_fetched(self):
        folder = self.folder_of(name="made")
        with zipfile.ZipFile(self.folder / "papers100M-bin.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((self.folder / "made").rglob("*")):
                archive.write(path, "papers100M-bin" + str(path)[len(folder):])
        environment = {"WARREN_DATA": str(self.folder / "data")}
        result = self.succeed_json("fetch", "ogbn-papers100M", "--from", f"file://{self.folder}", environment=environment, device=False)
        self.assertEqual(result["files"], 6)
        self.assertEqual(self.learn("ogbn-papers100M", **environment)["test_accuracy"], 1.0)

    def test_bad_edges(self):
        ends = [*range(N), *range(1, N), 0]
        for at, value, says in ((7, N, ["edge_index", "row 0, column 7 is 60", "0 to 59"]), (N + 3, -1, "row 1, column 3 is -1"),
                                (2, 1 << 40, "row 0, column 2 is 1099511627776")):
            self.refuse(says, data=self.data(edge_index=npy("<i8", (2, N), [*ends[:at], value, *ends[at + 1:]])))
        self.refuse("2 x edges", data=self.data(edge_index=npy("<i8", (N, 2), ends)))
        self.refuse("2 x edges", data=self.data(edge_index=npy("<i8", (2 * N,), ends)))
        self.refuse(["edge_index", "type f4"], data=self.data(edge_index=npy("<f4", (2, N), ends)))
        self.refuse("num_edges_list says 59", data=self.data(num_edges_list=npy("<i8", (1,), [59])))
        self.refuse("no member 'edge_index.npy'", data=self.data(edge_index=None))
        for nodes, says in (([N, N], "2 numbers"), ([0], "num_nodes_list: 0"), ([-4], "-4"), ([1 << 40], "1099511627776")):
            self.refuse(says, data=self.data(num_nodes_list=npy("<i8", (len(nodes),), nodes)))

    def test_bad_features(self):
        for value in (NAN, float("inf"), -float("inf")):
            self.refuse(["data.npz: node_feat", "row 4, column 1"], data=self.data(node_feat=with_value("<f4", (N, 4), 17, value)))
        self.refuse("row 59, column 3", data=self.data(node_feat=with_value("<f8", (N, 4), 239, 1e300)))
        self.refuse("59 rows", data=self.data(node_feat=features(count=59)))
        self.refuse("shape is 60", data=self.data(node_feat=npy("<f4", (N,), [1.0] * N)))
        self.refuse("shape is 60 x 0", data=self.data(node_feat=npy("<f4", (N, 0), [])))
        self.refuse("shape is 60 x 2 x 2", data=self.data(node_feat=npy("<f4", (N, 2, 2), [1.0] * 240)))
        self.refuse(["node_feat", "type S1"], data=self.data(node_feat=npy("|S1", (N, 4), b"x" * 240)))
        self.refuse("240 elements of 4 bytes", data=self.data(node_feat=features()[:-1]))
        self.refuse("no member 'node_feat.npy'", data=self.data(node_feat=None))
        self.refuse("no member 'node_feat.npy'", data=self.data(node_feat=None, num_nodes_list=None))

    def test_bad_labels(self):
        def labels(value, at=3):
            return {"node_label": with_value("<f4", (N, 1), at, value)}

        for value in (1.5, -2.0, 1e9, float("inf")):
            self.refuse(["node-label.npz: node_label", "vertex 3"], labels=labels(value))
        # Without a label outside of the splits it is all right, inside not.
        self.refuse(["train.csv.gz", "line 4", "vertex 3 has no label"], labels=labels(NAN))
        self.refuse(["test.csv.gz", "line 1", "vertex 50 has no label"], splits={"test": [50]})
        self.refuse("tell apart", labels={"node_label": npy("<f4", (N, 1), [NAN] * N)})
        self.refuse("tell apart", labels={"node_label": npy("<f4", (N, 1), [0.0] * N)})
        self.refuse("59 rows", labels={"node_label": npy("<f4", (59, 1), [0.0] * 59)})
        self.refuse("row 2, column 1 is nan", labels={"node_label": with_value("<f4", (N, 2), 5, NAN)})
        self.refuse("row 2, column 1 is 2", labels={"node_label": with_value("<i8", (N, 2), 5, 2, base=1)})
        self.refuse("shape is 60 x 0", labels={"node_label": npy("<f4", (N, 0), [])})
        self.refuse("no member 'node_label.npy'", labels={"labels": npy("<f4", (N, 1), [0.0] * N)})
        folder = self.folder_of()
        (self.folder / "papers100M-bin/raw/node-label.npz").unlink()
        self.must_fail(2, "train", folder, says="node-label.npz: cannot open")

    def test_bad_splits(self):
        for rows, says in (([29], ["valid.csv.gz", "line 1", "vertex 29 stands in train.csv.gz already"]),
                           ([31, 32, 31], ["line 3", "vertex 31 stands in valid.csv.gz already"]), ([60], ["line 1", "0 to 59"]),
                           ([-1], "-1"), (["31.5"], "31.5"), (["31,32"], "one vertex a line"), (["x"], "a number"),
                           ([], "no validation vertices")):
            self.refuse(says, splits={"valid": rows})
        folder = self.folder_of()
        (self.folder / "papers100M-bin/split/time/train.csv.gz").unlink()
        self.must_fail(2, "train", folder, says="split/NAME/train.csv.gz")

    def test_truncated(self):
        for compressed in (False, True):
            whole = npz(self.data(), compressed)
            for cut in (0, 10, len(whole) // 2, len(whole) - 30, len(whole) - 1):
                self.refuse(["data.npz", "byte"], data=whole[:cut])
        # A byte within the features.
        whole = npz(self.data())
        at = whole.index(b"node_feat.npy") + 400
        changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        self.refuse(["data.npz", "node_feat", "damaged"], data=changed)


class Reddit(ProgramTest):
    """The same ring and classes; posts 0 to 29 for training, ten for validation, twenty for the test."""

    def data(self, **changed):
        types = [1] * 30 + [2] * 10 + [3] * 20
        members = {"feature": features("<f8"), "label": npy("<i8", (N,), [v % 3 for v in range(N)]),
                   "node_ids": npy("<i8", (N,), list(range(N))), "node_types": npy("<i4", (N,), types)}
        members.update(changed)
        return {name: content for name, content in members.items() if content is not None}

    def matrix(self, form="coo", **changed):
        pairs = sorted({(v, (v + 1) % N) for v in range(N)} | {((v + 1) % N, v) for v in range(N)})
        members = {"format": npy("|S3", "()", form.encode()), "shape": npy("<i8", (2,), [N, N]), "data": npy("<f8", (2 * N,), [1.0] * 2 * N)}
        if form == "coo":
            members.update(row=npy("<i4", (2 * N,), [v for v, _ in pairs]), col=npy("<i4", (2 * N,), [w for _, w in pairs]))
        else:
            members.update(indptr=npy("<i4", (N + 1,), range(0, 2 * N + 1, 2)), indices=npy("<i4", (2 * N,), [w for _, w in pairs]))
        members.update(changed)
        return {name: content for name, content in members.items() if content is not None}

    def folder_of(self, data=None, matrix=None, name="reddit", graph="reddit_graph.npz", compressed=True):
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reddit_data.npz").write_bytes(npz(self.data() if data is None else data, compressed))
        content = matrix if isinstance(matrix, bytes) else npz(self.matrix() if matrix is None else matrix, compressed)
        (folder / graph).write_bytes(content)
        return str(folder)

    def test_options_of_files(self):
        folder = self.folder_of()
        for option in FILE_OPTIONS:
            self.must_fail(2, "train", folder, *option, says=[option[0], "public"])

    def learn(self, folder, **environment):
        result = self.succeed_json("train", folder, "--model", "sage", "--dropout", 0, "--epochs", 60, environment=environment)
        self.assertEqual((result["vertices"], result["features"], result["classes"], result["test_accuracy"]), (N, 4, 3, 1.0))
        return result

    def refuse(self, says, **parts):
        return self.must_fail(2, "train", self.folder_of(**parts), says=says)

    def test_learns(self):
        found = []
        for compressed in (False, True):
            for form in ("coo", "csr", "csc"):
                result = self.learn(self.folder_of(matrix=self.matrix(form), compressed=compressed))
                self.assertEqual(result["edges"], 2 * N)
                found.append([e["loss"] for e in result["epochs"]])
        for losses in found[1:]:
            self.assertEqual(losses, found[0])
        self.learn(self.folder_of(data=self.data(node_ids=None, feature=features("<f4"), label=npy("<i4", (N, 1), [v % 3 for v in range(N)]))))

    def test_by_name_and_fetched(self):
        self.folder_of(name="root/reddit", graph="reddit_self_loop_graph.npz")
        self.learn("reddit", WARREN_DATA=str(self.folder / "root"))
        with zipfile.ZipFile(self.folder / "reddit.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("reddit_data.npz", npz(self.data()))
            archive.writestr("reddit_graph.npz", npz(self.matrix(), True))
        environment = {"WARREN_DATA": str(self.folder / "data")}
        result = self.succeed_json("fetch", "reddit", "--from", f"file://{self.folder}", environment=environment, device=False)
        self.assertEqual(result["files"], 3)
        self.learn("reddit", **environment)

    def test_bad_matrix(self):
        at_end = npy("<i4", (2 * N,), [0] * (2 * N - 1) + [N])
        for changed, says in (({"row": at_end}, ["reddit_graph.npz: row", "element 119 is 60", "0 to 59"]), ({"col": at_end}, "col: element 119"),
                              ({"row": npy("<i4", (2,), [0, 1])}, "2 in one"), ({"row": npy("<f4", (2 * N,), [0.0] * 2 * N)}, "type f4"),
                              ({"col": None}, "no member 'col.npy'"), ({"shape": npy("<i8", (2,), [N, 4])}, "60 x 4"),
                              ({"shape": npy("<i8", (2,), [0, 0])}, "0 x 0"), ({"shape": npy("<i8", (1,), [N])}, "two sizes"),
                              ({"shape": None}, "no member 'shape.npy'"), ({"format": npy("|S3", "()", b"bsr")}, "'bsr'"),
                              ({"format": npy("<i4", "()", [4])}, "no string"), ({"format": None}, "no member 'format.npy'")):
            self.refuse(says, matrix=self.matrix(**changed))
        for offsets, says in (([0] * 5 + [4, 2] + [120] * (N - 6), "element 6 is 2"), ([1] + [120] * N, "element 0 is 1"),
                              ([0] * N + [119], "element 60 is 119"), ([0] * N + [121], "element 60 is 121")):
            self.refuse(["indptr", says], matrix=self.matrix("csr", indptr=npy("<i4", (N + 1,), offsets)))
        self.refuse("61 in one", matrix=self.matrix("csr", indptr=npy("<i4", (N,), [0] * N)))
        self.refuse("indices: element 119", matrix=self.matrix("csr", indices=at_end))
        whole = npz(self.matrix(), True)
        for cut in (0, len(whole) // 2, len(whole) - 1):
            self.refuse(["reddit_graph.npz", "byte"], matrix=whole[:cut])

    def test_bad_data(self):
        for changed, says in (({"feature": with_value("<f4", (N, 4), 17, NAN)}, ["reddit_data.npz: feature", "row 4, column 1"]),
                              ({"feature": with_value("<f8", (N, 4), 17, 1e39)}, "row 4, column 1"), ({"feature": features(count=59)}, "59 rows"),
                              ({"feature": None}, "no member 'feature.npy'"), ({"label": None}, "no member 'label.npy'"),
                              ({"label": with_value("<i8", (N,), 5, -2, 1)}, "vertex 5"), ({"label": with_value("<i8", (N,), 5, -1, 1)}, "no label"),
                              ({"node_types": None}, "no member 'node_types.npy'"),
                              ({"node_types": with_value("<i8", (N,), 5, 4, 1)}, ["node_types", "row 5 is 4"]),
                              ({"node_types": with_value("<i8", (N,), 5, 0, 1)}, "row 5 is 0"), ({"node_types": npy("<i8", (2,), [1, 2])}, "60 in one"),
                              ({"node_types": npy("<i8", (N,), [1] * N)}, "no validation vertices")):
            self.refuse(says, data=self.data(**changed))


if __name__ == "__main__":
    unittest.main()
