# SPDX-License-Identifier: Apache-2.0
"""Files and names that were made to do harm: messages that would drive a terminal, small files that say they are large, lines without an
end, checkpoints whose numbers no training has. Each is refused, by name, in time and memory of the file's size."""

import gzip
import json
import resource
import struct
import unittest

from support import ProgramTest, npy, npz

SECONDS = 20  # Of processors. Nothing here takes long; what the checks keep out takes minutes, or all memory.


class Hostile(ProgramTest):
    def refuse(self, *arguments, says=()):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        begin = used()
        result = self.must_fail(2, *arguments, says=says)
        self.assertLess(used() - begin, SECONDS)
        self.assertFalse([c for c in result.err[:-1] if ord(c) < 32 or 127 <= ord(c) < 160], result.err)
        return result


class Messages(Hostile):
    def test_names_of_files(self):
        name = "a\x1b[2J\nwarren: error: b\u009b.el"
        shown = "a\\x1b[2J\\nwarren: error: b\\xc2\\x9b.el"
        self.refuse("stats", name, says=shown)
        self.file(name, "0 1\n1 x\n")
        self.refuse("stats", name, says=[shown, "'x'"])
        self.file(name, "0 1\n")
        self.assertNotIn("\x1b", self.succeed("stats", name).out)
        self.refuse("train", name, says=shown)
        self.refuse("bfs", "grid:3x3", "--source", "0\x1b[2J", says="0\\x1b[2J")
        self.refuse("bfs", "grid:3x3", "--mode", "\x1b[2J", says="\\x1b[2J")
        self.refuse("stats", "\x1b[2J", says="\\x1b[2J")

    def test_text_of_files(self):
        for name, text in (("g.el", "0 \x1b]0;x\x07\n"), ("g.csv", "0,1\n2,\x1b[2J\n"), ("g.mtx", "%%MatrixMarket \x1b[2J\n"),
                           ("g.gr", "p sp\x1b[2J 1 1\n"), ("g.graph", "\x1b[2J\n")):
            self.refuse("stats", self.file(name, text), says=name)
        self.assertEqual(self.run_program("stats", self.file("h.csv", "src,dst,x\x1b[2J\n0,1,2\n")).err.count("\x1b"), 0)

    def test_names_of_vertices(self):
        root = self.folder / "set"
        root.mkdir()
        (root / "graph.el").write_text("0 1\n1 2\n")
        (root / "names.txt").write_text("zero\none\x1b[2J\ntwo\n")
        result = self.run_program("bfs", str(root), "--source", "one\x1b[2J")
        self.assertEqual((result.status, (result.out + result.err).count("\x1b")), (0, 0))


class Lines(Hostile):
    def test_without_an_end(self):
        much = 1 << 22
        for name, text in (("g.csv", "a," * much), ("g.txt", " " * much + "0 1"), ("g.tsv", "0\t1\t" + "\t" * much), ("g.el", "#" * much),
                           ("g.wel", "0 1 1" + " " * much), ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n9 9 1\n1 2" + " " * much),
                           ("g.gr", "p sp 3 1\na 1 2 3" + " " * much)):
            for tail in ("", "\n0 1\n"):
                self.refuse("stats", self.file(name, text + tail), says=[name, "longer than"])
        packed = self.folder / "g.csv.gz"
        packed.write_bytes(gzip.compress(b"a," * much))
        self.refuse("stats", packed, says=["g.csv.gz", "longer than"])


class Benchmark(Hostile):
    """A folder of the Open Graph Benchmark."""

    def folder_of(self, n=40, **changed):
        files = {
            "raw/num-node-list": f"{n}\n", "raw/edge": "".join(f"{v},{(v + 1) % n}\n" for v in range(n)),
            "raw/node-feat": "".join(f"{v % 2},{(v + 1) % 2}\n" for v in range(n)), "raw/node-label": "".join(f"{v % 2}\n" for v in range(n)),
            "split/time/train": "".join(f"{v}\n" for v in range(20)), "split/time/valid": "".join(f"{v}\n" for v in range(20, 30)),
            "split/time/test": "".join(f"{v}\n" for v in range(30, n)),
        }
        files.update({f"raw/{name.replace('_', '-')}": text for name, text in changed.items()})
        for name, text in files.items():
            path = self.folder / "ogb" / (name + ".csv.gz")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(text.encode()))
        return str(self.folder / "ogb")

    def train(self, folder):
        return ["train", folder, "--epochs", 1]

    def test_reads(self):
        self.assertEqual(self.succeed_json(*self.train(self.folder_of(num_edge_list="40\n")))["edges"], 40)

    def test_more_vertices_than_rows(self):
        self.refuse(*self.train(self.folder_of(num_node_list="4294967295\n")), says=["num-node-list.csv.gz", "4294967295", "40 lines"])
        self.refuse(*self.train(self.folder_of(num_node_list="30\n")), says=["node-label.csv.gz", "line 31"])
        self.refuse(*self.train(self.folder_of(num_node_list="40,40\n")), says="num-node-list.csv.gz")

    def test_more_lines_than_there_are(self):
        much = 1 << 24
        self.refuse(*self.train(self.folder_of(node_label="0\n1\n" * much)), says=["node-label.csv.gz", "line 41"])
        self.refuse(*self.train(self.folder_of(node_feat="0,1\n" * much)), says=["node-feat.csv.gz", "line 41"])
        self.refuse(*self.train(self.folder_of(num_edge_list="40\n", edge="0,1\n" * much)), says=["edge.csv.gz", "line 41", "40 edges"])
        self.refuse(*self.train(self.folder_of(num_edge_list="41\n")), says=["edge.csv.gz", "41 edges"])

    def test_a_line_without_an_end(self):
        self.refuse(*self.train(self.folder_of(node_feat="0," * (1 << 24))), says=["node-feat.csv.gz", "longer than"])


class Checkpoints(Hostile):
    def setUp(self):
        super().setUp()
        self.generated = ["community:1000,5", "--features", 8, "--classes", 3]
        self.succeed("train", *self.generated, "--epochs", 2, "--checkpoint", "kept")
        self.kept = {name: (self.folder / "kept" / f"{name}.safetensors").read_bytes() for name in ("model", "state")}

    def change(self, file, change):
        """`change` gets the header, and the elements; it may return others."""
        content = self.kept[file]
        length = struct.unpack("<Q", content[:8])[0]
        header, elements = json.loads(content[8:8 + length]), content[8 + length:]
        text = change(header)
        text = (text if isinstance(text, str) else json.dumps(header)).encode()
        (self.folder / "kept" / f"{file}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + elements)

    def restore(self, file):
        (self.folder / "kept" / f"{file}.safetensors").write_bytes(self.kept[file])

    def refused(self, file, change, says):
        self.change(file, change)
        command = (["predict", self.generated[0], "--checkpoint", "kept"] if file == "model" else
                   ["train", *self.generated, "--epochs", 3, "--checkpoint", "kept", "--resume"])
        self.refuse(*command, says=[says] if isinstance(says, str) else says)
        self.restore(file)

    def told(self, file, key, value, says):
        self.refused(file, lambda header: header["__metadata__"].__setitem__(key, value), says=says)

    def test_models_that_are_none(self):
        for key, value in (("layers", "4294967296"), ("layers", "0"), ("hidden", str(1 << 40)), ("classes", str(1 << 63)), ("features", "0"),
                           ("heads", str((1 << 64) - 1)), ("model", "x\x1b[2J"), ("norm", "x"), ("aggregate", "x"), ("type", "x")):
            self.told("model", key, value, says="model.safetensors")
        for key in ("layers", "hidden"):
            self.told("state", "option." + key, "4294967296" if key == "layers" else "x", says=("layers",) if key == "layers" else ("kept", "hidden"))

    def test_progress_that_no_training_has(self):
        for key, value in (("epoch", str((1 << 64) - 1)), ("epoch", "-1"), ("best_epoch", "3"), ("best_validation", "nan"),
                           ("best_validation", "2"), ("best_loss", "inf"), ("test_accuracy", "-0.5"), ("history", "[[1,0]]"), ("history", "[" * 9999)):
            self.told("state", key, value, says=["state.safetensors", "history" if key == "history" else f"its {key}"])

    def test_history(self):
        def numbered(*epochs):
            return lambda header: header["__metadata__"].__setitem__("history", json.dumps([[e] + [0.5] * 11 for e in epochs]))

        for epochs in ((2, 1), (1, 1), (0,), (1, 2, 3)):
            self.refused("state", numbered(*epochs), says=["state.safetensors", "history"])

    def test_headers_of_many_names(self):
        # Twice as many take twice as long, not four times.
        many = 200_000
        empty = '{"dtype":"F32","shape":[0,1],"data_offsets":[0,0]}'
        for text, says in (("{" + ",".join(f'"{i}":1' for i in range(many)) + "}", "header is damaged"),
                           ("{" + ",".join(f'"{i}":{empty}' for i in range(many // 4)) + "}", "its model"),
                           ('{"__metadata__":{' + ",".join(f'"{i}":"1"' for i in range(many)) + "}}", "its model")):
            self.refused("model", lambda _, t=text: t, says=["model.safetensors", says])
        self.told("state", "history", "{" + ",".join(f'"{i}":1' for i in range(many)) + "}", says=["state.safetensors", "history"])

    def test_tensors_over_each_other(self):
        names = [name for name in json.loads(self.kept["model"][8:8 + struct.unpack("<Q", self.kept["model"][:8])[0]]) if name[0] != "_"]

        def shared(header):
            for name in [f"more{i}" for i in range(1000)]:
                header[name] = dict(header[names[0]])

        self.refused("model", shared, says=["model.safetensors", "lie over each other"])

        def partly(header):
            begin, end = header[names[0]]["data_offsets"]
            header["more"] = {"dtype": "F32", "shape": [1, 1], "data_offsets": [end - 4, end]}
            self.assertGreater(end - begin, 4)

        self.refused("model", partly, says=[names[0], "more", "lie over each other"])
        for field, value in (("data_offsets", [-8, 0]), ("shape", [1.5, 2]), ("shape", [1 << 62, 8]), ("shape", ["1", "2"]), ("shape", None)):
            self.refused("model", lambda header, f=field, v=value: header[names[0]].__setitem__(f, v), says="model.safetensors")
        twice = '{"a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}, "a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [4, 8]}}'
        self.refused("model", lambda _: twice, says=["model.safetensors", "a is in it twice"])
        self.refused("model", lambda _: "[" * 100000, says="model.safetensors")


class Archives(Hostile):
    def test_members_over_each_other(self):
        content = bytearray(npz({name: npy("<i4", (1,), [0]) for name in ("a", "b")}))
        entries = [at for at in range(len(content)) if content[at:at + 4] == b"PK\x01\x02"]
        content[entries[1] + 42:entries[1] + 46] = content[entries[0] + 42:entries[0] + 46]
        path = self.folder / "g.npz"
        path.write_bytes(content)
        self.refuse("stats", path, says=["g.npz", "lie over each other"])


if __name__ == "__main__":
    unittest.main()
