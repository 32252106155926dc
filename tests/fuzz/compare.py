"""Differences of two results, or of two errors, beyond the tolerances of ``tests.oracles``."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracles import REDUCED_PRECISION, TOLERANCE

EXACT = {"rtol": 0.0, "atol": 0.0}
#: Seconds after which a call that does not end raises TimeoutError; None: never.
LIMIT: float | None = None
ERRORS = (ArithmeticError, AttributeError, LookupError, NameError, RuntimeError, TypeError,
          ValueError)  # fmt: skip


@dataclass(frozen=True)
class CaughtError:
    """An error that a line ended with."""

    kinds: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Difference:
    """A difference between the libraries.

    Attributes:
        kind: ``"value"``, ``"raises"``, ``"accepts"``, ``"error"`` or ``"internal"``.
        where: The line, tensor or call.
        text: What each of them has.
    """

    kind: str
    where: str
    text: str


def error_of(call: Callable[[], Any]) -> Any:
    """The result of ``call``, or its error as a ``CaughtError``."""
    try:
        return call()
    except Exception as error:
        kinds = tuple(kind.__name__ for kind in type(error).__mro__)
        return CaughtError(kinds, str(error).partition("\n")[0][:200])


def limit(seconds: float) -> None:
    """Let each call of ``error_within_limit`` take at most so long, in the main thread."""
    global LIMIT
    LIMIT = seconds
    signal.signal(signal.SIGALRM, _raise_timeout)


def _raise_timeout(*_: object) -> None:
    raise TimeoutError(f"the call did not end in {LIMIT} s")


def error_within_limit(call: Callable[[], Any]) -> Any:
    """``error_of(call)``; if the call takes too long, its error is a TimeoutError."""
    if LIMIT is None:
        return error_of(call)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        return error_of(call)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def difference_of(
    ours: Any, theirs: Any, where: str, narrowest: str = "float64"
) -> Difference | None:
    """The difference of two results or failures, or None.

    Args:
        ours: The result here.
        theirs: PyTorch's.
        where: The line, tensor or call.
        narrowest: The narrowest dtype that was computed in.
    """
    if isinstance(theirs, CaughtError):
        if not isinstance(ours, CaughtError):
            return Difference("accepts", where, f"PyTorch: {theirs.kinds[0]}: {theirs.text}")
        if ours.kinds[0] == theirs.kinds[0] or any(k.__name__ in ours.kinds for k in ERRORS):
            return None
        return Difference("error", where, f"ours: {ours.kinds[0]}: {ours.text}")
    if isinstance(ours, CaughtError):
        return Difference("raises", where, f"ours: {ours.kinds[0]}: {ours.text}")
    text = _differing(ours, theirs, narrowest)
    return None if text is None else Difference("value", where, text)


def _differing(ours: Any, theirs: Any, narrowest: str) -> str | None:
    """Description of the difference of two results, or None."""
    if isinstance(theirs, (list, tuple)) and not hasattr(theirs, "numel"):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            return f"ours {_short(ours)}, PyTorch {_short(theirs)}"
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            pair = difference_of(one, other, "", narrowest)
            if pair is not None:
                return f"[{at}] {pair.text}"
        return None
    if hasattr(theirs, "untyped_storage"):
        return _differing_tensors(ours, theirs, narrowest)
    if hasattr(ours, "untyped_storage"):
        return f"ours {_short(ours)}, PyTorch {_short(theirs)}"
    same = ours == theirs or (ours != ours and theirs != theirs)
    return None if same else f"ours {_short(ours)}, PyTorch {_short(theirs)}"


def _differing_tensors(ours: Any, theirs: Any, narrowest: str) -> str | None:
    text = f"ours {_short(ours)}, PyTorch {_short(theirs)}"
    if not hasattr(ours, "untyped_storage") or tuple(ours.shape) != tuple(theirs.shape):
        return text
    name = str(theirs.dtype).rpartition(".")[2]
    if str(ours.dtype).rpartition(".")[2] != name:
        return text
    a, b = (_array(t, name) for t in (ours, theirs))
    within = (
        REDUCED_PRECISION if name.startswith(("bfloat16", "float8")) else TOLERANCE.get(name, EXACT)
    )
    if within is not EXACT and narrowest != "float64":
        wider = REDUCED_PRECISION if narrowest == "bfloat16" else TOLERANCE[narrowest]
        within = max(within, wider, key=lambda tolerance: tolerance["rtol"])
    # What cancels in a sum is as near as its largest summand allows.
    largest = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0)) if within["rtol"] else 1.0)
    near = np.isclose(a, b, within["rtol"], within["atol"] * largest, equal_nan=True)
    return None if near.all() else f"{text} ({_classes(a[~near], b[~near])})"


def _classes(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> str:
    """The classes of the elements that differ, such as ``"inf/nan, number/number"``."""
    names = [
        np.where(np.isnan(x), "nan", np.where(np.isfinite(x), "number", "inf")).tolist()
        for x in (ours, theirs)
    ]
    return ", ".join(sorted({f"{one}/{other}" for one, other in zip(*names, strict=True)}))


def _array(tensor: Any, dtype: str) -> np.ndarray[Any, Any]:
    tensor = tensor.detach()
    if dtype.startswith(("bfloat16", "float8")):
        tensor = tensor.float()
    return np.asarray(tensor.resolve_conj().resolve_neg().numpy())


def _short(value: Any) -> str:
    text = repr(value.tolist()) if hasattr(value, "tolist") else repr(value)
    dtype = f" {value.dtype}" if hasattr(value, "dtype") else ""
    return text[:160] + dtype
