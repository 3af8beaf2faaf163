# SPDX-License-Identifier: Apache-2.0
"""train and predict, against NumPy: the first epoch's loss and gradient by the models' equations, classes from the parameters that
were kept, accuracies from the classes that were written; runs repeat, and teams agree."""

import dataclasses
import json
import math
import shlex
import struct

import numpy
import scipy.sparse

import drawing as draw
import writing
from case import TEAMS, flat, guarded
from checks_graph import METHODS
from model import meaning

MODELS = ("gcn", "sage", "gat", "gatv2", "gin")
SPLITS = ("train", "validation", "test")
# What makes a model and its inputs; the rest is how it is trained.
OF_MODEL = ("--model", "--layers", "--hidden", "--heads", "--aggregate", "--residual", "--norm", "--seed", "--normalize", "--method", "--reorder",
            "--devices", "--threads")


def draw_train(random):
    drawing = draw.draw_graph(random)
    while drawing.vertices < 5 or drawing.format in draw.EDGE_LISTS and drawing.ids:
        drawing = draw.draw_graph(random)
    # Labels and features are of all vertices, by their place.
    drawing.options.pop("--one-based", None)
    drawing.announces = True
    model = random.choice(MODELS)
    options = {"--model": model, "--devices": random.choice(TEAMS), "--epochs": random.randint(1, 4),
               "--seed": random.choice((1, 2)), "--layers": random.choice((1, 2, 2, 3)),
               "--hidden": random.choice((4, 8, 24)), "--normalize": "none", "--threads": random.choice((1, 2, 3))}
    if options["--layers"] == 1:
        del options["--hidden"]
    elif model in ("gat", "gatv2"):
        options["--heads"] = random.choice((1, 2, 4))
    if model == "sage" and random.random() < 0.5:
        options["--aggregate"] = random.choice(("mean", "sum", "max"))
    if options["--layers"] > 1:
        options["--norm"] = random.choice(("none", "none", "batch", "layer"))
    for option, values in (("--dropout", (0, 0.5)), ("--optimizer", ("adam", "adamw", "sgd")), ("--method", METHODS),
                           ("--reorder", ("none", "rabbit", "degree", "random")), ("--type", ("float32", "float16", "bfloat16")),
                           ("--schedule", ("constant", "cosine", "step")), ("--weight-decay", (0, 0.01)), ("--lr", (0.001, 0.05))):
        if random.random() < 0.3:
            options[option] = random.choice(values)
    for option, chance in (("--recompute", 0.2), ("--residual", 0.15 if options["--layers"] > 2 else 0), ("--deterministic", 0.2)):
        if random.random() < chance:
            options[option] = None
    if random.random() < 0.35:
        options["--mode"] = "sampled"
        options.pop("--recompute", None)
        fanout = ",".join(str(random.choice((-1, 1, 3, 10))) for _ in range(options.pop("--layers")))
        options[f"--fanout={fanout}"] = None
        options["--batch"] = random.choice((1, 2))
    extra = {"seed": random.randrange(2**30), "features": random.choice((1, 3, 8, 20)), "classes": random.randint(2, 5),
             "several": random.random() < 0.2, "other": random.choice(TEAMS), "sparse": random.random() < 0.2}
    return drawing, options, extra


@dataclasses.dataclass
class Data:
    features: numpy.ndarray
    labels: numpy.ndarray
    splits: dict


def write_dataset(context):
    """A folder with the drawing's graph; what it holds."""
    case, extra = context.case, context.case.extra
    folder = context.folder / "set"
    folder.mkdir(exist_ok=True)
    writing.write(case.drawing, folder, context.program)
    (folder / "source.txt").unlink(missing_ok=True)
    random = numpy.random.default_rng(extra["seed"])
    n = case.drawing.vertices
    features = random.normal(size=(n, extra["features"])).astype(numpy.float32)
    if extra["sparse"]:
        features *= random.random(features.shape) < 0.1
        scipy.sparse.save_npz(folder / "features.npz", scipy.sparse.csr_matrix(features))
    else:
        numpy.save(folder / "features.npy", features)
    if extra["several"]:
        labels = random.integers(0, 2, (n, extra["classes"]))
        # Rows of one label each would be classes written out.
        labels[:2] = numpy.array([[0] * extra["classes"], [1] * extra["classes"]])
    else:
        labels = random.integers(0, extra["classes"], n)
        labels[random.integers(0, n)] = extra["classes"] - 1
    numpy.save(folder / "labels.npy", labels)
    order = random.permutation(n)
    cuts = numpy.split(order, [max(1, n // 2), max(2, 3 * n // 4)])
    splits = {name: part for name, part in zip(SPLITS, cuts) if part.size}
    for name, part in splits.items():
        (folder / f"{name}.txt").write_text("".join(f"{v}\n" for v in sorted(part)))
    return Data(features, labels, splits)


def run_train(context, options, *more):
    return run_on_set(context, "train", *flat(options), *more)


def run_on_set(context, command, *arguments):
    arguments = [command, "set", *flat(context.case.drawing.options), *arguments, "--json", "-"]
    context.last = shlex.join(context.program.command(*arguments))
    process = context.program.run(*arguments, folder=context.folder)
    if process.returncode != 0:
        context.fail(f"ended with {process.returncode}: {process.stderr.strip()[-2000:]}")
    return json.loads(process.stdout)


@guarded
def check_train(context):
    case = context.case
    data = write_dataset(context)
    model = meaning(case.drawing, False)
    found = run_train(context, case.options, "--checkpoint", "kept")
    epochs = found["epochs"]
    context.expect("epochs", len(epochs), int(case.options.get("--epochs", 200)))
    context.expect("vertices", found["vertices"], model.vertices)
    context.expect("edges", found["edges"], len(model.edges))
    for epoch in epochs:
        context.require(math.isfinite(epoch["loss"]), f"the loss is {epoch['loss']}")
        for name in ("train_accuracy", "validation_accuracy"):
            context.require(epoch[name] is None or 0 <= epoch[name] <= 1, f"{name} is {epoch[name]}")
    again = run_train(context, case.options)
    context.expect("losses of the same run again", losses(again), losses(found))
    if case.options.get("--mode", "full") == "full":
        other = run_train(context, {**case.options, "--devices": case.extra["other"]})
        compare_teams(context, losses(found), losses(other))
    check_predictions(context, data, model, found)
    check_first_step(context, data, model)


def losses(result):
    return [epoch["loss"] for epoch in result["epochs"]]


def compare_teams(context, ours, theirs):
    """Rounding differs, and steps that follow make more of it."""
    unit = 2e-3 if context.options.get("--type", "float32") == "float32" else 0.1
    for epoch, (a, b) in enumerate(zip(ours, theirs)):
        context.require(abs(a - b) <= unit * (1 + abs(a)) * (1 + epoch), f"losses {ours}, of {context.case.extra['other']} ranks {theirs}")


def check_predictions(context, data, model, found):
    options = context.options
    extra = ["--devices", context.case.extra["other"], "--output", "out.txt", "--normalize", "none", "--checkpoint", "kept"]
    said = run_on_set(context, "predict", *extra)
    lines = context.lines("out.txt")
    context.expect("vertices of the output", [int(line[0]) for line in lines], list(range(model.vertices)))
    classes = [list(map(int, line[1:])) for line in lines]
    for split, part in data.splits.items():
        context.expect(f"{split}_accuracy", said[f"{split}_accuracy"], accuracy(classes, data.labels, part), 1e-6)
    scores = computed(context, model, data.features, tensors(context.folder / "kept" / "model.safetensors"))
    if scores is None:
        return
    compare_classes(context, classes, scores, data.labels.ndim == 2)
    if options.get("--mode", "full") == "full" and options.get("--type", "float32") == "float32":
        context.require(abs(said["test_accuracy"] - found["test_accuracy"]) < 1e-6 or near_tie(scores),
                        f"train says {found['test_accuracy']} of the test, predict {said['test_accuracy']}")


def check_first_step(context, data, model):
    """Without dropout the first loss is that of the first parameters, and a step of gradient descent is its gradient."""
    options = {name: value for name, value in context.options.items() if name in OF_MODEL}
    options.update({"--epochs": 1, "--dropout": 0, "--optimizer": "sgd", "--weight-decay": 0})
    sampled = next((option for option in context.options if option.startswith("--fanout=")), None)
    if sampled:
        # All neighbours: a batch's loss is a part of the whole graph's.
        layers = len(sampled.split(","))
        options.update({"--mode": "sampled", "--fanout=" + ",".join(["-1"] * layers): None, "--batch": context.options.get("--batch", 1)})
    start = run_train(context, {**options, "--lr": 0}, "--checkpoint", "start")
    before = tensors(context.folder / "start" / "model.safetensors")
    loss = lambda parameters: loss_of(data, computed(context, model, data.features, parameters))  # noqa: E731
    if computed(context, model, data.features, before) is None:
        return
    wanted = loss(before)
    context.expect("the first loss", losses(start)[0], float(wanted), 1e-4 * (1 + abs(wanted)))
    if sampled:
        return
    step = run_train(context, {**options, "--lr": 1}, "--checkpoint", "step")
    context.expect("the first loss", losses(step)[0], losses(start)[0])
    after = tensors(context.folder / "step" / "model.safetensors")
    check_gradient(context, loss, before, {name: before[name] - after[name] for name in before})


def check_gradient(context, loss, parameters, gradient):
    """Along some directions, by differences of the loss."""
    random = numpy.random.default_rng(context.case.extra["seed"])
    here = loss(parameters)
    for name in (*parameters, None):  # Each parameter by itself, and all of them.
        along = {key: random.normal(size=value.shape) * (name in (key, None)) for key, value in parameters.items()}
        size = math.sqrt(sum(float((d**2).sum()) for d in along.values()))
        slopes, bends = [], []
        for h in (1e-6 / size, 1e-7 / size):
            ahead, behind = (loss({key: value + sign * h * along[key] for key, value in parameters.items()}) for sign in (1, -1))
            slopes.append(float(ahead - behind) / (2 * h))
            bends.append(abs(float(ahead - 2 * here + behind)) / h)
        got = sum(float((gradient[key] * along[key]).sum()) for key in parameters)
        scale = math.sqrt(sum(float((gradient[key] ** 2).sum()) for key in parameters)) * size
        slack = 2e-4 * (abs(slopes[0]) + scale) + 1e-5 * size
        if abs(slopes[0] - slopes[1]) > 1e-3 * (1 + abs(slopes[0])) or min(bends) > slack / 2:
            continue  # Near a kink of ReLU, or at one, as where features are 0: both sides have slopes of their own.
        if abs(got - slopes[0]) > slack:
            slack += spread_of_slopes(loss, parameters, along, 1e-7 / size, random)
        context.expect(f"the gradient of {name or 'all parameters'}", got, slopes[0], slack)


def spread_of_slopes(loss, parameters, along, h, random):
    """By how much the slope changes where parameters do within the rounding of float32: not at all, unless a unit is so near its kink that
    float32 may see it on the other side."""
    slopes = []
    for _ in range(64):
        near = {key: value * (1 + random.uniform(-1, 1, size=value.shape) * 2.0**-21) + random.uniform(-1, 1, size=value.shape) * 2.0**-22 for key, value in parameters.items()}
        ahead, behind = (loss({key: value + sign * h * along[key] for key, value in near.items()}) for sign in (1, -1))
        slopes.append(float(ahead - behind) / (2 * h))
    return max(slopes) - min(slopes)


def loss_of(data, scores):
    """Mean cross entropy of the training vertices; of several labels their sum."""
    part = data.splits["train"]
    x = scores[part]
    if data.labels.ndim == 1:
        most = x.max(1, keepdims=True)
        return float((numpy.log(numpy.exp(x - most).sum(1)) + most[:, 0] - x[numpy.arange(len(part)), data.labels[part]]).mean())
    return float((numpy.logaddexp(0, x) - data.labels[part] * x).sum(1).mean())


def accuracy(classes, labels, part):
    """Of several labels the micro-averaged F1."""
    if labels.ndim == 1:
        return float(numpy.mean([classes[v] == [labels[v]] for v in part]))
    predicted = numpy.array([[c in classes[v] for c in range(labels.shape[1])] for v in part])
    true = labels[part] > 0
    both = (predicted & true).sum()
    total = predicted.sum() + true.sum()
    return float(2 * both / total) if total else 0.0


def near_tie(scores):
    if scores.shape[1] == 1:
        return True
    ordered = numpy.sort(scores, axis=1)
    return bool((ordered[:, -1] - ordered[:, -2]).min() < 1e-3 * (1 + numpy.abs(scores).max()))


def compare_classes(context, classes, scores, several):
    kind = context.options.get("--type", "float32")
    slack = (1e-3 if kind == "float32" else 0.05) * (1 + numpy.abs(scores).max())
    for v, row in enumerate(scores):
        if several:
            wrong = [c for c, x in enumerate(row) if abs(x) > slack and (x > 0) != (c in classes[v])]
            context.require(not wrong, f"vertex {v} has labels {classes[v]}, scores are {row}")
        else:
            context.require(row[classes[v][0]] >= row.max() - slack, f"vertex {v} is of class {classes[v]}, scores are {row}")


def tensors(path):
    data = path.read_bytes()
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = numpy.frombuffer(data[8 + length + begin:8 + length + end], "<f4")
            found[name] = values.reshape(entry["shape"]).astype(float)
    return found


def computed(context, model, features, parameters):
    """Scores by the equations; nothing of models whose equations are longer (norms, residuals)."""
    options = context.options
    if options.get("--norm", "batch" if options["--model"] == "gin" else "none") != "none" or "--residual" in options:
        return None
    layer = {"gcn": gcn, "sage": sage, "gin": gin, "gat": gat, "gatv2": gatv2}[options["--model"]]
    matrix = model.matrix(False)
    x = features.astype(float)
    layers = 1 + max(int(name.split(".")[1]) for name in parameters)
    for i in range(layers):
        own = {name.split(".", 2)[2]: value for name, value in parameters.items() if name.startswith(f"layers.{i}.")}
        x = layer(matrix, x, own, options) + own["bias"]
        if i + 1 < layers:
            attends = options["--model"] in ("gat", "gatv2")
            x = numpy.where(x > 0, x, numpy.expm1(numpy.minimum(x, 0))) if attends else numpy.maximum(x, 0)
    return x


def gcn(matrix, x, own, _):
    matrix = matrix + scipy.sparse.identity(matrix.shape[0])
    scale = numpy.asarray(matrix.sum(1)) ** -0.5
    return scale * (matrix @ (scale * x)) @ own["weight"]


def sage(matrix, x, own, options):
    how = options.get("--aggregate", "mean")
    if how == "max":
        sums = numpy.array([x[matrix[v].indices].max(0) if matrix[v].nnz else numpy.zeros(x.shape[1]) for v in range(len(x))])
    else:
        sums = matrix @ x
    if how == "mean":
        sums = sums / numpy.maximum(numpy.asarray(matrix.sum(1)), 1)
    return x @ own["self.weight"] + sums @ own["neighbours.weight"]


def gin(matrix, x, own, _):
    sums = (1 + own["epsilon"].item()) * x + matrix @ x
    return numpy.maximum(sums @ own["first.weight"] + own["first.bias"], 0) @ own["second.weight"]


def attended(matrix, z, logits):
    """Sums of z (vertices x heads x width) by softmax of logits(head), over neighbours and, once, the vertex itself; parallel edges
    each have a share of the attention."""
    copies = matrix.toarray()
    numpy.fill_diagonal(copies, 1)
    result = numpy.zeros_like(z)
    for h in range(z.shape[1]):
        of_head = numpy.where(copies > 0, logits(h), -numpy.inf)
        weights = copies * numpy.exp(of_head - of_head.max(1, keepdims=True))
        result[:, h] = weights / weights.sum(1, keepdims=True) @ z[:, h]
    return result.reshape(len(z), -1)


def leaky(x):
    return numpy.where(x > 0, x, 0.2 * x)


def gat(matrix, x, own, _):
    z = (x @ own["weight"]).reshape(len(x), own["left"].shape[0], -1)
    left, right = (z * own["left"]).sum(2), (z * own["right"]).sum(2)
    return attended(matrix, z, lambda h: leaky(left[:, h][:, None] + right[:, h][None, :]))


def gatv2(matrix, x, own, _):
    heads = own["attention"].shape[0]
    z = (x @ own["source.weight"]).reshape(len(x), heads, -1)
    q = (x @ own["target.weight"]).reshape(len(x), heads, -1)
    return attended(matrix, z, lambda h: (leaky(q[:, None, h] + z[None, :, h]) * own["attention"][h]).sum(2))
