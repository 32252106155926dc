"""What a node keeps for the backward pass: as tensors, whether it is still true, letting go."""

from __future__ import annotations

from typing import Any

from .nodes import FREED, Node


def saved_arguments(node: Node) -> list[Any]:
    """``node.args`` with the saved tensors in place of their arrays."""
    args = list(node.args)
    saved = iter(node.saved)
    for position in node.op.saved_positions:
        value = args[position]
        if position == node.op.sequence:
            args[position] = tuple(next(saved, None) for _ in value)
        elif hasattr(value, "dtype"):
            # A number in an operand's place is no tensor. It may have become an array, but then
            # it is the second of two operands.
            tensor = next(saved, None)
            args[position] = value.item() if tensor is None else tensor
    return args


def release(node: Node) -> None:
    """Let go of what ``node`` saved."""
    node.args = FREED
    node.saved = ()
    node.out = None
    node.out_version = None
    if node.extra is not None:
        node.extra.pop("packed", None)


def check_versions(node: Node) -> None:
    """RuntimeError if a tensor ``node`` saved was modified in place since."""
    versions = node.versions
    for i, tensor in enumerate(node.saved):
        cell = tensor._vc
        expected = 0 if versions is None else versions[i]
        if cell is not None and cell[0] != expected and is_needed(tensor, node):
            raise RuntimeError(_modified(tensor.shape, tensor._origin(), cell[0], expected, node))
    for i, (cell, expected, *argument) in enumerate(node.out_version or ()):
        if cell[0] != expected:
            shape = node.shape[i] if node.out.__class__ is tuple else node.shape
            where = f", which is output {i} of {node.name()},"
            if argument:
                (shape,), where = argument, ""
            raise RuntimeError(_modified(shape, where, cell[0], expected, node))


def is_needed(tensor: Any, node: Any) -> bool:
    """Whether the gradient of an input that wants one is computed from ``tensor``."""
    op = node.op
    if op.sequence is not None or not hasattr(op, "needs"):
        return True
    needed = {
        name
        for i, edge in zip(op.differentiable, node.edges, strict=True)
        if edge is not None
        for name in op.needs(i)
    }
    saved = (node.args[op.index[name]] for name in needed & op.index.keys())
    arrays = (x for value in saved for x in (value if value.__class__ is tuple else (value,)))
    return any(hasattr(x, "dtype") and tensor._xp.is_view(tensor._data, x) for x in arrays)


def _modified(shape: Any, origin: str, version: int, expected: int, node: Node) -> str:
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [Tensor of shape {list(shape)}]{origin} is at version {version}; expected "
        f"version {expected} instead. It was saved by {node.name()}. Hint: enable anomaly "
        "detection to find the operation that failed to compute its gradient, with "
        "autograd.set_detect_anomaly(True)."
    )
