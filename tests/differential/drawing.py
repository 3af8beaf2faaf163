# SPDX-License-Identifier: Apache-2.0
"""Random small graphs, of the shapes that break programs, and the options of a GRAPH argument.

A Drawing is what a file holds: vertices, edges in the order of the file, the format, and the options that tell how the
file is read. It can be written again after edges were taken out, which is how a failing case is made smaller."""

import dataclasses
import math

TEXT_FORMATS = ("el", "wel", "txt", "tsv", "mtx", "gr", "graph")
FORMATS = (*TEXT_FORMATS, "sg", "wsg", "npz", "wgr")
EDGE_LISTS = ("el", "wel", "txt", "tsv")
WEIGHTED_ONLY = ("wel", "gr", "wsg")
WITHOUT_WEIGHTS = ("el", "sg")
FLOATS = ("wel", "txt", "tsv", "mtx", "npz", "wgr")
MOST_INT = 2**31 - 1


@dataclasses.dataclass
class Drawing:
    """`undirected`: "" (every edge as it stands), "triangle" (an edge stands for both directions, and the file holds
    one of them) or "both" (the file holds both). `ids`: the ids of an edge list read with --compact, else None."""

    shape: str
    vertices: int
    edges: list
    weights: str = ""  # "", "int" or "float"
    format: str = "el"
    packing: str = ""  # "", ".gz", ".zst"
    undirected: str = ""
    ids: list = None
    announces: bool = False  # A "# Nodes:" comment.
    seed: int = 0  # Of what does not matter: blanks, comments, types of arrays.
    options: dict = dataclasses.field(default_factory=dict)  # --symmetrize and so on.
    generator: str = ""  # A generator's name in place of a file.

    def with_edges(self, edges):
        return dataclasses.replace(self, edges=edges)


def draw_shape(random):
    """(name, vertices, edges) of one shape."""
    n = random.choice((1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 40, 64, 70, 130, 257))
    name, make = random.choice(SHAPES)
    edges = [(u, v) for u, v in make(n, random) if u < n and v < n]
    if random.random() < 0.3:
        new = list(range(n))
        random.shuffle(new)
        edges = [(new[u], new[v]) for u, v in edges]
    if edges and random.random() < 0.3:
        edges += [random.choice(edges) for _ in range(random.randint(1, len(edges)))]
    if random.random() < 0.2:
        edges += [(v, v) for v in random.sample(range(n), random.randint(1, n))]
    if random.random() < 0.3:
        n += random.choice((1, 3, 30))  # Isolated vertices behind.
    if random.random() < 0.5:
        random.shuffle(edges)
    return name, n, edges


def random_pairs(n, random, mean):
    return [(random.randrange(n), random.randrange(n)) for _ in range(int(mean * n))]


def blocks(n, random):
    """Several components, of which some are dense."""
    edges = []
    begin = 0
    while begin < n:
        end = min(n, begin + random.randint(1, 9))
        edges += [(u, v) for u in range(begin, end) for v in range(begin, end) if random.random() < 0.6]
        begin = end
    return edges


def lattice(n, _):
    width = max(1, math.isqrt(n))
    edges = [(v, v + 1) for v in range(n - 1) if (v + 1) % width]
    return edges + [(v, v + width) for v in range(n - width)]


def skewed(n, random):
    """Sources and targets crowd at the low ids."""
    pick = lambda: int(n * random.random() ** 4)  # noqa: E731
    return [(pick(), pick()) for _ in range(4 * n)]


SHAPES = (
    ("no edges", lambda n, r: []),
    ("one edge", lambda n, r: random_pairs(n, r, 1)[:1]),
    ("self-loops", lambda n, r: [(v, v) for v in range(n) if r.random() < 0.7]),
    ("path", lambda n, r: [(v, v + 1) for v in range(n - 1)]),
    ("path, backwards", lambda n, r: [(v + 1, v) for v in range(n - 1)]),
    ("cycle", lambda n, r: [(v, (v + 1) % n) for v in range(n)]),
    ("star out", lambda n, r: [(0, v) for v in range(1, n)]),
    ("star in", lambda n, r: [(v, 0) for v in range(1, n)]),
    ("star at the end", lambda n, r: [(n - 1, v) for v in range(n)]),
    ("two stars", lambda n, r: [(v % 2, v) for v in range(2, n)] + [(v, 0) for v in range(2, n, 3)]),
    ("lattice", lattice),
    ("tree", lambda n, r: [((v - 1) // 2, v) for v in range(1, n)]),
    ("random tree", lambda n, r: [(r.randrange(v), v) for v in range(1, n)]),
    ("complete", lambda n, r: [(u, v) for u in range(min(n, 20)) for v in range(min(n, 20)) if u != v]),
    ("bipartite", lambda n, r: [(u, v) for u in range(0, n, 2) for v in range(1, n, 2) if r.random() < 0.2]),
    ("sparse", lambda n, r: random_pairs(n, r, 0.7)),
    ("random", lambda n, r: random_pairs(n, r, 3)),
    ("dense", lambda n, r: random_pairs(n, r, 12)),
    ("blocks", blocks),
    ("skewed", skewed),
    ("chains", lambda n, r: [(v, v + 1) for v in range(n - 1) if v % 7]),
)


def draw_weights(random, kind, count):
    if kind == "int":
        how = random.choice(("small", "small", "small", "zeros", "large"))
        bounds = {"small": (1, 9), "zeros": (0, 2), "large": (0, MOST_INT)}[how]
        return [random.randint(*bounds) for _ in range(count)]
    how = random.choice(("eighths", "eighths", "units", "scales"))
    if how == "eighths":
        return [random.randint(1, 80) / 8 for _ in range(count)]
    if how == "units":
        return [random.random() for _ in range(count)]
    return [2.0 ** random.randint(-20, 20) for _ in range(count)]


def draw_format(random, drawing, weighted):
    """Format, direction, weights; changes edges where the format cannot hold them."""
    allowed = [f for f in FORMATS if not (weighted and f in WITHOUT_WEIGHTS)]
    drawing.format = random.choice(allowed)
    if drawing.format in TEXT_FORMATS and random.random() < 0.2:
        drawing.packing = random.choice((".gz", ".zst"))
    if drawing.format in WEIGHTED_ONLY or (drawing.format not in WITHOUT_WEIGHTS and (weighted or random.random() < 0.3)):
        drawing.weights = "float" if drawing.format in FLOATS and random.random() < 0.4 else "int"
    if drawing.format == "graph":
        drawing.undirected = "both"
        drawing.edges = [(u, v) for u, v in drawing.edges if u != v]
    elif drawing.format in ("sg", "wsg") and random.random() < 0.5:
        drawing.undirected = "both"
    elif drawing.format == "mtx" and random.random() < 0.4:
        drawing.undirected = "triangle"
    weights = draw_weights(random, drawing.weights, len(drawing.edges)) if drawing.weights else [None] * len(drawing.edges)
    drawing.edges = [(u, v, w) for (u, v), w in zip(drawing.edges, weights)]


def draw_ids(random, drawing):
    """How an edge list numbers its vertices."""
    if drawing.format not in EDGE_LISTS:
        return
    how = random.choice(("plain", "plain", "one-based", "compact"))
    if how == "one-based":
        drawing.options["--one-based"] = None
    elif how == "compact" and drawing.edges:
        drawing.options["--compact"] = None
        most = random.choice((2 * drawing.vertices, 10**6, 2**32 - 2, 2**40))
        drawing.ids = sorted(random.sample(range(max(most, drawing.vertices)), drawing.vertices))
    drawing.announces = how != "compact" and (not drawing.edges or random.random() < 0.5)


def draw_graph(random, weighted=False):
    """A Drawing; `weighted` ones hold weights or have them drawn by --weights uniform."""
    name, vertices, edges = draw_shape(random)
    drawing = Drawing(name, vertices, edges, seed=random.randrange(2**30))
    for option, chance in (("--symmetrize", 0.3), ("--drop-self-loops", 0.15), ("--keep-duplicates", 0.2)):
        if random.random() < chance:
            drawing.options[option] = None
    uniform = weighted and random.random() < 0.35
    draw_format(random, drawing, weighted and not uniform)
    draw_ids(random, drawing)
    if uniform:
        low = random.choice((0, 1, 1, 7))
        drawing.options["--weights"] = f"uniform:{low}:{low + random.choice((0, 1, 8, 254, 10**6))}"
    return drawing


def draw_generated(random, weighted=False):
    """A generator instead of a file; `edges` stay empty, and are found by converting."""
    name = random.choice((
        f"grid:{random.randint(1, 12)}x{random.randint(1, 12)}",
        f"kron:{random.randint(0, 6)},{random.randint(0, 6)}",
        f"urand:{random.randint(0, 6)},{random.randint(0, 6)}",
        f"community:{random.choice((1, 7, 150, 200, 401))},{random.choice((0, 0.5, 1.5, 4))}"))
    drawing = Drawing(name, 0, [], generator=name, seed=random.randrange(2**30))
    for option in ("--symmetrize", "--drop-self-loops", "--keep-duplicates"):
        if random.random() < 0.3:
            drawing.options[option] = None
    if weighted:
        drawing.options["--weights"] = f"uniform:{random.choice((0, 1))}:{random.choice((1, 9, 64))}"
    return drawing
