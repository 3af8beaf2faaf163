# SPDX-License-Identifier: Apache-2.0
"""spmm and sddmm, against SciPy's products, and rows moved against sets; lookup and gather, against their own checks."""

import numpy
import scipy.sparse

from case import TEAMS, guarded
from checks_graph import METHODS, draw_any
from model import Refused, volumes

VOLUME = {"broadcast": "broadcast", "broadcast-pipelined": "broadcast", "pull": "per_edge", "once": "once",
          "staged": "once", "fused": "fused", "cover": "cover"}
STRATEGIES = (*VOLUME, "auto", "auto", "pull:ps=1", "pull:ps=3:dist=2:wpb=1", "pull:ps=64:dist=7:wpb=16", "pull:mgg", "pull:dist=off",
              "pull:ps=5:dist=off:wpb=4", "pull:auto", "staged:auto", "fused:auto", "cover:auto", "staged:chunks=1", "staged:chunks=3",
              "staged:chunks=16", "once:chunks=1", "once:chunks=3", "once:chunks=2:copy=1", "cover:copy=2")
COLUMNS = (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 70, 129)
TYPES = ("float32", "float32", "float16", "bfloat16")
# Of sums in storage of the type; parts of a sum may be rounded to it, one for each rank.
UNIT = {"float32": 1e-5, "float16": 2.0**-11, "bfloat16": 2.0**-8}
LARGEST_HALF = 6e4
MOST_EXACT = 2**24


def draw_product(random, strategies):
    drawing = draw_any(random, random.random() < 0.6)
    if drawing.weights and drawing.edges and "--weights" not in drawing.options and random.random() < 0.6:
        drawing.options["--weights"] = "file"
    devices = random.choice(TEAMS)
    options = {"--devices": devices, "--k": random.choice(COLUMNS), "--strategy": random.choice(strategies)}
    if random.random() < 0.8:
        options["--verify"] = None
    if random.random() < 0.6:
        options["--type"] = random.choice(TYPES)
    if random.random() < 0.4:
        options["--method"] = random.choice(METHODS)
    if random.random() < 0.3:
        options["--reorder"] = random.choice(("none", "rabbit", "degree", "random"))
    if random.random() < 0.25:
        options["--deterministic"] = None
    if random.random() < 0.2:
        options["--seed"] = random.choice((2, 77))
    if random.random() < 0.1:
        options["--repeat"] = 2
    return drawing, options


def draw_spmm(random):
    drawing, options = draw_product(random, STRATEGIES)
    is_tuned = options["--strategy"].endswith("auto")
    if options["--strategy"] != "auto" and is_tuned:
        options.pop("--deterministic", None)
    if options["--strategy"] != "auto" and random.random() < 0.4:
        devices = options["--devices"]
        options["--workgroup"] = random.choice([g for g in range(1, devices + 1) if devices % g == 0])
        if not is_tuned and random.random() < 0.2:
            options["--slow"] = random.choice((1, 2, 5))
    if options["--strategy"] == "auto" and random.random() < 0.3:
        options["--explain"] = None
    return drawing, options, {}


def draw_sddmm(random):
    return (*draw_product(random, ("auto", "staged")), {})


def dense(vertices, k):
    rows, columns = numpy.indices((vertices, k))
    return ((7 * rows + 13 * columns) % 17 - 8).astype(float)


def values_count(drawing):
    """A file that is a matrix has values; of a graph they count where --weights says so."""
    return "--weights" in drawing.options or (not drawing.generator and drawing.format in ("mtx", "npz", "wgr"))


def product_model(context):
    model = context.model(values_count(context.case.drawing))
    if any(isinstance(w, int) and abs(w) > MOST_EXACT for _, _, w in model.edges):
        raise Refused("weights that float32 does not hold")
    return model


def sums_agree(context, found, values, sizes):
    """`sizes`: of the terms that each value is a sum of."""
    kind = context.options.get("--type", "float32")
    unit = UNIT[kind] * (context.case.devices() + 2 if kind != "float32" else 1)
    context.expect("sum", found["sum"], float(values.sum()), unit * float(sizes.sum()) + 1e-9)
    errors = unit * sizes
    most = float((2 * numpy.abs(values) * errors + errors**2).sum())
    context.expect("sumsq", found["sumsq"], float((values**2).sum()), most + 1e-9)
    if context.has("--verify"):
        context.expect("verified", found["verified"], True)


def within_type(context, sizes):
    """Sums that float16 cannot hold are asked for in float32."""
    if context.options.get("--type") == "float16" and sizes.size and sizes.max() > LARGEST_HALF:
        context.options["--type"] = "float32"


@guarded
def check_spmm(context):
    model = product_model(context)
    k = int(context.options.get("--k", 32))
    matrix = model.matrix(model.weighted)
    values, sizes = matrix @ dense(model.vertices, k), abs(matrix) @ numpy.abs(dense(model.vertices, k))
    within_type(context, sizes)
    found = context.result()
    context.expect("edges", found["edges"], len(model.edges))
    sums_agree(context, found, values, sizes)
    check_rows_moved(context, model, found)


def check_rows_moved(context, model, found):
    devices, strategy = context.case.devices(), found["strategy"]
    asked = context.options.get("--strategy", "auto").split(":")[0]
    if asked != "auto":
        context.expect("strategy", strategy, asked)
    if devices == 1:
        context.expect("rows_moved", found["rows_moved"], 0)
        return
    owner = model.owners(context.options.get("--method", "ranges"), devices)
    reordered = context.options.get("--reorder", "none") != "none"
    if owner is None or reordered or "--slow" in context.options or strategy not in VOLUME:
        return
    if strategy == "fused" and "--workgroup" not in context.options:
        return
    moved, between = volumes(model, owner, devices, int(context.options.get("--workgroup", devices)))
    context.expect("rows_moved", found["rows_moved"], moved[VOLUME[strategy]])
    if "--workgroup" in context.options:
        context.expect("rows_between_workgroups", found["rows_between_workgroups"], between[VOLUME[strategy]])


@guarded
def check_sddmm(context):
    model = product_model(context)
    k = int(context.options.get("--k", 32))
    rows = dense(model.vertices, k)
    sources, targets = ([e[i] for e in model.edges] for i in (0, 1))
    weights = numpy.array([e[2] if model.weighted else 1 for e in model.edges], float)
    values = weights * (rows[sources] * rows[targets]).sum(1) if model.edges else numpy.zeros(0)
    sizes = numpy.abs(weights) * numpy.abs(rows[sources] * rows[targets]).sum(1) if model.edges else numpy.zeros(0)
    within_type(context, sizes)
    found = context.result()
    context.expect("edges", found["edges"], len(model.edges))
    sums_agree(context, found, values, sizes)
    owner = model.owners(context.options.get("--method", "ranges"), context.case.devices())
    if owner is not None and context.options.get("--reorder", "none") == "none":
        moved, _ = volumes(model, owner, context.case.devices(), context.case.devices())
        context.expect("rows_moved", found["rows_moved"], moved["once"])


def draw_lookup(random):
    features = random.choice((1, 1, 2, 3, 8))
    options = {"--devices": random.choice(TEAMS), "--rows": random.choice((1, 2, 5, 16, 17, 100, 5000)),
               "--k": random.choice(COLUMNS), "--batch": features * random.choice((1, 2, 7, 33, 100)),
               "--bag": random.choice((1, 2, 3, 31, 32, 33, 100)), "--verify": None,
               "--strategy": random.choice(("auto", "pull", "owner-sum", "messages")), "--type": random.choice(TYPES),
               "--seed": random.choice((1, 2, 3))}
    if features > 1:
        options.update({"--features": features, "--interact": None})
    if random.random() < 0.4:
        options["--skew"] = random.choice(("0.5", "1", "3"))
    if random.random() < 0.2:
        options["--deterministic"] = None
    return None, options, {}


def check_lookup(context):
    found = context.result()
    context.expect("verified", found["verified"], True)
    most = int(context.options.get("--batch", 4096)) * int(context.options.get("--bag", 32)) * context.case.devices()
    moved = found["rows_moved"]
    context.require(0 <= moved <= most * max(1, context.case.devices() - 1), f"{moved} rows moved of {most} looked up")
    if context.case.devices() == 1:
        context.expect("rows_moved", moved, 0)
    if context.has("--strategy") and context.options["--strategy"] != "auto":
        context.expect("strategy", found["strategy"], context.options["--strategy"])


def draw_gather(random):
    placement = random.choice(("device", "host", "cached"))
    options = {"--devices": random.choice(TEAMS), "--rows": random.choice((1, 2, 5, 16, 17, 100, 5000)),
               "--k": random.choice(COLUMNS), "--count": random.choice((1, 2, 17, 100, 3000)), "--placement": placement,
               "--verify": None, "--seed": random.choice((1, 2, 3))}
    if placement == "cached" and random.random() < 0.8:
        options["--cached"] = random.choice((0, 1, 4, 100, 5000))
    if placement == "device" and random.random() < 0.5:
        options["--strategy"] = random.choice(("direct", "messages"))
    if placement != "device" and random.random() < 0.6:
        options["--order"] = random.choice(("auto", "asked", "sorted"))
    if random.random() < 0.4:
        options["--skew"] = random.choice(("0.5", "1", "1.1", "3"))
    return None, options, {}


def check_gather(context):
    found = context.result()
    context.expect("verified", found["verified"], True)
    if found["placement"] != "cached":
        return
    rows = int(context.options.get("--rows", 1000000))
    cached = min(int(context.options.get("--cached", rows // 10)), rows)
    context.expect("cached_rows", found["cached_rows"], cached)
    if cached in (0, rows):
        context.expect("hit_rate", found["hit_rate"], float(cached == rows))


def draw_sample(random):
    drawing = draw_any(random, random.random() < 0.4)
    options = {"--devices": random.choice(TEAMS), "--verify": None, "--seed": random.choice((1, 2, 3))}
    extra = {"batch": random.choice((0.0, 0.3, 1.0, 1.0)), "other": random.choice(TEAMS)}
    for option, chance in (("--replace", 0.25), ("--disjoint", 0.2), ("--temporal", 0.2)):
        if random.random() < chance:
            options[option] = None
    if "--temporal" in options:
        extra.update(times=random.randrange(2**30), one=random.random() < 0.5)
    # Trees grow by a factor with each hop.
    trees = "--disjoint" in options or "--temporal" in options
    fanouts = [str(random.choice((-1, 1, 2, 5) if trees else (-1, 1, 2, 5, 33, 300))) for _ in range(random.randint(1, 2 if trees else 3))]
    # A value that begins with a minus sign needs the equals sign.
    options["--fanout=" + ",".join(fanouts)] = None
    options["--batches"] = random.choice((1, 2) if trees else (1, 2, 5, 17))
    if random.random() < 0.5:
        options["--table"] = random.choice(("auto", "hash", "direct"))
    if random.random() < 0.5:
        options["--in-flight"] = random.choice((1, 2, 5, 40))
    if random.random() < 0.4:
        options["--edges"] = random.choice(("device", "host"))
    if random.random() < 0.4:
        options["--method"] = random.choice(METHODS)
    if random.random() < 0.4 and (drawing.weights or "--weights" in drawing.options):
        options["--weighted"] = None
        drawing.edges = [(u, v, w or 1 if drawing.weights else None) for u, v, w in drawing.edges]
        if "--weights" in drawing.options:
            drawing.options["--weights"] = "uniform:1:9"
    elif "--weights" in drawing.options:
        del drawing.options["--weights"]
    return drawing, options, extra


@guarded
def check_sample(context):
    model = context.model(context.has("--weighted"))
    batch = max(1, int(context.case.extra["batch"] * model.vertices))
    fanout = next(option for option in context.options if option.startswith("--fanout")).split("=")[1]
    arguments = ["--batch", batch]
    allowed = [None] * model.vertices  # Of each seed, the entries that it may follow; None: all.
    if context.has("--temporal"):
        times, allowed = write_times(context, model)
        arguments += times
    found = context.result(*arguments)
    context.expect("verified", found["verified"], True)
    context.expect("batch", found["batch"], batch)
    batches = found["batches"]
    everything = batch == model.vertices
    wanted = counted(context, model, list(map(int, fanout.split(","))), allowed) if everything else None
    if wanted is not None:
        edges, vertices = wanted
        context.expect("sampled_edges", found["sampled_edges"], batches * edges)
        context.expect("sampled_vertices", found["sampled_vertices"], batches * vertices)
    context.require(found["sampled_vertices"] >= batches * batch, "fewer vertices than seeds")
    other = dict(context.options)
    context.options.update({"--devices": context.case.extra["other"], "--in-flight": 1})
    again = context.result(*arguments)
    context.case.options = other
    if context.options.get("--method", "ranges") == "ranges":
        context.expect("digest of another team", again["digest"], found["digest"])
        context.expect("edges of another team", again["sampled_edges"], found["sampled_edges"])


def counted(context, model, fanouts, allowed):
    """(edges, vertices) of a batch of all vertices, where that does not depend on the draws."""
    tree = context.has("--disjoint") or context.has("--temporal")
    replace = context.has("--replace")
    take = lambda degree, m: degree if m == -1 else m * (degree > 0) if replace else min(degree, m)  # noqa: E731
    if not tree:
        return sum(take(degree, m) for m in fanouts for degree in model.degrees), model.vertices
    largest = max(model.degrees)
    if any(m != -1 and (replace or m < largest) for m in fanouts):
        return None
    matrix = model.matrix(False)
    edges, vertices = 0, 0
    for seed in range(model.vertices):
        reach = matrix if allowed[seed] is None else allowed[seed]
        copies = numpy.zeros(model.vertices)
        copies[seed] = 1
        for _ in fanouts:
            step = reach.T @ copies
            edges += int(step.sum())
            copies = copies + step
        vertices += int(copies.sum())
    return edges, vertices


def write_times(context, model):
    """(options, for each vertex the matrix of the edges that are not later than its time)."""
    random = numpy.random.default_rng(context.case.extra["times"])
    pairs = sorted({(u, v) for u, v, _ in model.edges})
    time = dict(zip(pairs, random.integers(-3, 10, len(pairs)).tolist()))
    if context.case.extra["one"] or len(pairs) < len(model.edges):
        # In the order of the edges; text cannot tell parallel ones apart.
        name = "times.npy"
        numpy.save(context.folder / name, numpy.array([time[u, v] for u, v, _ in model.edges], numpy.int64))
    else:
        name = "times.txt"
        lines = [f"{model.labels[u]} {model.labels[v]} {t}" for (u, v), t in time.items()]
        (context.folder / name).write_text("".join(line + "\n" for line in lines))
    if context.case.extra["one"]:
        seeds = [int(random.integers(-4, 11))] * model.vertices
        how = f"--seed-times={seeds[0]}"
    else:
        seeds = random.integers(-4, 11, model.vertices).tolist()
        (context.folder / "seeds.txt").write_text("".join(f"{t}\n" for t in seeds))
        how = "--seed-times=seeds.txt"
    matrices = {}
    for t in set(seeds):
        ends = [(u, v) for u, v, _ in model.edges if time[u, v] <= t]
        matrices[t] = scipy.sparse.coo_matrix(
            (numpy.ones(len(ends)), ([u for u, _ in ends], [v for _, v in ends])), (model.vertices,) * 2).tocsr()
    return ["--times", name, how], [matrices[t] for t in seeds]
