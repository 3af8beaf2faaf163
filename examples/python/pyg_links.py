# SPDX-License-Identifier: Apache-2.0
"""Which vertices should be linked? A model learns it from links that are there and others that are made up, on sampled batches."""
import torch
from torch.nn import functional
from torch_geometric.data import Data

import warren
from warren.pyg import LinkNeighborLoader  # In place of torch_geometric.loader's.
from warren.torch import SAGEConv  # In place of torch_geometric.nn's.


def main() -> None:
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    source, target, _ = warren.generate("community:2000,8").to_edges()
    edges = torch.stack([torch.from_numpy(source), torch.from_numpy(target)]).long()
    data = Data(edge_index=edges, x=torch.randn(2000, 32))
    loader = LinkNeighborLoader(data, num_neighbors=[8, 4], batch_size=1024, shuffle=True, neg_sampling="binary")
    first, second = SAGEConv(32, 32).to(device), SAGEConv(32, 32).to(device)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
    for epoch in range(1, 6):
        right = count = 0
        for batch in loader:
            batch = batch.to(device)
            z = second(first(batch.x, batch.edge_index).relu(), batch.edge_index)
            scores = (z[batch.edge_label_index[0]] * z[batch.edge_label_index[1]]).sum(-1)
            loss = functional.binary_cross_entropy_with_logits(scores, batch.edge_label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int(((scores > 0) == (batch.edge_label > 0)).sum())
            count += scores.numel()
        print(f"epoch {epoch}: {right / count:.3f} of the links and of those that are made up are told apart")


if __name__ == "__main__":
    main()
