# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE on sampled batches by PyTorch Geometric's training loop: two imports are warren's, and the rest stays."""
import torch
from torch.nn import functional
from torch_geometric.data import Data

import warren
from warren.pyg import NeighborLoader  # In place of torch_geometric.loader's.
from warren.torch import SAGEConv  # In place of torch_geometric.nn's.


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
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = communities()
    loader = NeighborLoader(data, num_neighbors=[10, 5], input_nodes=data.train_mask, batch_size=128, shuffle=True)
    model = Model(data.num_features, 32, 8).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, 6):
        for batch in loader:
            batch = batch.to(device)
            optimizer.zero_grad()
            out = model(batch.x, batch.edge_index)[:batch.batch_size]
            loss = functional.cross_entropy(out, batch.y[:batch.batch_size])
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")
    with torch.no_grad():
        found = model(data.x.to(device), data.edge_index.to(device)).argmax(1).cpu()
    print(f"test accuracy {(found == data.y)[~data.train_mask].float().mean().item():.3f}")


if __name__ == "__main__":
    main()
