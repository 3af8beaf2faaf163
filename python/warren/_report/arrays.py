# SPDX-License-Identifier: Apache-2.0
"""The counts behind charts, from the arrays of results and graphs: `levels`, `degree_counts` and `distribution` beside the fields of the JSON."""
from __future__ import annotations

from typing import Any

import numpy as np


def of_graph(graph: Any) -> dict[str, Any]:
    """The fields of `warren stats` that the graph knows, and how many vertices have each number of out-edges."""
    degree = np.asarray(graph.degree())
    values, counts = np.unique(degree, return_counts=True)
    return {"command": "stats", "vertices": graph.num_vertices, "edges": graph.num_edges, "max_degree": int(degree.max(initial=0)),
            "mean_degree": float(degree.mean()) if degree.size else None, "weighted": bool(graph.is_weighted), "symmetric": bool(graph.is_symmetric),
            "degree_counts": [values.tolist(), counts.tolist()]}


def of_result(result: Any) -> dict[str, Any]:
    info = dict(result.info)
    if hasattr(result, "depth"):
        depth = np.asarray(result.depth)
        if depth.ndim == 1:
            sources = np.atleast_1d(result._source)
            info["source_name"] = ", ".join(map(str, result._graph.labels(sources[:3]))) + (", ..." if sources.size > 3 else "")
    elif hasattr(result, "distance"):
        distance = np.asarray(result.distance)
        info["distribution"] = _histogram("distance from the source", distance[np.isfinite(distance) & (distance >= 0)])
    elif hasattr(result, "label"):
        sizes = np.unique(np.asarray(result.label), return_counts=True)[1]
        info["distribution"] = _counted("vertices of a component", sizes, "components")
    elif hasattr(result, "core"):
        info["distribution"] = _counted("core number", np.asarray(result.core), "vertices")
    elif hasattr(result, "count"):
        info["distribution"] = _counted("triangles of a vertex", np.asarray(result.count), "vertices")
    if hasattr(result, "top"):
        info["top_names"] = [str(name) for name, _ in result.top(10)]
    return info


def _counted(what: str, values: np.ndarray, of: str) -> dict[str, Any]:
    different, counts = np.unique(values, return_counts=True)
    return {"what": what, "of": of, "values": different.tolist(), "counts": counts.tolist()}


def _histogram(what: str, values: np.ndarray) -> dict[str, Any]:
    """By value where there are few, else in 60 bins, each by its middle."""
    if np.unique(values).size <= 60:
        return _counted(what, values, "vertices")
    counts, edges = np.histogram(values, 60)
    return {"what": what, "of": "vertices", "values": ((edges[:-1] + edges[1:]) / 2).tolist(), "counts": counts.tolist()}
