"""PyTorch Geometric with adjacency matrices as sparse tensors (COO and CSR)."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINConv, GraphConv, SAGEConv
from torch_geometric.transforms import ToSparseTensor
from torch_geometric.utils import (
    spmm,
    to_edge_index,
    to_scipy_sparse_matrix,
    to_torch_coo_tensor,
    to_torch_csr_tensor,
)

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 1, 2, 3, 0, 2, 4], [1, 0, 2, 1, 0, 3, 4, 2]])
x, labels = torch.randn(5, 4), torch.tensor([0, 1, 0, 1, 1])
matrices = [to_torch_coo_tensor(edges, size=5), to_torch_csr_tensor(edges, size=5)]
layers = [
    GCNConv(4, 3),
    SAGEConv(4, 3, aggr="mean"),
    SAGEConv(4, 3, aggr="sum"),
    GraphConv(4, 3),
    GINConv(torch.nn.Linear(4, 3)),
]
for layer in layers:  # the graph is undirected, so the matrix is its own transpose
    expected = layer(x, edges)
    for matrix in matrices:
        torch.testing.assert_close(layer(x, matrix), expected)

for matrix in matrices:
    dense = matrix.to_dense()
    for reduce in ("sum", "mean"):
        out = spmm(matrix, x, reduce=reduce)
        count = 1 if reduce == "sum" else dense.sum(1, keepdim=True).clamp(min=1)
        torch.testing.assert_close(out, dense @ x / count)
    found, values = to_edge_index(matrix)
    assert found.shape == edges.shape and values.shape == (8,)
assert to_scipy_sparse_matrix(edges, num_nodes=5).nnz == 8

data = ToSparseTensor(layout=torch.sparse_csr)(Data(x=x, edge_index=edges, y=labels))
assert data.adj_t.layout == torch.sparse_csr
convs = torch.nn.ModuleList([GCNConv(4, 8, cached=True), GCNConv(8, 2, cached=True)])
optimizer = torch.optim.Adam(convs.parameters(), lr=0.05)
losses = []
for _ in range(40):
    optimizer.zero_grad()
    out = convs[1](convs[0](data.x, data.adj_t).relu(), data.adj_t)
    loss = torch.nn.functional.cross_entropy(out, data.y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
print("done")
