# SPDX-License-Identifier: Apache-2.0
"""GCN on a whole graph over several ranks: torchrun --nproc-per-node 2 pyg_ranks.py, or mpirun -n 2 python pyg_ranks.py.

Each rank has the rows of its own vertices. What is more than in the program for one process is marked; started alone, this is that program.
"""
import torch
from torch.nn import functional
from torch_geometric.data import Data

import warren
from warren.torch import DistributedAdjacency, GCNConv


def communities(vertices: int = 3000, classes: int = 6, width: int = 16) -> Data:
    source, target, _ = warren.generate(f"community:{vertices},8").to_edges()
    labels = torch.arange(vertices) // 200 % classes
    x = torch.randn(classes, width)[labels] + 2 * torch.randn(vertices, width)
    edge_index = torch.stack([torch.from_numpy(source), torch.from_numpy(target)]).long()
    return Data(x=x, y=labels, edge_index=edge_index, train_mask=torch.rand(vertices) < 0.1)


def add_up(*tensors: torch.Tensor) -> None:
    """The sum of the ranks' tensors, on all of them."""
    if torch.distributed.is_initialized():
        for tensor in tensors:
            torch.distributed.all_reduce(tensor)


def main() -> None:
    ranks = warren.join_processes()  # More: before all other calls of warren.
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(ranks.rank % torch.cuda.device_count())
    if ranks.size > 1:
        torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    torch.manual_seed(1)  # All ranks draw the same graph, and begin with the same parameters.
    data = communities().to(device)
    adjacency = DistributedAdjacency(data.edge_index, data.num_nodes)  # More: in place of data.edge_index.
    own = adjacency.own
    x, y, train_mask = data.x[own], data.y[own], data.train_mask[own]
    first, second = GCNConv(data.num_features, 16, cached=True).to(device), GCNConv(16, 6, cached=True).to(device)
    parameters = [*first.parameters(), *second.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.02)
    for epoch in range(1, 31):
        out = second(first(x, adjacency).relu(), adjacency)
        # More: a rank's share of the mean over all vertices, so that the sum of the ranks' gradients is that of the mean.
        loss = functional.cross_entropy(out[train_mask], y[train_mask], reduction="sum") / data.train_mask.sum()
        optimizer.zero_grad()
        loss.backward()
        add_up(*(parameter.grad for parameter in parameters if parameter.grad is not None))  # More.
        optimizer.step()
        if epoch % 10 == 0:
            add_up(loss.detach())
            if ranks.rank == 0:
                print(f"epoch {epoch}: loss {loss.item():.3f}")
    with torch.no_grad():
        found = second(first(x, adjacency).relu(), adjacency).argmax(1)
    right = (found == y)[~train_mask].sum()
    add_up(right)
    if ranks.rank == 0:
        print(f"test accuracy {right.item() / int((~data.train_mask).sum()):.3f}")
    if ranks.size > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
