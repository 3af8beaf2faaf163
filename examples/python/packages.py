# SPDX-License-Identifier: Apache-2.0
"""Which packages does a system lean on? Searches and ranks on the shipped dataset, whose vertices have names."""
import numpy as np
import warren


def main() -> None:
    graph = warren.read("debian", symmetrize=True)
    print(f"{graph.num_vertices} packages, {graph.num_edges} edges")

    found = graph.bfs("python3")
    nearest = np.bincount(found.depth[found.depth >= 0])
    print(f"from python3 {found.reached} packages are reached, in {found.max_depth} steps; a step away are {nearest[1]}")

    parts = graph.connected_components()
    print(f"{parts.num_components} components, the largest of {parts.largest} packages")

    for name, rank in graph.pagerank(tolerance=1e-9).top(5):
        print(f"{rank:.5f} {name}")


if __name__ == "__main__":
    main()
