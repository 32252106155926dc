"""Word vectors by skip-grams with negative samples; bags of words; nearest neighbours."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
text = """we are about to study the idea of a computational process computational processes are
abstract beings that inhabit computers as they evolve processes manipulate other abstract things
called data the evolution of a process is directed by a pattern of rules called a program""".split()
words = sorted(set(text))
index = {word: i for i, word in enumerate(words)}
ids = torch.tensor([index[word] for word in text])


class SkipGram(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.center = nn.Embedding(count, width)
        self.context = nn.Embedding(count, width, padding_idx=0, max_norm=1.0)
        nn.init.uniform_(self.center.weight, -0.5 / width, 0.5 / width)

    def forward(self, center, positive, negative):
        center = self.center(center)
        near = torch.mul(center, self.context(positive)).sum(1).clamp(-10, 10)
        far = torch.bmm(self.context(negative), center.unsqueeze(2)).squeeze(2).clamp(-10, 10)
        return -(F.logsigmoid(near) + F.logsigmoid(-far).sum(dim=1)).mean()


chance = torch.bincount(ids, minlength=len(words)).float() ** 0.75
model = SkipGram(len(words), 8)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.2)
for epoch in range(8):
    at = torch.randint(1, len(ids) - 1, (32,))
    side = torch.randint(2, (32,)) * 2 - 1
    negative = torch.multinomial(chance, 32 * 3, replacement=True).view(32, 3)
    loss = model(ids[at], ids[at + side], negative)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.5f}", negative[0].tolist())

weight = model.center.weight.detach()
alike = F.cosine_similarity(weight[:, None], weight[None], dim=-1).fill_diagonal_(-1)
print(alike.shape, alike.max(dim=1).values[:4])
print([words[i] for i in alike[index["process"]].topk(3).indices])

bag = nn.EmbeddingBag.from_pretrained(weight, mode="mean")
print(bag(ids[:8], torch.tensor([0, 4]))[:, :3])
frozen = nn.Embedding.from_pretrained(torch.eye(3), freeze=True)
print(frozen(torch.tensor([2, 0])), frozen.weight.requires_grad)
