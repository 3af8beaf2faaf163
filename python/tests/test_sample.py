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


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"disjoint": True}])
def test_vertices_drawn_once(options):
    found = GRAPH.sample([7, 3, 99], [3, 2, 2], once=True, device="cpu", **options)
    src, dst, _ = GRAPH.to_edges()
    degree = np.bincount(src, minlength=100)[found.vertices]
    begin, end = 0, 3
    for fanout, layer in zip([3, 2, 2], found.layers):
        counts = np.diff(layer.offsets)
        assert len(counts) == end and not counts[:begin].any()
        own = degree[begin:end]
        assert np.array_equal(counts[begin:], np.where(own > 0, fanout, 0) if options.get("replace") else np.minimum(own, fanout))
        rows = np.repeat(np.arange(end), counts)
        assert np.array_equal(src[layer.edge_ids], found.vertices[rows]) and np.array_equal(dst[layer.edge_ids], found.vertices[layer.targets])
        begin, end = end, max(end, int(layer.targets.max(initial=-1)) + 1)
    again = GRAPH.sample([7, 3, 99], [3, 2, 2], device="cpu", **options)
    assert np.array_equal(again.layers[0].edge_ids, found.layers[0].edge_ids) and len(again.layers[1].targets) > len(found.layers[1].targets)
    many = GRAPH.sample_batches([7, 3, 99, 5], [3, 2, 2], batch_size=3, edge_ids=True, once=True, device="cpu", **options)
    assert all(np.array_equal(mine.edge_ids, other.edge_ids) for mine, other in zip(many[0].layers, found.layers))
    for count in (40, 25, 39, 60):  # Single batches of now more and now fewer seeds.
        seeds = np.arange(count) * 3 % 100
        alone = GRAPH.sample(seeds, [2, 2], once=True, device="cpu", batch=9)
        assert np.array_equal(GRAPH.sample_batches(seeds, [2, 2], batch_size=count, once=True, device="cpu", batch=9).vertices, alone.vertices)


def test_draws_are_uniform_and_of_their_own():
    """Of a star's hub with 12 spokes of 4 leaves each: the second hop draws the leaves of what the first found, or, where all draw anew, the hub's spokes
    once more. All pairs are equally likely: chi-square at fixed seeds."""
    spokes, leaves, trials = 12, 4, 6000
    hub = np.zeros(spokes, int), np.arange(1, spokes + 1)
    outer = np.repeat(np.arange(1, spokes + 1), leaves), np.arange(spokes + 1, spokes + 1 + spokes * leaves)
    graph = warren.from_edges(np.concatenate([hub[0], outer[0]]), np.concatenate([hub[1], outer[1]]))

    def far_from_even(counts):
        expected = trials / counts.size
        chi = ((counts - expected) ** 2 / expected).sum()
        return (chi - (counts.size - 1)) / np.sqrt(2 * (counts.size - 1))

    for once in (True, False):
        batches = graph.sample_batches(np.zeros(trials, int), [1, 1], batch_size=1, once=once, seed=3, device="cpu")
        leaf, pair = np.zeros(spokes * leaves), np.zeros((spokes, spokes))
        for batch in batches:
            first, second = batch.layers
            drawn = batch.vertices[second.targets]
            leaf[drawn[-1] - spokes - 1] += 1
            if not once:
                pair[batch.vertices[first.targets[0]] - 1, drawn[0] - 1] += 1
            assert len(drawn) == (1 if once else 2)
        assert abs(far_from_even(leaf)) < 3.5
        assert once or abs(far_from_even(pair)) < 3.5


@pytest.mark.parametrize("seeds, options, error, message", [
    ([], {}, ValueError, "seeds: got none"), (100, {}, IndexError, "100"), ([0, -1], {}, IndexError, "seeds"), (0, {"fanouts": []}, ValueError, "fanouts: got none"),
    (0, {"fanouts": [0]}, ValueError, r"fanouts: got \[0\]"), (0, {"fanouts": [2.5]}, ValueError, r"fanouts\[0\]: got 2.5"), (0, {"batch": -1}, ValueError, "batch: got -1"),
    (0, {"seed": 2**64}, ValueError, "seed: got"), (0, {"edges": "compressed-host"}, ValueError, "edges: got compressed"), (0, {"fanouts": [1] * 17}, ValueError, "17 hops")])
def test_bad_arguments(seeds, options, error, message):
    with pytest.raises(error, match=message):
        GRAPH.sample(seeds, **options)


def shared_number(seed, batch, hop, vertex):
    """r_t of a neighbour, from the words of Philox4x32-10 by its paper; hop None: that of all hops."""
    c = [vertex // 2, 0, batch & 0xffffffff, (254 if hop is None else 128 + hop) << 24 | batch >> 32]
    k = [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xffffffff, a >> 32 ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    bits = c[3] << 32 | c[2] if vertex % 2 else c[1] << 32 | c[0]
    return ((bits >> 12) * 2 + 1) / 2**53


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"layer_dependency": True}, {"once": True}, {"once": True, "layer_dependency": True, "weighted": True}])
def test_labor_takes_the_neighbours_with_the_smallest_numbers(options):
    fanouts, seeds = [4, 70, 3], [7, 3, 7, 99, 50]
    found = GRAPH.sample(seeds, fanouts, labor=True, device="cpu", seed=2**40 + 3, batch=2**33 + 5, **options)
    src, dst, weights = GRAPH.to_edges()
    begin = 0
    for hop, (fanout, layer) in enumerate(zip(fanouts, found.layers)):
        r = [shared_number(2**40 + 3, 2**33 + 5, None if options.get("layer_dependency") else hop, v) for v in range(100)]
        rows = len(layer.offsets) - 1
        for row in range(rows):
            edges = np.flatnonzero(src == found.vertices[row]) if row >= begin or not options.get("once") else np.empty(0, int)
            if len(edges) > fanout:
                edges = sorted((r[dst[e]] / (weights[e] if options.get("weighted") else 1), e) for e in edges if not options.get("weighted") or weights[e] > 0)
                edges = [e for _, e in edges[:fanout]]
            elif options.get("weighted"):
                edges = edges[weights[edges] > 0]
            mine = layer.edge_ids[layer.offsets[row]:layer.offsets[row + 1]]
            assert mine.tolist() == list(edges) and np.array_equal(found.vertices[layer.targets[layer.offsets[row]:layer.offsets[row + 1]]], dst[mine])
        begin = rows
    for devices in (2, 3, 4):
        several = GRAPH.sample(seeds, fanouts, labor=True, device="cpu", devices=devices, seed=2**40 + 3, batch=2**33 + 5, **options)
        assert np.array_equal(several.vertices, found.vertices) and all(np.array_equal(a.edge_ids, b.edge_ids) for a, b in zip(several.layers, found.layers))
    many = GRAPH.sample_batches(seeds + seeds, fanouts, batch_size=5, labor=True, device="cpu", seed=2**40 + 3, batch=2**33 + 5, edge_ids=True, **options)
    assert np.array_equal(many[0].vertices, found.vertices) and not np.array_equal(many[1].vertices, found.vertices)


def test_parallel_edges_have_one_number():
    graph = warren.from_edges([0] * 6, [1, 1, 1, 2, 2, 3], keep_duplicates=True)
    for batch in range(20):
        found = graph.sample(0, [3], labor=True, batch=batch, device="cpu").layers[0].edge_ids.tolist()
        order = sorted(range(6), key=lambda e: (shared_number(1, batch, 0, [1, 1, 1, 2, 2, 3][e]), e))
        assert found == order[:3]


def test_labor_has_fewer_vertices_for_as_many_edges():
    graph = warren.generate("community:3000,60", symmetrize=True)
    seeds = np.arange(0, 3000, 3)
    plain, shared, dependent = (graph.sample_batches(seeds, [10, 10], batch_size=200, device="cpu", once=True, **options)
                                for options in ({}, {"labor": True}, {"labor": True, "layer_dependency": True}))
    assert shared.edge_begins[0][-1] == plain.edge_begins[0][-1]
    counts = [int(found.vertex_begins[-1]) for found in (plain, shared, dependent)]
    assert counts[1] < 0.9 * counts[0] and counts[2] < counts[1]


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("options", [{}, {"once": True}, {"fanouts": [-1, 2]}, {"devices": 3}, {"replace": True}, {"weighted": True}])
def test_sampling_by_time(strategy, options):
    if strategy == "last" and (options.get("replace") or options.get("weighted")):
        pytest.skip("nothing is drawn")
    options = {"fanouts": [4, 3], **options}
    src, dst, weights = GRAPH.to_edges()
    times = np.random.default_rng(5).integers(-20, 20, len(src))
    seeds, when = [7, 3, 7, 99], [-21, 0, 19, 5]
    found = GRAPH.sample(seeds, edge_times=times, seed_times=when, temporal_strategy=strategy, device="cpu", **options)
    assert found.trees[:4].tolist() == [0, 1, 2, 3] and found.vertices[:4].tolist() == seeds
    begin = 0
    for fanout, layer in zip(options["fanouts"], found.layers):
        rows = len(layer.offsets) - 1
        for row in range(rows):
            mine = layer.edge_ids[layer.offsets[row]:layer.offsets[row + 1]]
            early = np.flatnonzero((src == found.vertices[row]) & (times <= when[found.trees[row]]) & ((weights > 0) | (not options.get("weighted"))))
            if options.get("once") and row < begin:
                early = early[:0]
            if strategy == "last":
                ordered = sorted(early.tolist(), key=lambda e: (times[e], e))
                assert mine.tolist() == (ordered if fanout < 0 else ordered[-fanout:])
            else:
                count = len(early) if fanout < 0 else fanout * (len(early) > 0) if options.get("replace") else min(fanout, len(early))
                assert len(mine) == count and set(mine.tolist()) <= set(early.tolist()) and (options.get("replace") or len(set(mine.tolist())) == count)
            ends = layer.targets[layer.offsets[row]:layer.offsets[row + 1]]
            assert np.array_equal(found.vertices[ends], dst[mine]) and (found.trees[ends] == found.trees[row]).all()
        begin = rows
    kept = warren.EdgeTimes(times)
    again = GRAPH.sample_batches(seeds, edge_times=kept, seed_times=np.array(when, np.int8), temporal_strategy=strategy, device="cpu", edge_ids=True, **options)
    assert len(kept) == len(src) and len(again) == 1 and np.array_equal(again[0].vertices, found.vertices) and np.array_equal(again[0].trees, found.trees)
    assert all(np.array_equal(a.edge_ids, b.edge_ids) for a, b in zip(again[0].layers, found.layers))
    halves = GRAPH.sample_batches(seeds, edge_times=kept, seed_times=when, temporal_strategy=strategy, device="cpu", batch_size=2, edge_ids=True, **options)
    alone = GRAPH.sample(seeds[2:], edge_times=kept, seed_times=when[2:], temporal_strategy=strategy, device="cpu", batch=1, **options)
    assert np.array_equal(halves[1].vertices, alone.vertices)
    one = GRAPH.sample(seeds, edge_times=kept, seed_times=19, temporal_strategy=strategy, device="cpu", **options)
    assert np.array_equal(one.layers[0].offsets, GRAPH.sample(seeds, device="cpu", **options).layers[0].offsets)


@pytest.mark.parametrize("options, message", [
    ({"labor": True, "replace": True}, "labor: .* replace"), ({"labor": True, "disjoint": True}, "labor: .* disjoint"), ({"layer_dependency": True}, "layer_dependency: is for labor"),
    ({"labor": True, "edge_times": np.zeros(900, int), "seed_times": 1}, "labor: .* edge_times"), ({"seed_times": [1]}, "seed_times: got times without edge_times"),
    ({"temporal_strategy": "last"}, "temporal_strategy: got 'last' without edge_times"), ({"temporal_strategy": "first"}, "temporal_strategy: got 'first'"),
    ({"edge_times": np.zeros(3, int), "seed_times": [1]}, "edge_times: got 3 times, expected one for each of"), ({"edge_times": "all", "seed_times": [1, 2]}, "seed_times: got 2 times"),
    ({"edge_times": "all"}, "seed_times: got None"), ({"edge_times": np.zeros(900), "seed_times": [1]}, "edge_times: got elements of type float64"),
    ({"edge_times": "all", "seed_times": [0.5]}, "seed_times: got elements"), ({"edge_times": "all", "seed_times": np.array([2**63], np.uint64)}, "seed_times: got 9223372036854775808"),
    ({"edge_times": "all", "seed_times": 1, "temporal_strategy": "last", "replace": True}, 'got "last" with replace'),
    ({"edge_times": "all", "seed_times": 1, "temporal_strategy": "last", "weighted": True}, 'got "last" with weighted')])
def test_choices_that_do_not_go_together(options, message):
    if isinstance(options.get("edge_times"), str):
        options = {**options, "edge_times": np.zeros(len(GRAPH.to_edges()[0]), int)}
    for call in (GRAPH.sample, GRAPH.sample_batches):
        with pytest.raises(ValueError, match=message):
            call([5], [2], device="cpu", **options)


def test_weights_are_needed_to_draw_by_them():
    with pytest.raises(ValueError, match="weighted: the graph has no weights"):
        warren.from_edges([0], [1]).sample(0, weighted=True)


@pytest.mark.parametrize("options", [{}, {"edge_ids": True, "in_flight": 2}, {"disjoint": True}, {"replace": True, "devices": 3, "edge_ids": True}])
def test_many_batches_are_those_that_are_sampled_alone(options):
    seeds = np.arange(50, dtype=np.int64) * 7 % 100
    found = warren.sample_batches(GRAPH, seeds, [4, 2], batch_size=8, batch=5, device="cpu", **options)
    options.pop("in_flight", None)
    has_ids = options.pop("edge_ids", False)
    assert len(found) == 7 and found[-1].num_seeds == 2 and [len(b.layers) for b in found] == [2] * 7 and len(found[1:3]) == 2
    for number, batch in enumerate(found):
        alone = GRAPH.sample(seeds[8 * number:8 * number + 8], [4, 2], batch=5 + number, device="cpu", **options)
        assert np.array_equal(batch.vertices, alone.vertices)
        assert batch.trees is alone.trees is None or np.array_equal(batch.trees, alone.trees)
        for mine, other in zip(batch.layers, alone.layers):
            assert np.array_equal(mine.offsets, other.offsets) and np.array_equal(mine.targets, other.targets)
            assert np.array_equal(mine.edge_ids, other.edge_ids) if has_ids else mine.edge_ids is None
    assert found.info["sampled_edges"] == sum(b.info["sampled_edges"] for b in found) and found.vertices.dtype == np.int32
    with pytest.raises(IndexError):
        found[7]


@pytest.mark.parametrize("seeds, options, error, message", [
    ([], {}, ValueError, "seeds: got none"), (np.array([0, 3, 100]), {}, IndexError, r"seeds\[2\].*100"), (np.array([-1]), {}, IndexError, r"seeds\[0\]"),
    ([1], {"batch_size": 0}, ValueError, "batch_size: got 0"), ([1], {"in_flight": -1}, ValueError, "in_flight: got -1"), ([1], {"batch": 2**48}, ValueError, "batch: got")])
def test_bad_arguments_of_many_batches(seeds, options, error, message):
    with pytest.raises(error, match=message):
        GRAPH.sample_batches(seeds, [2], **options)


def test_arrays_of_batches_by_library():
    found = GRAPH.sample_batches([1, 2, 3], [2], batch_size=2)
    assert found.array("targets", 0, "numpy").dtype == np.int32 and found.array("offsets").dtype == np.int64
    with pytest.raises(ValueError, match="name: got 'edges'"):
        found.array("edges")
    torch = pytest.importorskip("torch")
    assert isinstance(found.array("vertices", library="torch"), torch.Tensor)


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"p": 0.25, "q": 4.0}, {"weighted": True, "p": 1e-4}, {"edges": "host", "q": 1e-4}])
def test_random_walks(options):
    starts = np.arange(100).repeat(3)
    found = GRAPH.random_walks(starts, 12, **options, device="cpu")
    walks = found.walks
    assert len(found) == 300 and walks.shape == (300, 13) and walks.dtype == np.int32 and np.array_equal(walks[:, 0], starts)
    src, dst, weights = GRAPH.to_edges()
    if options.get("weighted"):
        src, dst = src[weights > 0], dst[weights > 0]
    edges, leads = set(zip(src.tolist(), dst.tolist())), set(src.tolist())
    for row in walks.tolist():
        assert all((v, x) in edges if v in leads else x == v for v, x in zip(row, row[1:]))
    several = warren.random_walks(GRAPH, starts, 12, **options, devices=3, device="cpu")
    assert np.array_equal(several.walks, walks) and several.info["walks"] == 300 and several.info["steps"] == 12 and found.seconds > 0
    assert not np.array_equal(GRAPH.random_walks(starts, 12, **options, batch=1, device="cpu").walks, walks)
    assert not np.array_equal(GRAPH.random_walks(starts, 12, **options, seed=2, device="cpu").walks, walks)
    if options.get("p", 1) < 1e-3:  # It goes back wherever it can.
        back = [(t, x) for row in walks.tolist() for t, v, x in zip(row, row[1:], row[2:]) if (v, t) in edges]
        assert len(back) > 100 and sum(t == x for t, x in back) > 0.99 * len(back)


def test_random_walks_of_one_start():
    graph = warren.from_edges([0, 1, 2], [1, 2, 0])
    assert graph.random_walks(1, 4, device="cpu").walks.tolist() == [[1, 2, 0, 1, 2]]
    assert graph.random_walks([0, 2], 0, device="cpu").walks.tolist() == [[0], [2]]


@pytest.mark.parametrize("starts, options, error, message", [
    ([], {}, ValueError, "starts: got none"), ([100], {}, IndexError, "starts"), ([0], {"length": -1}, ValueError, "length: got -1"), ([0], {"length": 2**18 + 1}, ValueError, "length: got 262145"),
    ([0], {"p": 0}, ValueError, "p: got 0"), ([0], {"q": float("nan")}, ValueError, "q: got nan"), ([0], {"q": "x"}, ValueError, "q: got 'x'"), ([0], {"batch": 2**48}, ValueError, "batch: got"),
])
def test_random_walks_refused(starts, options, error, message):
    with pytest.raises(error, match=message):
        GRAPH.random_walks(starts, device="cpu", **options)


def test_a_sample_is_of_the_graphs_library():
    torch = pytest.importorskip("torch")
    ends = torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 0])
    graph = warren.from_edges(*ends)
    plain = warren.from_edges(*(values.numpy() for values in ends))
    for seeds in ([0, 2], torch.tensor([0, 2])):
        found, expected = graph.sample(seeds, [1, 2], disjoint=True), plain.sample(seeds, [1, 2], disjoint=True)
        pairs = [(found.vertices, expected.vertices), (found.trees, expected.trees)]
        pairs += [pair for a, b in zip(found.layers, expected.layers) for pair in ((a.offsets, b.offsets), (a.targets, b.targets), (a.edge_ids, b.edge_ids))]
        assert all(isinstance(a, torch.Tensor) and isinstance(b, np.ndarray) and np.array_equal(a.numpy(), b) for a, b in pairs)
        assert found.info["sampled_edges"] == expected.info["sampled_edges"]
    graph.arrays = "numpy"
    assert isinstance(graph.sample(0, [1]).vertices, np.ndarray)
