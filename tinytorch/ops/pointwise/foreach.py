"""Operations on lists of tensors: ``_foreach_name`` applies the operation ``name`` to each.

PyTorch's optimizers, and those of other libraries, use them, because PyTorch runs one kernel for
a whole list. Here such a function calls the operation once for each tensor. Formula, promotion,
gradient and in-place form are those of the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import Any, TypeAlias

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.generated_functions import make_inplace_function
from ...dispatch.op import composite
from ..create.conversion import clone
from ..index.filling import copy_, zero_
from ..linalg.matmul import mm
from ..linalg.norm import vector_norm
from ..nn.activation import sigmoid
from ..reduce.extrema import max
from ..reduce.reduction import sum
from ..special.error_functions import erf, erfc
from ..special.gamma_functions import lgamma
from .addcmul_lerp import addcdiv, addcmul, lerp
from .arithmetic import abs, add, mul, neg, reciprocal, sub
from .division import div
from .exponential import exp, expm1, log, log1p, log2, log10, pow, rsqrt, sqrt
from .rounding import ceil, floor, frac, round, sign, trunc
from .selection import clamp_max, clamp_min, maximum, minimum
from .trigonometric import acos, asin, atan, cos, cosh, sin, sinh, tan, tanh

#: A list of tensors.
Tensors: TypeAlias = Sequence[Tensor]
#: A list with one operand for each tensor, or one operand for all tensors.
Operands: TypeAlias = Sequence[Tensor] | Sequence[complex] | Tensor | complex
#: Factory of an operation on lists, from its name and the operation on one tensor.
Kind: TypeAlias = Callable[[str, Callable[..., Any]], Callable[..., Any]]

# -- arguments -------------------------------------------------------------------------------------


def _check_lists(name: str, *lists: Any) -> None:
    """Raise unless the arguments are lists of tensors of one length."""
    for place, tensors in enumerate(lists):
        if not isinstance(tensors, (list, tuple)):
            raise TypeError(
                f"{name}(): argument {place + 1} must be tuple of Tensors, not "
                f"{type(tensors).__name__}"
            )
        _check_elements(name, place, tensors, Tensor)
        if not tensors and place == 0:
            raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
        if len(tensors) != len(lists[0]):
            raise RuntimeError(
                f"{name}: Tensor lists must have the same number of tensors, got {len(lists[0])} "
                f"and {len(tensors)}"
            )


def _check_elements(name: str, place: int, items: Sequence[Any], kind: type) -> None:
    """Raise TypeError unless all items of the list at position ``place`` are of type ``kind``."""
    for at, item in enumerate(items):
        if not isinstance(item, kind):
            raise TypeError(
                f"{name}(): expected {kind.__name__} as element {at} in argument {place}, but got "
                f"{type(item).__name__}"
            )


def _operands_per_tensor(name: str, tensors: Any, operands: Any, place: int = 1) -> Iterable[Any]:
    """One operand for each tensor, from a list or from a single operand."""
    _check_lists(name, tensors)
    if not isinstance(operands, (list, tuple)):
        _check_operand(name, operands)
        return [operands] * len(tensors)
    if operands and isinstance(operands[0], Tensor):
        _check_lists(name, tensors, operands)
        return operands
    _check_elements(name, place, operands, Number)
    if len(operands) != len(tensors):
        raise RuntimeError(
            f"{name}: Tensor list must have same number of elements as scalar list, got "
            f"{len(tensors)} and {len(operands)}"
        )
    return operands


def _check_operand(name: str, operand: Any) -> None:
    """Raise unless an operand for all tensors is a number or a tensor without dimensions."""
    if isinstance(operand, Tensor):
        if operand.ndim:
            raise RuntimeError(
                f"{name}: scalar tensor expected to be 0 dim but it has {operand.ndim} dimensions "
                f"and {operand.numel()} elements."
            )
    elif not isinstance(operand, Number):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: expected Tensors or numbers, "
            f"in a list or one for all, got {type(operand).__name__}"
        )


def _unpack_scalars(name: str, tensors: Any, scalars: Any) -> Any:
    """Numbers of a 1-d tensor, which some operations accept instead of a list."""
    if not isinstance(scalars, Tensor):
        return scalars
    if scalars.device.type != "cpu":
        raise RuntimeError(f"{name}: Expected scalars to be on CPU, got {scalars.device} instead.")
    if scalars.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected packed scalar Tensor to be of dimension 1. Got {scalars.ndim} "
            "instead."
        )
    if len(scalars) != len(tensors):
        raise RuntimeError(
            f"{name}: Expected length of scalars to match input of length {len(tensors)} but got "
            f"{len(scalars)} instead."
        )
    return scalars.tolist()


def _select_argument(name: str, **given: Any) -> Any:
    """The only argument that is not None, among names from several of PyTorch's signatures."""
    values = [value for value in given.values() if value is not None]
    if len(values) != 1:
        raise TypeError(
            f"{name}() received an invalid combination of arguments: expected one of "
            f"{', '.join(given)}, got {len(values)}"
        )
    return values[0]


def _collect_results(name: str, tensors: Any, results: Iterable[Tensor]) -> Any:
    """Return the results as a tuple, or for an in-place form the tensors themselves."""
    made = tuple(results)
    return tensors if name.endswith("_") else made


# -- kinds of operations ---------------------------------------------------------------------------


def _unary(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """Define the function ``name`` that applies ``on_one`` to each tensor of a list."""

    def each(self: Tensors) -> tuple[Tensor, ...]:
        _check_lists(name, self)
        return _collect_results(name, self, map(on_one, self))  # type: ignore[no-any-return]

    return each


def _scaled_binary(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """``_binary`` for operations with a factor ``alpha`` of the second operand."""

    def each(
        self: Tensors,
        other: Operands | None = None,
        *,
        scalar: complex | None = None,
        scalars: Sequence[complex] | None = None,
        alpha: complex = 1,
    ) -> tuple[Tensor, ...]:
        given = _operands_per_tensor(
            name, self, _select_argument(name, other=other, scalar=scalar, scalars=scalars)
        )
        pairs = zip(self, given, strict=True)
        results = (on_one(x, y, alpha=alpha) for x, y in pairs)
        return _collect_results(name, self, results)  # type: ignore[no-any-return]

    return each


def _binary(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """Define the function ``name`` that applies ``on_one`` to each tensor and its operand."""

    def each(
        self: Tensors,
        other: Operands | None = None,
        *,
        scalar: complex | None = None,
        scalars: Sequence[complex] | None = None,
    ) -> tuple[Tensor, ...]:
        given = _operands_per_tensor(
            name, self, _select_argument(name, other=other, scalar=scalar, scalars=scalars)
        )
        results = map(on_one, self, given)
        return _collect_results(name, self, results)  # type: ignore[no-any-return]

    return each


def _extremum(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """Like ``_binary``, for operations whose second operand must be a tensor."""

    def on_pair(x: Tensor, y: Any) -> Any:
        return on_one(x, y if isinstance(y, Tensor) else add(x.new_zeros(()), y))

    return _binary(name, on_pair)


def _power(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """``_binary`` for powers, whose base may be one number for a list of exponents."""

    def each(self: Operands, exponent: Operands) -> tuple[Tensor, ...]:
        is_base = isinstance(self, Number) and not name.endswith("_")
        if is_base:  # a number to the power of each tensor
            _check_lists(name, exponent)
            return tuple(on_one(self, y) for y in exponent)  # type: ignore[union-attr]
        results = map(on_one, self, _operands_per_tensor(name, self, exponent))  # type: ignore[arg-type]
        return _collect_results(name, self, results)  # type: ignore[no-any-return]

    return each


def _interpolation(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """Define the function ``name`` that applies ``lerp`` to each pair of end points."""

    def each(
        self: Tensors,
        tensors1: Tensors,
        weight: Operands | None = None,
        *,
        weights: Tensors | None = None,
    ) -> tuple[Tensor, ...]:
        _check_lists(name, self, tensors1)
        given = _operands_per_tensor(
            name, self, _select_argument(name, weight=weight, weights=weights), 2
        )
        results = map(on_one, self, tensors1, given)
        return _collect_results(name, self, results)  # type: ignore[no-any-return]

    return each


def _product_sum(name: str, on_one: Callable[..., Any]) -> Callable[..., Any]:
    """Define the function ``name`` that applies ``addcmul`` or ``addcdiv`` to each triple."""

    def each(
        self: Tensors,
        tensor1: Tensors,
        tensor2: Tensors,
        value: complex | Sequence[complex] | Tensor = 1,
        *,
        scalars: Sequence[complex] | Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        _check_lists(name, self, tensor1, tensor2)
        factors = _unpack_scalars(name, self, value if scalars is None else scalars)
        rows = zip(
            self, tensor1, tensor2, _operands_per_tensor(name, self, factors, 3), strict=True
        )
        results = (on_one(x, y, z, value=factor) for x, y, z, factor in rows)
        return _collect_results(name, self, results)  # type: ignore[no-any-return]

    return each


# -- the operations --------------------------------------------------------------------------------

_EITHER = "for each tensor, in a list, or one for all"
_ARGUMENTS = {
    "self": "List of tensors.",
    "other": f"Tensors or numbers {_EITHER}.",
    "scalar": "One number for all tensors, in place of ``other``.",
    "scalars": "List of a number for each tensor, in place of the argument before it.",
    "alpha": "Factor of ``other``. Default 1.",
    "exponent": f"Tensors or numbers {_EITHER}; a list if ``self`` is a number.",
    "tensors1": "List of as many tensors, which are the end points.",
    "weight": f"Weights {_EITHER}, as tensors or numbers.",
    "weights": "List of tensors, in place of ``weight``.",
    "tensor1": "List of as many tensors.",
    "tensor2": "List of as many tensors.",
    "value": f"Factors {_EITHER}. Default 1.",
}

_DOC = """``{operation}`` of each tensor of a list{others}.

    Args:
        {arguments}

    Returns:
        {returns}

    Raises:
        RuntimeError: If the list is empty, or another list has another length.

    Example:
        >>> x = [tt.ones(2), tt.ones(3)]
        >>> {example}
        {shown}
    """


def _define(kind: Kind, name: str, on_one: Callable[..., Any], *, others: int = 0) -> None:
    """Define and register ``_foreach_name``.

    Args:
        kind: The function above that makes functions of this signature.
        name: Name of the operation on one tensor, with an underscore for the in-place form.
        on_one: The operation on one tensor.
        others: Number of operands after the first list, for the example.
    """
    full = f"_foreach_{name}"
    inplace = name.endswith("_")
    each = kind(full, on_one)
    each.__name__ = each.__qualname__ = full
    call = f"tt.{full}({', '.join(['x'] * (others + 1))})"
    code = each.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    each.__doc__ = _DOC.format(
        arguments="\n        ".join(f"{name}: {_ARGUMENTS[name]}" for name in names),
        operation=name,
        others=" with its operands, a list or one for all" if others else "",
        returns="The list." if inplace else "A tuple of the results.",
        example=f"{call} is x" if inplace else f"len({call})",
        shown=inplace or 2,
    )
    if inplace:
        each.__annotations__["return"] = "Tensors"
    composite(each, public=True)


#: The operations that have a form for lists in PyTorch, by the kind of their other operands.
_KINDS: dict[Kind, tuple[Any, ...]] = {
    _unary: (
        abs, acos, asin, atan, ceil, cos, cosh, erf, erfc, exp, expm1, floor, frac, lgamma, log,
        log10, log1p, log2, neg, reciprocal, round, rsqrt, sigmoid, sign, sin, sinh, sqrt, tan,
        tanh, trunc,
    ),
    _scaled_binary: (add, sub),
    _binary: (clamp_max, clamp_min, div, mul),
    _extremum: (maximum, minimum),
    _power: (pow,),
    _interpolation: (lerp,),
    _product_sum: (addcdiv, addcmul),
}  # fmt: skip
for _kind, _operations in _KINDS.items():
    for _operation in _operations:
        _others = len(_operation.op.plan.tensors) - 1
        _define(_kind, _operation.__name__, _operation, others=_others)
        _inplace = make_inplace_function(_operation.op)
        _define(_kind, f"{_operation.__name__}_", _inplace, others=_others)
_define(_unary, "zero_", zero_)


@composite(public=True)
def _foreach_clone(self: Tensors, *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """``clone`` of each tensor of a list.

    Args:
        self: List of tensors.

    Example:
        >>> tt._foreach_clone([tt.ones(2)])
        (tensor([1., 1.]),)
    """
    _check_lists("_foreach_clone", self)
    return tuple(clone(x, memory_format=memory_format) for x in self)


@composite(public=True)
def _foreach_copy_(self: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
    """Call ``copy_`` for each tensor of a list, from the tensor of another list.

    Args:
        self: List of tensors.
        src: List of as many tensors, whose shapes broadcast to those of ``self``.
        non_blocking: As for ``copy_``. Default False.

    Example:
        >>> tt._foreach_copy_([tt.zeros(2)], [tt.ones(2)])
        [tensor([1., 1.])]
    """
    _check_lists("_foreach_copy_", self, src)
    for tensor, source in zip(self, src, strict=True):
        copy_(tensor, source, non_blocking)
    return self


@composite(public=True)
def _foreach_norm(
    self: Tensors, ord: float = 2, dtype: dtypes.dtype | None = None
) -> tuple[Tensor, ...]:
    """``linalg.vector_norm`` of each tensor of a list, over all its elements.

    Args:
        self: List of tensors.
        ord: The p of the norm. Default 2.
        dtype: Dtype of the computation. Default None: that of the tensor.

    Example:
        >>> tt._foreach_norm([tt.tensor([3.0, 4.0]), tt.ones(2, 2)])
        (tensor(5.), tensor(2.))
    """
    _check_lists("_foreach_norm", self)
    return tuple(vector_norm(x, ord, dtype=dtype) for x in self)


@composite(public=True)
def _foreach_powsum(
    self: Tensors, ord: float = 2, dtype: dtypes.dtype | None = None
) -> tuple[Tensor, ...]:
    """The sum of ``abs(x) ** ord`` of each tensor of a list: the norm to the power of ``ord``.

    Args:
        self: List of tensors.
        ord: The exponent. Default 2.
        dtype: Dtype of the sums. Default None: that of the tensor.

    Example:
        >>> tt._foreach_powsum([tt.tensor([3.0, -4.0])])
        (tensor(25.),)
    """
    _check_lists("_foreach_powsum", self)
    return tuple(sum(pow(abs(x), ord), dtype=dtype) for x in self)


@composite(public=True)
def _foreach_max(self: Tensors) -> tuple[Tensor, ...]:
    """The largest element of each tensor of a list.

    Args:
        self: List of tensors.

    Raises:
        RuntimeError: If a tensor is empty.

    Example:
        >>> tt._foreach_max([tt.tensor([3.0, 4.0]), tt.zeros(2)])
        (tensor(4.), tensor(0.))
    """
    _check_lists("_foreach_max", self)
    if not all(x.numel() for x in self):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is "
            "undefined."
        )
    return tuple(max(x) for x in self)


@composite(public=True)
def _foreach_mm(self: Tensors, mat2: Tensors) -> tuple[Tensor, ...]:
    """``mm`` of each matrix of a list and the matrix of another list.

    Args:
        self: List of matrices.
        mat2: List of as many matrices, ``(m, n)`` for ``(k, m)``.

    Example:
        >>> tt._foreach_mm([tt.eye(2)], [tt.ones(2, 1)])
        (tensor([[1.],
                [1.]]),)
    """
    _check_lists("_foreach_mm", self, mat2)
    return tuple(map(mm, self, mat2))
