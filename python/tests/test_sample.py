# SPDX-License-Identifier: Apache-2.0
"""Sampled neighbourhoods: edges of the graph, as many as asked for, the same on every number of ranks; and arguments that are refused."""
import numpy as np
import pytest

import warren

RNG = np.random.default_rng(2)
GRAPH = warren.from_edges(*RNG.integers(0, 100, (2, 900)), RNG.integers(0, 5, 900), num_vertices=100)


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"weighted": True}, {"disjoint": True}, {"fanouts": -1}, {"edges": "host"}, {"replace": True, "weighted": True}])
def test_sample(options):
    options = {"fanouts": [4, 3], **options}
    seeds = np.array([7, 3, 7, 99])
    found = GRAPH.sample(seeds, **options, device="cpu")
    src, dst, weights = GRAPH.to_edges()
    hops = options["fanouts"] if isinstance(options["fanouts"], list) else [options["fanouts"]]
    assert found.num_seeds == 4 and found.vertices[:4].tolist() == seeds.tolist() and len(found.layers) == len(hops)
    for fanout, layer in zip(hops, found.layers):
        rows = np.repeat(np.arange(len(layer.offsets) - 1), np.diff(layer.offsets))
        assert np.array_equal(src[layer.edge_ids], found.vertices[rows]) and np.array_equal(dst[layer.edge_ids], found.vertices[layer.targets])
        degree = np.bincount(src[weights > 0] if options.get("weighted") else src, minlength=100)[found.vertices[:len(layer.offsets) - 1]]
        most = degree if fanout < 0 else np.where(degree > 0, fanout, 0) if options.get("replace") else np.minimum(degree, fanout)
        assert np.array_equal(np.diff(layer.offsets), most)
    assert (found.trees is not None) == bool(options.get("disjoint"))
    several = warren.sample(GRAPH, seeds, **options, devices=3, device="cpu")
    assert np.array_equal(several.vertices, found.vertices) and all(np.array_equal(a.edge_ids, b.edge_ids) for a, b in zip(several.layers, found.layers))
    assert found.info["sampled_edges"] == sum(len(layer.targets) for layer in found.layers) and found.seconds > 0
    if hops[0] > 0:
        others = [GRAPH.sample(seeds, **options, **how).layers[0].edge_ids for how in ({"batch": 1}, {"seed": 2})]
        assert not any(np.array_equal(other, found.layers[0].edge_ids) for other in others)


@pytest.mark.parametrize("seeds, options, error, message", [
    ([], {}, ValueError, "seeds: got none"), (100, {}, IndexError, "100"), ([0, -1], {}, IndexError, "seeds"), (0, {"fanouts": []}, ValueError, "fanouts: got none"),
    (0, {"fanouts": [0]}, ValueError, r"fanouts: got \[0\]"), (0, {"fanouts": [2.5]}, ValueError, r"fanouts\[0\]: got 2.5"), (0, {"batch": -1}, ValueError, "batch: got -1"),
    (0, {"seed": 2**64}, ValueError, "seed: got"), (0, {"edges": "compressed-host"}, ValueError, "edges: got compressed"), (0, {"fanouts": [1] * 17}, ValueError, "17 hops")])
def test_bad_arguments(seeds, options, error, message):
    with pytest.raises(error, match=message):
        GRAPH.sample(seeds, **options)


def test_weights_are_needed_to_draw_by_them():
    with pytest.raises(ValueError, match="weighted: the graph has no weights"):
        warren.from_edges([0], [1]).sample(0, weighted=True)
