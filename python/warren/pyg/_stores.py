# SPDX-License-Identifier: Apache-2.0
"""A FeatureStore and a GraphStore, from which PyTorch Geometric's loaders, its own and warren's, read what warren keeps."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch_geometric import data as pyg

from .._session import Session
from .._table import Table


class FeatureStore(pyg.FeatureStore):  # type: ignore[misc]
    """Tensors of vertices as warren.Table keeps them: on the devices, in host memory that GPUs read in place, or that with some rows on the devices.

        store = FeatureStore(placement="host")
        store["paper", "x", None] = x          # (group_name, attr_name, index); None for the group of a graph with one type

    placement, cached, device, devices, session: as of warren.Table. A tensor is put there whole: `index` is None. What is read is a new tensor, on a
    GPU where the table's session works on GPUs. Raises what Table and Table.gather() do, and ValueError for rows that are put one by one.
    """

    def __init__(self, placement: str = "device", cached: Any = None, device: str = "auto", devices: int | str = "auto", session: Session | None = None):
        super().__init__()
        options = {"placement": placement, "cached": cached, "device": device, "devices": devices, "session": session}
        self.__dict__["_options"] = options
        self.__dict__["_kept"] = {}

    def _put_tensor(self, tensor: Any, attr: Any) -> bool:
        if attr.index is not None:
            raise ValueError(f"index: got {attr.index!r}, expected None: a tensor is put into the store whole")
        self._kept[attr.group_name, attr.attr_name] = Table(torch.as_tensor(tensor).detach(), **self._options)
        return True

    def _get_tensor(self, attr: Any) -> Any:
        table = self._kept.get((attr.group_name, attr.attr_name))
        if table is None:
            return None
        index = attr.index
        if index is None or isinstance(index, slice):
            index = torch.arange(len(table))[slice(None) if index is None else index]
        elif isinstance(index, (int, np.ndarray)):
            index = torch.as_tensor(index).view(-1)
        return table.gather(index)

    def _remove_tensor(self, attr: Any) -> bool:
        return self._kept.pop((attr.group_name, attr.attr_name), None) is not None

    def _get_tensor_size(self, attr: Any) -> Any:
        table = self._kept.get((attr.group_name, attr.attr_name))
        return None if table is None else table.shape

    def get_all_tensor_attrs(self) -> list[Any]:
        """What is there: each tensor's group and name."""
        return [self._tensor_attr_cls(group, name) for group, name in self._kept]


class GraphStore(pyg.GraphStore):  # type: ignore[misc]
    """Edges by type, layout and size, as they are put there: store[None, "coo", False, (n, n)] = edge_index for a graph with one type."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_kept"] = {}

    def _put_edge_index(self, edge_index: Any, edge_attr: Any) -> bool:
        self._kept[edge_attr.edge_type, edge_attr.layout] = (tuple(edge_index), copy.copy(edge_attr))
        return True

    def _get_edge_index(self, edge_attr: Any) -> Any:
        kept = self._kept.get((edge_attr.edge_type, edge_attr.layout))
        return None if kept is None else kept[0]

    def _remove_edge_index(self, edge_attr: Any) -> bool:
        return self._kept.pop((edge_attr.edge_type, edge_attr.layout), None) is not None

    def get_all_edge_attrs(self) -> list[Any]:
        """What is there: each one's type, layout and size."""
        return [copy.copy(attr) for _, attr in self._kept.values()]


def is_remote(data: Any) -> bool:
    """Whether it is a pair of stores."""
    return isinstance(data, (tuple, list)) and len(data) == 2 and isinstance(data[0], pyg.FeatureStore) and isinstance(data[1], pyg.GraphStore)


def edges_of(data: Any) -> tuple[Any, int]:
    """edge_index of a pair of stores, and the number of vertices. Raises ValueError for several types of edges, or none."""
    attrs = data[1].get_all_edge_attrs()
    if len({attr.edge_type for attr in attrs}) != 1 or attrs[0].edge_type is not None:
        raise ValueError("data: got a graph store with types of edges, expected one graph, of edge_type None: graphs with several types of vertices or edges are not taken")
    row, col, _ = data[1].coo()
    size = attrs[0].size
    count = max(size) if size is not None else int(max(row.max(), col.max())) + 1 if row.numel() > 0 else 0
    return torch.stack([row, col]), count


def times_of(data: Any, name: str) -> tuple[Any, bool]:
    """The tensor of a pair of stores that is called `name`, whole, and whether "time" is its name, which is of vertices where there are as many edges. Raises ValueError where there is none, or several."""
    attrs = [copy.copy(attr) for attr in data[0].get_all_tensor_attrs() if attr.attr_name == name]
    if len(attrs) != 1:
        raise ValueError(f"time_attr: got {name!r}, of which the feature store has {len(attrs) or 'none'}, expected the name of one of its tensors, with a time for each vertex or edge")
    attrs[0].index = None
    return data[0].get_tensor(attrs[0]), name == "time"
