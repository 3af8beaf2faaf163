# SPDX-License-Identifier: Apache-2.0
"""What the tests of training share: a small dataset, drawn or in arrays, and options that take a moment."""
import numpy as np
import pytest

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
