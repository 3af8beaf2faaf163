# SPDX-License-Identifier: Apache-2.0
"""Graphs whose lists stay in a file: what they find is what is found in memory."""
import numpy as np
import pytest

import warren


@pytest.fixture(name="saved")
def fixture_saved(tmp_path):
    graph = warren.read("kron:10", symmetrize=True)
    assert graph.is_symmetric
    path = tmp_path / "g.wgr"
    graph.save(path)
    return graph, path


def test_results_are_those_in_memory(saved):
    graph, path = saved
    streamed = warren.read(path, edges="file")
    assert (streamed.num_vertices, streamed.num_edges, streamed.is_symmetric) == (graph.num_vertices, graph.num_edges, True)
    source = graph.busiest_vertex()
    assert streamed.busiest_vertex() == source
    for edges in ("auto", "file"):
        found, expected = streamed.bfs(source, edges=edges), graph.bfs(source, deterministic=True)
        assert found.info["edges_placement"] == "file" and found.info["bytes_read"] > 0
        np.testing.assert_array_equal(found.depth, expected.depth)
        np.testing.assert_array_equal(found.parent, expected.parent)
    np.testing.assert_array_equal(streamed.connected_components().label, graph.connected_components().label)
    np.testing.assert_allclose(streamed.pagerank(tolerance=1e-10).rank, graph.pagerank(tolerance=1e-10).rank, atol=1e-9)
    assert np.asarray(streamed.bfs([source, 1]).depth).shape == (2, graph.num_vertices)


def test_arrays_are_mapped_where_they_are_asked_for(saved):
    graph, path = saved
    streamed = warren.read(path, edges="file")
    assert streamed.degree().tolist() == graph.degree().tolist()
    np.testing.assert_array_equal(streamed.bfs(0, edges="device").depth, graph.bfs(0).depth)


def test_the_hosts_memory_chooses(saved):
    _, path = saved
    assert warren.read(path).bfs(0).info["edges_placement"] == "device"
    streamed = warren.read(path, host_memory=1)
    assert streamed.bfs(0).info["edges_placement"] == "file"
    with pytest.raises(MemoryError, match="of disk"):
        streamed.bfs(0, host_memory=1)


def test_refusals(saved):
    graph, path = saved
    streamed = warren.read(path, edges="file")
    with pytest.raises(ValueError, match="was not read with its lists in a file"):
        graph.bfs(0, edges="file")
    with pytest.raises(ValueError, match="no lists from a file"):
        streamed.triangles(edges="file")
    with pytest.raises(ValueError, match="one rank"):
        streamed.bfs(0, devices=2, device="cpu")
    with pytest.raises(ValueError, match="weighted"):
        streamed.pagerank(weighted=True)
    with pytest.raises(ValueError, match="self-loops"):
        warren.read(path, edges="file", drop_self_loops=True)
    with pytest.raises(ValueError, match="generator"):
        warren.read("kron:5", edges="file")
    for wrong in ("files", None, 3):
        with pytest.raises(ValueError, match="edges: got"):
            warren.read(path, edges=wrong)
    for wrong in (0, -1, 1.5, "1G", True):
        with pytest.raises(ValueError, match="host_memory"):
            warren.read(path, host_memory=wrong)
