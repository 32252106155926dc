"""Processes that train one model in shared memory without locks (Hogwild!), for PyTorch."""

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

WORKERS, EPOCHS = 2, 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return F.log_softmax(self.fc2(torch.tanh(self.fc1(x))), dim=1)


def make_dataset():
    torch.manual_seed(1)
    x = torch.randn(256, 4)
    return TensorDataset(x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long())


def train(rank, model, dataset, steps):
    torch.manual_seed(100 + rank)
    loader = DataLoader(dataset, batch_size=32, shuffle=True)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    model.train()
    for _ in range(EPOCHS):
        for data, target in loader:
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            steps[rank] += 1


def test(model, dataset):
    model.eval()
    with torch.no_grad():
        data, target = dataset.tensors
        return F.nll_loss(model(data), target).item()


if __name__ == "__main__":
    mp.set_start_method("spawn", force=True)
    torch.manual_seed(0)
    dataset = make_dataset()
    model = Net()
    model.share_memory()
    steps = torch.zeros(WORKERS, dtype=torch.int64).share_memory_()
    first = model.fc1.weight.clone()
    print("loss before:", test(model, dataset))
    processes = []
    for rank in range(WORKERS):
        p = mp.Process(target=train, args=(rank, model, dataset, steps))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
    print("loss after:", test(model, dataset))
    print("steps:", steps.sum().item())
    print("workers moved it:", not torch.equal(first, model.fc1.weight))
