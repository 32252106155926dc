"""A multi-layer perceptron with dropout-free training, accuracy, and manual seeds."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
X = torch.randn(256, 10, device=device)
true_w = torch.randn(10, 3, device=device)
y = (X @ true_w).argmax(dim=1)

model = Net(10, 32, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)

print(sum(p.numel() for p in model.parameters() if p.requires_grad))
for epoch in range(10):
    model.train()
    permutation = torch.randperm(X.size(0))
    total = 0.0
    for i in range(0, X.size(0), 64):
        idx = permutation[i : i + 64]
        optimizer.zero_grad()
        loss = criterion(model(X[idx]), y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    print(f"loss {total / len(X):.5f}")

model.eval()
with torch.no_grad():
    prediction = model(X).argmax(1)
    accuracy = (prediction == y).float().mean().item()
print(f"accuracy {accuracy:.3f}")
