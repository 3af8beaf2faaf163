# SPDX-License-Identifier: Apache-2.0
"""Training and predicting: against the command line and among each other, on datasets by name and of arrays; how they end; and arguments that are refused."""
import json
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from conftest import PACKAGE, environment, start
from train_data import FEW, MODELS, NAME, SIZES, arrays, dataset  # noqa: F401

import warren


@pytest.mark.parametrize("mode", ["full", "sampled"])
@pytest.mark.parametrize("model", MODELS)
def test_train_and_predict(dataset, model, mode):
    result = warren.train(dataset, model, mode, **FEW)
    assert [epoch["epoch"] for epoch in result.history] == [1, 2, 3] and result.epochs == 3
    assert set(result.history[0]) == {"epoch", "loss", "train_accuracy", "validation_accuracy", "validation_loss", "test_accuracy", "seconds"}
    best = result.history[result.best_epoch - 1]
    assert (result.best_validation, result.test_accuracy) == (best["validation_accuracy"], best["test_accuracy"])
    found = result.predict(device="cpu")
    assert np.array_equal(found.scores, result.scores) and found.scores.shape == (600, 3)
    assert np.allclose(result.predict(allow_tf32=False).scores, result.scores, atol=1e-4)  # Of a GPU, where there is one.
    assert found.label.dtype == np.int32 and np.array_equal(found.label, found.scores.argmax(axis=1)) and np.array_equal(np.asarray(found), found.label)
    assert found.test_accuracy == result.test_accuracy and found.trained_on
    assert result.info["model"] == model and result.info["mode"] == mode and result.info["parameters"] > 0


def command_line(tmp_path, *arguments):
    if not (PACKAGE / "bin" / "warren").is_file():
        pytest.skip("the command line is only in the installed package")
    ran = subprocess.run([sys.executable, "-m", "warren", *arguments, "--json", "-"], env=environment(), capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_as_the_command_line_trains(tmp_path):
    """Bit for bit, and each predicts with the other's model."""
    options = ["train", NAME, "--features", "12", "--classes", "3", "--model", "sage", "--mode", "sampled", "--epochs", "3", "--threads", "1", "--device", "cpu", "--checkpoint", "theirs"]
    theirs = command_line(tmp_path, *options)
    with warren.Session(device="cpu", threads=1):
        ours = warren.train(NAME, "sage", "sampled", **SIZES, epochs=3, checkpoint=tmp_path / "ours")
        assert [epoch["loss"] for epoch in ours.history] == [epoch["loss"] for epoch in theirs["epochs"]]
        for field in ("best_epoch", "best_validation", "test_accuracy", "chance", "normalize", "layers", "hidden", "classes", "batches"):
            assert ours.info[field] == theirs[field], field
        assert warren.predict(NAME, tmp_path / "theirs").test_accuracy == theirs["test_accuracy"]
        again = warren.train(NAME, "sage", "sampled", **SIZES, epochs=5, checkpoint=tmp_path / "theirs", resume=True)
        assert again.history[:3] == theirs["epochs"] and len(again.history) == 5
    predicted = command_line(tmp_path, "predict", NAME, "--checkpoint", "ours", "--threads", "1", "--device", "cpu")
    assert predicted["test_accuracy"] == ours.test_accuracy and predicted["trained_on"]


@pytest.mark.parametrize("devices", [1, 2])
def test_arrays(devices):
    graph, x, labels, masks = arrays()
    data = warren.Dataset(graph, x, labels, **masks)
    assert (data.num_features, data.num_classes, data.graph) == (8, 3, graph)
    assert "60 / 30 / 30" in repr(data)
    result = warren.train(data, "sage", epochs=40, devices=devices, dropout=0, device="cpu")
    assert result.test_accuracy > 0.9
    asked = warren.predict(warren.Dataset(graph, x), result.model, embeddings=True, device="cpu", devices=devices)
    assert asked.test_accuracy is None and np.allclose(asked.scores, result.scores, atol=1e-4) and asked.embeddings.shape == (120, 64)
    assert asked.to_dict()[7] == asked.label[7]


@pytest.mark.parametrize("weights", ["balanced", [5, 1, 0.5]])
def test_class_weights(weights):
    """The loss is the weighted mean of PyTorch's cross_entropy(weight=...): without dropout and at a rate of 0 it is that of the scores."""
    graph, x, labels, masks = arrays()
    labels = np.where(labels == 2, 0, labels)  # Classes of other sizes.
    labels[0] = 2
    train = masks["train"].copy()
    train[0] = True
    dataset = warren.Dataset(graph, x, labels, train=train, validation=masks["validation"] & ~train, test=np.setdiff1d(masks["test"], [0]))
    few = {"hidden": 8, "epochs": 1, "dropout": 0.0, "lr": 0.0, "device": "cpu", "normalize": "none"}
    found = warren.train(dataset, **few, class_weights=weights)
    scores, y = np.asarray(found.scores, np.float64)[train], labels[train]
    losses = np.log(np.exp(scores).sum(1)) - scores[np.arange(len(y)), y]
    by_class = 1 / np.bincount(y, minlength=3) if weights == "balanced" else np.asarray(weights)
    assert found.history[0]["loss"] == pytest.approx((by_class[y] * losses).sum() / by_class[y].sum(), rel=1e-5)
    assert warren.train(dataset, **few).history[0]["loss"] == pytest.approx(losses.mean(), rel=1e-5)
    assert warren.train(dataset, **few, class_weights="none").history[0]["loss"] == pytest.approx(losses.mean(), rel=1e-5)
    for wrong in ("even", [], [1, 2], [1, -1, 1], [1, np.nan, 1], [[1, 1, 1]], [0, 0, 0], 5):
        with pytest.raises(ValueError, match="class_weights"):
            warren.train(dataset, **few, class_weights=wrong)


def test_strategies():
    """Losses up to rounding whatever the strategy, and bit for bit by each."""
    options = {**SIZES, **FEW, "devices": 2, "dropout": 0.0}
    default = warren.train(NAME, **options)
    assert default.strategy.startswith("staged") and default.info["strategy"] == default.strategy
    pull = warren.train(NAME, **options, strategy="pull:ps=16")
    assert pull.strategy.startswith("pull:ps=16") and pull.strategy_reason == "as asked for"
    assert [epoch["loss"] for epoch in pull.history] == pytest.approx([epoch["loss"] for epoch in default.history], rel=1e-5)
    for wrong, message in (({"strategy": "pul"}, "pul"), ({"strategy": "pull", "devices": 1}, "one rank exchanges nothing"), ({"workgroup": 2}, "workgroup"),
                           ({"strategy": "pull", "model": "gat"}, "sums over neighbours")):
        with pytest.raises(ValueError, match=message):
            warren.train(NAME, **{**options, **wrong})
    with pytest.raises(ValueError, match="strategy"):
        warren.train(NAME, **options, strategy=3)


def test_several_labels():
    graph, x, labels, masks = arrays(several=True)
    result = warren.train(warren.Dataset(graph, x, labels, **masks), "gcn", **FEW)
    found = result.predict()
    assert found.label.shape == (120, 2) and found.label.dtype == np.bool_ and np.array_equal(found.label, found.scores > 0)
    assert found.to_dict()[3] == found.label[3].tolist()


def test_names_of_vertices():
    import networkx as nx

    graph = warren.from_networkx(nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd"))))
    data = warren.Dataset(graph, np.eye(4), [0, 1, 0, 1], [0, 1], [2], [3])
    assert set(warren.train(data, epochs=1).predict().to_dict()) == set("abcd")


def test_links():
    result = warren.train(NAME, "sage", "sampled", "link", features=12, fanout=[4, 3], **FEW)
    assert result.scores.shape == (600, 16) and {"validation_mrr", "test_mrr"} <= set(result.history[0])
    found = result.predict()
    assert found.label is None and found.scores.shape == (600, 16) and len(found.to_dict()[0]) == 16
    assert result.info["test_auc"] == result.test_accuracy


def test_models_in_memory_and_files(tmp_path, dataset):
    result = warren.train(dataset, "gat", **FEW)
    result.save(tmp_path / "new" / "model")
    loaded = warren.load_model(tmp_path / "new" / "model")
    assert loaded.facts == result.model.facts and loaded.facts["option.lr"] == "0.01"
    data = (tmp_path / "new" / "model" / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    for name, array in result.model.weights.items():
        begin, end = header[name]["data_offsets"]
        assert np.array_equal(np.frombuffer(data[8 + length + begin:8 + length + end], "<f4").reshape(header[name]["shape"]), array)
        assert not array.flags.writeable and np.array_equal(loaded.weights[name], array)
    changed = loaded.with_weights({"layers.1.bias": [[0, 0, 1e6]]})
    assert set(changed.weights) == set(loaded.weights) and np.array_equal(changed.weights["layers.0.weight"], loaded.weights["layers.0.weight"])
    assert set(warren.predict(dataset, changed).label.tolist()) == {2}
    for wrong in ({"bias": [1]}, {"layers.1.bias": [1]}, {"layers.1.bias": [["x", "y", "z"]]}):
        with pytest.raises(ValueError, match="weights.*got .*expected"):
            loaded.with_weights(wrong)
    with pytest.raises(FileNotFoundError, match="model.safetensors"):
        warren.load_model(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="safetensors"):
        warren.load_model(tmp_path)


def test_checkpoints(tmp_path, dataset):
    whole = warren.train(dataset, **{**FEW, "epochs": 6})
    warren.train(dataset, **FEW, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="overwrite to replace it"):
        warren.train(dataset, **FEW, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="lr 0.01, but lr 0.5 is given"):
        warren.train(dataset, **FEW, checkpoint=tmp_path, resume=True, lr=0.5)
    resumed = warren.train(dataset, **{**FEW, "epochs": 6}, checkpoint=str(tmp_path), resume=True)
    assert np.array_equal(resumed.scores, whole.scores) and [e["loss"] for e in resumed.history] == [e["loss"] for e in whole.history]
    with pytest.warns(UserWarning, match="nothing was trained: its training has ended after 6 epochs; a larger epochs goes on from there$"):
        warren.train(dataset, **{**FEW, "epochs": 6}, checkpoint=tmp_path, resume=True)
    assert warren.train(dataset, **FEW, checkpoint=tmp_path, overwrite=True).epochs == 3


def test_progress(dataset):
    seen = []
    result = warren.train(dataset, **FEW, progress=seen.append)
    assert seen == result.history

    def stop(epoch):
        seen.append(epoch)
        if epoch["epoch"] == 2:
            raise KeyError("enough")

    seen.clear()
    with pytest.raises(KeyError, match="enough"):
        warren.train(dataset, **{**FEW, "epochs": 10**6}, progress=stop)
    assert len(seen) == 2
    with pytest.raises(ValueError, match="wait for it for ever"):
        warren.train(dataset, **FEW, progress=lambda epoch: dataset.graph.bfs(0, device="cpu"))
    assert warren.train(dataset, **FEW).epochs == 3


def test_bar(dataset, monkeypatch):
    shown = []

    class Bar:
        def __init__(self, total, unit):
            self.n = 0
            shown.append(total)

        def update(self, count):
            self.n += count
            shown.append(self.n)

        def set_postfix(self, **values):
            assert set(values) == {"loss", "validation"}

        def close(self):
            shown.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    warren.train(dataset, **FEW, progress=True)
    assert shown == [3, 1, 2, 3, "closed"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # Not installed.
    assert warren.train(dataset, **FEW, progress=True).epochs == 3


def test_other_threads_run_meanwhile(dataset):
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    warren.train(dataset, hidden=64, epochs=60, device="cpu")
    done.set()
    thread.join()
    assert counts[0] > 5


@pytest.mark.parametrize("mode", ["full", "sampled"])
def test_ctrl_c(mode):
    process = start("""
        import sys, warren
        data = warren.read_dataset("community:600,6", features=12, classes=3)
        try:
            warren.train(data, mode=sys.argv[1], epochs=10**7, device="cpu", progress=lambda epoch: epoch["epoch"] == 1 and print("begun", flush=True))
        except KeyboardInterrupt:
            assert warren.train(data, epochs=1, device="cpu").epochs == 1
            print("ended")
    """, mode)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "ended\n"), err


def test_warnings():
    graph, x, labels, masks = arrays()
    kept = np.flatnonzero((labels == 2) & ~masks["train"])[0]
    labels = np.where((labels == 2) & (np.arange(120) != kept), 1, labels)
    with pytest.warns(UserWarning, match="classes have no training vertex"):
        warren.train(warren.Dataset(graph, x, labels, **masks), **FEW)
    with pytest.warns(UserWarning, match="normalize rows: feature"):
        warren.train(warren.Dataset(*arrays()[:3], **masks), **FEW, normalize="rows")


@pytest.mark.parametrize("wrong, message", [
    ({"model": "gnc"}, 'model: got \'gnc\', expected "gcn" or'), ({"mode": None}, "mode: got None"), ({"layers": 0}, "layers: got 0, expected a number from 1 to 64"),
    ({"hidden": 2.5}, "hidden: got 2.5, expected"), ({"heads": None}, "heads: got None"), ({"dropout": 1}, "dropout: got 1, expected a number from 0 to 0.999"),
    ({"lr": float("nan")}, "lr: got nan"), ({"lr": "fast"}, "lr: got 'fast'"), ({"epochs": 0}, "epochs: got 0"), ({"patience": -1}, "patience: got -1"),
    ({"seed": -1}, "seed: got -1"), ({"fanout": []}, "fanout: got none"), ({"fanout": [5, 0]}, r"fanout: got \[5, 0\]"), ({"fanout": "15,10"}, "fanout.* got '15,10'"),
    ({"batch": 8}, "batch is for mode=.sampled."), ({"mode": "sampled", "layers": 3, "fanout": [2, 2]}, "layers 3 and fanout 2,2"),
    ({"mode": "sampled", "batch": 999}, "batch 999: there are"), ({"task": "link"}, "give mode=.sampled."), ({"normalize": "row"}, "normalize: got 'row'"),
    ({"allow_tf32": 1}, "allow_tf32: got 1, expected True or False"), ({"progress": 3}, "progress: got 3"), ({"device": "tpu"}, "device: got 'tpu'"), ({"checkpoint": 3}, "checkpoint: got 3"), ({"resume": True}, "resume needs checkpoint"),
    ({"features": 3}, "features: got 3, expected nothing"), ({"symmetrize": True}, "symmetrize: got True"), ({"model": "gat", "heads": 7}, "7 heads"),
    ({"residual": True, "skip": True}, "residual adds"), ({"mode": "sampled", "weighted": True}, "dataset: got a graph without weights"),
    ({"edge_weights": True}, "dataset: got a graph without weights, expected weights: edge_weights sums"), ({"edge_weights": True, "model": "gin"}, "model=.gin. has no form"),
    ({"edge_weights": True, "mode": "sampled", "model": "gin"}, "model=.gin. has no form"), ({"edge_weights": True, "mode": "sampled", "task": "link"}, "task=.link. has no form"),
    ({"edge_weights": True, "model": "sage", "aggregate": "max"}, "aggregate=.max. has")])
def test_bad_options(dataset, wrong, message):
    with pytest.raises(ValueError, match=message):
        warren.train(dataset, **wrong)


GRAPH = warren.from_edges([0, 1, 2], [1, 2, 3], num_vertices=4)
GOOD = {"features": np.ones((4, 2)), "labels": [0, 1, -1, 1], "train": [0], "validation": [1], "test": [3]}


@pytest.mark.parametrize("wrong, error, message", [
    ({"features": np.ones((3, 2))}, ValueError, r"features: got an array of shape \(3, 2\), expected"), ({"features": [[1, np.nan]] * 4}, ValueError, "features: got nan in row 0, column 1"),
    ({"features": [["a"]] * 4}, ValueError, "features: got elements"), ({"labels": [0, 1]}, ValueError, "labels: got an array of shape"),
    ({"labels": [0, 1.5, 0, 1]}, ValueError, r"labels\[1\]: got 1.5"), ({"labels": [0, -2, 0, 1]}, ValueError, r"labels\[1\]: got -2"), ({"labels": [0] * 4}, ValueError, "labels: got 1 classes"),
    ({"labels": [[0, 2]] * 4}, ValueError, r"labels\[0, 1\]: got 2"), ({"labels": None}, ValueError, "labels: got none"), ({"train": [4]}, IndexError, r"train\[0\]: got 4"),
    ({"train": [2]}, ValueError, r"train\[0\]: got 2, expected a vertex with a label"), ({"train": [1]}, ValueError, r"validation\[0\]: got 1 for the second time"),
    ({"train": [0.5]}, ValueError, "train: got elements of type float64"), ({"train": [True, False]}, ValueError, "train: got booleans of shape"), ({"test": None}, ValueError, "test: got no vertices")])
def test_bad_arrays(wrong, error, message):
    with pytest.raises(error, match=message):
        warren.Dataset(GRAPH, **{**GOOD, **wrong})


def test_bad_names(tmp_path, dataset):
    with pytest.raises(FileNotFoundError, match="no-such"):
        warren.train("no-such")
    with pytest.raises(ValueError, match="give features"):
        warren.train(NAME)
    with pytest.raises(ValueError, match="features: got 0, expected"):
        warren.read_dataset(NAME, features=0)
    with pytest.raises(ValueError, match="graph: got list"):
        warren.Dataset([], [])
    with pytest.raises(ValueError, match="this folder is no dataset"):
        warren.read_dataset(tmp_path)
    with pytest.raises(ValueError, match="without labels, expected labels"):
        warren.train(NAME, features=3)
    with pytest.raises(ValueError, match="12 features, but this dataset has 8"):
        warren.predict(warren.Dataset(*arrays()[:2]), warren.train(dataset, **FEW).model)
    with pytest.raises(ValueError, match="allow_tf32: got 'no', expected True or False"):
        warren.predict(dataset, warren.train(dataset, **FEW).model, allow_tf32="no")
    with pytest.raises(ValueError, match="normalize: got 'x'"):
        warren.predict(dataset, warren.train(dataset, **FEW).model, normalize="x")


def test_options_of_other_models_are_told(dataset):
    with pytest.warns(UserWarning, match="heads has no effect: only gat and gatv2"):
        warren.train(dataset, "gcn", heads=3, hidden=6, epochs=1)
    with pytest.warns(UserWarning, match="aggregate has no effect: only sage"):
        warren.train(dataset, "gat", aggregate="sum", heads=2, hidden=4, epochs=1)
