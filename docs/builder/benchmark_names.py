"""Names of the benchmark's rows in words, for the page on performance."""

from __future__ import annotations

import re
from typing import NamedTuple


class RowName(NamedTuple):
    """Description of the rows whose names match a pattern.

    Attributes:
        pattern: Regular expression of the names, as ``python -m benchmarks --only`` takes them.
        section: The part of the page that shows them: ``small``, ``large``, or ``start``.
        text: The description in Markdown; ``{}`` stands for a group of the pattern.
        summary: Description of all these rows together, where a chart shows their mean only.
    """

    pattern: str
    section: str
    text: str
    summary: str = ""


NAMES = (
    RowName(r"plain (\w+), (\d+)", "small", "`{}` of {} numbers"),
    RowName(r"recorded (\w+), (\d+)", "small", "`{}` of {} numbers, recorded for a gradient"),
    RowName(r"chain of 100, (\d+)", "small", "100 operations in a row on {} numbers, and gradient"),
    RowName(
        r"small: (.+)",
        "small",
        "`{}` of few numbers, one thread",
        "calls on few numbers, one thread",
    ),
    RowName(
        r"small, two threads: (.+)",
        "small",
        "`{}` of few numbers, two threads",
        "calls on few numbers, two threads",
    ),
    RowName(
        r"MLP step, (\w+), (\d+)",
        "small",
        "Training step of a perceptron 784-256-256-10 by {}, batch of {}",
    ),
    RowName(r"(LSTM|GRU) cells, 20 steps", "small", "`nn.{}Cell` over 20 steps, and gradient"),
    RowName(r"nn.LSTM, 20 steps", "small", "`nn.LSTM` over 20 steps, and gradient"),
    RowName(r"LeNet step, 64", "large", "Training step of LeNet-5, batch of 64"),
    RowName(r"GPT step, 4 layers, 8", "large", "Training step of a GPT of 4 layers, batch of 8"),
    RowName(r"generation, 100 letters, (\w+)", "large", "A GPT of 4 layers writes 100 letters, {}"),
    RowName(r"embeddings, 64 sentences", "large", "A sentence encoder reads 64 sentences"),
    RowName(r"conv 64-64, 32x32, forward", "large", "Convolution of 16 images, 64 channels"),
    RowName(r"conv 64-64, 32x32, both", "large", "The same convolution, and gradient"),
    RowName(r"depthwise conv, both", "large", "Depthwise convolution, and gradient"),
    RowName(r"pointwise, 10 M", "large", "GELU's formula on 10 million numbers, and gradient"),
    RowName(r"softmax, 4096x4096", "large", "`softmax` of 4096 × 4096 numbers"),
    RowName(r"sum, 10 M", "large", "`sum` of 10 million numbers"),
    RowName(r"(\w+), 1000x1000", "large", "`{}` of 1000 × 1000 numbers"),
    RowName(r"import, over numpy", "start", "Import the library, in addition to NumPy"),
    RowName(r"import, whole process", "start", "Start Python and import the library"),
    RowName(r"facade: a function", "start", "Look up the function `tt.exp`"),
    RowName(r"facade: a dtype", "start", "Look up the dtype `tt.float32`"),
    RowName(r"two threads, (\d+)", "start", "Speed of two threads that add {} numbers, over one"),
    RowName(r"backends, torch: (.+)", "start", '`{}` on the backend `"torch"`'),
    RowName(r"numpy, (\d+): (.+)", "start", "{} numbers: `{}` in `tinytorch.numpy`"),
)


def find(work: str) -> tuple[RowName, re.Match[str]]:
    """The description of a row, and the match of its pattern.

    Raises:
        LookupError: If no pattern matches the row's name.
    """
    for name in NAMES:
        match = re.fullmatch(name.pattern, work)
        if match:
            return name, match
    raise LookupError(f"docs/builder/benchmark_names.py does not name the row {work!r}")


def describe(work: str) -> str:
    """The name of a row in words, in Markdown."""
    name, match = find(work)
    return name.text.format(*match.groups())
