# SPDX-License-Identifier: Apache-2.0
"""Graphs of arrays: a road network of a grid with lengths, and its shortest paths by warren and by SciPy."""
import numpy as np
import scipy.sparse
import warren
from scipy.sparse.csgraph import dijkstra


def grid(width: int, height: int, seed: int) -> scipy.sparse.csr_array:
    """Lengths of 1 to 9 between neighbours, the same in both directions."""
    ids = np.arange(width * height, dtype=np.int32).reshape(height, width)
    heads = np.concatenate([ids[:, :-1].ravel(), ids[:-1, :].ravel()])
    tails = np.concatenate([ids[:, 1:].ravel(), ids[1:, :].ravel()])
    lengths = np.random.default_rng(seed).integers(1, 10, heads.size, dtype=np.int32)
    one_way = scipy.sparse.coo_array((lengths, (heads, tails)), shape=(ids.size, ids.size))
    return scipy.sparse.csr_array(one_way + one_way.T)


def main() -> None:
    matrix = grid(60, 40, seed=1)
    graph = warren.from_scipy(matrix, copy=False)  # The matrix's own arrays: nothing is copied, and nothing may be written.
    with warren.Session(device="cpu", devices=2):
        distance = graph.sssp(0).distance
    expected = dijkstra(matrix, indices=0)
    print(f"the farthest of {graph.num_vertices} crossings is {distance.max()} away; SciPy says {expected.max():.0f}")
    assert np.array_equal(distance, expected)


if __name__ == "__main__":
    main()
