"""Decoding a small language model: beams, the most likely words alone, Gumbel noise."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
WORDS, WIDTH, END, BEAMS = 11, 8, 0, 3
embed, cell, out = nn.Embedding(WORDS, WIDTH), nn.GRUCell(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS)


@torch.inference_mode()
def beam_search(hidden, steps=7):
    found = []
    lines, scores = torch.full((1, 1), 1, dtype=torch.long), torch.zeros(1)
    for _ in range(steps):
        hidden = cell(embed(lines[:, -1]), hidden)
        total = (scores.unsqueeze(1) + F.log_softmax(out(hidden), dim=-1)).view(-1)
        scores, at = total.topk(min(BEAMS, total.numel()))
        beam, word = torch.div(at, WORDS, rounding_mode="floor"), at % WORDS
        lines = torch.cat([lines[beam], word.unsqueeze(-1)], dim=-1)
        done = word == END
        found += zip(lines[done].tolist(), scores[done])
        if done.all():
            break
        going = (~done).nonzero().view(-1)
        lines, scores = lines[going], scores[going]
        hidden = hidden[beam].index_select(0, going)
    found += zip(lines.tolist(), scores)
    return sorted(((score.item() / len(line), line) for line, score in found), reverse=True)


def likely(logits, k=5, p=0.8):
    logits = logits.masked_fill(logits < logits.topk(k)[0][..., -1, None], -float("inf"))
    ordered, at = torch.sort(logits, descending=True)
    beyond = F.softmax(ordered, dim=-1).cumsum(dim=-1) > p
    beyond[..., 1:] = beyond[..., :-1].clone()
    beyond[..., 0] = False
    return logits.masked_fill(beyond.scatter(-1, at, beyond), -float("inf"))


for score, line in beam_search(torch.zeros(1, WIDTH)):
    print(f"{score:.4f}", line)
logits = torch.randn(WORDS)
kept = likely(logits)
print(kept.isfinite().nonzero().view(-1), f"{kept.logsumexp(0).item():.4f}")
print([torch.multinomial(kept.softmax(-1), 1).item() for _ in range(8)])
print(F.gumbel_softmax(logits[None], tau=0.5, hard=True).argmax(), F.gumbel_softmax(logits)[:3])
