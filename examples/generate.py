"""Train a small GPT on Python's documentation, and generate text with a key-value cache.

The text is that of the help topics of Python (``pydoc_data.topics``), some 460,000 letters. With
cached keys and values of the previous letters, each new letter costs one step, and not as many as
there are letters (R. Pope and others, "Efficiently Scaling Transformer Inference", 2022). The
program generates a text with and without the cache, prints the letters a second of both, and exits
with status 1 if the texts differ.

    python examples/generate.py                      # a few minutes; writes generate.png
    python examples/generate.py --dtype bfloat16     # generates in bfloat16; needs ml_dtypes
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from pathlib import Path
from pydoc_data import topics

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.nn import functional as F

CONTEXT, WIDTH, HEADS, LAYERS = 128, 128, 4, 4
TEMPERATURE = 0.5
KeysValues = tuple[tt.Tensor, tt.Tensor]


class CachedBlock(nn.Module):
    """Transformer block: causal attention with cached keys and values, and a perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attend, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.layers = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: tt.Tensor, past: KeysValues | None) -> tuple[tt.Tensor, KeysValues]:
        """Return outputs `(batch, letters, WIDTH)`, and keys and values including ``past``."""
        parts = self.attend(self.before(x)).unflatten(-1, (3 * HEADS, -1)).transpose(1, 2)
        query, key, value = parts.chunk(3, dim=1)
        if past is not None:
            key, value = tt.cat([past[0], key], dim=2), tt.cat([past[1], value], dim=2)
        # With a cache, ``x`` is one letter, which attends to all previous ones without a mask.
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=past is None)
        x = x + self.mix(mixed.transpose(1, 2).flatten(2))
        return x + self.layers(self.between(x)), (key, value)


class GPT(nn.Module):
    """GPT from letters to logits of the next letters, and the keys and values of all blocks."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(CachedBlock() for _ in range(LAYERS))
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary)

    def forward(
        self, letters: tt.Tensor, past: list[KeysValues] | None = None
    ) -> tuple[tt.Tensor, list[KeysValues]]:
        """Return logits `(batch, letters, vocabulary)`, and the keys and values of each block.

        ``past`` has the keys and values of the letters before, if ``letters`` continues a text.
        """
        first = 0 if past is None else past[0][0].shape[2]
        x = self.letter(letters) + self.place.weight[first : first + letters.shape[1]]
        cache = []
        for index, block in enumerate(self.blocks):
            x, new = block(x, None if past is None else past[index])
            cache.append(new)
        return self.head(self.last(x)), cache


@tt.no_grad()
def write(model: GPT, start: tt.Tensor, length: int, cached: bool = True) -> tt.Tensor:
    """Return ``start``, `(1, letters)`, followed by ``length`` sampled letters.

    Without ``cached``, the model reads all letters of the context again for each new one.
    """
    text, new, past = start, start, None
    for _ in range(length):
        if past is not None and past[0][0].shape[2] == CONTEXT:
            # All positions are used: restart with half the context.
            new, past = text[:, -CONTEXT // 2 :], None
        logits, cache = model(new, past)
        following = (logits[:, -1].float() / TEMPERATURE).softmax(dim=1).multinomial(1)
        text = tt.cat([text, following], dim=1)
        if cached:
            new, past = following, cache
        else:
            new = tt.cat([new, following], dim=1)
            if new.shape[1] > CONTEXT:
                new = text[:, -CONTEXT // 2 :]
    return text


def fit(model: GPT, text: tt.Tensor, steps: int, batch: int) -> list[float]:
    """Train on random pieces of the text; return the loss of each step."""
    optimizer = optim.AdamW(model.parameters(), lr=2e-3)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    losses = []
    for step in range(1, steps + 1):
        places = tt.randint(len(text) - CONTEXT, (batch, 1)) + tt.arange(CONTEXT + 1)
        piece = text[places]
        logits, _ = model(piece[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 50 == 0:
            print(f"step {step:4d} of {steps}   loss {sum(losses[-50:]) / 50:.3f}", flush=True)
    return losses


def measure(model: GPT, start: tt.Tensor, length: int, cached: bool) -> tuple[tt.Tensor, float]:
    """Generate letters; return them and the letters a second."""
    tt.manual_seed(0)
    begin = time.perf_counter()
    written = write(model, start, length, cached)
    return written, length / (time.perf_counter() - begin)


def draw(path: Path, losses: list[float], rates: tuple[float, float], text: str) -> None:
    """Draw the training loss, the two rates, and the generated text."""
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(12, 4), layout="constrained", width_ratios=[2, 1, 2.4]
    )
    left.plot(losses, color="tab:blue", lw=1)
    left.set(xlabel="step", ylabel="loss per letter, nats", title="training")
    middle.bar(["with the\ncache", "without"], rates, color=["tab:orange", "lightgray"])
    middle.set(ylabel="letters a second", title="writing")
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, 56) or [""]]
    right.text(0, 1, "\n".join(lines[:24]), va="top", family="monospace", fontsize=8)
    right.set_axis_off()
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--length", type=int, default=400, help="letters to write")
    parser.add_argument("--start", default='The "for" statement ')
    parser.add_argument("--dtype", default="float32", help="to write in; training is in float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("generate.png"), help="picture")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.manual_seed(arguments.seed)
    text = "\n".join(topics.topics.values()).encode("ascii", "replace").decode()
    vocabulary = sorted(set(text))
    numbers = {letter: number for number, letter in enumerate(vocabulary)}
    model = GPT(len(vocabulary))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(text):,} letters")
    letters = tt.tensor([numbers[letter] for letter in text])
    losses = fit(model, letters, arguments.steps, arguments.batch_size)

    model = model.to(getattr(tt, arguments.dtype)).eval()
    start = tt.tensor([[numbers[letter] for letter in arguments.start]])
    written, fast = measure(model, start, arguments.length, cached=True)
    again, slow = measure(model, start, arguments.length, cached=False)
    result = "".join(vocabulary[number] for number in written[0].tolist())
    print(result)
    print(f"{fast:.0f} letters a second with the cache, {slow:.0f} without ({arguments.dtype})")
    draw(arguments.output, losses, (fast, slow), result)
    print(f"picture: {arguments.output.resolve()}")
    # In bfloat16, rounding can decide between equally likely letters, so texts may differ.
    if arguments.dtype == "float32" and written.tolist() != again.tolist():
        print("with the cache another text was written", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
