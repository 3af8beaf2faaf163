# SPDX-License-Identifier: Apache-2.0
"""Drawings as files of every format, and graphs read back from what the program wrote. SciPy writes and reads its own
formats and Matrix Market's; the other formats are written and read here, by their descriptions."""

import gzip
import io
import random as randoms
import struct
import subprocess
import zipfile

import numpy
import scipy.io
import scipy.sparse


def number(weight):
    return str(weight) if isinstance(weight, int) else repr(float(weight))


def both_directions(drawing):
    """The edges as a file holds them that names both directions of an undirected edge."""
    if drawing.undirected != "both":
        return drawing.edges
    return drawing.edges + [(v, u, w) for u, v, w in drawing.edges if u != v]


def edge_list_text(drawing, random):
    """Comments, blank lines and several blanks between columns are all the same to a reader."""
    base = 1 if "--one-based" in drawing.options else 0
    name = (lambda v: drawing.ids[v]) if drawing.ids else (lambda v: v + base)
    blank = random.choice((" ", "\t", "  "))
    lines = []
    if drawing.announces:
        lines.append(f"# Nodes: {drawing.vertices} Edges: {len(drawing.edges)}")
    elif random.random() < 0.3:
        lines.append(random.choice(("# a comment", "% a comment")))
    for u, v, w in drawing.edges:
        lines.append(blank.join([str(name(u)), str(name(v))] + ([number(w)] if w is not None else [])))
        if random.random() < 0.03:
            lines.append(random.choice(("", "# between", "  ")))
    end = random.choice(("\n", "\n", "\r\n"))
    return end.join(lines) + (end if random.random() < 0.8 else "")


def matrix_market_text(drawing, random):
    field = {"": "pattern", "int": random.choice(("integer", "real")), "float": "real"}[drawing.weights]
    symmetry = "symmetric" if drawing.undirected else "general"
    edges = drawing.edges
    if drawing.undirected:
        edges = [(max(u, v), min(u, v), w) for u, v, w in edges]
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}"]
    if random.random() < 0.3:
        lines.append("% a comment")
    lines.append(f"{drawing.vertices} {drawing.vertices} {len(edges)}")
    lines += [" ".join([str(u + 1), str(v + 1)] + ([number(w)] if w is not None else [])) for u, v, w in edges]
    return "\n".join(lines) + "\n"


def dimacs_text(drawing, _):
    lines = ["c a comment", f"p sp {drawing.vertices} {len(drawing.edges)}"]
    return "\n".join(lines + [f"a {u + 1} {v + 1} {w}" for u, v, w in drawing.edges]) + "\n"


def metis_text(drawing, random):
    edges = both_directions(drawing)
    rows = [[] for _ in range(drawing.vertices)]
    for u, v, w in edges:
        rows[u].append(str(v + 1) if w is None else f"{v + 1} {w}")
    head = f"{drawing.vertices} {len(edges) // 2}" + (random.choice((" 1", " 001")) if drawing.weights else "")
    return "\n".join([head] + [" ".join(row) for row in rows]) + "\n"


def gap_bytes(drawing, _):
    weighted = drawing.format == "wsg"

    def direction(edges):
        edges = sorted(edges, key=lambda e: e[:2])
        counts = numpy.zeros(drawing.vertices + 1, numpy.int64)
        for u, _, _ in edges:
            counts[u + 1] += 1
        targets = b"".join(struct.pack("<ii", v, w) if weighted else struct.pack("<i", v) for _, v, w in edges)
        return numpy.cumsum(counts).astype("<i8").tobytes() + targets

    edges = both_directions(drawing)
    content = struct.pack("<?qq", not drawing.undirected, len(edges), drawing.vertices) + direction(edges)
    if not drawing.undirected:
        content += direction([(v, u, w) for u, v, w in edges])
    return content


def scipy_bytes(drawing, random):
    """CSR as it comes, with duplicates and unsorted columns, which SciPy's own constructors would sum and sort."""
    index = random.choice((numpy.int32, numpy.int64))
    edges = sorted(drawing.edges, key=lambda e: e[0])
    counts = numpy.bincount([u for u, _, _ in edges], minlength=drawing.vertices) if edges else numpy.zeros(drawing.vertices)
    matrix = scipy.sparse.csr_matrix((drawing.vertices, drawing.vertices), dtype=bool)
    matrix.indptr = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(index)
    matrix.indices = numpy.array([v for _, v, _ in edges], index)
    kind = {"": bool, "int": random.choice((numpy.int32, numpy.int64)), "float": random.choice((numpy.float32, numpy.float64))}
    matrix.data = numpy.array([1 if w is None else w for _, _, w in edges], kind[drawing.weights])
    content = io.BytesIO()
    scipy.sparse.save_npz(content, matrix, compressed=random.random() < 0.5)
    return content.getvalue()


WRITERS = {"el": edge_list_text, "wel": edge_list_text, "txt": edge_list_text, "tsv": edge_list_text,
           "mtx": matrix_market_text, "gr": dimacs_text, "graph": metis_text, "sg": gap_bytes, "wsg": gap_bytes,
           "npz": scipy_bytes}


def write(drawing, folder, program):
    """Writes the file and returns its path; .wgr files are the program's own, made from the same edges as text."""
    random = randoms.Random(drawing.seed)
    if drawing.format == "wgr":
        return write_own(drawing, folder, program, random)
    content = WRITERS[drawing.format](drawing, random)
    content = content if isinstance(content, bytes) else content.encode()
    path = folder / f"graph.{drawing.format}{drawing.packing}"
    if drawing.packing == ".gz":
        content = gzip.compress(content)
    elif drawing.packing == ".zst":
        content = subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True).stdout
    path.write_bytes(content)
    return path


def write_own(drawing, folder, program, random):
    text = f"# Nodes: {drawing.vertices}\n"
    text += "".join(f"{u} {v}" + ("" if w is None else f" {number(w)}") + "\n" for u, v, w in drawing.edges)
    source = folder / "source.txt"
    source.write_text(text)
    path = folder / "graph.wgr"
    packed = ["--compress"] if random.random() < 0.5 else []
    # Merging is left to whoever reads the file.
    program.succeed("convert", source, path, "--keep-duplicates", *packed)
    return path


def read(path, labelled=False):
    """(vertices or None where the file does not tell, edges) of a file that the program wrote, by another reader."""
    kind = [part for part in path.suffixes if part not in (".gz", ".zst")][-1]
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = subprocess.run(["zstd", "-q", "-d", "-c"], input=data, capture_output=True, check=True).stdout
    if kind in (".el", ".wel", ".txt", ".tsv"):
        return read_edge_list(data.decode(), labelled)
    if kind == ".mtx":
        return read_matrix_market(data)
    if kind == ".gr":
        lines = [line.split() for line in data.decode().splitlines()]
        vertices = next(int(line[2]) for line in lines if line[0] == "p")
        return vertices, [(int(u) - 1, int(v) - 1, int(w)) for mark, u, v, w in (x for x in lines if x[0] == "a")]
    if kind == ".graph":
        return read_metis(data.decode())
    if kind in (".sg", ".wsg"):
        return read_gap(data, kind == ".wsg")
    return read_scipy(data)


def value(text):
    return int(text) if text.lstrip("-").isdigit() else float(text)


def read_edge_list(text, labelled):
    vertices = None
    edges = []
    for line in text.splitlines():
        if line.startswith("# Nodes:"):
            vertices = int(line.split()[2])
        elif line and line[0] not in "#%":
            columns = line.split()
            edges.append((int(columns[0]), int(columns[1]), value(columns[2]) if len(columns) > 2 else None))
    if vertices is None and not labelled:
        vertices = max((max(u, v) for u, v, _ in edges), default=-1) + 1
    return vertices, edges


def read_matrix_market(data):
    vertices, _, _, _, field, _ = scipy.io.mminfo(io.BytesIO(data))
    matrix = scipy.io.mmread(io.BytesIO(data)).tocoo()
    weight = {"pattern": lambda w: None, "integer": int, "real": float}[field]
    return vertices, [(int(u), int(v), weight(w)) for u, v, w in zip(matrix.row, matrix.col, matrix.data)]


def read_metis(text):
    lines = [line.split() for line in text.splitlines()]
    vertices, edges = int(lines[0][0]), []
    weighted = len(lines[0]) > 2 and lines[0][2].endswith("1")
    for u, line in enumerate(lines[1:]):
        numbers = list(map(int, line))
        pairs = zip(numbers[::2], numbers[1::2]) if weighted else ((v, None) for v in numbers)
        edges += [(u, v - 1, w) for v, w in pairs]
    assert len(edges) == 2 * int(lines[0][1]), "the header counts other edges than there are"
    return vertices, edges


def read_gap(data, weighted):
    _, count, vertices = struct.unpack_from("<?qq", data)
    offsets = numpy.frombuffer(data, "<i8", vertices + 1, 17)
    entries = numpy.frombuffer(data, "<i4", count * (2 if weighted else 1), 17 + 8 * (vertices + 1))
    entries = entries.reshape(count, 2 if weighted else 1)
    sources = numpy.repeat(numpy.arange(vertices), numpy.diff(offsets))
    return vertices, [(int(u), int(e[0]), int(e[1]) if weighted else None) for u, e in zip(sources, entries)]


def read_scipy(data):
    """By its members: load_npz would lose parallel edges."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        member = {name[:-4]: numpy.load(io.BytesIO(archive.read(name))) for name in archive.namelist()}
    scipy.sparse.load_npz(io.BytesIO(data))  # It can read the file, too.
    vertices = int(member["shape"][0])
    sources = numpy.repeat(numpy.arange(vertices), numpy.diff(member["indptr"]))
    weights = [None] * len(sources) if member["data"].dtype == bool else member["data"].tolist()
    return vertices, list(zip(sources.tolist(), member["indices"].tolist(), weights))
