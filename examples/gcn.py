"""Predict how a karate club splits, from its friendships and two members, by a graph network.

W. Zachary ("An information flow model for conflict and fission in small groups", Journal of
Anthropological Research 33, 1977) recorded which of 34 members of a club met outside of it, before
a quarrel between the instructor (member 0) and the officer (member 33) divided it. The network of
T. Kipf and M. Welling ("Semi-supervised classification with graph convolutional networks", 2017)
multiplies the members' features by the normalized adjacency matrix, a sparse tensor, in each layer.
It learns from the labels of these two alone. The program exits with status 1 if it places more than
two other members wrongly.

    python examples/gcn.py
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import nn, optim

#: The friends of each member who have a greater number; networkx.karate_club_graph has the same.
FRIENDS = """
0: 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31 / 1: 2 3 7 13 17 19 21 30 / 2: 3 7 8 9 13 27 28 32
3: 7 12 13 / 4: 6 10 / 5: 6 10 16 / 6: 16 / 8: 30 32 33 / 9: 33 / 13: 33 / 14: 32 33 / 15: 32 33
18: 32 33 / 19: 33 / 20: 32 33 / 22: 32 33 / 23: 25 27 29 32 33 / 24: 25 27 31 / 25: 31 / 26: 29 33
27: 33 / 28: 31 33 / 29: 32 33 / 30: 32 33 / 31: 32 33 / 32: 33
"""
#: The members who followed the officer.
WITH_OFFICER = (9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33)
MEMBERS, INSTRUCTOR, OFFICER = 34, 0, 33
MOST_ERRORS = 2


def read_edges() -> tt.Tensor:
    """Return the friendships, `(2, edges)`, each once."""
    pairs = []
    for row in FRIENDS.replace("\n", " / ").split("/"):
        first, _, others = row.partition(":")
        pairs += [(int(first), int(other)) for other in others.split()]
    return tt.tensor(pairs).t()


def read_labels() -> tt.Tensor:
    """Return 1 for the members who followed the officer, else 0, `(members,)`."""
    labels = tt.zeros(MEMBERS, dtype=tt.int64)
    labels[list(WITH_OFFICER)] = 1
    return labels


def normalize(edges: tt.Tensor) -> tt.Tensor:
    """Return D^-1/2 (A + I) D^-1/2, a sparse matrix; D has the row sums of A + I."""
    loops = tt.arange(MEMBERS).repeat(2, 1)
    index = tt.cat([edges, edges.flip(0), loops], dim=1)
    size = (MEMBERS, MEMBERS)
    adjacency = tt.sparse_coo_tensor(index, tt.ones(index.shape[1]), size).coalesce()
    scale = tt.sparse.sum(adjacency, dim=1).to_dense().rsqrt()
    rows, columns = adjacency.indices()
    values = adjacency.values() * scale[rows] * scale[columns]
    return tt.sparse_coo_tensor(adjacency.indices(), values, size).to_sparse_csr()


class GraphNetwork(nn.Module):
    """Two graph convolutions; a member's feature is a number of its own.

    Args:
        adjacency: The normalized adjacency matrix, sparse.
        width: Number of hidden units.
    """

    def __init__(self, adjacency: tt.Tensor, width: int = 4) -> None:
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        # The first layer multiplies one-hot features by its weights: these are the weights.
        self.features = nn.Parameter(tt.randn(MEMBERS, width) / math.sqrt(width))
        self.out = nn.Linear(width, 2)

    def forward(self) -> tt.Tensor:
        """Return the logits of both sides, `(members, 2)`."""
        hidden = tt.tanh(tt.sparse.mm(self.adjacency, self.features))
        return tt.sparse.mm(self.adjacency, self.out(hidden))


def fit(model: GraphNetwork, labels: tt.Tensor, steps: int) -> tt.Tensor:
    """Minimize the cross entropy of the instructor's and the officer's sides.

    Returns:
        The probability of each step that a member follows the officer, `(steps, members)`.
    """
    known = tt.tensor([INSTRUCTOR, OFFICER])
    optimizer = optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-3)
    history = []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        logits = model()
        loss = nn.functional.cross_entropy(logits[known], labels[known])
        loss.backward()
        optimizer.step()
        history.append(logits.detach().softmax(1)[:, 1])
        if step % 50 == 0:
            right = (logits.argmax(1) == labels).sum()
            print(f"step {step:3d}   loss {loss.item():.4f}   right {right.item()} of {MEMBERS}")
    return tt.stack(history)


def count_steps(edges: tt.Tensor) -> tt.Tensor:
    """Return the length of the shortest path between any two members, `(members, members)`."""
    ones = tt.ones(edges.shape[1])
    graph = tt.sparse_coo_tensor(edges, ones, (MEMBERS, MEMBERS))
    graph, reached = graph + graph.t(), tt.eye(MEMBERS)
    steps = tt.zeros(MEMBERS, MEMBERS)
    for length in range(1, MEMBERS):
        wider = ((reached + graph @ reached) > 0).float()
        steps += length * (wider - reached)
        reached = wider
    return steps


def place(edges: tt.Tensor) -> tt.Tensor:
    """Return a position of each member, `(members, 2)`, at distances near the paths' lengths.

    They minimize the stress of T. Kamada and S. Kawai ("An algorithm for drawing general undirected
    graphs", 1989).
    """
    wanted = count_steps(edges) + tt.eye(MEMBERS)
    angle = tt.arange(MEMBERS) * (2 * math.pi / MEMBERS)
    spots = tt.stack([angle.cos(), angle.sin()], dim=1).requires_grad_()
    optimizer = optim.LBFGS([spots], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> tt.Tensor:
        optimizer.zero_grad()
        apart = (spots[:, None] - spots).square().sum(2).add(tt.eye(MEMBERS)).sqrt()
        stress = (apart / wanted - 1).square().sum()
        stress.backward()
        return stress

    optimizer.step(closure)
    return spots.detach()


def draw(path: Path, history: tt.Tensor, edges: tt.Tensor, labels: tt.Tensor) -> None:
    """Draw the final probabilities on the graph, and all of them over the steps.

    ``history`` is `(steps, members)`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    spots, officer = place(edges), history[-1]
    for first, second in edges.t().tolist():
        left.plot(*spots[[first, second]].t(), color="0.85", lw=0.8, zorder=1)
    for side, marker in ((0, "o"), (1, "s")):
        of_side = labels == side
        image = left.scatter(
            *spots[of_side].t(), c=officer[of_side], marker=marker, s=90, cmap="coolwarm",
            vmin=0, vmax=1, edgecolors="0.2", linewidths=0.6, zorder=2,
        )  # fmt: skip
    wrong = (officer > 0.5).long() != labels
    left.scatter(*spots[wrong].t(), s=260, facecolors="none", edgecolors="k", zorder=3)
    for member, name in ((INSTRUCTOR, "instructor"), (OFFICER, "officer")):
        left.annotate(
            name, spots[member].tolist(), (0, 9), textcoords="offset points", ha="center",
            fontsize=10, weight="bold", zorder=4,
        )  # fmt: skip
    left.set(xticks=[], yticks=[], title="squares followed the officer; ring: an error")
    figure.colorbar(image, ax=left, label="probability to follow the officer")
    for member in range(MEMBERS):
        color = plt.cm.coolwarm(float(labels[member]))
        is_known = member in (INSTRUCTOR, OFFICER)
        right.plot(history[:, member], color=color, lw=2.5 if is_known else 0.8)
    right.axhline(0.5, color="0.5", lw=0.8, ls=":")
    right.set(xlabel="step", ylabel="probability", title="red: followed the officer; thick: known")
    figure.savefig(path, dpi=72)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("gcn.png"), help="picture to write")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.manual_seed(arguments.seed)
    edges, labels = read_edges(), read_labels()
    model = GraphNetwork(normalize(edges))
    history = fit(model, labels, arguments.steps)
    draw(arguments.output, history, edges, labels)
    errors = ((history[-1] > 0.5) != labels).nonzero().flatten().tolist()
    print(f"placed wrongly: {errors or 'none'}; picture: {arguments.output.resolve()}")
    if len(errors) > MOST_ERRORS:
        print(f"expected at most {MOST_ERRORS} errors", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
