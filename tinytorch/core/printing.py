"""``repr`` of tensors in PyTorch's layout, in pure Python.

Only the elements that are shown are copied from the device: a large tensor is cut to its corners
first and converted to Python numbers afterwards.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from operator import index
from typing import Any, TypeAlias

from .. import dtypes
from ..state import Variable, bind, default_dtype
from .layout import sparse_coo, sparse_csc, sparse_csr
from ..state.bindings import contextmanager

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

#: A number, or lists of numbers with a level of nesting for each dimension of the tensor.
Nested: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class _Options:
    """Options of ``set_printoptions``, which describes each of them."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: float = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}

# A scope belongs to its task or thread, as every scope of tinytorch. Options that are set outside
# of a scope hold for the process, as in PyTorch.
_scope: Variable[_Options | None] = Variable("printoptions", None)
_process: list[_Options] = [_PROFILES["default"]]


def _current_options() -> _Options:
    """Return the options of the enclosing ``printoptions`` block, else those of the process."""
    return _scope.get() or _process[0]


def get_printoptions() -> dict[str, Any]:
    """Return the present options of ``repr`` of tensors.

    Returns:
        A dict with ``precision``, ``threshold``, ``edgeitems``, ``linewidth`` and
        ``sci_mode``; changing the dict does not change the options.

    Example:
        >>> tt.get_printoptions()["precision"]
        4
    """
    return asdict(_current_options())


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: float | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
    *,
    suppress: bool | None = None,
    formatter: object = None,
) -> None:
    """Set how tensors are printed. Options that are not passed stay, except ``sci_mode``.

    Inside a ``printoptions`` block the options are restored when the block exits.

    Args:
        precision: Digits after the decimal point, default 4.
        threshold: A tensor with more elements than this is summarized, default 1000.
        edgeitems: Elements shown at each end of a summarized dimension, default 3.
        linewidth: Characters per line, default 80.
        profile: ``"default"``, ``"short"`` (2 digits, 2 edge items) or ``"full"`` (never
            summarize); the other arguments override it.
        sci_mode: Scientific notation always (True), never (False), or depending on the values
            (None, the default).
        suppress: NumPy's name for ``sci_mode=False``.
        formatter: Accepted for compatibility with NumPy and not used.

    Raises:
        TypeError: If an option is not a number.
        ValueError: If a number is negative, or the profile is unknown.

    Example:
        >>> tt.set_printoptions(precision=2)
        >>> tt.tensor([1 / 3])
        tensor([0.33])
        >>> tt.set_printoptions(profile="default")
    """
    options = _current_options() if profile is None else _profile(profile)
    given = {
        "precision": _count("precision", precision),
        "threshold": _limit("threshold", threshold),
        "edgeitems": _count("edgeitems", edgeitems),
        "linewidth": _limit("linewidth", linewidth),
    }
    changes: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
    options = replace(options, sci_mode=False if suppress else sci_mode, **changes)
    if _scope.get() is None:
        _process[0] = options
    else:
        _scope.set(options)


@contextmanager
def printoptions(**options: Any) -> Iterator[dict[str, Any]]:
    """Print tensors with other options inside a ``with`` block.

    Args:
        **options: The arguments of ``set_printoptions``.

    Yields:
        The options in force inside the block.

    Raises:
        TypeError: If an option is not a number, or does not exist.
        ValueError: If a number is negative, or the profile is unknown.

    Example:
        >>> with tt.printoptions(precision=1):
        ...     print(tt.tensor([1 / 3]))
        tensor([0.3])
    """
    with bind(_scope, _current_options()):
        set_printoptions(**options)
        yield get_printoptions()


def _profile(name: str) -> _Options:
    """Return the options of a profile; ValueError for an unknown one."""
    if name not in _PROFILES:
        known = ", ".join(map(repr, _PROFILES))
        raise ValueError(f"set_printoptions: expected profile to be one of {known}; got {name!r}")
    return _PROFILES[name]


def _count(name: str, value: int | None) -> int | None:
    """Check that the option ``name`` is None or an int that is not negative, and return it."""
    if value is None:
        return None
    try:
        count = index(value)
    except TypeError:
        raise TypeError(
            f"set_printoptions: expected {name} to be an int, got {type(value).__name__}"
        ) from None
    if count < 0:
        raise ValueError(f"set_printoptions: expected {name} to be at least 0, got {value}")
    return count


def _limit(name: str, value: float | None) -> float | None:
    """Check an option as ``_count`` does, and allow infinity, too."""
    return math.inf if value == math.inf else _count(name, value)  # type: ignore[arg-type]


# -- numbers ------------------------------------------------------------------------------

#: Limits of PyTorch's fixed-point notation: largest value, its ratio to the smallest, smallest.
_LARGEST, _RATIO, _SMALLEST = 1e8, 1000.0, 1e-4


@dataclass(frozen=True, slots=True)
class _Format:
    """Notation for every number of a tensor, and the width to which numbers are padded."""

    text: Callable[[Any], str]
    width: int

    def __call__(self, value: Any) -> str:
        return self.text(value).rjust(self.width)


def _float_format(values: Sequence[float], options: _Options) -> _Format:
    """Choose fixed-point or scientific notation for ``values``, and the width.

    Zeros, infinities and NaNs have no influence on the choice.
    """
    relevant = [value for value in values if value and math.isfinite(value)]
    if not relevant:
        return _Format(_whole_text, 1)
    sizes = [abs(value) for value in relevant]
    whole = all(value.is_integer() for value in relevant)
    scientific = options.sci_mode
    if scientific is None:
        scientific = _wants_exponent(min(sizes), max(sizes), whole)
    text: Callable[[float], str] = f"{{:.{options.precision}{'e' if scientific else 'f'}}}".format
    if whole and not scientific:
        text = _whole_text
    return _Format(text, max(len(text(value)) for value in relevant))


def _wants_exponent(smallest: float, largest: float, whole: bool) -> bool:
    """Whether PyTorch prints numbers in scientific notation.

    Args:
        smallest: The smallest absolute value.
        largest: The largest absolute value.
        whole: Whether all numbers are integers.
    """
    if largest > _LARGEST or largest / smallest > _RATIO:
        return True
    return not whole and smallest < _SMALLEST


def _whole_text(value: float) -> str:
    """Return the text of a number without decimals: ``"3."``, ``"inf"``, ``"nan"``."""
    return f"{value:.0f}." if math.isfinite(value) else str(value)


def _complex_format(values: Sequence[complex], options: _Options) -> _Format:
    """Choose the notations of the real and of the imaginary parts, each by itself."""
    real = _float_format([value.real for value in values], options)
    imag = _float_format([value.imag for value in values], options)

    def text(value: complex) -> str:
        imaginary = imag(value.imag).lstrip()
        sign = "" if imaginary.startswith("-") else "+"
        return f"{real(value.real)}{sign}{imaginary}j"

    # Lines are measured by both widths and the sign, though the text is not padded to that.
    return _Format(text, real.width + imag.width + 1)


def _number_format(values: Sequence[Any], dtype: dtypes.dtype, options: _Options) -> _Format:
    """Choose the notation for the elements of a tensor of ``dtype`` that are shown."""
    if dtype.is_complex:
        return _complex_format(values, options)
    if dtype.is_floating_point:
        return _float_format(values, options)
    return _Format(str, max(len(str(value)) for value in values))


# -- layout -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layout:
    """Brackets, commas and line breaks around formatted numbers.

    Attributes:
        write: Returns the text of a number.
        element_width: Width that PyTorch counts for each number when it breaks lines.
        linewidth: Characters per line.
        edge: Number of items shown at each end of a long dimension; None for all.
    """

    write: Callable[[Any], str]
    element_width: int
    linewidth: float
    edge: int | None

    def block(self, values: Nested, shape: Sequence[int], indent: int) -> str:
        """Return the text of a tensor.

        Args:
            values: The elements that are shown.
            shape: The shape of the whole tensor.
            indent: Number of characters before the text, and thus before its further lines.
        """
        if not shape:
            return self.write(values)
        if len(shape) == 1:
            return self._vector(values, shape[0], indent)
        rows = [self.block(row, shape[1:], indent + 1) for row in values]
        # A blank line for every dimension between these rows and the numbers.
        separator = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
        return "[" + separator.join(self._abridge(rows, shape[0], "...")) + "]"

    def _vector(self, values: Sequence[Any], size: int, indent: int) -> str:
        """Return the text of one dimension of ``size`` elements, of which ``values`` are shown."""
        items = self._abridge([self.write(value) for value in values], size, " ...")
        per_line = _items_per_line(self.linewidth - indent, self.element_width + 2, len(items))
        lines = [
            ", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)
        ]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"

    def _abridge(self, items: list[str], size: int, dots: str) -> list[str]:
        """Insert ``dots`` in the middle of the items shown of a dimension longer than these."""
        if self.edge is None or size <= 2 * self.edge:
            return items
        return [*items[: self.edge], dots, *items[self.edge :]]


def _items_per_line(room: float, width: int, most: int) -> int:
    """Number of items of a width that fit on a line of ``room`` characters; at most ``most``."""
    return most if room == math.inf else max(1, int(room // width))


def _corners(t: Any, edge: int, dim: int = 0) -> Nested:
    """``t.tolist()`` without the inner part of every dimension longer than ``2 * edge``.

    It takes two slices per long dimension, so that only the elements shown cost time.
    """
    if dim == len(t.shape):
        return t.tolist()
    size = t.shape[dim]
    if size <= 2 * edge:
        return _corners(t, edge, dim + 1)
    front = (slice(None),) * dim
    head = _corners(t[(*front, slice(edge))], edge, dim + 1)
    tail = _corners(t[(*front, slice(size - edge, None))], edge, dim + 1)
    return _join(head, tail, dim)


def _join(head: list[Any], tail: list[Any], dim: int) -> list[Any]:
    """Concatenate two nested lists along a dimension."""
    if dim == 0:
        return head + tail
    return [_join(a, b, dim - 1) for a, b in zip(head, tail, strict=True)]


def _flat(values: Nested, depth: int) -> list[Any]:
    """Return the numbers in lists that are nested ``depth`` levels deep; 0 for a number itself."""
    if depth == 0:
        return [values]
    for _ in range(depth - 1):
        values = [value for row in values for value in row]
    return list(values)


# -- tensors ------------------------------------------------------------------------------

#: Classes whose name PyTorch does not print.
_PLAIN = frozenset({"Tensor", "Parameter", "Buffer"})


def tensor_repr(t: Any, *, tensor_contents: str | None = None) -> str:
    """Return the text of ``repr(t)``: PyTorch's, with ``tinytorch.`` before the names of dtypes.

    Args:
        t: A tensor of any shape, dtype and device.
        tensor_contents: Text in the place of the elements, if given.

    Returns:
        ``tensor(...)``; for a subclass of Tensor, with its name in the place of ``tensor``.

    Example:
        >>> tt.tensor([[1.5, 2], [3, 4]])
        tensor([[1.5000, 2.0000],
                [3.0000, 4.0000]])
    """
    options = _current_options()
    name = type(t).__name__
    prefix = ("tensor" if name in _PLAIN else name) + "("
    text = tensor_contents
    if text is None:
        text = _contents(t.detach(), len(prefix), options)
    whole = _append_suffixes(prefix + text, _suffixes(t, options), len(prefix), options.linewidth)
    return f"Parameter({whole})" if "_is_param" in vars(t) else whole


def sparse_repr(t: Any) -> str:
    """Return the text of ``repr(t)`` of a sparse tensor: PyTorch's, as ``tensor_repr``."""
    options, indent = _current_options(), len("tensor(")
    parts = dict(zip(_INDEX_NAMES[t.layout], t._pattern.index, strict=True), values=t._elements)
    texts = []
    for name, part in parts.items():
        head = f"{name}=tensor("
        text = _contents(part.detach(), indent + len(head), options)
        size = f", size={tuple(part.shape)}" if not part.numel() else ""
        texts.append(f"{head}{text}{size})")
    whole = _append_suffixes(
        "tensor(" + (",\n" + " " * indent).join(texts), _sparse_suffixes(t), indent,
        options.linewidth, t.is_sparse,
    )  # fmt: skip
    return f"Parameter containing:\n{whole}" if "_is_param" in vars(t) else whole


#: Names of the indices of sparse tensors, by layout.
_INDEX_NAMES = {
    sparse_coo: ("indices",),
    sparse_csr: ("crow_indices", "col_indices"),
    sparse_csc: ("ccol_indices", "row_indices"),
}


def _sparse_suffixes(t: Any) -> list[str]:
    """Return the texts after the elements of a sparse tensor."""
    suffixes = [f"device='{t.device}'"] if t.device.type != "cpu" else []
    suffixes += [f"size={tuple(t.shape)}", f"nnz={t._nnz()}"]
    if not _is_evident(t.dtype, False):
        suffixes.append(f"dtype={t.dtype}")
    suffixes.append(f"layout={t.layout}")
    if t.grad_fn is not None:
        suffixes.append(f"grad_fn=<{t.grad_fn.name()}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    return suffixes


def _contents(t: Any, indent: int, options: _Options) -> str:
    """Return the text of a tensor's elements; ``indent`` characters come before it."""
    shape = tuple(t.shape)
    if t.device.type == "meta":
        return "..."
    if t.numel() == 0:
        return "[]"
    summarize = t.numel() > options.threshold
    if summarize and shape and not options.edgeitems:
        return "[...]"
    edge = options.edgeitems if summarize else None
    values = t.tolist() if edge is None else _corners(t, edge)
    number = _number_format(_flat(values, len(shape)), t.dtype, options)
    write = number.text if t.dtype.is_complex else number
    return _Layout(write, number.width, options.linewidth, edge).block(values, shape, indent)


def _suffixes(t: Any, options: _Options) -> list[str]:
    """Return the texts after the elements: device, size, dtype, and state in autograd."""
    suffixes = []
    if t.device.type != "cpu":
        suffixes.append(f"device='{t.device}'")
    empty, meta = t.numel() == 0, t.device.type == "meta"
    if meta or (len(t.shape) != 1 if empty else not options.edgeitems):
        suffixes.append(f"size={tuple(t.shape)}")
    if not _is_evident(t.dtype, empty or meta):
        suffixes.append(f"dtype={t.dtype}")
    t, tangent = _primal_and_tangent(t)
    try:
        node = t.grad_fn
    except RuntimeError:  # a view without a grad_fn any more, whose elements are still valid
        suffixes.append("grad_fn=<Invalid>")
        return suffixes
    if node is not None:
        suffixes.append(f"grad_fn=<{node.name()}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return suffixes


def _primal_and_tangent(t: Any) -> tuple[Any, Any]:
    """Return a tensor and None, or the primal and tangent of a dual tensor.

    There are dual tensors only if ``autograd.forward_ad`` is loaded.
    """
    forward_ad: Any = sys.modules.get("tinytorch.autograd.forward_ad")
    if forward_ad is None or t.device.type == "meta":
        return t, None
    primal, tangent = forward_ad.unpack_dual(t)
    return t if tangent is None else primal, tangent


def _is_evident(dtype: dtypes.dtype, empty: bool) -> bool:
    """Whether the dtype follows from the numbers shown."""
    default = default_dtype()
    if empty:
        return dtype == default
    if dtype.is_complex:
        return dtype == default.to_complex()
    return dtype == default or dtype in (dtypes.int64, dtypes.bool)


def _append_suffixes(
    text: str, suffixes: list[str], indent: int, linewidth: float, new_line: bool = False
) -> str:
    """Append suffixes and a bracket to a text; new lines begin with ``indent`` blanks.

    ``new_line``: whether the first suffix is on a line of its own.
    """
    # PyTorch leaves room for two more characters than the last line has.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        # Measured with PyTorch's spelling, so that lines break where PyTorch breaks them.
        needed = len(suffix.replace("=tinytorch.", "=torch.")) + 2
        if new_line or column + needed > linewidth:
            new_line = False
            text += ",\n" + " " * indent + suffix
            column = indent + needed - 2
        else:
            text += ", " + suffix
            column += needed
    return text + ")"


for _function in (get_printoptions, printoptions, set_printoptions):
    _function.__module__ = "tinytorch"
