# SPDX-License-Identifier: Apache-2.0
"""Parameters of models as PyTorch Geometric's layers have them, and back."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import as_numpy, type_name

# Of a layer: PyG's name, warren's (None: zeros, which warren's layer does not have), and how one becomes the other.
TRANSPOSED, VECTOR, HEADS = "transposed", "vector", "heads"
LAYERS: dict[str, list[tuple[str, str | None, str]]] = {
    "gcn": [("lin.weight", "weight", TRANSPOSED), ("bias", "bias", VECTOR)],
    "sage": [("lin_l.weight", "neighbours.weight", TRANSPOSED), ("lin_l.bias", "bias", VECTOR), ("lin_r.weight", "self.weight", TRANSPOSED)],
    "gat": [("lin.weight", "weight", TRANSPOSED), ("att_dst", "left", HEADS), ("att_src", "right", HEADS), ("bias", "bias", VECTOR)],
    "gatv2": [("lin_l.weight", "source.weight", TRANSPOSED), ("lin_l.bias", None, "source.weight"), ("lin_r.weight", "target.weight", TRANSPOSED),
              ("lin_r.bias", None, "target.weight"), ("att", "attention", HEADS), ("bias", "bias", VECTOR)],
    "gin": [("eps", "epsilon", VECTOR), ("nn.0.weight", "first.weight", TRANSPOSED), ("nn.0.bias", "first.bias", VECTOR),
            ("nn.2.weight", "second.weight", TRANSPOSED), ("nn.2.bias", "bias", VECTOR)]}

# Of layers whose attention has the weights of edges as their one feature (edge_dim=1).
EDGES: dict[str, list[tuple[str, str | None, str]]] = {
    "gat": [("lin_edge.weight", "edge.weight", TRANSPOSED), ("att_edge", "edge.attention", HEADS)],
    "gatv2": [("lin_edge.weight", "edge.weight", TRANSPOSED)]}


def parameters_of(kind: str, weights: Mapping[str, np.ndarray]) -> list[tuple[str, str | None, str]]:
    return LAYERS[kind] + (EDGES.get(kind, []) if "layers.0.edge.weight" in weights else [])


def to_pyg(kind: str, layers: int, weights: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    _check_plain(kind, weights, layers)
    return [{name: np.zeros(weights[f"layers.{at}.{how}"].shape[1], np.float32) if own is None else _pyg_form(weights[f"layers.{at}.{own}"], how)
             for name, own, how in parameters_of(kind, weights)} for at in range(layers)]


def from_pyg(kind: str, layers: int, weights: Mapping[str, np.ndarray], states: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    _check_plain(kind, weights, layers)
    if isinstance(states, (str, bytes, Mapping)) or not isinstance(states, Sequence):
        raise ValueError(f"states: got {type_name(states)}, expected a list of {layers} state dicts, one a layer")
    if len(states) != layers:
        raise ValueError(f"states: got {len(states)} layers, expected {layers}")
    found = {}
    for at, state in enumerate(states):
        expected = [name for name, _, _ in parameters_of(kind, weights)]
        if not isinstance(state, Mapping):
            raise ValueError(f"states[{at}]: got {type_name(state)}, expected a dict with {', '.join(expected)}")
        if set(state) != set(expected):
            raise ValueError(f"states[{at}]: got {', '.join(map(str, state)) or 'nothing'}, expected {', '.join(expected)}")
        for name, own, how in parameters_of(kind, weights):
            array = as_numpy(f"states[{at}][{name!r}]", state[name])
            if own is None:
                if array.dtype.kind not in "biuf" or array.any():
                    raise ValueError(f"states[{at}][{name!r}]: got numbers that are not 0, expected zeros: warren's layer has no such bias")
                continue
            shape = weights[f"layers.{at}.{own}"].shape
            if array.shape != _pyg_form(weights[f"layers.{at}.{own}"], how).shape:
                raise ValueError(f"states[{at}][{name!r}]: got shape {array.shape}, expected {_pyg_form(weights[f'layers.{at}.{own}'], how).shape}")
            found[f"layers.{at}.{own}"] = array.T if how == TRANSPOSED else array.reshape(shape)
    return found


def _pyg_form(array: np.ndarray, how: str) -> np.ndarray:
    if how == TRANSPOSED:
        return np.ascontiguousarray(array.T)
    return array.reshape(1, *array.shape).copy() if how == HEADS else array.reshape(-1).copy()


def _check_plain(kind: str, weights: Mapping[str, np.ndarray], layers: int) -> None:
    """Raises ValueError for a model that has parameters besides."""
    known = {f"layers.{at}.{own}" for at in range(layers) for _, own, _ in parameters_of(kind, weights) if own is not None}
    others = [name for name in weights if name not in known]
    if others:
        raise ValueError(f'model: got one with {others[0]}, expected plain layers: train with norm="none" and without skip')
