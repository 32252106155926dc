"""The graph of a model's call, beside the one that PyTorch traces."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.utils.graph_drawing import call_graph


def branches(torch: Any) -> Any:
    class Branches(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Tanh()])
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x) + x
            first, second = x.chunk(2, 1)
            return torch.cat([first * self.scale, second.exp()], 1).sum(1)

    return Branches()


def pictures(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.5),
        nn.Sequential(nn.Flatten(), nn.Linear(18, 4), nn.GELU(), nn.LayerNorm(4)),
        nn.Softmax(1),
    )  # fmt: skip


def twice(torch: Any) -> Any:
    class Twice(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.layer(self.layer(x)).relu()

    return Twice()


def sequence(torch: Any) -> Any:
    class Last(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(5, 3)
            self.gru = torch.nn.GRU(3, 4, 2, batch_first=True)
            self.out = torch.nn.Linear(4, 2)

        def forward(self, words: Any) -> Any:
            states, _ = self.gru(self.embedding(words))
            return self.out(states).mean(1)

    return Last()


#: A place among modules, PyTorch's name of a call, and the numbers of the calls it gets results of.
Calls = list[tuple[str, str, set[int]]]


def ours(model: Any, *args: Any) -> Calls:
    nodes = [n for n in call_graph(model, args) if n.op.startswith("aten")]
    numbers = {node.name: number for number, node in enumerate(nodes)}
    return [
        (
            ".".join(re.findall(r"\[(\w+)\]", node.name)),
            node.op,
            {numbers[s] for each in node.inputs if (s := each.partition(":")[0]) in numbers},
        )
        for node in nodes
    ]


def traced(torch: Any, model: Any, *args: Any) -> Calls:
    """The same of PyTorch's trace, whose lists and tuples are looked through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing is deprecated, and does not follow Python's ifs
        graph = torch.jit.trace(model.eval(), args).graph
    torch._C._jit_pass_inline(graph)
    calls: Calls = []
    numbers: dict[str, set[int]] = {}
    for node in graph.nodes():
        sources = set[int]().union(*(numbers.get(i.debugName(), set()) for i in node.inputs()))
        if node.kind().startswith("aten"):
            place = node.scopeName().rpartition("/")[2].replace("__module.", "")
            calls.append((place, node.kind(), sources))
            sources = {len(calls) - 1}
        numbers |= {output.debugName(): sources for output in node.outputs()}
    return calls


def without(calls: Calls, *kinds: str) -> Calls:
    """The calls but some, whose results come from where theirs came from."""
    kept: Calls = []
    new: dict[int, set[int]] = {}
    for number, (place, kind, sources) in enumerate(calls):
        found = set[int]().union(*(new[source] for source in sources))
        new[number] = found
        if kind not in kinds:
            kept.append((place, kind, found))
            new[number] = {len(kept) - 1}
    return kept


#: PyTorch's other name of what a program calls, and the first state of a recurrent layer, which it
#: makes by calls of their own.
NAMES = {"aten::_convolution": "aten::conv2d"}
BESIDES = ("aten::zeros", "aten::size")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("build", "shape"),
    [(branches, (2, 4)), (pictures, (1, 1, 8, 8)), (twice, (2, 3)), (sequence, (2, 4))],
)
def test_calls_places_and_edges_are_those_of_pytorchs_trace(
    torch: Any, build: Callable[[Any], Any], shape: tuple[int, ...]
) -> None:
    made = tt.zeros(shape, dtype=tt.int64) if build is sequence else tt.ones(shape)
    given = torch.zeros(shape, dtype=torch.int64) if build is sequence else torch.ones(shape)
    found = ours(build(tt), made)
    expected = without(traced(torch, build(torch), given), *BESIDES)
    assert found == [(place, NAMES.get(kind, kind), edges) for place, kind, edges in expected]
