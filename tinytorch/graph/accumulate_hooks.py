"""Passes in which leaves have hooks, which run as soon as a leaf's gradient is complete.

An ordinary pass hands all leaves their gradients at its end, which needs no counting. Where a leaf
has hooks their place among those of nodes can be seen, and they may want to use a gradient and let
go of it before the next is computed (an optimizer's step in a hook). So this pass first counts how
many gradients each leaf will get.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .engine import Gradient, Sweep
from .nodes import LeafHooks, node_of


def sweep_class() -> type[Sweep]:
    """The kind of pass that is needed now."""
    return LeafSweep if LeafHooks.in_use() else Sweep


class LeafSweep(Sweep):
    """A pass that hands each leaf its gradient when that is complete.

    Attributes:
        accumulating: Whether captured gradients are added to leaves, not returned.
        missing: By ``id``, how many gradients a leaf has still to get; None before the first.
        hooked: The ``id`` of captured leaves whose hooks have run.
    """

    leaves: dict[int, list[Any]]

    accumulating = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.missing: Counter[int] | None = None
        self.hooked: set[int] = set()

    def _send_to_leaf(self, leaf: Any, g: Gradient, fresh: bool) -> None:
        if self.missing is None:
            self.missing = self._count()
        super()._send_to_leaf(leaf, g, fresh)
        self.missing[id(leaf)] -= 1
        if not self.missing[id(leaf)]:
            self._complete(leaf)

    def _count(self) -> Counter[int]:
        """How many gradients will come to each leaf, unless rules leave some out."""
        counts: Counter[int] = Counter()
        seen: set[int] = set()
        stack = [edge for edge in self.roots if self.wants(edge)]
        while stack:
            edge = stack.pop()
            node = node_of(edge)
            if node is None:
                counts[id(edge)] += 1
            elif node.seq not in seen and (not self.capturing or node.seq in self.needed):
                seen.add(node.seq)
                stack.extend(e for e in node.edges if e is not None and self.wants(e))
        return counts

    def _complete(self, leaf: Any) -> None:
        if self.capturing and not self.accumulating:
            self._run_hooks(leaf)
            return
        # What a rule sends later all the same is a gradient of its own.
        entry = self.leaves.pop(id(leaf))
        others, self.leaves = self.leaves, {id(leaf): entry}
        self.deliver()
        self.leaves = others

    def _run_hooks(self, leaf: Any) -> None:
        if id(leaf) not in self.hooked:
            super()._run_hooks(leaf)
            self.hooked.add(id(leaf))
