# SPDX-License-Identifier: Apache-2.0
"""Every argument of every function, given what it is not: a ValueError (or IndexError of places) that begins with the argument's name, says what it got, and
speaks Python's words; never a TypeError from within."""
import ast
import inspect
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

import warren

networkx = pytest.importorskip("networkx")
pandas = pytest.importorskip("pandas")
scipy = pytest.importorskip("scipy")

GRAPH = warren.from_edges([0, 1, 2, 2], [1, 2, 3, 0], [1, 2, 3, 4], symmetrize=True)
TABLE = warren.Table(np.ones((4, 2), np.float32))
DATASET = warren.Dataset(warren.generate("grid:5x5"), np.ones((25, 3)), np.arange(25) % 2, train=np.arange(10), validation=[10, 11], test=[12])
MODEL = warren.train(DATASET, epochs=1, hidden=4).model
FRAME = pandas.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 2.0]})
DATA = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=3)

ODD = [None, 3, -1, 2**32, 2**70, 1.5, math.nan, math.inf, "odd", "caf\udce9", ["caf\udce9"], b"odd", True, object(), (), {}, {"a": 1}, [None], ["odd"], [-1], [2**32], [2**70], [math.nan], [[1, 2], [3]],
       np.zeros((0, 3)), np.array("2020-01-01", "datetime64[D]"), np.array([1 + 2j]), np.zeros((2, 2, 2)), lambda *given: None, ...]

# Each with what the call needs besides. Sizes are bounded, so that no odd number asks for much work.
CALLS = {
    "bfs": (warren.bfs, {"graph": GRAPH, "source": 0}),
    "sssp": (warren.sssp, {"graph": GRAPH, "source": 0}),
    "connected_components": (warren.connected_components, {"graph": GRAPH}),
    "pagerank": (warren.pagerank, {"graph": GRAPH}),
    "betweenness": (warren.betweenness, {"graph": GRAPH}),
    "core_number": (warren.core_number, {"graph": GRAPH}),
    "triangles": (warren.triangles, {"graph": GRAPH}),
    "spmm": (warren.spmm, {"graph": GRAPH, "B": np.ones(4)}),
    "sddmm": (warren.sddmm, {"graph": GRAPH, "X": np.ones(4), "Y": np.ones(4)}),
    "sample": (warren.sample, {"graph": GRAPH, "seeds": [0, 1], "fanouts": [2]}),
    "sample_batches": (warren.sample_batches, {"graph": GRAPH, "seeds": [0, 1], "fanouts": [2]}),
    "random_walks": (warren.random_walks, {"graph": GRAPH, "starts": [0, 1], "length": 2}),
    "partition": (warren.partition, {"graph": GRAPH, "parts": 2}),
    "reorder": (warren.reorder, {"graph": GRAPH}),
    "gather": (warren.gather, {"table": np.ones((4, 2)), "ids": [0, 1]}),
    "lookup": (warren.lookup, {"table": np.ones((4, 2), np.float32), "ids": [0, 1], "offsets": [0]}),
    "Table": (warren.Table, {"values": np.ones((4, 2))}),
    "Table.gather": (TABLE.gather, {"ids": [0, 1]}),
    "Table.lookup": (TABLE.lookup, {"ids": [0, 1], "offsets": [0]}),
    "from_edges": (warren.from_edges, {"src": [0, 1], "dst": [1, 2]}),
    "from_csr": (warren.from_csr, {"offsets": [0, 1, 2], "targets": [1, 0]}),
    "generate": (warren.generate, {"spec": "grid:3x3"}),
    "read": (warren.read, {"name": "grid:3x3"}),
    "read_dataset": (warren.read_dataset, {"name": "community:600,6", "features": 2, "classes": 2}),
    "Dataset": (warren.Dataset, {"graph": GRAPH, "features": np.ones((4, 2))}),
    "EdgeTimes": (warren.EdgeTimes, {"times": [1, 2]}),
    "Session": (warren.Session, {}),
    "train": (warren.train, {"dataset": DATASET, "epochs": 1, "hidden": 4}),
    "predict": (warren.predict, {"dataset": DATASET, "model": MODEL}),
    "with_weights": (MODEL.with_weights, {}),
    "with_pyg": (MODEL.with_pyg, {}),
    "top": (GRAPH.pagerank().top, {}),
    "random_sources": (GRAPH.random_sources, {"count": 1}),
    "vertex": (lambda source: GRAPH.vertex(source), {}),
    "save": (GRAPH.save, {}),
    "Model.save": (MODEL.save, {}),
    "load_model": (warren.load_model, {}),
    "array": (GRAPH.pagerank().array, {"name": "rank"}),
    "from_scipy": (warren.from_scipy, {"A": scipy.sparse.eye_array(3, format="csr")}),
    "from_networkx": (warren.from_networkx, {"G": networkx.path_graph(3)}),
    "from_pyg": (warren.from_pyg, {"data": DATA}),
    "from_pandas": (warren.from_pandas, {"df": FRAME, "source": "a", "target": "b"}),
    "from_cugraph": (warren.from_cugraph, {}),
    "set_allocator": (warren.set_allocator, {}),
}
# Whose odd values would be taken: by a file of that name, a long wait, or because anything is one.
NOT_TRIED = {("Model.save", "folder"), ("save", "path"), ("train", "checkpoint"), ("Session", "allocator"), ("generate", "spec"), ("read", "name"), ("read_dataset", "name")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call, name", [(call, name) for call, (function, _) in CALLS.items() for name in inspect.signature(function).parameters if (call, name) not in NOT_TRIED])
def test_odd_values_are_told_by_the_arguments_name(call, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, others = CALLS[call]
    for value in ODD:
        try:
            function(**{**others, name: value})
        except (ValueError, IndexError, MemoryError, FileNotFoundError) as error:
            text = str(error)
            if isinstance(error, (ValueError, IndexError)):
                assert re.search(rf"\b({'|'.join(inspect.signature(function).parameters)})\b", text), f"{name}={value!r}: {text}"
            assert not re.search(r"(^|[ (])--[a-z]", text), text
            assert "truth value" not in text and "ambiguous" not in text, f"{name}={value!r}: {text}"
        except ImportError:
            pass
        except Exception as error:
            raise AssertionError(f"{call}({name}={value!r}) raised {type(error).__name__}: {error}") from error


# Of calls that Python does not have, and what no argument of Python's reaches.
COMMAND_LINE_ONLY = re.compile(r"src/api/(measure|report/|program_|train_report)|src/dataset/download|train_fields|stamp/")
NOT_REACHED = {"cache", "device-memory", "no-peer"}


def test_options_in_the_librarys_messages_are_arguments_here():
    """The library's messages name options as the command line does, and Python's errors have them without dashes: there must be an argument of that name."""
    arguments = set()
    for path in (ROOT / "python/warren").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                arguments |= {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
    looked_at = 0
    for path in sorted((*(ROOT / "src").rglob("*.[ch]pp"), *(ROOT / "internal").rglob("*.hpp"))):
        if COMMAND_LINE_ONLY.search(path.as_posix()):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for literal in re.findall(r'"(?:[^"\\]|\\.)*"', line.split("//")[0]):
                spoken = re.sub(r"'warren [^']*('|$)|docker run \S+|srun \S+", "", literal)
                for option in re.findall(r"(?<![\w-])--([a-z][a-z-]+)", spoken):
                    looked_at += 1
                    assert option.replace("-", "_") in arguments or option in NOT_REACHED, f"{path.relative_to(ROOT)}:{number}: {literal}"
    assert looked_at > 100
