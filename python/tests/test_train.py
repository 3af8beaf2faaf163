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

import warren

NAME, SIZES = "community:600,6", {"features": 12, "classes": 3}
MODELS = ["gcn", "sage", "gat", "gatv2", "gin"]
FEW = {"hidden": 16, "heads": 4, "epochs": 3, "device": "cpu"}


@pytest.fixture(scope="module")
def dataset():
    return warren.read_dataset(NAME, **SIZES)


def arrays(seed=5, n=120, several=False):
    """A directed graph, features and labels that a model can learn, and masks."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    src, dst = rng.integers(0, n, (2, 6 * n))
    same = label[src] == label[dst]
    graph = warren.from_edges(src[same], dst[same], num_vertices=n)
    x = rng.normal(0, 0.5, (n, 8)) + np.eye(3, 8)[label]
    place = rng.permutation(n)
    masks = {"train": place < n // 2, "validation": (place >= n // 2) & (place < 3 * n // 4), "test": np.flatnonzero(place >= 3 * n // 4)}
    labels = np.stack([label == 0, label < 2], 1).astype(np.int64) if several else label
    return graph, x, labels, masks


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
    with pytest.warns(UserWarning, match="nothing was trained: its training has ended after 6 epochs$"):
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
    ({"batch": 8}, "batch, .* are for mode=.sampled."), ({"mode": "sampled", "layers": 3, "fanout": [2, 2]}, "layers 3 and fanout 2,2"),
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


# PyTorch Geometric's layers, by its names of their parameters, in float64. x[i] gathers from x[j] for all (i, j) of A; of attention from itself, too.

def softmax_sums(A, logits, rows):
    """A row for each vertex: sums of rows[j] by the softmax of logits[i, j] over A's j."""
    weights = np.where(A > 0, np.exp(logits - np.where(A > 0, logits, -np.inf).max(axis=1, keepdims=True)), 0)
    return weights / weights.sum(axis=1, keepdims=True) @ rows


def leaky(x):
    return np.where(x > 0, x, 0.2 * x)


def gcn(p, A, x):
    A = A + np.eye(len(A))
    scale = 1 / np.sqrt(A.sum(axis=1))
    return scale[:, None] * A * scale @ (x @ p["lin.weight"].T) + p["bias"]


def sage(p, A, x):
    return A / np.maximum(1, A.sum(axis=1, keepdims=True)) @ x @ p["lin_l.weight"].T + p["lin_l.bias"] + x @ p["lin_r.weight"].T


def gat(p, A, x):
    A, heads = np.minimum(1, A + np.eye(len(A))), p["att_src"].shape[1]
    rows = (x @ p["lin.weight"].T).reshape(len(x), heads, -1)
    left, right = (rows * p["att_dst"]).sum(axis=2), (rows * p["att_src"]).sum(axis=2)
    return np.concatenate([softmax_sums(A, leaky(left[:, h, None] + right[None, :, h]), rows[:, h]) for h in range(heads)], 1) + p["bias"]


def gatv2(p, A, x):
    A, heads = np.minimum(1, A + np.eye(len(A))), p["att"].shape[1]
    source, target = (x @ p[f"{side}.weight"].T + p[f"{side}.bias"] for side in ("lin_l", "lin_r"))
    source, target = source.reshape(len(x), heads, -1), target.reshape(len(x), heads, -1)
    return np.concatenate([softmax_sums(A, leaky(target[:, None, h] + source[None, :, h]) @ p["att"][0, h], source[:, h]) for h in range(heads)], 1) + p["bias"]


def gin(p, A, x):
    inner = ((1 + p["eps"]) * x + A @ x) @ p["nn.0.weight"].T + p["nn.0.bias"]
    return np.maximum(0, inner) @ p["nn.2.weight"].T + p["nn.2.bias"]


def stacked(kind, states, layer, x):
    for at, state in enumerate(states):
        x = layer(state, x)
        if at + 1 < len(states):
            x = np.where(x > 0, x, np.expm1(np.minimum(x, 0)) if kind.startswith("gat") else 0)
    return x


@pytest.fixture(scope="module", params=MODELS)
def trained(request):
    """A model, its dataset's features, and the graph as a matrix: self-loops of the graph are left out, which PyG's attention takes for its own."""
    graph, x, labels, masks = arrays()
    src, dst, _ = graph.to_edges()
    graph = warren.from_edges(src[src != dst], dst[src != dst], num_vertices=120)
    data = warren.Dataset(graph, x, labels, **masks)
    return warren.train(data, request.param, hidden=16, heads=4, epochs=3, norm="none", normalize="none", device="cpu"), x, graph.to_scipy().toarray()


def other_states(states):
    rng = np.random.default_rng(3)
    return [{name: array if name in ("lin_l.bias", "lin_r.bias") and not array.any() else rng.normal(0, 0.3, array.shape) for name, array in state.items()} for state in states]


def test_layers_of_pyg(trained):
    """Its parameters give PyG's layers the model's scores, and PyG's parameters give the model theirs."""
    result, x, A = trained
    kind = result.model.facts["model"]
    layer = {"gcn": gcn, "sage": sage, "gat": gat, "gatv2": gatv2, "gin": gin}[kind]
    states = result.model.to_pyg()
    assert np.allclose(stacked(kind, states, lambda p, h: layer(p, A, h), x), result.scores, atol=1e-4)
    others = other_states(states)
    found = warren.predict(result.dataset, result.model.with_pyg(others), allow_tf32=False).scores
    expected = stacked(kind, others, lambda p, h: layer(p, A, h), x)
    assert np.abs(found - expected).max() < 1e-3 * max(1, np.abs(expected).max())


def test_layers_of_pyg_itself(trained):
    torch, nn = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.nn")
    result, x, A = trained
    kind = result.model.facts["model"]
    targets, sources = np.nonzero(A)
    edge_index = torch.tensor(np.stack([sources, targets]))
    sizes = [(8, 16), (16, 3)]

    def make(at, inputs, outputs):
        heads = 4 if at == 0 else 1
        if kind == "gin":
            return nn.GINConv(torch.nn.Sequential(torch.nn.Linear(inputs, outputs), torch.nn.ReLU(), torch.nn.Linear(outputs, outputs)), train_eps=True)
        if kind.startswith("gat"):
            return {"gat": nn.GATConv, "gatv2": nn.GATv2Conv}[kind](inputs, outputs // heads, heads=heads)
        return {"gcn": nn.GCNConv, "sage": nn.SAGEConv}[kind](inputs, outputs)

    layers = [make(at, *size) for at, size in enumerate(sizes)]

    def scores(states):
        for layer, state in zip(layers, states):
            layer.load_state_dict({name: torch.tensor(array, dtype=torch.float32) for name, array in state.items()})
        with torch.no_grad():
            return stacked_torch(torch, kind, layers, torch.tensor(x, dtype=torch.float32), edge_index).numpy()

    assert np.allclose(scores(result.model.to_pyg()), result.scores, atol=1e-4)
    expected = scores(other_states(result.model.to_pyg()))
    found = warren.predict(result.dataset, result.model.with_pyg([layer.state_dict() for layer in layers]), allow_tf32=False).scores
    assert np.abs(found - expected).max() < 1e-3 * max(1, np.abs(expected).max())


def stacked_torch(torch, kind, layers, x, edge_index):
    for at, layer in enumerate(layers):
        x = layer(x, edge_index)
        if at + 1 < len(layers):
            x = torch.nn.functional.elu(x) if kind.startswith("gat") else torch.relu(x)
    return x


def test_bad_states(trained):
    model = trained[0].model
    states = model.to_pyg()
    for wrong in (states[:1], [{}, states[1]], [{name: array[:1, :1] if array.ndim == 2 else array for name, array in state.items()} for state in states]):
        with pytest.raises(ValueError, match="states.*got .*expected"):
            model.with_pyg(wrong)
    if model.facts["model"] == "gatv2":
        states[0]["lin_l.bias"][0] = 1
        with pytest.raises(ValueError, match="expected zeros"):
            model.with_pyg(states)


def test_norms_are_none_of_pyg_layers(dataset):
    with pytest.raises(ValueError, match="norm.*expected plain layers"):
        warren.train(dataset, "gin", **FEW).model.to_pyg()


def weighted(seed=7, weights=None):
    """As arrays(), without loops, and its weights: some of each direction, which differ. The graph as a matrix of weights, and as one of numbers of edges."""
    graph, x, labels, masks = arrays(seed)
    src, dst, _ = graph.to_edges()
    src, dst = src[src != dst], dst[src != dst]
    if weights is None:
        weights = np.random.default_rng(seed).uniform(0.1, 3, src.size)
    graph = warren.from_edges(src, dst, np.asarray(weights, np.float32), num_vertices=120)
    A = graph.to_scipy().toarray()
    return warren.Dataset(graph, x, labels, **masks), x, A, (A != 0).astype(float)


def gcn_of_weights(p, A, x):
    degree = 1 / np.sqrt(A.sum(axis=1) + 1)
    return degree[:, None] * ((A + np.eye(len(A))) @ (degree[:, None] * (x @ p["lin.weight"].T))) + p["bias"]


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("model, aggregate", [("gcn", "mean"), ("sage", "mean"), ("sage", "sum")])
def test_edge_weights(model, aggregate, devices):
    """The scores of the model are those of its equation; of GCN, of PyTorch Geometric's layer, too."""
    data, x, A, edges = weighted()
    options = {**FEW, "aggregate": aggregate, "normalize": "none", "devices": devices}
    result = warren.train(data, model, edge_weights=True, **options)
    assert result.info["edge_weights"] and result.model.facts["edge_weights"] == "1"
    states = result.model.to_pyg()
    count = np.maximum(1, edges.sum(axis=1, keepdims=True)) if aggregate == "mean" else 1

    def layer(p, h):
        if model == "gcn":
            return gcn_of_weights(p, A, h)
        return (A @ h / count) @ p["lin_l.weight"].T + p["lin_l.bias"] + h @ p["lin_r.weight"].T

    assert np.allclose(stacked(model, states, layer, x), result.scores, atol=2e-4)
    assert np.allclose(result.predict(device="cpu", devices=1).scores, result.scores, atol=1e-5) and result.predict().trained_on
    plain = warren.train(data, model, **options)
    assert not plain.info["edge_weights"] and not np.allclose(plain.scores, result.scores, atol=1e-3)
    with pytest.raises(ValueError, match="dataset: got a graph without weights.*trained with edge_weights"):
        graph, features, labels, masks = arrays(7)
        warren.predict(warren.Dataset(graph, features, labels, **masks), result.model)
    if model != "gcn":
        return
    torch, nn = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.nn")
    targets, sources = np.nonzero(A)
    edge_index, weight = torch.tensor(np.stack([sources, targets])), torch.tensor(A[targets, sources], dtype=torch.float32)
    h = torch.tensor(x, dtype=torch.float32)
    with torch.no_grad():
        for at, state in enumerate(states):
            conv = nn.GCNConv(state["lin.weight"].shape[1], state["lin.weight"].shape[0])
            conv.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
            h = conv(h, edge_index, weight)
            h = torch.relu(h) if at + 1 < len(states) else h
    assert np.allclose(h.numpy(), result.scores, atol=1e-4)


def layers_of_attention(model, states):
    """PyTorch Geometric's, a weight an edge, with these parameters."""
    torch, nn = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.nn")
    kind, layers = nn.GATConv if model == "gat" else nn.GATv2Conv, []
    for at, state in enumerate(states):
        name = "lin" if model == "gat" else "lin_l"
        outputs, inputs = state[f"{name}.weight"].shape
        heads = state["att_src" if model == "gat" else "att"].shape[1]
        layers.append(kind(inputs, outputs // heads, heads=heads, edge_dim=1))
        layers[-1].load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    return layers


def attended(layers, x, A):
    import torch

    targets, sources = np.nonzero(A)
    edge_index, weight = torch.tensor(np.stack([sources, targets])), torch.tensor(A[targets, sources], dtype=torch.float32)[:, None]
    h = torch.tensor(x, dtype=torch.float32)
    for at, conv in enumerate(layers):
        h = conv(h, edge_index, weight)
        h = torch.nn.functional.elu(h) if at + 1 < len(layers) else h
    return h


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("model", ["gat", "gatv2"])
def test_edge_weights_of_attention(model, devices, tmp_path):
    """The scores of a model that was trained are PyTorch Geometric's, with edge_dim=1; its parameters give the model theirs, by a checkpoint, too."""
    torch = pytest.importorskip("torch")
    data, x, A, _ = weighted()
    options = {**FEW, "hidden": 16, "heads": 4, "normalize": "none", "devices": devices}
    folder = str(tmp_path / "kept")
    result = warren.train(data, model, edge_weights=True, checkpoint=folder, **options)
    assert result.info["edge_weights"] and result.model.facts["edge_weights"] == "1"
    states = warren.load_model(folder).to_pyg()
    assert states[0]["lin_edge.weight"].shape == (16, 1) and (model == "gatv2" or states[0]["att_edge"].shape == (1, 4, 4))
    with torch.no_grad():
        found = attended(layers_of_attention(model, states), x, A).numpy()
    assert np.allclose(found, result.scores, atol=1e-5)
    assert np.allclose(result.predict(device="cpu", devices=1).scores, result.scores, atol=1e-5) and result.predict().trained_on
    rng = np.random.default_rng(3)
    others = [{name: array if name in ("lin_l.bias", "lin_r.bias") else rng.normal(0, 0.3, array.shape).astype(np.float32) for name, array in state.items()} for state in states]
    with torch.no_grad():
        expected = attended(layers_of_attention(model, others), x, A).numpy()
    assert np.allclose(warren.predict(data, result.model.with_pyg(others), device="cpu", devices=devices).scores, expected, atol=1e-5 * max(1, np.abs(expected).max()))
    with pytest.raises(ValueError, match=r"states\[0\]: got .* expected .*lin_edge.weight"):
        result.model.with_pyg(warren.train(data, model, **options).model.to_pyg())


@pytest.mark.parametrize("model", ["gat", "gatv2"])
def test_edge_weights_of_attention_train_as_in_torch(model):
    """A first step by gradient descent, over loops, which the layers replace, and with a vertex without edges."""
    torch = pytest.importorskip("torch")
    _, x, A, _ = weighted()
    A[3, :] = A[:, 3] = 0
    A[5, 5] = A[9, 9] = 2.0
    src, dst = np.nonzero(A)
    _, _, labels, masks = arrays(7)
    data = warren.Dataset(warren.from_edges(src, dst, A[src, dst].astype(np.float32), num_vertices=len(A)), x, labels, **masks)
    options = {"hidden": 16, "heads": 4, "normalize": "none", "dropout": 0, "weight_decay": 0, "edge_weights": True, "device": "cpu", "devices": 2, "optimizer": "sgd"}
    begin = warren.train(data, model, lr=0.0, epochs=1, **options).model
    layers = layers_of_attention(model, begin.to_pyg())
    loss = torch.nn.functional.cross_entropy(attended(layers, x, A)[masks["train"]], torch.tensor(labels[masks["train"]]))
    loss.backward()
    stepped = warren.train(data, model, lr=0.5, epochs=1, **options)
    assert stepped.history[0]["loss"] == pytest.approx(loss.item(), rel=1e-5)
    for conv, before, after in zip(layers, begin.to_pyg(), stepped.model.to_pyg()):
        for name, parameter in conv.named_parameters():
            if name not in ("lin_l.bias", "lin_r.bias"):
                assert np.allclose((before[name] - after[name]) / 0.5, parameter.grad.numpy(), atol=1e-5), name


def test_edge_weights_train_as_in_torch():
    """A first step by gradient descent: what backward makes of the weights."""
    torch, nn = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.nn")
    data, x, A, _ = weighted()
    options = {"hidden": 16, "normalize": "none", "dropout": 0, "weight_decay": 0, "edge_weights": True, "device": "cpu", "devices": 2, "optimizer": "sgd"}
    begin = warren.train(data, "gcn", lr=0.0, epochs=1, **options).model
    targets, sources = np.nonzero(A)
    edge_index, weight = torch.tensor(np.stack([sources, targets])), torch.tensor(A[targets, sources], dtype=torch.float32)
    layers = [nn.GCNConv(8, 16), nn.GCNConv(16, 3)]
    for conv, state in zip(layers, begin.to_pyg()):
        conv.load_state_dict({name: torch.tensor(array) for name, array in state.items()})
    _, _, labels, masks = arrays(7)
    h = torch.relu(layers[0](torch.tensor(x, dtype=torch.float32), edge_index, weight))
    loss = torch.nn.functional.cross_entropy(layers[1](h, edge_index, weight)[masks["train"]], torch.tensor(labels[masks["train"]]))
    loss.backward()
    stepped = warren.train(data, "gcn", lr=0.5, epochs=1, **options)
    assert stepped.history[0]["loss"] == pytest.approx(loss.item(), rel=1e-5)
    for conv, before, after in zip(layers, begin.to_pyg(), stepped.model.to_pyg()):
        for name, parameter in conv.named_parameters():
            assert np.allclose((before[name] - after[name]) / 0.5, parameter.grad.numpy(), atol=1e-5), name


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("model, aggregate", [("gcn", "mean"), ("sage", "mean"), ("sage", "sum"), ("gat", "mean"), ("gatv2", "mean")])
def test_edge_weights_of_drawn_edges(model, aggregate, devices):
    """One batch of all vertices with all neighbours is an epoch of the whole graph; few neighbours, placements and weights of one."""
    data = weighted()[0]
    options = {**FEW, "aggregate": aggregate, "normalize": "none", "dropout": 0.0, "optimizer": "sgd", "lr": 0.01, "devices": devices}
    whole = warren.train(data, model, edge_weights=True, **options)
    sampled = {**options, "mode": "sampled", "fanout": [-1, -1]}
    for more in ({}, {"evaluation": "sampled"}, {"edges": "host"}, {"edges": "replicated"}, {"capture_batches": True}):
        found = warren.train(data, model, edge_weights=True, batch=60 // devices, **sampled, **more)
        assert found.info["edge_weights"] and np.allclose([[e["loss"], e["validation_loss"]] for e in found.history], [[e["loss"], e["validation_loss"]] for e in whole.history], rtol=1e-5), more
        assert "evaluation" in more or np.allclose(found.scores, whole.scores, atol=1e-5), more
    few = {**sampled, "fanout": [2, 2], "batch": 4}
    if model.startswith("gat"):  # What attention makes of ones is learnt.
        return
    plain, drawn = warren.train(data, model, **few), warren.train(data, model, edge_weights=True, **few)
    assert not np.allclose(plain.scores, drawn.scores, atol=1e-4)
    assert np.array_equal(warren.predict(data, drawn.model, device="cpu", devices=devices).scores, drawn.scores)
    ones = weighted(weights=np.ones(data.graph.num_edges))[0]
    assert np.array_equal(warren.train(ones, model, edge_weights=True, **few).scores, plain.scores)


def test_edge_weights_of_one_and_those_that_are_none(tmp_path):
    data, _, _, edges = weighted()
    count = int(edges.sum())
    ones = weighted(weights=np.ones(count))[0]
    for model in ("gcn", "sage"):
        plain = warren.train(ones, model, **FEW)
        assert np.array_equal(warren.train(ones, model, edge_weights=True, **FEW).scores, plain.scores)
    for wrong in (np.inf, -np.inf):  # NaN is refused where the graph is made.
        weights = np.ones(count)
        weights[5] = wrong
        with pytest.raises(ValueError, match="edge_weights: the edge from [0-9]+ to [0-9]+ has the weight -?inf; weights should be finite"):
            warren.train(weighted(weights=weights)[0], edge_weights=True, **FEW)
    folder = str(tmp_path / "kept")
    whole = warren.train(data, edge_weights=True, **FEW)
    warren.train(data, edge_weights=True, checkpoint=folder, **{**FEW, "epochs": 2})
    with pytest.raises(ValueError, match="edge_weights"):
        warren.train(data, checkpoint=folder, resume=True, **FEW)
    rest = warren.train(data, edge_weights=True, checkpoint=folder, resume=True, **FEW)
    assert np.array_equal(rest.scores, whole.scores)
    assert np.array_equal(warren.predict(data, folder, device="cpu").scores, whole.scores)


def test_edge_weights_of_negative_degrees():
    data, _, A, edges = weighted()
    src, dst = np.nonzero(A)
    weights = np.where(src == src[0], -5.0, 1.0)
    bad = weighted(weights=weights)[0]
    with pytest.warns(UserWarning, match="edge_weights: of 1 of 120 vertices"):
        result = warren.train(bad, "gcn", edge_weights=True, **{**FEW, "layers": 1})
    # It gathers nothing, itself included: the bias is left.
    bias = result.model.weights["layers.0.bias"][0]
    assert np.array_equal(result.scores[src[0]], bias)


def test_edge_weights_by_name():
    result = warren.train(NAME, weights="uniform:1:9", edge_weights=True, seed=3, **SIZES, **FEW)
    found = warren.predict(NAME, result.model, device="cpu")
    assert found.trained_on and np.array_equal(found.scores, result.scores)


def test_options_of_other_models_are_told(dataset):
    with pytest.warns(UserWarning, match="heads: got 3 without effect"):
        warren.train(dataset, "gcn", heads=3, hidden=6, epochs=1)
    with pytest.warns(UserWarning, match="aggregate: got 'sum' without effect"):
        warren.train(dataset, "gat", aggregate="sum", heads=2, hidden=4, epochs=1)
