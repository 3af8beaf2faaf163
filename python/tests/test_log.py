# SPDX-License-Identifier: Apache-2.0
"""What the library tells goes to Python's logger "warren", by its level, and to standard error where nobody has set up logging."""
import logging
import threading

import pytest
from conftest import run

import warren


@pytest.fixture
def messages(caplog):
    """Of all levels."""
    caplog.set_level(logging.DEBUG, logger="warren")
    return lambda level: [record.getMessage() for record in caplog.records if record.name == "warren" and record.levelno == level]


def warn(folder):
    """A call that warns."""
    warren.from_edges([0, 1], [1, 2], [1, 2]).save(folder / "graph.el")


def test_levels(messages, tmp_path):
    with warren.Session(device="cpu", devices=2):
        graph = warren.from_edges([0, 1], [1, 2])
        graph.bfs(0)
    assert any("started a team of 2 CPU ranks" in text for text in messages(logging.INFO))
    assert any("transpose of a graph of 2 edges" in text for text in messages(logging.INFO))
    assert any(text.startswith("ran on 2 CPU ranks (asked for), mode sync") for text in messages(logging.DEBUG))
    warn(tmp_path)
    assert any("weights are not written" in text for text in messages(logging.WARNING))


def test_training_is_told_in_words_of_all_faces(messages):
    """Not of the command line alone, whose options have dashes."""
    data = warren.read_dataset("community:300,6", features=8, classes=3)
    warren.train(data, "gat", "full", hidden=16, layers=4, epochs=1, device="cpu")
    (plan,) = [text for text in messages(logging.INFO) if text.startswith("a rank will hold")]
    assert "; recompute would save" in plan
    assert not [text for text in messages(logging.INFO) + messages(logging.DEBUG) if " --" in text]


def test_the_level_is_followed(caplog, tmp_path):
    graph = warren.from_edges([0, 1], [1, 2])
    for level, count in ((logging.ERROR, 0), (logging.WARNING, 1), (logging.DEBUG, 1)):
        caplog.clear()
        caplog.set_level(level, logger="warren")
        graph.bfs(0)
        warn(tmp_path)
        kinds = [record.levelno for record in caplog.records if record.name == "warren"]
        assert kinds.count(logging.WARNING) == count and (logging.DEBUG in kinds) == (level == logging.DEBUG)


def test_threads_and_errors(messages, tmp_path):
    """Messages of other threads, and of calls that raise, come too, with percent signs as they are."""
    graph = warren.from_edges([0, 1], [1, 2])
    threads = [threading.Thread(target=graph.bfs, args=(0,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([text for text in messages(logging.DEBUG) if text.startswith("ran on")]) == 4
    (tmp_path / "100%s").mkdir()
    warn(tmp_path / "100%s")
    assert any("100%s" in text for text in messages(logging.WARNING))


def test_a_handler_that_raises():
    """It is told as an exception that is nobody's; the call's result stands."""
    status, out, err = run("""
        import logging, warren
        class Broken(logging.Filter):
            def filter(self, record):
                raise RuntimeError("broken filter")
        logging.getLogger("warren").addFilter(Broken())
        logging.getLogger("warren").setLevel(logging.DEBUG)
        print(warren.from_edges([0], [1]).bfs(0).reached)
        try:
            warren.from_edges([0], [1]).bfs(7)
        except IndexError as error:
            print(error)
    """)
    assert (status, out) == (0, "2\nsource: got 7, expected a vertex, 0 to 1\n") and "broken filter" in err


def test_without_logging(tmp_path):
    status, out, err = run(f"""
        import warren
        warren.from_edges([0, 1], [1, 2], [1, 2]).save({str(tmp_path / "graph.el")!r})
        warren.from_edges([0, 1], [1, 2]).bfs(0)
    """)
    assert (status, out) == (0, "") and "weights are not written" in err and "ran on" not in err
