"""``utils.draw``: which boxes and arrows a graph has."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt


def boxes(drawing: Any) -> dict[str, str]:
    """The labels by their keys."""
    return dict(re.findall(r'(?m)^  (\w+) \[label="(.*?)",', drawing.source))


def arrows(drawing: Any) -> set[tuple[str, str]]:
    """The arrows, by the labels at their ends."""
    labels = boxes(drawing)
    found = re.findall(r"(?m)^  (\w+) -> (\w+)$", drawing.source)
    return {(labels[start], labels[end]) for start, end in found}


def test_a_graph_leads_from_named_leaves_to_the_result() -> None:
    w, b, x = tt.ones(3, requires_grad=True), tt.ones(1, requires_grad=True), tt.ones(3)
    drawing = tt.utils.draw((w * x + b).sum(), {"w": w, "b": b})
    assert arrows(drawing) == {
        (r"w\n(3,)", r"MulBackward0\n(3,)"), (r"MulBackward0\n(3,)", r"AddBackward0\n(3,)"),
        (r"b\n(1,)", r"AddBackward0\n(3,)"), (r"AddBackward0\n(3,)", r"SumBackward0\n()"),
        (r"SumBackward0\n()", r"output\n()"),
    }  # fmt: skip


def test_a_node_used_twice_is_drawn_once() -> None:
    w = tt.ones(2, requires_grad=True)
    y = w.sin()
    drawing = tt.utils.draw(y * y)
    assert sorted(boxes(drawing).values()) == [
        r"(2,)", r"MulBackward0\n(2,)", r"SinBackward0\n(2,)", r"output\n(2,)",
    ]  # fmt: skip
    assert drawing.source.count(" -> ") == 4


@pytest.mark.parametrize("make", [
    lambda w: w.view(2, 2).t(),
    lambda w: w.clone().mul_(2),
    lambda w: w.split(2)[1],
    lambda w: w.clone()[1:].exp_(),
    lambda w: tt.utils.checkpoint.checkpoint(tt.sin, w, use_reentrant=False),
], ids=["views", "in place", "several results", "view in place", "checkpoint"])  # fmt: skip
def test_edges_are_those_of_grad_fn(make: Any) -> None:
    """Whatever way a result was made: compared with a walk over ``next_functions``."""
    w = tt.ones(4, requires_grad=True)
    y = make(w)
    expected, seen, waiting = set(), set(), [y.grad_fn]
    while waiting:
        node = waiting.pop()
        for inner, _ in node.next_functions:
            if inner is not None:
                expected.add((inner.name(), node.name()))
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    found = {
        tuple(
            "AccumulateGrad" if label.startswith("w") else label.split("\\n")[0] for label in each
        )
        for each in arrows(tt.utils.draw(y, {"w": w}))
        if not each[1].startswith("output")
    }
    names = {tuple(name.replace("torch::autograd::", "") for name in each) for each in expected}
    assert found == names


def test_a_module_names_its_parameters_and_several_results_are_begun_at() -> None:
    model = tt.nn.Sequential(tt.nn.Linear(2, 1))
    y = model(tt.ones(3, 2))
    labels = set(boxes(tt.utils.draw({"mean": y.mean(), "all": y}, model)).values())
    assert {r"0.weight\n(1, 2)", r"0.bias\n(1,)", r"mean\n()", r"all\n(3, 1)"} <= labels


def test_names_are_quoted_and_a_long_chain_is_no_recursion() -> None:
    w = tt.ones(1, requires_grad=True)
    y = w
    for _ in range(3000):
        y = y + 1
    drawing = tt.utils.draw(y, {'a "quoted\\ name': w})
    assert r'label="a \"quoted\\ name\n(1,)"' in drawing.source
    assert drawing.source.count(" -> ") == 3001


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a tensor that requires grad"):
        tt.utils.draw(tt.ones(2))
    with pytest.raises(TypeError, match="expected tensors, got float"):
        tt.utils.draw([tt.ones(2, requires_grad=True), 1.0])


def test_the_picture_is_what_dot_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = tt.utils.draw(tt.ones(2, requires_grad=True).sin())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert drawing._repr_svg_() is None
    with pytest.raises(FileNotFoundError, match="install Graphviz"):
        drawing.svg()
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\n[ $1 = -Tsvg ] && read first && echo "<svg>$first</svg>"\n')
    dot.chmod(dot.stat().st_mode | stat.S_IXUSR)
    assert drawing.svg() == drawing._repr_svg_() == "<svg>digraph {</svg>\n"
    dot.write_text("#!/bin/sh\nread first; echo 'syntax error' >&2; exit 3\n")
    with pytest.raises(RuntimeError, match="status 3: syntax error"):
        drawing.svg()
