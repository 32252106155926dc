"""PyTorch Geometric's ``to_hetero``: ``fx`` makes of a model one for nodes of several types."""

import torch
from torch_geometric.nn import GATConv, Linear, SAGEConv, to_hetero, to_hetero_with_bases

torch.manual_seed(0)
NODES, EDGES = ["paper", "author"], [
    ("paper", "cites", "paper"), ("author", "writes", "paper"), ("paper", "by", "author"),
]  # fmt: skip
x = {"paper": torch.randn(6, 4), "author": torch.randn(3, 5)}
edges = {
    EDGES[0]: torch.tensor([[0, 1, 2, 5], [1, 2, 3, 4]]),
    EDGES[1]: torch.tensor([[0, 1, 2, 2], [0, 3, 5, 1]]),
    EDGES[2]: torch.tensor([[0, 3, 5, 1], [0, 1, 2, 2]]),
}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = SAGEConv((-1, -1), 8), SAGEConv((-1, -1), 8)
        self.lin = Linear(-1, 2)

    def forward(self, x, edge_index):
        x = self.conv1(x, edge_index).relu()
        return self.lin(self.conv2(x, edge_index).relu())


model = to_hetero(Net(), (NODES, EDGES), aggr="sum")
assert isinstance(model, torch.fx.GraphModule)
names = [node.name for node in model.graph.nodes]
assert {"x__paper", "x__author", "conv1__paper", "lin__author", "lin__paper"} <= set(names), names
with torch.no_grad():
    out = model(x, edges)  # sets the sizes of the lazy layers
assert {key: tuple(value.shape) for key, value in out.items()} == {
    "paper": (6, 2),
    "author": (3, 2),
}

# The first layer by hand: the sum over the types of edges of a SAGE layer each.
conv = model.conv1
by_hand = sum(
    conv["__".join(kind)]((x[kind[0]], x["paper"]), edges[kind]) for kind in EDGES[:2]
).relu()


class First(torch.fx.Interpreter):
    def run_node(self, node):
        found = super().run_node(node)
        if node.name == "relu__paper":
            torch.testing.assert_close(found, by_hand)
            seen.append(node.name)
        return found


seen = []
First(model).run(x, edges)
assert seen == ["relu__paper"]

optimizer, labels = torch.optim.Adam(model.parameters(), lr=0.05), torch.tensor([0, 1] * 3)
losses = []
for _ in range(30):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x, edges)["paper"], labels)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GATConv((-1, -1), 4, heads=2, add_self_loops=False)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


attention = to_hetero(Attention(), (NODES, EDGES))
assert attention(x, edges)["author"].shape == (3, 8)
same = {"paper": torch.randn(6, 4), "author": torch.randn(3, 4)}


class Bases(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = SAGEConv(4, 8)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


bases = to_hetero_with_bases(Bases(), (NODES, EDGES), num_bases=2, in_channels={"x": 4})
assert bases(same, edges)["paper"].shape == (6, 8)
print("done")
