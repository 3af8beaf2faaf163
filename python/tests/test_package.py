# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: its types, its documents and examples, how long it takes to import, and that calls leave no memory behind."""
import ast
import importlib.metadata
import importlib.util
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, ROOT, environment, ranks, run

import warren

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
TUTORIAL = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(example, capsys, tmp_path, monkeypatch):
    import networkx

    monkeypatch.chdir(tmp_path)
    if example.name.startswith("pyg_"):
        pytest.importorskip("torch_geometric")
    if example.name == "pictures.py":
        pytest.importorskip("vl_convert")
    if example.name == "with_networkx.py" and "warren" not in networkx.config.backends:
        pytest.skip("the package is not installed, so that NetworkX does not know the backend")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_tutorial(tmp_path, monkeypatch):
    """Its blocks run one after the other, and an expression followed by `# value` has that value."""
    import networkx

    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"^```python\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    for block in blocks:
        if 'backend="warren"' in block and "warren" not in networkx.config.backends:
            continue
        if "warren.report" in block and importlib.util.find_spec("vl_convert") is None:
            continue
        for statement in ast.parse(block).body:
            source = ast.get_source_segment(block, statement)
            if not isinstance(statement, ast.Expr):
                exec(compile(source, "docs/python.md", "exec"), names)
                continue
            value = eval(compile(source, "docs/python.md", "eval"), names)
            said = re.search(r"  # (.*)$", block.splitlines()[statement.end_lineno - 1])
            assert said is None or repr(value) == said[1], f"{source} is {value!r}"


def test_types():
    pytest.importorskip("mypy")
    checked = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull], cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_stub_is_of_this_extension():
    """Every function of the extension is in the checked-in stub, with the same arguments, and nothing else is."""
    core = warren._graph._core
    tree = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    stub = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(stub) == {name for name in vars(core) if not name.startswith("_")}
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef):
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            assert {member for member in members if not member.startswith("_")} == {member for member in vars(getattr(core, name)) if not member.startswith("_")}
        else:
            first = core.__dict__[name].__nb_signature__[0][0]
            assert [argument.arg for argument in node.args.args] == re.findall(r"(\w+): ", re.sub(r"->.*", "", first.split("(", 1)[1]))[:len(node.args.args)]


def test_every_public_name_has_a_docstring():
    for name in warren.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(warren, name)), name
    for name, member in vars(warren.Graph).items():
        assert name.startswith("_") or inspect.getdoc(member), name


def test_methods_take_what_the_functions_take():
    for name in ("bfs", "sssp", "connected_components", "pagerank", "betweenness", "core_number", "triangles", "spmm", "sddmm", "sample", "partition", "reorder"):
        function, method = inspect.signature(getattr(warren, name)), inspect.signature(getattr(warren.Graph, name))
        assert list(function.parameters.values())[1:] == list(method.parameters.values())[1:]


def test_version():
    assert f"VERSION {warren.__version__} " in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f'version = "{warren.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_folders_that_look_installed(tmp_path):
    """What scripts/write-dist-info says is what pip would say."""
    subprocess.run([sys.executable, str(ROOT / "scripts" / "write-dist-info"), str(tmp_path)], check=True)
    (made,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert (made.metadata["Name"], made.version) == ("warren", warren.__version__)
    assert "numpy>=1.23" in made.requires and 'pandas; extra == "all"' in made.requires
    places = {(entry.group, entry.name): entry for entry in made.entry_points}
    assert set(places) == {("console_scripts", "warren"), ("networkx.backends", "warren"), ("networkx.backend_info", "warren")}
    assert all(callable(entry.load()) for entry in places.values())


def test_import():
    """It takes NumPy's time and little more, and imports no other library. On a machine with other work a try may take longer."""
    assert any(seconds_of_import() < 0.1 for _ in range(20))


@pytest.mark.parametrize("module", ["warren.pyg", "warren.torch"])
def test_a_missing_library_is_named(module):
    """In a line that says what to install."""
    status, _, err = run(f"""
        import sys
        sys.modules["torch"] = None
        import {module}
    """)
    assert status == 1 and f"\nModuleNotFoundError: {module} needs PyTorch" in err and "pip install torch" in err.splitlines()[-1] and err.count("Traceback") == 1


def seconds_of_import():
    """Of CPU time."""
    status, out, err = run("""
        import sys, time
        import numpy
        begin = time.process_time()
        import warren
        seconds = time.process_time() - begin
        assert not {"scipy", "networkx", "pandas", "torch", "vl_convert"} & set(sys.modules)
        print(seconds)
    """)
    assert status == 0, err
    return float(out)


def test_calls_leave_no_memory_behind():
    """A thousand rounds of graphs and calls; what is held at the end is what was held after two hundred."""
    status, out, err = run(f"""
        two = {ranks(2)}""" + """
        import os, numpy as np, warren
        def held():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        offsets, targets, weights = np.arange(2001), (np.arange(2000, dtype=np.int32) + 1) % 2000, np.ones(2000, np.int32)
        kept = warren.from_csr(offsets, targets, weights)
        rows = np.arange(60000, dtype=np.float32).reshape(3000, 20)
        table = warren.Table(rows, **two)
        before = 0
        for turn in range(1200):
            graph = warren.from_csr(offsets, targets, weights)
            kept.bfs(0), kept.connected_components()
            graph.to_edges(), graph.to_csr(copy=False)
            if turn % 4 == 0:
                graph.pagerank(max_iterations=3), kept.pagerank(max_iterations=3), kept.sssp(0, cutoff=9), graph.bfs([0, 1], depth_limit=3), graph.bfs(0, depth_limit=3).to_dict()
                graph.spmm(offsets[1:]), kept.spmm(targets, transpose=True, **two, strategy="staged"), kept.sddmm(targets, targets)
                warren.gather(rows, targets, placement="cached"), warren.lookup(rows, targets, offsets[:3]), graph.partition(3), graph.reorder("degree", return_graph=True)
            table.gather(targets), table.lookup(targets, offsets[:3], "sum", strategy="owner-sum")
            for wrong in (-1, "x"):
                try:
                    kept.bfs(wrong)
                except IndexError:
                    pass
            try:
                table.gather([3000])
            except IndexError:
                pass
            if turn == 200:
                before = held()
        print((held() - before) / 2**20)
        import sys
        del graph
        kept.release()
        del kept
        warren.from_edges([], [])
    """)
    assert status == 0, err
    assert float(out) < 6


def test_command_line():
    if not (PACKAGE / "bin" / "warren").is_file():
        pytest.skip("the command line is only in the installed package")
    ran = subprocess.run([sys.executable, "-m", "warren", "stats", "debian", "--json", "-"], env=environment(), capture_output=True, text=True, cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert '"vertices"' in ran.stdout
    told = subprocess.run([sys.executable, "-m", "warren", "--version"], env=environment(), capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"warren {warren.__version__}")


# Of every system, and those that the build takes as they are where there is no static one.
NEEDED = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-\S+|libz|libzstd|libopenblas\S*)\.so\S*")


@pytest.mark.parametrize("name", ["_core", "library", "program"])
def test_needs_no_library_of_others(name):
    """One wheel starts with and without a GPU: what is CUDA's is linked statically, or looked for when a call asks for it. The extension and
    the program share one library of the wheel's, so that it holds the kernels once."""
    own = Path(warren._graph._core.__file__)
    file = {"_core": own, "library": own.parent / "libwarren.so", "program": PACKAGE / "bin" / "warren"}[name]
    if shutil.which("readelf") is None or not file.is_file():
        pytest.skip("there is no readelf, or no command line in this package")
    told = subprocess.run(["readelf", "--dynamic", "--wide", file], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    assert "libc.so.6" in needed
    assert ("libwarren.so" in needed) == (name != "library")
    assert [library for library in needed if library != "libwarren.so" and not NEEDED.fullmatch(library)] == []
    if name != "library":
        assert file.stat().st_size < 20e6, "the floors stand in it once more"


def test_no_command_installs_from_an_index():
    """PyPI has another project's package of this name: what is said to install names a folder, or the packages that are needed."""
    ours = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(path for folder in (PACKAGE, ROOT / "examples", ROOT / "scripts") for path in folder.rglob("*") if path.suffix in (".py", ".sh", ""))]
    for path in ours:
        if path.is_file() and path.stat().st_size < 10**6:
            for line in path.read_text(encoding="utf-8", errors="ignore").splitlines():
                commands = re.findall(r"pip install[^`;&]*", line)
                assert not any(re.search(r"[ '\"]warren(\[|[ '\"]|$)", command) and "--no-index" not in command for command in commands), f"{path}: {line}"


def test_cuda_libraries_of_packages_are_found(tmp_path):
    """Once loaded they are known by their names, as which the engine asks for them."""
    some = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so.6" in line).replace("libc.so.6", "libm.so.6")
    for folder, name in (("cu13", "libcublasLt.so.13"), ("nccl", "libnccl.so.2")):
        (tmp_path / "nvidia" / folder / "lib").mkdir(parents=True)
        shutil.copy(some, tmp_path / "nvidia" / folder / "lib" / name)
    (tmp_path / "nvidia" / "nccl" / "lib" / "libnccl.so.3").write_text("no library", encoding="utf-8")
    status, out, err = run(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from warren._cuda_libraries import load
        load()
        print(sorted({{line.split("/")[-1] for line in open("/proc/self/maps") if {str(tmp_path)!r} in line}}))
    """)
    assert (status, out, err) == (0, "['libcublasLt.so.13\\n', 'libnccl.so.2\\n']\n", "")
