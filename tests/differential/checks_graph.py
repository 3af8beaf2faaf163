# SPDX-License-Identifier: Apache-2.0
"""stats, convert and partition, against counts by plain loops and SciPy's readers."""

import collections

import drawing as draw
import writing
from case import guarded
from model import stored, volumes

TARGETS = ("el", "wel", "txt", "tsv", "mtx", "gr", "graph", "sg", "wsg", "npz", "wgr")
METHODS = ("ranges", "random", "degree", "rabbit", "metis")


def draw_any(random, weighted=False):
    return draw.draw_generated(random, weighted) if random.random() < 0.12 else draw.draw_graph(random, weighted)


def draw_stats(random):
    drawing = draw_any(random, random.random() < 0.5)
    if drawing.weights and drawing.edges and "--weights" not in drawing.options and random.random() < 0.3:
        drawing.options["--weights"] = "file"
    return drawing, {"--threads": random.choice((1, 2, 3)), "--seed": random.choice((1, 1, 2, 9))}, {}


def weight_type(model):
    if not model.weighted:
        return "none"
    return "int32" if all(isinstance(w, int) for _, _, w in model.edges) else "float32"


@guarded
def check_stats(context):
    model = context.model(True)
    found = context.result()
    n, m = model.vertices, len(model.edges)
    context.expect("vertices", found["vertices"], n)
    context.expect("edges", found["edges"], m)
    context.expect("max_degree", found["max_degree"], max(model.degrees))
    context.expect("max_degree_vertex", found["max_degree_vertex"], model.labels[model.busiest])
    context.expect("mean_degree", found["mean_degree"], m / n, 1e-12 * m)
    context.expect("self_loops", found["self_loops"], sum(model.loops))
    joined = {v for edge in model.edges if edge[0] != edge[1] for v in edge[:2]}
    context.expect("isolated", found["isolated"], n - len(joined))
    context.expect("symmetric", found["symmetric"], model.symmetric)
    if m > 0:
        context.expect("weighted", found["weighted"], model.weighted)
        context.expect("weight_type", found["weight_type"], weight_type(model))


def draw_convert(random):
    drawing = draw_any(random, random.random() < 0.5)
    target = random.choice(TARGETS)
    packing = random.choice(("", "", ".gz", ".zst")) if target in draw.TEXT_FORMATS else ""
    extra = {"target": f"out.{target}{packing}", "again": random.random() < 0.4}
    options = {"--compress": None} if target == "wgr" and random.random() < 0.5 else {}
    return drawing, options, extra


def target_refuses(model, target):
    """Why a format cannot hold the graph, or nothing."""
    if target == "graph" and not model.symmetric:
        return "directed"
    if target == "graph" and sum(model.loops):
        return "self-loops"
    if target in ("gr", "graph", "wsg") and any(w is not None and w != int(w) for _, _, w in model.edges):
        return "weights that are no integers"
    return ""


@guarded
def check_convert(context):
    model = context.model(True)
    target = context.case.extra["target"]
    kind = target.split(".")[1]
    why = target_refuses(model, kind)
    if why:
        context.refused(why, target)
        return
    found = context.result(target)
    context.expect("edges", found["edges"], len(model.edges))
    context.expect("bytes", found["bytes"], (context.folder / target).stat().st_size)
    if kind == "wgr":
        compare_again(context, model, target, kind)
        return
    compare_file(context, model, target, kind)
    if context.case.extra["again"]:
        compare_again(context, model, target, kind)


def written_edges(model, kind):
    """The edges as the format holds them: with ones where it needs weights, without where it has no room."""
    if kind in ("el", "sg"):
        return [(u, v, None) for u, v, _ in model.edges]
    if kind in draw.WEIGHTED_ONLY:
        return [(u, v, 1 if w is None else w) for u, v, w in model.edges]
    return model.edges


def compare_file(context, model, target, kind):
    is_list = kind in draw.EDGE_LISTS
    labelled = is_list and model.labels[-1] != model.vertices - 1
    vertices, edges = writing.read(context.folder / target, labelled)
    if not labelled:
        context.expect(f"vertices of {target}", vertices, model.vertices)
    name = (lambda v: model.labels[v]) if is_list else (lambda v: v)
    wanted = collections.Counter((name(u), name(v), w) for u, v, w in written_edges(model, kind))
    # Text has as few digits as tell float32 numbers apart.
    got = collections.Counter((u, v, w if w is None else stored(w)) for u, v, w in edges)
    context.require(got == wanted, f"edges of {target}: missing {dict(wanted - got)}, too many {dict(got - wanted)}"[:1500])


def compare_again(context, model, target, kind):
    """What was written is read as the same graph."""
    drawing = context.case.drawing
    if drawing.ids and "--drop-self-loops" in drawing.options:
        return  # An id that only a dropped self-loop named does not occur any more.
    keep = [] if "--keep-duplicates" not in drawing.options else ["--keep-duplicates"]
    if kind in draw.EDGE_LISTS:
        keep += [option for option in ("--compact", "--one-based") if option in drawing.options]
    program = context.program
    program.succeed("convert", target, "again.npz", *keep, folder=context.folder)
    vertices, edges = writing.read(context.folder / "again.npz")
    context.expect(f"vertices of {target}, read again", vertices, model.vertices)
    wanted = collections.Counter(written_edges(model, kind))
    got = collections.Counter(edges)
    context.require(got == wanted, f"{target} read again: missing {dict(wanted - got)}, too many {dict(got - wanted)}"[:1500])


def draw_partition(random):
    parts = random.choice((1, 2, 3, 4, 7, 16, 17, 32, 33, 40, 64, 1024))
    options = {"--parts": parts, "--method": random.choice(METHODS)}
    if random.random() < 0.5:
        options["--workgroup"] = random.choice([g for g in range(1, parts + 1) if parts % g == 0])
    return draw_any(random), options, {}


@guarded
def check_partition(context):
    model = context.model(False)
    found = context.result()
    parts, workgroup = found["parts"], found["workgroup"]
    context.expect("parts", parts, int(context.options.get("--parts", 2)))
    context.expect("workgroup", workgroup, int(context.options.get("--workgroup", parts)))
    moved, between = found["volume"], found["volume_between_workgroups"]
    context.expect("broadcast", moved["broadcast"], model.vertices * (parts - 1))
    context.expect("per_edge", moved["per_edge"], found["cut_edges"])
    context.expect("once", moved["once"], found["halo_rows"])
    context.require(moved["cover"] <= moved["once"] <= moved["per_edge"] <= len(model.edges), f"no order: {moved}")
    for name, rows in between.items():
        context.require(0 <= rows <= moved[name], f"between workgroups {between}, in all {moved}")
    owner = model.owners(found["method"], parts)
    if owner is None:
        again = context.result()
        same = {name: again[name] for name in ("cut_edges", "halo_rows", "volume", "imbalance")}
        context.expect("the same once more", {name: found[name] for name in same}, same)
        return
    wanted_moved, wanted_between = volumes(model, owner, parts, workgroup)
    context.expect("volume", moved, wanted_moved)
    context.expect("volume_between_workgroups", between, wanted_between)
    edges = collections.Counter(owner[u] for u, _, _ in model.edges)
    imbalance = max(edges.values(), default=0) * parts / len(model.edges) if model.edges else 1.0
    context.expect("imbalance", found["imbalance"], float(imbalance), 1e-9)
