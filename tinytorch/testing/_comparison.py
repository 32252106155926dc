"""``assert_close``: comparison of results, or of structures of them, within tolerances.

Structures are first divided into pairs of values. Then the pairs are compared one by one, and the
first failure is reported. Messages, tolerances and the order of checks are those of PyTorch:
https://docs.pytorch.org/docs/2.13/testing.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from .. import dtypes
from ..backends import load
from ..core.layout import sparse_coo, sparse_csc, sparse_csr, strided
from ..core.tensor import Tensor
from ..ops.create.factories import as_tensor, tensor
from ..ops.pointwise.comparison import isclose
from ..warnings import warn


def scalar_message(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """Message for two numbers that are not close, within the two tolerances."""
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    return "\n".join(
        (
            f"Scalars are not {_relation(rtol, atol)}!",
            "",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {absolute}{_tolerance_text(atol, rtol, atol)}",
            f"Relative difference: {relative}{_tolerance_text(rtol, rtol, atol)}",
        )
    )


def tensor_message(
    a: Tensor, b: Tensor, matches: Tensor, rtol: float, atol: float, name: str = "Tensor-likes"
) -> str:
    """Message for two tensors that are not close.

    Args:
        a: The actual tensor.
        b: The expected tensor, of the same shape, device and dtype.
        matches: Tensor of booleans: whether each element is close.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        name: What they are, the first words of the message.
    """
    if not a.shape:
        return scalar_message(a.item(), b.item(), rtol, atol)
    count = matches.numel()
    wrong = count - int(matches.sum())
    if not (a.is_floating_point() or a.is_complex()):  # differences of bytes can overflow
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    absolute = (a - b).abs().masked_fill(matches, 0)
    relative = (absolute / b.abs()).masked_fill(matches, 0)
    return "\n".join(
        (
            f"{name} are not {_relation(rtol, atol)}!",
            "",
            f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
            "Greatest absolute difference: "
            f"{_greatest_text(absolute)}{_tolerance_text(atol, rtol, atol)}",
            "Greatest relative difference: "
            f"{_greatest_text(relative)}{_tolerance_text(rtol, rtol, atol)}",
        )
    )


def _relation(rtol: float, atol: float) -> str:
    """Word for the comparison in messages: ``"equal"`` without tolerances, else ``"close"``."""
    return "equal" if rtol == 0 and atol == 0 else "close"


def _tolerance_text(tolerance: float, rtol: float, atol: float) -> str:
    """Text of ``tolerance``, one of both tolerances; empty if both are 0."""
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _greatest_text(differences: Tensor) -> str:
    """Text of the largest difference, or the first NaN, and its index."""
    flat = differences.flatten()
    position = rest = int(flat.argmax())
    index: list[int] = []
    for size in reversed(differences.shape):
        rest, coordinate = divmod(rest, size)
        index.insert(0, coordinate)
    return f"{flat[position].item()} at index {tuple(index)}"


#: Relative and absolute tolerance by dtype; both are 0 for other dtypes.
TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5), dtypes.bfloat16: (1.6e-2, 1e-5), dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7), dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}  # fmt: skip
#: Tolerances of the older ``assert_allclose``.
FORMER_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8),
}  # fmt: skip
#: Dtype whose tolerances apply to a Python number.
NUMBERS: dict[type, dtypes.dtype] = {
    int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128,
}  # fmt: skip
KeyPath = tuple[Any, ...]


class ComparisonError(Exception):
    """A failed check.

    Args:
        kind: Class of the error to raise.
        text: Message of the error.
        path: Keys and indices that lead to the values in the compared structures.
    """

    def __init__(self, kind: type[Exception], text: str, path: KeyPath) -> None:
        super().__init__(text)
        self.kind, self.text, self.path = kind, text, path

    def error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        """Error for the caller of ``assert_close``.

        Args:
            msg: Text that replaces the message, or a function from the message to another one.
        """
        if isinstance(msg, str):
            return self.kind(msg)
        item = "".join(f"[{key!r}]" for key in self.path)
        text = f"{self.text}\n\nThe failure occurred for item {item}" if item else self.text
        return self.kind(msg(text) if callable(msg) else text)


@dataclass(frozen=True)
class Options:
    """The options of ``assert_close``."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, path: KeyPath, *kinds: dtypes.dtype) -> tuple[float, float]:
        """Relative and absolute tolerance: as given, or else the largest defaults of the dtypes.

        Args:
            path: Path of the values, for the error.
            *kinds: Dtypes of the values.

        Raises:
            ComparisonError: If only one tolerance is given.
        """
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if self.rtol is None and self.atol is None:
            return loosest(TOLERANCES, *kinds)
        missing = "rtol" if self.rtol is None else "atol"
        text = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        raise ComparisonError(ValueError, text, path)


def loosest(
    table: dict[dtypes.dtype, tuple[float, float]], *kinds: dtypes.dtype
) -> tuple[float, float]:
    """The largest relative and the largest absolute tolerance of dtypes.

    Args:
        table: Relative and absolute tolerance by dtype; those of other dtypes are 0.
        *kinds: The dtypes.
    """
    rtols, atols = zip(*(table.get(kind, (0.0, 0.0)) for kind in kinds), strict=True)
    return max(rtols), max(atols)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise if ``actual`` and ``expected`` are not close: ``|a - e| <= atol + rtol |e|``.

    The shapes of tensors, and the attributes that are checked, must be equal. Infinities are close
    to equal infinities alone. Python and NumPy numbers, arrays, and other arguments of
    ``as_tensor`` can be compared with values of a related type. Sequences must have the same
    length, mappings the same keys, and their items must be close. Tensors on the device ``meta``
    have no values to compare.

    Args:
        actual: The result: a tensor, number, array, None, or a sequence or mapping of these.
        expected: The expected result.
        allow_subclasses: Whether one type may be a subclass of the other, for example
            ``Parameter`` of ``Tensor``. Default: True.
        rtol: Relative tolerance. The default depends on the dtype: float16 1e-3, bfloat16
            1.6e-2, float32 and complex64 1.3e-6, float64 and complex128 1e-7, others 0. If the
            dtypes differ, the larger one is used.
        atol: Absolute tolerance, to be given if and only if ``rtol`` is. Default: 1e-7 for float64
            and complex128, 1e-5 for the other floating-point dtypes, else 0.
        equal_nan: Whether two NaNs are close. Default: False.
        check_device: Whether devices must be equal; otherwise both are compared on the CPU.
            Default: True.
        check_dtype: Whether dtypes, or the types of Python numbers, must be equal; otherwise
            both are promoted. Default: True.
        check_layout: Whether layouts must be equal; otherwise both are converted
            to dense tensors. Of sparse tensors the indices must be equal. Default: True.
        check_stride: Whether strides must be equal. Default: False.
        msg: Message of the error, or a function from the usual message to another.

    Raises:
        AssertionError: If they are not close. The message has the number of mismatched elements,
            the greatest differences and their indices, and the item of a structure.
        TypeError: If the types are not related, or cannot be converted to tensors.
        ValueError: If only one tolerance is given.

    Example:
        >>> tt.testing.assert_close(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        Traceback (most recent call last):
        ...
        AssertionError: Tensor-likes are not close!
        <BLANKLINE>
        Mismatched elements: 1 / 2 (50.0%)
        Greatest absolute difference: 2.0 at index (1,) (up to 1e-05 allowed)
        Greatest relative difference: 0.5 at index (1,) (up to 1.3e-06 allowed)
    """
    __tracebackhide__ = True  # pytest ends its traceback at the caller
    options = Options(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout,
        check_stride,
    )  # fmt: skip
    try:
        comparisons = list(_pairs(actual, expected, (), options))
    except ComparisonError as mismatch:  # ``msg`` applies to comparisons of values alone
        raise mismatch.error() from None
    try:
        for compare in comparisons:
            compare()
    except ComparisonError as mismatch:
        raise mismatch.error(msg) from None


def _pairs(a: Any, b: Any, path: KeyPath, options: Options) -> Iterator[Callable[[], None]]:
    """Yield a comparison for each pair of values in two nested structures, in order.

    Args:
        a: Value, sequence or mapping.
        b: Expected value, sequence or mapping.
        path: Path of ``a`` and ``b`` in the structures of ``assert_close``.
        options: Options of ``assert_close``.

    Yields:
        A function without arguments, which raises a ``ComparisonError`` for unequal values.

    Raises:
        ComparisonError: If the structures differ, or a type is not supported.
    """
    if _both(a, b, Sequence) and not (isinstance(a, str) or isinstance(b, str)):
        if len(a) != len(b):
            text = f"The length of the sequences mismatch: {len(a)} != {len(b)}"
            raise ComparisonError(AssertionError, text, path)
        for i in range(len(a)):
            yield from _pairs(a[i], b[i], (*path, i), options)
    elif _both(a, b, Mapping):
        for key in _common_keys(set(a), set(b), path):
            yield from _pairs(a[key], b[key], (*path, key), options)
    else:
        yield _pair(a, b, path, options)


def _both(a: Any, b: Any, kinds: Any) -> bool:
    return isinstance(a, kinds) and isinstance(b, kinds)


def _common_keys(a: set[Any], b: set[Any], path: KeyPath) -> list[Any]:
    """Keys of two mappings, sorted if possible; raise a ``ComparisonError`` if they differ."""
    if a != b:
        text = (
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {_sort_keys(b - a)}\n"
            f"Additional keys in the actual mapping: {_sort_keys(a - b)}"
        )
        raise ComparisonError(AssertionError, text, path)
    return _sort_keys(a)


def _sort_keys(keys: set[Any]) -> list[Any]:
    """Sort keys if they can be compared, so that the first failure is always the same."""
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _pair(a: Any, b: Any, path: KeyPath, options: Options) -> Callable[[], None]:
    """Comparison of two values that are not structures; see ``_pairs``."""
    np = load("numpy").library
    if a is None or b is None:
        return partial(_compare_identity, "None mismatch", a, b, path)
    if _both(a, b, (bool, np.bool_)):
        return partial(_compare_identity, "Booleans mismatch", bool(a), bool(b), path)
    numbers = (*NUMBERS, np.number)
    if _both(a, b, numbers):
        if isinstance(a, bool) or isinstance(b, bool):
            _raise_unsupported(a, b, path)
        a, b = (x.item() if isinstance(x, np.number) else x for x in (a, b))
        # A subclass, such as an IntEnum, has the tolerances of its base.
        kinds = (next(NUMBERS[t] for t in NUMBERS if isinstance(x, t)) for x in (a, b))
        tolerances = options.tolerances(path, *kinds)
        return partial(_compare_numbers, a, b, tolerances, path, options)
    x, y = _as_tensors(a, b, path, options)
    tolerances = options.tolerances(path, x.dtype, y.dtype)
    return partial(_compare_tensors, x, y, tolerances, path, options)


def _compare_identity(problem: str, a: Any, b: Any, path: KeyPath) -> None:
    """Raise a ``ComparisonError`` unless ``a is b``; ``problem`` begins its message."""
    if a is not b:
        raise ComparisonError(AssertionError, f"{problem}: {a} is not {b}", path)


def _compare_numbers(
    a: Any, b: Any, tolerances: tuple[float, float], path: KeyPath, options: Options
) -> None:
    """Raise a ``ComparisonError`` unless two numbers are close, within ``(rtol, atol)``."""
    if options.check_dtype and type(a) is not type(b):
        text = f"The (d)types do not match: {type(a)} != {type(b)}."
        raise ComparisonError(AssertionError, text, path)
    if a == b or (options.equal_nan and a != a and b != b):
        return
    rtol, atol = tolerances
    difference = abs(a - b)
    # The first comparison is for infinities: their tolerance is infinite, too.
    if not (difference < float("inf") and difference <= atol + rtol * abs(b)):
        raise ComparisonError(AssertionError, scalar_message(a, b, rtol, atol), path)


def _as_tensors(a: Any, b: Any, path: KeyPath, options: Options) -> tuple[Tensor, Tensor]:
    """Convert two values to tensors; raise if their types are not related."""
    related = isinstance(a, type(b)) or isinstance(b, type(a))
    if not related or (type(a) is not type(b) and not options.allow_subclasses):
        _raise_unsupported(a, b, path)
    try:
        x, y = (v if isinstance(v, Tensor) else as_tensor(v) for v in (a, b))
    except Exception as error:
        _raise_unsupported(a, b, path, error)
    return x, y


def _raise_unsupported(a: Any, b: Any, path: KeyPath, error: Exception | None = None) -> NoReturn:
    """Raise PyTorch's ``TypeError`` for values of types that cannot be compared."""
    text = f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}."
    raise ComparisonError(TypeError, text, path) from error


def _compare_tensors(
    a: Tensor, b: Tensor, tolerances: tuple[float, float], path: KeyPath, options: Options
) -> None:
    """Raise a ``ComparisonError`` unless two tensors have equal attributes and close values."""
    for name, actual, expected in _attributes(a, b, options):
        if actual != expected:
            text = f"The values for attribute '{name}' do not match: {actual} != {expected}."
            raise ComparisonError(AssertionError, text, path)
    if a.is_meta or b.is_meta:  # they have no values
        return
    a, b = _unify(a.detach(), b.detach())
    for name, x, y in _parts(a, b, path):
        rtol, atol = tolerances if name.endswith(("values", "likes")) else (0.0, 0.0)
        matches = isclose(x, y, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
        if not matches.all():
            text = tensor_message(x, y, matches, rtol, atol, name)
            raise ComparisonError(AssertionError, text, path)


def _parts(a: Any, b: Any, path: KeyPath) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Dense tensors to compare, with names: the indices and elements of sparse tensors.

    Raises:
        ComparisonError: If two sparse tensors do not have as many elements.
    """
    if a.layout is strided or a.layout is not b.layout:
        yield "Tensor-likes", a.to_dense(), b.to_dense()
        return
    a, b = (x.coalesce() if x.is_sparse else x for x in (a, b))
    kind = f"Sparse {str(a.layout).rpartition('_')[2].upper()}"
    if a._nnz() != b._nnz():
        text = (
            f"The number of specified values in {kind[0].lower()}{kind[1:]} tensors does not "
            f"match: {a._nnz()} != {b._nnz()}"
        )
        raise ComparisonError(AssertionError, text, path)
    for name in PARTS[a.layout]:
        yield f"{kind} {name}", getattr(a, name)(), getattr(b, name)()


#: Methods that return the parts of a sparse tensor, by its layout.
PARTS = {
    sparse_coo: ("indices", "values"),
    sparse_csr: ("crow_indices", "col_indices", "values"),
    sparse_csc: ("ccol_indices", "row_indices", "values"),
}


def _attributes(a: Tensor, b: Tensor, options: Options) -> Iterator[tuple[str, Any, Any]]:
    """Attributes of two tensors that must be equal: the name and both values of each."""
    yield "shape", a.shape, b.shape
    if options.check_layout:
        yield "layout", a.layout, b.layout
    if options.check_stride:
        yield "stride()", a.stride(), b.stride()
    if options.check_device:
        yield "device", a.device, b.device
    if options.check_dtype:
        yield "dtype", a.dtype, b.dtype


def _unify(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Convert two tensors to one device and one dtype."""
    if a.device != b.device:
        a, b = a.cpu(), b.cpu()
    if a.dtype is not b.dtype:
        kind = dtypes.promote_types(a.dtype, b.dtype)
        a, b = a.to(kind), b.to(kind)
    return a, b


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """Raise if two results are not close; deprecated, as in PyTorch, for ``assert_close``.

    Dtypes may differ.

    Args:
        actual: A tensor, or an argument of ``tensor``.
        expected: A tensor, or an argument of ``tensor``, which is converted to the dtype of
            ``actual``.
        rtol: Relative tolerance, by default 1e-3 for float16, 1e-4 for float32 and 1e-5 for
            float64.
        atol: Absolute tolerance, by default 1e-3, 1e-5 and 1e-8 for these.
        equal_nan: Whether two NaNs are close. Default: True.
        msg: Message of the error. Default: the usual message.

    Raises:
        AssertionError: If they are not close.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     tt.testing.assert_allclose([1.0, 2.0], tt.tensor([1.0, 2.00001]))
    """
    __tracebackhide__ = True
    warn(
        "`tinytorch.testing.assert_allclose()` is deprecated. Please use "
        "`tinytorch.testing.assert_close()` instead.",
        FutureWarning,
    )
    a = actual if isinstance(actual, Tensor) else tensor(actual)
    b = expected if isinstance(expected, Tensor) else tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        rtol, atol = loosest(FORMER_TOLERANCES, a.dtype, b.dtype)
    assert_close(
        a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )
