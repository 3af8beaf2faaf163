# SPDX-License-Identifier: Apache-2.0
"""Pages of results: what is taken, what is refused, what a page holds, and what a browser draws of it."""
import html.parser
import importlib
import io
import json
import os
import re
import stat
import subprocess
import sys

import numpy as np
import pytest
from chromium import Chromium, find
from conftest import PACKAGE, ROOT, environment, run

import warren
from warren._report import charts
from warren._report.__main__ import main
from warren._report.documents import read_all
from warren._report.page import page
from warren._report.plotting import DARK, LIGHT
from warren._report.runs import runs_of
from warren._report.write import sections_of

pytest.importorskip("vl_convert", reason="vl-convert-python, which draws, is not installed")

RESULTS = sorted((ROOT / "bench" / "results").glob("*.json"))
STUDIES = sorted((ROOT / "bench" / "studies").glob("*.json"))
H200 = {"gpus": ["NVIDIA H200"], "driver": "580"}
EPOCHS = [{"epoch": i, "loss": 4 / i, "validation_loss": 5 / i, "train_accuracy": 1 - 1 / i, "validation_accuracy": 0.9 - 0.9 / i, "test_accuracy": 0.8 - 0.8 / i, "seconds": 0.5} for i in range(1, 21)]
TRAIN = {"command": "train", "device": "cpu", "devices": 1, "graph": "debian", "model": "gcn", "vertices": 10, "edges": 20, "seconds": [10.0], "epoch_seconds": 0.5, "epochs": EPOCHS,
         "best_epoch": 20, "chance": 0.1, "breakdown": {"aggregate": 0.3, "dense": 0.1, "communicate": 0.0, "other": 0.05}, "memory_plan": {"graph": 5e6, "features": 7e6}}


def row(work, devices, seconds, **more):
    """As in bench/results."""
    return {"work": work, "hardware": f"{devices} x NVIDIA H200", "beside": "none", "result": {"command": "bfs", "device": "cuda", "devices": devices, "machine": H200, "seconds": [seconds] * 3}, **more}


def titles(sections):
    return [chart.title for section in sections for chart in section.charts]


def drawn(*results):
    return [chart for section in sections_of(read_all(list(results))) for chart in section.charts]


def the_chart(title, *results):
    (found,) = [chart for chart in drawn(*results) if chart.title == title]
    return found


class Outline(html.parser.HTMLParser):
    """Checks that elements close as they were opened, and keeps texts, ids and what would be fetched."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.elements, self.texts, self.fetched = [], [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.fetched += [value for name, value in attributes.items() if name in ("src", "href") and value and not value.startswith(("#", "data:"))]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(text)


# What is drawn of which input.

def test_training_is_drawn():
    assert [chart.title for chart in drawn(TRAIN)] == ["Loss", "Accuracy", "Time of an epoch", "Time by part", "Memory by use"]
    accuracy = the_chart("Accuracy", TRAIN)
    assert {line[0] for line in accuracy.rows} == {"training", "validation", "test"} and len(accuracy.rows) == 60
    assert ["validation", 10.0, EPOCHS[9]["validation_accuracy"]] in accuracy.rows
    assert "chance" in json.dumps(accuracy.spec) and "best" in json.dumps(accuracy.spec)
    link = the_chart("Area under the ROC curve", {**TRAIN, "task": "link"})
    assert link.columns[2] == "area under the ROC curve"


def test_time_by_part_has_every_part_and_a_unit():
    parts = the_chart("Time by part", TRAIN)
    assert parts.columns == ["part", "time (ms)"]
    assert parts.rows == [["aggregate", 300.0], ["dense", 100.0], ["communicate", 0.0], ["other", 50.0]]


def test_results_of_python_have_their_distributions():
    graph = warren.from_edges([0, 0, 1, 2], [1, 2, 3, 3], num_vertices=6, symmetrize=True)
    levels = the_chart("Levels of the search", graph.bfs(0))
    assert levels.rows == [[0, 1.0], [1, 2.0], [2, 1.0]] and levels.columns == ["depth", "vertices"]
    degrees = the_chart("Degree distribution", graph)
    assert [degree[2:] for degree in degrees.rows] == [[2.0, 4.0]] and "2 vertices have none" in degrees.text
    assert the_chart("Distribution: vertices of a component", graph.connected_components()).rows == [[1.0, 2.0], [4.0, 1.0]]
    assert the_chart("Distribution: core number", graph.core_number()).rows == [[0.0, 2.0], [2.0, 4.0]]
    assert the_chart("Distribution: triangles of a vertex", graph.triangles()).rows == [[0.0, 6.0]]
    assert the_chart("Distribution: distance from the source", graph.sssp(0) if graph.is_weighted else warren.from_edges([0, 1], [1, 2], [2, 3]).sssp(0)).rows == [[0.0, 1.0], [2.0, 1.0], [5.0, 1.0]]
    assert len(the_chart("Largest by rank", graph.pagerank()).rows) == 6
    assert "from the source 3." in the_chart("Levels of the search", graph.bfs([3, 1])).text


def test_names_of_vertices_are_shown():
    graph = warren.read("debian")
    assert the_chart("Largest by rank", graph.pagerank(max_iterations=5)).rows[0][0] == "libc6"
    assert "from the source python3." in the_chart("Levels of the search", graph.bfs("python3")).text


def test_levels_and_degrees_of_json():
    many = the_chart("Levels of the search", {"command": "bfs", "levels": [1] * 5000})
    assert many.spec["layer"][0]["mark"]["type"] == "line" and len(many.rows) <= charts.MOST_POINTS
    assert the_chart("Degree distribution", {"command": "stats", "degree_counts": [[0, 1, 2], [5, 3, 1]]}).rows[0][2:] == [1.0, 3.0]
    buckets = the_chart("Degree distribution", {"command": "stats", "degree_buckets": "log2", "degree_counts": [[0, 1, 2, 4], [5, 3, 0, 7]]})
    assert "power of two" in buckets.text and buckets.rows == [["vertices", "degree 1", 1.0, 3.0], ["vertices", "degree 4 to 7", 4.0, 7.0]]


def test_rivals_stand_beside():
    rival = {"work": "BFS", "graph": "k22", "rival": "cuGraph", "machine": H200, "warren_seconds": 0.001, "native_seconds": 0.005, "python_seconds": 0.008}
    rate = {"work": "batches", "graph": "k22", "rival": "cuGraph", "machine": H200, "warren_rate": 100, "python_rate": 40, "unit": "batches/s"}
    data = {"protocol": "in turn", "results": [rival, rate]}
    assert the_chart("Beside cuGraph, its C++ alone", data).rows == [["BFS, k22", 5.0]]
    assert the_chart("Beside cuGraph, from Python", data).rows == [["BFS, k22", 8.0], ["batches, k22", 2.5]]
    beside = the_chart("Beside Gunrock 2.2", [row("BFS", 1, 0.002, beside="Gunrock 2.2: 4.0 ms")])
    assert beside.rows == [["BFS", pytest.approx(2.0)]]
    assert not [chart for chart in drawn([row("BFS", 1, 0.002, beside="the row of one GPU: 4 ms")]) if "Beside" in chart.title]


def test_strong_scaling():
    rows = [row("BFS", 1, 0.004), row("BFS", 2, 0.002), row("BFS", 4, 0.002), row("alone", 1, 1.0)]
    assert the_chart("Strong scaling on H200", rows).rows == [["BFS", 1.0, 1.0], ["BFS", 2.0, 2.0], ["BFS", 4.0, 2.0]]
    apart = [{"command": "bfs", "device": "cuda", "graph": "kron:24", "devices": devices, "machine": H200, "seconds": [1 / devices]} for devices in (1, 2)]
    assert the_chart("Strong scaling on H200", *apart).rows == [["bfs kron:24", 1.0, 1.0], ["bfs kron:24", 2.0, 2.0]]
    assert "bfs kron:24" in json.dumps(the_chart("Strong scaling on H200", *apart).spec["layer"])  # Also a single line is named.
    on_cpu = [{**one, "device": "cpu"} for one in apart]
    assert not [chart for chart in drawn(*on_cpu) if "scaling" in chart.title]


def test_roofline_and_links_have_the_ceilings():
    product = {"command": "spmm", "device": "cuda", "devices": 1, "machine": H200, "vertices": 1000, "edges": 100000, "k": 64, "type": "float32", "seconds": [0.001], "gflops": 12.8}
    roofline = the_chart("Roofline of H200", product)
    assert roofline.rows[0][2] == pytest.approx(2 * 100000 * 64 / (100000 * 4 + 1000 * 8 + 2 * 1000 * 64 * 4)) and roofline.rows[0][3] == 12.8e9
    assert "4.29 TB/s" in json.dumps(roofline.spec)
    assert not [chart for chart in drawn({**product, "machine": {"gpus": ["another"]}}) if "Roofline" in chart.title]
    host = the_chart("Host memory read by H200", {"command": "bfs", "device": "cuda", "devices": 2, "machine": H200, "seconds": [0.01], "bytes_read": 10**9})
    assert host.rows[0][1] == pytest.approx(50) and "51.5 GB/s" in host.text
    gathers = the_chart("Gathers on H200", ROOT / "bench" / "results" / "gather-h200.json")
    assert {line[0] for line in gathers.rows} == {"warren, 1 device", "a kernel by hand, 1 device"}


def test_a_timeline_is_summed_by_name():
    trace = {"displayTimeUnit": "ms", "traceEvents": [{"name": "bfs", "ph": "X", "ts": 0, "dur": 1500.0}, {"name": "bfs", "ph": "X", "ts": 9, "dur": 500.0}, {"name": "load", "ph": "X", "dur": 1000}, {"name": "odd"}]}
    assert the_chart("Time by part", trace).rows == [["bfs", 2.0], ["load", 1.0]]


@pytest.mark.parametrize("file", RESULTS + STUDIES, ids=lambda path: path.stem)
def test_files_of_the_benchmarks(file):
    """Each is taken, and every row of times becomes a run."""
    (document,) = read_all(file)
    found = runs_of(document)
    assert all(one.seconds or one.rate for one in found)
    assert found or file.parent.name == "studies"
    sections = sections_of([document])
    assert titles(sections) or file.parent.name == "studies"
    assert any(section.tables for section in sections)


# What is refused, and how.

@pytest.mark.parametrize("text, said", [
    ("", "it is empty"), ("{", "line 1, column 2"), ("\x00", "line 1"), ("3", "got a number"), ('"x"', "got a text"), ("null", "got null"), ("[]", "an empty list"), ("{}", "an empty object"),
    ('{"a": 1}', "an object with 'a'"), ("[1, 2]", "a list with a number"), ('[{"command": "bfs"}, {"x": 1}]', "an object with 'x'"), ("[" * 100000, "nested too deeply"), ("1" * 5000, "no JSON of warren's"),
])
def test_files_that_are_no_results(text, said, tmp_path):
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        warren.report(file, tmp_path / "out.html")
    assert "file.json" in str(raised.value)
    assert not (tmp_path / "out.html").exists()


def test_other_bad_inputs(tmp_path):
    out = tmp_path / "out.html"
    for wrong, said in (([], "an empty list"), (3, "got int"), (None, "got NoneType"), ([TRAIN, 3], "got int"), ({"other": 1}, "an object with 'other'"), ([TRAIN] * 201, "at most 200")):
        with pytest.raises(ValueError, match=said):
            warren.report(wrong, out)
    (tmp_path / "bytes.json").write_bytes(b"{\xff\xfe")
    with pytest.raises(ValueError, match="byte 1 is no UTF-8"):
        warren.report(tmp_path / "bytes.json", out)
    with pytest.raises(FileNotFoundError):
        warren.report(tmp_path / "missing.json", out)
    itself = {"command": "bfs"}
    itself["me"] = itself
    with pytest.raises(ValueError, match="holds itself"):
        warren.report(itself, out)
    assert not out.exists()


def test_outputs_that_cannot_be(tmp_path):
    with pytest.raises(FileNotFoundError, match="the folder .*none is not there"):
        warren.report(TRAIN, tmp_path / "none" / "out.html")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        warren.report(TRAIN, tmp_path)
    file = tmp_path / "train.json"
    file.write_text(json.dumps(TRAIN))
    with pytest.raises(ValueError, match="also an input"):
        warren.report([file], file)
    with pytest.raises(FileNotFoundError, match="make it first"):
        warren.report(TRAIN, tmp_path / "out.html", png=tmp_path / "none" / "png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.json"]


@pytest.mark.parametrize("options, message", [
    ({"png": 5}, "png: got 5, expected the path of a folder, or None"), ({"svg": b"charts"}, "svg: got b'charts', expected the path of a folder, or None"), ({"png": ""}, "png: got '', expected"),
    ({"title": 5}, "title: got 5, expected a text or None"), ({"title": ["a"]}, r"title: got \['a'\], expected"), ({"out": 5}, "out: got 5, expected the path of a file"),
    ({"out": ""}, "out: got '', expected"), ({"out": "a\0b"}, "out: got 'a.x00b', expected"), ({"results": "a\0b"}, "results: got 'a.x00b', expected a result"),
    ({"results": ""}, "results: got '', expected a result"), ({"png": "file"}, "png: file is a file, expected a folder for images")])
def test_arguments_that_are_none(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=f"^{message}"):
        warren.report(**{"results": TRAIN, "out": "out.html", **options})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_for_an_input(tmp_path):
    for given in (tmp_path, str(tmp_path), [TRAIN, tmp_path]):
        with pytest.raises(IsADirectoryError, match=f"^{tmp_path}: the input is a folder; name the files"):
            warren.report(given, tmp_path / "out.html")
    assert list(tmp_path.iterdir()) == []


def test_the_output_is_whole_or_not_there(tmp_path, monkeypatch):
    out = tmp_path / "out.html"
    out.write_text("before")
    out.chmod(0o640)

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            warren.report(TRAIN, out)
    assert out.read_text() == "before" and [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert warren.report(TRAIN, out) == out
    assert out.read_text().startswith("<!DOCTYPE html>") and stat.S_IMODE(out.stat().st_mode) == 0o640


# What a page holds.

def test_names_do_no_harm(tmp_path):
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\u202e\x07'
    data = {**TRAIN, "graph": evil, evil: evil, "top": [[evil, 1.0]], "command": "pagerank", "top_names": [evil], "breakdown": {evil: 1.0}, "source": evil, "levels": [1, 2]}
    text = page(evil, sections_of(read_all([data, {**data, "seconds": [2.0]}])))
    outline = Outline(text)
    assert sum(tag == "script" for tag, _ in outline.elements) == 3 and not any(tag == "img" for tag, _ in outline.elements)
    assert not any(name.startswith("on") for _, attributes in outline.elements for name in attributes)
    assert any("alert(1)" in shown for shown in outline.texts)


def test_the_page_is_accessible_and_alone(tmp_path):
    text = warren.report([TRAIN, RESULTS[0]], tmp_path / "out.html").read_text(encoding="utf-8")
    outline = Outline(text)
    assert not outline.fetched and len(set(outline.ids)) == len(outline.ids)
    assert "default-src 'none'" in text and 'lang="en"' in text and "University of Washington Interactive Data Lab" in text
    figures = [attributes for tag, attributes in outline.elements if attributes.get("class") == "chart"]
    assert len(figures) > 5
    for figure in figures:
        assert figure["role"] == "img" and figure["aria-labelledby"] in outline.ids and figure["aria-describedby"] in outline.ids
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])
    axes = [encoding[axis] for chart in data["charts"] for layer in chart["spec"]["layer"] for encoding in (layer.get("encoding", {}),) for axis in ("x", "y") if encoding.get(axis, {}).get("title")]
    assert len(axes) >= len(figures)
    assert all(chart.text.endswith(".") for chart in drawn(TRAIN, RESULTS[0]))


def test_fields_that_nobody_knows_are_shown():
    data = {**TRAIN, "brand_new": 17.25, "nested": {"inner": {"leaf": "of a tree"}}, "list": list(range(1000)), "rows_of_it": [{"a": 1, "strange": "x"}, {"a": 2}], "nothing": None, "yes": True}
    texts = " ".join(Outline(page("x", sections_of(read_all(data)))).texts)
    for shown in ("brand_new", "17.25", "nested.inner.leaf", "of a tree", "1,000 numbers from 0 to 999", "strange", "nothing", "true"):
        assert shown in texts


def test_numbers_that_are_none(tmp_path):
    file = tmp_path / "nan.json"
    file.write_text(json.dumps({**TRAIN, "epochs": [{**EPOCHS[0], "loss": float("nan")}, {**EPOCHS[1], "loss": None}, {**EPOCHS[2], "loss": float("inf")}, EPOCHS[3]], "seconds": [float("nan"), None, "x"]}))
    assert [line[2] for line in the_chart("Loss", file).rows if line[0] == "training"] == [None, None, None, 1.0]
    text = warren.report(file, tmp_path / "out.html").read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', text)[1]
    assert "NaN" not in data and "Infinity" not in data


@pytest.mark.parametrize("field", sorted({*TRAIN, "levels", "degree_counts", "distribution", "top", "volume", "links", "messages", "traceEvents", "results", "rows", "result", "machine", "work", "beside", "k"}))
def test_fields_of_another_type_are_no_failure(field):
    wrong = (None, True, -1, 1e400, 10**400, "text", [], [None], [[]], [[1], "x"], {}, {"a": None}, [{"a": {"b": []}}], [[1, 2], [3]])
    together = page("x", sections_of(read_all([{**TRAIN, field: value} for value in wrong])))
    alone = [sections_of(read_all({**TRAIN, field: value})) for value in wrong]
    assert len(together) > 1e5 and all(alone)


def test_pages_are_bounded(tmp_path):
    epochs = [{"epoch": i, "loss": 1 / (i + 1), "train_accuracy": 0.5, "seconds": 0.1} for i in range(50000)]
    many = {**TRAIN, "epochs": epochs, "top": [["n" * 5000, i] for i in range(5000)], "levels": list(range(300000)), "degree_counts": [list(range(200000)), [1] * 200000], **{f"field{i}": "v" * 999 for i in range(5000)}}
    rows = [row(f"work {i}", 1, 0.001, beside=f"rival {i}: 3 ms") for i in range(3000)]
    text = warren.report([many, *[rows] * 3], tmp_path / "out.html").read_text(encoding="utf-8")
    assert len(text) < 4e6
    for said in ("are thinned to", "The first 30 of 5,000 bars", "The first 250 of", "The first 400 of 50,000 rows"):
        assert said in text
    wide = [{"work": "w", **{f"field{j}": "x" * 50 for j in range(200)}} for _ in range(1000)]
    full = sections_of(read_all([wide] * 20))
    assert sum(len(table.rows) * len(table.columns) for section in full for table in section.tables) <= 60000
    assert "121 more fields" in full[0].tables[0].left_out and "The page has room for 0 of these" in full[-1].tables[0].left_out
    lots = sections_of(read_all([TRAIN] * 200))
    assert len(titles(lots)) == 80 and "left out" in lots[-1].subtitle


def test_thinned_lines_keep_their_peaks():
    line = [(float(i), 1000.0 if i == 7777 else float(i % 10)) for i in range(100000)]
    kept, was_thinned = charts.thinned(line)
    assert was_thinned and len(kept) <= charts.MOST_POINTS and (7777.0, 1000.0) in kept and kept == sorted(kept)
    assert charts.thinned([(0.0, None)] * 1000)[0][0] == (0.0, None)


def test_forms_of_numbers():
    assert [charts.human(value) for value in (0, 0.25, 1e-9, 12, 1234, 12345, 2.5e6, 3e12, -5e4)] == ["0", "0.25", "1e-09", "12", "1,234", "12.3k", "2.5M", "3T", "-50k"]
    assert charts.nice_logs(0.9, 120) == [1, 2, 5, 10, 20, 50, 100]
    assert charts.scaled_time([0.02, 0.5]) == ("ms", 1e3) and charts.scaled_time([2e-6]) == ("µs", 1e6)


def test_the_same_results_give_the_same_page(tmp_path):
    assert warren.report(TRAIN, tmp_path / "a.html").read_bytes() == warren.report(TRAIN, tmp_path / "b.html").read_bytes()


# How it is called.

def test_what_may_be_given(tmp_path):
    file = tmp_path / "train.json"
    file.write_text(json.dumps(TRAIN))
    for given in (TRAIN, [TRAIN], json.dumps(TRAIN), file, str(file), [file, str(file)], (TRAIN, file), [row("BFS", 1, 1.0)], {**TRAIN, "k": np.int64(3), "seconds": np.array([1.0])}):
        assert read_all(given)
    assert [document.name for document in read_all([file, file, TRAIN, TRAIN])] == ["train", "train (2)", "train (3)", "train (4)"]


def test_what_check_machine_gives(tmp_path):
    """The page has each check, as of the file that `warren info --check` writes."""
    checks = warren.check_machine("cpu", 1)
    for given in (checks, [checks, TRAIN]):
        text = warren.report(given, tmp_path / "checks.html").read_text()
        assert all(check["name"] in text for check in checks)
    (document,) = read_all(checks)
    assert document.name == "info" and document.data["verified"] is True
    (document,) = read_all([[{**checks[0], "verdict": "failed"}, checks[1]]])
    assert document.data["verified"] is False


def test_function_and_module_are_one(tmp_path):
    before = warren.report
    module = importlib.import_module("warren.report")
    assert callable(warren.report) and module.report is before
    assert warren.report(TRAIN, tmp_path / "out.html").is_file()
    status, out, err = run("""
        import types, warren
        assert isinstance(warren.report, types.FunctionType)
        import warren.report
        from warren.report import main
        assert isinstance(warren.report, types.ModuleType)
        try:
            warren.report([], "/dev/null")
        except ValueError as error:
            print(error)
    """)
    assert status == 0 and "got an empty list" in out, err


def test_command_line(tmp_path):
    file = tmp_path / "train.json"
    file.write_text(json.dumps(TRAIN))
    ran = subprocess.run([sys.executable, "-W", "error", "-m", "warren.report", str(file), str(RESULTS[0]), "-o", "out.html", "--title", "Two <files>"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "wrote out.html\n", "")
    assert "<title>Two &lt;files&gt;</title>" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_errors_of_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, said in ((["missing.json"], "missing.json: No such file"), (["-o", "x/y.html", "{.json"], "{.json: No such file")):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(TRAIN)))
    assert main(["-", "-o", "none/out.html"]) == 2 and "the folder none is not there" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


def test_the_program_of_the_package_knows_it(tmp_path):
    ran = subprocess.run([sys.executable, "-m", "warren", "report", str(tmp_path / "missing.json")], env=environment(), capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (2, f"warren report: error: {tmp_path / 'missing.json'}: No such file or directory\n")


def test_without_the_library(tmp_path):
    status, out, err = run(f"""
        import sys
        sys.modules["vl_convert"] = None
        import warren
        try:
            warren.report({{"command": "bfs"}}, {str(tmp_path / "out.html")!r})
        except ImportError as error:
            print(error)
        from warren.report import main
        print(main([{str(RESULTS[0])!r}, "-o", {str(tmp_path / "out.html")!r}]))
    """)
    assert status == 0, err
    assert "pip install 'vl-convert-python>=1.9'" in out and out.endswith("1\n") and "vl-convert-python" in err
    assert not list(tmp_path.iterdir())


def test_importing_warren_imports_no_library():
    status, out, err = run("""
        import sys, warren
        print({"vl_convert", "warren._report.page", "argparse"} & set(sys.modules) - {"argparse"})
    """)
    assert (status, out.strip()) == (0, "set()"), err


def test_without_the_extension(tmp_path):
    """As scripts/quickstart does, before anybody has built it."""
    code = "import sys; sys.modules['numpy'] = None; from _report.__main__ import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run([sys.executable, "-c", code, str(RESULTS[0]), "-o", str(tmp_path / "out.html")], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_images_for_papers(tmp_path):
    warren.report({**TRAIN, "epochs": None, "memory_plan": None}, tmp_path / "out.html", png=tmp_path / "png", svg=tmp_path / "svg")
    (png,), (svg,) = (tmp_path / "png").iterdir(), (tmp_path / "svg").iterdir()
    assert (png.name, svg.name) == ("01-time-by-part.png", "01-time-by-part.svg")
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(png.read_bytes()[16:20], "big") == 1280
    assert svg.read_text(encoding="utf-8").startswith("<svg") and LIGHT[0] in svg.read_text(encoding="utf-8")


# What a browser makes of it.

@pytest.fixture(scope="module")
def chromium():
    program = find()
    if program is None:
        pytest.skip("there is no Chromium here")
    browser = Chromium(program)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def report_page(tmp_path_factory):
    """Every kind of chart, with long names."""
    scaling = [row(f"work number {i} of a long name, as long as names in suites are", devices, 0.01 / devices**(i / 4), beside="a rival of some name: 40 ms") for i in range(5) for devices in (1, 2, 4)]
    square = [[{"gigabytes_per_second": 1000.0 + i + j} for j in range(4)] for i in range(4)]
    others = {"command": "spmm", "device": "cuda", "devices": 2, "machine": H200, "graph": "community:2449029,25.2586392", "vertices": 1000, "edges": 100000, "k": 64, "gflops": 1000.0, "seconds": [0.001, 0.0012],
              "levels": [1, 20, 300, 40], "degree_counts": [[1, 2, 3, 100], [500, 200, 90, 1]], "volume": {"broadcast": 9, "once": 4}, "top": [[1, 0.5], [2, 0.25]], "links": square,
              "distribution": {"what": "core number", "of": "vertices", "values": [1, 2, 3], "counts": [9, 4, 1]}, "bytes_read": 10**7}
    strategies = {"command": "bench", "suite": "spmm", "device": "cuda", "devices": 2, "machine": H200, "results": [{"strategy": name, "k": 32, "seconds": [0.001 * (i + 1)]} for i, name in enumerate(("once", "pull"))]}
    out = tmp_path_factory.mktemp("report") / "out.html"
    return warren.report([TRAIN, {**TRAIN, "model": "sage", "epochs": None, "memory_plan": None}, scaling, others, strategies, ROOT / "bench" / "results" / "gather-h200.json"], out)


def check_quiet(chromium, path):
    """Nothing on the console, and nothing asked for but the page."""
    assert chromium.console == []
    assert [url for url in chromium.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (390, False)], ids=["light", "dark", "phone"])
def test_page_in_chromium(chromium, report_page, width, dark):
    chromium.open(report_page, width, dark)
    check_quiet(chromium, report_page)
    assert chromium.value("document.querySelectorAll('.chart svg.marks').length") == chromium.value("document.querySelectorAll('.chart').length") >= 15
    assert chromium.value("document.documentElement.scrollWidth") <= width
    # No drawing is wider than its box.
    assert chromium.value("[...document.querySelectorAll('.chart svg.marks')].filter(svg => svg.getBoundingClientRect().right > svg.closest('figure').getBoundingClientRect().right).length") == 0
    ground = "#12161b" if dark else "#ffffff"
    colours, others = (DARK, LIGHT) if dark else (LIGHT, DARK)
    chromium.look()
    shot = chromium.colours()
    assert max(shot, key=shot.get) in (ground, "#1a1f26" if dark else ground)
    assert shot.get(ground, 0) > 10000
    assert all(shot.get(colour, 0) > 200 for colour in colours[:4])
    assert all(shot.get(colour, 0) < 50 for colour in others if colour not in colours)


def number_of(chromium, title):
    return chromium.value(f"[...document.querySelectorAll('figure h3')].find(h => h.textContent === {json.dumps(title)}).id.replace('title-', '')")


def test_marks_in_chromium(chromium, report_page):
    """The colours of the series are drawn where their chart is, and axes say what they are."""
    chromium.open(report_page, 1280)
    chromium.look()
    for title, series in (("Accuracy", 3), ("Loss", 2), ("Levels of the search", 1), ("Time by part", 1), ("Strong scaling on H200", 5), ("Roofline of H200", 1), ("Beside a rival of some name", 1), ("Time by part, run by run", 3), ("Degree distribution", 1)):
        place = f"#chart-{number_of(chromium, title)}"
        shot = chromium.colours(place)
        assert all(shot.get(colour, 0) > 25 for colour in LIGHT[:series]), title
        assert len(shot) > 5, title
    said = chromium.value(f"document.querySelector('#chart-{number_of(chromium, 'Accuracy')} svg.marks').textContent")
    for words in ("epoch", "accuracy", "training", "validation", "test", "best", "chance"):
        assert words in said
    # Bars are as long as their numbers.
    wide = chromium.value(f"[...document.querySelectorAll('#chart-{number_of(chromium, 'Time by part')} .mark-rect.role-mark path')].map(bar => bar.getBoundingClientRect().width)")
    assert [round(width / wide[0], 2) for width in wide] == [1.0, 0.33, 0.0, 0.17]


def test_the_switch_in_chromium(chromium, report_page):
    chromium.open(report_page, 1280)
    assert chromium.value("document.getElementById('theme').textContent") == "Dark"
    chromium.value("delete document.documentElement.dataset.drawn; document.getElementById('theme').click()")
    chromium.wait_for("document.documentElement.dataset.drawn !== undefined")
    chromium.look()
    shot = chromium.colours(f"#chart-{number_of(chromium, 'Accuracy')}")
    assert shot.get(DARK[0], 0) > 25 and shot.get(LIGHT[0], 0) == 0 and max(shot, key=shot.get) == "#1a1f26"
    assert chromium.value("document.getElementById('theme').getAttribute('aria-label')") == "Switch to light colours"
    chromium.value("try { localStorage.removeItem('warren-theme') } catch {}")
    check_quiet(chromium, report_page)


@pytest.mark.parametrize("kind, begin", [("SVG", "blob:"), ("PNG", "data:image/png")])
def test_charts_are_saved_in_chromium(chromium, report_page, kind, begin):
    """The page's policy lets a chart's menu make the file."""
    chromium.open(report_page, 1280)
    link = f"[...document.querySelectorAll('#chart-0 .vega-actions a')].find(a => a.textContent.includes('{kind}'))"
    chromium.value(f"{link}.dispatchEvent(new MouseEvent('mousedown', {{bubbles: true, cancelable: true}}))")
    chromium.wait_for(f"{link}.href.startsWith('{begin}') || {link}.href.startsWith('data:image')")
    assert chromium.value(f"{link}.download") == f"chart-0.{kind.lower()}"
    check_quiet(chromium, report_page)


def test_tables_sort_in_chromium(chromium, report_page):
    chromium.open(report_page, 1280)
    column = "[...document.querySelectorAll('details')].find(d => d.querySelector('summary').textContent.startsWith('All runs'))"
    place = chromium.value(f"[...{column}.querySelectorAll('th')].findIndex(th => th.textContent === 'median (ms)')")
    cells = f"[...{column}.querySelectorAll('tbody tr')].map(row => row.cells[{place}]).map(cell => cell.dataset.value === undefined ? null : Number(cell.dataset.value))"
    for order in ("ascending", "descending"):
        chromium.value(f"{column}.querySelectorAll('th')[{place}].querySelector('button').click()")
        values = chromium.value(cells)
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=order == "descending") and len(known) > 15
        assert values[:len(known)] == known  # Empty cells are last.
        assert chromium.value(f"{column}.querySelectorAll('th')[{place}].getAttribute('aria-sort')") == order


def test_evil_names_in_chromium(chromium, tmp_path):
    evil = '</script><script>console.error(1)</script><img src=x onerror="console.error(2)">'
    data = {**TRAIN, "graph": evil, "top": [[evil, 1.0]], "command": "pagerank", "top_names": [evil], "breakdown": {evil: 1.0, "`${console.error(3)}": 2.0}, evil: evil}
    path = warren.report(data, tmp_path / "out.html", title=evil)
    chromium.open(path, 1280)
    chromium.point_at(f"#chart-{number_of(chromium, 'Time by part')} .mark-rect.role-mark path")
    chromium.wait_for("document.querySelector('#vg-tooltip-element.visible') !== null")
    assert evil[:60] in chromium.value("document.getElementById('vg-tooltip-element').textContent")
    check_quiet(chromium, path)
    assert chromium.value("document.title") == evil and chromium.value("document.querySelectorAll('img').length") == 0
