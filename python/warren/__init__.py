# SPDX-License-Identifier: Apache-2.0
"""warren: computes on one graph across many memories.

    import warren

    graph = warren.read("debian")
    found = graph.bfs(0)
    print(found.reached, found.max_depth)

Graphs come from read(), generate() and the from_... functions; bfs, sssp, connected_components, pagerank, betweenness,
core_number and triangles, and the products spmm and sddmm, are functions and methods of Graph. Session says where they run, and report() draws what they found.
SciPy, pandas and NetworkX are imported only where a call needs them.
"""
from ._algorithms import betweenness, bfs, connected_components, core_number, pagerank, sssp, triangles
from ._build import from_csr, from_edges, generate, read
from ._convert import from_cugraph, from_networkx, from_pandas, from_pyg, from_scipy
from ._errors import Error, TeamError, VertexError
from ._graph import Graph
from ._multiply import sddmm, spmm
from ._report import report
from ._results import BetweennessResult, BfsResult, ComponentsResult, CoreNumberResult, PageRankResult, Result, SsspResult, TrianglesResult
from ._session import Session
from ._version import __version__

__all__ = ["BetweennessResult", "BfsResult", "ComponentsResult", "CoreNumberResult", "Error", "Graph", "PageRankResult", "Result", "Session", "SsspResult",
           "TeamError", "TrianglesResult", "VertexError", "__version__", "betweenness", "bfs", "connected_components", "core_number", "from_csr", "from_cugraph",
           "from_edges", "from_networkx", "from_pandas", "from_pyg", "from_scipy", "generate", "pagerank", "read", "report",
           "sddmm", "spmm", "sssp", "triangles"]
