# SPDX-License-Identifier: Apache-2.0
"""warren: computes on one graph across many memories.

    import warren

    graph = warren.read("debian")
    found = graph.bfs(0)
    print(found.reached, found.max_depth)

Graphs come from read(), generate() and the from_... functions; bfs, sssp, connected_components, pagerank, betweenness,
core_number and triangles, the products spmm and sddmm, sample, partition and reorder are functions and methods of Graph. gather and lookup take rows of
arrays, or of a Table that is kept between calls. train and predict take datasets: by name, or a Dataset. Session says where calls run, and report() draws what they found.
join_processes() makes several processes that a launcher started one team. check_machine() tries whether the machine does what it should.
SciPy, pandas and NetworkX are imported only where a call needs them.
"""
from ._algorithms import betweenness, bfs, connected_components, core_number, pagerank, sssp, triangles
from ._allocator import set_allocator
from ._build import from_csr, from_edges, generate, read
from ._check import check_machine
from ._convert import from_cugraph, from_networkx, from_pandas, from_pyg, from_scipy
from ._dataset import Dataset, read_dataset
from ._errors import Error, TeamError, VerificationError, VertexError
from ._graph import Graph
from ._multiply import sddmm, spmm
from ._partition import PartitionResult, ReorderResult, partition, reorder
from ._processes import Ranks, join_processes
from ._report import report
from ._results import BetweennessResult, BfsResult, ComponentsResult, CoreNumberResult, PageRankResult, Result, SsspResult, TrianglesResult
from ._sample import EdgeTimes, Sample, SampledBatches, SampledLayer, sample, sample_batches
from ._session import Session
from ._table import Table, gather, lookup
from ._train import Model, PredictResult, TrainResult, load_model, predict, train
from ._version import __version__
from ._walks import RandomWalks, random_walks

__all__ = ["BetweennessResult", "BfsResult", "ComponentsResult", "CoreNumberResult", "Dataset", "EdgeTimes", "Error", "Graph", "Model", "PageRankResult",
           "PartitionResult", "PredictResult", "RandomWalks", "Ranks", "ReorderResult", "Result", "Sample", "SampledBatches", "SampledLayer", "Session", "SsspResult", "Table", "TeamError",
           "TrainResult", "TrianglesResult", "VerificationError", "VertexError", "__version__", "betweenness", "bfs", "check_machine", "connected_components", "core_number", "from_csr",
           "from_cugraph", "from_edges", "from_networkx", "from_pandas", "from_pyg", "from_scipy", "gather", "generate", "join_processes", "load_model", "lookup",
           "pagerank", "partition", "predict", "random_walks", "read", "read_dataset", "reorder", "report", "sample", "sample_batches", "sddmm", "set_allocator", "spmm", "sssp",
           "train", "triangles"]
