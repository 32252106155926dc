"""What the nodes of one operation have in common: torch's name, gradient rules, what they keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .operation import Op

#: A name of nodes, or what gives one for a node (None: as it is).
NodeName: TypeAlias = "str | Callable[[Any], str | None] | None"

#: What a rule may need besides the operation's parameters.
SPECIAL = ("out", "kept", "in_shape", "in_shapes")


@dataclass(frozen=True)
class Nodes:
    """Nodes of an operation, for its option ``node``: torch's names, and when they are freed.

    Attributes:
        name: The name where it does not follow from the operation's, or a function of the node
            that returns it. For a composite, the name of the nodes of its results.
        copy: The name where an operation with ``view`` had to copy.
        number: The name where a number comes before an operator, as in ``1 - x``.
        frees: Whether a second backward pass raises an error though the node saves no tensor here,
            as PyTorch saves one there, such as an index.
        copy_frees: Whether that holds for copies alone.
    """

    name: NodeName = None
    copy: NodeName = None
    number: NodeName = None
    frees: bool = False
    copy_frees: bool = False


class Backward:
    """The backward side of an operation, to which ``Node.op`` points.

    Attributes:
        op: The operation.
        backward_name: torch's name of the nodes, or a function of the node that gives it.
        differentiable: Positions of the parameters with a gradient.
        rules: Rules by position, as they were registered.
        rule_list: Compiled rules, one per position in ``differentiable``.
        plain_rules: The same with the position of the one argument they need; see the engine.
        joint: The compiled rule that gives every gradient at once, or None.
        flat: Which of the rules are piecewise; see there.
        may_be_fixed: Positions of those of them that may be numbers.
        both: Whether the first two parameters, and no others, have rules of their own.
        saves: By position, whether some rule wants the value; ``saves_for`` the same where only
            the first, or only the second, of two operands wants a gradient.
        saved_positions: Tensor positions whose value some rule wants; ``dropped``: the others.
        saves_out: Whether some rule wants the result, and ``saved_results`` which of several;
            None: all of them.
        frees: Whether a second pass is refused though a node kept no tensor.
    """

    name: str
    public: bool
    params: tuple[str, ...]
    index: dict[str, int]
    tensors: tuple[int, ...]
    sequence: int | None
    numbers: frozenset[int]

    #: Rules return new arrays, the incoming gradient or a view of it; see the engine.
    makes_gradients = True

    def __init__(self, op: Op) -> None:
        plan = op.plan
        self.op = op
        self.name, self.public = op.name, op.public
        self.params, self.index, self.tensors = plan.params, plan.index, plan.tensors
        self.sequence, self.numbers = plan.sequence, plan.numbers
        self.forward_with_saved: Callable[..., Any] | None = op.registered.forward_with_saved
        self.frees: bool = op.node.frees
        self.backward_name: Any = op.torchs_name if op.node.name is None else op.node.name
        self._renamed: dict[tuple[NodeName, bool | None], Backward] = {}
        self._fixed: dict[frozenset[int], Backward] = {}
        self._read_rules(op.registered.rules)

    def _read_rules(self, rules: dict[Any, Callable[..., Any]]) -> None:
        joint = [names for names in rules if isinstance(names, tuple)]
        self.rules: dict[int, Callable[..., Any]] = {
            self.index[n]: rule for n, rule in rules.items() if isinstance(n, str)
        }
        of_several = [rules[names] for names in joint]
        self.joint_rule: Any = of_several[-1] if joint else None
        self.joint: Any = self._compile(of_several[-1]) if joint else None
        self.differentiable: tuple[int, ...] = tuple(sorted(self.rules))
        if joint:
            self.differentiable = tuple(self.index[name] for name in joint[-1])
        self.may_be_fixed: frozenset[int] = self.numbers.intersection(self.differentiable)
        self._note_needs([*self.rules.values(), *of_several])
        self.both: bool = self.differentiable == (0, 1) and not joint
        #: The same where only the first, or only the second, of two operands wants a gradient.
        self.saves_for: tuple[tuple[bool, ...], ...] = (self.saves, self.saves)
        if self.both:
            self.saves_for = tuple(
                tuple(name in rule_needs(self.rules[i]) for name in self.params) for i in (0, 1)
            )
        chosen = () if joint else self.differentiable
        self.rule_list: tuple[Callable[..., Any], ...] = tuple(
            self._compile(self.rules[i]) for i in chosen
        )
        if self.sequence in self.rules:
            self.joint = self.rule_list[0]
        self.flat: tuple[int, ...] = tuple(
            i for i, at in enumerate(chosen) if getattr(self.rules[at], "piecewise", False)
        )
        self.plain_rules: tuple[tuple[int | None, Any], ...] = tuple(
            self._plain_rule(self.rules[i], rule)
            for i, rule in zip(chosen, self.rule_list, strict=True)
        )

    def _note_needs(self, rules: list[Callable[..., Any]]) -> None:
        #: Whether a missing gradient of one of several results becomes zeros.
        self.materialize: bool = not any(getattr(rule, "accepts_none", False) for rule in rules)
        needs = [set(rule_needs(rule)) for rule in rules]
        wanted = set().union(*needs)
        self.saves_out: bool = "out" in wanted
        self.saved_results: tuple[int, ...] | None = None
        for rule in rules:
            self.saved_results = getattr(rule, "results", self.saved_results)
        self.saves: tuple[bool, ...] = tuple(name in wanted for name in self.params)
        self.saved_positions: tuple[int, ...] = tuple(i for i in self.tensors if self.saves[i])
        self.dropped: tuple[int, ...] = tuple(i for i in self.tensors if not self.saves[i])

    def needs(self, position: int) -> tuple[str, ...]:
        """What the gradient of the parameter at ``position`` is computed from."""
        rule = self.rules.get(position, self.joint_rule)
        stated: dict[str, str] = getattr(rule, "reads", {})
        name = self.params[position]
        return tuple(stated[name].split()) if name in stated else rule_needs(rule)

    def _plain_rule(self, rule: Any, compiled: Any) -> tuple[int | None, Any]:
        """A rule that needs but one argument with its position, -1 for none; else compiled."""
        needs = rule_needs(rule)
        if not needs:
            return -1, rule
        if len(needs) == 1 and needs[0] in self.index and needs[0] not in SPECIAL:
            return self.index[needs[0]], rule
        return None, compiled

    def _compile(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """The rule as the engine calls it: ``(xp, g, out, shape, args)``."""
        needs = rule_needs(rule)
        if not needs:
            return lambda xp, g, out, shape, args: rule(xp, g)
        if needs == ("out",):
            return lambda xp, g, out, shape, args: rule(xp, g, out)
        if needs == ("in_shape",):
            return lambda xp, g, out, shape, args: rule(xp, g, shape)
        at = [self.index.get(n, -1) for n in needs]
        if "in_shapes" in needs:  # stands in the list's place among the saved arguments
            assert self.sequence is not None
            at[needs.index("in_shapes")] = self.sequence
        if -1 not in at and len(at) == 1:
            i = at[0]
            return lambda xp, g, out, shape, args: rule(xp, g, args[i])
        if -1 not in at and len(at) == 2:
            i, j = at
            return lambda xp, g, out, shape, args: rule(xp, g, args[i], args[j])
        special = {"out": 0, "kept": 0, "in_shape": 1}
        pick = itemgetter(*(special[n] if i < 0 else i + 2 for i, n in zip(at, needs, strict=True)))
        return lambda xp, g, out, shape, args: rule(xp, g, *pick((out, shape, *args)))

    # -- variants --------------------------------------------------------------------------

    def called(self, node: NodeName, frees: bool | None = None) -> Backward:
        """The same for nodes of another name, or that are freed otherwise; one copy of each."""
        key = node, frees
        if key not in self._renamed:
            self._renamed[key] = other = self._another()
            other.backward_name, other.public = node, False  # no user called it
            other.frees = self.frees if frees is None else frees
        return self._renamed[key]

    def _another(self) -> Backward:
        other = copy(self)
        other._renamed, other._fixed = {}, {}
        for derived in ("copied", "reflected"):
            vars(other).pop(derived, None)
        return other

    @cached_property
    def copied(self) -> Backward:
        """That of a result that is no view of the input."""
        node = self.op.node.copy
        return self if node is None else self.called(node, self.op.node.copy_frees or None)

    @cached_property
    def reflected(self) -> Backward:
        """That of an operator after a number, as in ``1 - x``."""
        node = self.op.node.number
        return self if node is None else self.called(node)

    def fixed(self, given: Sequence[Any]) -> Backward:
        """That of a call with numbers: nothing is kept for a gradient of theirs."""
        found = [i for i in self.may_be_fixed if not hasattr(given[i], "_data")]
        if not found or self.joint is not None:
            return self
        fixed = frozenset(found)
        if fixed not in self._fixed:
            self._fixed[fixed] = other = self._another()
            other._read_rules({self.params[i]: r for i, r in self.rules.items() if i not in fixed})
        return self._fixed[fixed]


def rule_needs(rule: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what a rule takes besides the backend and the gradient."""
    declared = getattr(rule, "needs", None)
    if declared is not None:
        return declared  # type: ignore[no-any-return]
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) < 2 or code.co_flags & 0x0C:
        raise TypeError("a gradient rule takes (xp, g) and then, by name, what it needs")
    return names[2:]
