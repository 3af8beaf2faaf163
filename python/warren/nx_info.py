# SPDX-License-Identifier: Apache-2.0
"""What NetworkX is told of the backend when it is imported."""
from __future__ import annotations

from typing import Any

SAME = "The answer is NetworkX's."
BY_DISTANCE = " Nodes are in the order of their distances, at the same distance in that of the graph."
FUNCTIONS = {
    "pagerank": "The same iterations as NetworkX, so that ranks differ by the rounding of weights to float32 at most. With `alpha=1` the iterations converge on some graphs alone, as NetworkX' do. `nstart` and `dangling` with a negative number, or with none above 0, are not taken.",
    "single_source_shortest_path_length": SAME + BY_DISTANCE,
    "single_source_dijkstra_path_length": "Sums of integer weights are exact. Others are rounded to float32, which changes distances by 1e-7 of themselves at most; with a `cutoff` weights that float32 does not hold exactly are left to NetworkX. `weight` is not taken as a function." + BY_DISTANCE,
    "connected_components": SAME,
    "number_connected_components": SAME,
    "is_connected": SAME,
    "weakly_connected_components": SAME,
    "number_weakly_connected_components": SAME,
    "is_weakly_connected": SAME,
    "betweenness_centrality": SAME + " The `k` nodes are those that NetworkX draws by `seed` (NetworkX 3.5 and later). `endpoints` of a directed graph takes a search more a source. `weight` is not taken.",
    "core_number": SAME,
    "triangles": SAME,
}


def get_info() -> dict[str, Any]:
    """As NetworkX's entry point `networkx.backend_info` wants it."""
    return {
        "backend_name": "warren",
        "project": "warren",
        "package": "warren",
        "short_summary": "Searches, components and ranks on all cores and GPUs.",
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }
