"""PyTorch Geometric: layers of graphs as dense matrices, and messages along edges."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    DenseGCNConv,
    DenseGINConv,
    DenseSAGEConv,
    GATConv,
    GCNConv,
    dense_diff_pool,
    global_mean_pool,
)

torch.manual_seed(0)
x, adjacency = torch.randn(2, 5, 4), (torch.rand(2, 5, 5) > 0.5).float()
for layer in (DenseGCNConv(4, 3), DenseSAGEConv(4, 3), DenseGINConv(torch.nn.Linear(4, 3))):
    out = layer(x, adjacency)
    assert out.shape == (2, 5, 3)
    out.sum().backward()
pooled = dense_diff_pool(x, adjacency, torch.randn(2, 5, 2))
assert pooled[0].shape == (2, 2, 4) and pooled[1].shape == (2, 2, 2)

edges = torch.tensor([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]])
features, labels = torch.eye(4), torch.tensor([0, 1, 0, 1])
conv, attention = GCNConv(4, 8), GATConv(8, 2)
optimizer = torch.optim.Adam([*conv.parameters(), *attention.parameters()], lr=0.05)
losses = []
for _ in range(40):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(attention(conv(features, edges).relu(), edges), labels)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0], losses
batch = next(iter(DataLoader([Data(x=features, edge_index=edges)] * 3, batch_size=3)))
assert global_mean_pool(conv(batch.x, batch.edge_index), batch.batch).shape == (3, 8)
print("done")
