"""Which operation's gradient failed: said on the error itself and, in anomaly mode, warned of."""

from __future__ import annotations

from typing import Any

from ..warnings import warn
from .nodes import target_of


def explain(error: Exception, node: Any, warning: bool) -> None:
    """Note on an error which gradient it came from, once.

    Args:
        error: Raised while the gradient was computed.
        node: The operation's node; None if it was raised before the first.
        warning: Whether a warning says so, too, as PyTorch's anomaly mode does.
    """
    if node is None or getattr(error, "_explained", False):
        return
    if not getattr(error, "_in_hook", False):  # which is the user's, and named already
        inputs = [None if e is None else list(target_of(e)[0]) for e in node.edges]
        name = node.op.name if getattr(node.op, "public", True) else node.name()
        error.add_note(
            f"in the gradient of {name!r}: inputs of shape {inputs}, result of shape {node.shape}"
        )
    traceback = (node.extra or {}).get("traceback")
    made = f"Traceback of forward call that caused the error:\n{''.join(traceback or ())}"
    if traceback:
        error.add_note(made)
    error._explained = True  # type: ignore[attr-defined]
    if warning:
        unknown = (
            "No forward pass information available. Enable detect anomaly during forward pass for "
            "more information."
        )
        warn(f"Error detected in {node.name()}. {made if traceback else unknown}")
