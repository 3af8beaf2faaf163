# SPDX-License-Identifier: Apache-2.0
"""Pictures of a graph and of what was found in it: degrees, levels, components and ranks, in one page. Needs `pip install vl-convert-python`."""
import warren


def main() -> None:
    graph = warren.read("debian", symmetrize=True)
    results = [graph, graph.bfs("python3"), graph.connected_components(), graph.core_number(), graph.pagerank()]
    page = warren.report(results, "report.html", title="The packages of Debian")
    print(f"wrote {page}: open it in a browser")


if __name__ == "__main__":
    main()
