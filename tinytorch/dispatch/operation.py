"""``Op``: the options of an operation, the plan of its calls, its gradient rules and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from inspect import Parameter
from typing import Any, TypeAlias

from ..backends.base import Array as Array
from ..backends.base import Backend as Backend
from .backward import Backward
from .backward import Nodes as Nodes
from .registry import NAMESPACES as NAMESPACES
from .registry import OPS as OPS

REQUIRED: Any = Parameter.empty

_SCALARS: dict[str, type] = {"bool": bool, "float": float}
#: Flags that PyTorch's Python code only tests, so that 1 and 0 do as well.
_TESTED = frozenset(
    ("return_indices", "antialias", "recompute_scale_factor", "full", "center", "sym")
)
#: Byte code of a kernel that only calls a function of the backend on its one array. The name of the
#: function is not part of the byte code.
_A_CALL = (lambda xp, input: xp.any_name(input)).__code__.co_code
_TENSORS = ("Array", "Operand", "Index", "Mask", "Tensor")
_SEQUENCES = ("Sequence[Array]", "Sequence[Tensor]")


class Plan:
    """Facts about an operation's parameters that each of its calls uses, computed once.

    Attributes:
        params: Names of the parameters, without ``xp``.
        index: Their positions.
        defaults: Their defaults, ``REQUIRED`` where there is none.
        positional: How many of them may be given by position.
        keywords: The others, each with its position.
        required: How many arguments there must be.
        takes_out: Whether the kernel has a parameter ``out`` to write its result to.
        calls: The backend's function, if the kernel only calls it on its one array, or None.
        tensors: Positions of the tensor parameters (``sequence`` is one of them, if any).
        others: Positions of the other parameters.
        operands: Positions of those that are promoted to a common dtype.
        numbers: Positions of those that may stay Python numbers.
        optional: Positions of the tensor parameters that may be None.
        is_binary: Whether there are two operands, and the other parameters may be left out.
        lead: Position of the first tensor that must be given, whose backend the call uses, or of
            the sequence; None if each tensor may be left out.
        sizes: The position of sizes, which may be given one by one, or None.
        more_sizes: The position of an ``int | Shape``, or None. In a call with too many arguments,
            those from this position on are its sizes.
        returns_input: Whether the call returns its first argument where the kernel does.
        picks: Whether a parameter ``index`` or ``indices`` selects the elements.
        flag: Position of a last parameter ``inplace``, which selects the in-place form.
        scalars: The other parameters that are bools or floats, by position: the class, and whether
            None is accepted.
        positional_scalars: Those of them that can be given by position, with their classes.
        unchecked: Number of leading arguments that need no check before a kernel runs.
    """

    def __init__(self, op: Op) -> None:
        function, skip = (op.body, 0) if op.kernel is None else (op.kernel, 1)
        code = function.__code__
        names = code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount]
        # ``out`` says where the result goes, not what it is, so it is passed separately.
        self.takes_out = skip > 0 and names[-1:] == ("out",)
        self.params: tuple[str, ...] = names[:-1] if self.takes_out else names
        self.calls: str | None = code.co_names[0] if skip and code.co_code == _A_CALL else None
        self.positional: Any = code.co_argcount - skip
        self.keywords: list[tuple[int, str]] = [
            (i, n) for i, n in enumerate(self.params) if i >= self.positional
        ]
        self.index: dict[str, int] = {name: i for i, name in enumerate(self.params)}
        self.defaults: tuple[Any, ...] = _defaults(function, self.params, self.positional)
        needed = [i + 1 for i, default in enumerate(self.defaults) if default is REQUIRED]
        self.required: int = max(needed, default=0)
        self.picks: bool = not {"index", "indices"}.isdisjoint(self.params)
        self.flag: int | None = len(self.params) - 1 if self.params[-1:] == ("inplace",) else None
        annotations = [str(function.__annotations__.get(name, "")) for name in self.params]
        self.returns_input: bool = function.__annotations__.get("return") == "ArrayOrInput"
        self._read_tensors(annotations)
        self.scalars: dict[int, tuple[type, bool]] = (
            self._read_scalars(annotations) if op.public else {}
        )
        self.positional_scalars: tuple[tuple[int, type], ...] = tuple(
            (i, k) for i, (k, _) in self.scalars.items() if i < self.positional
        )
        self.unchecked: int | Any = min(
            (i for i, _ in self.positional_scalars), default=self.positional
        )

    def _read_tensors(self, annotations: list[str]) -> None:
        """Set the positions of tensors, operands and sizes from the parameters' annotations."""
        bases = [annotation.removesuffix(" | None") for annotation in annotations]
        single = [i for i, base in enumerate(bases) if base in _TENSORS and self.params[i] != "out"]
        several = [i for i, base in enumerate(bases) if base in _SEQUENCES]
        self.sequence: int | None = max(several, default=None)
        self.tensors: tuple[int, ...] = tuple(sorted(single + several))
        self.others: list[int] = [i for i in range(len(self.params)) if i not in self.tensors]
        self.operands: tuple[int, ...] = tuple(
            i for i in self.tensors if bases[i] in ("Array", "Operand", *_SEQUENCES)
        )
        self.numbers: frozenset[int] = frozenset(i for i in single if bases[i] == "Operand")
        self.optional: frozenset[int] = frozenset(i for i in single if bases[i] != annotations[i])
        two = self.tensors == self.operands == (0, 1) and self.positional == 2
        self.is_binary: bool = two and self.sequence is None and self.required <= 2
        given = [i for i in self.tensors if i not in self.optional]
        leads = [i for i in given if i not in self.numbers or self.is_binary]
        self.lead: int | None = min(leads, default=None) if self.sequence is None else self.sequence
        shapes = [i for i, base in enumerate(bases) if base == "Shape" and i < self.positional]
        self.sizes: int | None = max(shapes, default=None)
        self.more_sizes: int | None = bases.index("int | Shape") if "int | Shape" in bases else None

    def _read_scalars(self, annotations: list[str]) -> dict[int, tuple[type, bool]]:
        """Return ``scalars`` (see the class) for the annotations of all parameters."""
        found = {}
        for i, (name, annotation) in enumerate(zip(self.params, annotations, strict=True)):
            kind = _SCALARS.get(annotation.removesuffix(" | None"))
            if kind is not None and name != "inplace" and name not in _TESTED:
                # PyTorch accepts None for requires_grad=False, too.
                found[i] = kind, annotation.endswith(" | None") or name == "requires_grad"
        return found

    def dtype_operand(self, lead: int) -> int | None:
        """Return the position of the operand whose dtype the others must have.

        Args:
            lead: Position of the first tensor.
        """
        return lead if lead in self.operands else min(self.operands, default=None)


def is_tensor(function: Callable[..., Any], name: str) -> bool:
    """Whether a parameter is annotated as a tensor, or as a list of them."""
    base = str(function.__annotations__.get(name, "")).removesuffix(" | None")
    return base in _TENSORS or base in _SEQUENCES


def _defaults(
    function: Callable[..., Any], names: tuple[str, ...], positional: int
) -> tuple[Any, ...]:
    """Return the default of each parameter, or ``REQUIRED``.

    Args:
        function: The kernel, whose first parameter is the backend, or a composite's function.
        names: The parameters, without the backend.
        positional: How many of them may be given by position.
    """
    given = function.__defaults__ or ()
    keyword = function.__kwdefaults__ or {}
    head = (REQUIRED,) * (positional - len(given)) + tuple(given)
    return head[:positional] + tuple(keyword.get(n, REQUIRED) for n in names[positional:])


#: A tensor or a Python scalar.
Operand: TypeAlias = Any

#: An integer tensor that selects elements.
Index: TypeAlias = Any

#: A bool tensor that selects elements.
Mask: TypeAlias = Any

#: Result of a kernel that may return its first argument: the call then returns the same tensor.
ArrayOrInput: TypeAlias = Any

#: Sizes: a sequence of ints, or as many int arguments.
Shape: TypeAlias = Sequence[int]

#: Promotions of operations that are elementwise unless the option ``elementwise`` says otherwise.
_BY_ELEMENT = ("difference", "float", "quotient", "power", "limits")


class Form(Enum):
    """The functions of an operation."""

    #: The public function and the method, which accept any arguments.
    FUNCTION = "function"
    #: Method of an operator: two operands by position.
    OPERATOR = "operator"
    #: The method of a reflected operator: ``__radd__(other, input)``.
    REFLECTED = "reflected"
    #: The in-place form, which writes the result to the first argument.
    INPLACE = "inplace"
    #: The same for an operator such as ``+=``.
    INPLACE_OPERATOR = "inplace operator"
    #: ``x[index]``: a tensor and an index.
    ITEM = "item"
    #: ``x[index] = value``, where the index comes before the value.
    SET_ITEM = "set item"
    #: The public function of a creation operation, which has no tensor argument.
    CREATION = "creation"

    @property
    def has_names(self) -> bool:
        """Whether arguments may be given by name and left out."""
        return self in (Form.FUNCTION, Form.INPLACE, Form.CREATION)

    @property
    def writes(self) -> bool:
        """Whether the result is written to the first argument."""
        return self in (Form.INPLACE, Form.INPLACE_OPERATOR, Form.SET_ITEM)


class Out(Enum):
    """Dtypes that ``out=`` may have, by the dtype of the result, and the shape it keeps."""

    #: A dtype that the result's can be cast to; for several results exactly theirs.
    CAST = "cast"
    #: A dtype that the result's can be cast to, for each of several results, too.
    CAST_EACH = "cast each"
    #: The same, with the error text of ``linalg``.
    SAFE_CAST = "safe cast"
    #: The result's dtype.
    EXACT = "exact"
    #: The result's dtype if an argument is no tensor, else as ``CAST``.
    EXACT_WITH_NUMBERS = "exact with numbers"
    #: The result's dtype unless an argument is complex, then as ``CAST``.
    EXACT_FOR_REALS = "exact for reals"
    #: The dtype that the argument ``dtype`` names, by default that of ``out=``.
    DTYPE_ARGUMENT = "dtype argument"
    #: Any dtype.
    ANY = "any"
    #: bool or uint8.
    BOOL = "bool"
    #: As ``CAST``; ``out=`` with as many elements as the result keeps its shape.
    RESHAPE = "reshape"
    #: The same, with a warning for another number of elements.
    RESHAPE_OR_WARN = "reshape or warn"


class Reduced(Enum):
    """Handling of the dtypes of reduced precision."""

    #: The kernel accepts arrays of these dtypes, since it copies elements without computing. A
    #: composite runs on them unchanged.
    NATIVE = "native"
    #: Results of a composite have the dtype of its first tensor, whatever its other tensors have.
    FIRST = "first"


class Overlap(Enum):
    """Memory that an argument may share with ``out=``, or with the target of an in-place form."""

    #: Any: all arguments are read before anything is written.
    ALLOWED = "allowed"
    #: The whole of it; a part raises an error.
    CHECKED = "checked"
    #: The same, and only the first argument is checked for ``out=``.
    FIRST = "first"
    #: None: not even ``out=`` itself may be an argument.
    DISJOINT = "disjoint"


@dataclass(eq=False, repr=False)
class Registered:
    """Values registered with an operation after its definition, shared with its aliases.

    Attributes:
        rules: Gradient rules by parameter name; a tuple of names for one rule of several.
        forward_with_saved: The kernel of recorded calls, which returns its result and an array
            computed on the way, or None. A rule gets the array as ``kept``, which is None in a
            recorded backward pass and where hooks on saved tensors are set.
        numpy_form: The function that runs a call with NumPy's keywords, or None.
        default_dtype: Whether a creation function makes the default dtype if none is given.
        expanded: The function that replaces the in-place form where several elements share memory,
            as in an expanded tensor, or None if that raises an error.
        aliases: The same operation under other names, each with a function of its own.
        fast: The operation that runs a composite's calls on the fast path, or None.
        serves_composite: Whether this operation is the ``fast`` of a composite.
        is_generated: Whether a function was generated from these values, which then cannot change.
    """

    rules: dict[str | tuple[str, ...], Callable[..., Any]] = field(default_factory=dict)
    forward_with_saved: Callable[..., Any] | None = None
    numpy_form: Callable[..., Any] | None = None
    expanded: Callable[..., Any] | None = None
    aliases: list[Op] = field(default_factory=list)
    fast: Op | None = None
    serves_composite: bool = False
    default_dtype: bool = True
    is_generated: bool = False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Op:
    """Options of an operation, as its decorator got them.

    Attributes:
        name: Its name; ``qualname`` has the namespace before it.
        kernel: The function on raw arrays; None for a composite.
        body: The function on tensors that a composite is; None for a kernel.
        function: The public function.
        namespaces: The modules where it is public; the first is its ``__module__``.
        aliases: Other names there. One with a dot is a function of the module before it alone
            (``"special.expit"``), for ``".invert"`` the top level.
        method: Whether it is also a method of tensors; in the namespace ``Tensor`` it always is.
        attribute: Whether it is an attribute of tensors (``x.T``).
        inplace: Whether a form with a trailing underscore exists.
        operators: Names such as ``"add"`` for ``__add__``, ``__radd__`` and ``__iadd__``.
        promote: Type promotion: ``"arithmetic"``, ``"difference"`` (the same, but no bools),
            ``"alike"`` (0-d tensors count as much as others),
            ``"float"`` (integers become the default dtype), ``"quotient"`` (they do unless a
            ``rounding_mode`` is given), ``"power"`` (an exponent must fit the dtype),
            ``"limits"`` (every number must) or None.
        elementwise: Whether each element of the result depends only on the elements of the tensors
            at its position. None: ``promote`` decides; see ``is_elementwise``.
        backend_function: The backend's function that equals the kernel at its defaults, or None.
            For two operands it is called with arrays of floats, else with the one array: it
            returns a 0-d array for a reduction, and writes to the array where the operation exists
            for its in-place form. For a creation function it takes the sizes and the dtype.
        out: The dtypes that ``out=`` may have. None: as ``Out.CAST``, and a composite takes no
            ``out=`` but that of its function.
        overlap: The memory that arguments may share with what is written. None: the kind of
            operation decides.
        view: Whether the result may share its input's memory.
        reduced: Its handling of the dtypes of reduced precision (see ``reduced_precision``). None:
            kernels of views take arrays of these, others get them as float32.
        returns: A named tuple for several results.
        forms: Signatures for type checkers, where the result depends on the arguments.
        strict: Whether a number raises an error where torch accepts tensors only.
        former_order: The factors that PyTorch still accepts in their former position, among the
            tensors.
        node: Names of its nodes, and when they are freed. The decorators accept a single name, too.
        public: Whether users see it. The default is whether its name has no leading underscore.
        registered: What is registered with it after its definition.
    """

    name: str
    kernel: Any
    body: Any
    function: Any
    namespaces: tuple[str, ...] = ("",)
    aliases: tuple[str, ...] = ()
    method: bool = False
    attribute: bool = False
    inplace: bool = False
    operators: tuple[str, ...] = ()
    promote: str | None = None
    elementwise: bool | None = None
    backend_function: str | None = None
    out: Out | None = None
    overlap: Overlap | None = None
    view: bool = False
    reduced: Reduced | None = None
    returns: Any = None
    forms: tuple[str, ...] = ()
    strict: bool = False
    former_order: tuple[str, ...] = ()
    node: Nodes = Nodes()
    public: bool = True
    registered: Registered = field(default_factory=Registered)

    def __repr__(self) -> str:
        return f"<Op {self.qualname}>"

    @property
    def qualname(self) -> str:
        """The name with its first namespace, as in ``linalg.norm``."""
        space = self.namespaces[0]
        return f"{space}.{self.name}" if space else self.name

    @property
    def annotations(self) -> dict[str, Any]:
        """Annotations of the kernel or of the composite's function."""
        source = self.body if self.kernel is None else self.kernel
        return source.__annotations__  # type: ignore[no-any-return]

    @property
    def torch_node_name(self) -> str:
        """torch's name of its nodes: ``LogSoftmaxBackward0`` for ``log_softmax``."""
        space = self.namespaces[0]
        prefix = space.title() if space in ("linalg", "special") else ""
        return prefix + "".join(part.title() for part in self.name.split("_")) + "Backward0"

    @property
    def is_elementwise(self) -> bool:
        """Whether each element of the result depends only on the elements at its position."""
        if self.elementwise is not None:
            return self.elementwise
        return self.promote in _BY_ELEMENT or self.promote == "arithmetic" and self.inplace

    @property
    def is_member(self) -> bool:
        """Whether it is a method or an attribute of tensors."""
        return self.method or self.attribute or self.namespaces[0] == "Tensor"

    @property
    def wraps_out(self) -> bool:
        """Whether a composite accepts ``out=`` though its function has no such parameter."""
        return self.kernel is None and self.out is not None and "out" not in self.plan.index

    @property
    def is_numpy_function(self) -> bool:
        """Whether it is in NumPy's namespace, where any value with a truth value is a flag."""
        return self.namespaces[0].partition(".")[0] == "numpy"

    def has_fast_path(self, form: Form) -> bool:
        """Whether a form has a fast path: for tensors of exact classes and one dtype."""
        plan = self.plan
        if form is Form.CREATION:
            return True
        if form.writes and (plan.sequence is not None or self.out is Out.EXACT_FOR_REALS):
            return False
        if plan.sequence is not None:
            return plan.tensors == (plan.sequence,) == (0,) and not self.view
        return plan.lead is not None and (
            not self.view or plan.tensors == (0,) and not self.promote
        )

    @property
    def accepts_reduced(self) -> bool:
        """Whether its kernel accepts arrays of reduced precision."""
        return self.view or self.reduced is Reduced.NATIVE

    @cached_property
    def computes_in_float32(self) -> bool:
        """Whether a composite is one operation of PyTorch's, which computes in float32.

        Its result in reduced precision is then rounded once. A composite that writes to an argument
        is not computed so, since it would write to a copy.
        """
        one = self.node.name is not None or self.namespaces[0] == "nn.functional"
        written = {"inplace", "running_mean", "max_norm", "out"} & self.plan.index.keys()
        native = self.kernel is not None or self.reduced is Reduced.NATIVE
        return one and not (native or written or self.name.endswith("_"))

    @cached_property
    def plan(self) -> Plan:
        """Plan of its calls, derived from the parameters and their annotations."""
        return Plan(self)

    @cached_property
    def backward(self) -> Backward:
        """Gradient rules and names of the nodes of its calls."""
        return Backward(self)

    def module_and_qualname(self, name: str) -> tuple[str, str]:
        """Return the ``__module__`` and ``__qualname__`` of a function of it, for pickles."""
        space = self.namespaces[0]
        if space == "Tensor":
            return "tinytorch", f"Tensor.{name}"
        return f"tinytorch.{space}" if space else "tinytorch", name

    def set_rules(self, rules: dict[Any, Callable[..., Any]]) -> None:
        """Register gradient rules by parameter name; by a tuple of names, one for several.

        Raises:
            RuntimeError: After the first call, whose function was generated from the rules.
        """
        if self.registered.is_generated:
            raise RuntimeError(f"{self.name}.vjp: expected gradient rules before the first call")
        self.registered.rules.update(rules)
        for op in (self, *self.registered.aliases):
            vars(op).pop("backward", None)

    def run(self, xp: Any, values: tuple[Any, ...], out: Any = None, is_whole: bool = True) -> Any:
        """Run the kernel on a full tuple of raw values, in the order of its parameters.

        Args:
            xp: The backend.
            values: One value for each parameter.
            out: Array to write the result to, for kernels that support it (``plan.takes_out``).
            is_whole: Whether a backend that records may record the kernel as one call.
        """
        if xp.recorded is not None and is_whole:
            return xp.run_kernel(self, values, out)
        plan = self.plan
        at = plan.positional
        if at == len(values) and out is None:
            return self.kernel(xp, *values)
        named = {}
        for i, name in plan.keywords:
            if values[i] is not plan.defaults[i]:
                named[name] = values[i]
        if out is not None:
            named["out"] = out
        return self.kernel(xp, *values[:at], **named)
