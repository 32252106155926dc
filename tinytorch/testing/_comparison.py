"""``assert_close``: are two results, or two structures of them, the same within tolerances?

Structures are taken apart first, into pairs of what can be compared; then the pairs are compared
one by one, and the first that fails is reported. PyTorch's texts, its tolerances and its order of
checks: https://docs.pytorch.org/docs/2.13/testing.html.

How far apart two results are, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from .. import dtypes
from ..backends import load
from ..core.tensor import Tensor
from ..ops.create.factories import as_tensor, tensor
from ..ops.pointwise.comparison import isclose
from ..warnings import warn


def scalar_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """What to say of two numbers."""
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    return "\n".join(
        (
            f"Scalars are not {_close(rtol, atol)}!",
            "",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {absolute}{_allowed(atol, rtol, atol)}",
            f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}",
        )
    )


def tensor_text(a: Tensor, b: Tensor, matches: Tensor, rtol: float, atol: float) -> str:
    """What to say of two tensors of one shape, device and dtype, of which some elements match."""
    if not a.shape:
        return scalar_text(a.item(), b.item(), rtol, atol)
    count = matches.numel()
    wrong = count - int(matches.sum())
    if not (a.is_floating_point() or a.is_complex()):  # differences of bytes may be no bytes
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    absolute = (a - b).abs().masked_fill(matches, 0)
    relative = (absolute / b.abs()).masked_fill(matches, 0)
    return "\n".join(
        (
            f"Tensor-likes are not {_close(rtol, atol)}!",
            "",
            f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
            f"Greatest absolute difference: {_greatest(absolute)}{_allowed(atol, rtol, atol)}",
            f"Greatest relative difference: {_greatest(relative)}{_allowed(rtol, rtol, atol)}",
        )
    )


def _close(rtol: float, atol: float) -> str:
    return "equal" if rtol == 0 and atol == 0 else "close"


def _allowed(tolerance: float, rtol: float, atol: float) -> str:
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _greatest(differences: Tensor) -> str:
    """The largest, or the first that is no number, and where in the tensor it is."""
    flat = differences.flatten()
    place = int(flat.argmax())
    index: list[int] = []
    rest = place
    for size in reversed(differences.shape):
        rest, here = divmod(rest, size)
        index.insert(0, here)
    return f"{flat[place].item()} at index {tuple(index)}"


#: Relative and absolute tolerance by dtype; of dtypes that are not here both are zero.
TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5), dtypes.bfloat16: (1.6e-2, 1e-5), dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7), dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}  # fmt: skip
#: Those of the older ``assert_allclose``.
FORMER_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8),
}  # fmt: skip
#: The dtype whose tolerances Python's numbers have.
NUMBERS: dict[type, dtypes.dtype] = {
    int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128,
}  # fmt: skip
Where = tuple[Any, ...]


class Mismatch(Exception):
    """What does not agree, with the error to raise and the place in the structures."""

    def __init__(self, kind: type[Exception], text: str, where: Where) -> None:
        super().__init__(text)
        self.kind, self.text, self.where = kind, text, where

    def error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        """The error to raise, with ``msg`` for its text, or with what ``msg`` makes of it."""
        if isinstance(msg, str):
            return self.kind(msg)
        place = "".join(f"[{key!r}]" for key in self.where)
        text = f"{self.text}\n\nThe failure occurred for item {place}" if place else self.text
        return self.kind(msg(text) if callable(msg) else text)


@dataclass(frozen=True)
class Options:
    """The keywords of ``assert_close``."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, where: Where, *kinds: dtypes.dtype) -> tuple[float, float]:
        """The relative and the absolute one that were given, or else the loosest of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if self.rtol is None and self.atol is None:
            return loosest(TOLERANCES, *kinds)
        missing = "rtol" if self.rtol is None else "atol"
        text = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        raise Mismatch(ValueError, text, where)


def loosest(
    table: dict[dtypes.dtype, tuple[float, float]], *kinds: dtypes.dtype
) -> tuple[float, float]:
    """The largest relative and the largest absolute tolerance of some dtypes."""
    rtols, atols = zip(*(table.get(kind, (0.0, 0.0)) for kind in kinds), strict=True)
    return max(rtols), max(atols)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless ``actual`` and ``expected`` agree: ``|a - e| <= atol + rtol |e|`` everywhere.

    Tensors agree if their shapes, and what else is to be checked, are the same, too. Infinities
    agree with themselves alone. Python's numbers, NumPy's arrays and numbers, and whatever else
    ``as_tensor`` takes can be compared with their like; sequences and mappings agree if they have
    the same length or keys and their elements agree. Of tensors on the device ``meta`` there is
    nothing to compare but what else is to be checked.

    Args:
        actual: What came: a tensor, number, array, None, or a sequence or mapping of these.
        expected: What should have come.
        allow_subclasses: Whether one type may be a subclass of the other, as ``Parameter`` is;
            default True.
        rtol: Relative tolerance. The default depends on the dtype: float16 1e-3, bfloat16
            1.6e-2, float32 and complex64 1.3e-6, float64 and complex128 1e-7, others 0. Where
            the dtypes differ the larger one is taken.
        atol: Absolute tolerance, to be given if and only if ``rtol`` is. Default: 1e-7 for float64
            and complex128, 1e-5 for the other floating-point dtypes, else 0.
        equal_nan: Whether NaN agrees with NaN; default False.
        check_device: Whether devices must be the same; otherwise both are compared on the CPU.
        check_dtype: Whether dtypes, or the types of Python's numbers, must be the same; otherwise
            both are promoted.
        check_layout: Whether layouts must be the same, which those of dense tensors are.
        check_stride: Whether strides must be the same; default False.
        msg: The text of the error, or a function of the usual text that returns it.

    Raises:
        AssertionError: If they do not agree. The text says how many elements differ, by how much
            at most and where, and at which item of a structure.
        TypeError: If the types are not related, or no tensor can be made of them.
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
    except Mismatch as mismatch:  # ``msg`` is for values alone
        raise mismatch.error() from None
    try:
        for compare in comparisons:
            compare()
    except Mismatch as mismatch:
        raise mismatch.error(msg) from None


def _pairs(a: Any, b: Any, where: Where, options: Options) -> Iterator[Callable[[], None]]:
    """The comparisons that two structures take, in order; texts are no sequences here."""
    if _both(a, b, Sequence) and not (isinstance(a, str) or isinstance(b, str)):
        if len(a) != len(b):
            text = f"The length of the sequences mismatch: {len(a)} != {len(b)}"
            raise Mismatch(AssertionError, text, where)
        for i in range(len(a)):
            yield from _pairs(a[i], b[i], (*where, i), options)
    elif _both(a, b, Mapping):
        for key in _common_keys(set(a), set(b), where):
            yield from _pairs(a[key], b[key], (*where, key), options)
    else:
        yield _pair(a, b, where, options)


def _both(a: Any, b: Any, kinds: Any) -> bool:
    return isinstance(a, kinds) and isinstance(b, kinds)


def _common_keys(a: set[Any], b: set[Any], where: Where) -> list[Any]:
    if a != b:
        text = (
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {_in_order(b - a)}\n"
            f"Additional keys in the actual mapping: {_in_order(a - b)}"
        )
        raise Mismatch(AssertionError, text, where)
    return _in_order(a)


def _in_order(keys: set[Any]) -> list[Any]:
    """Sorted where that can be done, so that the same failure is reported each time."""
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _pair(a: Any, b: Any, where: Where, options: Options) -> Callable[[], None]:
    """The comparison of two things that are no structures."""
    np = load("numpy").library
    if a is None or b is None:
        return partial(_same, "None mismatch", a, b, where)
    if _both(a, b, (bool, np.bool_)):
        return partial(_same, "Booleans mismatch", bool(a), bool(b), where)
    numbers = (*NUMBERS, np.number)
    if _both(a, b, numbers):
        if isinstance(a, bool) or isinstance(b, bool):
            _refuse(a, b, where)
        a, b = (x.item() if isinstance(x, np.number) else x for x in (a, b))
        # A subclass, such as an IntEnum, counts as the number that it is.
        kinds = (next(NUMBERS[t] for t in NUMBERS if isinstance(x, t)) for x in (a, b))
        tolerances = options.tolerances(where, *kinds)
        return partial(_numbers, a, b, tolerances, where, options)
    x, y = _as_tensors(a, b, where, options)
    tolerances = options.tolerances(where, x.dtype, y.dtype)
    return partial(_tensors, x, y, tolerances, where, options)


def _same(what: str, a: Any, b: Any, where: Where) -> None:
    if a is not b:
        raise Mismatch(AssertionError, f"{what}: {a} is not {b}", where)


def _numbers(
    a: Any, b: Any, tolerances: tuple[float, float], where: Where, options: Options
) -> None:
    if options.check_dtype and type(a) is not type(b):
        text = f"The (d)types do not match: {type(a)} != {type(b)}."
        raise Mismatch(AssertionError, text, where)
    if a == b or (options.equal_nan and a != a and b != b):
        return
    rtol, atol = tolerances
    difference = abs(a - b)
    # The first comparison is for infinities: their tolerance is infinite, too.
    if not (difference < float("inf") and difference <= atol + rtol * abs(b)):
        raise Mismatch(AssertionError, scalar_text(a, b, rtol, atol), where)


def _as_tensors(a: Any, b: Any, where: Where, options: Options) -> tuple[Tensor, Tensor]:
    related = isinstance(a, type(b)) or isinstance(b, type(a))
    if not related or (type(a) is not type(b) and not options.allow_subclasses):
        _refuse(a, b, where)
    try:
        x, y = (v if isinstance(v, Tensor) else as_tensor(v) for v in (a, b))
    except Exception as error:
        _refuse(a, b, where, error)
    return x, y


def _refuse(a: Any, b: Any, where: Where, error: Exception | None = None) -> NoReturn:
    text = f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}."
    raise Mismatch(TypeError, text, where) from error


def _tensors(
    a: Tensor, b: Tensor, tolerances: tuple[float, float], where: Where, options: Options
) -> None:
    for name, ours, theirs in _attributes(a, b, options):
        if ours != theirs:
            text = f"The values for attribute '{name}' do not match: {ours} != {theirs}."
            raise Mismatch(AssertionError, text, where)
    if a.is_meta or b.is_meta:  # which have no values
        return
    a, b = _alike(a.detach(), b.detach())
    rtol, atol = tolerances
    matches = isclose(a, b, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not matches.all():
        raise Mismatch(AssertionError, tensor_text(a, b, matches, rtol, atol), where)


def _attributes(a: Tensor, b: Tensor, options: Options) -> Iterator[tuple[str, Any, Any]]:
    """What must be the same of two tensors besides their values: its name and both values."""
    yield "shape", a.shape, b.shape
    if options.check_layout:
        yield "layout", a.layout, b.layout
    if options.check_stride:
        yield "stride()", a.stride(), b.stride()
    if options.check_device:
        yield "device", a.device, b.device
    if options.check_dtype:
        yield "dtype", a.dtype, b.dtype


def _alike(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both on one device and in one dtype."""
    if a.device != b.device:
        a, b = a.cpu(), b.cpu()
    if a.dtype is not b.dtype:
        kind = dtypes.promote_types(a.dtype, b.dtype)
        a, b = a.to(kind), b.to(kind)
    return a, b


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older, more lenient comparison; deprecated, as it is in PyTorch.

    Args:
        actual: A tensor, or what ``tensor`` makes one of.
        expected: The same; made into ``actual``'s dtype unless it is a tensor.
        rtol: Relative tolerance, by default 1e-3 for float16, 1e-4 for float32 and 1e-5 for
            float64.
        atol: Absolute tolerance, by default 1e-3, 1e-5 and 1e-8 for these.
        equal_nan: Whether NaN agrees with NaN; default True.
        msg: The text of the error, if any.

    Raises:
        AssertionError: If they do not agree; dtypes may differ.

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
