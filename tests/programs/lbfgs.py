"""Linear regression with L-BFGS, and with the normal equations to compare."""

import torch

torch.manual_seed(8)
torch.set_default_dtype(torch.float64)

n, d = 50, 4
X = torch.cat([torch.randn(n, d), torch.ones(n, 1)], dim=1)
w_true = torch.tensor([2.0, -3.4, 0.5, 1.7, 4.2])
y = X.mv(w_true) + 0.01 * torch.randn(n)

w = torch.zeros(d + 1, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=1, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = ((X @ w - y) ** 2).mean()
    loss.backward()
    return loss


for step in range(3):
    loss = optimizer.step(closure)
    print(f"loss {loss.item():.6e}")

w_ls = torch.linalg.lstsq(X, y.unsqueeze(1)).solution.squeeze()
w_ne = torch.linalg.solve(X.T @ X, X.T @ y)
print(torch.allclose(w.detach(), w_ls, atol=1e-4), torch.allclose(w_ls, w_ne))
print("w", " ".join(f"{v:.4f}" for v in w.tolist()))

# ridge regression by plain gradient descent
v = torch.zeros(d + 1, requires_grad=True)
for t in range(200):
    loss = (X @ v - y).pow(2).mean() + 1e-3 * v.norm() ** 2
    loss.backward()
    with torch.no_grad():
        v -= 0.1 * v.grad
        v.grad.zero_()
print(f"ridge {loss.item():.6f}")
torch.set_default_dtype(torch.float32)
