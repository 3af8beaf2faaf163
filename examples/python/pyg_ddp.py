# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE on sampled batches over several ranks, by PyTorch's DistributedDataParallel: torchrun --nproc-per-node 2 pyg_ddp.py.

Each rank trains on batches around seeds of its own. What is more than in the program for one process, pyg_sampled.py, is marked; started alone, this is that program.
"""
import torch
from torch.distributed import HashStore, destroy_process_group, init_process_group
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.data import Data

import warren
from warren.pyg import NeighborLoader
from warren.torch import SAGEConv


class Model(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.first = SAGEConv(width, hidden)
        self.second = SAGEConv(hidden, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def communities(vertices: int = 4000, classes: int = 8, width: int = 16) -> Data:
    """A graph of communities, whose class shows in the features behind much noise."""
    source, target, _ = warren.generate(f"community:{vertices},10").to_edges()
    labels = torch.arange(vertices) // 200 % classes
    x = torch.randn(classes, width)[labels] + 2 * torch.randn(vertices, width)
    edge_index = torch.stack([torch.from_numpy(source), torch.from_numpy(target)]).long()
    return Data(x=x, y=labels, edge_index=edge_index, train_mask=torch.rand(vertices) < 0.2)


def main() -> None:
    ranks = warren.join_processes()  # More: before all other calls of warren.
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(ranks.rank % torch.cuda.device_count())
    # More: a process that torchrun did not start meets itself alone.
    alone = {"store": HashStore(), "rank": 0, "world_size": 1} if ranks.size == 1 else {}
    init_process_group("nccl" if device == "cuda" else "gloo", **alone)
    torch.manual_seed(1)  # All ranks draw the same graph.
    data = communities()
    seeds = data.train_mask.nonzero().view(-1)[ranks.rank::ranks.size]  # More: the rank's own.
    loader = NeighborLoader(data, num_neighbors=[10, 5], input_nodes=seeds, batch_size=128 // ranks.size, shuffle=True)
    model = DistributedDataParallel(Model(data.num_features, 32, 8).to(device))  # More: the mean of the ranks' gradients.
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, 6):
        with model.join():  # More: a rank whose batches end first takes part in the others' steps.
            for batch in loader:
                batch = batch.to(device)
                optimizer.zero_grad()
                out = model(batch.x, batch.edge_index)[:batch.batch_size]
                loss = functional.cross_entropy(out, batch.y[:batch.batch_size])
                loss.backward()
                optimizer.step()
        if ranks.rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}")
    if ranks.rank == 0:
        with torch.no_grad():
            found = model.module(data.x.to(device), data.edge_index.to(device)).argmax(1).cpu()
        print(f"test accuracy {(found == data.y)[~data.train_mask].float().mean().item():.3f}")
    destroy_process_group()


if __name__ == "__main__":
    main()
