# SPDX-License-Identifier: Apache-2.0
"""A mini-batch from a table of features: a sample's vertices, their rows, the mean over each seed's neighbours; on a graph whose neighbours lie together."""
import numpy as np
import warren


def main() -> None:
    packages = warren.read("debian", symmetrize=True)
    order = packages.reorder("rabbit", return_graph=True)
    graph = order.graph
    assert graph is not None
    print(f"in Rabbit order {graph.partition(4).cut_edges} of {graph.num_edges} edges cross between four parts, before {packages.partition(4).cut_edges}")

    features = np.random.default_rng(1).normal(size=(graph.num_vertices, 32)).astype(np.float32)
    table = warren.Table(features, device="cpu", devices=2)
    batch = graph.sample([graph.vertex("python3"), graph.vertex("git")], fanouts=[5], seed=3)
    rows = table.gather(batch.vertices)
    hop = batch.layers[0]
    means = table.lookup(batch.vertices[hop.targets], hop.offsets, include_last_offset=True)
    print(f"{len(rows)} rows gathered; means over the neighbours of {len(means)} seeds")
    assert np.array_equal(rows, features[batch.vertices])
    assert np.allclose(means[0], rows[hop.targets[:hop.offsets[1]]].mean(axis=0), atol=1e-6)


if __name__ == "__main__":
    main()
