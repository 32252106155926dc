"""``Backward``: name and rules of all nodes of one operation, and which arguments they save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .operation import Op

#: A name of nodes, or a function of a node that returns one (None: the name stays).
NodeName: TypeAlias = "str | Callable[[Any], str | None] | None"

#: Names that a rule may have as parameters besides those of the operation: the result (``out``), an
#: array computed on the way (``kept``, see ``Registered.forward_with_saved``), and the shape of the
#: argument whose gradient the rule computes (``in_shape``), or those of a list of tensors.
SPECIAL = ("out", "kept", "in_shape", "in_shapes")


@dataclass(frozen=True)
class Nodes:
    """Nodes of an operation, for its option ``node``: torch's names, and when they are freed.

    Attributes:
        name: The name if it does not follow from the operation's, or a function of the node that
            returns it. For a composite, the name of the nodes of its results.
        copy: The name if an operation with ``view`` had to copy.
        number: The name if a Python number comes before an operator, as in ``1 - x``.
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
        backward_name: torch's name of the nodes, or a function of the node that returns it.
        differentiable: Positions of the parameters with a gradient.
        rules: Rules by position, as they were registered.
        compiled_rules: Compiled rules, one per position in ``differentiable``.
        direct_rules: The same rules, each with the position of the only argument it reads, for
            which the engine needs no compiled rule.
        joint: The compiled rule that returns every gradient at once, or None.
        piecewise: Indices in ``compiled_rules`` of the rules marked ``piecewise``.
        may_be_fixed: Differentiable positions whose argument may be a Python number.
        both: Whether the first two parameters, and no others, have rules of their own.
        saves: By position, whether a rule reads the value; ``saves_for`` the same if only the
            first, or only the second, of two operands needs a gradient.
        saved_positions: Tensor positions whose value a rule reads; ``dropped``: the others.
        saves_out: Whether a rule reads the result, and ``saved_results`` which of several results;
            None: all of them.
        frees: Whether a second backward pass raises an error though a node saved no tensor.
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
        self.backward_name: Any = op.torch_node_name if op.node.name is None else op.node.name
        self._renamed: dict[tuple[NodeName, bool | None], Backward] = {}
        self._fixed: dict[frozenset[int], Backward] = {}
        self._read_rules(op.registered.rules)

    def _read_rules(self, rules: dict[Any, Callable[..., Any]]) -> None:
        """Set the attributes that follow from the rules, by parameter name or tuple of names."""
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
        #: The same if only the first, or only the second, of two operands needs a gradient.
        self.saves_for: tuple[tuple[bool, ...], ...] = (self.saves, self.saves)
        if self.both:
            self.saves_for = tuple(
                tuple(name in rule_needs(self.rules[i]) for name in self.params) for i in (0, 1)
            )
        chosen = () if joint else self.differentiable
        self.compiled_rules: tuple[Callable[..., Any], ...] = tuple(
            self._compile(self.rules[i]) for i in chosen
        )
        if self.sequence in self.rules:
            self.joint = self.compiled_rules[0]
        self.piecewise: tuple[int, ...] = tuple(
            i for i, at in enumerate(chosen) if getattr(self.rules[at], "piecewise", False)
        )
        self.direct_rules: tuple[tuple[int | None, Any], ...] = tuple(
            self._direct_rule(self.rules[i], rule)
            for i, rule in zip(chosen, self.compiled_rules, strict=True)
        )

    def _note_needs(self, rules: list[Callable[..., Any]]) -> None:
        """Set the attributes that state which values the rules read and a node has to save."""
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
        """Names of the values from which the gradient of the parameter at ``position`` follows."""
        rule = self.rules.get(position, self.joint_rule)
        stated: dict[str, str] = getattr(rule, "reads", {})
        name = self.params[position]
        return tuple(stated[name].split()) if name in stated else rule_needs(rule)

    def _direct_rule(self, rule: Any, compiled: Any) -> tuple[int | None, Any]:
        """Return a rule with the position of the only argument that it reads.

        The position is -1 for a rule that reads none. A rule that reads more, or a value besides
        the arguments, is returned compiled, with None.
        """
        needs = rule_needs(rule)
        if not needs:
            return -1, rule
        if len(needs) == 1 and needs[0] in self.index and needs[0] not in SPECIAL:
            return self.index[needs[0]], rule
        return None, compiled

    def _compile(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return the rule with the engine's parameters: ``(xp, g, out, shape, args)``."""
        needs = rule_needs(rule)
        if not needs:
            return lambda xp, g, out, shape, args: rule(xp, g)
        if needs == ("out",):
            return lambda xp, g, out, shape, args: rule(xp, g, out)
        if needs == ("in_shape",):
            return lambda xp, g, out, shape, args: rule(xp, g, shape)
        at = [self.index.get(n, -1) for n in needs]
        if "in_shapes" in needs:  # the shapes are saved in the place of the list
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

    def rename(self, node: NodeName, frees: bool | None = None) -> Backward:
        """Return the variant whose nodes have another name, or another ``frees``; it is cached."""
        key = node, frees
        if key not in self._renamed:
            self._renamed[key] = other = self._copy()
            other.backward_name, other.public = node, False  # users did not call it
            other.frees = self.frees if frees is None else frees
        return self._renamed[key]

    def _copy(self) -> Backward:
        """Return a copy without the cached variants, to be changed to a variant."""
        other = copy(self)
        other._renamed, other._fixed = {}, {}
        for derived in ("copy_variant", "reflected_variant"):
            vars(other).pop(derived, None)
        return other

    @cached_property
    def copy_variant(self) -> Backward:
        """Variant for a result that is a copy instead of a view."""
        node = self.op.node.copy
        return self if node is None else self.rename(node, self.op.node.copy_frees or None)

    @cached_property
    def reflected_variant(self) -> Backward:
        """Variant for a reflected operator, whose left operand is a number, as in ``1 - x``."""
        node = self.op.node.number
        return self if node is None else self.rename(node)

    def drop_numbers(self, given: Sequence[Any]) -> Backward:
        """Return the variant for a call with numbers, which saves nothing for their gradients."""
        found = [i for i in self.may_be_fixed if not hasattr(given[i], "_data")]
        if not found or self.joint is not None:
            return self
        fixed = frozenset(found)
        if fixed not in self._fixed:
            self._fixed[fixed] = other = self._copy()
            other._read_rules({self.params[i]: r for i, r in self.rules.items() if i not in fixed})
        return self._fixed[fixed]


def rule_needs(rule: Callable[..., Any]) -> tuple[str, ...]:
    """Names of a rule's parameters besides the backend and the gradient."""
    declared = getattr(rule, "needs", None)
    if declared is not None:
        return declared  # type: ignore[no-any-return]
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) < 2 or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        raise TypeError("a gradient rule takes (xp, g) and then, by name, what it needs")
    return names[2:]
