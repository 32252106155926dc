"""Graph convolution and attention by scatter_add and index_add, on a stochastic block model."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
NODES, CLASSES = 40, 2
labels = torch.arange(NODES) % CLASSES
chance = torch.where(labels[:, None] == labels[None, :], 0.3, 0.03)
upper = torch.triu(torch.bernoulli(chance), diagonal=1)
adjacency = upper + upper.t()
edge_index = adjacency.nonzero().t().contiguous()
loops = torch.arange(NODES).repeat(2, 1)
edge_index = torch.cat([edge_index, loops], dim=1)
features = torch.randn(NODES, 6) + 0.5 * F.one_hot(labels, 6)


class GCNConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x, edge_index):
        row, col = edge_index
        deg = torch.zeros(x.size(0)).scatter_add_(0, col, torch.ones(col.size(0)))
        deg_inv_sqrt = deg.pow(-0.5)
        deg_inv_sqrt[deg_inv_sqrt == float("inf")] = 0
        norm = deg_inv_sqrt[row] * deg_inv_sqrt[col]
        messages = norm.view(-1, 1) * self.lin(x)[row]
        out = torch.zeros(x.size(0), messages.size(1))
        return out.index_add(0, col, messages) + self.bias


class GATConv(nn.Module):
    def __init__(self, in_channels, out_channels, heads=2):
        super().__init__()
        self.heads, self.out = heads, out_channels
        self.lin = nn.Linear(in_channels, heads * out_channels)
        self.att = nn.Parameter(torch.empty(1, heads, 2 * out_channels))
        nn.init.xavier_uniform_(self.att)

    def forward(self, x, edge_index):
        source, target = edge_index
        h = self.lin(x).view(-1, self.heads, self.out)
        alpha = (torch.cat([h[source], h[target]], dim=-1) * self.att).sum(dim=-1)
        alpha = F.leaky_relu(alpha, 0.2)
        index = target[:, None].expand_as(alpha)
        top = torch.full((x.size(0), self.heads), -1e9).scatter_reduce(
            0, index, alpha, reduce="amax", include_self=True
        )
        weight = (alpha - top[target].detach()).exp()
        total = torch.zeros(x.size(0), self.heads).scatter_add(0, index, weight)
        weight = (weight / (total[target] + 1e-16)).unsqueeze(-1)
        messages = h[source] * weight
        index = target[:, None, None].expand_as(messages)
        return torch.zeros_like(h).scatter_add(0, index, messages).flatten(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(6, 8)
        self.conv2 = GATConv(8, 4)
        self.out = GCNConv(8, CLASSES)

    def forward(self, x, edge_index):
        x = F.dropout(F.relu(self.conv1(x, edge_index)), p=0.3, training=self.training)
        x = F.elu(self.conv2(x, edge_index))
        return F.log_softmax(self.out(x, edge_index), dim=1)


model = Net()
optimizer = torch.optim.Adam(
    [
        {"params": model.conv1.parameters(), "weight_decay": 5e-3},
        {"params": [*model.conv2.parameters(), *model.out.parameters()]},
    ],
    lr=0.02,
)
train_mask = torch.zeros(NODES, dtype=torch.bool)
train_mask[torch.randperm(NODES)[:16]] = True
for epoch in range(20):
    model.train()
    optimizer.zero_grad()
    out = model(features, edge_index)
    loss = F.nll_loss(out[train_mask], labels[train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 5 == 4:
        print(f"loss {loss.item():.4f}")
model.eval()
pred = model(features, edge_index).argmax(dim=1)
correct = (pred[~train_mask] == labels[~train_mask]).sum()
print(f"accuracy {int(correct) / int((~train_mask).sum()):.3f}", edge_index.shape)
pooled = torch.zeros(CLASSES, 6).index_reduce_(0, labels, features, "mean", include_self=False)
print([f"{v:.3f}" for v in pooled.flatten()[:6].tolist()])
