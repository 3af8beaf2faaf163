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
from warren._words import choices, in_python_words

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
            assert in_python_words(text) == text, text
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
    for place, literal in literals():
        for option in re.findall(r"(?<![\w-])--([a-z][a-z-]+)", literal):
            looked_at += 1
            assert option.replace("-", "_") in arguments or option in NOT_REACHED, f"{place}: {literal}"
    assert looked_at > 100


def literals():
    """(where, text) of the library's texts, line by line, without the commands in them."""
    for path in sorted((*(ROOT / "src").rglob("*.[ch]pp"), *(ROOT / "internal").rglob("*.hpp"))):
        if COMMAND_LINE_ONLY.search(path.as_posix()):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for literal in re.findall(r'"(?:[^"\\]|\\.)*"', line.split("//")[0]):
                yield f"{path.relative_to(ROOT)}:{number}", re.sub(r"'warren [^']*('|$)|docker run \S+|srun \S+", "", literal[1:-1])


# A word behind an option of the command line that is no value of it but goes on with the sentence.
GOES_ON = {"are", "is", "has", "says"}


def test_values_in_the_librarys_messages_are_told_as_pythons():
    """"--device cpu", and "device cpu", is device="cpu" in an error of Python's."""
    known, looked_at = choices(), 0
    for place, literal in literals():
        for option, value in re.findall(r"(?<![\w-])--([a-z][a-z-]+) ([a-z][a-z0-9-]+)", literal):
            name = option.replace("-", "_")
            if value in GOES_ON or name not in known:
                continue
            looked_at += 1
            assert value in known[name], f"{place}: {literal}: {value} is no value of {name}, nor a word that goes on"
            said = "headings=" + str(value == "yes") if name == "headings" else f'{name}="{value}"'
            assert said in in_python_words(literal.replace(f"--{option}", name)), f"{place}: {literal}"
        for option, values in known.items():
            for value in values - {"none", "auto", "yes", "no"}:
                pair = f"{option} {value}"
                if re.search(rf"(?<![\w-]){re.escape(pair)}(?![\w-])", literal) and not re.search(rf"of type {value}", literal):
                    looked_at += 1
                    assert f'{option}="{value}"' in in_python_words(literal), f"{place}: {literal}"
    assert looked_at > 40


@pytest.mark.parametrize("text, told", [
    ("choose the CPU: device cpu", 'choose the CPU: device="cpu"'), ("give edges device or host", 'give edges="device" or "host"'), ("model gcn, gat and gatv2, and", 'model="gcn", "gat" and "gatv2", and'),
    ("strategy pull:ps=16 reads", 'strategy="pull:ps=16" reads'), ("weights uniform:1:9, 3 of them", 'weights="uniform:1:9", 3 of them'), ("headings yes, headings no", "headings=True, headings=False"),
    ("elements of type float16", "elements of type float16"), ('edges="file"', 'edges="file"'), ("my/edges file.mtx: line 3", "my/edges file.mtx: line 3"), ("edges-file, devices cpu", "edges-file, devices cpu"),
    ("write it once ('warren convert my kron.el OUT.wgr --symmetrize --drop-self-loops', which takes 3 B) and name that file",
     'write it once (warren.read("my kron.el", symmetrize=True, drop_self_loops=True).save("OUT.wgr"), which takes 3 B) and read that file, warren.read("OUT.wgr", edges="file")'),
    ("by 'warren fetch cora --again'", "by 'python -m warren fetch cora --again'")])
def test_python_words(text, told):
    assert in_python_words(text) == told == in_python_words(told)


@pytest.mark.parametrize("call, text", [
    (lambda: GRAPH.bfs(0, mode="async", edges="compressed-host"), 'mode="async" reads plain lists in memory: give edges="device" or "host"'),
    (lambda: warren.from_edges([0], [1]).connected_components(form="search"), 'form="search" takes .* or take form="forest"'),
    (lambda: warren.Table([[1.0]], cached=[0]), 'or placement="cached"'),
    (lambda: warren.read("grid:3x3", edges="file"), r'\(edges="file"\): .*warren.read\("grid:3x3"\).save\("OUT.wgr"\), .* and read that file, warren.read\("OUT.wgr", edges="file"\)'),
    (lambda: warren.read("grid:3x3", weights="file"), 'no weights for weights="file"; weights="uniform:LO:HI" draws some'),
    (lambda: warren.train(DATASET, fanout=[3]), 'fanout is for mode="sampled"'),
    (lambda: warren.train(DATASET, task="link"), 'task="link" .*give mode="sampled"')])
def test_errors_name_options_as_a_call_has_them(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_memory_errors_say_pythons_cure():
    with pytest.raises(MemoryError) as raised:
        warren.read("kron:20", symmetrize=True, host_memory=2**20)
    assert 'warren.read("kron:20", symmetrize=True).save("OUT.wgr")' in str(raised.value) and "convert" not in str(raised.value)


@pytest.mark.parametrize("option", [{"one_based": True}, {"compact": True}, {"ids": "words"}, {"headings": False}])
def test_options_of_edge_lists_are_refused_elsewhere(option, tmp_path):
    (name,) = option
    matrix = tmp_path / "a.mtx"
    matrix.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    lists = tmp_path / "a.el"
    lists.write_text("1 2\n2 1\n")
    for wrong in ("grid:3x3", matrix):
        with pytest.raises(ValueError, match=rf"^{name}: it is for edge lists \(.el, .wel, .txt, .tsv, .csv\), and {wrong} is none: leave it out$"):
            warren.read(wrong, **option)
    with pytest.raises(ValueError, match=f"^{name}: it is for edge lists"):
        warren.read_dataset("community:600,6", features=2, classes=2, **option)
    assert warren.read(lists, **option).num_edges == 2
    assert warren.read(lists, format="el", **option).num_edges == 2
