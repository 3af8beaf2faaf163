# SPDX-License-Identifier: Apache-2.0
"""bfs, sssp, cc and pagerank, against NetworkX and a system of linear equations."""

import numpy

from case import TEAMS, guarded
from checks_graph import METHODS, draw_any
from model import Refused

MEMORY = ("0", "100", "64K")


def draw_options(random, has_async=True):
    options = {"--devices": random.choice(TEAMS), "--verify": None}
    if random.random() < 0.5:
        options["--threads"] = random.choice((1, 2, 3, 5))
    if random.random() < 0.6:
        options["--method"] = random.choice(METHODS)
    if random.random() < 0.6:
        options["--edges"] = random.choice(("device", "host", "compressed-host"))
    if options.get("--edges") == "host" and random.random() < 0.4:
        options["--cache"] = random.choice(MEMORY)
    if random.random() < 0.7:
        options["--mode"] = random.choice(("auto", "sync", "async") if has_async else ("auto", "sync"))
    if random.random() < 0.2:
        options["--deterministic"] = None
    if random.random() < 0.15:
        options["--repeat"] = 2
    if random.random() < 0.3:
        options["--seed"] = random.choice((2, 3, 12345))
    if random.random() < 0.6:
        options["--output"] = "out.txt"
    if random.random() < 0.15:
        del options["--verify"]
    return options


def draw_sources(random, drawing, options):
    """What is asked for; whether it can be had, the check finds out."""
    how = random.random()
    if how < 0.5 and (drawing.vertices or drawing.generator):
        return {"source": random.random()}
    if how < 0.75:
        options["--sources"] = random.randint(1, 5)
    return {}


def draw_bfs(random):
    drawing, options = draw_any(random), draw_options(random)
    extra = draw_sources(random, drawing, options)
    if "--sources" in options and random.random() < 0.4:
        options["--together"] = None
        options["--sources"] = random.choice((1, 3, 64, 65, 70))
        options.pop("--output", None)
    return drawing, options, extra


def refuse_modes(context):
    """Combinations that the documents refuse."""
    if context.options.get("--mode") == "async" and context.options.get("--edges") == "compressed-host":
        raise Refused("async reads plain lists")
    if context.options.get("--mode") == "async" and context.has("--together"):
        raise Refused("no asynchronous form")


def searched(context, model):
    """(vertices that were started from, the results of each, the options that say so)."""
    arguments = []
    if "source" in context.case.extra:
        start = int(context.case.extra["source"] * model.vertices)
        arguments = ["--source", model.labels[start]]
    if context.has("--sources") and int(context.options["--sources"]) > sum(d > 0 for d in model.degrees):
        raise Refused("more sources than vertices with out-edges")
    found = context.result(*arguments)
    place = {label: v for v, label in enumerate(model.labels)}
    several = found.get("sources", [found])
    sources = [place.get(each["source"]) for each in several]
    context.require(None not in sources, "a source is no vertex")
    if context.has("--sources"):
        context.expect("number of sources", len(set(sources)), int(context.options["--sources"]))
        context.require(all(model.degrees[s] for s in sources), "a source without out-edges")
    else:
        context.expect("source", sources, [start if arguments else model.busiest])
    return found, list(zip(sources, several))


def traversed(model, reached):
    edges = sum(model.degrees[v] for v in reached)
    return (edges + sum(model.loops[v] for v in reached)) // 2 if model.symmetric else edges


def common(context, found, model):
    context.expect("vertices", found["vertices"], model.vertices)
    context.expect("edges", found["edges"], len(model.edges))
    context.expect("devices", found["devices"], context.case.devices())
    context.expect("edges_placement", found["edges_placement"], context.options.get("--edges", "device"))
    if context.options.get("--mode", "auto") != "auto":
        context.expect("mode", found["mode"], context.options["--mode"])


def verdict(context, found):
    context.expect("verified", found["verified"], True if context.has("--verify") else None)


@guarded
def check_bfs(context):
    refuse_modes(context)
    model = context.model(False)
    found, sources = searched(context, model)
    for source, each in sources:
        depths = model.depths(source)
        context.expect("reached", each["reached"], len(depths))
        context.expect("max_depth", each["max_depth"], max(depths.values()))
        context.expect("sum_depth", each["sum_depth"], sum(depths.values()))
        if not context.has("--together"):
            context.expect("traversed_edges", each["traversed_edges"], traversed(model, depths))
            verdict(context, each)
    if context.has("--together"):
        verdict(context, found)
        return
    common(context, found, model)
    if context.has("--output"):
        check_tree(context, model, sources[0][0])


def check_tree(context, model, source):
    depths = model.depths(source)
    place = {str(label): v for v, label in enumerate(model.labels)}
    lines = context.lines("out.txt")
    context.expect("vertices of the output", [line[0] for line in lines], list(map(str, model.labels)))
    wanted = [str(depths.get(v, -1)) for v in range(model.vertices)]
    context.expect("depths", [line[1] for line in lines], wanted)
    smallest = {}
    for u, v, _ in model.edges:
        if u in depths and depths[v] == depths[u] + 1:
            smallest.setdefault(v, set()).add(u)
    smallest[source] = {source}
    for v, (_, _, parent) in enumerate(lines):
        allowed = {model.labels[u] for u in smallest.get(v, ())} or {-1}
        if context.has("--deterministic"):
            allowed = {min(allowed)}
        context.require(int(parent) in allowed, f"the parent of {model.labels[v]} is {parent}, may be {sorted(allowed)[:5]}")
        context.require(parent == "-1" or parent in place, f"parent {parent} is no vertex")


def draw_sssp(random):
    drawing, options = draw_any(random, random.random() < 0.95), draw_options(random)
    extra = draw_sources(random, drawing, options)
    if random.random() < 0.3:
        options["--delta"] = random.choice(("0.5", "1", "3", "100", "1e9"))
    if drawing.weights and drawing.edges and "--weights" not in drawing.options and random.random() < 0.2:
        drawing.options["--weights"] = "file"
    if drawing.weights and drawing.format != "wgr" and "--weights" not in drawing.options and random.random() < 0.05:
        u, v, w = drawing.edges[0] if drawing.edges else (0, 0, 0)
        drawing.edges[:1] = [(u, v, -1 - w)] if drawing.edges else []
    return drawing, options, extra


@guarded
def check_sssp(context):
    refuse_modes(context)
    model = context.model(True)
    if model.edges and not model.weighted:
        raise Refused("no weights")
    if any(w < 0 for _, _, w in model.edges):
        raise Refused("negative weights")
    found, sources = searched(context, model)
    for source, each in sources:
        distances = model.distances(source)
        longest, total = max(distances.values()), sum(distances.values())
        context.expect("reached", each["reached"], len(distances))
        context.expect("max_distance", each["max_distance"], longest, closeness(longest))
        context.expect("sum_distance", each["sum_distance"], total, closeness(total))
        context.expect("traversed_edges", each["traversed_edges"], traversed(model, distances))
        verdict(context, each)
    common(context, found, model)
    if context.has("--output"):
        distances = model.distances(sources[0][0])
        lines = context.lines("out.txt")
        context.expect("vertices of the output", [line[0] for line in lines], list(map(str, model.labels)))
        for v, (label, text) in enumerate(lines):
            wanted = distances.get(v, -1)
            got = int(text) if isinstance(wanted, int) and "." not in text else float(text)
            context.expect(f"distance of {label}", got, wanted, closeness(wanted))


def closeness(distance):
    """Whole numbers are exact; weights of files may be kept in float32."""
    return 0.0 if isinstance(distance, int) else 2e-7 * abs(distance)


def draw_cc(random):
    drawing, options = draw_any(random), draw_options(random, has_async=False)
    may_search = "--symmetrize" in drawing.options and options.get("--edges", "device") == "device"
    options["--form"] = random.choice(("auto", "auto", "forest", "search" if may_search else "auto"))
    return drawing, options, {}


@guarded
def check_cc(context):
    model = context.model(False)
    found = context.result()
    common(context, found, model)
    label = model.components()
    sizes = numpy.bincount(label)
    context.expect("components", found["components"], int((sizes > 0).sum()))
    context.expect("largest", found["largest"], int(sizes.max()))
    verdict(context, found)
    if context.has("--output"):
        wanted = [[str(model.labels[v]), str(model.labels[label[v]])] for v in range(model.vertices)]
        context.expect("labels", context.lines("out.txt"), wanted)


def draw_pagerank(random):
    drawing, options = draw_any(random), draw_options(random)
    options["--tolerance"] = random.choice(("1e-3", "1e-6", "1e-6", "1e-7", "1e-9", "1e-12"))
    options["--damping"] = random.choice(("0.85", "0.85", "0.85", "0", "0.5", "0.99"))
    options["--max-iterations"] = random.choice((1, 3, 100, 5000, 5000, 5000))
    return drawing, options, {}


@guarded
def check_pagerank(context):
    options = context.options
    refuse_modes(context)
    if options.get("--mode") == "async" and context.has("--deterministic"):
        raise Refused("async does not repeat")
    model = context.model(False)
    found = context.result()
    common(context, found, model)
    verdict(context, found)
    damping, tolerance = float(options.get("--damping", 0.85)), float(options.get("--tolerance", 1e-6))
    wanted = model.ranks(damping)
    rounding = 2e-6 if tolerance >= 1e-6 else 1e-11
    # Asynchronous ranks are told to stop, and have done more by then.
    most = int(options.get("--max-iterations", 100)) * (1 if found["mode"] == "sync" else 4)
    context.require(found["iterations"] <= most, f"{found['iterations']} iterations, more than allowed")
    context.expect("converged", found["converged"], found["residual"] <= tolerance)
    top = found["top"]
    context.expect("entries of the top", len(top), min(10, model.vertices))
    context.require(top == sorted(top, key=lambda e: (-e[1], e[0])), "the top is in no order")
    got = dict(map(tuple, top))
    if context.has("--output"):
        lines = context.lines("out.txt")
        context.expect("vertices of the output", [line[0] for line in lines], list(map(str, model.labels)))
        ranks = numpy.array([float(line[1]) for line in lines])
        context.expect("sum of the ranks", float(ranks.sum()), 1.0, rounding if found["converged"] else 1e-4)
        best = sorted(zip((-ranks).tolist(), model.labels))[:10]
        context.expect("the top of the output", top, [[label, -rank] for rank, label in best])
        got = dict(zip(model.labels, ranks))
    if found["converged"]:
        off = sum(abs(got[label] - wanted[v]) for v, label in enumerate(model.labels) if label in got)
        most = (tolerance + rounding) / (1 - damping)
        context.require(off <= most, f"ranks are off by {off:g} in L1; {most:g} is allowed")
    elif int(options["--max-iterations"]) >= 5000 and tolerance >= 1e-9:
        context.fail("did not converge")
