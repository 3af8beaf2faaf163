# SPDX-License-Identifier: Apache-2.0
"""Training graph neural networks, and asking them. Both check their arguments before they work, release the interpreter's lock, and end at Ctrl-C."""
from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import as_numpy, bounded_number, flag, is_utf8, path_text, real_number, seed_number, type_name, whole_number
from ._build import _place
from ._dataset import Dataset, of_core, read_dataset
from ._fixed import Fixed
from ._pickling import NotPickled
from ._progress import AskedProgress, Progress, Telling, check_progress, new_bar
from ._pyg_layers import from_pyg, to_pyg
from ._results import Result
from ._session import Session, choice, run_of

if TYPE_CHECKING:
    import pandas

MODEL_FILE = "model.safetensors"
MODELS = {"gcn": 0, "sage": 1, "gat": 2, "gatv2": 3, "gin": 4}
NAMES: dict[str, dict[Any, int]] = {
    "model": MODELS, "mode": {"full": 0, "sampled": 1}, "task": {"node": 0, "link": 1}, "aggregate": {"mean": 0, "sum": 1, "max": 2},
    "norm": {None: 0, "none": 1, "batch": 2, "layer": 3}, "type": {"float32": 0, "float16": 1, "bfloat16": 2, "fp16": 3, "bf16": 4},
    "optimizer": {"adam": 0, "adamw": 1, "sgd": 2}, "schedule": {"constant": 0, "cosine": 1, "step": 2}, "normalize": {"auto": 0, "rows": 1, "none": 2},
    "method": {"ranges": 0, "random": 1, "degree": 2, "rabbit": 3, "metis": 4}, "reorder": {"none": 0, "rabbit": 1, "degree": 2, "random": 3},
    "evaluation": {None: 0, "exact": 1, "sampled": 2}, "placement": {None: 0, "auto": 1, "device": 2, "replicated": 3, "host": 4, "cached": 5, "exchanged": 6},
    "cache_by": {None: 0, "degree": 1, "presampling": 2}, "edges": {None: 0, "auto": 1, "device": 2, "replicated": 3, "host": 4}}
# Least and largest; None may be given where the default is None.
RANGES = _core.train_ranges()
NUMBERS = {name: bounds for name, bounds in RANGES.items() if isinstance(bounds[0], int)} | {"workgroup": (0, 32)}  # 0: by the links.
REALS = {name: bounds[1] for name, bounds in RANGES.items() if isinstance(bounds[0], float)}


class Model(Fixed):
    """A trained model: its parameters, and what it was trained on and by. Immutable.

    weights: {name: float32 array of two dimensions}, as model.safetensors has them; a vector has one row. facts: {name: text}: sizes, the kind of the
    model ("model"), its options ("option.lr", ...). Made by warren.train and warren.load_model.
    """

    def __init__(self, core: _core.Model):
        if not isinstance(core, _core.Model):
            raise TypeError("warren.Model: models are made by warren.train and warren.load_model")
        self._core = core

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Views that must not be written."""
        return {name: values.reshape(rows, columns) for name, rows, columns, values in self._core.weights()}

    @property
    def facts(self) -> dict[str, str]:
        return self._core.facts()

    def with_weights(self, weights: Mapping[str, Any]) -> Model:
        """The same model with other numbers: an array for each name of `weights`, of its shape. Names that are left out keep theirs.

        Raises ValueError for a name that the model does not have, another shape, and what are no real numbers.
        """
        own = self.weights
        if not isinstance(weights, Mapping):
            raise ValueError(f"weights: got {type_name(weights)}, expected a dict of arrays by their names: {', '.join(own)}")
        for name, values in weights.items():
            if name not in own:
                raise ValueError(f"weights: got {name!r}, expected names of this model: {', '.join(own)}")
            array = as_numpy(f"weights[{name!r}]", values)
            if array.dtype.kind not in "biuf" or array.shape != own[name].shape:
                raise ValueError(f"weights[{name!r}]: got {array.dtype} of shape {array.shape}, expected real numbers of shape {own[name].shape}")
            own[name] = array.astype(np.float32)
        return Model(self._core.with_values(np.concatenate([array.reshape(-1) for array in own.values()])))

    def to_pyg(self) -> list[dict[str, np.ndarray]]:
        """The state dicts of PyTorch Geometric's layers that compute the same, a layer each, as float32 NumPy arrays.

        They are GCNConv, SAGEConv (aggr as `aggregate`), GATConv, GATv2Conv (heads joined, the last layer with one head; of models trained with edge_weights
        with edge_dim=1), and GINConv(train_eps=True) of Sequential(Linear, ReLU, Linear), with ReLU (of gat and gatv2 ELU) between them. A vertex of warren's gathers from what its edges lead to: edge_index
        is [targets, sources]. Raises ValueError for a model with norms or with `skip`.
        """
        return to_pyg(self.facts["model"], int(self.facts["layers"]), self.weights)

    def with_pyg(self, states: Sequence[Mapping[str, Any]]) -> Model:
        """The same model with the parameters of PyTorch Geometric's layers: a state dict a layer, as to_pyg() gives them, of arrays or tensors.

        Raises ValueError, naming layer and parameter, for other names and shapes, and biases of GATv2's products that are not 0; as to_pyg().
        """
        return self.with_weights(from_pyg(self.facts["model"], int(self.facts["layers"]), self.weights, states))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes model.safetensors into the folder, which is made where there is none: whole, or not at all. Raises ValueError where it cannot be written."""
        self._core.save(path_text("folder", folder, "the path of a folder"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the file that save() writes."""
        with tempfile.TemporaryDirectory() as folder:
            self.save(folder)
            return _restored_model, (Path(folder, MODEL_FILE).read_bytes(),)

    def __repr__(self) -> str:
        facts = self.facts
        return f"<warren.Model {facts['model']}, {facts['layers']} layers, {facts['features']} features, {facts['classes']} classes>"


class _ForkedModel(Model):
    """As _graph._ForkedGraph: a Pool's workers must not fail while they unpickle."""

    def __init__(self, content: bytes):
        self._content = content

    @property
    def _core(self) -> _core.Model:  # type: ignore[override]
        _core.check_not_forked()
        raise AssertionError("not forked")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_model, (self._content,)

    def __repr__(self) -> str:
        return "<warren.Model in a process that was forked>"


def _restored_model(content: bytes) -> Model:
    """A model that was pickled."""
    if _core.is_forked():
        return _ForkedModel(content)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, MODEL_FILE).write_bytes(content)
        return load_model(folder)


def load_model(folder: str | os.PathLike[str]) -> Model:
    """The model that warren.train, Model.save or the command line has written into the folder. Raises FileNotFoundError; ValueError for a damaged file."""
    text = path_text("folder", folder, "the path of a folder")
    if not os.path.isfile(os.path.join(text, MODEL_FILE)):
        raise FileNotFoundError(f"folder: got {text!r}, expected a folder with model.safetensors, which train has written")
    return Model(_core.load_model(text))


class TrainResult(Fixed, NotPickled):
    """What a training has found.

    history: a dict an epoch, with epoch, loss, train_accuracy, validation_accuracy, validation_loss, test_accuracy and seconds, those before a resume included.
    best_epoch, best_validation, test_accuracy (of the best epoch), chance (what one answer for all vertices reaches on validation), stopped_early.
    model: the warren.Model of the best epoch. scores: float32 of shape (n, classes), what the model says of every vertex before softmax or sigmoid; of
    task "link" the embeddings, (n, hidden), by the edges that were not held out. None where evaluation is "sampled".
    normalize: what was done to the features, "rows" or "none". strategy, strategy_reason: of mode "full", how rows of other devices entered the sums ("local" on
    one), and why so. seconds: of all epochs of this run.
    """

    _kept_by = "pickle its model, history and scores, and to_json(), or save() the model"

    def __init__(self, dataset: Dataset, options: dict[str, Any], found: tuple[Any, ...]):
        history, self.epochs, self.best_epoch, self.best_validation, self.test_accuracy, _, self.chance, self.stopped_early, model, scores = found[:10]
        self.normalize, _, self.peak_memory, _, self._ran, self.strategy, self.strategy_reason = found[10:17]
        self._json: str = found[17]
        self._text: str = found[18]
        self.history: list[dict[str, Any]] = history
        self.dataset = dataset
        self.model = Model(model)
        self.scores: np.ndarray | None = scores.reshape(-1, model.classes) if scores.size > 0 else None
        self._options = options

    @property
    def seconds(self) -> float:
        return float(self._ran[8])

    @property
    def info(self) -> dict[str, Any]:
        """A new dict at each call, whose fields are those of the command line."""
        info: dict[str, Any] = json.loads(self._json)
        return info

    def to_json(self) -> str:
        """The JSON object that the command line writes, as text, but for the dataset's name and how it was ordered and cut."""
        return self._json

    def __str__(self) -> str:
        return self._text

    def predict(self, dataset: Dataset | str | os.PathLike[str] | None = None, **options: Any) -> PredictResult:
        """As warren.predict(dataset, self.model, ...); None: the dataset that it was trained on."""
        return predict(self.dataset if dataset is None else dataset, self.model, **options)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """As self.model.save(folder)."""
        self.model.save(folder)

    def to_frame(self) -> pandas.DataFrame:
        """The history as a pandas DataFrame, a row an epoch. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.history)

    def __repr__(self) -> str:
        what = "AUC" if self._options["task"] == "link" else "accuracy"
        return f"<TrainResult {self._options['model']}, {self.epochs} epochs, test {what} {self.test_accuracy:.4f} of epoch {self.best_epoch}, {self.seconds:.3g} s>"


class PredictResult(Result):
    """label, n elements (int32): the class of the largest score; where a vertex has any number of labels shape (n, classes) (bool): those with a score
    above 0; of models of links None. scores, float32 of shape (n, classes), before softmax or sigmoid; of models of links the embeddings: the logit of
    an edge (u, v) is the inner product of rows u and v. embeddings, float32 of shape (n, hidden), what the last layer reads, or None.
    train_accuracy, validation_accuracy, test_accuracy: None where the dataset has no labels. trained_on: whether the model was trained on this graph
    and these features; None where it does not say it."""

    _columns = ("label",)

    def __init__(self, dataset: Dataset, model: Model, found: tuple[Any, ...]):
        scores, columns, labels, embeddings, accuracy, self.trained_on, _, ran, *texts = found
        super().__init__(dataset.graph, None, ran)
        self._texts = (texts[0], texts[1])
        self.scores: np.ndarray = scores.reshape(-1, columns)
        self.label: np.ndarray | None = None if model._core.is_of_links else self.scores > 0 if model._core.has_several_labels else labels
        self.embeddings: np.ndarray | None = embeddings.reshape(len(self.scores), -1) if embeddings.size > 0 else None
        self.train_accuracy: float | None
        self.validation_accuracy: float | None
        self.test_accuracy: float | None
        self.train_accuracy, self.validation_accuracy, self.test_accuracy = accuracy or (None, None, None)
        if self.label is None:
            self._columns = ("scores",)

    def to_dict(self) -> dict[Hashable, Any]:
        """{vertex: its label}, or a list of its row, by the vertices' names where the graph has some."""
        return dict(zip(self._graph.labels(None), getattr(self, self._columns[0]).tolist()))

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row a vertex: `vertex`, and `label`, or a column for each label or number. Needs pandas."""
        import pandas

        values = getattr(self, self._columns[0])
        columns: dict[Any, Any] = {"label": values} if values.ndim == 1 else dict(enumerate(values.T))
        return pandas.DataFrame({"vertex": self._graph.labels(None), **columns})

    def _summary(self) -> str:
        return f"of {len(self.scores)} vertices" + ("" if self.test_accuracy is None else f", test accuracy {self.test_accuracy:.4f}")


def train(dataset: Dataset | str | os.PathLike[str], model: str = "gcn", mode: str = "full", task: str = "node", *, layers: int | None = None,
          hidden: int | None = None, heads: int = 8, aggregate: str = "mean", norm: str | None = None, residual: bool = False, skip: bool = False,
          edge_weights: bool = False, dropout: float | None = None, type: str = "float32", lr: float = 0.01, weight_decay: float | None = None, optimizer: str = "adam",
          schedule: str = "constant", warmup: int = 0, clip: float = 0.0, epochs: int = 200, patience: int = 0,
          class_weights: str | Sequence[float] | None = None, fanout: Sequence[int] | int | None = None,
          batch: int | None = None, negatives: int | None = None, replace: bool = False, weighted: bool = False, evaluation: str | None = None,
          placement: str | None = None, cached: float | None = None, cache_by: str | None = None, edges: str | None = None, strategy: str | None = None,
          workgroup: int = 0, deterministic: bool = False, recompute: bool = False, capture: bool = True, capture_batches: bool = False, tensor_sums: bool | None = None, allow_tf32: bool = True, normalize: str = "auto",
          method: str = "ranges", reorder: str = "none", seed: int = 1, checkpoint: str | os.PathLike[str] | None = None,
          checkpoint_every: int = 20, checkpoint_batches: int = 0, resume: bool = False, overwrite: bool = False, allow_changes: bool = False,
          features: int | None = None, classes: int | None = None, labels: str = "auto", symmetrize: bool = False, drop_self_loops: bool = False,
          weights: str | None = None, progress: AskedProgress = None, device: str = "auto", devices: int | str = "auto",
          session: Session | None = None) -> TrainResult:
    """Trains a graph neural network on the dataset's training vertices, with softmax cross-entropy, or sigmoid cross-entropy where a vertex has any number
    of labels. The best epoch is that of the highest validation accuracy, of the lowest validation loss among equals.

    dataset: a warren.Dataset; or what warren.read_dataset takes, with features, classes, labels, symmetrize, drop_self_loops, weights and seed as there.
    model: "gcn", "sage", "gat", "gatv2" or "gin". mode: "full", exact passes over the whole graph, or "sampled", batches of sampled neighbourhoods.
    task: "node", classes of vertices, or "link", which vertices are linked (mode "sampled").
    layers (2; sampled: as many as fanouts), hidden (64; all heads together), heads (of gat and gatv2), aggregate (of sage: "mean", "sum", "max"), norm ("none",
    "batch", "layer"; None: "layer" of gin), residual, skip, edge_weights (below), dropout (0.5; of gat and gatv2 0.6), type ("float16", "bfloat16": of features and activations).
    edge_weights: of task "node", all models but "gin" and "sage" with "max": edges count the dataset's weights w, finite numbers. In sums over neighbours, with
    edges (i, j) of vertex i: "gcn" sums w_ij x_j / sqrt(d_i d_j) and x_i / d_i with d_i = 1 + sum of w_ij (0 where d is not above 0), as PyTorch Geometric's
    GCNConv of a graph without loops; "sage" takes the sum of w_ij x_j, of "mean" divided by the number of i's edges, as the Deep Graph Library's SAGEConv.
    Of mode "sampled" sums are over drawn edges, times the number of i's edges over that of those drawn (of "mean" they are divided by the latter); d_i is of all.
    "gat" and "gatv2" have w_ij as the one feature of edges, as PyTorch Geometric's GATConv and GATv2Conv with edge_dim=1: of each head "gat" takes the softmax of
    leaky(l_i + r_j + w_ij <att_edge, lin_edge>), "gatv2" that of <att, leaky(q_i + z_j + w_ij lin_edge)>, with lin_edge and att_edge learnt. A vertex' own edge,
    which replaces loops of the dataset, has the mean of the weights of its other edges, 0 where there are none; of mode "sampled" of those drawn.
    lr, weight_decay (0.0005; of links 0), optimizer ("adam", "adamw", "sgd"), schedule ("constant", "cosine", "step"), warmup (epochs), clip (largest length of the
    gradient; 0: any), epochs, patience (epochs without a better validation after which it ends; 0: never).
    class_weights: what each class counts in the loss of training vertices: "balanced" (one over its training vertices), or a number a class, 0 or more. An epoch's loss is the sum of w[y] l over the
    sum of w[y], as of torch.nn.functional.cross_entropy(weight=w); of a batch the gradient is an unbiased estimate of that. Validation and test are not weighted.
    fanout: neighbours of each vertex, hop by hop ([15, 10]; -1: all). batch: vertices (links: edges) of a batch, a rank. evaluation: "exact" or "sampled".
    strategy: of mode "full" on several devices, models that sum over neighbours: how rows of other devices enter the sums, as of warren.spmm with parameters
    ("pull:ps=16"); "auto" or "NAME:auto": the first epochs try ways, and the fastest is kept. None: "staged". workgroup: of "fused" and "auto" (0: by the links).
    deterministic: losses repeat bit for bit by strategies "once" and "auto", too.
    negatives, replace, weighted, placement, cached, cache_by, edges, recompute, capture, capture_batches, tensor_sums, method, reorder: as the command line's options
    of these names. allow_tf32: of dense products on GPUs.
    normalize: of features: "rows" (each row by the sum of its sizes), "none", "auto": rows where none is negative, but never of a generator.
    checkpoint: a folder for model.safetensors and state.safetensors. resume: goes on from its state, where there is one, with the options of before;
    allow_changes lets them differ. overwrite: replaces the folder's model.
    progress: called after each epoch with its dict of `history`; what it raises ends the training. It must not make calls of the same session. True: a bar
    by tqdm, where that is installed.
    Parameters are float32. Repeats bit for bit on one device with the same numbers of ranks and threads. Ctrl-C ends it within a second.
    Raises ValueError (argument: got, expected) for options that are none or do not go together, a dataset without labels, a training that diverges, and a
    checkpoint that does not fit or cannot be written; FileNotFoundError; MemoryError, before it takes any, with what would need less.
    """
    given = dict(locals())
    options = _options(given)
    run = run_of("auto", "auto", device, devices, session)
    if isinstance(dataset, Dataset):
        _only_by_name(given)
        data = dataset
    else:
        _check_dataset(dataset)
        data = read_dataset(dataset, features, classes, labels, symmetrize, drop_self_loops, weights=weights, seed=seed)
    with _Bar(progress, epochs) as seen:
        found = _core.train(data._core, options, seen, run)
    _warn(found[13])
    return TrainResult(data, {name: given[name] for name in ("model", "mode", "task")}, found)


def predict(dataset: Dataset | str | os.PathLike[str], model: Model | str | os.PathLike[str], embeddings: bool = False, normalize: str | None = None,
            allow_changes: bool = False, device: str = "auto", devices: int | str = "auto", session: Session | None = None, *, allow_tf32: bool = True,
            progress: AskedProgress = None) -> PredictResult:
    """What a model says of every vertex, exactly, by a pass over the whole graph.

    dataset: a warren.Dataset; or a name as warren.read_dataset takes it, which is read as the model's dataset was. model: a warren.Model, or the folder of
    one. embeddings: also what the last layer reads. normalize: as for training where it is None; another one needs allow_changes.
    allow_tf32: of dense products on GPUs, as for training; False: full float32, by which a GPU's scores are those of the CPU to 1e-5 or so.
    progress: as of warren.sample_batches(), the unit being "passes" over the graph: two, the second of which is timed, one more of a dataset with labels, and one for embeddings.
    Repeats bit for bit on one device with the same numbers of ranks and threads.
    Raises ValueError for a dataset that does not fit the model (features, classes, how it was read), and for an option that is none; FileNotFoundError; MemoryError.
    """
    asked = model if isinstance(model, Model) else _model_of(model)
    how = "" if normalize is None else str(normalize)
    choice("normalize", normalize, {None: 0, **NAMES["normalize"]})
    run = run_of("auto", "auto", device, devices, session)
    check_progress(progress)
    if isinstance(dataset, Dataset):
        data = dataset
    else:
        _check_dataset(dataset)
        place = _place(dataset)
        data = of_core(_core.read_dataset(place, _core.dataset_options(asked._core, place)))
    with Telling(progress):
        found = _core.predict(data._core, asked._core, flag("embeddings", embeddings), how, flag("allow_changes", allow_changes), flag("allow_tf32", allow_tf32), run)
    _warn(found[6])
    return PredictResult(data, asked, found)


def _model_of(folder: Any) -> Model:
    """Of predict()'s argument, which may be a Model, too."""
    if not isinstance(folder, (str, os.PathLike)):
        raise ValueError(f"model: got {type_name(folder)}, expected a warren.Model, or the folder of one")
    return load_model(path_text("model", folder, "a warren.Model, or the folder of one"))


def _options(given: dict[str, Any]) -> _core.TrainOptions:
    """Checked one by one; what goes together the engine checks."""
    options = _core.TrainOptions()
    for name, choices in NAMES.items():
        choice(name, given[name], choices)
        if given[name] is not None:
            setattr(options, name, given[name])
    for name, (least, most) in NUMBERS.items():
        if given[name] is not None or name in ("heads", "warmup", "epochs", "patience", "checkpoint_every", "checkpoint_batches", "workgroup"):
            setattr(options, name, bounded_number(name, given[name], least, most))
    for name, largest in REALS.items():
        if given[name] is not None or name in ("lr", "clip"):
            setattr(options, name, _real(name, given[name], largest))
    for name in ("residual", "skip", "edge_weights", "replace", "weighted", "recompute", "capture", "capture_batches", "allow_tf32", "resume", "overwrite",
                 "allow_changes", "deterministic"):
        setattr(options, name, flag(name, given[name]))
    options.seed = seed_number(given["seed"])
    if given["strategy"] is not None:
        if not isinstance(given["strategy"], str) or not is_utf8(given["strategy"]):
            raise ValueError(f"strategy: got {given['strategy']!r}, expected a name such as \"pull\", or None")
        options.strategy = given["strategy"]
    if given["class_weights"] is not None:
        options.class_weights = _class_weights(given["class_weights"])
    if given["tensor_sums"] is not None:
        options.tensor_sums = flag("tensor_sums", given["tensor_sums"])
    if given["fanout"] is not None:
        options.fanout = fanouts("fanout", given["fanout"])
    if given["checkpoint"] is not None:
        options.checkpoint = path_text("checkpoint", given["checkpoint"], "the path of a folder, or None")
    return options


def _class_weights(given: Any) -> str:
    if isinstance(given, str):
        if given not in ("balanced", "none"):
            raise ValueError(f'class_weights: got {given!r}, expected "balanced", a number a class, or None')
        return given
    numbers = as_numpy("class_weights", given)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biuf" or numbers.size == 0 or not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise ValueError(f"class_weights: got {given!r}, expected a finite number a class, 0 or more")
    return ",".join(repr(float(number)) for number in numbers.astype(np.float32))


def _real(name: str, value: Any, largest: float) -> float:
    expected = f"a number from 0 to {largest:g}"
    number = real_number(name, value, expected)
    if not 0 <= number <= largest:
        raise ValueError(f"{name}: got {value!r}, expected {expected}")
    return number


def fanouts(name: str, values: Sequence[int] | int) -> list[int]:
    """Of an only number a list of one."""
    expected = "numbers of neighbours, hop by hop: 1 or more, or -1 for all"
    hops = values if isinstance(values, (list, tuple, range)) or (isinstance(values, np.ndarray) and values.ndim > 0) else [values]
    if len(hops) == 0:
        raise ValueError(f"{name}: got none, expected {expected}")
    numbers = [whole_number(f"{name}[{at}]", hop, -1, expected) for at, hop in enumerate(hops)]
    if 0 in numbers or max(numbers) >= 2**31:
        raise ValueError(f"{name}: got {numbers}, expected {expected}")
    return numbers


def _check_dataset(dataset: Any) -> None:
    if not isinstance(dataset, (str, os.PathLike)):
        raise ValueError(f"dataset: got {type_name(dataset)}, expected a warren.Dataset, a dataset's name, or a folder")
    path_text("dataset", dataset, "a warren.Dataset, a dataset's name, or a folder")


def _only_by_name(given: dict[str, Any]) -> None:
    for name, default in (("features", None), ("classes", None), ("labels", "auto"), ("symmetrize", False), ("drop_self_loops", False), ("weights", None)):
        if given[name] is not default and not (isinstance(given[name], (str, bool)) and given[name] == default):
            raise ValueError(f"{name}: got {given[name]!r}, expected nothing: it is for datasets that are read by name, and this one is a warren.Dataset")


class _Bar:
    """What is called after each epoch: the user's function, a bar of tqdm's, or None."""

    def __init__(self, progress: AskedProgress, epochs: int):
        check_progress(progress, "a function of an epoch's dict")
        self._bar: Any = new_bar(epochs, "epoch") if progress is True else None
        self._seen: Progress | None = progress if callable(progress) else None if self._bar is None else self._show

    def _show(self, epoch: dict[str, Any]) -> None:
        self._bar.update(epoch["epoch"] - self._bar.n)
        self._bar.set_postfix(loss=f"{epoch['loss']:.4f}", validation=f"{epoch['validation_accuracy']:.4f}")

    def __enter__(self) -> Progress | None:
        return self._seen

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _warn(texts: list[str]) -> None:
    for text in texts:
        warnings.warn(text, stacklevel=3)
