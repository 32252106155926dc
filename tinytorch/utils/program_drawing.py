"""Drawing of a recorded program in Graphviz's language: one box for each call of an operation."""

from __future__ import annotations

from collections.abc import Iterator

from ..capture.graph import Node, Program, Value, values_in

#: Colors of the phases, and of inputs and outputs.
_STYLES = {
    "forward": "shape=box, style=rounded",
    "backward": 'shape=box, style="rounded, filled", fillcolor="#f4e3d7"',
    "update": 'shape=box, style="rounded, filled", fillcolor="#eadcf5"',
    "input": 'shape=box, style=filled, fillcolor="#d7e8fa"',
    "output": 'shape=box, style=filled, fillcolor="#d9f2d9"',
}


def program_text(program: Program) -> str:
    """Return a program in Graphviz's language.

    The nodes of one call of an operation are one box, with the names of the functions if they have
    no operation. Blue boxes are inputs, green boxes outputs; unread inputs are left out.

    Args:
        program: The program.
    """
    boxes = {id(node): _box(node) for node in program.nodes}
    makers = {value: boxes[id(node)] for node in program.nodes
              for value in node.outputs if value is not None}  # fmt: skip
    makers.update((value, f"input{i}") for i, value in enumerate(program.inputs))
    lines = ['node [fontname="sans-serif", fontsize=11]']
    arrows: dict[str, None] = {}
    for node in program.nodes:
        for value in values_in((node.args, node.kwargs)):
            if makers[value] != boxes[id(node)]:
                arrows[f"{makers[value]} -> {boxes[id(node)]}"] = None
    for i, value in enumerate(program.outputs):
        lines.append(_line(f"output{i}", f"output {i}", value, "output"))
        arrows[f"{makers[value]} -> output{i}"] = None
    read = " ".join(arrows)
    lines += [
        _line(f"input{i}", f"input {i}", value, "input")
        for i, value in enumerate(program.inputs) if f"input{i} ->" in read
    ]  # fmt: skip
    lines += _operations(program, boxes)
    return "digraph {\n" + "".join(f"  {line}\n" for line in [*lines, *arrows]) + "}"


def _box(node: Node) -> str:
    """Name of the box of a node: that of its call, or its own."""
    tag = node.tag
    return f"call{tag.call}_{tag.phase}" if tag.operation else f"node{id(node)}"


def _operations(program: Program, boxes: dict[int, str]) -> Iterator[str]:
    """Yield the lines of the boxes of operations, each with the shape of its last value."""
    last: dict[str, Node] = {boxes[id(node)]: node for node in program.nodes}
    for box, node in last.items():
        value = next((value for value in node.outputs if value is not None), None)
        yield _line(box, node.tag.operation or node.name, value, node.tag.phase)


def _line(box: str, label: str, value: Value | None, style: str) -> str:
    """Return the line of a box."""
    shape = "" if value is None else f"\\n{tuple(value.shape)}"
    return f'{box} [label="{label}{shape}", {_STYLES[style]}]'
