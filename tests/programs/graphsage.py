"""GraphSAGE with means by products of sparse matrices, and a table with few gradients."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
N = 30
source = torch.randint(0, N, (90,))
target = (source + torch.randint(1, 5, (90,))) % N
edges = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
labels = (torch.arange(N) // 10) % 3

adjacency = torch.sparse_coo_tensor(edges, torch.ones(edges.shape[1]), (N, N)).coalesce()
degree = torch.sparse.mm(adjacency, torch.ones(N, 1)).clamp(min=1)
csr = adjacency.to_sparse_csr()
print(csr.layout == torch.sparse_csr, csr.crow_indices()[:6].tolist(), int(csr.values().sum()))


class SAGELayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x):
        return self.own(x) + self.others(torch.sparse.mm(csr, x) / degree)


class SAGE(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(N, 8, sparse=True)
        self.first = SAGELayer(8, 16)
        self.second = SAGELayer(16, 3)

    def forward(self):
        x = self.table(torch.arange(N))
        return self.second(F.relu(self.first(x)))


model = SAGE()
dense = [p for name, p in model.named_parameters() if not name.startswith("table")]
optimizers = [
    torch.optim.SparseAdam(model.table.parameters(), lr=0.01),
    torch.optim.Adam(dense, lr=0.01),
]
train = torch.arange(0, N, 2)
for epoch in range(30):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = F.cross_entropy(model()[train], labels[train])
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    if epoch % 6 == 0 or epoch == 29:
        print(f"loss {loss.item():.4f} at {epoch}")
print(model.table.weight.grad.is_sparse, model.table.weight.grad._nnz())

# Two steps at once: the square of the adjacency matrix is sparse as well.
two_steps = torch.sparse.mm(adjacency, adjacency)
print(two_steps._nnz(), int(torch.sparse.sum(two_steps)))
attention = torch.sparse.softmax(adjacency * 0.5, dim=1)
print([f"{v:.4f}" for v in torch.sparse.sum(attention, dim=1).to_dense()[:4].tolist()])
