"""Code that lives on einsum: attention, bilinear forms, a mixture of experts, CP rank-1 fits."""

import torch
from torch import einsum, nn

torch.manual_seed(12)
B, H, T, D = 2, 3, 5, 4
q, k, v = (torch.randn(B, H, T, D, requires_grad=True) for _ in range(3))
sim = einsum("b h i d, b h j d -> b h i j", q, k) * D**-0.5
mask = torch.ones(T, T, dtype=torch.bool).triu(1)
sim = sim.masked_fill(mask, -torch.finfo(sim.dtype).max)
attn = (sim - sim.amax(dim=-1, keepdim=True).detach()).softmax(dim=-1)
out = einsum("b h i j, b h j d -> b h i d", attn, v)
out.pow(2).sum().backward()
print(f"attention {out.sum().item():.4f} {q.grad.norm().item():.4f} {k.grad.norm().item():.4f}")

A = torch.randn(3, 4, 5)
left, right = torch.randn(6, 4), torch.randn(6, 5)
print(f"bilinear {torch.einsum('bi,oij,bj->bo', left, A, right).sum().item():.4f}")
print(f"trace {torch.einsum('ii', torch.arange(9.0).reshape(3, 3)).item()}")
print(torch.einsum("...ij,...jk->...ik", torch.ones(2, 1, 3, 4), torch.ones(5, 4, 2)).shape)


class Experts(nn.Module):
    def __init__(self, experts, dim, hidden):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(experts, dim, hidden) / dim**0.5)
        self.w2 = nn.Parameter(torch.randn(experts, hidden, dim) / hidden**0.5)
        self.gate = nn.Linear(dim, experts, bias=False)

    def forward(self, x):
        gates = self.gate(x).softmax(-1)
        hidden = einsum("n d, e d h -> n e h", x, self.w1).relu()
        return einsum("n e h, e h d, n e -> n d", hidden, self.w2, gates)


x = torch.randn(40, 6)
target = torch.roll(x, 1, dims=1) * x.sign()
moe = Experts(4, 6, 12)
optimizer = torch.optim.NAdam(moe.parameters(), lr=1e-2)
for step in range(8):
    optimizer.zero_grad()
    loss = (moe(x) - target).square().mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")

factors = [torch.rand(n, 2, requires_grad=True) for n in (3, 4, 5)]
tensor = einsum("ir,jr,kr->ijk", *(torch.rand(n, 2) for n in (3, 4, 5)))
optimizer = torch.optim.Adam(factors, lr=0.05)
for step in range(60):
    optimizer.zero_grad()
    error = (einsum("ir,jr,kr->ijk", *factors) - tensor).norm()
    error.backward()
    optimizer.step()
print(f"cp {error.item():.3f}")
