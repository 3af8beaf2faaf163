# SPDX-License-Identifier: Apache-2.0
"""NetworkX with warren as its backend: the same calls, the same answers."""
import networkx as nx
import warren


def main() -> None:
    nx.config.warnings_to_ignore.add("cache")
    G = nx.gnp_random_graph(2000, 0.005, seed=1, directed=True)
    ours = nx.pagerank(G, backend="warren")  # Converts G, and keeps that with G.
    theirs = nx.pagerank(G)
    print(f"ranks differ by {max(abs(ours[v] - theirs[v]) for v in G):.1e}")

    graph = warren.from_networkx(nx.karate_club_graph(), weight=None)
    print(graph.bfs(0).to_dict()[33], "steps from the instructor to the administrator")


if __name__ == "__main__":
    main()
