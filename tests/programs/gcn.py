"""The classic graph convolutional network: a normalized adjacency matrix, times features."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def normalize(edges, size):
    """D^-1/2 (A + I) D^-1/2 as a sparse matrix."""
    loops = torch.arange(size)
    rows, columns = torch.cat([edges, edges.flip(0), torch.stack([loops, loops])], dim=1)
    ones = torch.ones(rows.shape[0])
    adjacency = torch.sparse_coo_tensor(torch.stack([rows, columns]), ones, (size, size)).coalesce()
    degree = torch.sparse.sum(adjacency, dim=1).to_dense()
    scale = degree.pow(-0.5)
    rows, columns = adjacency.indices()
    values = adjacency.values() * scale[rows] * scale[columns]
    return torch.sparse_coo_tensor(adjacency.indices(), values, adjacency.shape)


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        bound = 1.0 / math.sqrt(outputs)
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x, adjacency):
        return torch.spmm(adjacency, torch.mm(x, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = GraphConvolution(inputs, hidden)
        self.second = GraphConvolution(hidden, classes)

    def forward(self, x, adjacency):
        return F.log_softmax(self.second(F.relu(self.first(x, adjacency)), adjacency), dim=1)


# Two rings of 12 nodes, joined by two edges; the nodes of a ring are a class.
ring = torch.arange(12)
first = torch.stack([ring, (ring + 1) % 12])
chords = torch.stack([ring, (ring + 3) % 12])
bridges = torch.tensor([[0, 5], [12, 17]])
edges = torch.cat([first, chords, first + 12, chords + 12, bridges], dim=1)
labels = torch.cat([torch.zeros(12), torch.ones(12)]).long()
features = torch.randn(24, 6) + labels[:, None] * 0.3
adjacency = normalize(edges, 24)
print(adjacency._nnz(), adjacency.is_sparse)
print(adjacency)

model = GCN(6, 8, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
known = torch.tensor([1, 7, 14, 20])
for epoch in range(40):
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss = F.nll_loss(output[known], labels[known])
    loss.backward()
    optimizer.step()
    if epoch % 8 == 0 or epoch == 39:
        accuracy = (model(features, adjacency).argmax(1) == labels).float().mean()
        print(f"loss {loss.item():.4f} accuracy {accuracy.item():.3f} at {epoch}")

# Weights of edges that are learned: the gradient of the elements of a sparse matrix.
weights = torch.ones(edges.shape[1], requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.5)
for step in range(3):
    optimizer.zero_grad()
    matrix = torch.sparse_coo_tensor(edges, weights, (24, 24))
    error = ((matrix @ features + matrix.t() @ features) / 8 - labels[:, None]).pow(2).mean()
    error.backward()
    optimizer.step()
    print(f"weights {error.item():.4f} {weights.grad.norm().item():.4f}")
