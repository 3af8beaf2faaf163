# SPDX-License-Identifier: Apache-2.0
"""What the tests of operators and layers for PyTorch share: edges, rows, and layers beside PyTorch Geometric's."""
import copy
import warnings

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
warnings.filterwarnings("ignore", message=".*torch.jit.script.*")


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"))]
TARGETS, SOURCES, EDGES = 40, 60, 300


def some_edges(device="cpu", targets=TARGETS, sources=SOURCES, edges=EDGES, seed=1):
    """Unsorted, with parallel ones, and targets without any."""
    draw = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randint(sources, (edges,), generator=draw), torch.randint(targets - 3, (edges,), generator=draw)]).to(device)


def randn(*shape, device="cpu", dtype=torch.float32, seed=2):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(device, dtype)


VERTICES = 50


def layers():
    """Names, arguments, and what forward() takes beside x and edge_index."""
    weights, features = randn(400, seed=7).abs(), randn(400, 6, seed=8)
    made = [("GCNConv", {}, {}), ("GCNConv", {}, {"edge_weight": weights}), ("GCNConv", {"improved": True, "cached": True, "bias": False}, {}), ("GCNConv", {"add_self_loops": False}, {}),
            ("GCNConv", {"normalize": False}, {"edge_weight": weights}), ("SAGEConv", {}, {}), ("SAGEConv", {"aggr": "add", "normalize": True}, {}), ("SAGEConv", {"aggr": "max", "project": True}, {}),
            ("SAGEConv", {"out_channels": 40, "root_weight": False}, {}), ("SAGEConv", {"aggr": "std"}, {}), ("GINConv", {"train_eps": True, "eps": 0.3}, {}),
            ("GATConv", {}, {}), ("GATConv", {"heads": 3, "residual": True}, {}), ("GATConv", {"heads": 2, "concat": False, "add_self_loops": False}, {}),
            ("GATConv", {"heads": 2, "edge_dim": 6}, {"edge_attr": features}), ("GATConv", {"edge_dim": 6, "fill_value": 0.5}, {"edge_attr": features}),
            ("GATv2Conv", {"heads": 3}, {}), ("GATv2Conv", {"share_weights": True, "concat": False, "heads": 2, "residual": True}, {}), ("GATv2Conv", {"edge_dim": 6}, {"edge_attr": features})]
    return [pytest.param(*case, id=f"{case[0]}-{'-'.join(map(str, case[1].items()))}{'-' * bool(case[2])}{''.join(case[2])}") for case in made]


def pair_of(name, arguments, device="cpu"):
    """PyTorch Geometric's layer and warren's, with the state of that."""
    theirs_of = pytest.importorskip("torch_geometric.nn")
    import warren.torch

    arguments = {"in_channels": 12, "out_channels": 5, **arguments}
    if name == "GINConv":
        arguments["nn"] = torch.nn.Sequential(torch.nn.Linear(arguments.pop("in_channels"), arguments.pop("out_channels")), torch.nn.ReLU())
    torch.manual_seed(11)
    theirs = getattr(theirs_of, name)(**copy.deepcopy(arguments)).to(device)
    ours = getattr(warren.torch, name)(**copy.deepcopy(arguments)).to(device)
    for parameter in theirs.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def layer_edges():
    edges = some_edges(targets=VERTICES, sources=VERTICES, edges=400)
    # Five loops, of vertices that have no other: of several with weights PyTorch Geometric takes one, on a GPU any.
    edges[1] = torch.where(edges[0] == edges[1], (edges[1] + 1) % VERTICES, edges[1])
    edges[:, :5] = torch.tensor([3, 4, 5, 6, 7])
    return edges
