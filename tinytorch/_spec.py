"""The specification of an operation, its compiled gradient rules, and the registries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from operator import itemgetter
from types import FunctionType
from typing import Any, TypeAlias

from .backends.base import Array as Array
from .backends.base import Backend as Backend

#: A tensor or a Python number.
Operand: TypeAlias = Any

#: An integer tensor that selects elements.
Index: TypeAlias = Any

#: A bool tensor that selects elements.
Mask: TypeAlias = Any

#: Sizes: a sequence of ints, or as many int arguments.
Shape: TypeAlias = Sequence[int]

#: A name of nodes, or what gives one for a node (None: as it is).
NodeName: TypeAlias = "str | Callable[[Any], str | None] | None"

_PLAIN: dict[str, type] = {"bool": bool, "float": float}
#: Flags that PyTorch's Python code only tests, so that 1 and 0 do as well.
_TESTED = frozenset(
    ("return_indices", "antialias", "recompute_scale_factor", "full", "center", "sym")
)
#: The promotions of those operations that go element by element, unless they say otherwise.
_BY_ELEMENT = ("difference", "float", "quotient", "power", "limits")
_TENSOR_ANNOTATIONS = ("Array", "Operand", "Index", "Mask", "Tensor")

#: What an operation under another name has for itself.
_OF_ITS_OWN = (
    "name", "namespaces", "twins", "aliases", "also", "node", "function", "_renamed", "_fixed",
    "copied", "reflected", "inplace",
)  # fmt: skip

REQUIRED: Any = inspect.Parameter.empty


class Registry(dict[str, Any]):
    """What families file by qualified name; a look at ``registry[name]`` imports its family."""

    #: Imports the family that files a name, if there is one; the facade's.
    load: Callable[[str], None] = staticmethod(lambda name: None)

    def __missing__(self, name: str) -> Any:
        self.load(name)
        if name not in self:
            raise KeyError(name)
        return self[name]


#: Every operation by its qualified name: ``sin``, ``nn.functional.linear``, ``linalg.norm``.
OPS: dict[str, Op] = Registry()

#: What each public namespace holds: ``NAMESPACES["nn.functional"]["relu"]`` is the function.
NAMESPACES: dict[str, dict[str, Callable[..., Any]]] = {"": Registry()}


class Op:
    """An operation: its kernel, its parameters, its gradient rules and where it is public.

    Attributes:
        name: Its name, and ``qualname`` with the namespace before it.
        kernel: The function on raw arrays; None for a composite.
        function: The public function.
        params: Names of the parameters, without ``xp``.
        defaults: Their defaults, ``REQUIRED`` where there is none.
        positional: How many of them may be given by position.
        tensors: Positions of the tensor parameters (``sequence`` is one of them, if any).
        operands: Positions of those that are promoted to a common dtype.
        numbers: Positions of those that may stay Python numbers.
        optional: Positions of the tensor parameters that may be None.
        promote: Which promotion: ``"arithmetic"``, ``"difference"`` (the same, but no bools),
            ``"alike"`` (0-d tensors count as much as others),
            ``"float"`` (integers become the default dtype), ``"quotient"`` (they do unless a
            ``rounding_mode`` is given), ``"power"`` (an exponent has to fit the dtype),
            ``"limits"`` (every number has to) or None.
        elementwise: Whether each element of the result depends on the elements of the tensors at
            its place alone. If not said, ``promote`` tells: operations of elements promote so, but
            for ``"arithmetic"``, where it takes an in-place form, and ``"alike"``.
        ufunc: The library function that the kernel is for floats, at its defaults, or None.
        whole: For a reduction, the backend's method that is the kernel at its defaults: it takes
            an array and returns a 0-d array. None elsewhere.
        keeps: The kernel of recorded calls, which returns its result and an array from on the way
            there, or None: a rule gets that as ``kept``, but not where it is recorded in its turn,
            nor where hooks ask for what is saved. None elsewhere.
        writes: Whether a composite takes ``out=``, which its function does not.
        view: Whether the result may share its input's memory.
        gather: From which position on too many arguments are one sequence, or None.
        forms: Signatures for type checkers, where the result depends on the arguments.
        rule_list: Compiled rules, one per position in ``differentiable``.
        plain_rules: The same with the position of the one argument they need; see the engine.
        flat: Which of the rules are piecewise; see there.
        joint: The compiled rule that gives every gradient at once, or None.
        saved_positions: Tensor positions whose value some rule wants.
        saves_out: Whether some rule wants the result.
        materialize: Whether a missing gradient of one of several results becomes zeros.
        strict: Whether numbers are refused where torch takes tensors only.
        frees: Whether a second backward pass is refused though a node kept no tensor: torch keeps
            one there, such as an index, or a number made a tensor.
        picks: Whether indices say which elements are meant.
        former_order: The factors that PyTorch still takes in their former place, among the tensors.
        expanded: What stands in for the in-place form where one element stands for many, or None
            if that is refused.
        exact_out: Whether ``out=`` has to have the result's own dtype, as in torch, or any of its
            kind or a higher one; None: exact for several results; ``"gives"``: is its ``dtype=``;
            ``"numbers"``: exact beside numbers, not beside tensors; ``"reals"``: exact unless an
            operand is complex; ``"any"``: any dtype does; ``"fills"``: with as many elements as
            the result, it keeps its shape; ``"counts"``: so, and with another number of them
            there is a warning; ``"truth"``: bool or uint8, whichever of them the
            result has; ``"castable"``: of a higher kind, too, with errors in ``linalg``'s words.
        buffered: Whether all is read before anything is written, so that operands may share the
            memory that the in-place form writes to; False where PyTorch refuses an ``out=`` that
            shares memory in part with what is read, ``"first"`` where it looks at the first
            operand alone, ``"apart"`` where nothing read may be ``out=`` itself, None where the
            kind of operation decides.
        flag: Position of a last parameter ``inplace``, which asks for the in-place form.
        plain: By position, of the other flags and floats which they are, and whether None is taken.
        looked_at: Those that can be given by position, with what they are.
        unchecked: How many arguments by position need no look before a kernel runs.
        node: torch's name of its nodes where that does not follow from its own, or a function of
            the node that gives it. A composite's is for the nodes of its results.
        copy_node: The name where an operation with ``view`` had to copy, and ``number_node`` that
            where a number comes before an operator.
        copies_free: Whether its nodes free where it had to copy.
    """

    #: Rules return new arrays, the incoming gradient or a view of it; see the engine.
    makes_gradients = True

    def __init__(self, kernel: Callable[..., Any], skip: int, options: dict[str, Any]) -> None:
        code = kernel.__code__
        if code.co_flags & 0x0C and skip:
            raise TypeError(f"{kernel.__name__}: a kernel takes no *args or **kwargs")
        names = code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount]
        # out= is where the result goes, not what it is: it is passed on its own.
        self.takes_out = skip > 0 and names[-1:] == ("out",)
        names = names[:-1] if self.takes_out else names
        self.name = kernel.__name__.rstrip("_") if skip else kernel.__name__
        self.kernel: Any = kernel if skip else None
        self.params: tuple[str, ...] = names
        self.positional = code.co_argcount - skip
        self.index = {name: i for i, name in enumerate(names)}
        self.defaults = _defaults(kernel, names, self.positional)
        self.rest, self.tail = self.defaults[1:], self.defaults[2:]
        #: How many arguments there must be.
        needed = [i + 1 for i, default in enumerate(self.defaults) if default is REQUIRED]
        self.required = max(needed, default=0)
        #: ``kernel``, with keyword-only parameters by position, too.
        self.positional_kernel: Any = _by_position(kernel, self.takes_out) if skip else None
        self.annotations = kernel.__annotations__
        self._read_options(options)
        self._read_annotations()
        self._forget_rules()
        self._renamed: dict[tuple[NodeName, bool | None], Op] = {}
        self._fixed: dict[frozenset[int], Op] = {}
        #: The same operation under other names, each with a function of its own.
        self.twins: list[Op] = []

    def _read_options(self, options: dict[str, Any]) -> None:
        self.namespaces: tuple[str, ...] = options.pop("namespaces", ("",))
        self.aliases: tuple[str, ...] = options.pop("aliases", ())
        self.also: tuple[str, ...] = options.pop("also", ())
        self.method: bool = options.pop("method", True)
        self.attribute: bool = options.pop("attribute", False)
        self.inplace: bool = options.pop("inplace", False)
        self.operators: tuple[str, ...] = options.pop("operators", ())
        self.promote: str | None = options.pop("promote", None)
        likely = ("arithmetic",) if self.inplace else ()
        self.elementwise: bool = options.pop("elementwise", self.promote in (*_BY_ELEMENT, *likely))
        self.ufunc: str | None = options.pop("ufunc", None)
        self.whole: str | None = options.pop("whole", None)
        self.keeps: Callable[..., Any] | None = options.pop("keeps", None)
        self.writes: bool = options.pop("out", False)
        self.view: bool = options.pop("view", False)
        self.gather: int | None = options.pop("gather", None)
        self.returns: Any = options.pop("returns", None)
        self.buffered: bool | str | None = options.pop("buffered", None)
        self.former_order: tuple[str, ...] = options.pop("former_order", ())
        self.exact_out: bool | str | None = options.pop("exact_out", None)
        self.materialize: bool = options.pop("materialize", True)
        self.strict: bool = options.pop("strict", False)
        frees = options.pop("frees", False)
        self.frees: bool = frees is True
        self.copies_free: bool = frees == "copies"
        self.forms: tuple[str, ...] = options.pop("forms", ())
        self.node: NodeName = options.pop("node", None)
        self.copy_node: NodeName = options.pop("copy_node", None)
        self.number_node: NodeName = options.pop("number_node", None)
        self.expanded: Callable[..., Any] | None = None
        self.public: bool = options.pop("public", not self.name.startswith("_"))
        if options:
            raise TypeError(f"@op {self.name}: unknown options {sorted(options)}")

    def home(self, name: str) -> tuple[str, str]:
        """The module, and the qualified name there, by which pickles know a function of it."""
        space = self.namespaces[0]
        if space == "Tensor":
            return "tinytorch", f"Tensor.{name}"
        return f"tinytorch.{space}" if space else "tinytorch", name

    def _forget_rules(self) -> None:
        self.numpy_form: Callable[..., Any] | None = None
        self.function: Callable[..., Any]
        self.rules: dict[int, Callable[..., Any]] = {}
        self.differentiable: tuple[int, ...] = ()
        self.rule_list: tuple[Callable[..., Any], ...] = ()
        self.plain_rules: tuple[tuple[int | None, Callable[..., Any]], ...] = ()
        #: Whether its first two parameters, and no others, have rules of their own.
        self.both = False
        self.joint: Callable[..., Any] | None = None
        self.joint_rule: Any = None
        self.flat: tuple[int, ...] = ()
        self.saved_positions: tuple[int, ...] = ()
        #: The other tensor positions.
        self.dropped: tuple[int, ...] = self.tensors
        self.saves: tuple[bool, ...] = (False,) * len(self.params)
        #: The same where only the first, or only the second, of two operands wants a gradient.
        self.saves_for: tuple[tuple[bool, ...], ...] = (self.saves, self.saves)
        self.saves_none = True
        self.saves_out = False
        #: Which of several results; None: all of them.
        self.saved_results: tuple[int, ...] | None = None
        #: What a node keeps of the arguments where no rule wants a tensor's value.
        self.bare: tuple[Any, ...] = tuple(
            None if i in self.tensors else d for i, d in enumerate(self.defaults)
        )

    def __repr__(self) -> str:
        return f"<Op {self.qualname}>"

    @property
    def qualname(self) -> str:
        """The name with its first namespace, as in ``linalg.norm``."""
        space = self.namespaces[0]
        return f"{space}.{self.name}" if space else self.name

    @property
    def backward_name(self) -> str | Callable[[Any], str | None]:
        """torch's name of its nodes: ``log_softmax`` gives ``LogSoftmaxBackward0``."""
        if self.node is not None:
            return self.node
        prefix = self.namespaces[0].title() if self.namespaces[0] in ("linalg", "special") else ""
        return prefix + "".join(part.title() for part in self.name.split("_")) + "Backward0"

    def called(self, node: NodeName, frees: bool | None = None) -> Op:
        """The same operation for a node of another name, or that ``frees``; one copy of each."""
        key = node, frees
        if key not in self._renamed:
            self._renamed[key] = other = self._another()
            other.node, other.public = node, False  # no user called it
            other.frees = self.frees if frees is None else frees
        return self._renamed[key]

    def twin(self, name: str, spaces: tuple[str, ...]) -> Op:
        """The same operation under another name, which its errors tell; it has the same rules."""
        other = self._another()
        other.name, other.namespaces = name, spaces
        other.aliases, other.also = (), ()
        if self.node is None and self.kernel is not None:
            other.node = self.backward_name
        self.twins.append(other)
        return other

    def share(self) -> None:
        """Give the twins what was registered since."""
        shared = {key: value for key, value in vars(self).items() if key not in _OF_ITS_OWN}
        for other in self.twins:
            vars(other).update(shared)

    def _another(self) -> Op:
        other = copy(self)
        other._renamed, other._fixed, other.twins = {}, {}, []
        for derived in ("copied", "reflected"):
            vars(other).pop(derived, None)
        return other

    @cached_property
    def copied(self) -> Op:
        """The operation for a result that is no view of the input."""
        node = self.copy_node
        return self if node is None else self.called(node, self.copies_free or None)

    @cached_property
    def reflected(self) -> Op:
        """The operation for an operator after a number, as in ``1 - x``."""
        return self if self.number_node is None else self.called(self.number_node)

    def fixed(self, given: Sequence[Any]) -> Op:
        """The operation for a call with numbers: nothing is kept for a gradient of theirs."""
        numbers = self.numbers.intersection(self.differentiable)
        fixed = frozenset(i for i in numbers if not hasattr(given[i], "_data"))
        if not fixed or self.joint is not None:
            return self
        if fixed not in self._fixed:
            self._fixed[fixed] = other = self._another()
            other._forget_rules()
            other.set_rules({self.params[i]: r for i, r in self.rules.items() if i not in fixed})
        return self._fixed[fixed]

    def run(self, xp: Any, values: tuple[Any, ...], out: Any = None) -> Any:
        """The kernel on a full tuple of raw values, in the order of ``params``.

        ``out`` is for kernels that can write their result there (``takes_out``).
        """
        if out is None:
            return self.positional_kernel(xp, *values)
        return self.positional_kernel(xp, *values, out)

    def _read_annotations(self) -> None:
        tensors, operands = [], []
        self.numbers: set[int] = set()
        self.optional: set[int] = set()
        self.sequence: int | None = None
        self.picks = not {"index", "indices"}.isdisjoint(self.params)
        self.shape_position: int | None = None
        for i, name in enumerate(self.params):
            annotation = str(self.annotations.get(name, ""))
            base = annotation.removesuffix(" | None")
            if base in _TENSOR_ANNOTATIONS and name != "out":
                tensors.append(i)
                if base != annotation:
                    self.optional.add(i)
                if base in ("Array", "Operand"):
                    operands.append(i)
                if base == "Operand":
                    self.numbers.add(i)
            elif base in ("Sequence[Array]", "Sequence[Tensor]"):
                tensors.append(i)
                operands.append(i)
                self.sequence = i
            elif base == "Shape" and i < self.positional:
                self.shape_position = i
        self.tensors = tuple(tensors)
        self.operands = tuple(operands)
        last = len(self.params) - 1
        self.flag: int | None = last if self.params[-1:] == ("inplace",) else None
        self.plain = self._read_plain() if self.public else {}
        self.looked_at = tuple((i, k) for i, (k, _) in self.plain.items() if i < self.positional)
        self.unchecked = min((i for i, _ in self.looked_at), default=self.positional)

    def _read_plain(self) -> dict[int, tuple[type, bool]]:
        found = {}
        for i, name in enumerate(self.params):
            annotation = str(self.annotations.get(name))
            kind = _PLAIN.get(annotation.removesuffix(" | None"))
            if kind is not None and name != "inplace" and name not in _TESTED:
                # PyTorch takes None for requires_grad=False, too.
                found[i] = kind, annotation.endswith(" | None") or name == "requires_grad"
        return found

    # -- gradient rules --------------------------------------------------------------------

    def set_rules(self, rules: dict[str, Callable[..., Any]]) -> None:
        """Register rules by parameter name."""
        for name, rule in rules.items():
            if self.index.get(name, -1) not in self.tensors:
                raise TypeError(f"{self.name}.vjp: {name!r} is not a tensor parameter")
            self.rules[self.index[name]] = rule
            self._note_needs(rule)
        self.differentiable = tuple(sorted(self.rules))
        self.both = self.differentiable == (0, 1)
        if self.both:
            self.saves_for = tuple(
                tuple(name in _rule_needs(self.rules[i]) for name in self.params) for i in (0, 1)
            )
        compiled = tuple(self._compile(self.rules[i]) for i in self.differentiable)
        if self.sequence in self.rules:
            if len(compiled) > 1:
                raise TypeError(f"{self.name}.vjp: a list of tensors must be the only input")
            self.joint = compiled[0]
        self.rule_list = compiled
        self.flat = tuple(
            i for i, at in enumerate(self.differentiable)
            if getattr(self.rules[at], "piecewise", False)
        )  # fmt: skip
        self.plain_rules = tuple(
            self._plain_rule(self.rules[i], rule)
            for i, rule in zip(self.differentiable, compiled, strict=True)
        )
        self.share()

    def needs(self, position: int) -> tuple[str, ...]:
        """What the gradient of the parameter at ``position`` is computed from."""
        rule = self.rules.get(position, self.joint_rule)
        stated: dict[str, str] = getattr(rule, "reads", {})
        name = self.params[position]
        return tuple(stated[name].split()) if name in stated else _rule_needs(rule)

    def _plain_rule(self, rule: Any, compiled: Any) -> tuple[int | None, Any]:
        """A rule that needs but one argument with its position, -1 for none; else compiled."""
        needs = _rule_needs(rule)
        if not needs:
            return -1, rule
        if len(needs) == 1 and needs[0] in self.index and needs[0] not in _SPECIAL:
            return self.index[needs[0]], rule
        return None, compiled

    def set_joint_rule(self, names: Iterable[str], rule: Callable[..., Any]) -> None:
        """Register one rule that returns the gradients of several parameters."""
        self.differentiable = tuple(self.index[name] for name in names)
        self._note_needs(rule)
        self.joint_rule = rule
        self.joint = self._compile(rule)
        self.share()

    def _note_needs(self, rule: Callable[..., Any]) -> None:
        needs = _rule_needs(rule)
        self.saves_out = self.saves_out or "out" in needs
        self.saved_results = getattr(rule, "results", self.saved_results)
        self.saves = tuple(
            old or name in needs for old, name in zip(self.saves, self.params, strict=True)
        )
        self.saved_positions = tuple(i for i in self.tensors if self.saves[i])
        self.dropped = tuple(i for i in self.tensors if not self.saves[i])
        self.saves_none = not self.saved_positions

    def _compile(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """The rule as the engine calls it: ``(xp, g, out, shape, args)``."""
        needs = _rule_needs(rule)
        unknown = [n for n in needs if n not in self.index and n not in _SPECIAL]
        if unknown:
            raise TypeError(f"{self.name}.vjp: {unknown} are no parameters of the operation")
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


#: What a rule may need besides the operation's parameters.
_SPECIAL = ("out", "kept", "in_shape", "in_shapes")


def _by_position(kernel: Any, takes_out: bool) -> Any:
    """The same code, with keyword-only parameters as the last positional ones.

    Values that lie in order can be passed on without a dictionary, in a third of the time.
    """
    code = kernel.__code__
    if not code.co_kwonlyargcount:
        return kernel
    flat = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    defaults = (None,) if takes_out else ()
    return FunctionType(flat, kernel.__globals__, kernel.__name__, defaults, kernel.__closure__)


def _rule_needs(rule: Callable[..., Any]) -> tuple[str, ...]:
    declared = getattr(rule, "needs", None)
    if declared is not None:
        return declared  # type: ignore[no-any-return]
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) < 2 or code.co_flags & 0x0C:
        raise TypeError("a gradient rule takes (xp, g) and then, by name, what it needs")
    return names[2:]


def _defaults(
    function: Callable[..., Any], names: tuple[str, ...], positional: int
) -> tuple[Any, ...]:
    given = function.__defaults__ or ()
    keyword = function.__kwdefaults__ or {}
    head = (REQUIRED,) * (positional - len(given)) + tuple(given)
    return head[:positional] + tuple(keyword.get(n, REQUIRED) for n in names[positional:])
