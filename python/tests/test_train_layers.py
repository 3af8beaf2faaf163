# SPDX-License-Identifier: Apache-2.0
"""What layers compute, against their equations, PyTorch Geometric's layers with the same parameters, and PyTorch; weights of edges."""
import numpy as np
import pytest
from train_data import FEW, MODELS, NAME, SIZES, arrays, dataset  # noqa: F401

import warren


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
