"""A classifier of sequences from nn.MultiheadAttention and nn.TransformerEncoderLayer."""

import math

import torch
from torch import nn

torch.manual_seed(3)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Classifier(nn.Module):
    def __init__(self, ntoken, d_model=16, nhead=2, nlayers=2):
        super().__init__()
        self.embedding = nn.Embedding(ntoken, d_model, padding_idx=0)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=32, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.attention = nn.MultiheadAttention(d_model, nhead, batch_first=False)
        self.out = nn.Linear(d_model, 2)

    def forward(self, src):
        padding = (src == 0).transpose(0, 1)
        x = self.pos(self.embedding(src) * math.sqrt(16))
        x = self.encoder(x, src_key_padding_mask=padding)
        query = x.mean(dim=0, keepdim=True)
        pooled, weights = self.attention(query, x, x, key_padding_mask=padding)
        return self.out(pooled.squeeze(0)), weights


src = torch.randint(1, 10, (12, 32))
src[9:, ::3] = 0
labels = (src.eq(3).sum(0) > 1).long()
model = Classifier(10)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(12):
    model.train()
    logits, weights = model(src)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")
print(weights.shape, f"{weights.sum(-1).mean().item():.3f}")
print(model.embedding.weight.grad[0].abs().sum().item())
