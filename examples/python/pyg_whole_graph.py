# SPDX-License-Identifier: Apache-2.0
"""GCN on a whole graph by PyTorch Geometric's training loop, on warren's layers; edges have weights."""
import torch
from torch.nn import functional
from torch_geometric.data import Data

import warren
from warren.torch import GCNConv  # In place of torch_geometric.nn's.


def communities(vertices: int = 3000, classes: int = 6, width: int = 16) -> Data:
    source, target, weights = warren.generate(f"community:{vertices},8", weights="uniform:1:4").to_edges()
    assert weights is not None
    labels = torch.arange(vertices) // 200 % classes
    x = torch.randn(classes, width)[labels] + 2 * torch.randn(vertices, width)
    edge_index = torch.stack([torch.from_numpy(source), torch.from_numpy(target)]).long()
    return Data(x=x, y=labels, edge_index=edge_index, edge_weight=torch.from_numpy(weights).float(), train_mask=torch.rand(vertices) < 0.1)


def main() -> None:
    torch.manual_seed(1)
    data = communities().to("cuda" if torch.cuda.is_available() else "cpu")
    first, second = GCNConv(data.num_features, 16, cached=True).to(data.x.device), GCNConv(16, 6, cached=True).to(data.x.device)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)
    for epoch in range(1, 31):
        out = second(functional.dropout(first(data.x, data.edge_index, data.edge_weight).relu(), 0.5), data.edge_index, data.edge_weight)
        loss = functional.cross_entropy(out[data.train_mask], data.y[data.train_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}")
    with torch.no_grad():
        found = second(first(data.x, data.edge_index, data.edge_weight).relu(), data.edge_index, data.edge_weight).argmax(1)
    print(f"test accuracy {(found == data.y)[~data.train_mask].float().mean().item():.3f}")


if __name__ == "__main__":
    main()
