"""A custom Dataset, samplers, collate_fn, random_split and a DataLoader with workers=0."""

import torch
from torch.utils.data import DataLoader, Dataset, Subset, WeightedRandomSampler, random_split

torch.manual_seed(9)


class Words(Dataset):
    def __init__(self, n, transform=None):
        self.lengths = torch.randint(2, 7, (n,)).tolist()
        self.items = [torch.randint(1, 20, (length,)) for length in self.lengths]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        words = self.items[idx]
        label = int(words.float().mean() > 10)
        sample = {"words": words, "label": label, "name": f"s{idx}"}
        return self.transform(sample) if self.transform else sample


def collate(batch):
    words = torch.nn.utils.rnn.pad_sequence([b["words"] for b in batch], batch_first=True)
    labels = torch.tensor([b["label"] for b in batch], dtype=torch.float32)
    return words, labels, [b["name"] for b in batch]


full = Words(40)
train, test = random_split(full, [30, 10], generator=torch.Generator().manual_seed(42))
print(len(train), len(test), test.indices[:4])
loader = DataLoader(train, batch_size=8, shuffle=True, num_workers=0, collate_fn=collate)
model = torch.nn.Sequential()
model.add_module("embed", torch.nn.EmbeddingBag(20, 8, mode="mean", padding_idx=0))
model.add_module("out", torch.nn.Linear(8, 1))
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
loss_fn = torch.nn.BCEWithLogitsLoss()
for epoch in range(4):
    total = 0.0
    for words, labels, names in loader:
        optimizer.zero_grad()
        logits = model(words).squeeze(-1)
        loss = loss_fn(logits, labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"loss {total / len(loader):.4f}, {tuple(words.shape)} {names[0]}")

weights = [1.0 if full[i]["label"] else 3.0 for i in range(len(full))]
sampler = WeightedRandomSampler(weights, num_samples=8, replacement=True)
plain = DataLoader(
    Subset(full, [i for i in range(40) if full.lengths[i] == 3]), batch_size=3, drop_last=True
)
for batch in plain:
    print(batch["words"].shape, batch["label"].dtype, batch["name"])
    break
print(len(list(sampler)), len(plain))
