"""Train a small GPT to write the Zen of Python, letter by letter.

The text is the one that `import this` prints, 856 letters. Two transformer blocks read up to 48
letters and predict the next (A. Radford et al., "Language Models are Unsupervised Multitask
Learners", 2019). The program draws its loss beside the lowest losses of tables of letters, pairs
and triples of letters, which are computed by counting. It exits with status 1 if the network does
not predict better than the table of triples.

    python examples/chargpt.py
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import math
import sys
import time
from collections import Counter
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.nn import functional as F

CONTEXT, WIDTH, HEADS, LAYERS = 48, 64, 4, 2


def read() -> str:
    """Return the text that importing `this` prints."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")


def table_entropy(text: str, letters: int) -> float:
    """Return the lowest mean loss, in nats, of a prediction from ``letters`` - 1 letters."""
    groups = Counter(text[i : i + letters] for i in range(len(text) - letters + 1))
    before = Counter()
    for group, number in groups.items():
        before[group[:-1]] += number
    total = groups.total()
    return -sum(n / total * math.log(n / before[group[:-1]]) for group, n in groups.items())


class TransformerBlock(nn.Module):
    """Causal attention and a perceptron, from and to `(batch, letters, WIDTH)`."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attend, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def heads(self, x: tt.Tensor) -> tuple[tt.Tensor, ...]:
        """Return queries, keys and values, `(batch, HEADS, letters, WIDTH / HEADS)` each."""
        parts = self.attend(self.norm1(x)).chunk(3, dim=-1)
        return tuple(part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        out = F.scaled_dot_product_attention(*self.heads(x), is_causal=True)
        x = x + self.mix(out.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class CharGPT(nn.Module):
    """GPT from letters `(batch, letters)` to logits `(batch, letters, vocabulary)` of the next."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.letter = nn.Embedding(vocabulary, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(TransformerBlock() for _ in range(LAYERS)))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary))

    def forward(self, letters: tt.Tensor) -> tt.Tensor:
        places = tt.arange(letters.shape[1])
        return self.head(self.blocks(self.letter(letters) + self.place(places)))


def fit(model: CharGPT, text: tt.Tensor, steps: int, compiles: bool) -> list[float]:
    """Train on random pieces of the text; return the loss of each step."""
    optimizer = optim.AdamW(model.parameters(), lr=3e-3)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)

    def train(piece: tt.Tensor) -> tt.Tensor:
        logits = model(piece[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss.detach()

    if compiles:
        train = tt.compile(train)
    losses = []
    start = time.perf_counter()
    for step in range(1, steps + 1):
        first = tt.randint(len(text) - CONTEXT, (16, 1))
        losses.append(train(text[first + tt.arange(CONTEXT + 1)]).item())
        if step % 50 == 0:
            print(f"step {step:4d}   loss {losses[-1]:.3f}")
    print(f"{steps} steps in {time.perf_counter() - start:.1f} s")
    return losses


@tt.no_grad()
def write(model: CharGPT, start: tt.Tensor, length: int, temperature: float = 0.3) -> tt.Tensor:
    """Return ``start``, `(letters,)`, followed by ``length`` sampled letters."""
    letters = start[None]
    for _ in range(length):
        logits = model(letters[:, -CONTEXT:])[:, -1]
        letters = tt.cat([letters, (logits / temperature).softmax(1).multinomial(1)], dim=1)
    return letters[0]


@tt.no_grad()
def attention(model: CharGPT, letters: tt.Tensor) -> tt.Tensor:
    """Return the attention weights of the first block, `(HEADS, letters, letters)`."""
    x = model.letter(letters[None]) + model.place(tt.arange(len(letters)))
    query, key, _ = model.blocks[0].heads(x)
    scores = query @ key.mT / math.sqrt(WIDTH / HEADS)
    hidden = tt.ones_like(scores, dtype=tt.bool).triu(1)
    return scores.masked_fill(hidden, -tt.inf).softmax(-1)[0]


def draw(
    path: Path, losses: list[float], bounds: list[float], words: str, looks: tt.Tensor
) -> None:
    """Draw the training loss beside those of tables, and the attention weights of one head.

    ``bounds`` are the losses of the tables, ``looks`` the weights between the letters ``words``.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    left.plot(losses, color="tab:blue", lw=1)
    for name, bound in zip(("letters", "pairs", "triples"), bounds):
        left.axhline(bound, color="gray", lw=1, ls="--")
        left.text(len(losses), bound, f"a table of {name}", ha="right", va="bottom", fontsize=9)
    left.set(xlabel="step", ylabel="loss per letter, nats", ylim=(0, None), title="training")
    right.imshow(looks, cmap="magma_r")
    right.set_xticks(range(len(words)), words, family="monospace")
    right.set_yticks(range(len(words)), words, family="monospace")
    right.set(title="what each letter (row) looks at")
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compile", action="store_true", help="compile the training step")
    parser.add_argument("--output", type=Path, default=Path("chargpt.png"), help="picture to write")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.manual_seed(arguments.seed)
    text = read()
    vocabulary = sorted(set(text))
    letters = tt.tensor([vocabulary.index(letter) for letter in text])
    bounds = [table_entropy(text, size) for size in (1, 2, 3)]
    model = CharGPT(len(vocabulary))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(text)} letters")
    losses = fit(model, letters, arguments.steps, arguments.compile)
    written = write(model, letters[:5], 300)
    print("".join(vocabulary[index] for index in written))
    line = slice(text.index("Beautiful"), text.index("Explicit"))
    draw(arguments.output, losses, bounds, text[line], attention(model, letters[line])[0])
    loss = sum(losses[-10:]) / len(losses[-10:])
    print(f"loss {loss:.3f} nats a letter; tables reach {', '.join(f'{b:.3f}' for b in bounds)}")
    print(f"picture: {arguments.output.resolve()}")
    if not loss < bounds[-1]:
        print("expected less than a table of triples reaches", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
