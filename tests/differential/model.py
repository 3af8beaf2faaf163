# SPDX-License-Identifier: Apache-2.0
"""What a GRAPH argument means: the graph that a drawing and its options stand for, as the documents say, and the
answers about it that NetworkX and SciPy give."""

import bisect
import functools
import itertools

import networkx
import numpy
import scipy.sparse
import scipy.sparse.csgraph

MASK = 2**64 - 1


class Refused(Exception):
    """The program has to end with status 2, and these words in its message."""


def mix(x):
    """The finaliser of MurmurHash3, of which weights are drawn."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ (x >> 33)


def uniform_weight(u, v, text, seed):
    low, high = map(int, text.split(":")[1:])
    pair = min(u, v) * 1000003 + max(u, v)
    return low + mix((pair + mix((seed - 1) & MASK)) & MASK) % (high - low + 1)


class Model:
    """Vertices from 0, edges sorted by their ends, `labels` as the user knows the vertices. Weights are None, whole
    numbers, or those of float32."""

    def __init__(self, vertices, edges, labels):
        self.vertices = vertices
        self.edges = edges
        self.labels = labels
        self.targets = [[] for _ in range(vertices)]
        for u, v, w in edges:
            self.targets[u].append((v, w))

    @property
    def weighted(self):
        return any(w is not None for _, _, w in self.edges)

    @functools.cached_property
    def degrees(self):
        return [len(row) for row in self.targets]

    @functools.cached_property
    def symmetric(self):
        return self.edges == in_order([(v, u, w) for u, v, w in self.edges])

    @functools.cached_property
    def loops(self):
        """Self-loops of each vertex."""
        counts = [0] * self.vertices
        for u, v, _ in self.edges:
            counts[u] += u == v
        return counts

    @functools.cached_property
    def busiest(self):
        return max(range(self.vertices), key=lambda v: (self.degrees[v], -v))

    @functools.cached_property
    def networkx(self):
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(range(self.vertices))
        graph.add_edges_from((u, v, {"weight": w}) for u, v, w in self.edges)
        return graph

    def matrix(self, weighted):
        """Parallel edges are added up."""
        values = [w if weighted else 1 for _, _, w in self.edges]
        ends = ([u for u, _, _ in self.edges], [v for _, v, _ in self.edges])
        return scipy.sparse.coo_matrix((numpy.array(values, float), ends), (self.vertices, self.vertices)).tocsr()

    def depths(self, source):
        return networkx.single_source_shortest_path_length(self.networkx, source)

    def distances(self, source):
        return networkx.single_source_dijkstra_path_length(self.networkx, source)

    def components(self):
        """The smallest vertex of every vertex' component."""
        label = [0] * self.vertices
        for component in networkx.weakly_connected_components(self.networkx):
            for v in component:
                label[v] = min(component)
        return label

    def ranks(self, damping):
        """The fixed point of PageRank: a system of linear equations, ranks of vertices without out-edges to all."""
        n = self.vertices
        matrix = self.matrix(False).toarray()
        out = matrix.sum(1)
        step = numpy.where(out[:, None] > 0, matrix / numpy.maximum(out, 1)[:, None], 1 / n)
        return numpy.linalg.solve(numpy.eye(n) - damping * step.T, numpy.full(n, (1 - damping) / n))

    def cuts(self, method, parts):
        """(new id of every vertex, cut points) of the partitions that documents define; None of others."""
        if method == "ranges":
            offsets = [0, *itertools.accumulate(self.degrees)]
            cuts = [bisect.bisect_left(offsets, len(self.edges) * p // parts) for p in range(parts)]
            return list(range(self.vertices)), cuts + [self.vertices]
        if method == "degree":
            order = sorted(range(self.vertices), key=lambda v: (-self.degrees[v], v))
            sizes = [self.vertices // parts + (p < self.vertices % parts) for p in range(parts)]
            cuts = [0, *itertools.accumulate(sizes)]
            new = [0] * self.vertices
            for k, v in enumerate(order):
                new[v] = cuts[k % parts] + k // parts
            return new, cuts
        return None

    def owners(self, method, parts):
        cut = self.cuts(method, parts)
        if cut is None:
            return None
        new, cuts = cut
        # Of ranks that own nothing the last one with this cut has the vertex.
        return [bisect.bisect_right(cuts, v) - 1 for v in new]


def volumes(model, owner, parts, workgroup):
    """(fields of `partition`, rows between workgroups): what moves in one product, counted entry by entry."""
    group = lambda p: p // workgroup  # noqa: E731
    remote = [(u, v) for u, v, _ in model.edges if owner[u] != owner[v]]
    once = {(owner[u], v) for u, v in remote}
    fused = set()
    for u, v in remote:
        p, q = owner[u], owner[v]
        if group(p) == group(q):
            fused.add((q, p, v))
            continue
        counterpart = group(p) * workgroup + q % workgroup
        fused.add((q, counterpart, v))
        if counterpart != p:
            fused.add((counterpart, p, v))
    owned = [0] * parts
    for p in owner:
        owned[p] += 1
    cover, far_cover = 0, 0
    for (p, q), pairs in by_block(remote, owner).items():
        rows = {u: i for i, u in enumerate(sorted({u for u, _ in pairs}))}
        columns = {v: i for i, v in enumerate(sorted({v for _, v in pairs}))}
        block = scipy.sparse.coo_matrix(
            (numpy.ones(len(pairs)), ([rows[u] for u, _ in pairs], [columns[v] for _, v in pairs])))
        # As large as a largest matching (Koenig).
        size = int((scipy.sparse.csgraph.maximum_bipartite_matching(block.tocsr()) >= 0).sum())
        cover += size
        far_cover += size if group(p) != group(q) else 0
    far_pairs = [sum(1 for p in range(parts) if group(p) != group(q)) for q in range(parts)]
    moved = {"broadcast": model.vertices * (parts - 1), "per_edge": len(remote), "once": len(once), "fused": len(fused),
             "cover": cover}
    between = {"broadcast": sum(owned[q] * far_pairs[q] for q in range(parts)),
               "per_edge": sum(1 for u, v in remote if group(owner[u]) != group(owner[v])),
               "once": sum(1 for p, v in once if group(p) != group(owner[v])),
               "fused": sum(1 for q, p, _ in fused if group(p) != group(q)), "cover": far_cover}
    return moved, between


def by_block(remote, owner):
    blocks = {}
    for u, v in remote:
        blocks.setdefault((owner[u], owner[v]), []).append((u, v))
    return blocks


def meaning(drawing, wants_weights, seed=1):
    """The graph that `drawing` and its options stand for. Throws Refused where there is none."""
    options = drawing.options
    how = options.get("--weights", "") if wants_weights else ""
    vertices, edges, labels = drawing.vertices, list(drawing.edges), None
    if drawing.generator:
        labels = list(range(vertices))
    elif drawing.format in ("el", "wel", "txt", "tsv"):
        vertices, edges, labels = edge_list(drawing)
    labels = labels or list(range(vertices))
    if drawing.undirected:
        edges += [(v, u, w) for u, v, w in edges if u != v]
    elif "--symmetrize" in options:
        edges += [(v, u, w) for u, v, w in edges if u != v]
    if "--drop-self-loops" in options:
        edges = [(u, v, w) for u, v, w in edges if u != v]
    if how == "file" and not drawing.weights and edges:
        raise Refused("no weights for --weights file")
    reads_weights = wants_weights and drawing.weights and not how.startswith("uniform")
    edges = [(u, v, stored(w) if reads_weights else None) for u, v, w in edges]
    if "--keep-duplicates" not in options:
        least = {}
        for u, v, w in edges:
            least[u, v] = w if w is None else min(w, least.get((u, v), w))
        edges = [(u, v, w) for (u, v), w in least.items()]
    if how.startswith("uniform"):
        edges = [(u, v, uniform_weight(u, v, how, seed)) for u, v, _ in edges]
    return Model(vertices, in_order(edges), labels)


def in_order(edges):
    """By ends, parallel ones by weight."""
    return sorted(edges, key=lambda e: (e[0], e[1], e[2] or 0))


def stored(weight):
    return weight if isinstance(weight, int) else float(numpy.float32(weight))


def edge_list(drawing):
    """An edge list's vertices: to the largest id or as announced, or of --compact the ids that occur."""
    ends = {v for edge in drawing.edges for v in edge[:2]}
    if drawing.ids:
        occurring = sorted(ends)
        place = {v: i for i, v in enumerate(occurring)}
        if not occurring:
            raise Refused("no edges")
        return (len(occurring), [(place[u], place[v], w) for u, v, w in drawing.edges],
                [drawing.ids[v] for v in occurring])
    vertices = max(max(ends, default=-1) + 1, drawing.vertices if drawing.announces else 0)
    if vertices == 0:
        raise Refused("no edges")
    base = 1 if "--one-based" in drawing.options else 0
    return vertices, list(drawing.edges), [v + base for v in range(vertices)]
