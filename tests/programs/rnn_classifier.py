"""Names classified by a character-level recurrent network, as in PyTorch's tutorial."""

import string

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
ALPHABET = string.ascii_lowercase
VOWELS = "aeiou"


class Names(Dataset):
    def __init__(self, count):
        self.names = []
        for _ in range(count):
            label = int(torch.randint(2, (1,)))
            length = int(torch.randint(3, 9, (1,)))
            letters = ALPHABET if label == 0 else VOWELS + "nst"
            picks = torch.randint(len(letters), (length,))
            self.names.append(("".join(letters[i] for i in picks), label))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name, label = self.names[index]
        return torch.tensor([ALPHABET.index(c) + 1 for c in name]), label


def collate(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    names, labels = zip(*batch)
    lengths = torch.tensor([len(name) for name in names])
    return pad_sequence(names, batch_first=True), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(len(ALPHABET) + 1, 8, padding_idx=0)
        self.rnn = nn.GRU(8, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, names, lengths):
        packed = pack_padded_sequence(self.embed(names), lengths, batch_first=True)
        _, hidden = self.rnn(packed)
        return F.log_softmax(self.out(torch.cat((hidden[-2], hidden[-1]), dim=1)), dim=1)


train, test = torch.utils.data.random_split(Names(120), [0.8, 0.2])
loader = DataLoader(train, batch_size=16, shuffle=True, collate_fn=collate, drop_last=True)
model = Classifier(12)
criterion = nn.NLLLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3, momentum=0.5)
print(sum(p.numel() for p in model.parameters() if p.requires_grad))
for epoch in range(4):
    total = 0.0
    for names, lengths, labels in loader:
        model.zero_grad()
        loss = criterion(model(names, lengths), labels)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        total += loss.item()
    print(f"loss {total / len(loader):.4f}")
model.eval()
confusion = torch.zeros(2, 2, dtype=torch.long)
with torch.no_grad():
    for names, lengths, labels in DataLoader(test, batch_size=8, collate_fn=collate):
        _, guess = model(names, lengths).topk(1)
        for truth, seen in zip(labels, guess.squeeze(1)):
            confusion[truth, seen] += 1
print(confusion.tolist(), int(confusion.diagonal().sum()) / int(confusion.sum()) >= 0.5)
