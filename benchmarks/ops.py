"""Time of one operation, recorded or not, and of a chain of a hundred, in small programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .libraries import Libraries
from .timing import Statement

SOURCES = {"add": "a + b", "mul": "a * b", "exp": "m.exp(a)", "sum": "a.sum()"}
CHAIN = 100


def operands(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two float32 arrays of `(size,)` whose exponentials stay finite."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 1.5, (2, size)).astype(np.float32)
    return a, b


def attribute(libraries: Libraries, name: str) -> dict[str, Statement]:
    """Return the access to one name of each module."""
    return {
        library: Statement(f"m.{name}", {"m": module})
        for library, module in libraries.modules.items()
        if hasattr(module, name)
    }


def call_op(libraries: Libraries, op: str, size: int) -> dict[str, Statement]:
    """Return one op that is not recorded."""
    a, b = operands(size)
    statements = {"numpy": Statement(SOURCES[op], {"m": np, "a": a, "b": b})}
    for name, m in libraries.torch_like().items():
        names = {"m": m, "a": m.tensor(a), "b": m.tensor(b)}
        statements[name] = Statement(SOURCES[op], names)
    if "autograd" in libraries:
        from autograd import numpy as anp

        # Operators of NumPy arrays do not call autograd; its functions do.
        function = {"add": "add", "mul": "multiply", "exp": "exp", "sum": "sum"}[op]
        arguments = "a, b" if op in ("add", "mul") else "a"
        statements["autograd"] = Statement(
            f"f({arguments})", {"f": getattr(anp, function), "a": a, "b": b}
        )
    if "mygrad" in libraries:
        mg = libraries["mygrad"]
        names = {"m": mg, "a": mg.tensor(a, constant=True), "b": mg.tensor(b, constant=True)}
        statements["mygrad"] = Statement(SOURCES[op], names)
    return statements


def record_op(libraries: Libraries, op: str, size: int) -> dict[str, Statement]:
    """Return one op whose first operand requires a gradient; NumPy's line is the bare op."""
    a, b = operands(size)
    statements = {"numpy": Statement(SOURCES[op], {"m": np, "a": a, "b": b})}
    for name, m in libraries.torch_like().items():
        names = {"m": m, "a": m.tensor(a, requires_grad=True), "b": m.tensor(b)}
        statements[name] = Statement(SOURCES[op], names)
    if "autograd" in libraries:
        from autograd import numpy as anp

        statements["autograd"] = Statement(SOURCES[op], {"m": anp, "a": autograd_box(a), "b": b})
    if "mygrad" in libraries:
        mg = libraries["mygrad"]
        names = {"m": mg, "a": mg.tensor(a), "b": mg.tensor(b, constant=True)}
        statements["mygrad"] = Statement(SOURCES[op], names)
    return statements


def autograd_box(array: np.ndarray) -> Any:
    """Return ``array`` in the box that autograd passes to a function that it traces."""
    from autograd.core import VJPNode
    from autograd.tracer import new_box

    return new_box(array, 0, VJPNode.new_root())


def run_chain(a: Any, b: Any) -> Any:
    """Return a number that depends on ``a`` through ``CHAIN`` additions and products."""
    y = a
    for _ in range(CHAIN // 2):
        y = y * b
        y = y + b
    return y.sum()


def chain(libraries: Libraries, size: int) -> dict[str, Statement]:
    """Return the chain forward and backward to ``a``."""
    a, b = operands(size)
    statements = {"numpy": Statement("f(a, b)", {"f": chain_by_hand, "a": a, "b": b})}
    for name, m in libraries.torch_like().items():
        names = {"f": run_chain, "a": m.tensor(a, requires_grad=True), "b": m.tensor(b)}
        statements[name] = Statement("a.grad = None; f(a, b).backward()", names)
    if "autograd" in libraries:
        from autograd import grad

        statements["autograd"] = Statement("f(a, b)", {"f": grad(run_chain), "a": a, "b": b})
    if "mygrad" in libraries:
        mg = libraries["mygrad"]
        names = {"f": run_chain, "a": mg.tensor(a), "b": mg.tensor(b, constant=True)}
        statements["mygrad"] = Statement("a.null_grad(); f(a, b).backward()", names)
    return statements


def chain_by_hand(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the chain's gradient, written out by hand."""
    y = a
    for _ in range(CHAIN // 2):
        y = y * b
        y = y + b
    y.sum()
    g = np.ones_like(a)
    for _ in range(CHAIN // 2):
        g = g * b
    return g
