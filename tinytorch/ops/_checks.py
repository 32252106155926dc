"""What element-by-element kernels share: kinds of dtypes, refusals, walking in blocks."""

from __future__ import annotations

from typing import Any

from .._write import scalar_name
from .._op import Backend


def kind_of(*operands: Any) -> str:
    """NumPy's kind letter of promoted operands: that of the arrays among them."""
    for operand in operands:
        if hasattr(operand, "dtype"):
            return operand.dtype.kind  # type: ignore[no-any-return]
    return "f" if any(isinstance(v, float) for v in operands) else "i"


def as_arrays(xp: Backend, *operands: Any) -> list[Any]:
    """Promoted operands with the numbers among them made 0-d arrays of the same dtype."""
    dtype = next(v.dtype for v in operands if hasattr(v, "dtype"))
    return [v if hasattr(v, "dtype") else xp.asarray(v, dtype) for v in operands]


def refuse(xp: Backend, kernel: str, kinds: str, *operands: Any) -> None:
    """NotImplementedError in torch's words for operands of one of ``kinds``.

    Args:
        xp: The backend.
        kernel: torch's name of the kernel that is missing, such as ``"abs_cpu"``.
        kinds: The letters of the refused kinds.
        *operands: Promoted arrays and numbers.
    """
    for operand in operands:
        if hasattr(operand, "dtype") and operand.dtype.kind in kinds:
            name = scalar_name(xp.dtype_of(operand))
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


def refuse_complex(name: str, *operands: Any) -> None:
    """NotImplementedError for complex operands of a function that orders numbers."""
    if kind_of(*operands) == "c":
        raise NotImplementedError(f"{name} is not supported for complex types")


def special(xp: Backend, name: str, *arrays: Any) -> Any:
    """SciPy's function ``name`` of arrays of one dtype, in that dtype."""
    dtype = arrays[0].dtype
    wide = [xp.astype(a, "float32") for a in arrays] if dtype.itemsize < 4 else arrays
    return xp.astype(xp.special(name)(*wide), dtype)


def blockwise(xp: Any, function: Any, *arrays: Any) -> Any:
    """``function(*arrays)``, element by element; on raw arrays the backend may cut them up.

    What several passes compute then stays in the processor's cache from one to the next.
    """
    return xp.blockwise(function, *arrays) if isinstance(xp, Backend) else function(*arrays)
