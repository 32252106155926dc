"""What follows from an operation's parameters: which are tensors, what they may be, what is looked
at before a kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .spec import Op

REQUIRED: Any = Parameter.empty

_SCALARS: dict[str, type] = {"bool": bool, "float": float}
#: Flags that PyTorch's Python code only tests, so that 1 and 0 do as well.
_TESTED = frozenset(
    ("return_indices", "antialias", "recompute_scale_factor", "full", "center", "sym")
)
#: The byte code of a kernel that is no more than a function of the backend.
_A_CALL = (lambda xp, input: xp.any_name(input)).__code__.co_code
_TENSORS = ("Array", "Operand", "Index", "Mask", "Tensor")
_SEQUENCES = ("Sequence[Array]", "Sequence[Tensor]")


class Plan:
    """What a call of an operation needs to know, computed once.

    Attributes:
        params: Names of the parameters, without ``xp``.
        index: Their positions.
        defaults: Their defaults, ``REQUIRED`` where there is none.
        positional: How many of them may be given by position.
        keywords: The others, each with its position.
        required: How many arguments there must be.
        takes_out: Whether the kernel can write its result to an ``out`` that it is given.
        calls: The backend's function that the kernel hands its one array to and is no more than,
            or None.
        tensors: Positions of the tensor parameters (``sequence`` is one of them, if any).
        others: Positions of the other parameters.
        operands: Positions of those that are promoted to a common dtype.
        numbers: Positions of those that may stay Python numbers.
        optional: Positions of the tensor parameters that may be None.
        is_binary: Whether there are two operands, and the other parameters may be left out.
        lead: Position of the tensor that must be given and has the backend, or of the sequence;
            None if each may be left out.
        sizes: The position of sizes, which may be given one by one, or None.
        more_sizes: The position of an ``int | Shape``, which takes arguments that are too many
            together with those after it, or None.
        returns_input: Whether the call returns its first argument where the kernel does.
        picks: Whether indices say which elements are meant.
        flag: Position of a last parameter ``inplace``, which asks for the in-place form.
        scalars: By position, of the other flags and floats which they are, and whether None is
            taken.
        looked_at: Those that can be given by position, with what they are.
        unchecked: How many arguments by position need no look before a kernel runs.
    """

    def __init__(self, op: Op) -> None:
        function, skip = (op.body, 0) if op.kernel is None else (op.kernel, 1)
        code = function.__code__
        names = code.co_varnames[skip : code.co_argcount + code.co_kwonlyargcount]
        # out= is where the result goes, not what it is: it is passed on its own.
        self.takes_out = skip > 0 and names[-1:] == ("out",)
        self.params: tuple[str, ...] = names[:-1] if self.takes_out else names
        self.calls: str | None = code.co_names[0] if skip and code.co_code == _A_CALL else None
        self.positional: Any = code.co_argcount - skip
        self.keywords = [(i, n) for i, n in enumerate(self.params) if i >= self.positional]
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
        self.looked_at: tuple[tuple[int, type], ...] = tuple(
            (i, k) for i, (k, _) in self.scalars.items() if i < self.positional
        )
        self.unchecked: int | Any = min((i for i, _ in self.looked_at), default=self.positional)

    def _read_tensors(self, annotations: list[str]) -> None:
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
        found = {}
        for i, (name, annotation) in enumerate(zip(self.params, annotations, strict=True)):
            kind = _SCALARS.get(annotation.removesuffix(" | None"))
            if kind is not None and name != "inplace" and name not in _TESTED:
                # PyTorch takes None for requires_grad=False, too.
                found[i] = kind, annotation.endswith(" | None") or name == "requires_grad"
        return found

    def measure(self, lead: int) -> int | None:
        """The operand whose dtype the others must have, where ``lead`` is the first tensor."""
        return lead if lead in self.operands else min(self.operands, default=None)


def is_tensor(function: Callable[..., Any], name: str) -> bool:
    """Whether a parameter is annotated as a tensor, or as a list of them."""
    base = str(function.__annotations__.get(name, "")).removesuffix(" | None")
    return base in _TENSORS or base in _SEQUENCES


def _defaults(
    function: Callable[..., Any], names: tuple[str, ...], positional: int
) -> tuple[Any, ...]:
    given = function.__defaults__ or ()
    keyword = function.__kwdefaults__ or {}
    head = (REQUIRED,) * (positional - len(given)) + tuple(given)
    return head[:positional] + tuple(keyword.get(n, REQUIRED) for n in names[positional:])
